"""What a plain YAML scalar means to Kubernetes.

kubectl, helm and controller-gen read manifests with sigs.k8s.io/yaml: YAML 1.1 words (``on``, ``y``), Go's integer
syntax, dates and ``=`` as strings. PyYAML's own resolver differs in each of these, and fails on a bare ``=``.
"""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_NUMERIC_START = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[+-]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT_MIN, _UINT_MAX = -(2**63), 2**64 - 1


def resolve(text: str) -> Scalar:
    """Give the JSON value of the plain scalar ``text``, as Go has it.

    Integers that fit no 64 bits become floats, and what fits no float either is a string.
    """
    if text[:1] in _NUMERIC_START:
        return _number(text)
    return _WORDS.get(text, text)


def _number(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    plain = text if text.startswith(".") else text.replace("_", "")
    match = _INTEGER.fullmatch(plain)
    if match is not None:
        value = _integer(plain, match)
        if _INT_MIN <= value <= _UINT_MAX:
            return value
    number = float(plain) if _FLOAT.fullmatch(plain) else math.inf
    return number if math.isfinite(number) else text


def _integer(plain: str, match: re.Match[str]) -> int:
    for name, base in (("hex", 16), ("bin", 2), ("oct", 8)):
        if match[name] is not None:
            return -int(match[name], base) if plain.startswith("-") else int(match[name], base)
    return int(plain) if len(plain) <= len(str(_UINT_MAX)) + 1 else _UINT_MAX + 1
