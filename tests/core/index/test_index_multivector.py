"""Token vectors: coded, kept by segments, scored as exact MaxSim scores within what the codec leaves out."""

from pathlib import Path

import numpy as np
import pytest

from core.base.errors import Cancelled, IndexDamaged
from core.base.events import Control
from core.encode.encoder import Encoder
from core.index import codec as codecs
from core.index import generation, merge, rounded
from core.index.check import check
from core.index.codec import Residual, train
from core.index.coding import CodedQuery, Plain, Trained, joined
from core.index.maxsim import maxsim
from core.index.pooling import coarse_of, levels, pooled
from core.index.rounded import Rounded
from core.index.sizes import bytes_per_passage
from core.index.snapshot import Snapshot
from core.index.token_file import LACKING, TokenFile, code, write
from core.index.writer import rebuild
from tests.core.index.test_index_writer import Vectors
from tests.shelf import Item, Shelf, items
from tests.tiny import topics

M = 48


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def planted(count: int, seed: int = 0) -> list[np.ndarray]:
    """Token vectors near 40 directions, each passage about a few of them, of very different lengths."""
    rng = np.random.default_rng(seed)
    directions = unit(np.random.default_rng(99).standard_normal((40, M)))
    found = []
    for _ in range(count):
        about = rng.choice(40, 4, replace=False)
        picked = directions[rng.choice(about, rng.integers(1, 40))]
        found.append(unit(picked + 0.12 * rng.standard_normal(picked.shape)))
    return found


def slow_maxsim(query: np.ndarray, passage: np.ndarray) -> float:
    total = 0.0
    for q in query.astype(np.float64):
        total += max(float(q @ p) for p in passage.astype(np.float64))
    return total / len(query)


@pytest.fixture(scope="module", params=["rounded", "residual"])
def trained(request: pytest.FixtureRequest) -> Trained:
    tokens = 9_000 if request.param == "rounded" else codecs.MOST_ROUNDED + 1
    centroids = pytest.MonkeyPatch()
    centroids.setattr(codecs, "centroid_count", lambda _: 256)
    made = train(np.concatenate(planted(500, 1)), tokens)
    centroids.undo()
    return made


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "library")


def add(shelf: Shelf, made: list[Item], tokens: list[np.ndarray | None] | None) -> list[int]:
    writer = shelf.writer()
    stored = shelf.store(made)
    writer.add(stored, np.stack([i.vector for i in made]), [{"a": 1.5, f"t{n}": 0.5} for n in range(len(made))], tokens)
    writer.commit()
    return [p.id for p in stored]


def top(scores: np.ndarray, k: int = 10) -> set[int]:
    return set(np.argsort(-scores)[:k].tolist())


def test_maxsim_is_that_of_a_loop_and_padding_has_no_say() -> None:
    passages = [*planted(20), np.empty((0, M), np.float32)]
    query = unit(-np.ones((3, M)) + 0.1 * np.random.default_rng(1).standard_normal((3, M)))  # nothing is near it
    counts = np.array([len(p) for p in passages])
    found = maxsim(query @ np.concatenate(passages).T, counts)
    expected = [slow_maxsim(query, p) for p in passages[:-1]]
    assert np.allclose(found[:-1], expected, atol=1e-6)
    assert min(expected) < 0
    assert found[-1] == 0
    assert np.array_equal(maxsim(np.empty((0, 5), np.float32), np.array([2, 3])), [0, 0])


def test_codes_are_small_and_near(trained: Trained) -> None:
    tokens = np.concatenate(planted(60, 2))
    numbers, codes = trained.encode(tokens)
    decoded = trained.decode(numbers, codes)
    assert codes.shape[1] == trained.width == (M if isinstance(trained, Rounded) else M // 8 + 1)
    assert np.abs(np.linalg.norm(decoded, axis=1) - 1).max() < 0.05
    assert (decoded * tokens).sum(axis=1).mean() > (0.9999 if isinstance(trained, Rounded) else 0.93)


def test_inner_products_of_codes_are_those_of_decoded_vectors(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounded, "_IN_CACHE", 50)
    tokens = np.concatenate(planted(60, 2))
    numbers, codes = trained.encode(tokens)
    ranges = [slice(7, 100), slice(200, 200), slice(110, 130), slice(100, 104), slice(140, 180)]
    expected = tokens[:5] @ np.concatenate([trained.decode(numbers, codes)[r] for r in ranges]).T
    query = CodedQuery(trained, tokens[:5])
    assert np.allclose(trained.similarities(query, numbers, codes, ranges, rough=False), expected, atol=1e-4)
    assert np.allclose(trained.similarities(query, numbers, codes, ranges, rough=True), expected, atol=0.1)
    assert trained.similarities(query, numbers, codes, [], rough=False).shape == (5, 0)


def test_pooling_joins_what_is_alike() -> None:
    rng = np.random.default_rng(3)
    directions = unit(rng.standard_normal((5, M)))
    tokens = unit(np.repeat(directions, [2, 1, 3, 1, 3], axis=0) + 0.01 * rng.standard_normal((10, M)))
    few = pooled(tokens, 2)
    assert few.shape == (5, M)
    assert np.allclose(np.linalg.norm(few, axis=1), 1, atol=1e-5)
    assert (directions @ few.T).max(axis=1).min() > 0.99
    assert np.array_equal(pooled(tokens, 1), tokens)
    assert len(pooled(tokens[:1])) == 1
    assert len(pooled(tokens[:0])) == 0


def test_rows_of_both_levels_are_told_apart_by_their_number() -> None:
    for count in range(30):
        tokens = unit(np.random.default_rng(count).standard_normal((count, M)))
        rows = levels(tokens)
        few = int(coarse_of(np.array([len(rows)]))[0])
        assert np.array_equal(rows[:few], pooled(tokens))
        assert np.array_equal(rows[few:], tokens)


@pytest.mark.parametrize("most", [10_000_000, 0])
def test_a_rerank_scores_what_can_be_among_the_best(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 1_000)
    monkeypatch.setattr(codecs, "MOST_ROUNDED", most)
    ids = np.array(add(shelf, items(150), [*planted(150)]))
    shared, compared = [], []
    with Snapshot.open(shelf.folder) as snapshot:
        for query in planted(20, 55):
            whole, some = snapshot.multi_scores(query, ids), snapshot.multi_rerank(query, ids, 10)
            exact = np.isclose(some, whole, atol=1e-6)
            assert exact[list(top(some))].all()
            shared.append(len(top(whole) & top(some)) / 10)
            compared.append(exact.mean())
            late = snapshot.multi_rerank(query, ids, 10, until=0.0)
            assert np.isfinite(late).all()
            assert np.isclose(late, whole, atol=1e-6).sum() <= 30
    assert np.mean(shared) > 0.97
    assert np.mean(compared) < 0.9


def test_a_rounding_library_that_grows_too_large_is_coded_in_fewer_bytes(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 1_000)
    monkeypatch.setattr(codecs, "MOST_ROUNDED", 3_000)
    passages = planted(200)
    ids = np.array(add(shelf, items(200)[:80], [*passages[:80]]))
    first = generation.current(shelf.folder)
    ids = np.append(ids, add(shelf, items(200)[80:], [*passages[80:]]))
    second = generation.current(shelf.folder)
    assert first
    assert second
    assert isinstance(codecs.load(shelf.folder / first.codec), Rounded)
    assert isinstance(codecs.load(shelf.folder / second.codec), Residual)
    query = planted(1, 8)[0]
    with Snapshot.open(shelf.folder) as snapshot:
        expected = np.array([slow_maxsim(query, p) for p in passages])
        assert np.abs(snapshot.multi_scores(query, ids) - expected).max() < 0.2


def test_a_codec_is_read_as_written_and_told_from_a_damaged_one(trained: Trained, tmp_path: Path) -> None:
    path = tmp_path / f"codec-{trained.id}.npz"
    trained.save(path)
    again = codecs.load(path)
    tokens = planted(1, 5)[0]
    assert again.id == trained.id
    assert np.array_equal(again.encode(tokens)[1], trained.encode(tokens)[1])
    path.rename(tmp_path / "codec-0000000000000000.npz")
    with pytest.raises(IndexDamaged):
        codecs.load(tmp_path / "codec-0000000000000000.npz")
    with pytest.raises(IndexDamaged):
        codecs.load(path)
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(IndexDamaged):
        codecs.load(path)


def test_a_token_file_gives_back_what_was_written(trained: Trained, tmp_path: Path) -> None:
    passages: list[np.ndarray | None] = [*planted(30), None, np.empty((0, M), np.float32)]
    coded = code(trained, passages)
    path = tmp_path / "multi-000001-1.tokens"
    write(path, trained, coded.counts, [(coded.numbers, coded.codes)])
    file = TokenFile(path, 32)
    assert file.codec == trained.id
    assert file.counts[30] == LACKING
    assert file.counts[31] == 0
    wanted = np.array([7, 0, 31, 29, 30])
    one = file.coded(wanted)
    ends = np.cumsum(coded.counts.clip(min=0))
    expected = [coded.codes[ends[n] - max(coded.counts[n], 0) : ends[n]] for n in wanted]
    assert np.array_equal(one.codes, np.concatenate(expected))
    lengths = [len(passages[n]) if passages[n] is not None else LACKING for n in wanted]
    for coarse in (True, False):
        counts, ranges = file.level(wanted, coarse=coarse)
        assert counts.tolist() == [-(-n // 4) if coarse and n > 0 else n for n in lengths]
        where = [
            rows[: max(c, 0)] if coarse else rows[len(rows) - max(c, 0) :]
            for rows, c in zip(expected, counts, strict=True)
        ]
        assert np.array_equal(joined(file.codes, ranges), np.concatenate(where))
    for centroid in range(len(trained.centroids)):
        holding = [n for n in range(30) if centroid in file.coded(np.array([n])).numbers]
        assert file.holders(centroid).tolist() == holding
    kept = np.arange(32) % 3 != 0
    parts = list(file.parts(kept))
    assert np.array_equal(np.concatenate([c for _, c in parts]), file.coded(np.flatnonzero(kept)).codes)
    data = path.read_bytes()
    for broken in (b"", data[:-1], data[:40], b"x" * len(data)):
        path.write_bytes(broken)
        with pytest.raises(IndexDamaged):
            TokenFile(path, 32)


def test_plain_tokens_score_exactly(shelf: Shelf) -> None:
    passages = planted(20)
    ids = add(shelf, items(20), [*passages])
    query = planted(1, 8)[0]
    expected = np.array([slow_maxsim(query, p) for p in passages])
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.channels == {"bm25", "dense", "lexical", "multi"}
        assert np.allclose(snapshot.multi_scores(query, np.array(ids)), expected, atol=1e-3)
        found, scores = snapshot.multi(query, 5)
        assert {ids.index(i) for i in found.tolist()} == top(expected, 5)
        assert (np.diff(scores) <= 0).all()
        some, _ = snapshot.multi(query, 5, np.array(ids[:3]))
        assert set(some.tolist()) <= set(ids[:3])


def test_the_room_of_each_channel_is_told(shelf: Shelf) -> None:
    passages = planted(20)
    assert bytes_per_passage(shelf.folder, shelf.db) == {}
    add(shelf, items(20), [*passages])
    sizes = bytes_per_passage(shelf.folder, shelf.db)
    assert sorted(sizes) == ["bm25", "dense", "lexical", "multi"]
    codes = np.mean([len(levels(p)) for p in passages]) * (2 * M + 2)
    assert codes < sizes["multi"] < codes + 40
    assert 4 * 16 <= sizes["dense"] < 4 * 16 + 40
    assert "bytes a passage" in check(shelf.folder, shelf.db)[-1].detail


def test_passages_without_tokens_have_no_score(shelf: Shelf) -> None:
    without = add(shelf, items(5), None)
    query = planted(1, 8)[0]
    with Snapshot.open(shelf.folder) as snapshot:
        assert "multi" not in snapshot.channels
        assert np.isnan(snapshot.multi_scores(query, np.array(without))).all()
        assert len(snapshot.multi(query, 5)[0]) == 0


def test_a_codec_is_trained_when_there_is_enough_and_anew_when_it_has_grown(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 2_000)
    monkeypatch.setattr(codecs, "GROWTH", 4)
    made, passages = items(1_100), planted(1_100)
    ids = add(shelf, made[:40], [*passages[:40]])
    first = generation.current(shelf.folder)
    ids += add(shelf, made[40:200], [*passages[40:200]])
    second = generation.current(shelf.folder)
    assert first
    assert second
    assert not first.codec
    assert second.codec
    assert {file.multi_path for file in first.segments}.isdisjoint(file.multi_path for file in second.segments)
    ids += add(shelf, made[200:], [*passages[200:]])
    third = generation.current(shelf.folder)
    assert third
    assert third.codec not in ("", second.codec)
    shelf.writer().collect_garbage()
    found = [f for f in check(shelf.folder, shelf.db) if f.severity != "ok"]
    assert {f.check for f in found} <= {"learned weights"}  # this shelf stores no weights beside its postings
    recalls, shared = [], []
    with Snapshot.open(shelf.folder) as snapshot:
        for query in planted(30, 77):
            exact = np.array([slow_maxsim(query[:6], p) for p in passages])
            coded = snapshot.multi_scores(query[:6], np.array(ids))
            found = [ids.index(i) for i in snapshot.multi(query[:6], 10)[0].tolist()]
            recalls.append(len(top(coded) & set(found)) / 10)
            shared.append(len(top(exact) & set(found)) / 10)
            assert np.abs(exact - coded).max() < 0.15
    assert np.mean(recalls) > 0.97
    assert np.mean(shared) > 0.75


def test_merging_copies_codes_and_leaves_the_deleted_out(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 1_000)
    made, passages = items(120), planted(120)
    ids = add(shelf, made[:60], [*passages[:60]]) + add(shelf, made[60:110], [*passages[60:110]])
    ids += add(shelf, made[110:], None)
    for item in made[20:50]:
        shelf.remove(item.name)
    left = np.array(ids[:20] + ids[50:])
    query = planted(1, 8)[0]
    with Snapshot.open(shelf.folder) as snapshot:
        before = snapshot.multi_scores(query, left)
        assert set(snapshot.multi(query, 200)[0].tolist()) <= set(left.tolist())
    monkeypatch.setattr(merge, "DEAD_SHARE", 1.0)  # not each on its own, but all of them into one
    monkeypatch.setattr(merge, "MOST_SEGMENTS", 1)
    writer = shelf.writer()
    writer.merge()
    merged = writer.commit()
    writer.collect_garbage(keep=1)
    assert len(merged.segments) == 1
    assert merged.codec
    with Snapshot.open(shelf.folder) as snapshot:
        assert np.allclose(snapshot.multi_scores(query, left), before, atol=1e-6, equal_nan=True)
        assert np.isnan(before[-10:]).all()
        assert not np.isnan(before[:-10]).any()
    files = {p.name for p in shelf.folder.glob("generations/*/multi-*")}
    assert files == {Path(file.multi_path).name for file in merged.segments}
    assert TokenFile(shelf.folder / merged.segments[0].multi_path, 90).tokens == sum(
        len(levels(p)) for n, p in enumerate(passages[:110]) if not 20 <= n < 50
    )


def test_a_rebuild_takes_tokens_over(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 500)
    made, passages = items(60), planted(60)
    ids = np.array(add(shelf, made[:40], [*passages[:40]]) + add(shelf, made[40:], [*passages[40:]]))
    query = planted(1, 8)[0]
    with Snapshot.open(shelf.folder) as snapshot:
        before = snapshot.multi_scores(query, ids)
    rebuild(shelf.folder, shelf.db, Vectors(made))
    with Snapshot.open(shelf.folder) as snapshot:
        assert np.allclose(snapshot.multi_scores(query, ids), before, atol=1e-6)


def test_a_damaged_file_is_found_and_its_tokens_are_made_again(shelf: Shelf) -> None:
    made, passages = items(30), planted(30)
    ids = add(shelf, made[:10], [*passages[:10]]) + add(shelf, made[10:], [*passages[10:]])
    current = generation.current(shelf.folder)
    assert current
    (shelf.folder / current.segments[1].multi_path).write_bytes(b"broken")
    query = planted(1, 8)[0]
    assert [f.check for f in check(shelf.folder, shelf.db) if f.severity == "error"] == ["token files"]
    with Snapshot.open(shelf.folder) as snapshot, pytest.raises(IndexDamaged):
        snapshot.multi_scores(query, np.array(ids))
    rebuild(shelf.folder, shelf.db, Vectors(made))
    writer = shelf.writer()
    assert writer.lacking_tokens() == 20
    by_id = dict(zip(ids, passages, strict=True))
    assert writer.complete_tokens(lambda some: [by_id[i] for i in some], 15, Control()) == 15
    writer.commit()
    assert writer.complete_tokens(lambda some: [by_id[i] for i in some], 15, Control()) == 5
    writer.commit()
    expected = [slow_maxsim(query, p) for p in passages]
    with Snapshot.open(shelf.folder) as snapshot:
        assert np.allclose(snapshot.multi_scores(query, np.array(ids)), expected, atol=1e-3)


def test_training_can_be_cancelled(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    add(shelf, items(20), [*planted(20)])
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 10)
    control, writer = Control(), shelf.writer()
    control.cancel()
    with pytest.raises(Cancelled):
        writer.complete_tokens(lambda some: [None for _ in some], 1, control)
    assert writer.commit() == generation.current(shelf.folder)
    assert Plain(M).id == ""


def test_real_token_states_keep_their_order(
    tiny_encoder: Encoder, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codecs, "LEAST_TOKENS", 1_000)
    things = [words for entries in topics().values() for words in entries]
    rng = np.random.default_rng(0)
    texts = [" and ".join(str(rng.choice(things[n])) for n in rng.integers(0, len(things), 9)) for _ in range(150)]
    made = tiny_encoder.encode_heads(texts, {"multi"}).multi
    queries = tiny_encoder.encode_heads(
        [t.split(" and ")[0] + " " + t.split(" and ")[4] for t in texts[:20]], {"multi"}
    )
    assert made is not None
    assert queries.multi is not None
    ids = add(shelf, items(150), [*made])
    shared = []
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.generation.codec
        for query in queries.multi:
            exact = np.array([slow_maxsim(query, p) for p in made])
            found = snapshot.multi(query, 10)[0].tolist()
            shared.append(len(top(exact) & {ids.index(i) for i in found}) / 10)
    assert np.mean(shared) > 0.8
