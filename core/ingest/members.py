"""Files within files: each is unpacked into a temporary file, read like any other, and its documents named after it.

A container's reader calls `read_member` for each file in it. `extract` walks the same way and writes the one that is
wanted, so that a viewer can open it.
"""

from __future__ import annotations

import contextlib
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from core.base.types import DocumentState, ReadDocument
from core.ingest.budget import Search, SharedLimits, shared
from core.ingest.limits import Limits, Tick, no_tick
from core.ingest.member_names import file_name, safe_name
from core.ingest.readers import registry
from core.ingest.readers.build import failure

Source = bytes | IO[bytes] | Callable[[], IO[bytes]]

_CHUNK = 1 << 20
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, IndexError)


class _Unread(Exception):
    """Why a member could not be unpacked."""

    def __init__(self, state: DocumentState, reason: str) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason


def read_member(
    name: str, source: Source, limits: Limits, tick: Tick = no_tick, *, media_type: str = "", packed: bool = True
) -> Iterator[ReadDocument]:
    """The document(s) of the file `name` within another; at least one, unless the budget is spent.

    Their `external_id` is the name, unique in its container; what is nested in it comes as "name/inner name".
    `source` gives its bytes; one that is called is only called when they are needed. An empty `media_type` is sniffed.
    With `packed` the file counts against `limits.members` and its bytes against `limits.inflated_bytes`; without, its
    bytes are as good as in the outer file already (mail).
    """

    def read_in(inner: SharedLimits) -> Iterator[ReadDocument]:
        with _spooled(file_name(safe_name(name).text), inner) as path:
            _unpack(source, path, inner, tick, packed)
            if inner.search is not None and not inner.search.external_id:
                inner.search.found.append(Path(shutil.move(path, inner.search.folder / path.name)))
                yield ReadDocument("")
            else:
                yield from registry.read(path, media_type, inner, tick)

    yield from read_inner(name, read_in, limits, tick, packed=packed)


def read_inner(
    name: str,
    read_in: Callable[[SharedLimits], Iterator[ReadDocument]],
    limits: Limits,
    tick: Tick = no_tick,
    *,
    packed: bool = False,
) -> Iterator[ReadDocument]:
    """As `read_member`, for a part that is no file of its own: `read_in` reads it, given the limits for it."""
    here = shared(limits)
    tick()
    if packed and not here.budget.admit():
        return
    safe = safe_name(name)
    unique = here.unique(safe.text)
    search = here.search.within(unique) if here.search is not None else None
    if here.search is not None and search is None:
        return
    resume, whole_name = here.resume, here.prefix + unique
    if resume is not None and not resume.reached and not resume.leads_to(whole_name):
        return
    try:
        if resume is not None and resume.reached and not resume.met:
            resume.met = True
            raise _Unread(resume.state, resume.reason)
        if resume is not None:
            resume.reached = resume.reached or resume.after == whole_name
        if here.nesting <= 0:
            raise _Unread(DocumentState.TOO_LARGE, "It lies deeper in files within files than is read.")
        for document in read_in(here.deeper(unique, search)):
            yield _named(document, unique, safe.warning)
        if resume is not None:
            resume.reached = True
    except _Unread as unread:
        yield _named(failure(unread.state, unread.reason), unique, safe.warning)
    except MemoryError:
        reason = "Reading it needs more than the memory allowed."
        yield _named(failure(DocumentState.TOO_LARGE, reason), unique, safe.warning)


def unread_member(name: str, state: DocumentState, reason: str, limits: Limits) -> Iterator[ReadDocument]:
    """The document of a file that is known to be unreadable before it is unpacked."""

    def refuse(_: SharedLimits) -> Iterator[ReadDocument]:
        yield failure(state, reason)

    yield from read_inner(name, refuse, limits, packed=True)


def extract(path: Path, external_id: str, folder: Path, limits: Limits | None = None) -> Path | None:
    """Write the file `external_id` that is within the file at `path` into `folder`, which has to be there.

    The path of what was written; None when there is no such file in it, or it cannot be unpacked.

    Raises:
        MemoryError
    """
    search = Search(external_id, folder)
    with contextlib.closing(registry.read(path, "", shared(limits or Limits(), search))) as documents:
        for _ in documents:
            if search.found:
                return search.found[0]
    return None


def _named(document: ReadDocument, name: str, warning: str) -> ReadDocument:
    """The member's document under the name it has in its container."""
    if document.external_id:
        return replace(document, external_id=f"{name}/{document.external_id}")
    title = document.title or PurePosixPath(name).name
    warnings = (*document.warnings, warning) if warning else document.warnings
    return replace(document, external_id=name, title=title, warnings=warnings)


@contextlib.contextmanager
def _spooled(name: str, limits: SharedLimits) -> Iterator[Path]:
    """Where one member is unpacked to; nothing of it stays."""
    if not limits.spool:
        with tempfile.TemporaryDirectory(prefix="member-") as folder:
            yield Path(folder) / name
        return
    # one file at a time at each depth, so that thousands of them need no folder each
    path = Path(limits.spool) / f"depth-{limits.nesting}" / name
    path.parent.mkdir(exist_ok=True)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _unpack(source: Source, path: Path, limits: SharedLimits, tick: Tick, packed: bool) -> None:
    """Write the bytes of `source`. Raises `_Unread`."""
    with path.open("xb") as file:
        for chunk in _chunks(source):
            tick()
            if packed and not limits.budget.take(len(chunk)):
                allowed = limits.inflated_bytes >> 20
                raise _Unread(DocumentState.TOO_LARGE, f"The file around it unfolds to more than {allowed:,} MB.")
            try:
                file.write(chunk)
            except OSError as error:
                raise _Unread(DocumentState.BROKEN, f"There is no room to unpack it: {error.strerror}.") from error


def _chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    try:
        stream = source() if callable(source) else source
        while chunk := stream.read(_CHUNK):
            yield chunk
    except NotImplementedError:
        raise _Unread(DocumentState.UNSUPPORTED, "It is packed by a method that is not read.") from None
    except RuntimeError:  # how `zipfile` says it
        raise _Unread(DocumentState.LOCKED, "It is encrypted and needs a password.") from None
    except _DAMAGED as error:
        reason = f"It cannot be unpacked: its bytes are damaged ({type(error).__name__})."
        raise _Unread(DocumentState.BROKEN, reason) from error
