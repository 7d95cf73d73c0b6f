"""Codes of concepts in an index: equal to the model's own activations, whatever segments the passages lie in."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlite_utils import Database

from core.base.types import CONCEPT
from core.base.types.records import EFFICIENT, MAX
from core.index import concept_codes, generation, rows
from core.index.check import check
from core.index.concept_coding import KEPT, postings_of
from core.index.concept_model import ConceptModel
from core.index.postings import LENGTHS, Postings
from core.index.restore import Made
from core.index.sizes import bytes_per_passage
from core.index.snapshot import Snapshot
from core.index.writer import IndexWriter, rebuild
from core.models import adapted
from tests.shelf import DIMENSION, ENCODER, Shelf, items, unit_vectors

LATENTS = 40
NAME = "sae-made-up"


def put_model(library: Path, *, name: str = NAME, encoder: str = ENCODER, seed: int = 0) -> ConceptModel:
    """Random directions, of which about a fifth are active in a passage."""
    rng = np.random.default_rng(seed)
    rows_MD = rng.standard_normal((LATENTS, DIMENSION)).astype(np.float32)
    rows_MD *= 0.35 / np.linalg.norm(rows_MD, axis=1, keepdims=True)
    zeros = np.zeros(LATENTS, np.float32)
    model = ConceptModel(
        rows_MD, zeros, rows_MD, np.zeros(DIMENSION, np.float32), 0.08, {"encoder": encoder, "fidelity": {}}
    )
    folder = adapted.folder(library) / name
    folder.mkdir(parents=True)
    model.save(folder)
    return model


def assert_coded(snapshot: Snapshot, model: ConceptModel) -> None:
    """The codes are what the model makes of the vectors, up to 16 bits."""
    codes = snapshot.codes
    assert codes is not None
    ids = np.sort(snapshot.ids())
    expected = model.encode(snapshot.vectors(ids))
    assert 3 < (expected > 0).sum(1).mean() < 20
    made = np.zeros_like(expected)
    for row, active in enumerate(codes.of(ids)):
        made[row, list(active)] = list(active.values())
    np.testing.assert_allclose(made, expected, rtol=1e-3)
    assert codes.counts().tolist() == (expected > 0).sum(0).tolist()
    assert codes.counts(ids[::3]).tolist() == (expected[::3] > 0).sum(0).tolist()
    for latent in range(LATENTS):
        found, activations = codes.postings(latent)
        assert found.tolist() == ids[expected[:, latent] > 0].tolist()
        np.testing.assert_allclose(activations, expected[expected[:, latent] > 0, latent], rtol=1e-3)


def test_codes_are_what_the_model_makes_of_the_vectors(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "library")
    wanted = items(120)
    shelf.add(wanted[:50])
    shelf.add(wanted[50:70])
    model = put_model(shelf.folder)
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is None
    shelf.writer().commit(concepts=NAME)
    shelf.add(wanted[70:])  # a new segment is coded at its own commit
    for item in wanted[::7]:
        shelf.remove(item.name)
    with Snapshot.open(shelf.folder) as snapshot:
        assert len(snapshot.generation.segments) == 3
        assert CONCEPT in snapshot.channels
        assert_coded(snapshot, model)


def test_merged_purged_and_rebuilt_segments_keep_their_codes(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "library")
    wanted = items(90)
    model = put_model(shelf.folder)
    shelf.add(wanted[:60])
    shelf.writer().commit(concepts=NAME)
    shelf.remove(wanted[3].name)
    writer = shelf.writer()
    writer.add(shelf.store(wanted[60:]), np.stack([item.vector for item in wanted[60:]]))
    writer.merge()  # one of the two has no codes yet
    writer.commit()
    with Snapshot.open(shelf.folder) as snapshot:
        assert len(snapshot.generation.segments) == 1
        assert_coded(snapshot, model)
    shelf.remove(wanted[8].name)
    writer = shelf.writer()
    assert writer.compact() == 1
    writer.commit()
    writer.collect_garbage(keep=1)
    with Snapshot.open(shelf.folder) as snapshot:
        assert_coded(snapshot, model)
        (segment,) = (file.segment for file in snapshot.generation.segments)
        listed = rows.read_channel(shelf.db, segment, concept_codes.channel(snapshot.generation))
        assert len(listed[LENGTHS].ordinals) == 88


def shelf_with_codes(folder: Path) -> Shelf:
    shelf = Shelf(folder)
    shelf.add(items(60))
    put_model(folder)
    shelf.writer().commit(concepts=NAME)
    return shelf


def finding(shelf: Shelf) -> str:
    (found,) = (f for f in check(shelf.folder, shelf.db) if f.check == "concept codes")
    return found.detail if found.severity != "ok" else ""


def test_a_library_of_an_older_version_gets_codes_at_its_next_commit(tmp_path: Path) -> None:
    shelf = shelf_with_codes(tmp_path / "library")
    before = generation.current_number(shelf.folder)
    shelf.db.execute("DELETE FROM posting WHERE channel LIKE 'concept:%'")
    assert "no codes yet" in finding(shelf)
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is None
        assert CONCEPT not in snapshot.channels
        assert len(snapshot.sparse_scores(CONCEPT, [], snapshot.ids())) == 60
    assert shelf.writer().commit().number != before
    assert finding(shelf) == ""
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is not None
    made = generation.current_number(shelf.folder)
    assert shelf.writer().commit().number == made  # nothing left to do


def test_a_commit_killed_between_two_segments_leaves_no_codes_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path / "library")
    model = put_model(shelf.folder)
    shelf.add(items(80)[:60])
    shelf.add(items(80)[60:])
    segments, insert = sorted(rows.segment_ids(shelf.db)), rows.insert_postings

    def killed(db: Database, segment: int, made: Iterable[tuple[str, str, Postings]]) -> None:
        insert(db, segment, made)
        if segment == segments[1]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rows, "insert_postings", killed)
        with pytest.raises(KeyboardInterrupt):
            shelf.writer().commit(concepts=NAME)
    assert [len(concept_codes.stored_channels(shelf.db, one)) for one in segments] == [1, 0]
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is None
    writer = shelf.writer()
    assert not any(concept_codes.stored_channels(shelf.db, one) for one in segments)
    writer.commit(concepts=NAME)
    with Snapshot.open(shelf.folder) as snapshot:
        assert_coded(snapshot, model)


def test_without_a_model_that_fits_there_are_no_codes(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "library")
    shelf.add(items(40))
    put_model(shelf.folder, encoder="another")
    shelf.writer().commit(concepts=NAME)
    shelf.writer().commit(concepts="sae-lost")
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is None
        assert CONCEPT not in snapshot.channels


def test_other_means_and_other_concepts_are_coded_anew(tmp_path: Path) -> None:
    shelf = shelf_with_codes(tmp_path / "library")
    other = put_model(shelf.folder, name="sae-other", seed=5)
    shelf.writer().commit(concepts="sae-other")
    with Snapshot.open(shelf.folder) as snapshot:
        assert_coded(snapshot, other)
    (segment,) = rows.segment_ids(shelf.db)
    assert concept_codes.stored_channels(shelf.db, segment) == [f"concept:{NAME}", "concept:sae-other"]
    generation.switch(shelf.folder, 2)  # the way back
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.generation.concepts == NAME
        assert snapshot.codes is not None
    generation.switch(shelf.folder, 3)
    shelf.writer().collect_garbage(keep=1)
    assert concept_codes.stored_channels(shelf.db, segment) == ["concept:sae-other"]
    far = unit_vectors(60, seed=4) + 3 * np.eye(DIMENSION, dtype=np.float32)[0]
    far /= np.linalg.norm(far, axis=1, keepdims=True)
    german = [replace(one, name=f"/shelf/de{n}", language="de", vector=far[n]) for n, one in enumerate(items(60))]
    writer = shelf.writer()
    writer.add(shelf.store(german), np.stack([one.vector for one in german]))
    writer.neutralise()
    writer.commit()
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.means is not None
        assert concept_codes.channel(snapshot.generation) == f"concept:sae-other@{snapshot.generation.means}"
        assert_coded(snapshot, other)


def test_damaged_codes_are_told_of_and_a_rebuild_makes_them_again(tmp_path: Path) -> None:
    shelf = shelf_with_codes(tmp_path / "library")
    assert finding(shelf) == ""
    latent = shelf.db.execute(f"SELECT max(term) FROM posting WHERE channel = 'concept:{NAME}'").fetchone()[0]
    shelf.db.execute("DELETE FROM posting WHERE channel LIKE 'concept:%' AND term = ?", (latent,))
    assert "lacks codes" in finding(shelf)
    rebuild(shelf.folder, shelf.db, _Encodes())
    assert finding(shelf) == ""
    model = ConceptModel.load(adapted.folder(shelf.folder) / NAME)
    with Snapshot.open(shelf.folder) as snapshot:
        assert_coded(snapshot, model)
    turned = replace(model, encoder=np.roll(model.encoder, 1, axis=0))
    turned.save(adapted.folder(shelf.folder) / NAME)
    assert "not those of the concepts in use" in finding(shelf)


class _Encodes:
    id, dimension, heads = ENCODER, DIMENSION, frozenset({"dense"})

    def encode_heads(self, *given: object, **named: object) -> Made:
        raise AssertionError("every vector is stored")


def test_fewer_latents_stand_for_a_passage_when_wished(tmp_path: Path) -> None:
    shelf = shelf_with_codes(tmp_path / "library")
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is not None
        before = snapshot.codes.counts()
        whole = bytes_per_passage(shelf.folder, shelf.db)[CONCEPT]
    assert shelf.writer().commit(codes=EFFICIENT).codes == EFFICIENT
    shelf.add(items(80, seed=2)[60:])
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.generation.codes == EFFICIENT  # and stays
        assert snapshot.codes is not None
        assert bytes_per_passage(shelf.folder, shelf.db)[CONCEPT] < 0.7 * whole
        assert finding(shelf) == ""
    shelf.writer().commit(codes=MAX)
    shelf.remove("/shelf/060.txt")
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is not None
        assert (snapshot.codes.counts() >= before).all()


def test_how_many_latents_are_kept_holds_for_another_encoder_too(tmp_path: Path) -> None:
    shelf = shelf_with_codes(tmp_path / "library")
    shelf.writer().commit(codes=EFFICIENT)
    assert IndexWriter(shelf.folder, shelf.db, "another", DIMENSION).commit().codes == EFFICIENT


def test_rounding_makes_no_active_latent_a_weak_one() -> None:
    """Just above the threshold, where the length of the direction and 16 bits round the weight down."""
    rng = np.random.default_rng(0)
    lost = 0
    for _ in range(40):
        least = float(np.float16(rng.uniform(0.01, 0.2)))
        middle = (least + float(np.nextafter(np.float16(least), np.float16(1)))) / 2
        length = np.float32(rng.uniform(0.2, 1.0))
        threshold = middle * (1 + 1e-14) / float(length)
        above = np.nextafter(np.float32(threshold), np.float32(1))
        row = np.array([[length]], np.float32)
        zero = np.zeros(1, np.float32)
        model = ConceptModel(np.ones((1, 1), np.float32), zero, row, zero, threshold)
        vectors = np.array([[above]], np.float32)
        assert model.encode(vectors)[0, 0] > 0
        weight = postings_of(model, vectors, KEPT[MAX])["0"].weights[0]
        lost += int(weight < np.float16(threshold * float(length)))
    assert lost == 0
