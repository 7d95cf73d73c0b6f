"""Is the index whole? Every check gives one finding, in the same order each time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import IndexDamaged, KnownError, ModelDamaged, ModelMissing
from core.base.files import sha256_file
from core.base.types import LEXICAL, Finding, Generation
from core.index import codec as codecs
from core.index import concept_codes, concept_coding, generation, neutral, rows
from core.index.concept_model import ConceptModel
from core.index.dense import DenseFile
from core.index.sizes import bytes_per_passage
from core.index.token_file import TokenFile
from core.models import adapted
from core.store import passages, representations

_NAMED = 3  # how many of the faults a finding spells out


def check(library: Path, db: Database) -> list[Finding]:
    """Manifests, dense files (checksums), segment rows, passages outside the index, vectors, leftovers."""
    try:
        current = generation.current(library) or generation.NOTHING
    except KnownError as error:
        current, manifest = generation.NOTHING, [error.message]
    else:
        damaged = set(generation.numbers(library)) - {g.number for g in generation.history(library)}
        manifest = [f"the manifest of generation {number} is damaged" for number in sorted(damaged)]
    return [
        _finding("index manifest", manifest, f"Generation {current.number} is current."),
        _finding("dense files", _dense(library, current), "Checksums agree."),
        _finding("token files", _tokens(library, current), "Checksums agree."),
        _finding("segments", _segments(db, current), "Rows and manifest agree."),
        _finding("words", _words(current), "Texts and queries are taken apart alike.", "warning"),
        _finding("indexed passages", _passages(db, current), "No passage is in the index twice."),
        _finding("waiting passages", _waiting(db, current), "Every passage is in the index.", "warning"),
        _finding("vectors", _vectors(db, current), "Every passage has its vector.", "warning"),
        _finding("learned weights", _learned(db, current), "None is lost.", "warning"),
        _finding("concept codes", _codes(library, db, current), "Every passage has its own.", "warning"),
        _finding("index leftovers", _leftovers(library, db), "None.", "warning"),
        Finding("index size", "ok", _room(library, db)),
    ]


def _finding(name: str, faults: Iterable[str], fine: str, severity: str = "error") -> Finding:
    found = list(faults)
    if not found:
        return Finding(name, "ok", fine)
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return Finding(name, severity, "; ".join(found[:_NAMED]) + more)


def _words(current: Generation) -> Iterable[str]:
    if generation.outdated_words(current):
        yield "the index was made by an older version, which took words apart in another way"


def _dense(library: Path, current: Generation) -> Iterable[str]:
    for file in current.segments:
        path = library / file.dense_path
        try:
            DenseFile(path, file.passages, current.dimension)
            if sha256_file(path) != file.dense_sha256:
                yield f"the checksum of {file.dense_path} differs"
        except KnownError as error:
            yield error.message
    if current.means:
        try:
            neutral.read(library / current.means, current.dimension)
        except KnownError as error:
            yield error.message


def _tokens(library: Path, current: Generation) -> Iterable[str]:
    try:
        codec = codecs.load(library / current.codec).id if current.codec else ""
    except KnownError as error:
        yield error.message
        return
    for file in current.segments:
        path = library / file.multi_path
        try:
            if file.multi_path and TokenFile(path, file.passages).codec != codec:
                yield f"{file.multi_path} is of another codec"
            elif file.multi_path and sha256_file(path) != file.multi_sha256:
                yield f"the checksum of {file.multi_path} differs"
        except KnownError as error:
            yield error.message


def _segments(db: Database, current: Generation) -> Iterable[str]:
    for file in current.segments:
        row = rows.read_segment(db, file.segment)
        if row is None:
            yield f"segment {file.segment} is lost"
        elif len(row.passage_ids) != file.passages or len(row.lengths) != file.passages:
            yield f"segment {file.segment} does not hold {file.passages} passages"
        elif row.encoder != current.encoder:
            yield f"segment {file.segment} is of another encoder"
        else:
            try:
                yield from _postings(db, row)
            except IndexDamaged:
                yield f"segment {row.id} has a damaged posting"


def _postings(db: Database, row: rows.SegmentRow) -> Iterable[str]:
    """The term frequencies of a passage must add up to its length."""
    sums = np.zeros(len(row.passage_ids))
    for channel, _, postings in rows.read_all_postings(db, row.id):
        if (postings.ordinals >= len(sums)).any():
            yield f"segment {row.id} has a damaged posting"
            return
        if channel == "bm25":
            sums[postings.ordinals] += postings.weights
    if not np.array_equal(sums, row.lengths):
        yield f"segment {row.id} lacks postings"


def _passages(db: Database, current: Generation) -> Iterable[str]:
    ids = _listed(db, current)
    twice = len(ids) - len(np.unique(ids))
    if twice:
        yield f"{twice} passages are in the index twice"


def _waiting(db: Database, current: Generation) -> Iterable[str]:
    """No damage: an ingest that was stopped leaves them, and the next one goes on with them."""
    missing = np.setdiff1d(rows.passages_in_order(db), _listed(db, current))
    if len(missing):
        yield f"{len(missing)} passages are not in the index; the next ingest brings them in"


def _listed(db: Database, current: Generation) -> np.ndarray:
    """Ids of the passages in the segments, int64."""
    listed = [r.passage_ids for f in current.segments if (r := rows.read_segment(db, f.segment)) is not None]
    return np.concatenate(listed) if listed else np.empty(0, np.int64)


def _vectors(db: Database, current: Generation) -> Iterable[str]:
    if not current.segments:
        return
    sql = (
        "SELECT count(*) FROM passage p "
        "WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.encoder = ? AND v.hash = p.hash AND length(v.data) = ?)"
    )
    missing = db.execute(sql, (current.encoder, 4 * current.dimension)).fetchone()[0]
    if missing:
        yield f"{missing} of {passages.count(db)} passages have no stored vector"


def _learned(db: Database, current: Generation) -> Iterable[str]:
    """An encoder with a head for them gives every passage its own; of another encoder there are none at all."""
    sql = "SELECT count(*) FROM representation WHERE encoder = ? AND kind = ?"
    stored = db.execute(sql, (current.encoder, representations.LEXICAL)).fetchone()[0]
    if not stored and not any(rows.has_channel(db, file.segment, LEXICAL) for file in current.segments):
        return
    sql = (
        "SELECT count(*) FROM passage p "
        "WHERE NOT EXISTS (SELECT 1 FROM representation r WHERE r.encoder = ? AND r.hash = p.hash AND r.kind = ?)"
    )
    missing = db.execute(sql, (current.encoder, representations.LEXICAL)).fetchone()[0]
    if missing:
        yield f"{missing} of {passages.count(db)} passages have no stored learned weights"
    for file in current.segments:
        row = rows.read_segment(db, file.segment)
        if row is not None and _weights_lost(db, row, current.encoder):
            yield f"segment {row.id} lacks learned weights"


def _weights_lost(db: Database, row: rows.SegmentRow, encoder: str) -> bool:
    """Whether a passage has fewer learned weights in the segment than are stored of it."""
    counts = np.zeros(len(row.passage_ids), np.int64)
    try:
        for found in rows.read_channel(db, row.id, LEXICAL).values():
            counts[found.ordinals[found.ordinals < len(counts)]] += 1
    except IndexDamaged:
        return True
    hashes = passages.hashes(db, row.passage_ids.tolist())
    stored = representations.lexical(db, encoder, hashes.values())
    for passage, count in zip(row.passage_ids.tolist(), counts.tolist(), strict=True):
        weights = stored.get(hashes.get(passage, ""), {})
        if count < sum(weight > 0 for weight in weights.values()):
            return True
    return False


def _codes(library: Path, db: Database, current: Generation) -> Iterable[str]:
    """The codes of the model in use: in every segment, whole, and what the model makes of the vectors. Where the model
    itself is lost, another check says so."""
    channel = concept_codes.channel(current)
    model = _model(library, current)
    if model is None:
        return
    for file in current.segments:
        row = rows.read_segment(db, file.segment)
        if row is None:
            continue  # the segments' check tells of it
        if not rows.has_channel(db, row.id, channel):
            yield f"segment {row.id} has no codes yet; the next ingest makes them"
            continue
        try:
            found = rows.read_channel(db, row.id, channel)
            vectors = DenseFile(library / file.dense_path, file.passages, current.dimension)
            if not concept_coding.whole(found, file.passages):
                yield f"segment {row.id} lacks codes"
            elif not concept_coding.made_by(model, found, vectors, concept_coding.KEPT[current.codes], file.passages):
                yield f"the codes of segment {row.id} are not those of the concepts in use"
        except IndexDamaged:
            yield f"segment {row.id} has damaged codes or vectors"


def _model(library: Path, current: Generation) -> ConceptModel | None:
    with contextlib.suppress(ModelMissing, ModelDamaged):
        if current.concepts:
            return ConceptModel.load(adapted.folder(library) / current.concepts)
    return None


def _leftovers(library: Path, db: Database) -> Iterable[str]:
    kept = generation.history(library)
    named = {file for one in kept for file in one.segments}
    unnamed = rows.segment_ids(db) - {file.segment for file in named}
    codes = {concept_codes.channel(one) for one in kept}
    if any(set(concept_codes.stored_channels(db, file.segment)) - codes for file in named):
        yield "codes of concepts belong to no generation"
    if unnamed:
        yield f"{len(unnamed)} segments belong to no generation"
    paths = {library / path for file in named for path in (file.dense_path, file.multi_path) if path}
    paths |= {library / one.codec for one in kept if one.codec}
    for kind, pattern in (("dense", "dense-*.faiss"), ("token", "multi-*.tokens"), ("codec", "codec-*.npz")):
        files = [p for p in (library / generation.FOLDER).glob(f"*/{pattern}") if p not in paths]
        if files:
            yield f"{len(files)} {kind} files belong to no generation"


def _room(library: Path, db: Database) -> str:
    try:
        sizes = bytes_per_passage(library, db)
    except KnownError:
        return "Not known: the index is damaged."
    return ", ".join(f"{channel} {size:,.0f}" for channel, size in sorted(sizes.items())) + " bytes a passage."
