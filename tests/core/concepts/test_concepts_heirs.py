"""What a new fit takes over: the person's marks, lenses, and labels that still hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.types import Concept, Lens, Passage
from core.concepts.folder import put
from core.concepts.heirs import heritage, keep_labels
from core.encode.encoder import Encoder
from core.index import generation
from core.index.concept_model import ConceptModel
from core.store import lenses
from core.store.concepts import Mark, concepts, default_labels, mark, marks, restore
from core.store.database import transaction
from core.store.passages import put_vectors
from tests.core.concepts.library import column_auc, fit_shelf, made_items, make_shelf, topic_of
from tests.shelf import Item, Shelf

COUNT, FIRST = 160, 140


@pytest.fixture(scope="module")
def made(tiny_encoder: Encoder) -> list[Item]:
    return made_items(tiny_encoder, COUNT)


@pytest.fixture
def shelf(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> Shelf:
    return make_shelf(tmp_path / "library", tiny_encoder, made[:FIRST])


def told(shelf: Shelf, name: str, latent: int, topic: str, items: list[Item]) -> float:
    """How well the latent tells the topic's passages (area under the curve)."""
    model = ConceptModel.load(shelf.folder / "models" / name)
    active = model.encode(np.stack([item.vector for item in items]))[:, latent]
    return column_auc(active, np.array([topic_of(row) == topic for row in range(len(items))]))


def about(shelf: Shelf, name: str, topic: str, items: list[Item]) -> int:
    """The latent that tells the topic's passages best."""
    return max(default_labels(shelf.db, name), key=lambda latent: told(shelf, name, latent, topic, items))


def test_marks_and_lenses_follow_their_concepts_to_the_next_fit(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    first = fit_shelf(shelf, tiny_encoder)
    assert first is not None
    shelf.writer().commit(concepts=first)
    topics = [topic_of(row) for row in range(8)]
    old = {topic: about(shelf, first, topic, made) for topic in topics}
    with transaction(shelf.db):
        for topic, latent in old.items():
            mark(shelf.db, first, latent, name=f"My {topic}")
        for topic, latent in old.items():
            lenses.save(shelf.db, first, Lens(0, topic, {latent: 2.0}))
    shelf.add(made[FIRST:])
    second = fit_shelf(shelf, tiny_encoder)
    assert second not in (None, first)
    found = {c.label: c.id for c in concepts(shelf.db, second)}
    moved = {lens.name: set(lens.boosts) for lens in lenses.lenses(shelf.db, second)}
    carried = [topic for topic in topics if f"My {topic}" in found]
    for topic in carried:
        assert moved[topic] == {found[f"My {topic}"]}
    true = [topic for topic in carried if told(shelf, second, found[f"My {topic}"], topic, made) > 0.7]
    assert len(true) >= max(3, 0.75 * len(carried))
    assert len(marks(shelf.db, first)) == len(set(old.values()))  # the way back keeps them
    shelf.close()


def test_what_was_taken_back_is_not_said_again_by_the_next_fit(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    """The fit before, still there to go back to, says it; the one in use does not, and is the newer."""
    first = _committed(shelf, tiny_encoder)
    every = default_labels(shelf.db, first)
    with transaction(shelf.db):
        for latent in every:
            mark(shelf.db, first, latent, name=f"My {latent}")
    shelf.add(made[FIRST:])
    second = _committed(shelf, tiny_encoder)
    said = marks(shelf.db, second)
    assert said
    with transaction(shelf.db):
        for latent in said:
            restore(shelf.db, second, latent, Mark())
    assert fit_shelf(shelf, tiny_encoder) == second
    assert marks(shelf.db, second) == {}
    shelf.close()


def test_lenses_outlive_a_fit_that_was_killed_before_its_commit(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    first = _committed(shelf, tiny_encoder)
    with transaction(shelf.db):
        for latent in default_labels(shelf.db, first):
            lenses.save(shelf.db, first, Lens(0, f"Lens {latent}", {latent: 2.0}))
    shelf.add(made[FIRST : FIRST + 10])
    killed = fit_shelf(shelf, tiny_encoder)
    assert killed is not None
    assert lenses.lenses(shelf.db, killed)
    shelf.add(made[FIRST + 10 :])
    third = _committed(shelf, tiny_encoder)
    assert third != killed
    moved = lenses.lenses(shelf.db, third)
    assert len(moved) >= 0.5 * len(default_labels(shelf.db, first))
    assert {i for lens in moved for i in lens.boosts} <= default_labels(shelf.db, third).keys()
    shelf.close()


def _committed(shelf: Shelf, encoder: Encoder) -> str:
    name = fit_shelf(shelf, encoder)
    assert name is not None
    shelf.writer().commit(concepts=name)
    return name


def test_a_new_encoder_is_matched_by_what_both_say_of_the_same_passages(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    """The other encoder's space is a rotation of this one's: the same concepts in no direction alike."""
    name = fit_shelf(shelf, tiny_encoder)
    assert name is not None
    new = ConceptModel.load(shelf.folder / "models" / name)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(tiny_encoder.dimension,) * 2))[0].astype(np.float32)
    order = np.random.default_rng(1).permutation(new.latents)
    old = replace(
        new, encoder=(new.encoder @ turn)[order], decoder=(new.decoder @ turn)[order], bias=new.bias @ turn,
        encoder_bias=new.encoder_bias[order], config={**new.config, "encoder": "other"},
    )  # fmt: skip
    put(old, shelf.folder / "models" / "sae-old")
    current = generation.current(shelf.folder)
    assert current is not None
    before = replace(current, encoder="other", concepts="sae-old")
    rows = shelf.db.execute("SELECT id, hash FROM passage ORDER BY id").fetchall()
    vectors = np.stack([item.vector for item in made[:FIRST]])
    passages = [_passage(i) for i, _ in rows]
    hashes = [h for _, h in rows]
    active = new.encode(vectors)
    gone = heritage(shelf.folder, shelf.db, before, name, new, passages, hashes, active)
    assert gone is not None
    assert gone.pairs == {}  # the old vectors are not there
    with transaction(shelf.db):
        put_vectors(
            shelf.db, "other", [(h, (v @ turn).astype("<f4").tobytes()) for h, v in zip(hashes, vectors, strict=True)]
        )
    left = heritage(shelf.folder, shelf.db, before, name, new, passages, hashes, active)
    assert left is not None
    assert left.name == "sae-old"
    alive = np.flatnonzero((active > 0).any(0))
    right = sum(left.pairs.get(int(np.flatnonzero(order == latent)[0])) == latent for latent in alive)
    assert right >= 0.9 * len(alive) > 5
    assert heritage(shelf.folder, shelf.db, current, name, new, passages, hashes, active) is None
    shelf.close()


def _passage(number: int) -> Passage:
    return Passage(number, number, 0, "", 0, 0, None, None, (), "en", title="")


def test_labels_stay_where_they_still_stand_in_the_passages() -> None:
    terms = {
        "roof tiles": ("tiles", "Gutter"),
        "oven": ("bread",),
        "harbour": ("TAX",),
        "tax": ("tax",),
        "pier": ("pier",),
    }
    fresh = [Concept(n, label, own, 3, (n,), 1.0) for n, (label, own) in enumerate(terms.items())]
    former = {10: "roof, gutter", 11: "bread", 12: "TAX", 13: "ghost", 14: "sea, salt"}
    texts = {0: "A roof with a Gutter.", 1: "No loaf here.", 2: "Tax for ships.", 3: "The tax.", 4: "Salt of the sea."}
    kept = keep_labels(fresh, former, {10: 0, 11: 1, 12: 2, 13: 3, 14: 4}, texts)
    # gone, taken, gone, no longer what sets its passages apart
    assert [c.label for c in kept] == ["roof, gutter", "oven", "harbour", "tax", "pier"]


def test_labels_that_a_model_wrote_stay_where_their_words_stand() -> None:
    fresh = [Concept(n, label, (), 3, (n,), 1.0) for n, label in enumerate(["tiles", "oven", "harbour"])]
    former = {10: "Repair of a Roof", 11: "Repair of bread", 12: "Cargo ships"}
    texts = {0: "The roof of a house is in repair.", 1: "Bread.", 2: "Ships with cargo."}
    kept = keep_labels(fresh, former, {10: 0, 11: 1, 12: 2}, texts, {10, 11})
    assert [(c.label, c.named_by) for c in kept] == [
        ("Repair of a Roof", "model"), ("oven", "terms"), ("harbour", "terms")]  # fmt: skip
