"""Search and explanation over one library, as the search child and the command line both use them.

A damaged index file is rebuilt here from the stored text, and the result says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from core.base.errors import IndexDamaged, KnownError, LibraryLocked, ModelDamaged, ModelMissing, NoPermission
from core.base.events import Control
from core.base.paths import models
from core.base.recent import Recent
from core.base.types import Explanation, Filters, Query, SearchResult, Turn, WhyNot
from core.encode.cached import CachedEncoder
from core.encode.encoder import Encoder, input_text
from core.encode.load import open_encoder, open_reranker
from core.encode.towers import queries_of
from core.explain.explain import explain
from core.explain.why_not import why_not
from core.index import generation
from core.index.concept_model import ConceptModel
from core.index.snapshot import Snapshot
from core.index.writer import rebuild
from core.library import Library
from core.models import adapted
from core.search.rerank import Reranker
from core.search.searcher import Searcher
from core.store import database
from core.store.concepts import reasons
from core.worker.concept_views import Concepts, Marked

T = TypeVar("T")

_MARKED = 1_000  # passages whose sentences stay marked for a concept
REBUILT = "A part of the index was damaged. It has been rebuilt from the stored text."


class Finder:
    """One open searcher with the concepts of its generation."""

    def __init__(self, library: Path, encoder: Encoder | None = None) -> None:
        database.require(library)
        self._folder = library
        self._follows = encoder is None
        self.encoder = encoder or CachedEncoder(encoder_for(library))
        self._opened = self.encoder.id, queries_of(self.encoder)
        self._rerankers = LibraryRerankers(library)
        self._searcher = self._opened_searcher()
        self._library = Library.open(library)
        self._model_name = ""
        self._model: ConceptModel | None = None
        self._labels: dict[int, str] = {}
        self._merged: dict[int, int] = {}  # latent -> the concept as which it counts
        self._labels_of = -1  # state of the database that the labels were read in
        self._seen: tuple[tuple[Snapshot, int], Concepts | None] | None = None
        self._marked: Marked = Recent(_MARKED)

    @property
    def searcher(self) -> Searcher:
        return self._searcher

    def close(self) -> None:
        self._searcher.close()
        self._library.close()

    def search(self, query: Query, control: Control | None = None) -> SearchResult:
        """Raises Cancelled through `control`, beside what a searcher raises."""
        return self._mended(lambda: self._searcher.search(query, control))

    def retrieve(
        self, question: str, history: Sequence[Turn], filters: Filters, k: int, control: Control | None = None
    ) -> SearchResult:
        return self._mended(lambda: self._searcher.retrieve(question, history, filters, k, control))

    def explain(self, query: Query, passage_id: int) -> Explanation:
        """Without concepts when their model is lost or damaged. Raises NotFound, BadQuery."""
        return self.once_more(
            lambda: explain(self._searcher, self._model, self._labels, query, passage_id, self._merged)
        )

    def why_not(self, query: Query, passage_id: int, control: Control | None = None) -> WhyNot:
        """Without concepts when their model is lost or damaged. Raises NotFound, BadQuery; Cancelled by `control`."""
        return self.once_more(
            lambda: why_not(self._searcher, self._model, self._labels, query, passage_id, self._merged, control)
        )

    def concepts(self, of: Snapshot | None = None) -> Concepts | None:
        """The concepts of the newest snapshot, or of this open one, as the person wants them; None where it has none.

        Raises:
            NotALibrary, LibraryDamaged, IndexDamaged
        """
        if of is None:
            self._follow()
        state = of or self._searcher.snapshot(), self._library.changes()
        if self._seen is None or self._seen[0] != state:
            name = state[0].generation.concepts
            self._seen = state, Concepts.of(state[0], self._library.concepts(name), self._marked) if name else None
        return self._seen[1]

    def once_more(self, asked: Callable[[], T]) -> T:
        """With the concepts of the generation in use; again when the index turns out damaged and could be rebuilt.

        Raises IndexDamaged where it could not.
        """
        self._follow()
        self._load_concepts()
        with contextlib.suppress(IndexDamaged):
            return asked()
        self._rebuilt()
        return asked()

    def _opened_searcher(self) -> Searcher:
        rerankers = self._rerankers
        return Searcher(self._folder, self.encoder, rerankers=rerankers, promised=rerankers.promises)

    def _mended(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Search; when a part of the index turns out damaged or lost, rebuild it and search again."""
        self._follow()
        result = _tried(search)
        lost = result is None or (result.generation == 0 and self._library.passage_count() > 0)
        if result is not None and not self._searcher.damaged and not lost:
            return result
        if not self._rebuilt():
            return search() if result is None else result
        result = search()
        return replace(result, notice=" ".join(filter(None, (REBUILT, result.notice))))

    def _follow(self) -> None:
        """Encode queries as the current generation was encoded: another one may have become current meanwhile.

        An encoder that is not there any more is told of by the search, which compares words then.
        """
        if not self._follows:
            return
        with contextlib.suppress(IndexDamaged, ModelMissing, ModelDamaged):
            made = self._searcher.snapshot().generation
            wanted = made.encoder, made.queries
            if made.encoder and wanted != self._opened:
                encoder = CachedEncoder(_opened(self._folder, *wanted))
                self._opened = wanted
                self._searcher.close()
                self.encoder = encoder
                self._searcher = self._opened_searcher()

    def _rebuilt(self) -> bool:
        """Make the index again, unless somebody is at work on the library: it is theirs to make then."""
        try:
            with database.lock(self._folder, "repair"):
                db = database.open_writer(self._folder)
                try:
                    rebuild(self._folder, db, self.encoder, input_text)
                finally:
                    db.conn.close()
        except (LibraryLocked, NoPermission):
            return False
        self._searcher.reopen()
        return True

    def _load_concepts(self) -> None:
        name = _concepts_of(self._folder)
        if name != self._model_name:
            self._model = _concept_model(self._folder, name)
            self._labels_of = -1
        changes = self._library.changes()
        if changes != self._labels_of:  # the person may have named one meanwhile
            found = self._library.concepts(name) if name else []  # read once: labels and merges belong together
            self._labels = reasons(found)
            self._merged = {latent: one.id for one in found for latent in one.merged}
        self._model_name, self._labels_of = name, changes


def _tried(search: Callable[[], SearchResult]) -> SearchResult | None:
    """None where the index is too damaged to tell which passages may answer at all."""
    with contextlib.suppress(IndexDamaged):
        return search()
    return None


class LibraryRerankers:
    """The reranker of the generation in use, opened when it is first wanted.

    One that cannot be opened is tried again when its folder has changed: it may have been installed anew.
    """

    def __init__(self, library: Path) -> None:
        self._library = library
        self._name = ""
        self._opened: Reranker | None = None
        self._tried: tuple[int, ...] | None = None

    def __call__(self, name: str) -> Reranker | None:
        """None where there is none, or where it is lost: hits are not read closely then, and the doctor says why."""
        self._follow(name)
        if name and self._opened is None and (seen := self._changed(name)) != self._tried:
            self._tried = seen
            with contextlib.suppress(KnownError):
                self._opened = open_reranker(name, also=adapted.folder(self._library))
        return self._opened

    def promises(self, name: str) -> bool:
        """Whether it is there and did not fail to open; it is not opened for that, which may take a second."""
        self._follow(name)
        if not name or self._opened is not None:
            return bool(name)
        seen = self._changed(name)
        return any(seen) and seen != self._tried

    def _follow(self, name: str) -> None:
        if name != self._name:
            self._name, self._opened, self._tried = name, None, None

    def _changed(self, name: str) -> tuple[int, ...]:
        """When the folders that may hold it changed; 0 for one that is not there or cannot be looked at."""
        return tuple(_changed(folder / name) for folder in (adapted.folder(self._library), models()))


def _changed(folder: Path) -> int:
    with contextlib.suppress(OSError):
        return folder.stat().st_mtime_ns
    return 0


def _concepts_of(library: Path) -> str:
    with contextlib.suppress(IndexDamaged):
        current = generation.current(library)
        return current.concepts if current else ""
    return ""


def _concept_model(library: Path, name: str) -> ConceptModel | None:
    """None when it cannot be loaded: the next ingest fits it anew, and `doctor` says so."""
    with contextlib.suppress(ModelMissing, ModelDamaged):
        return ConceptModel.load(library / "models" / name) if name else None
    return None


def encoder_for(library: Path) -> Encoder:
    """The encoder that the library's vectors were made with, or the active one for a new library.

    Raises:
        ModelMissing, ModelDamaged
    """
    return _opened(library, *_encoders(library))


def _opened(library: Path, encoder: str | None, queries: str) -> Encoder:
    return open_encoder(encoder, also=adapted.folder(library), queries=queries)


def _encoders(library: Path) -> tuple[str | None, str]:
    """Of the current generation; of the newest readable one when its manifest is damaged."""
    try:
        current = generation.current(library)
    except IndexDamaged:
        current = max(generation.history(library), key=lambda g: g.number, default=None)
    return (current.encoder or None, current.queries) if current else (None, "")
