"""From stored passages to a searchable index: encode what is new, write segments, commit generations."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.events import Changed, Control, Listener, Progress
from core.base.types import DENSE, LEXICAL, MULTI, Generation, Passage
from core.encode.encoder import Encoded, Encoder, input_hash, input_text
from core.encode.load import suggests_tokens
from core.index import generation
from core.index.writer import IndexPassage, IndexWriter
from core.models import adapted
from core.store import documents, judgements, passages, representations
from core.store.database import transaction

_MOST_TOKEN_BYTES = 64 << 20  # held before they are brought into the index
_COMPLETE_AT_ONCE = 2_000  # passages given token vectors between two commits
ENCODE_AT_ONCE = 64  # passages between two looks at cancel, pause and progress
_FIRST_COMMIT_SECONDS = 1.0
_LONGEST_COMMIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What is kept of a passage until it is brought into the index; `tokens` [T, M] in 16 bits."""

    passage: IndexPassage
    vector: np.ndarray
    lexical: Mapping[str, float] | None
    tokens: np.ndarray | None


class Indexer:
    """Keeps the passages that wait for the index, and brings them in batch by batch.

    The first commit comes early, so that the first documents can be found while others are read; later ones
    come at growing intervals, since each is a segment to be merged.
    """

    def __init__(self, library: Path, db: Database, encoder: Encoder, control: Control, listener: Listener) -> None:
        self._db = db
        self.encoder = encoder
        self._control = control
        self._listener = listener
        self.writer = IndexWriter(library, db, encoder.id, encoder.dimension)
        self._known = self.writer.indexed()  # in the index or queued for it
        self._waiting: deque[int] = deque()
        self.catch_up()
        self._ready: list[_Encoded] = []
        wanted = representations.keeps_tokens(db)
        self._tokens = suggests_tokens(encoder.id, adapted.folder(library)) if wanted is None else wanted
        if wanted is None and self.writer.weights.get(MULTI) == 0:
            self._tokens = False  # they would not count
        if wanted is False:
            self.writer.drop_tokens()
        self._urgent = False
        self._interval = _FIRST_COMMIT_SECONDS
        self._last_commit = time.monotonic()
        self.encoded = 0  # passages that went through the encoder
        self.indexed = 0  # passages brought into the index

    @property
    def waiting(self) -> int:
        """Passages that are stored but not encoded."""
        return len(self._waiting)

    @property
    def done(self) -> int:
        """Passages that were encoded, or found encoded, in this run."""
        return self.indexed + len(self._ready)

    @property
    def has_ready(self) -> bool:
        return bool(self._ready)

    @property
    def overdue(self) -> bool:
        """A commit should not wait until reading has caught up."""
        waited = time.monotonic() - self._last_commit
        return bool(self._ready or self._waiting) and waited >= 2 * self._interval

    def catch_up(self) -> None:
        """Queue all stored passages that are neither in the index nor queued."""
        ids = (row[0] for row in self._db.execute("SELECT id FROM passage ORDER BY id"))
        self._queue([i for i in ids if i not in self._known])

    def add_document(self, document_id: int, *, urgent: bool, ahead: bool = False) -> None:
        """Queue the document's new passages, `ahead` of those that wait.

        `urgent` asks for a commit as soon as they are encoded.
        """
        rows = self._db.execute("SELECT id FROM passage WHERE document_id = ? ORDER BY id", (document_id,)).fetchall()
        self._queue([i for (i,) in rows if i not in self._known], ahead=ahead)
        self._urgent = self._urgent or urgent

    def _queue(self, fresh: list[int], *, ahead: bool = False) -> None:
        if ahead:
            self._waiting.extendleft(reversed(fresh))
        else:
            self._waiting.extend(fresh)
        self._known.update(fresh)

    def step(self) -> None:
        """Encode up to `ENCODE_AT_ONCE` waiting passages, and commit when it is time.

        Raises Cancelled.
        """
        batch = self._next_batch()
        if batch:
            keys = [input_hash(encoder_input(p)) for p in batch]
            vectors, fresh = self._vectors(batch)
            lexical = representations.lexical(self._db, self.encoder.id, keys)
            tokens = self._token_vectors(batch, fresh) if self._tokens else {}
            self._ready += [
                _Encoded(_index_passage(p), v, lexical.get(k), tokens.get(k))
                for p, k, v in zip(batch, keys, vectors, strict=True)
            ]
        if self._due():
            self.flush()

    def encode_ahead(self) -> None:
        """Encode up to `ENCODE_AT_ONCE` waiting passages and store their vectors; the index stays as it is.

        Raises Cancelled.
        """
        batch = self._next_batch()
        if batch:
            self._vectors(batch)

    def _next_batch(self) -> list[Passage]:
        self._control.check()
        ids = [self._waiting.popleft() for _ in range(min(ENCODE_AT_ONCE, len(self._waiting)))]
        found = passages.passages(self._db, ids)  # some may have been deleted meanwhile
        return [found[i] for i in ids if i in found]

    def _vectors(self, batch: list[Passage]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """float32 [N, D] for the passages, kept ones where the same text was encoded before; and the token vectors
        of those encoded now, by hash."""
        texts = {input_hash(t): t for t in map(encoder_input, batch)}
        keys = [input_hash(encoder_input(p)) for p in batch]
        known = passages.vectors(self._db, self.encoder.id, keys)
        missing = [k for k in texts if k not in known]
        tokens: dict[str, np.ndarray] = {}
        if missing:
            made = self._encode([texts[k] for k in missing])
            assert made.dense is not None
            known |= {k: np.ascontiguousarray(v, "<f4").tobytes() for k, v in zip(missing, made.dense, strict=True)}
            tokens = dict(zip(missing, (t.astype("<f2") for t in made.multi or ()), strict=self._tokens))
            with transaction(self._db):
                passages.put_vectors(self._db, self.encoder.id, ((k, known[k]) for k in missing))
                learned = zip(missing, made.lexical or (), strict=made.lexical is not None)
                representations.put_lexical(self._db, self.encoder.id, learned)
            self.encoded += len(missing)
        return np.stack([np.frombuffer(known[k], "<f4") for k in keys]), tokens

    def _encode(self, texts: list[str]) -> Encoded:
        heads = {DENSE} | ({LEXICAL} & self.encoder.heads) | ({MULTI} if self._tokens else set())
        return self.encoder.encode_heads(texts, heads, kind="passage", control=self._control)

    def _token_vectors(self, batch: list[Passage], known: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Token vectors [T, M] of the passages by hash, in 16 bits; `known` ones are not made again."""
        texts = {input_hash(t): t for t in map(encoder_input, batch)}
        missing = [k for k in texts if k not in known]
        if not missing:
            return known
        made = self.encoder.encode_heads([texts[k] for k in missing], {MULTI}, kind="passage", control=self._control)
        return known | {k: t.astype("<f2") for k, t in zip(missing, made.multi or (), strict=True)}

    def _due(self) -> bool:
        if not self._ready:
            return False
        if self._urgent and not self._waiting:
            return True
        if self._tokens and sum(e.tokens.nbytes for e in self._ready if e.tokens is not None) >= _MOST_TOKEN_BYTES:
            return True
        return time.monotonic() - self._last_commit >= self._interval

    def flush(self) -> Generation:
        """Bring the encoded passages into the index and commit a generation."""
        living = passages.hashes(self._db, [e.passage.id for e in self._ready])
        ready = [e for e in self._ready if e.passage.id in living]  # the others were removed meanwhile
        self._ready.clear()
        if ready:
            self.writer.add(
                [e.passage for e in ready],
                np.stack([e.vector for e in ready]),
                [e.lexical or {} for e in ready],
                [e.tokens for e in ready] if self._tokens else None,
            )
            self.writer.neutralise(self._control, settled=False)
            self.indexed += len(ready)
        self._urgent = False
        return self.commit()

    def commit(
        self, *, concepts: str | None = None, fusion: Mapping[str, float] | None = None,
        metrics: Mapping[str, float] | None = None, queries: str | None = None, reranker: str | None = None,
    ) -> Generation:  # fmt: skip
        total = documents.count(self._db)
        count = passages.count(self._db)
        counts = {"documents": total, "passages": count}
        generation = self.writer.commit(
            concepts=concepts, counts=counts, fusion=fusion, metrics=metrics, queries=queries, reranker=reranker
        )
        self._interval = min(self._interval * 2, _LONGEST_COMMIT_SECONDS)
        self._last_commit = time.monotonic()
        self._listener(Changed(generation.number, total, count))
        return generation

    def merge_bytes(self) -> int:
        """Room on the disk that merging may take at most, for the time of it: as much again as the vectors have."""
        return passages.count(self._db) * self.encoder.dimension * 4

    def finish(self, *, settled: bool = True) -> Generation:
        """Merge small segments, commit, and clear away what no kept generation needs.

        Unless the files have `settled`, vectors that no passage needs stay: what went on while it was to be read may
        come back under another name.
        """
        if self._ready:
            self.flush()
        self.complete_tokens()
        self.writer.merge(self._control)
        self.writer.neutralise(self._control)
        generation = self.commit()
        self.writer.collect_garbage()
        if settled:
            with transaction(self._db):
                passages.drop_unused_vectors(self._db)
                judgements.drop_orphans(self._db)
        return generation

    def complete_tokens(self) -> None:
        """Encode the tokens of indexed passages that lack them, if the library keeps such. Raises Cancelled."""
        total = self.writer.lacking_tokens() if self._tokens else 0
        done, most = 0, _COMPLETE_AT_ONCE
        while done < total:
            some = self.writer.complete_tokens(self._tokens_of, most, self._control)
            if not some:  # what is left was removed meanwhile
                return
            done += some
            self.commit()
            self.writer.collect_garbage()  # each commit has the files of its segments anew
            most *= 2
            self._listener(Progress("encoding", done, total, "token vectors"))

    def _tokens_of(self, ids: Sequence[int]) -> list[np.ndarray | None]:
        self._control.check()
        found = passages.passages(self._db, ids)
        made = self._token_vectors(list(found.values()), {})
        return [made[input_hash(encoder_input(found[i]))] if i in found else None for i in ids]


def index_stored(library: Path, db: Database) -> None:
    """Bring in the passages that are not in the index although their vectors are stored; no encoder is needed.

    The caller holds the library's lock. Raises IndexDamaged.
    """
    current = generation.current(library)
    if current is None:
        return
    writer = IndexWriter(library, db, current.encoder, current.dimension)
    known = writer.indexed()
    missing = {i: h for i, h in passages.all_hashes(db) if i not in known}
    vectors = passages.vectors(db, current.encoder, missing.values())
    found = passages.passages(db, [i for i, h in missing.items() if h in vectors])
    if found:
        table = np.stack([np.frombuffer(vectors[missing[i]], "<f4") for i in found])
        learned = representations.lexical(db, current.encoder, (missing[i] for i in found))
        lexical = [learned.get(missing[i], {}) for i in found]
        writer.add([_index_passage(p) for p in found.values()], table, lexical)
    writer.commit()


def encoder_input(passage: Passage) -> str:
    """What the encoder sees of a stored passage: never its file's name, so that a renamed file keeps its vectors."""
    return input_text(passage.heading_path, passage.text, passage.title)


def _index_passage(passage: Passage) -> IndexPassage:
    return IndexPassage(passage.id, passage.text, passage.heading_path, passage.context_title, passage.language)
