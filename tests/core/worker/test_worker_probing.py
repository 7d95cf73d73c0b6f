"""Files of language models tried in a child: those that run, those refused, those that kill whoever loads them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psutil
import pytest
from gguf_files import tiny, vocabulary

from core.answer.llama_gpu import ALL, RESERVE, SHARE, layers_on_card
from core.base.errors import Cancelled, KnownError, ModelDamaged, ModelMissing
from core.base.events import Control, Event
from core.models import bundles, catalogue, speeds
from core.models.gguf_model import inspect
from core.models.speeds import Speed
from core.worker.client import ChildClient
from core.worker.probing import add, measure, probe

# files with an orderly header that llama.cpp dies of: only a trial finds them out
DEADLY = {"a norm below zero": {"llama__attention__layer_norm_rms_epsilon": -1.0},
          "no layers": {"llama__block_count": 0},
          "one word many times": {"tokenizer__ggml__tokens": ["a"] * len(vocabulary())}}  # fmt: skip


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.e2e
def test_a_model_that_runs_is_added_and_its_speed_is_kept(tmp_path: Path) -> None:
    told: list[Event] = []
    bundle = add(str(put(tmp_path / "tiny.gguf", tiny())), listener=told.append)
    assert bundle.config["quantisation"] == "F32"
    assert [getattr(event, "stage", "") for event in told] == ["installing", "trying"]
    row = next(row for row in catalogue.listing() if row.id == "tiny")
    assert row.installed
    assert row.write_speed > 0
    assert row.read_speed > row.write_speed / 100
    speeds.forget("tiny")
    assert measure("tiny").write > 0
    assert speeds.known()["tiny"].write > 0
    catalogue.remove("tiny")
    assert speeds.known() == {}


@pytest.mark.e2e
@pytest.mark.parametrize("name", DEADLY)
def test_a_file_that_kills_its_loader_kills_a_child_only(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / "bad.gguf", tiny(**DEADLY[name]))
    inspect(path)  # nothing in its header is wrong by itself
    with pytest.raises(ModelDamaged, match="cannot be used"):
        add(str(path))
    assert not bundles.installed()
    assert speeds.known() == {}
    assert not children()


@pytest.mark.e2e
def test_a_bundle_from_elsewhere_is_tried_as_well(tmp_path: Path) -> None:
    config = {"id": "brought", "kind": "llm", "model": "m.gguf", "licence": "", "source": "elsewhere"}
    folder = tmp_path / "brought"
    folder.mkdir()
    put(folder / "m.gguf", tiny(llama__block_count=0))
    bundles.seal(folder, config)
    with pytest.raises(ModelDamaged):
        add(str(folder))
    put(folder / "m.gguf", tiny())
    bundles.seal(folder, config)
    assert add(str(folder)).config["licence"] == "apache-2.0"


@pytest.mark.e2e
def test_a_trial_that_takes_too_long_or_is_cancelled_ends_with_its_child(tmp_path: Path) -> None:
    path = put(tmp_path / "slow.gguf", tiny())
    with pytest.raises(KnownError, match="could not be tried within"):
        probe(path, seconds=0.01)
    control = Control()
    threading.Timer(0.1, control.cancel).start()
    with pytest.raises(Cancelled):
        probe(path, control)
    deadline = time.monotonic() + 10
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not children()


@pytest.mark.e2e
def test_the_models_child_adds_measures_and_lives_on(tmp_path: Path) -> None:
    good = put(tmp_path / "good.gguf", tiny())
    bad = put(tmp_path / "bad.gguf", tiny(llama__block_count=0))
    with ChildClient("models") as child:
        with pytest.raises(ModelDamaged):
            child.call("add", {"spec": str(bad)})
        rows = child.call("add", {"spec": str(good)})["models"]
        assert next(row for row in rows if row["id"] == "good")["write_speed"] > 0
        speeds.forget("good")
        rows = child.call("measure", {"id": "good"})["models"]
        assert next(row for row in rows if row["id"] == "good")["write_speed"] > 0
        with pytest.raises(ModelMissing):
            child.call("measure", {"id": "none-such"})


def test_speeds_that_cannot_be_read_count_as_not_measured() -> None:
    speeds.remember("a", Speed(100.0, 10.0))
    speeds.remember("b", Speed(1.0, 2.0))
    assert speeds.known() == {"a": Speed(100.0, 10.0), "b": Speed(1.0, 2.0)}
    speeds._path().write_text('{"a": {"read": 1}, "b": 7, "c": {"read": 1e999, "write": 1}, "d": {"read":1,"write":2}}')
    assert speeds.known() == {"d": Speed(1.0, 2.0)}
    speeds._path().write_text("[")
    assert speeds.known() == {}


def test_layers_go_to_the_card_as_far_as_they_fit(tmp_path: Path) -> None:
    model = inspect(put(tmp_path / "m.gguf", tiny(llama__block_count=9)))
    whole = model.size + model.cache * model.context

    def free(wanted: float) -> int:
        """Free bytes of which `wanted` are for the model."""
        return int((wanted + RESERVE + 1) / SHARE) + 1

    assert layers_on_card(model, 0) == 0
    assert layers_on_card(model, RESERVE) == 0
    assert layers_on_card(model, free(whole)) == ALL
    assert layers_on_card(model, free(whole / 2)) == 5
    assert layers_on_card(model, free(whole / 2), context=150) > 5
    some = [layers_on_card(model, free(whole * n / 20)) for n in range(20)]
    assert some == sorted(some)
    assert max(some) < 10
