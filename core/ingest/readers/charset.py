"""Bytes to text: byte-order mark, then UTF-8, then the encoding that its bytes look like; what is declared helps."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from core.ingest.readers.charset_guess import guess, guess_ebcdic, is_judged

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$B", "iso2022_jp_2"),
    (b"\x1b$@", "iso2022_jp_2"),
    (b"\x1b$(D", "iso2022_jp_2"),
    (b"\x1b(J", "iso2022_jp_2"),
)
_SAMPLE = 64 << 10
# EBCDIC: letters, digits, space, line ends, full stop, comma, hyphen
_EBCDIC_USUAL = (
    *range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA), *range(0xC1, 0xCA), *range(0xD1, 0xDA),
    *range(0xE2, 0xEA), *range(0xF0, 0xFA), 0x40, 0x15, 0x25, 0x0D, 0x4B, 0x6B, 0x60,
)  # fmt: skip
_HIGH = re.compile(rb"[\x80-\xff]")
_TAGS = re.compile(rb"<[^>]{0,2000}>")
# what web pages declare and what browsers then take
_WEB_NAMES = {
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030",
    "gbk": "gb18030", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "shift_jis": "cp932", "shift-jis": "cp932",
    "x-sjis": "cp932", "iso-8859-9": "cp1254", "tis-620": "cp874",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    """`lost` counts bytes that stand for no character; they are U+FFFD in `text`."""

    text: str
    encoding: str
    lost: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.lost:
            return ()
        return (f"{self.lost:,} bytes are no characters in {self.encoding}; they were replaced.",)


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text of `data`. `declared` is the charset a page or header names; it is believed unless another is better."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replaced(data, encoding)
    wide = wide_encoding(data[:_SAMPLE])
    if wide:
        return _replaced(data, wide)
    if is_ebcdic(data[:_SAMPLE]):
        return _replaced(data, guess_ebcdic(data))
    # ISO-2022 is plain ASCII to a UTF-8 decoder: its escapes have to be looked for first
    shifted = next((encoding for escape, encoding in _ESCAPES if escape in data[:_SAMPLE]), "")
    for encoding in (shifted, "utf-8"):
        text = _strict(data, encoding)
        if text is not None:
            return Decoded(text, encoding)
    if shifted and max(data[:_SAMPLE]).to_bytes() < b"\x80":
        return _replaced(data, shifted)
    if _mostly_utf8(data):
        return _replaced(data, "utf-8")
    declared = _known(declared)
    text = None if is_judged(declared) else _strict(data, declared)
    if text is not None:
        return Decoded(text, declared)
    return _replaced(data, guess(_telling(data), declared) or declared or "cp1252")


def _telling(data: bytes) -> bytes:
    """The part of `data` that begins a little before its first byte beyond ASCII, without tags."""
    first = _HIGH.search(data)
    begin = max(0, first.start() - 4096) if first else 0
    return _TAGS.sub(b" ", data[begin : begin + _SAMPLE * 16])


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding) if encoding else None
    except (UnicodeError, LookupError):
        return None


def _replaced(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, text.count("\ufffd"))


def _known(name: str) -> str:
    name = name.strip().strip("'\"").lower()
    name = _WEB_NAMES.get(name, name)
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""


def wide_encoding(sample: bytes) -> str:
    """UTF-16 or UTF-32 without a mark: zero bytes stand at regular places."""
    zeros = [sample[offset::4].count(0) * 4 / max(1, len(sample)) for offset in range(4)]
    if min(zeros[2:]) > 0.95 and zeros[0] < 0.1:
        return "utf-32-le"
    if min(zeros[:2]) > 0.95 and zeros[3] < 0.1:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    if even > 0.4 and odd < 0.05:
        return "utf-16-be"
    return _wide_foreign(sample, even, odd)


def _wide_foreign(sample: bytes, even: float, odd: float) -> str:
    """UTF-16 of another alphabet: its spaces and line ends have a zero byte, nearly always on the same side."""
    if max(even, odd) < 0.01 or min(even, odd) > 0.35 * max(even, odd):
        return ""
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = _strict(sample[: len(sample) // 2 * 2], encoding) or _strict(sample[: len(sample) // 2 * 2 - 2], encoding)
    usual = sum(c.isalnum() or c.isspace() or c in ".,;:!?-、。，" for c in text or "")
    return encoding if text and usual > 0.9 * len(text) else ""


def _mostly_utf8(data: bytes) -> bool:
    """A few broken bytes in a text whose other characters beyond ASCII are UTF-8."""
    text = data[: _SAMPLE * 16].decode("utf-8", "replace")
    good = sum(1 for c in text if c > "\x7f" and c != "\ufffd")
    return good > 20 * text.count("\ufffd")


def is_ebcdic(sample: bytes) -> bool:
    """Text of a mainframe: its space is @ in ASCII, its letters are bytes beyond ASCII."""
    if sample.count(b"\x40") < 0.06 * len(sample) or sample.count(b" ") * 20 > sample.count(b"\x40"):
        return False
    return sum(sample.count(byte) for byte in _EBCDIC_USUAL) > 0.85 * len(sample)
