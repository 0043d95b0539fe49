"""``create api --image``: the container that was asked for, checked, and as the templates write it down."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.errors import UsageError
from pyopscaffold.kube.names import camel_case
from pyopscaffold.model.project import Workload
from pyopscaffold.scaffold.checks import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT_MAX = 65535
USER_MAX = 2**31 - 1
"""The API server takes no higher ``runAsUser``."""
_REPOSITORY_MAX = 255

# Grammar: https://pkg.go.dev/github.com/distribution/reference
_REFERENCE = re.compile(
    rf"(?P<repository>{REPOSITORY})(?P<tag>:[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?P<digest>@sha256:[0-9a-f]{{64}})?"
)


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """What the command line says about the container; nothing where a plain API is wanted."""

    image: str | None = None
    ports: tuple[int, ...] = ()
    command: str | None = None
    run_as_user: int | None = None


def workload(options: ImageOptions) -> Workload | None:
    """Give the container that was asked for, if any was.

    Raises:
        UsageError: an option can't be, or goes with ``--image`` only.

    """
    if options.image is None:
        _check_none(options)
        return None
    _check_image(options.image)
    _check_ports(options.ports)
    _check_user(options.run_as_user)
    command = () if options.command is None else _split(options.command)
    return Workload(image=options.image, ports=options.ports, command=command, run_as_user=options.run_as_user)


def template_values(container: Workload, *, variable: str, line_length: int) -> dict[str, object]:
    """Give what the templates need; ``variable`` is the one of the environment that names another image."""
    environment = ("IMAGE = os.environ.get(", [_literal(variable), _literal(container.image)], ")")
    command = ("COMMAND = [", [_literal(word) for word in container.command], "]")
    return {
        "image": wrapped(*environment, line_length=line_length),
        "command": wrapped(*command, line_length=line_length) if container.command else "",
        "ports": [_port(index, number) for index, number in enumerate(container.ports, 1)],
        "run_as_user": container.run_as_user,
    }


def _check_none(options: ImageOptions) -> None:
    given = {
        "--port": options.ports,
        "--command": options.command is not None,
        "--run-as-user": options.run_as_user is not None,
    }
    for option, there in given.items():
        if there:
            raise UsageError(
                f"{option} is about a container, but there is no --image", hint="add --image, or leave it out"
            )


def _check_image(image: str) -> None:
    match = _REFERENCE.fullmatch(image)
    if match is None or len(match["repository"]) > _REPOSITORY_MAX:
        raise UsageError(
            f"--image {image!r} is no image reference",
            hint="write repository:tag, repository@sha256:digest or both, the repository in lower case",
        )
    if not match["tag"] and not match["digest"]:
        raise UsageError(
            f"--image {image} names no version: what runs would change whenever somebody pushes a newer one",
            hint=f"name one, such as {image}:1.0, or a digest; {image}:latest if it is to change",
        )


def _check_ports(ports: Sequence[int]) -> None:
    for port in ports:
        if not 1 <= port <= PORT_MAX:
            raise UsageError(f"--port {port} is no port", hint=f"give one from 1 to {PORT_MAX}")
        if ports.count(port) > 1:
            raise UsageError(f"--port {port} is given twice", hint="name each port once")


def _check_user(user: int | None) -> None:
    if user == 0:
        raise UsageError(
            "--run-as-user 0 is root, which the pods may not be: they keep to the restricted profile",
            hint="give the user of the image, from 1 up",
        )
    if user is not None and not 1 <= user <= USER_MAX:
        raise UsageError(f"--run-as-user {user} is no user id", hint=f"give one from 1 to {USER_MAX}")


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f"--command {command!r} can't be split into words: {str(error).lower()}", hint="quote it as for a shell"
        ) from error
    if not words or not words[0]:
        raise UsageError("--command is empty", hint="leave it out for the command of the image itself")
    if strange := next((letter for letter in command if not letter.isprintable() and letter not in "\n\t"), ""):
        raise UsageError(f"--command has the character {strange!r} in it", hint="write text, line ends and tabs only")
    return words


def _port(index: int, number: int) -> dict[str, object]:
    """Name a port: its field in the spec, in Python and in JSON, and what container and Service call it."""
    first = index == 1
    field = "container_port" if first else f"container_port_{index}"
    return {
        "field": field,
        "json": camel_case(field),
        "name": "port" if first else f"port-{index}",
        "number": number,
    }


def wrapped(start: str, items: Sequence[str], end: str, *, line_length: int) -> str:
    """Write a list or a call as the formatter of the made project would: in one line where it fits.

    A call that does not may have its arguments in one line of their own, a list may not.
    """
    inner = ", ".join(items)
    if len(start + inner + end) <= line_length:
        return f"{start}{inner}{end}"
    if end == ")" and len(inner) + 4 <= line_length:
        return f"{start}\n    {inner}\n{end}"
    return "\n".join([start, *(f"    {item}," for item in items), end])


def _literal(text: str) -> str:
    """Write a string in the quotes that the formatter would choose: double, unless single ones save escapes."""
    literal = json.dumps(text, ensure_ascii=False)
    if text.count('"') <= text.count("'"):
        return literal
    return "'" + literal[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
