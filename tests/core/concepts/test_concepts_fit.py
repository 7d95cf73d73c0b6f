"""Fitting a library: what is stored, that it is stored whole or not at all, and that it means something."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import Cancelled, ModelDamaged, ModelMissing
from core.base.events import Control, Event, Progress
from core.concepts import folder as folders
from core.concepts.stale import needs_fit
from core.encode.encoder import Encoder
from core.index import generation
from core.index.concept_model import WEIGHTS, ConceptModel
from core.index.snapshot import Snapshot
from core.store.concepts import concepts
from tests.core.concepts.library import (
    column_auc,
    fit_shelf,
    labels_of,
    made_items,
    make_shelf,
    topic_of,
    topic_words,
)
from tests.shelf import Item, Shelf

COUNT = 160


@pytest.fixture(scope="module")
def made(tiny_encoder: Encoder) -> list[Item]:
    return made_items(tiny_encoder, COUNT)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder, made: list[Item]) -> tuple[Shelf, str]:
    shelf = make_shelf(tmp_path_factory.mktemp("fit") / "library", tiny_encoder, made)
    name = fit_shelf(shelf, tiny_encoder)
    assert name is not None
    return shelf, name


def loaded(fitted: tuple[Shelf, str]) -> ConceptModel:
    return ConceptModel.load(fitted[0].folder / "models" / fitted[1], verify=True)


def test_the_model_folder_says_what_it_is(fitted: tuple[Shelf, str], tiny_encoder: Encoder) -> None:
    model = loaded(fitted)
    assert model.config["encoder"] == tiny_encoder.id
    assert model.config["passages"] == COUNT
    assert fitted[1] == f"sae-{model.config['data']}"
    assert isinstance(model.config["seconds"], float)
    assert model.decoder.shape == (model.latents, tiny_encoder.dimension)


def test_fidelity_has_the_figures_of_the_command_line(fitted: tuple[Shelf, str]) -> None:
    found = loaded(fitted).fidelity
    assert set(found) >= {"nmse", "nmse_held_out", "mrr_kept", "recall_kept", "spearman", "k", "latents", "dead", "l0"}
    assert 0 < found["nmse"] < 0.6
    assert found["nmse"] < found["nmse_held_out"] < 1
    assert found["spearman"] > 0.5
    assert found["mrr_kept"] > 0.5
    assert found["dead"] < 0.2


def test_concepts_name_the_planted_topics(fitted: tuple[Shelf, str], made: list[Item]) -> None:
    shelf, name = fitted
    labels = labels_of(shelf, name)
    active = loaded(fitted).encode(np.stack([item.vector for item in made]))
    topics = np.array([topic_of(row) for row in range(COUNT)])
    found = 0
    for topic in np.unique(topics):
        best = max(labels, key=lambda latent: column_auc(active[:, latent], topics == topic))
        words = {w for part in labels[best].casefold().replace(",", " ").split() for w in [part]}
        found += bool(words & topic_words(topic)) and column_auc(active[:, best], topics == topic) > 0.75
    assert found >= 14  # of 16


def test_stored_concepts_are_true_of_the_passages(fitted: tuple[Shelf, str]) -> None:
    shelf, name = fitted
    stored = concepts(shelf.db, name)
    model = loaded(fitted)
    with Snapshot.open(shelf.folder) as snapshot:
        ids = snapshot.ids()
        active = model.encode(snapshot.vectors(ids))
    at = {int(i): row for row, i in enumerate(ids)}
    assert len({c.label.casefold() for c in stored}) == len(stored) > 10
    for concept in stored:
        assert concept.passages == (active[:, concept.id] > 0).sum()
        assert 2 <= concept.passages <= COUNT / 2
        strengths = [active[at[i], concept.id] for i in concept.examples]
        assert strengths == sorted(strengths, reverse=True)
        assert strengths[0] == active[:, concept.id].max()
        assert concept.idf > 0


def test_ids_and_order_do_not_matter(
    fitted: tuple[Shelf, str], tmp_path: Path, tiny_encoder: Encoder, made: list[Item]
) -> None:
    shuffled = list(made)
    random.Random(1).shuffle(shuffled)
    shelf = make_shelf(tmp_path / "library", tiny_encoder, shuffled)
    name = fit_shelf(shelf, tiny_encoder)
    assert name == fitted[1]
    again = ConceptModel.load(shelf.folder / "models" / name)
    assert np.array_equal(again.decoder, loaded(fitted).decoder)
    assert again.threshold == loaded(fitted).threshold
    assert labels_of(shelf, name) == labels_of(*fitted)
    shelf.close()


def test_the_same_library_is_not_trained_twice(fitted: tuple[Shelf, str], tiny_encoder: Encoder) -> None:
    shelf, name = fitted
    before = (shelf.folder / "models" / name / WEIGHTS).stat().st_mtime_ns
    assert fit_shelf(shelf, tiny_encoder) == name
    assert (shelf.folder / "models" / name / WEIGHTS).stat().st_mtime_ns == before


def test_too_few_passages_give_no_concepts(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:23])
    assert fit_shelf(shelf, tiny_encoder) is None
    assert not (shelf.folder / "models").exists()
    shelf.close()


def test_two_dozen_passages_are_enough(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:24])
    name = fit_shelf(shelf, tiny_encoder)
    assert name is not None
    assert labels_of(shelf, name)
    shelf.close()


def test_copies_of_one_passage_are_no_library(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:30])
    shelf.db.execute("UPDATE passage SET hash = 'same'")
    assert fit_shelf(shelf, tiny_encoder) is None
    shelf.close()


@pytest.mark.parametrize("moment", [0, 30, 60, 90])
def test_cancelled_fit_leaves_nothing(tmp_path: Path, tiny_encoder: Encoder, made: list[Item], moment: int) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:60])
    control = Control()

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and event.done >= moment:
            control.cancel()

    with pytest.raises(Cancelled):
        fit_shelf(shelf, tiny_encoder, control, listen)
    assert not labels_of(shelf, "%")
    assert shelf.db.execute("SELECT COUNT(*) FROM concept").fetchone()[0] == 0
    names = [p.name for p in (shelf.folder / "models").glob("*")] if (shelf.folder / "models").exists() else []
    assert not [n for n in names if n.startswith(".")]
    shelf.close()


_KILLED = """
import os, sys
from pathlib import Path
import numpy as np
import core.base.files as files
from core.concepts import folder
from core.index import concept_model as model
kill_after = int(sys.argv[2])
calls = 0
write = model.write_bytes
def write_or_die(path, data):
    global calls
    if calls == kill_after:
        os._exit(9)
    calls += 1
    write(path, data)
model.write_bytes = write_or_die
model.write_json = lambda path, value: write_or_die(path, b"{}")
z = np.zeros((4, 8), np.float32)
folder.put(model.ConceptModel(z, z[:, 0], z, z[0], 0.5), Path(sys.argv[1]) / "models" / "sae-x")
"""


@pytest.mark.parametrize("writes", [0, 1])
def test_killed_while_storing_there_is_no_half_model(tmp_path: Path, writes: int) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), str(writes)], stdin=subprocess.DEVNULL)
    assert done.returncode == 9
    with pytest.raises(ModelMissing):
        ConceptModel.load(tmp_path / "models" / "sae-x")
    left = list((tmp_path / "models").iterdir())
    assert [p.name.startswith(".sae-") for p in left] == [True]
    z = np.zeros((4, 8), np.float32)
    folders.put(ConceptModel(z, z[:, 0], z, z[0], 0.1 + 0.2), tmp_path / "models" / "sae-x")
    assert [p.name for p in (tmp_path / "models").iterdir()] == ["sae-x"]
    assert ConceptModel.load(tmp_path / "models" / "sae-x", verify=True).threshold == 0.1 + 0.2


def test_a_damaged_model_is_told_and_made_anew(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:40])
    name = fit_shelf(shelf, tiny_encoder)
    assert name is not None
    path = shelf.folder / "models" / name / WEIGHTS
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelDamaged):
        ConceptModel.load(path.parent)
    assert fit_shelf(shelf, tiny_encoder) == name
    assert path.read_bytes() == whole
    shelf.close()


def test_prune_keeps_what_a_generation_needs(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:40])
    first = fit_shelf(shelf, tiny_encoder)
    shelf.add(made[40:80])
    second = fit_shelf(shelf, tiny_encoder)
    assert first is not None
    assert second is not None
    assert first != second
    (shelf.folder / "models" / "encoder-adapted").mkdir()
    assert folders.prune(shelf.folder, {second}) == [first]
    assert sorted(p.name for p in (shelf.folder / "models").iterdir()) == ["encoder-adapted", second]
    assert not labels_of(shelf, first)
    assert labels_of(shelf, second)
    shelf.close()


def test_when_to_fit_again(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:80])
    assert not needs_fit(None, 500, shelf.folder)
    current = generation.current(shelf.folder)
    assert current is not None
    assert needs_fit(current, 80, shelf.folder)
    assert not needs_fit(current, 23, shelf.folder)
    current = shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder))
    assert not needs_fit(current, 80, shelf.folder)
    assert not needs_fit(current, 90, shelf.folder)
    assert needs_fit(current, 101, shelf.folder)
    assert needs_fit(current, 40, shelf.folder)
    (shelf.folder / "models" / current.concepts / WEIGHTS).parent.rename(tmp_path / "away")
    assert needs_fit(current, 80, shelf.folder)
    lost = shelf.writer().commit(concepts="sae-other")
    assert needs_fit(lost, 90, shelf.folder)
    shelf.close()


def test_progress_goes_up_to_the_end(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> None:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made[:40])
    seen: list[Progress] = []
    fit_shelf(shelf, tiny_encoder, listener=lambda e: seen.append(e) if isinstance(e, Progress) else None)
    assert {p.stage for p in seen} == {"concepts"}
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1].done == seen[-1].total
    shelf.close()


def test_using_a_model_needs_no_torch() -> None:
    code = (
        "import sys, core.index.concept_model, core.concepts.fit, core.explain.explain; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.stdout.strip() == "False", done.stderr
