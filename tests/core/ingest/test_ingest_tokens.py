"""Token vectors and learned weights at ingest: asked for, completed, kept, and gone with their document."""

from pathlib import Path

import numpy as np
import pytest

from core.base.events import Control, Event, Progress
from core.encode.encoder import Encoder
from core.index.snapshot import Snapshot
from core.store import database, passages, representations
from core.worker.ingesting import delete, ingest
from core.worker.purge import purge


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in (("bees", "The bee flies to the hive with pollen."), ("ships", "A vessel lies in the port.")):
        (folder / f"{name}.txt").write_text(text)
    return folder


def run(library: Path, encoder: Encoder, *paths: Path, multi: bool | None = None) -> list[Event]:
    seen: list[Event] = []
    ingest(library, list(paths), control=Control(), listener=seen.append, encoder=encoder, multi=multi)
    return seen


def scores(library: Path, encoder: Encoder, text: str) -> list[float]:
    made = encoder.encode_heads([text], {"multi"}, kind="query").multi
    assert made is not None
    with Snapshot.open(library) as snapshot:
        return snapshot.multi_scores(made[0], snapshot.ids()).tolist()


def channels(library: Path) -> frozenset[str]:
    with Snapshot.open(library) as snapshot:
        return snapshot.channels


def test_tokens_are_kept_when_they_are_asked_for(tmp_library: Path, files: Path, tiny_encoder: Encoder) -> None:
    run(tmp_library, tiny_encoder, files)
    assert "multi" not in channels(tmp_library)
    seen = run(tmp_library, tiny_encoder, multi=True)
    assert [e.done for e in seen if isinstance(e, Progress) and e.detail == "token vectors"] == [2]
    (files / "bread.txt").write_text("The oven of the baker is hot.")
    run(tmp_library, tiny_encoder)  # goes on so
    bees, bread, ships = scores(tmp_library, tiny_encoder, "The oven of the baker is hot.")
    assert np.isfinite([bees, bread, ships]).all()
    assert bread > max(bees, ships)
    run(tmp_library, tiny_encoder, multi=False)
    assert "multi" not in channels(tmp_library)


def test_a_deleted_document_leaves_no_token_behind(tmp_library: Path, files: Path, tiny_encoder: Encoder) -> None:
    run(tmp_library, tiny_encoder, files, multi=True)
    before = sum(p.stat().st_size for p in tmp_library.glob("generations/*/multi-*"))
    delete(tmp_library, files / "ships.txt")
    assert len(scores(tmp_library, tiny_encoder, "boat")) == 1
    purge(tmp_library, encoder=tiny_encoder)
    left = list(tmp_library.glob("generations/*/multi-*"))
    assert len(left) == 1
    assert left[0].stat().st_size < before


def test_learned_weights_are_stored_and_go_with_their_text(tmp_library: Path) -> None:
    weights = {"hive": 1.25, "##s": 0.5, "\u1230\u120b\u121d": 2.0}
    tmp_library.mkdir()
    db = database.create(tmp_library)
    with database.transaction(db):
        representations.put_lexical(db, "enc", [("h1", weights), ("h2", {})])
    assert representations.lexical(db, "enc", ["h1", "h2", "h3"]) == {"h1": weights, "h2": {}}
    assert representations.lexical(db, "other", ["h1"]) == {}
    with database.transaction(db):
        passages.drop_unused_vectors(db)
    assert representations.lexical(db, "enc", ["h1"]) == {}
    db.conn.close()
