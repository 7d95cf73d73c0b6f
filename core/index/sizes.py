"""How much room each channel of an index takes."""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database

from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI
from core.index import concept_codes, generation


def bytes_per_passage(library: Path, db: Database) -> dict[str, float]:
    """Bytes on the disk for each passage of the current generation, by channel; empty for an empty index.

    Codecs and means, which all passages share, are left out. Raises IndexDamaged.
    """
    current = generation.current(library)
    total = sum(file.passages for file in current.segments) if current is not None else 0
    if current is None or not total:
        return {}
    found = {
        DENSE: sum(_size(library / file.dense_path) for file in current.segments),
        MULTI: sum(_size(library / file.multi_path) for file in current.segments if file.multi_path),
    }
    sql = (
        "SELECT coalesce(sum(length(CAST(term AS BLOB)) + length(ordinals) + length(weights)), 0) FROM posting "
        "WHERE segment_id = ? AND channel = ?"
    )
    for channel, stored in ((BM25, BM25), (LEXICAL, LEXICAL), (CONCEPT, concept_codes.channel(current))):
        found[channel] = sum(db.execute(sql, (f.segment, stored)).fetchone()[0] for f in current.segments)
    return {channel: size / total for channel, size in found.items() if size}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
