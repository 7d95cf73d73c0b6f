"""Folding text for comparison: compatibility forms, case and invisible characters, with the way back kept.

`fold` maps text to NFKC + casefold and drops format characters (soft hyphens, zero-width joiners). Each folded
character remembers which source characters it came from, so that a match can be marked in the source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

# half-width Katakana voicing marks are letters to Unicode, yet compose like combining marks
_HALF_WIDTH_MARKS = "\uff9e\uff9f"
_LAST_MARK = 0x1E94A  # no combining mark lies between here and the variation selectors of plane 14


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` is the folded form; its character i came from the source characters [starts[i], ends[i])."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def source(self, start: int, end: int) -> tuple[int, int]:
        """The source range of the folded range [start, end), which must not be empty."""
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Fold `text`, keeping for every folded character where it came from."""
    if text.isascii():
        return Folded(text.lower(), range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _clusters().finditer(text):
        start, end = match.span()
        source = match.group()
        if source.isascii():
            parts.append(source.lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            folded = _fold_cluster(source)
            parts.append(folded)
            starts.extend([start] * len(folded))
            ends.extend([end] * len(folded))
    return Folded("".join(parts), starts, ends)


@cache
def mark_ranges() -> str:
    """The combining marks of Unicode as the inside of a regular expression's character class."""
    marks = (c for c in range(0x300, _LAST_MARK + 1) if unicodedata.category(chr(c)).startswith("M"))
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in _runs(marks))


def _runs(numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    first = last = next(numbers)
    for number in numbers:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


@cache
def _clusters() -> re.Pattern[str]:
    """What must be folded as one: ASCII runs (for speed), conjoining Hangul, a character with its marks."""
    marks = f"[{mark_ranges()}{_HALF_WIDTH_MARKS}]"
    return re.compile(rf"[\x00-\x7f]+(?!{marks})|[\u1100-\u11ff]+|.{marks}*", re.DOTALL)


@lru_cache(maxsize=1 << 16)
def _fold_cluster(cluster: str) -> str:
    # a casefolded character may decompose again, hence NFKC on both sides
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    kept = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return kept.replace("i\u0307", "i")  # the dotted capital I of Turkish
