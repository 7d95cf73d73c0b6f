"""Character offsets: the engine counts code points, Qt counts UTF-16 units. This maps one to the other."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_WIDE = re.compile("[\U00010000-\U0010ffff]")
_UNSHOWN = re.compile("[\ud800-\udfff\0\ufdd0\ufdd1]")  # lone surrogates, null, what Qt keeps for itself
_BREAKS = str.maketrans("\r\f\v\u2029", "    ")  # Qt would start a new paragraph (or show a box)


class Utf16:
    """The map for one text. Texts without characters beyond the basic plane map to themselves."""

    def __init__(self, text: str) -> None:
        self._wide = [match.start() for match in _WIDE.finditer(text)]
        self._units = [offset + n for n, offset in enumerate(self._wide)]

    def units(self, offset: int) -> int:
        """UTF-16 units before the character at `offset`."""
        return offset + bisect_left(self._wide, offset)

    def offset(self, units: int) -> int:
        """Characters before the UTF-16 unit at `units`; the second half of a pair counts with its first."""
        return units - bisect_right(self._units, units - 1)


def shown(text: str) -> str:
    """`text` as a widget can hold it, of equal length: the only line break left is the line feed."""
    return _UNSHOWN.sub("\ufffd", text).translate(_BREAKS)


def one_line(text: str) -> str:
    """`text` with each control or line break character as one space, so that offsets stay valid."""
    return "".join(" " if c.isspace() or (not c.isprintable() and ord(c) < 32) else c for c in shown(text))
