"""Writing an index: new segments beside the current generation, then one atomic switch.

Nothing that a committed generation names is ever changed. What a crash leaves behind (rows and files that no
manifest names) is swept by the next writer. One writer at a time: the caller holds the library's lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeGuard

import numpy as np
from sqlite_utils import Database

from core.base.errors import IndexDamaged
from core.base.events import Control, Listener, Progress, ignore
from core.base.types import Generation, SegmentFile
from core.index import generation, merge, neutralise, rows
from core.index.build import IndexPassage, SegmentBuilder
from core.index.garbage import sweep
from core.index.generation import NOTHING
from core.index.neutral import read as read_means
from core.index.restore import Encodes, InputText, stored_passages
from core.index.token_file import Coded
from core.index.token_writing import Tokens, TokenWriter
from core.store import passages as store
from core.store import representations
from core.text.analyze import ANALYSIS


class IndexWriter:
    """Adds segments to the current generation's and commits them as the next generation.

    With another encoder than the current generation's, or with `fresh`, the next generation starts empty.
    """

    def __init__(self, library: Path, db: Database, encoder: str, dimension: int, *, fresh: bool = False) -> None:
        """
        Raises:
            IndexDamaged: the current manifest or its codec cannot be read (not with `fresh`).
        """
        self._library, self._db = library, db
        self._encoder, self._dimension = encoder, dimension
        self._base = _current_if_readable(library) if fresh else generation.current(library)
        same = self._base is not None and (self._base.encoder, self._base.dimension) == (encoder, dimension)
        self._tokens = _token_writer(library, self._base if same else None, fresh)
        self._builder = SegmentBuilder(library, db, encoder, dimension, self._tokens)
        self._fresh = fresh or not same
        self._means = "" if self._fresh or self._base is None else self._base.means
        self._builder.means = read_means(library / self._means, dimension) if self._means else None
        self._estimated = 0  # passages when the means were last estimated
        self._segments: list[SegmentFile] = [] if self._fresh or self._base is None else list(self._base.segments)
        self._number = max([*generation.numbers(library), self._base.number if self._base else 0]) + 1
        sweep(library, db, encoder)

    @property
    def weights(self) -> Mapping[str, float]:  # of the channels, as the generation before has them
        return self._base.fusion if self._same(self._base) else {}

    def indexed(self) -> set[int]:
        """Ids of the passages in the segments that the next commit will hold."""
        return {p for file in self._segments for p in self._builder.row(file).passage_ids.tolist()}

    def add(
        self, passages: Sequence[IndexPassage], vectors: np.ndarray,
        lexical: Sequence[Mapping[str, float]] | None = None, multi: Tokens | Coded | None = None,
    ) -> None:  # fmt: skip
        """Make a segment of `passages` with their unit `vectors` [N, D]. Not searchable before `commit`.

        `lexical` are the learned weights of each passage's tokens, `multi` their unit vectors [T, M] (None for a
        passage without).

        Raises:
            ValueError: the vectors do not fit the passages.
            DiskFull, NoPermission
        """
        if not passages:
            return
        self._segments.append(self._builder.build(self._folder(), passages, vectors, lexical, multi))
        if multi is not None:
            self._settle_tokens(Control())

    def lacking_tokens(self) -> int:
        """How many living passages of the next generation have no token vectors."""
        return sum(int(wanted.sum()) for _, wanted in self._lacking())

    def complete_tokens(self, encode: Callable[[Sequence[int]], Tokens], most: int, control: Control) -> int:
        """Give up to `most` passages the token vectors that they lack; `encode` makes them, by passage ids.

        Returns how many got some. Takes effect by `commit`. Raises Cancelled, DiskFull, NoPermission
        """
        given = 0
        for position, wanted in self._lacking():
            wanted[np.flatnonzero(wanted)[most - given :]] = False
            ids = self._builder.row(self._segments[position]).passage_ids
            made, some = self._tokens.completed(self._folder(), self._segments[position], ids, wanted, encode)
            self._segments[position] = made
            given += some
            if given >= most:
                break
        self._settle_tokens(control)
        return given

    def drop_tokens(self) -> None:
        """Let go of all token vectors. Takes effect by `commit`."""
        self._segments = [replace(file, multi_path="", multi_sha256="") for file in self._segments]
        self._tokens = self._builder.tokens = TokenWriter(self._library, "")

    def kept_tokens(self, ids: Sequence[int]) -> Coded | None:
        """The token vectors of these passages as the generation before holds them."""
        if self._base is None or (self._base.encoder, self._base.dimension) != (self._encoder, self._dimension):
            return None
        found = [(file, rows.read_segment(self._db, file.segment)) for file in self._base.segments if file.multi_path]
        return self._tokens.kept([(f, row.passage_ids) for f, row in found if row is not None], np.array(ids, np.int64))

    def _lacking(self) -> list[tuple[int, np.ndarray]]:
        living = rows.passages_in_order(self._db)
        found = []
        for position, file in enumerate(self._segments):
            wanted = self._tokens.lacking(file) & np.isin(self._builder.row(file).passage_ids, living)
            if wanted.any():
                found.append((position, wanted))
        return found

    def _settle_tokens(self, control: Control) -> None:
        self._segments = self._tokens.settled(self._folder(), self._segments, control)

    def commit(
        self, *, concepts: str | None = None, metrics: Mapping[str, float] | None = None,
        counts: Mapping[str, int] | None = None, fusion: Mapping[str, float] | None = None,
        queries: str | None = None, reranker: str | None = None, codes: str | None = None,
    ) -> Generation:  # fmt: skip
        """Make the segments the current generation; what is left out is taken from the one before.

        Without any change the current generation stays and is returned.
        """
        base = self._base
        kept = None if self._fresh else base
        concepts = concepts if concepts is not None else (kept.concepts if kept else "")
        same = base if self._same(base) else NOTHING  # its weights and models hold for a fresh index, too
        codes = codes or (base or NOTHING).codes  # the person's choice: also for another encoder
        coded = self._builder.add_codes(self._segments, concepts, self._means, codes)
        coded = coded or (base is not None and codes != base.codes)
        if base is not None and not coded and not self._changed(base, concepts, metrics, fusion, queries, reranker):
            return base
        made = Generation(
            number=self._number,
            encoder=self._encoder,
            dimension=self._dimension,
            segments=tuple(self._segments),
            parent=base.number if base else None,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            concepts=concepts,
            counts={"passages": sum(s.passages for s in self._segments), **(counts or {})},
            metrics=dict(metrics if metrics is not None else same.metrics),
            analysis=ANALYSIS if kept is None else kept.analysis,
            means=self._means,
            codec=self._tokens.codec_path,
            fusion=dict(fusion if fusion is not None else same.fusion),
            queries=queries if queries is not None else same.queries,
            reranker=reranker if reranker is not None else same.reranker,
            codes=codes,
        )
        generation.write(self._library, made)
        generation.switch(self._library, made.number)
        self._base, self._fresh, self._number = made, False, made.number + 1
        return made

    def merge(self, control: Control | None = None) -> None:
        """Merge small and tombstone-rich segments until the index is in good shape. Takes effect by `commit`.

        Raises:
            Cancelled: the segments stay as they were, or partly merged; both are valid.
        """
        control = control or Control()
        living = rows.passages_in_order(self._db)
        while True:
            live = [int(np.isin(self._builder.row(file).passage_ids, living).sum()) for file in self._segments]
            run = merge.choose([file.passages for file in self._segments], live)
            if run is None:
                return
            part = slice(run.start, run.stop)
            made = self._builder.merge(self._folder(), self._segments[part], living, control)
            self._segments[part] = [] if made is None else [made]

    def neutralise(self, control: Control | None = None, *, settled: bool = True) -> None:
        """Take the languages out of the dense vectors, as the library's are now. Takes effect by `commit`.

        Dense files are written anew when the means in use no longer fit; while the library still grows (not
        `settled`) that is looked at when it has doubled.

        Raises:
            Cancelled: the files stay as they were. DiskFull, NoPermission
        """
        total = sum(file.passages for file in self._segments)
        if not total or (not settled and total < 2 * self._estimated):
            return
        self._estimated = total
        means = neutralise.estimated(self._db, self._encoder)
        used = self._builder.means
        if not neutralise.outdated(means, used, total):
            return
        self._builder.means = means
        try:
            self._rewrite(control or Control())
        except BaseException as error:
            self._builder.means = used
            if not isinstance(error, IndexDamaged):  # a vector that is not stored: the doctor tells of it
                raise

    def _rewrite(self, control: Control) -> None:
        living = rows.passages_in_order(self._db)
        made = []
        for file in self._segments:
            control.check()
            made.append(self._builder.with_means(self._folder(), file, living))
        self._means = ""
        if self._builder.means is not None:
            path = self._folder() / f"means-{self._builder.rewritten}.npz"
            self._builder.means.write(path)
            self._means = path.relative_to(self._library).as_posix()
        self._segments = made

    def compact(self, control: Control | None = None) -> int:
        """Write each segment anew that lists a deleted passage. Takes effect by `commit`. Returns how many.

        Raises:
            Cancelled
        """
        living = rows.passages_in_order(self._db)
        kept: list[SegmentFile] = []
        count = 0
        for file in self._segments:
            made: SegmentFile | None = file
            if not np.isin(self._builder.row(file).passage_ids, living).all():
                made = self._builder.merge(self._folder(), [file], living, control or Control())
                count += 1
            kept += [made] if made is not None else []
        self._segments = kept
        return count

    def collect_garbage(self, keep: int = 3) -> None:
        """Remove all but the last `keep` generations and what only they used.

        The current one always stays, and unless only one is kept the newest of another encoder: the way back to it.
        """
        stays = {generation.current_number(self._library)}
        if keep > 1:
            others = (g.number for g in generation.history(self._library) if g.encoder != self._encoder)
            stays.add(max(others, default=0))
        for number in generation.numbers(self._library)[: -max(keep, 1)]:
            if number not in stays:
                generation.forget(self._library, number)
        sweep(self._library, self._db, self._encoder, self._segments, (self._means, self._tokens.codec_path))

    def _changed(
        self, base: Generation, concepts: str, metrics: Mapping[str, float] | None,
        fusion: Mapping[str, float] | None, queries: str | None, reranker: str | None,
    ) -> bool:  # fmt: skip
        return (
            self._fresh
            or tuple(self._segments) != base.segments
            or self._means != base.means
            or concepts != base.concepts
            or (metrics is not None and dict(metrics) != base.metrics)
            or (fusion is not None and dict(fusion) != base.fusion)
            or (queries is not None and queries != base.queries)
            or (reranker is not None and reranker != base.reranker)
        )

    def _same(self, base: Generation | None) -> TypeGuard[Generation]:
        """Whether weights, encoder of queries and reranker of `base` hold for this encoder: also for a fresh index."""
        return base is not None and base.encoder == self._encoder

    def _folder(self) -> Path:
        return generation.folder(self._library, self._number)


def _token_writer(library: Path, base: Generation | None, fresh: bool) -> TokenWriter:
    """With the codec of the generation before; an index made afresh does without when it is lost."""
    if base is None or not base.codec:
        return TokenWriter(library, "")
    try:
        return TokenWriter(library, base.codec)
    except IndexDamaged:
        if not fresh:
            raise
        return TokenWriter(library, "")


def _current_if_readable(library: Path) -> Generation | None:
    with contextlib.suppress(IndexDamaged):
        return generation.current(library)
    readable = generation.history(library)
    return readable[-1] if readable else None


def rebuild(
    library: Path, db: Database, encoder: Encodes, input_text: InputText | None = None, *,
    fusion: Mapping[str, float] | None = None, control: Control | None = None, listener: Listener = ignore,
) -> Generation:  # fmt: skip
    """Make a new generation of all passages and make it current, with these weights of the channels (`fusion`), else
    with those of the one before if that has the same encoder.

    Vectors and learned weights come from the database. Passages whose vector is not there are encoded when `input_text`
    tells what the encoder sees of them; else they stay out of the index until the next ingest encodes them. Of the old
    index only token vectors are taken over, where they can be read; the others are made again by the next ingest.

    Raises:
        Cancelled, DiskFull, NoPermission
    """
    control = control or Control()
    writer = IndexWriter(library, db, encoder.id, encoder.dimension, fresh=True)
    total, done = store.count(db), 0
    for indexable, vectors in stored_passages(db, encoder, input_text, control):
        hashes = store.hashes(db, [p.id for p in indexable])
        learned = representations.lexical(db, encoder.id, hashes.values())
        lexical = [learned.get(hashes[p.id], {}) for p in indexable]
        writer.add(indexable, vectors, lexical, writer.kept_tokens([p.id for p in indexable]))
        done += len(indexable)
        listener(Progress("indexing", done, total))
    writer.merge(control)
    writer.neutralise(control)
    made = writer.commit(concepts=_concepts(library, encoder.id), fusion=fusion)
    _drop_damaged(library)
    writer.collect_garbage()
    return made


def _concepts(library: Path, encoder: str) -> str:
    """The concept model stays: it was fitted on the same vectors."""
    with contextlib.suppress(IndexDamaged):
        current = generation.current(library)
        if current is not None and current.encoder == encoder:
            return current.concepts
    readable = [g for g in generation.history(library) if g.encoder == encoder]
    return readable[-1].concepts if readable else ""


def _drop_damaged(library: Path) -> None:
    """Manifests that cannot be read are of no use any more, and would keep garbage from being collected."""
    readable = {g.number for g in generation.history(library)}
    for number in generation.numbers(library):
        if number not in readable:
            generation.forget(library, number)
