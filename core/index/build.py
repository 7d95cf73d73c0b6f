"""Making one segment: of new passages, or of several older segments."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import IndexDamaged, ModelDamaged, ModelMissing
from core.base.events import Control
from core.base.types import BM25, LEXICAL, SegmentFile
from core.index import concept_codes, concept_coding, dense, merge, neutralise, postings, rows
from core.index.concept_model import ConceptModel
from core.index.neutral import Means
from core.index.token_file import Coded
from core.index.token_writing import Tokens, TokenWriter
from core.models import adapted
from core.store.database import known_errors, transaction
from core.text.analyze import term_texts
from core.text.parts import part_texts

_MERGE_BATCH = 20_000  # posting rows a transaction: other writers wait no longer than this takes


@dataclass(frozen=True, slots=True)
class IndexPassage:
    """What the index needs of a passage. Title and headings are indexed with the text, so that their words
    find the passage."""

    id: int
    text: str
    heading_path: tuple[str, ...] = ()
    title: str = ""
    language: str = ""

    @property
    def indexed_text(self) -> str:
        context = dict.fromkeys(part for part in (self.title, *self.heading_path) if part)
        return "\n".join([*context, self.text])


class SegmentBuilder:
    """Writes segments of one encoder: rows into the database, dense and token vectors into files."""

    def __init__(self, library: Path, db: Database, encoder: str, dimension: int, tokens: TokenWriter) -> None:
        self._library, self._db = library, db
        self._encoder, self._dimension, self.tokens = encoder, dimension, tokens
        self.means: Means | None = None  # taken out of the dense vectors
        self.rewritten = 0  # dense files that were made anew

    def build(
        self, folder: Path, passages: Sequence[IndexPassage], vectors: np.ndarray,
        lexical: Sequence[Mapping[str, float]] | None = None, multi: Tokens | Coded | None = None,
    ) -> SegmentFile:  # fmt: skip
        """A segment of `passages` with their unit `vectors` [N, D], its files in `folder`.

        `lexical` are the learned weights of each passage's tokens, `multi` their unit vectors [T, M].

        Raises:
            ValueError: the vectors do not fit the passages.
            DiskFull, NoPermission
        """
        if vectors.shape != (len(passages), self._dimension) or not np.isfinite(vectors).all():
            raise ValueError(f"vectors {vectors.shape} for {len(passages)} passages of dimension {self._dimension}")
        found, lengths = postings.build(term_texts(p.indexed_text, p.language) for p in passages)
        found |= postings.build(part_texts(p.indexed_text, p.language) for p in passages)[0]
        languages, _ = postings.build([p.language] for p in passages)
        ids = np.array([p.id for p in passages], np.int64)
        with known_errors(self._library), transaction(self._db):
            segment = rows.insert_segment(self._db, self._encoder, ids, lengths)
            rows.insert_postings(self._db, segment, ((BM25, t, found[t]) for t in sorted(found)))
            rows.insert_postings(self._db, segment, ((postings.LANGUAGE, t, p) for t, p in languages.items()))
            learned = postings.learned(lexical) if lexical is not None else {}
            rows.insert_postings(self._db, segment, ((LEXICAL, t, learned[t]) for t in sorted(learned)))
        if self.means is not None:
            vectors = self.means.passages(vectors, [p.language for p in passages])
        made = self._with_vectors(folder, segment, vectors)
        return made if multi is None else self.tokens.built(folder, made, multi)

    def merge(
        self, folder: Path, files: Sequence[SegmentFile], living: rows.Ids, control: Control
    ) -> SegmentFile | None:
        """One segment of the passages of `files` that are `living`; None when there is none of them.

        Raises:
            Cancelled, IndexDamaged, DiskFull, NoPermission
        """
        old = [self.row(file) for file in files]
        alive = [np.isin(row.passage_ids, living) for row in old]
        ids = np.concatenate([row.passage_ids[a] for row, a in zip(old, alive, strict=True)])
        if len(ids) == 0:
            return None
        vectors = merge.merged_vectors(self._library, files, old, alive, self._stored, self._dimension, control)
        lengths = np.concatenate([row.lengths[a] for row, a in zip(old, alive, strict=True)])
        with known_errors(self._library):
            with transaction(self._db):
                segment = rows.insert_segment(self._db, self._encoder, ids, lengths)
            self._write_merged(segment, old, alive, control)
        return self.tokens.merged(folder, self._with_vectors(folder, segment, vectors), files, alive)

    def with_means(self, folder: Path, file: SegmentFile, living: rows.Ids) -> SegmentFile:
        """The same segment with a dense file made anew with `means`; deleted passages have zeros in it.

        Raises:
            IndexDamaged: the vector of a living passage is not stored. DiskFull, NoPermission
        """
        ids = self.row(file).passage_ids
        vectors = np.zeros((len(ids), self._dimension), np.float32)
        alive = np.isin(ids, living)
        vectors[alive] = self._stored(ids[alive])
        self.rewritten += 1  # a name of its own: until all files are made anew, the old ones are the index
        path = folder / f"dense-{file.segment:06d}-{self.rewritten}.faiss"
        digest = dense.write(path, vectors)
        return replace(file, dense_path=path.relative_to(self._library).as_posix(), dense_sha256=digest)

    def add_codes(self, files: Sequence[SegmentFile], concepts: str, means: str, codes: str) -> bool:
        """Give the segments that lack them the codes of their passages by the model `concepts`, as many latents as
        `codes` says; `means` is the path of what was taken out of the vectors. Returns whether there were any to give.

        Without a model that fits the encoder none are made, nor for a segment whose vectors are damaged: the doctor
        tells of both. Raises DiskFull, NoPermission
        """
        channel = concept_codes.channel_of(concepts, means, codes)
        lacking = [f for f in files if concepts and not rows.has_channel(self._db, f.segment, channel)]
        model = self._model(concepts) if lacking else None
        added = False
        for file in lacking if model is not None else ():
            assert model is not None
            with contextlib.suppress(IndexDamaged):
                dense_file = dense.DenseFile(self._library / file.dense_path, file.passages, self._dimension)
                found = concept_coding.postings_of(
                    model, dense_file.rows(np.arange(file.passages)), concept_coding.KEPT[codes]
                )
                with known_errors(self._library), transaction(self._db):
                    rows.insert_postings(self._db, file.segment, ((channel, t, found[t]) for t in sorted(found)))
                added = True
        return added

    def _model(self, name: str) -> ConceptModel | None:
        """None when it is lost, damaged or of another encoder."""
        with contextlib.suppress(ModelMissing, ModelDamaged):
            model = ConceptModel.load(adapted.folder(self._library) / name)
            if model.config.get("encoder") == self._encoder and model.decoder.shape[1] == self._dimension:
                return model
        return None

    def _stored(self, ids: rows.Ids) -> dense.Floats:
        return neutralise.vectors_of(self._db, self._encoder, self._dimension, ids, self.means)

    def row(self, file: SegmentFile) -> rows.SegmentRow:
        """Raises IndexDamaged when the database has lost it."""
        row = rows.read_segment(self._db, file.segment)
        if row is None:
            raise IndexDamaged(
                f"Segment {file.segment} of the index is lost.",
                "Repair the library: the index is made again from the stored text.",
            )
        return row

    def _write_merged(
        self, segment: int, old: Sequence[rows.SegmentRow], alive: Sequence[np.ndarray], control: Control
    ) -> None:
        stream = merge.merged_postings(self._db, old, merge.places(old, alive))
        while batch := list(islice(stream, _MERGE_BATCH)):
            control.check()
            with transaction(self._db):
                rows.insert_postings(self._db, segment, batch)

    def _with_vectors(self, folder: Path, segment: int, vectors: np.ndarray) -> SegmentFile:
        path = folder / f"dense-{segment:06d}.faiss"
        digest = dense.write(path, vectors)
        return SegmentFile(segment, len(vectors), path.relative_to(self._library).as_posix(), digest)
