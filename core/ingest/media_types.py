"""The kinds of file: their media types, and how each is called in a sentence."""

from __future__ import annotations

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
DOC, PPT, XLS = "application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel"
ODT, ODS, ODP = (f"application/vnd.oasis.opendocument.{kind}" for kind in ("text", "spreadsheet", "presentation"))
RTF, HWP, IWORK = "application/rtf", "application/x-hwp", "application/vnd.apple.iwork"
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
PACKAGE, PROGRAM = "application/vnd.openxmlformats-package", "application/x-executable"
EMPTY, BINARY, ZIP, OLE = (
    "application/x-empty",
    "application/octet-stream",
    "application/zip",
    "application/x-ole-storage",
)

_NAMES = {
    PDF: "a PDF", DOCX: "a Word document", PPTX: "a PowerPoint presentation", XLSX: "an Excel workbook",
    XLSB: "a binary Excel workbook", DOC: "a Word document of the old kind (.doc)",
    XLS: "an Excel workbook of the old kind (.xls)", PPT: "a PowerPoint presentation of the old kind (.ppt)",
    MSG: "an Outlook message", ENCRYPTED_OFFICE: "an Office file with a password", HWP: "a Hangul document",
    IWORK: "a Pages, Numbers or Keynote file", RTF: "a Rich Text document", EPUB: "an EPUB book",
    FB2: "a FictionBook", MHTML: "a saved web page", EML: "a mail message", MBOX: "a mailbox",
    HTML: "a web page", MARKDOWN: "a Markdown file", TEXT: "a text file", CSV: "a table (CSV)", TSV: "a table (TSV)",
    JSON: "a JSON file", JSONL: "a collection of documents (JSON Lines)", XML: "an XML file", SVG: "an SVG drawing",
    NOTEBOOK: "a Jupyter notebook", RST: "a reStructuredText file", LATEX: "a LaTeX file", ORG: "an Org file",
    ASCIIDOC: "an AsciiDoc file", VTT: "subtitles (WebVTT)", SRT: "subtitles (SRT)", SOURCE: "a source file",
    EMPTY: "an empty file", BINARY: "a binary file", OLE: "an old Office file", ZIP: "a ZIP archive",
    "application/x-mobipocket-ebook": "a Kindle book", "application/postscript": "a PostScript file",
    "image/vnd.djvu": "a DjVu document", PROGRAM: "a program", PACKAGE: "a package of a rare Office kind",
    "application/vnd.sqlite3": "a database", "application/vnd.apache.parquet": "a data table (Parquet)",
}  # fmt: skip
_FAMILIES = {
    "image": "a picture",
    "audio": "a sound file",
    "video": "a video",
    "font": "a font",
    "application": "an archive",
}


def describe(media_type: str) -> str:
    """The kind in words, with its article."""
    opened = "an OpenDocument file" if "opendocument" in media_type else ""
    return opened or _NAMES.get(media_type) or _FAMILIES.get(media_type.partition("/")[0], "a file of an unknown kind")
