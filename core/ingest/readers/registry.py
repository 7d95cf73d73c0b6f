"""Which reader reads which kind of file. A new format is one module and one line here.

A reader is a module with `read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]`. It is imported
when its first file comes. It yields whole documents, calls `tick` now and then as a sign of life, and what it
raises ends as a state with a reason.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
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
)
SHORT_NAMES = {known.media_type: known.short_name for known in FORMATS}
_MODULES = {known.media_type: known.module for known in FORMATS}


def read(path: str | Path, media_type: str, limits: Limits, tick: Tick = no_tick) -> Iterator[ReadDocument]:
    """The document(s) in the file at `path`; at least one, and never an exception of the file's making.

    An empty `media_type` is sniffed. A file that cannot be read yields one document with a state and a reason.

    Raises:
        MemoryError: reading needs more memory than the process may have.
    """
    path = Path(path)
    try:
        media_type = media_type or sniff.sniff(path)
        refused = _refuse(path, media_type, limits)
        if refused is not None:
            yield replace(refused, media_type=media_type)
            return
        reader = _reader(media_type)
        for document in reader(path, limits, tick):
            yield replace(document, media_type=media_type, reader=document.reader or SHORT_NAMES[media_type])
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
    if media_type == sniff.ENCRYPTED_OFFICE:
        return failure(DocumentState.LOCKED, "The document needs a password.")
    if media_type not in _MODULES:
        return failure(DocumentState.UNSUPPORTED, f"This seems to be {sniff.describe(media_type)}, which is not read.")
    if size > limits.file_bytes:
        allowed = limits.file_bytes >> 20
        return failure(DocumentState.TOO_LARGE, f"The file has {size >> 20:,} MB; up to {allowed:,} MB are read.")
    return None


def _os_failure(error: OSError) -> ReadDocument:
    if isinstance(error, PermissionError):
        return failure(DocumentState.DENIED, "There is no permission to read the file.")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return failure(DocumentState.MISSING, "The file is no longer there.")
    return failure(DocumentState.BROKEN, f"The file could not be read from its disk: {error.strerror or error}.")
