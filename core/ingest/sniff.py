"""What kind of file it is, by its content. The name only tells apart kinds of plain text."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path, PurePath

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
DOC, PPT, XLS = "application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel"
ODT, ODS, ODP = (f"application/vnd.oasis.opendocument.{kind}" for kind in ("text", "spreadsheet", "presentation"))
RTF, HWP = "application/rtf", "application/x-hwp"
EPUB, FB2, MHTML = "application/epub+zip", "application/x-fictionbook+xml", "multipart/related"
EML, MBOX, MSG = "message/rfc822", "application/mbox", "application/vnd.ms-outlook"
TAR, GZIP, BZIP2, XZ = "application/x-tar", "application/gzip", "application/x-bzip2", "application/x-xz"
HTML, MARKDOWN, TEXT, JSONL = "text/html", "text/markdown", "text/plain", "application/jsonl"
CSV, TSV, JSON, XML = "text/csv", "text/tab-separated-values", "application/json", "application/xml"
NOTEBOOK, RST, LATEX = "application/x-ipynb+json", "text/x-rst", "text/x-tex"
ORG, ASCIIDOC, VTT, SRT = "text/x-org", "text/x-asciidoc", "text/vtt", "application/x-subrip"
SOURCE, SVG = "text/x-source", "image/svg+xml"
PNG, JPEG, GIF, TIFF = "image/png", "image/jpeg", "image/gif", "image/tiff"
WEBP, BMP, JP2 = "image/webp", "image/bmp", "image/jp2"
ENCRYPTED_OFFICE = "application/x-ole-encrypted"
EMPTY, BINARY, ZIP, OLE = (
    "application/x-empty",
    "application/octet-stream",
    "application/zip",
    "application/x-ole-storage",
)

_HEAD = 64 << 10
_FIRST_LINE = 4 << 20

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"), (0, b"\xff\xd8\xff", "image/jpeg"), (0, b"GIF8", "image/gif"),
    (0, b"II*\0", "image/tiff"), (0, b"MM\0*", "image/tiff"), (8, b"WEBP", "image/webp"), (0, b"8BPS", "image/x-psd"),
    (0, b"\0\0\0\x0cjP  ", "image/jp2"), (4, b"ftypheic", "image/heic"), (4, b"ftypavif", "image/avif"),
    (4, b"ftyp", "video/mp4"), (0, b"\x1aE\xdf\xa3", "video/x-matroska"), (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"), (0, b"OggS", "audio/ogg"), (0, b"fLaC", "audio/flac"), (8, b"WAVE", "audio/wav"),
    (0, b"\x1f\x8b", "application/gzip"), (0, b"BZh", "application/x-bzip2"), (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"), (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"), (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-executable"), (0, b"MZ", "application/x-executable"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"), (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"), (0, b"AT&TFORM", "image/vnd.djvu"),
    (60, b"BOOKMOBI", "application/x-mobipocket-ebook"), (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"wOFF", "font/woff"), (0, b"wOF2", "font/woff2"), (0, b"\0\1\0\0\0", "font/ttf"), (0, b"OTTO", "font/otf"),
)  # fmt: skip

# by the main part: a document may embed a workbook
_OPEN_XML = (
    (re.compile(rb"(?:wordprocessingml|ms-word)\.[\w.]*main\+xml"), DOCX),
    (
        re.compile(rb"(?:spreadsheetml|ms-excel)\.[\w.]*main"),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    (
        re.compile(rb"(?:presentationml|ms-powerpoint)\.[\w.]*main\+xml"),
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
)
_OLE_STREAMS = (
    ("EncryptedPackage", ENCRYPTED_OFFICE), ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"), ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"), ("__substg1.0_", "application/vnd.ms-outlook"),
)  # fmt: skip

_NAMES = {
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "an Excel workbook",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "a PowerPoint presentation",
    "application/msword": "a Word document of the old kind (.doc)",
    "application/vnd.ms-excel": "an Excel workbook of the old kind (.xls)",
    "application/vnd.ms-powerpoint": "a PowerPoint presentation of the old kind (.ppt)",
    "application/vnd.ms-outlook": "an Outlook message", ENCRYPTED_OFFICE: "an Office file with a password",
    PDF: "a PDF", DOCX: "a Word document", HTML: "a web page", MARKDOWN: "a Markdown file", TEXT: "a text file",
    JSONL: "a collection of documents (JSON Lines)", EMPTY: "an empty file",
    "message/rfc822": "a mail message", "application/mbox": "a mailbox", "application/epub+zip": "an EPUB book",
    "application/x-mobipocket-ebook": "a Kindle book", "application/rtf": "a Rich Text document",
    "application/postscript": "a PostScript file", "image/vnd.djvu": "a DjVu document",
    "image/svg+xml": "an SVG drawing",
    "application/x-ipynb+json": "a Jupyter notebook", "application/xml": "an XML file",
    "application/x-executable": "a program", "application/vnd.sqlite3": "a database",
    "application/vnd.apache.parquet": "a data table (Parquet)", BINARY: "a binary file", OLE: "an old Office file",
    ZIP: "a ZIP archive",
}  # fmt: skip
_FAMILIES = {
    "image": "a picture",
    "audio": "a sound file",
    "video": "a video",
    "font": "a font",
    "application": "an archive",
}

_MARKDOWN_SUFFIXES = {".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"}
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I | re.S
)
_HTML_TAG = re.compile(
    r"</?(?:p|div|span|table|h[1-6]|ul|ol|li|a|b|i|em|strong|br|font|center|body|html)\b[^>]*>", re.I
)
_MAIL_HEADER = re.compile(
    r"(?:from|to|date|subject|received|return-path|message-id|mime-version|delivered-to|x-[\w-]+):", re.I
)
_MARKDOWN_SIGN = re.compile(r"^(?:#{1,6} \S|```|\s*[-*] \[[ x]\] )|\[[^\]\n]+\]\([^)\s]+\)", re.M)


def describe(media_type: str) -> str:
    """The kind in words, with its article."""
    opened = "an OpenDocument file" if "opendocument" in media_type else ""
    return opened or _NAMES.get(media_type) or _FAMILIES.get(media_type.partition("/")[0], "a file of an unknown kind")


def sniff(path: str | Path) -> str:
    """The media type of the file at `path`.

    Raises:
        OSError: the file is missing or may not be read.
    """
    with open(path, "rb") as file:
        head = file.read(_HEAD)
        if not head:
            return EMPTY
        if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
            return _sniff_zip(path)
        if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
            return _sniff_ole(head + file.read(4 << 20))
        known = _sniff_magic(head)
        if known:
            return known
        if _is_binary(head):
            return BINARY
        if head.lstrip()[:1] == b"{":
            head += file.read(_FIRST_LINE)
    return _sniff_text(head, PurePath(path).suffix.lower())


def _sniff_magic(head: bytes) -> str:
    if b"%PDF-" in head[:1024]:
        return PDF
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset) and not (magic == b"MZ" and not _is_binary(head)):
            return kind
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return ""


def _sniff_zip(path: str | Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist()[:10_000])
            if "[Content_Types].xml" in names:
                with archive.open("[Content_Types].xml") as part:
                    types = part.read(1 << 20).lower()
                return next((kind for sign, kind in _OPEN_XML if sign.search(types)), ZIP)
            if "mimetype" in names:
                with archive.open("mimetype") as part:
                    return part.read(200).decode("ascii", "replace").strip() or ZIP
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError):
        return ZIP
    return ZIP


def _sniff_ole(data: bytes) -> str:
    return next((kind for name, kind in _OLE_STREAMS if name.encode("utf-16-le") in data), OLE)


def _is_binary(head: bytes) -> bool:
    """Control bytes that no text holds. UTF-16, UTF-32 and ISO-2022 are text although they hold some."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return False
    if head.count(0):
        from core.ingest.readers.charset import wide_encoding

        encoding = wide_encoding(head)
        return not encoding or _too_many_controls(head[: len(head) // 4 * 4].decode(encoding, "replace"))
    return _too_many_controls(head.decode("latin-1"), shifts=b"\x1b$" in head or b"\x1b(" in head)


def _too_many_controls(text: str, shifts: bool = False) -> bool:
    allowed = "\t\n\v\f\r\x1b\x1a" + ("\x0e\x0f" if shifts else "")
    controls = sum(text.count(chr(c)) for c in range(32) if chr(c) not in allowed)
    return controls + text.count("\ufffd") * 5 > max(2, len(text) * 0.003)


def _sniff_text(head: bytes, suffix: str) -> str:
    from core.ingest.readers.charset import decode

    text = decode(head[:_HEAD]).text.lstrip("\ufeff")
    start = text.lstrip()
    if start.startswith("{"):
        kind = _sniff_json(head)
        if kind:
            return kind
    if start.startswith("<"):
        return _sniff_markup(start, suffix)
    mail = _sniff_mail(text)
    if mail:
        return mail
    if suffix in (".html", ".htm", ".xhtml") and len(_HTML_TAG.findall(text)) >= 2:
        return HTML
    if suffix in _MARKDOWN_SUFFIXES or (not suffix and len(_MARKDOWN_SIGN.findall(text)) >= 3):
        return MARKDOWN
    return TEXT


def _sniff_markup(start: str, suffix: str) -> str:
    if _HTML_START.match(start) or "<html" in start[:4096].lower():
        return HTML
    if start.startswith(("<?xml", "<svg", "<FictionBook")):
        return "image/svg+xml" if "<svg" in start[:2000] else "application/xml"
    if suffix in _MARKDOWN_SUFFIXES:
        return MARKDOWN
    return HTML if len(_HTML_TAG.findall(start)) >= 2 else TEXT


def _sniff_mail(text: str) -> str:
    lines = text.split("\n", 40)[:40]
    if text.startswith("From ") and any(_MAIL_HEADER.match(line) for line in lines[1:4]):
        return "application/mbox"
    headers = 0
    for line in lines:
        if _MAIL_HEADER.match(line):
            headers += 1
        elif not line.strip() or (not line[:1].isspace() and not re.match(r"[\w-]+:", line)):
            break
    return "message/rfc822" if headers >= 3 else ""


def _sniff_json(head: bytes) -> str:
    """A collection has one object with a text on each line. A first line may be a bad one."""
    for line in head.splitlines()[:10]:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("text"), str) and ("_id" in value or "id" in value):
            return JSONL
    return "application/x-ipynb+json" if b'"nbformat"' in head and b'"cells"' in head else ""
