from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import Cancelled, IndexDamaged, NotFound
from core.base.events import Control
from core.base.types import BM25
from core.encode.encoder import Encoded
from core.index import build, dense, generation, rows
from core.index import writer as writing
from core.index.check import check
from core.index.merge import choose
from core.index.snapshot import Snapshot
from core.index.writer import IndexPassage, rebuild
from core.text.analyze import query_terms
from tests.shelf import DIMENSION, ENCODER, Item, Shelf, items, unit_vectors


class Vectors:
    """What `rebuild` needs of an encoder; encoding looks up the vectors of the items."""

    id, dimension, heads = ENCODER, DIMENSION, frozenset({"dense"})

    def __init__(self, known: list[Item]) -> None:
        self._known = {item.text: item.vector for item in known}

    def encode_heads(
        self, texts: list[str], heads: set[str], *, kind: str = "passage", control: Control | None = None
    ) -> Encoded:
        return Encoded(np.stack([self._known[text] for text in texts]))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "library")


def faults(shelf: Shelf) -> list[str]:
    return [finding.check for finding in check(shelf.folder, shelf.db) if finding.severity != "ok"]


def search(shelf: Shelf, item: Item) -> list[tuple[str, float]]:
    with Snapshot.open(shelf.folder) as snapshot:
        result = []
        for found, scores in (
            snapshot.dense(item.vector, 10),
            snapshot.sparse(BM25, query_terms(item.text, ["en"]), 10),
        ):
            passages = snapshot.passages(found.tolist())
            result += [(passages[i].path, s) for i, s in zip(found.tolist(), scores.tolist(), strict=True)]
        return result


def test_generations_follow_each_other(shelf: Shelf) -> None:
    made = items(30)
    assert generation.current(shelf.folder) is None
    shelf.add(made[:10])
    shelf.add(made[10:])
    first, second = generation.history(shelf.folder)
    assert (first.number, second.number, second.parent) == (1, 2, 1)
    assert generation.current(shelf.folder) == second
    assert second.segments[:1] == first.segments
    assert second.counts["passages"] == 30
    assert shelf.writer().indexed() == set(range(1, 31))
    assert faults(shelf) == []


def test_a_commit_without_change_makes_no_generation(shelf: Shelf) -> None:
    shelf.add(items(3))
    writer = shelf.writer()
    assert writer.commit().number == 1
    assert writer.commit(concepts="sae-1").number == 2
    assert writer.commit().concepts == "sae-1"
    assert writer.commit(metrics={"x": 1.0}).number == 3
    assert writer.commit(metrics={"x": 1.0}).concepts == "sae-1"
    assert writer.commit(metrics={"x": 1.0}).number == 3


def test_switching_back_and_going_on_from_there(shelf: Shelf) -> None:
    made = items(30)
    shelf.add(made[:10])
    before = search(shelf, made[3])
    shelf.add(made[10:20])
    assert generation.switch(shelf.folder, 1).number == 1
    assert search(shelf, made[3]) == before
    writer = shelf.writer()
    assert writer.indexed() == set(range(1, 11))
    writer.add([IndexPassage(99, "text")], made[25].vector[None])
    third = writer.commit()
    assert (third.number, third.parent) == (3, 1)
    with pytest.raises(NotFound):
        generation.switch(shelf.folder, 7)


def test_another_encoder_starts_an_empty_index(shelf: Shelf) -> None:
    shelf.add(items(5))
    other = writing.IndexWriter(shelf.folder, shelf.db, "other", 8)
    assert other.indexed() == set()
    assert other.commit().segments == ()


@pytest.mark.parametrize("bad", [np.zeros((2, DIMENSION)), np.zeros((1, 3)), np.full((1, DIMENSION), np.nan)])
def test_vectors_that_do_not_fit_are_refused(shelf: Shelf, bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="vectors"):
        shelf.writer().add([IndexPassage(1, "text")], bad)


def write(shelf: Shelf, stored: list[IndexPassage], made: list[Item]) -> None:
    writer = shelf.writer()
    writer.add(stored, np.stack([item.vector for item in made]))
    writer.commit()


STEPS: list[tuple[object, str]] = [
    (rows, "insert_postings"),
    (dense, "write"),
    (generation, "write"),
    (generation, "switch"),
]


@pytest.mark.parametrize(("module", "name"), STEPS, ids=[name for _, name in STEPS])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_between_the_steps_leaves_a_whole_index(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, module: object, name: str, after: bool
) -> None:
    made = items(40)
    shelf.add(made[:20])
    before = search(shelf, made[3])
    stored = shelf.store(made[20:])
    step: Callable[..., object] = getattr(module, name)

    def broken(*args: object, **keywords: object) -> object:
        if after:
            step(*args, **keywords)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, name, broken)
        with pytest.raises(KeyboardInterrupt):
            write(shelf, stored, made[20:])
    committed = name == "switch" and after
    if not committed:
        assert search(shelf, made[3]) == before
    writer = shelf.writer()
    assert writer.indexed() == (set(range(1, 41)) if committed else set(range(1, 21)))
    missing = [p for p in stored if p.id not in writer.indexed()]
    if missing:
        writer.add(missing, np.stack([item.vector for item in made[20:]]))
    writer.commit()
    writer.collect_garbage(keep=1)
    assert faults(shelf) == []
    undisturbed = Shelf(shelf.folder.parent / "other")
    undisturbed.add(made)
    assert search(shelf, made[3]) == search(undisturbed, made[3])


def test_garbage_is_collected_and_a_kept_snapshot_goes_on(shelf: Shelf) -> None:
    made = items(60)
    shelf.add(made[:20])
    held = Snapshot.open(shelf.folder)
    query = query_terms(made[3].text, ["en"])
    expected = [a.tolist() for a in (*held.dense(made[3].vector, 9), *held.sparse(BM25, query, 9))]
    writer = shelf.writer()
    for start in (20, 30, 40):
        stored = shelf.store(made[start : start + 10])
        writer.add(stored, np.stack([item.vector for item in made[start : start + 10]]))
        writer.merge()
        writer.commit()
        writer.collect_garbage(keep=4)
    assert held.outdated()
    assert [a.tolist() for a in (*held.dense(made[3].vector, 9), *held.sparse(BM25, query, 9))] == expected
    held.close()
    writer.collect_garbage(keep=1)
    assert [g.number for g in generation.history(shelf.folder)] == [4]
    folders = sorted(p.name for p in (shelf.folder / "generations").iterdir() if p.is_dir())
    named = {s.dense_path.split("/")[1] for s in generation.history(shelf.folder)[0].segments}
    assert folders == sorted(named | {"0004"})
    assert rows.segment_ids(shelf.db) == {s.segment for s in generation.history(shelf.folder)[0].segments}
    assert faults(shelf) == []


def test_the_current_generation_is_never_collected(shelf: Shelf) -> None:
    made = items(30)
    for start in (0, 10, 20):
        shelf.add(made[start : start + 10])
    generation.switch(shelf.folder, 1)
    shelf.writer().collect_garbage(keep=1)
    assert [g.number for g in generation.history(shelf.folder)] == [1, 3]


def test_foreign_files_are_left_alone(shelf: Shelf) -> None:
    shelf.add(items(5))
    notes = shelf.folder / "generations" / "0001" / "notes.txt"
    notes.write_text("mine")
    stale = shelf.folder / "generations" / "0009" / "dense-000099.faiss"
    stale.parent.mkdir()
    stale.write_bytes(b"left behind")
    shelf.writer().collect_garbage(keep=1)
    assert notes.exists()
    assert not stale.parent.exists()


def test_tombstones_go_when_no_kept_generation_lists_the_passage(shelf: Shelf) -> None:
    made = items(20)
    shelf.add(made)
    for item in made[:8]:
        shelf.remove(item.name)
    assert len(rows.tombstones(shelf.db)) == 8
    writer = shelf.writer()
    writer.merge()
    assert writer.commit().counts["passages"] == 12
    writer.collect_garbage(keep=2)
    assert len(rows.tombstones(shelf.db)) == 8  # generation 1 can still be rolled back to
    writer.collect_garbage(keep=1)
    assert len(rows.tombstones(shelf.db)) == 0
    assert faults(shelf) == []


def test_all_passages_deleted(shelf: Shelf) -> None:
    made = items(6)
    shelf.add(made)
    for item in made:
        shelf.remove(item.name)
    writer = shelf.writer()
    writer.merge()
    assert writer.commit().segments == ()
    assert search(shelf, made[0]) == []


@pytest.mark.parametrize(
    ("sizes", "live", "expected"),
    [
        ([], [], None),
        ([10], [10], None),
        ([100, 40], [100, 40], None),
        ([100, 50], [100, 50], range(0, 2)),
        ([100, 40, 10, 5], [100, 40, 10, 5], range(2, 4)),
        ([100, 40, 20, 10], [100, 40, 20, 10], range(0, 4)),
        ([100, 10], [79, 10], range(0, 1)),
        ([100, 10], [80, 10], None),
        ([3**n for n in range(10, 0, -1)], [3**n for n in range(10, 0, -1)], range(7, 10)),
    ],
)
def test_what_is_merged(sizes: list[int], live: list[int], expected: range | None) -> None:
    assert choose(sizes, live) == expected


def test_merging_ends_with_few_segments(shelf: Shelf) -> None:
    made = items(120)
    writer = shelf.writer()
    for start in range(0, 120, 5):
        writer.add(shelf.store(made[start : start + 5]), np.stack([i.vector for i in made[start : start + 5]]))
        writer.merge()
    assert len(writer.commit().segments) <= 7
    assert faults(shelf) in ([], ["index leftovers"])


def test_a_cancelled_merge_leaves_a_whole_index(shelf: Shelf) -> None:
    made = items(40)
    shelf.add(made[:20])
    shelf.add(made[20:])
    before = search(shelf, made[3])
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        shelf.writer().merge(control)
    assert search(shelf, made[3]) == before
    shelf.writer()
    assert faults(shelf) == []


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "lost":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "garbage":
        path.write_bytes(b"\x00" * len(data))
    else:
        path.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])


@pytest.mark.parametrize("how", ["lost", "cut", "garbage", "flipped"])
def test_a_damaged_dense_file_is_found_and_rebuilt(shelf: Shelf, how: str) -> None:
    made = items(30)
    shelf.add(made)
    before = search(shelf, made[3])
    damage(shelf.folder / generation.history(shelf.folder)[0].segments[0].dense_path, how)
    assert faults(shelf) == ["dense files"]
    if how != "flipped":
        with Snapshot.open(shelf.folder) as snapshot, pytest.raises(IndexDamaged):
            snapshot.dense(made[3].vector, 5)
    rebuild(shelf.folder, shelf.db, Vectors(made))
    assert faults(shelf) == []
    assert search(shelf, made[3]) == before


def test_merging_takes_stored_vectors_for_a_damaged_file(shelf: Shelf) -> None:
    made = items(30)
    shelf.add(made[:15])
    shelf.add(made[15:])
    before = search(shelf, made[3])
    damage(shelf.folder / generation.history(shelf.folder)[1].segments[0].dense_path, "cut")
    writer = shelf.writer()
    writer.merge()
    writer.commit()
    assert search(shelf, made[3]) == before


@pytest.mark.parametrize("what", ["manifest", "pointer", "segment rows", "postings", "garbled manifest"])
def test_other_damage_is_found_and_rebuilt(shelf: Shelf, what: str) -> None:
    made = items(30)
    writer = shelf.writer()
    writer.add(shelf.store(made), np.stack([item.vector for item in made]))
    writer.commit(concepts="sae-1")
    before = search(shelf, made[3])
    root = shelf.folder / "generations"
    if what == "manifest":
        (root / "0001" / "manifest.json").unlink()
    elif what == "garbled manifest":
        (root / "0001" / "manifest.json").write_text('{"number": 1}')
    elif what == "pointer":
        (root / "current.json").write_text("{")
    elif what == "segment rows":
        shelf.db.execute("DELETE FROM segment")
    else:
        shelf.db.execute("DELETE FROM posting WHERE term = 'amber'")
    assert faults(shelf) != []
    if what != "postings":
        with pytest.raises(IndexDamaged):
            Snapshot.open(shelf.folder)
    rebuild(shelf.folder, shelf.db, Vectors(made))
    assert faults(shelf) == []
    assert search(shelf, made[3]) == before
    current = generation.current(shelf.folder)
    assert current is not None
    assert current.concepts == ("" if "manifest" in what else "sae-1")


def test_rebuilding_encodes_lost_vectors_or_leaves_them_to_the_next_ingest(shelf: Shelf) -> None:
    made = items(10)
    ids = shelf.add(made)
    before = search(shelf, made[3])
    shelf.db.execute("DELETE FROM vector WHERE hash LIKE '/shelf/003%'")
    rebuild(shelf.folder, shelf.db, Vectors(made))
    assert shelf.writer().indexed() == set(ids) - {ids[3]}
    assert faults(shelf) == ["waiting passages", "vectors"]
    rebuild(shelf.folder, shelf.db, Vectors(made), lambda headings, text, title: text)
    assert search(shelf, made[3]) == before


def test_title_and_headings_find_their_passage(shelf: Shelf) -> None:
    vectors = unit_vectors(2)
    writer = shelf.writer()
    stored = shelf.store([Item("/shelf/a", "plain text", vectors[0]), Item("/shelf/b", "other text", vectors[1])])
    writer.add([IndexPassage(stored[0].id, "plain text", ("Chapter", "Birds"), "Atlas", "en"), stored[1]], vectors)
    writer.commit()
    with Snapshot.open(shelf.folder) as snapshot:
        for word in ("atlas", "bird", "chapters"):
            assert snapshot.sparse(BM25, query_terms(word, ["en"]), 5)[0].tolist() == [stored[0].id]


def test_the_same_words_as_title_and_heading_count_once() -> None:
    assert IndexPassage(1, "text", ("Atlas", "Birds", "Atlas"), "Atlas").indexed_text == "Atlas\nBirds\ntext"
    assert build.IndexPassage is IndexPassage
