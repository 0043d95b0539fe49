"""Sets of characters, as the classes of regular expressions make them."""

from __future__ import annotations

import sys
from bisect import bisect_right
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]
"""Code points, first and last of each run; in order, and no run touches the next."""

EVERYTHING: Final[Ranges] = ((0, sys.maxunicode),)
ALL_BUT_NEWLINE: Final[Ranges] = ((0, 0x9), (0xB, sys.maxunicode))
_DIGIT, _UPPER, _LOWER = (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)

PERL: Final[dict[str, Ranges]] = {
    "d": (_DIGIT,),
    "s": ((0x9, 0xA), (0xC, 0xD), (0x20, 0x20)),
    "w": (_DIGIT, _UPPER, (0x5F, 0x5F), _LOWER),
}
"""``\\d``, ``\\s`` and ``\\w``: ASCII only, and without the vertical tab."""

POSIX: Final[dict[str, Ranges]] = {
    "alnum": (_DIGIT, _UPPER, _LOWER),
    "alpha": (_UPPER, _LOWER),
    "ascii": ((0, 0x7F),),
    "blank": ((0x9, 0x9), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": (_DIGIT,),
    "graph": ((0x21, 0x7E),),
    "lower": (_LOWER,),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x9, 0xD), (0x20, 0x20)),
    "upper": (_UPPER,),
    "word": PERL["w"],
    "xdigit": (_DIGIT, (0x41, 0x46), (0x61, 0x66)),
}
"""What stands in ``[[:name:]]``."""

_CATEGORIES: Final = """
    Cc Cf Cn Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs
""".split()  # noqa: SIM905 - 30 quoted words are a column of their own
_SETS_OF_CATEGORIES: Final = {
    "Any": _CATEGORIES,
    "Assigned": [category for category in _CATEGORIES if category != "Cn"],
    "LC": ["Ll", "Lt", "Lu"],
}
_LONG_NAMES: Final = dict(
    pair.split("=")
    for pair in """
    Lc=LC Casedletter=LC Closepunctuation=Pe Cntrl=Cc Combiningmark=M Connectorpunctuation=Pc Control=Cc
    Currencysymbol=Sc Dashpunctuation=Pd Decimalnumber=Nd Digit=Nd Enclosingmark=Me Finalpunctuation=Pf Format=Cf
    Initialpunctuation=Pi Letter=L Letternumber=Nl Lineseparator=Zl Lowercaseletter=Ll Mark=M Mathsymbol=Sm
    Modifierletter=Lm Modifiersymbol=Sk Nonspacingmark=Mn Number=N Openpunctuation=Ps Other=C Otherletter=Lo
    Othernumber=No Otherpunctuation=Po Othersymbol=So Paragraphseparator=Zp Privateuse=Co Punct=P Punctuation=P
    Separator=Z Spaceseparator=Zs Spacingmark=Mc Surrogate=Cs Symbol=S Titlecaseletter=Lt Unassigned=Cn
    Uppercaseletter=Lu
    """.split()  # noqa: SIM905 - as above
)
_SCRIPTS: Final = """
    Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
    Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan
    Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran
    Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha
    Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro
    Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic
    Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil
    Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi
""".split()  # noqa: SIM905 - as above
_FIRST_WORDS: Final = {"CJK": "Han", "KANGXI": "Han", "COMBINING": "Inherited"} | {
    script.upper(): script for script in _SCRIPTS
}
_LAST_WITH_CASE: Final = 0x1E943


def union(*sets: Iterable[tuple[int, int]]) -> Ranges:
    """Return what is in any of the sets; their runs may come in any order, and overlap."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(chain(*sets)):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def negated(ranges: Ranges) -> Ranges:
    """Return what is not in the set."""
    edges = [-1, *chain(*ranges), sys.maxunicode + 1]
    return tuple((a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if a + 1 < b)


def folded(ranges: Ranges) -> Ranges:
    """Return the set with whatever differs from a member in case only, by Unicode's simple case folding."""
    if ranges == EVERYTHING:
        return ranges
    others = (
        (other, other)
        for code, group in _cases().items()
        if any(first <= code <= last for first, last in ranges)
        for other in group
    )
    return union(ranges, others)


@cache
def named(name: str) -> Ranges | None:
    r"""Return the characters of a Unicode category or script by the name in ``\p{…}``; None if Go knows no such name.

    Case, spaces, hyphens and underscores in the name do not matter. The categories are those of Python's Unicode
    version. The scripts are an approximation, by the first word of the characters' names: Latin lacks full-width
    letters, for one. Go 1.26 finds no script whose name has two words.
    """
    key = name.translate({ord(ignored): None for ignored in " -_"}).capitalize()
    key = _LONG_NAMES.get(key, key)
    if key in _SCRIPTS:
        return _scripts().get(key, ())
    if key == "Ascii":
        return POSIX["ascii"]
    categories = _SETS_OF_CATEGORIES.get(key) or [known for known in _CATEGORIES if key and known.startswith(key)]
    return union(*(_categories()[category] for category in categories)) if categories else None


def contains(ranges: Ranges, code: int) -> bool:
    """Whether a code point is in the set."""
    index = bisect_right(ranges, (code, sys.maxunicode))
    return index > 0 and code <= ranges[index - 1][1]


@cache
def _cases() -> dict[int, tuple[int, ...]]:
    """Return, for each character with other cases, all that are equal to it when case is ignored."""
    groups: dict[str, list[int]] = {}
    for code in range(_LAST_WITH_CASE + 1):
        character = chr(code)
        if (full := character.casefold()) == character:
            continue
        # Where the full folding has several characters, the simple one is the lower case, if that is one.
        simple = next((made for made in (full, character.lower()) if len(made) == 1), character)
        if simple != character:
            groups.setdefault(simple, [ord(simple)]).append(code)
    return {code: tuple(group) for group in groups.values() for code in group}


@cache
def _categories() -> dict[str, Ranges]:
    from unicodedata import category  # noqa: PLC0415 - few patterns need its data

    return _runs(category(chr(code)) for code in range(sys.maxunicode + 1))


@cache
def _scripts() -> dict[str, Ranges]:
    from unicodedata import name  # noqa: PLC0415 - as above

    first_words = (name(chr(code), "").partition(" ")[0] for code in range(sys.maxunicode + 1))
    return _runs(_FIRST_WORDS.get(word, "Common") if word else "" for word in first_words)


def _runs(kinds: Iterable[str]) -> dict[str, Ranges]:
    """Return the code points of each kind, given the kinds of all code points from 0 on."""
    found: dict[str, list[tuple[int, int]]] = {}
    start = 0
    for kind, run in groupby(kinds):
        length = sum(1 for _ in run)
        found.setdefault(kind, []).append((start, start + length - 1))
        start += length
    return {kind: tuple(runs) for kind, runs in found.items()}
