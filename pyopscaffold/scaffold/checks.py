"""What a project, a group, a version, a kind may be named; each mistake is one clear line with the way out."""

from __future__ import annotations

import re
import sys

from pyopscaffold.errors import UsageError
from pyopscaffold.kube import names

# The longest name made from it is that of the Service <name>-metrics-service; a Service's has at most 63 characters.
PROJECT_NAME_MAX = 63 - len("-metrics-service")

_RESERVED_PACKAGES = {
    *("charts", "config", "dist", "e2e", "tests"),
    *("aiohttp", "copier", "jinja2", "msgspec", "mypy", "pyopscaffold", "pyopscaffold_runtime", "pytest"),
    *("pytest_asyncio", "rich", "ruamel", "ruff", "typer", "yaml"),
    *sys.stdlib_module_names,
}
"""Folders of a project beside its package, and what the package would hide when it is imported."""
_RESERVED_KINDS = {
    *("Age", "Annotated", "Any", "Column", "Condition", "Conditions", "Context", "MaxLen", "MinLen", "Object"),
    *("ObjectMeta", "Pattern", "Reconciler", "Result", "Status", "List"),
}
"""Names that the scaffold's own code uses, or that Kubernetes has for itself in every group."""
_RESERVED_WITH_IMAGE = {"Amounts", "Ge", "Le", "Manifest", "Quantity", "Resources", "Scale", "TerminalError"}
"""What the code for an image uses beside those."""

REPOSITORY = r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]+(?=/))?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
"""An image repository: a path, below a registry if need be, which may have a port."""


def check_domain(domain: str) -> None:
    """Check the suffix of all API groups.

    Raises:
        UsageError: it is no DNS name, or belongs to Kubernetes.

    """
    hint = "give a domain that is yours, such as --domain example.com"
    if not names.is_dns1123_subdomain(domain):
        message = f"--domain {domain!r} is no DNS name: it may have lower-case letters, digits, '-' and '.'"
        raise UsageError(message, hint=hint)
    if names.is_reserved_group(domain):
        raise UsageError(f"--domain {domain!r} is reserved for Kubernetes' own APIs", hint=hint)


def check_project_name(name: str, *, option: str = "--project-name") -> None:
    """Check the name of the project, from which those of the package, namespace and chart come.

    Raises:
        UsageError: it is no name, or too long, or its package could not be imported.

    """
    if not names.is_dns1123_label(name) or len(name) > PROJECT_NAME_MAX:
        raise UsageError(
            f"{option} {name!r} is no project name: lower-case letters, digits and '-', at most {PROJECT_NAME_MAX}",
            hint=f"give one, such as --project-name {_suggest_name(name)}",
        )
    package = package_of(name)
    if not names.is_python_name(package) or package in _RESERVED_PACKAGES:
        raise UsageError(
            f"{option} {name!r} would name the Python package {package!r}, which can't be or is taken",
            hint=f"give another one, such as --project-name {_suggest_name(name).removesuffix('-operator')}-operator",
        )


def package_of(project_name: str) -> str:
    """``my-operator`` → ``my_operator``."""
    return project_name.replace("-", "_")


def check_owner(owner: str) -> None:
    """Check the copyright owner, a name in one line.

    Raises:
        UsageError: it has line breaks or other control characters.

    """
    if not owner.isprintable():
        raise UsageError(f"--owner {owner!r} has control characters", hint="give a name in one line")


def check_image(image: str) -> None:
    """Check an image repository.

    Raises:
        UsageError: it is none, or has a tag.

    """
    if not re.fullmatch(REPOSITORY, image):
        raise UsageError(
            f"--image-repository {image!r} is no image repository",
            hint="give it in lower case, without tag or digest, such as registry.example.com/team/name",
        )


def check_group(group: str, *, domain: str) -> None:
    """Check the part of the API group that stands before the domain.

    Raises:
        UsageError: it is no DNS name, has the domain in it, or is empty where the domain alone is no group.

    """
    if not group and "." not in domain:
        raise UsageError(
            f"--group '' would give the API group {domain!r}, but that of a CRD has a dot in it",
            hint="name a group, such as --group apps",
        )
    if not group:
        return
    if group == domain or group.endswith(f".{domain}"):
        short = group.removesuffix(domain).rstrip(".")
        raise UsageError(
            f"--group {group!r} has the domain in it, which is added to every group", hint=f"write --group '{short}'"
        )
    if not names.is_dns1123_subdomain(group):
        raise UsageError(
            f"--group {group!r} is no DNS name: it may have lower-case letters, digits, '-' and '.'",
            hint=f"write --group {_suggest_name(group)}, or --group '' for the bare domain",
        )


def check_version(version: str) -> None:
    """Check the name of an API version.

    Raises:
        UsageError: it is none.

    """
    if not names.is_api_version(version):
        raise UsageError(f"--version {version!r} is no API version", hint="write one such as v1, v1beta1 or v2alpha1")


def check_kind(kind: str, *, with_image: bool = False) -> None:
    """Check a kind, which also names a class and a module; the code for an image has more names of its own.

    Raises:
        UsageError: it is not CamelCase, or the names made from it can't be or are taken.

    """
    if not names.is_kind(kind):
        raise UsageError(
            f"--kind {kind!r} is no kind: CamelCase, letters and digits, at most 63",
            hint=f"write --kind {_suggest_kind(kind)}",
        )
    module = names.snake_case(kind)
    if not names.is_python_name(module) or not names.is_python_name(kind):
        raise UsageError(
            f"--kind {kind!r} would name the Python module {module!r}, a keyword of Python",
            hint=f"choose another kind, such as --kind {kind}Config",
        )
    if kind in _RESERVED_KINDS or (with_image and kind in _RESERVED_WITH_IMAGE):
        raise UsageError(
            f"--kind {kind!r} is taken: pyopscaffold or Kubernetes itself has that name",
            hint=f"choose another kind, such as --kind My{kind}",
        )


def check_plural(plural: str) -> None:
    """Check the resource name of a kind.

    Raises:
        UsageError: it is none.

    """
    if not names.is_dns1035_label(plural):
        raise UsageError(
            f"--plural {plural!r} is no resource name: lower-case letters, digits and '-', a letter first, at most 63",
            hint="leave it out to take the English plural of the kind",
        )


def _suggest_name(text: str) -> str:
    """Give the nearest DNS label that begins with a letter."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:PROJECT_NAME_MAX].strip("-")
    return re.sub(r"^[0-9-]+", "", cleaned) or "my-operator"


def _suggest_kind(text: str) -> str:
    """Give the nearest CamelCase word."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    camel = re.sub(r"^[0-9]+", "", "".join(word[0].upper() + word[1:] for word in words))[:63]
    return (camel[:1].upper() + camel[1:]) or "MyKind"
