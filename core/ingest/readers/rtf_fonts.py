"""Which code page the bytes of a Rich Text document are in: by the font's character set, else the document's own."""

from __future__ import annotations

import codecs

_CHARSETS = {
    77: "mac_roman", 78: "shift_jis", 79: "cp949", 80: "gbk", 81: "big5", 128: "cp932", 129: "cp949", 130: "johab",
    134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_PAGES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


class Fonts:
    """Fills itself from the words of the font table."""

    def __init__(self) -> None:
        self._codecs: dict[int, str] = {}
        self._default = "cp1252"
        self._font = -1

    def page(self, word: str, number: int) -> None:
        """`\\ansi`, `\\mac`, ... or `\\ansicpgN`."""
        if word == "ansicpg":
            self._default = known_codec(number) or self._default
        else:
            self._default = _PAGES[word]

    def word(self, word: str, number: int) -> None:
        """A word in the font table."""
        if word == "f":
            self._font = number
        elif word == "fcharset" and number in _CHARSETS:
            self._codecs[self._font] = _CHARSETS[number]
        elif word == "cpg" and known_codec(number):
            self._codecs[self._font] = known_codec(number)

    def decode(self, data: bytes, font: int) -> str:
        return data.decode(self._codecs.get(font, self._default), "replace")


def known_codec(page: int) -> str:
    """Python's name of a Windows code page; empty when there is none."""
    name = {10000: "mac_roman", 65001: "utf-8", 1361: "johab", 28591: "latin-1"}.get(page, f"cp{page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return ""
    return name
