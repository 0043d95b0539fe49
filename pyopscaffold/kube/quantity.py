"""Quantities in the text form of resource.Quantity: ``10Gi``, ``500m``, ``1e3``.

Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:[eE]([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)")
_EXPONENT_MAX = 2**31


def parse(text: str) -> Decimal:
    """Read a quantity as a number: ``parse("1Gi") == 1073741824``; compare quantities by this, not by text.

    Raises:
        ValueError: text is no quantity.

    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no quantity; write it like 500m, 1.5, 10Gi or 1e3")
    number, exponent, suffix = match.groups()
    if exponent is None:
        return Decimal(number) * _SUFFIXES[suffix or ""]
    if abs(int(exponent)) >= _EXPONENT_MAX:
        raise ValueError(f"the exponent of the quantity {text!r} does not fit 32 bits")
    return Decimal(f"{number}e{exponent}")


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 as left is smaller than, equal to or bigger than right: ``1Gi`` equals ``1024Mi``.

    Raises:
        ValueError: either is no quantity.

    """
    first, second = parse(left), parse(right)
    return (first > second) - (first < second)
