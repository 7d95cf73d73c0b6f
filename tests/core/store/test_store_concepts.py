"""What a person says of concepts holds over the fitted names, can be taken back, and goes over to the next model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.base.errors import BadSetting, NotFound
from core.base.types import Concept, Lens
from core.library import Library
from core.store import concepts, lenses
from core.store.concepts import Mark

MODEL = "sae-one"


def made(latent: int, passages: int, quality: float = -1.0) -> Concept:
    label = f"name {latent}"
    return Concept(
        latent, label, (label, f"word {latent}"), passages, (10 * latent, 10 * latent + 1), 1 / passages, quality
    )


@pytest.fixture
def library(tmp_path):
    found = Library.create(tmp_path / "library")
    with found._writer() as db:
        concepts.put_concepts(db, MODEL, [made(1, 5), made(2, 9), made(3, 7, 0.9), made(4, 3, 0.1)])
    yield found
    found.close()


def test_the_persons_name_stands_before_the_fitted_one(library) -> None:
    assert library.rename_concept(MODEL, 1, "  my   name ") == Mark()
    by_id = {c.id: c for c in library.concepts(MODEL)}
    assert (by_id[1].label, by_id[1].named_by) == ("my name", "person")
    assert (by_id[2].label, by_id[2].named_by) == ("name 2", "terms")
    before = library.rename_concept(MODEL, 1, "another")
    library.unmark_concept(MODEL, 1, before)
    assert {c.id: c.label for c in library.concepts(MODEL)}[1] == "my name"
    library.rename_concept(MODEL, 1, "")
    assert {c.id: c.label for c in library.concepts(MODEL)}[1] == "name 1"


def test_a_name_is_one_line_and_turns_nothing_beside_it(library) -> None:
    library.rename_concept(MODEL, 1, "ice\nand\u202esnow\u202c \x07\u2067")
    arabic = "\u0645\u0631\u062d\u0628\u0627 \U0001f9ca"
    library.rename_concept(MODEL, 2, arabic)
    labels = {c.id: c.label for c in library.concepts(MODEL)}
    assert (labels[1], labels[2]) == ("ice and snow", arabic)


def test_hidden_and_weak_concepts_are_no_reasons(library) -> None:
    assert library.reasons(MODEL) == {1: "name 1", 2: "name 2", 3: "name 3"}  # 4 is weak
    library.hide_concept(MODEL, 2)
    assert library.reasons(MODEL) == {1: "name 1", 3: "name 3"}
    assert {c.id: c.hidden for c in library.concepts(MODEL)}[2]  # still there, to be shown again
    library.hide_concept(MODEL, 2, False)
    library.rename_concept(MODEL, 4, "mine")  # whoever names it knows what it means
    assert library.reasons(MODEL) == {1: "name 1", 2: "name 2", 3: "name 3", 4: "mine"}


def test_merged_concepts_are_one(library) -> None:
    library.merge_concepts(MODEL, 1, into=3)
    library.merge_concepts(MODEL, 3, into=2)
    (whole, weak) = library.concepts(MODEL)
    assert (whole.id, whole.label, whole.merged, whole.passages) == (2, "name 2", (1, 3), 9)
    assert whole.examples == (20, 21, 10, 11, 30, 31)
    assert "word 1" in whole.terms
    assert weak.id == 4
    assert library.reasons(MODEL) == dict.fromkeys((1, 2, 3), "name 2")
    with pytest.raises(BadSetting):
        library.merge_concepts(MODEL, 2, into=1)
    library.merge_concepts(MODEL, 3, into=3)
    assert [(c.id, c.merged) for c in library.concepts(MODEL)] == [(2, ()), (3, (1,)), (4, ())]
    library.unmark_concept(MODEL, 1)
    assert [c.id for c in library.concepts(MODEL)] == [2, 3, 1, 4]


def test_what_cannot_be_said_is_refused(library) -> None:
    with pytest.raises(NotFound):
        library.rename_concept(MODEL, 99, "name")
    with pytest.raises(NotFound):
        library.merge_concepts(MODEL, 1, into=99)
    with pytest.raises(BadSetting):
        library.rename_concept(MODEL, 1, "x" * 81)
    assert [c.label for c in library.concepts(MODEL)] == ["name 2", "name 3", "name 1", "name 4"]


def test_quality_and_who_named_are_stored(library) -> None:
    with library._writer() as db:
        concepts.put_concepts(db, MODEL, [replace(made(1, 5, 0.75), named_by="model")])
    (only,) = library.concepts(MODEL)
    assert (only.quality, only.named_by) == (0.75, "model")


def test_a_written_name_outlives_a_new_labelling_and_gives_way_to_the_persons(library) -> None:
    with library._writer() as db:
        concepts.put_name(db, MODEL, 1, "written")
        concepts.put_concepts(db, MODEL, [made(1, 5), made(2, 9)])
    assert [(c.label, c.named_by) for c in library.concepts(MODEL)] == [("name 2", "terms"), ("written", "model")]
    library.rename_concept(MODEL, 1, "mine")
    assert [c.label for c in library.concepts(MODEL)] == ["name 2", "mine"]
    library.rename_concept(MODEL, 1, "")
    assert [c.label for c in library.concepts(MODEL)] == ["name 2", "written"]


def test_marks_outlive_a_new_fit_and_go_over_to_the_next_model(library) -> None:
    library.rename_concept(MODEL, 1, "mine")
    library.merge_concepts(MODEL, 3, into=2)
    library.hide_concept(MODEL, 4)
    lens = library.save_lens(MODEL, Lens(0, "Mine", {1: 3.0, 4: 0.0}, (2,)))
    lost = library.save_lens(MODEL, Lens(0, "Lost", {}, (4,)))
    with library._writer() as db:
        concepts.put_concepts(db, MODEL, [made(n, 10 - n) for n in (1, 2, 3, 4)])
        concepts.put_concepts(db, "sae-two", [made(n, 10 - n) for n in (5, 6, 7)])
    assert {c.id: c.label for c in library.concepts(MODEL)}[1] == "mine"
    same = {1: 7, 2: 5, 3: 6}
    with library._writer() as db:
        assert concepts.carry_marks(db, MODEL, "sae-two", same) == 2
        assert lenses.carry(db, MODEL, "sae-two", same) == 1
    assert [(c.id, c.label, c.merged) for c in library.concepts("sae-two")] == [(5, "name 5", (6,)), (7, "mine", ())]
    assert library.lenses("sae-two") == [Lens(lens, "Mine", {7: 3.0}, (5,))]
    assert [one.id for one in library.lenses(MODEL)] == [lost]
    with library._writer() as db:
        concepts.drop_others(db, ["sae-two"])
    assert library.concepts(MODEL) == []
    assert library.lenses(MODEL) == []
    assert {c.label for c in library.concepts("sae-two")} == {"name 5", "mine"}


def test_merges_that_go_over_never_go_round_in_a_circle(library) -> None:
    same = {1: 1, 2: 2}
    with library._writer() as db:
        concepts.put_concepts(db, "sae-two", [made(1, 5), made(2, 9)])
        concepts.mark(db, MODEL, 1, merged_into=2)
        concepts.carry_marks(db, MODEL, "sae-two", same)
        concepts.restore(db, "sae-two", 1, Mark())
        concepts.mark(db, "sae-two", 2, merged_into=1, name="two")
        concepts.carry_marks(db, "sae-two", MODEL, same)
    assert concepts.marks(library._db, MODEL) == {1: Mark(merged_into=2), 2: Mark("two")}


def test_a_concept_without_a_match_takes_over_that_of_what_was_merged_into_it() -> None:
    said = {1: Mark(merged_into=2), 2: Mark(merged_into=3), 3: Mark("mine"), 4: Mark(merged_into=5)}
    assert concepts.standing_in({1: 11, 4: 14, 5: 15}, said) == {3: 11, 4: 14, 5: 15}
    assert concepts.standing_in({1: 11, 2: 12, 6: 16}, said) == {3: 11, 2: 12, 6: 16}
    round_and_round = {1: Mark(merged_into=2), 2: Mark(merged_into=1)}
    assert concepts.standing_in({1: 11, 2: 12}, round_and_round) == {1: 11, 2: 12}


def test_a_reader_notices_what_others_changed(library) -> None:
    before = library.changes()
    assert library.changes() == before
    library.rename_concept(MODEL, 1, "mine")
    assert library.changes() != before


def test_lenses_are_saved_changed_and_deleted(library) -> None:
    first = library.save_lens(MODEL, Lens(0, "  Green  days", {2: 2.5, 1: 0.0}))
    second = library.save_lens(MODEL, Lens(0, "Blue", {}, (3,)))
    assert library.lenses(MODEL) == [
        Lens(second, "Blue", {}, (3,)), Lens(first, "Green days", {2: 2.5, 1: 0.0})]  # fmt: skip
    assert library.save_lens(MODEL, Lens(0, "green days", {1: 2.0})) == first  # in place of the one of that name
    assert library.save_lens(MODEL, Lens(second, "Red", {1: 4.0})) == second
    assert [one.name for one in library.lenses(MODEL)] == ["green days", "Red"]
    with pytest.raises(BadSetting):
        library.save_lens(MODEL, Lens(second, "GREEN days", {1: 2.0}))
    with pytest.raises(BadSetting):
        library.save_lens(MODEL, Lens(0, "Empty", {}))
    with pytest.raises(BadSetting, match="without end"):
        library.save_lens(MODEL, Lens(0, "Endless", {1: float("inf")}))
    with pytest.raises(BadSetting):
        library.save_lens(MODEL, Lens(0, "  ", {1: 2.0}))
    library.delete_lens(first)
    with pytest.raises(NotFound):
        library.save_lens(MODEL, Lens(first, "Gone", {1: 2.0}))
    assert library.lenses("sae-other") == []


def test_a_change_that_fails_leaves_what_was(library) -> None:
    library.rename_concept(MODEL, 1, "mine")
    with pytest.raises(NotFound):
        _change_two(library)
    assert [(c.label, c.hidden) for c in library.concepts(MODEL) if c.id == 1] == [("mine", False)]


def _change_two(library: Library) -> None:
    with library._writer() as db:
        concepts.mark(db, MODEL, 1, name="half", hidden=True)
        concepts.mark(db, MODEL, 99, name="none")
