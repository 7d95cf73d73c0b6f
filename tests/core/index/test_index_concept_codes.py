"""Codes of concepts in an index: equal to the model's own activations, whatever segments the passages lie in."""

from pathlib import Path

import numpy as np

from core.base.types import CONCEPT
from core.index import concept_codes, rows
from core.index.concept_model import ConceptModel
from core.index.postings import LENGTHS
from core.index.snapshot import Snapshot
from core.models import adapted
from tests.shelf import DIMENSION, ENCODER, Shelf, items

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
