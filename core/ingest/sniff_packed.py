"""What kind of file a ZIP package or an OLE storage is, by the parts it holds."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import olefile

from core.ingest.media_types import (
    DOC,
    DOCX,
    ENCRYPTED_OFFICE,
    EPUB,
    HWP,
    IWORK,
    MSG,
    ODP,
    ODS,
    ODT,
    OLE,
    PACKAGE,
    PPT,
    PPTX,
    PROGRAM,
    XLS,
    XLSB,
    XLSX,
    ZIP,
)
from core.ingest.zips import TooManyFiles, open_zip

# by the main part: a document may embed a workbook
_OPEN_XML = (
    (re.compile(rb"(?:wordprocessingml|ms-word)\.[\w.]*main\+xml"), DOCX),
    (re.compile(rb"ms-excel\.sheet\.binary\.[\w.]*main"), XLSB),
    (re.compile(rb"(?:spreadsheetml|ms-excel)\.[\w.]*main"), XLSX),
    (re.compile(rb"(?:presentationml|ms-powerpoint)\.[\w.]*main\+xml"), PPTX),
)
_OLE_STREAMS = (
    ("EncryptedPackage", ENCRYPTED_OFFICE), ("WordDocument", DOC), ("PowerPoint Document", PPT), ("Workbook", XLS),
    ("Book", XLS), ("BodyText", HWP), ("__substg1.0_", MSG), ("__properties_version1.0", MSG),
)  # fmt: skip
_OPEN_DOCUMENT = re.compile(
    r"application/vnd\.(?:oasis\.opendocument|sun\.xml)\.(text|writer|spreadsheet|calc|presentation|impress)"
)
_OPEN_DOCUMENT_KINDS = {
    "text": ODT,
    "writer": ODT,
    "spreadsheet": ODS,
    "calc": ODS,
    "presentation": ODP,
    "impress": ODP,
}
_IWORK_PARTS = {"Index.zip", "index.apxl", "buildVersionHistory.plist"}
_PROGRAM_PARTS = {"META-INF/MANIFEST.MF", "AndroidManifest.xml"}
_MOST_PARTS = 10_000


def sniff_zip(path: str | Path) -> str:
    """The kind of a ZIP file; ZIP when it is a mere archive, or damaged."""
    try:
        with open_zip(path) as archive:
            return _package_kind(archive)
    except TooManyFiles:
        return ZIP
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError):
        return ZIP


def _package_kind(archive: zipfile.ZipFile) -> str:
    names = set(archive.namelist()[:_MOST_PARTS])
    if "[Content_Types].xml" in names:
        with archive.open("[Content_Types].xml") as part:
            types = part.read(1 << 20).lower()
        return next((kind for sign, kind in _OPEN_XML if sign.search(types)), PACKAGE)
    if "mimetype" in names:
        with archive.open("mimetype") as part:
            named = part.read(200).decode("ascii", "replace").strip()
        found = _OPEN_DOCUMENT.match(named)  # templates and master documents are of the kind they make
        return _OPEN_DOCUMENT_KINDS[found.group(1)] if found else named or ZIP
    if "META-INF/container.xml" in names:
        return EPUB
    if names & _PROGRAM_PARTS:
        return PROGRAM
    if names & _IWORK_PARTS or any(name.endswith(".iwa") for name in names):
        return IWORK
    return ZIP


def sniff_ole(path: str | Path) -> str:
    """The kind of an OLE storage by its streams; OLE when none is known."""
    try:
        with olefile.OleFileIO(str(path)) as storage:
            names = {parts[0] for parts in storage.listdir(streams=True, storages=True)}
    except (OSError, ValueError, IndexError, TypeError, AttributeError, MemoryError, RecursionError):
        names = set()
    for sign, kind in _OLE_STREAMS:
        if any(name.startswith(sign) for name in names):
            return kind
    return _by_bytes(path)


def _by_bytes(path: str | Path) -> str:
    """A damaged storage still holds the names of its streams."""
    with open(path, "rb") as file:
        data = file.read(4 << 20)
    return next((kind for name, kind in _OLE_STREAMS if name.encode("utf-16-le") in data), OLE)
