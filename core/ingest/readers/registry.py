"""Which reader reads which kind of file. A new format is one module and one line here.

A reader is a module with `read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]`. It is imported
when its first file comes. It yields whole documents, calls `tick` now and then as a sign of life, and what it
raises ends as a state with a reason.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.budget import REST, shared
from core.ingest.limits import Limits, Tick, no_tick
from core.ingest.readers.build import failure

Reader = Callable[[Path, Limits, Tick], Iterator[ReadDocument]]


@dataclass(frozen=True, slots=True)
class Format:
    media_type: str
    short_name: str
    module: str


FORMATS = (
    Format(sniff.PDF, "pdf", "pdf"),
    Format(sniff.DOCX, "docx", "docx"),
    Format(sniff.HTML, "html", "html"),
    Format(sniff.MARKDOWN, "md", "markdown"),
    Format(sniff.TEXT, "txt", "text"),
    Format(sniff.JSONL, "jsonl", "jsonl"),
    Format(sniff.PPTX, "pptx", "pptx"),
    Format(sniff.XLSX, "xlsx", "xlsx"),
    Format(sniff.ODT, "odt", "odf"),
    Format(sniff.ODS, "ods", "odf"),
    Format(sniff.ODP, "odp", "odf"),
    Format(sniff.RTF, "rtf", "rtf"),
    Format(sniff.DOC, "doc", "doc"),
    Format(sniff.PPT, "ppt", "ppt"),
    Format(sniff.XLS, "xls", "xls"),
    Format(sniff.XLSB, "xlsb", "xls"),
    Format(sniff.HWP, "hwp", "hwp"),
    Format(sniff.EPUB, "epub", "epub"),
    Format(sniff.FB2, "fb2", "fb2"),
    Format(sniff.MHTML, "mhtml", "mail"),
    Format(sniff.EML, "eml", "mail"),
    Format(sniff.MBOX, "mbox", "mbox"),
    Format(sniff.MSG, "msg", "msg"),
    Format(sniff.ZIP, "zip", "archive"),
    Format(sniff.TAR, "tar", "archive"),
    Format(sniff.GZIP, "gz", "archive"),
    Format(sniff.BZIP2, "bz2", "archive"),
    Format(sniff.XZ, "xz", "archive"),
    Format(sniff.CSV, "csv", "table"),
    Format(sniff.TSV, "tsv", "table"),
    Format(sniff.JSON, "json", "json_tree"),
    Format(sniff.XML, "xml", "xml"),
    Format(sniff.SVG, "svg", "xml"),
    Format(sniff.NOTEBOOK, "ipynb", "notebook"),
    Format(sniff.RST, "rst", "rst"),
    Format(sniff.LATEX, "tex", "latex"),
    Format(sniff.ORG, "org", "org"),
    Format(sniff.ASCIIDOC, "adoc", "asciidoc"),
    Format(sniff.VTT, "vtt", "subtitles"),
    Format(sniff.SRT, "srt", "subtitles"),
    Format(sniff.SOURCE, "code", "source"),
    Format(sniff.PNG, "png", "image"),
    Format(sniff.JPEG, "jpg", "image"),
    Format(sniff.GIF, "gif", "image"),
    Format(sniff.TIFF, "tiff", "image"),
    Format(sniff.WEBP, "webp", "image"),
    Format(sniff.BMP, "bmp", "image"),
    Format(sniff.JP2, "jp2", "image"),
    Format(sniff.ENCRYPTED_OFFICE, "office", "office_locked"),
)
IMAGES = frozenset(known.media_type for known in FORMATS if known.module == "image")
SHORT_NAMES = {known.media_type: known.short_name for known in FORMATS}
_MODULES = {known.media_type: known.module for known in FORMATS}
# plain text of any size is read as far as the output may go, and marked as truncated
_READ_IN_PART = frozenset([sniff.TEXT, sniff.CSV, sniff.TSV, sniff.JSONL, sniff.JSON, sniff.SOURCE])


def read(
    path: str | Path, media_type: str, limits: Limits, tick: Tick = no_tick
) -> Generator[ReadDocument, None, None]:
    """The document(s) in the file at `path`; at least one, and never an exception of the file's making.

    An empty `media_type` is sniffed. A file that cannot be read yields one document with a state and a reason; so do
    files within it that are beyond the limits, together.

    Raises:
        MemoryError: reading needs more memory than the process may have.
    """
    inside = shared(limits)
    own = False  # the file's own document was given: what goes wrong now must not take its place
    for document in _read(Path(path), media_type, inside, tick):
        if own and not document.external_id:
            document = replace(document, external_id=REST)
        own = own or not document.external_id
        if inside.resume is None or inside.resume.met:
            yield document
    if not inside.prefix and inside.budget.left_out:
        reason = f"The file holds more files than are read, or larger ones: {inside.budget.left_out:,} more were seen."
        yield replace(failure(DocumentState.TOO_LARGE, reason), external_id=REST)


def _read(path: Path, media_type: str, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        media_type = media_type or sniff.sniff(path)
        refused = _refuse(path, media_type, limits)
        if refused is not None:
            yield replace(refused, media_type=media_type)
            return
        reader = _reader(media_type)
        for document in reader(path, limits, tick):
            reader_name = document.reader or SHORT_NAMES[media_type]
            yield replace(document, media_type=document.media_type or media_type, reader=reader_name)
    except OSError as error:
        yield replace(_os_failure(error), media_type=media_type)
    except (MemoryError, GeneratorExit):
        raise
    except RecursionError:
        yield replace(failure(DocumentState.BROKEN, "The file is nested too deeply."), media_type=media_type)
    except Exception as error:
        reason = f"The file is damaged: {sniff.describe(media_type)} that cannot be parsed ({type(error).__name__})."
        yield replace(failure(DocumentState.BROKEN, reason), media_type=media_type)


def _reader(media_type: str) -> Reader:
    module = importlib.import_module(f"core.ingest.readers.{_MODULES[media_type]}")
    reader: Reader = module.read
    return reader


def _refuse(path: Path, media_type: str, limits: Limits) -> ReadDocument | None:
    """Why this file is not given to a reader, or None."""
    size = path.stat().st_size
    if media_type == sniff.EMPTY or size == 0:
        return failure(DocumentState.EMPTY, "The file is empty: it has no bytes.")
    if media_type not in _MODULES:
        return failure(DocumentState.UNSUPPORTED, f"This seems to be {sniff.describe(media_type)}, which is not read.")
    if size > limits.file_bytes and media_type not in _READ_IN_PART:
        allowed = limits.file_bytes >> 20
        return failure(DocumentState.TOO_LARGE, f"The file has {size >> 20:,} MB; up to {allowed:,} MB are read.")
    return None


def _os_failure(error: OSError) -> ReadDocument:
    if isinstance(error, PermissionError):
        return failure(DocumentState.DENIED, "There is no permission to read the file.")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return failure(DocumentState.MISSING, "The file is no longer there.")
    return failure(DocumentState.BROKEN, f"The file could not be read from its disk: {error.strerror or error}.")
