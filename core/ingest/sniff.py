"""What kind of file it is, by its content. The name only tells apart kinds of plain text."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from core.ingest.media_types import (  # noqa: F401  (readers and tests know them as sniff.PDF, ...)
    ASCIIDOC,
    BINARY,
    BMP,
    BZIP2,
    CSV,
    DOC,
    DOCX,
    EML,
    EMPTY,
    ENCRYPTED_OFFICE,
    EPUB,
    FB2,
    GIF,
    GZIP,
    HTML,
    HWP,
    IWORK,
    JP2,
    JPEG,
    JSON,
    JSONL,
    LATEX,
    MARKDOWN,
    MBOX,
    MHTML,
    MSG,
    NOTEBOOK,
    ODP,
    ODS,
    ODT,
    OLE,
    ORG,
    PDF,
    PNG,
    PPT,
    PPTX,
    RST,
    RTF,
    SOURCE,
    SRT,
    SVG,
    TAR,
    TEXT,
    TIFF,
    TSV,
    VTT,
    WEBP,
    XLS,
    XLSB,
    XLSX,
    XML,
    XZ,
    ZIP,
    describe,
)

_HEAD = 64 << 10
_FIRST_LINE = 4 << 20

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", PNG), (0, b"\xff\xd8\xff", JPEG), (0, b"GIF8", GIF),
    (0, b"II*\0", TIFF), (0, b"MM\0*", TIFF), (0, b"II+\0", TIFF), (0, b"MM\0+", TIFF), (8, b"WEBP", WEBP),
    (0, b"8BPS", "image/x-psd"), (0, b"\0\0\0\x0cjP  ", JP2), (0, b"\xff\x4f\xff\x51", JP2),
    (4, b"ftypheic", "image/heic"), (4, b"ftypavif", "image/avif"),
    (4, b"ftyp", "video/mp4"), (0, b"\x1aE\xdf\xa3", "video/x-matroska"), (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"), (0, b"OggS", "audio/ogg"), (0, b"fLaC", "audio/flac"), (8, b"WAVE", "audio/wav"),
    (0, b"\x1f\x8b", GZIP), (0, b"BZh", BZIP2), (0, b"\xfd7zXZ\0", XZ),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"), (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"), (257, b"ustar", TAR),
    (0, b"\x7fELF", "application/x-executable"), (0, b"MZ", "application/x-executable"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"), (0, b"{\\rtf", RTF),
    (0, b"%!PS", "application/postscript"), (0, b"AT&TFORM", "image/vnd.djvu"),
    (60, b"BOOKMOBI", "application/x-mobipocket-ebook"), (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"wOFF", "font/woff"), (0, b"wOF2", "font/woff2"), (0, b"\0\1\0\0\0", "font/ttf"), (0, b"OTTO", "font/otf"),
)  # fmt: skip
_PDF_START = re.compile(rb"(?:\A|[\r\n\0])%PDF-")  # mail headers and the like may stand before it
_PLAIN_MAGIC = (b"MZ", b"ID3", b"BZh", b"PAR1", b"GIF8", b"OggS", b"OTTO", b"wOFF", b"wOF2", b"8BPS")


def sniff(path: str | Path) -> str:
    """The media type of the file at `path`.

    Raises:
        OSError: the file is missing or may not be read.
    """
    from core.ingest import sniff_packed, sniff_text

    with open(path, "rb") as file:
        head = file.read(_HEAD)
        if not head:
            return EMPTY
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return sniff_packed.sniff_zip(path)
        if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
            return sniff_packed.sniff_ole(path)
        known = _sniff_magic(head)
        if known:
            return known
        if _is_binary(head):
            return TAR if _is_old_tar(head) else BINARY
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
            head += file.read(_FIRST_LINE)
        whole = not file.read(1)
    return sniff_text.sniff_text(head, PurePath(path).name.lower(), whole)


def _sniff_magic(head: bytes) -> str:
    if _PDF_START.search(head[:1024]):
        return PDF
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset) and not (magic in _PLAIN_MAGIC and not _is_binary(head)):
            return kind
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return BMP
    return ""


def _is_old_tar(head: bytes) -> bool:
    """A TAR header without a magic word, by its checksum."""
    stated = head[148:156].strip(b" \0")
    return len(head) >= 512 and stated.isdigit() and sum(head[:148]) + 256 + sum(head[156:512]) == _octal(stated)


def _octal(digits: bytes) -> int:
    return int(digits, 8) if not digits.strip(b"01234567") else -1


def _is_binary(head: bytes) -> bool:
    """Control bytes that no text holds. UTF-16, UTF-32, ISO-2022 and EBCDIC are text although they hold some."""
    from core.ingest.readers.charset import is_ebcdic, wide_encoding

    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        encoding = "utf-32" if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")) else "utf-16"
        return _too_many_controls(head[: len(head) // 4 * 4].decode(encoding, "replace"))
    if head.count(0):
        encoding = wide_encoding(head)
        return not encoding or _too_many_controls(head[: len(head) // 4 * 4].decode(encoding, "replace"))
    if is_ebcdic(head):
        return False
    return _too_many_controls(head.decode("latin-1"), shifts=b"\x1b$" in head or b"\x1b(" in head)


def _too_many_controls(text: str, shifts: bool = False) -> bool:
    allowed = "\t\n\v\f\r\x1b\x1a" + ("\x0e\x0f" if shifts else "")
    controls = sum(text.count(chr(c)) for c in range(32) if chr(c) not in allowed)
    return controls + text.count("\ufffd") * 5 > max(2, len(text) * 0.003)
