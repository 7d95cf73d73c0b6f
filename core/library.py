"""A library as the window and the command line see it: open or create, the read side, small changes.

The read side needs SQLite only, so that the window stays light. Long changes (ingest) are jobs of
`core.ingest` and `core.worker`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import NotFound
from core.base.types import Block, Concept, Document, DocumentState, Lens, Page, Passage
from core.store import (
    concepts,
    coverage,
    database,
    documents,
    jobs,
    judgements,
    lenses,
    living,
    overview,
    passages,
)
from core.store.comparing import Change as Change
from core.store.comparing import Comparison as Comparison
from core.store.concepts import Mark as Mark
from core.store.concepts import weak as weak
from core.store.coverage import Coverage as Coverage
from core.store.database import known_errors, transaction
from core.store.documents import Root
from core.store.exports.formats import Format as Format
from core.store.exports.formats import file_name as file_name
from core.store.exports.formats import format_of as format_of
from core.store.exports.formats import rich_text as rich_text
from core.store.history import LAST as LAST
from core.store.history import Conversation as Conversation
from core.store.history import Deleted as Deleted
from core.store.history import StoredTurn as StoredTurn
from core.store.history_library import HistoryLibrary
from core.store.history_search import Found as Found
from core.store.jobs import JobRow
from core.store.judgements import Judgement
from core.store.overview import Relatives as Relatives
from core.store.overview import RootSummary as RootSummary


class Library(HistoryLibrary):
    """Read side of one library, and the small changes a person makes while looking at it.

    Reads go through one read-only connection; each change opens a writing connection for its moment.
    """

    def __init__(self, folder: Path, *, any_thread: bool = False) -> None:
        self.folder = folder
        self._db = database.open_reader(folder, any_thread=any_thread)

    @classmethod
    def open(cls, folder: Path | str, *, any_thread: bool = False) -> Library:
        """Raises NotALibrary, LibraryTooNew, LibraryDamaged, NoPermission."""
        return cls(Path(folder), any_thread=any_thread)

    @classmethod
    def create(cls, folder: Path | str) -> Library:
        """Open the library in `folder`, made (empty) when there is none."""
        path = Path(folder)
        with known_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        database.create(path).conn.close()
        return cls(path)

    @staticmethod
    def exists(folder: Path | str) -> bool:
        return (Path(folder) / database.FILE).is_file()

    def close(self) -> None:
        self._db.conn.close()

    def changes(self) -> int:
        """A number that is another one as soon as somebody else has changed the library: what was read may be old."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    # documents

    def documents(
        self, *, states: Iterable[DocumentState] = (), text: str = "", sort: str = "path", descending: bool = False,
        offset: int = 0, limit: int = -1,
    ) -> list[Document]:  # fmt: skip
        """One page of the documents; `sort` is a key of `core.store.documents.SORTS`."""
        return documents.documents(
            self._db, states=states, text=text, sort=sort, descending=descending, offset=offset, limit=limit
        )

    def spelled(self, path: Path) -> str:
        """The path as the library has it, however a person reaches it."""
        return living.spelled(self._db, path)

    def count(self, *, states: Iterable[DocumentState] = (), text: str = "") -> int:
        return documents.count(self._db, states=states, text=text)

    def counts(self) -> dict[DocumentState, int]:
        return documents.counts(self._db)

    def coverage(self) -> Coverage:
        """How much of the documents was read, and how."""
        return coverage.coverage(self._db)

    def write_report(self, path: Path) -> int:
        """Write the report on every document to a CSV file; returns how many lines it has. Raises KnownError."""
        return coverage.write_csv(self._db, path)

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        found = documents.document(self._db, document_id)
        if found is None:
            raise NotFound(f"Document {document_id} is not in this library.", "It may have been removed.")
        return found

    def document_text(self, document_id: int) -> tuple[str, tuple[Page, ...], tuple[Block, ...]]:
        """Raises NotFound."""
        found = documents.document_text(self._db, document_id)
        if found is None:
            raise NotFound(f"The text of document {document_id} is not in this library.", "It may have been removed.")
        return found

    def document_pages(self, document_id: int) -> tuple[Page, ...]:
        """The pages without the text. Raises NotFound."""
        found = documents.document_pages(self._db, document_id)
        if found is None:
            raise NotFound(f"The text of document {document_id} is not in this library.", "It may have been removed.")
        return found

    def content_hash(self, document_id: int) -> str:
        """SHA-256 of the file when it was read, to tell whether it changed since. Raises NotFound."""
        row = self._db.execute(
            "SELECT f.hash FROM document d JOIN file f ON f.id = d.file_id WHERE d.id = ?", (document_id,)
        ).fetchone()
        if row is None:
            raise NotFound(f"Document {document_id} is not in this library.", "It may have been removed.")
        return str(row[0])

    def passage(self, passage_id: int) -> Passage:
        """Raises NotFound."""
        found = passages.passages(self._db, [passage_id])
        if passage_id not in found:
            raise NotFound(
                f"Passage {passage_id} is not in this library.", "Search again: its document may have changed."
            )
        return found[passage_id]

    def document_passages(self, document_id: int) -> list[Passage]:
        return passages.of_document(self._db, document_id)

    def passage_count(self) -> int:
        return passages.count(self._db)

    def roots(self) -> list[Root]:
        return documents.roots(self._db)

    def root_summaries(self) -> list[RootSummary]:
        """The roots with their numbers, and when each was last looked at."""
        return overview.summaries(self._db)

    def relatives(self, document_id: int) -> Relatives:
        """Copies and versions of a document."""
        return overview.relatives(self._db, document_id)

    def paths(self, states: Iterable[DocumentState]) -> list[str]:
        """The files with a document in one of these states."""
        return documents.paths(self._db, states)

    def excluded(self) -> list[str]:
        """Files and folders that were removed although they lie in a root: scans leave them out."""
        return documents.excluded(self._db)

    def take_back(self, path: str) -> None:
        """Let scans read again what was left out under exactly this path."""
        with self._writer() as db:
            documents.take_back(db, path)

    def ignore_patterns(self) -> str:
        """The patterns, one a line, of what scans of this library pass by."""
        return living.meta(self._db, living.IGNORE_KEY)

    def set_ignore_patterns(self, text: str) -> None:
        """Keep the patterns for scans from now on. Raises BadSetting when a line is no pattern."""
        with self._writer() as db:
            living.set_patterns(db, text)

    def facets(self) -> dict[str, list[tuple[str, int]]]:
        """Values to filter by with their document counts: `types`, `languages`, `tags`, `folders`."""
        return documents.facets(self._db)

    def set_tags(self, document_id: int, tags: Iterable[str]) -> None:
        with self._writer() as db:
            documents.set_tags(db, document_id, tags)

    # concepts

    def concepts(self, model: str) -> list[Concept]:
        """The named concepts of one autoencoder as the person wants them, the most frequent first."""
        return concepts.concepts(self._db, model)

    def reasons(self, model: str) -> dict[int, str]:
        """Labels of the latents that may be shown as reasons: neither hidden nor weak."""
        return concepts.reasons(self.concepts(model))

    def rename_concept(self, model: str, latent: int, name: str) -> Mark:
        """Give a concept a name, or its default name back (""). Returns the mark before, for `unmark_concept`.

        Raises NotFound, BadSetting.
        """
        with self._writer() as db:
            return concepts.mark(db, model, latent, name=name)

    def hide_concept(self, model: str, latent: int, on: bool = True) -> Mark:
        """Show a concept nowhere as a reason, or again. Returns the mark before. Raises NotFound."""
        with self._writer() as db:
            return concepts.mark(db, model, latent, hidden=on)

    def merge_concepts(self, model: str, latent: int, into: int) -> Mark:
        """Let one concept count as another, or (`into` itself) for itself again. Returns the mark before.

        Raises NotFound, BadSetting.
        """
        with self._writer() as db:
            return concepts.mark(db, model, latent, merged_into=into)

    def unmark_concept(self, model: str, latent: int, before: Mark | None = None) -> None:
        """Undo a change: say again what was said before, or nothing at all."""
        with self._writer() as db:
            concepts.restore(db, model, latent, before or Mark())

    def lenses(self, model: str) -> list[Lens]:
        """The saved lenses for the concepts of one autoencoder, by name."""
        return lenses.lenses(self._db, model)

    def save_lens(self, model: str, lens: Lens) -> int:
        """Save a lens (id 0: a new one, or in place of the one of its name); returns its id.

        Raises BadSetting, NotFound.
        """
        with self._writer() as db:
            return lenses.save(db, model, lens)

    def delete_lens(self, lens_id: int) -> None:
        with self._writer() as db:
            lenses.delete(db, lens_id)

    # jobs

    def jobs(self, limit: int = 50) -> list[JobRow]:
        return jobs.recent(self._db, limit)

    def interrupted_job(self) -> JobRow | None:
        """The newest job if it was cut off, else None. Only meaningful while no job runs."""
        return jobs.interrupted(self._db)

    # what the person shows and says of results

    def judgements(self, kinds: Sequence[str] = ()) -> list[Judgement]:
        """What was recorded, oldest first; kinds are `opened`, `liked`, `disliked`, `pinned` and `judged`."""
        return judgements.judgements(self._db, kinds)

    def records_opened(self) -> bool:
        """Whether `note_opened` records anything."""
        return judgements.records_opened(self._db)

    def set_records_opened(self, on: bool) -> None:
        """Turn the recording of opened results on or off; what is recorded stays until `forget` takes it."""
        with self._writer() as db:
            judgements.set_records_opened(db, on)

    def note_opened(self, question: str, passage_id: int) -> bool:
        """The person opened this result of that search. False when nothing is recorded. May be called on any thread."""
        with self._writer() as db:
            return judgements.records_opened(db) and judgements.put(db, judgements.OPENED, question, passage_id)

    def set_thumb(self, question: str, passage_id: int, up: bool | None) -> None:
        """Thumb up (True) or down (False), or take either back (None)."""
        with self._writer() as db:
            if up is not None:
                judgements.put(db, judgements.LIKED if up else judgements.DISLIKED, question, passage_id)
                return
            for kind in (judgements.LIKED, judgements.DISLIKED):
                judgements.take_back(db, kind, question, passage_id)

    def set_pinned(self, question: str, passage_id: int, on: bool) -> None:
        """Keep the question with the passage that answers it, or let it go."""
        with self._writer() as db:
            (judgements.put if on else judgements.take_back)(db, judgements.PINNED, question, passage_id)

    def judge(self, question: str, gains: Mapping[int, int]) -> int:
        """The person's verdict on the passages shown for a question: 2 (answers), 1 (in part) or 0 (does not), in place
        of an earlier one. Returns how many were kept: a passage may have gone meanwhile."""
        with self._writer() as db:
            return judgements.judge(db, question, gains)

    def forget_judgements(self, ids: Iterable[int] = (), kind: str = "") -> None:
        """Delete single records, or all of one kind."""
        with self._writer() as db:
            judgements.delete(db, ids)
            judgements.delete_kind(db, kind)

    @contextlib.contextmanager
    def _writer(self) -> Iterator[Database]:
        """One short write transaction on a connection of its own."""
        with known_errors(self.folder):
            db = database.open_writer(self.folder)
            try:
                with transaction(db):
                    yield db
            finally:
                db.conn.close()
