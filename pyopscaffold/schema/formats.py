"""Formats of strings as the API server judges them.

The server ignores every other format. Source: apiextensions-apiserver pkg/apiserver/validation/formats.go and
kube-openapi pkg/validation/strfmt; the two Kubernetes names are judged since Kubernetes 1.34.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_DATE: Final = r"([0-9]{4})(-[0-9]{2}-[0-9]{2})"
# The sign before a fraction may be any: the server's expression has an unescaped dot there.
_TIME: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})"
_GO_DURATION: Final = r"[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)"
_SCALA_DURATION: Final = r"(?a)(?<![0-9])[0-9]+\s*([A-Za-zµ]+)"
_UNITS = frozenset("ns us µs ms s sec m h hr d w wk".split())  # noqa: SIM905 - a list of a dozen quoted words
_UNIT_STEMS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
# One dash, and only after the first letter, in a name of one label: so says the server's expression.
_HOSTNAME: Final = r"[a-zA-Z0-9](-?[a-zA-Z0-9]{0,62})?|([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,63}"
_CARD: Final = (
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
    r"|6[27][0-9]{14}"
)
_SPACING: Final = r"(?a)[\s-]+"
_SHORT_NAME: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_BYTE: Final = r"(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"


def _matches(pattern: str, *, most: int | None = None) -> Callable[[str], bool]:
    # Compiled at the first use: most projects have none of them.
    return lambda text: (most is None or len(text) <= most) and re.fullmatch(pattern, text, re.ASCII) is not None


def _uuid(version: str = "", variant: str = "") -> Callable[[str], bool]:
    third, fourth = (f"{start}[0-9a-f]{{{4 - bool(start)}}}" for start in (version, variant))
    return _matches(f"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}")


def _is_date(text: str) -> bool:
    if (found := re.fullmatch(_DATE, text)) is None:
        return False
    try:
        # Go has a year 0, Python does not; both it and 2000 are leap years.
        date.fromisoformat(text if found[1] != "0000" else f"2000{found[2]}")
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    day, separator, rest = text.lower().partition("t")
    time = re.fullmatch(_TIME, rest.partition("t")[0])
    return bool(separator and time and _is_date(day) and time[1] <= "23" and time[2] <= "59" and time[3] <= "59")


def _is_duration(text: str) -> bool:
    units = (unit.lower() for unit in re.findall(_SCALA_DURATION, text))
    return bool(re.fullmatch(_GO_DURATION, text)) or any(
        unit in _UNITS or unit.startswith(_UNIT_STEMS) for unit in units
    )


def _is_ip(text: str) -> bool:
    import ipaddress  # noqa: PLC0415 - not cheap, and seldom needed

    try:
        # As Go did once, the server takes 010.0.0.1 for 10.0.0.1; a zone is none of an address for it.
        ipaddress.ip_address(text if ":" in text else re.sub(r"(^|\.)0+(?=[0-9])", r"\1", text))
    except ValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    address, _, bits = text.partition("/")
    most = 128 if ":" in address else 32
    return _is_ip(address) and bits.isascii() and bits.isdecimal() and int(bits) <= most


def _is_mac(text: str) -> bool:
    if text[2:3] in {":", "-"}:
        groups, size, counts = text.split(text[2]), 2, {6, 8, 20}
    elif text[4:5] == ".":
        groups, size, counts = text.split("."), 4, {3, 4, 10}
    else:
        groups, size, counts = list(text), 1, {12, 16, 40}
    return len(groups) in counts and all(re.fullmatch(f"[0-9a-fA-F]{{{size}}}", group) for group in groups)


def _is_hostname(text: str) -> bool:
    # To the server letters and symbols of any script are part of a label, symbols not of the last one.
    plain = "".join({"L": "a", "S": "0"}.get(unicodedata.category(letter)[0], letter) for letter in text)
    octets = text.encode()
    return bool(re.fullmatch(_HOSTNAME, plain)) and len(octets) <= 255 and max(map(len, octets.split(b"."))) <= 63  # noqa: PLR2004 - RFC 1034


def _is_isbn10(text: str) -> bool:
    plain = re.sub(_SPACING, "", text)
    if not re.fullmatch("[0-9]{9}[0-9X]", plain):
        return False
    return sum(at * (10 if digit == "X" else int(digit)) for at, digit in enumerate(plain, 1)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    plain = re.sub(_SPACING, "", text)
    if not re.fullmatch("[0-9]{13}", plain):
        return False
    return sum((1, 3)[at % 2] * int(digit) for at, digit in enumerate(plain)) % 10 == 0


def _is_card(text: str) -> bool:
    plain = re.sub(_SPACING, "", text)
    doubled = "".join(str(int(digit) * (1 + at % 2)) for at, digit in enumerate(reversed(plain)) if digit.isdecimal())
    return bool(re.fullmatch(_CARD, plain)) and sum(map(int, doubled)) % 10 == 0


def _anything(_text: str) -> bool:
    return True


_KNOWN: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _matches("[0-9a-fA-F]{24}"),
    "byte": _matches("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": _is_cidr,
    "creditcard": _is_card,
    "date": _is_date,
    "datetime": _is_datetime,
    "duration": _is_duration,
    "email": _anything,
    "hexcolor": _matches("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _is_hostname,
    "ipv4": lambda text: "." in text and _is_ip(text),
    "ipv6": lambda text: ":" in text and _is_ip(text),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": _matches(rf"{_SHORT_NAME}(\.{_SHORT_NAME})*", most=253),
    "k8sshortname": _matches(_SHORT_NAME, most=63),
    "mac": _is_mac,
    "password": _anything,
    "rgbcolor": _matches(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
    "ssn": _matches("(?=.{11}$)[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "uri": _anything,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
}


_BY_NUMBER_TYPE: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}
_OF_NUMBERS = frozenset(name for names in _BY_NUMBER_TYPE.values() for name in names)

NAMES: Final = frozenset({"date-time", *_KNOWN.keys() - {"datetime"}, *_OF_NUMBERS})
"""The formats that the API server knows, those of numbers among them; it does not mind dashes in the others."""


def is_known(name: str) -> bool:
    """Whether the API server holds values to a format, or at least has heard of it."""
    return name in _OF_NUMBERS or name.replace("-", "") in _KNOWN


def is_known_for(type_: str, name: str) -> bool:
    """Whether the API server holds values of a type (``""`` where none is said) to a format; it warns of others."""
    if type_ in _BY_NUMBER_TYPE:
        return name in _BY_NUMBER_TYPE[type_]
    return type_ in {"", "string"} and name.replace("-", "") in _KNOWN


def fits(name: str, text: str) -> bool:
    """Return whether a string has a format; those that the server ignores, ``email`` and ``uri`` fit always.

    What an email address and a URI are is told by Go's parsers, which nothing here repeats.
    """
    return _KNOWN.get(name.replace("-", ""), _anything)(text)
