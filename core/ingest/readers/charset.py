"""Bytes to text: byte-order mark, then UTF-8, then what the file declares, then what its bytes look like."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

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
    """The text of `data`. `declared` is the charset a page or header names; it is believed when it fits."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replaced(data, encoding)
    wide = wide_encoding(data[:_SAMPLE])
    if wide:
        return _replaced(data, wide)
    # ISO-2022 is plain ASCII to a UTF-8 decoder: its escapes have to be looked for first
    shifted = next((encoding for escape, encoding in _ESCAPES if escape in data[:_SAMPLE]), "")
    for encoding in (shifted, "utf-8", _known(declared)):
        text = _strict(data, encoding)
        if text is not None:
            return Decoded(text, encoding)
    if _mostly_utf8(data):
        return _replaced(data, "utf-8")
    return _replaced(data, _guess(data) or _known(declared) or "cp1252")


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
    if min(zeros[1:]) > 0.9 and zeros[0] < 0.1:
        return "utf-32-le"
    if min(zeros[:3]) > 0.9 and zeros[3] < 0.1:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.05 else ""


def _mostly_utf8(data: bytes) -> bool:
    """A few broken bytes in a text whose other characters beyond ASCII are UTF-8."""
    text = data[: _SAMPLE * 16].decode("utf-8", "replace")
    good = sum(1 for c in text if c > "\x7f" and c != "\ufffd")
    return good > 20 * text.count("\ufffd")


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = _TAGS.sub(b" ", data[: _SAMPLE * 4])
    if len(sample) > _SAMPLE:
        sample = sample[: sample.rfind(b"\n", 0, _SAMPLE) + 1 or _SAMPLE]
    best = from_bytes(sample).best()
    return best.encoding if best else ""
