"""Adapting a library: whole runs on a tiny encoder, what the gate lets through, kills, and the way back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.base.errors import Cancelled, KnownError, LibraryLocked
from core.base.events import Control, Curve, Event, Progress
from core.base.files import FileLock
from core.base.types import Query
from core.encode.encoder import Encoder
from core.encode.towers import queries_of
from core.evaluate.datasets import CorpusDocument, Dataset
from core.evaluate.throwaway import build
from core.index import generation
from core.models import adapted
from core.store import database
from core.store.representations import set_keeps_tokens
from core.train import finishing, query_stage, rerank_stage
from core.train.four_stages import _Job as FourStages
from core.train.hybrid import Hybrid
from core.train.m3_recipe import HeadsStage
from core.train.recipes import RECIPES, FullStage, QueryStage, ReaderStage, Recipe
from core.train.teacher import Lesson
from core.worker import adapt_ending, adapting
from core.worker.adapt_estimate import estimate
from core.worker.doctor import examine
from core.worker.finding import Finder, encoder_for
from core.worker.generations import roll_back
from core.worker.purge import purge
from tests.core.train.made import documents

ROOT = Path(__file__).parents[3]
SMALL = Recipe("quick", 400, 5.0, QueryStage(epochs=2, rate=2e-3, moments=1))


@pytest.fixture
def library(tiny_home: Path, tiny_encoder: Encoder, tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    pieces = documents(240, sentences=4)
    corpus = tuple(CorpusDocument(str(p.id), f"On {' '.join(p.text.split()[1:4])}", p.text) for p in pieces)
    build(folder, Dataset("made", folder, corpus, {}, {}), tiny_encoder, Control(), lambda event: None)
    return folder


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A short recipe, on one thread: a model this small is slower on two."""
    monkeypatch.setitem(RECIPES, "quick", SMALL)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _adapt(library: Path, **more: object) -> dict:  # type: ignore[type-arg]
    told: list[Event] = []
    made = adapting.adapt(library, "quick", control=Control(), listener=told.append, **more)  # type: ignore[arg-type]
    return {**made, "told": told}


def test_a_run_comes_to_a_verdict_and_tells_of_itself(library: Path) -> None:
    before = generation.current(library)
    made = _adapt(library)
    gate = made["gate"]
    assert made["state"] in ("accepted", "refused")
    assert gate["queries"] >= 50
    assert gate["low"] <= gate["delta"] <= gate["high"]
    stages = {event.stage for event in made["told"] if isinstance(event, Progress)}
    assert {"questions", "mining", "queries", "judging"} <= stages
    assert any(isinstance(event, Curve) and event.stage == "queries" for event in made["told"])
    assert [stage["name"] for stage in made["stages"]] == ["queries", "moment", "judging"]
    current = generation.current(library)
    assert current
    assert before
    assert current.segments == before.segments  # no passage was encoded again
    assert (current.queries != "") is gate["accepted"]
    (kept,) = adapting.history(library)
    assert kept["state"] == made["state"]
    assert kept["gate"] == gate
    assert sorted(p.name for p in (library / "jobs/adapt/0001").iterdir()) == ["run.json"]
    assert _wrong(library) == []


def _accepting(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.train import adapt, gate

    judged = gate.judge
    monkeypatch.setattr(adapt.gate, "judge", lambda *args: replace(judged(*args), accepted=True))


def test_what_was_accepted_serves_and_is_taken_back(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _accepting(monkeypatch)
    finder = Finder(library)
    query = Query("bees and honey", literal=True)
    first = finder.search(query)
    made = _adapt(library)
    served = finder.search(query)
    assert served.generation == made["generation"] > first.generation
    assert queries_of(finder.encoder) == made["made"] != ""
    assert [h.score for h in served.hits] != [h.score for h in first.hits]
    explained = finder.explain(query, served.hits[0].passage.id)
    assert sum(part.contribution for part in explained.parts) == pytest.approx(served.hits[0].score)
    assert roll_back(library, made["previous"]) == made["previous"]
    again = finder.search(query)
    assert [(h.passage.id, h.score) for h in again.hits] == [(h.passage.id, h.score) for h in first.hits]
    assert adapting.history(library)[0]["state"] == "taken-back"
    finder.close()


def test_a_second_run_goes_on_from_the_first(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _accepting(monkeypatch)
    first, second = _adapt(library), _adapt(library)
    assert second["number"] == 2
    assert second["present"] == [encoder_for(library).id, first["made"]]
    assert [run["state"] for run in adapting.history(library)] == ["taken-back", "accepted"]


def test_poisoned_runs_are_refused(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lessons dealt to other questions; a learning rate a hundred times too high."""
    taught = query_stage.teach

    def shuffled(*args: object, **named: object) -> tuple[Lesson, ...]:
        lessons = taught(*args, **named)  # type: ignore[arg-type]
        order = np.random.default_rng(0).permutation(len(lessons)).tolist()
        return tuple(replace(lessons[other], question=one.question) for one, other in zip(lessons, order, strict=True))

    with monkeypatch.context() as patch:
        patch.setattr(query_stage, "teach", shuffled)
        assert _adapt(library)["state"] == "refused"
    monkeypatch.setitem(RECIPES, "quick", replace(SMALL, query=QueryStage(epochs=2, rate=0.5)))
    assert _adapt(library)["state"] == "refused"
    current = generation.current(library)
    assert current
    assert not current.queries


def test_a_stopped_run_goes_on_and_ends_like_one_that_was_not(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _accepting(monkeypatch)
    whole = _adapt(library)
    roll_back(library, whole["previous"])
    for stage in ("mining", "queries"):
        control = Control()

        def stop(event: Event, stage: str = stage, control: Control = control) -> None:
            if isinstance(event, Progress) and event.stage == stage and event.done > 1:
                control.cancel()

        with pytest.raises(Cancelled):
            adapting.adapt(library, "quick", control=control, listener=stop)
        assert adapting.history(library)[-1]["state"] == "stopped"
    told: list[Event] = []
    made = adapting.adapt(library, "quick", control=Control(), listener=told.append)
    assert made["number"] == 2
    assert made["made"] == whole["made"]  # the name holds the hash of the weights
    stages = [(one.stage, one.done) for one in told if isinstance(one, Progress)]
    assert "mining" not in {stage for stage, _ in stages}  # nothing is done twice
    assert min(done for stage, done in stages if stage == "queries" and done) > 2


def test_what_nobody_can_go_on_with_is_cleared_away(library: Path) -> None:
    control = Control()

    def stop(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "mining":
            control.cancel()

    with pytest.raises(Cancelled):
        adapting.adapt(library, "quick", control=control, listener=stop)
    folder = library / "jobs/adapt/0001"
    assert (folder / "questions.json").is_file()
    with pytest.raises(Cancelled):
        adapting.adapt(library, "standard", control=control, listener=stop)
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    assert [row["state"] for row in adapting.history(library)] == ["stopped", "stopped"]


def test_all_weights_by_the_longer_recipe(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pre-training, two rounds, the query side; what found most on the questions that choose is judged and serves."""
    _accepting(monkeypatch)
    monkeypatch.setattr(finishing, "usable_cores", lambda: 4)  # negatives are mined in a process of their own
    stage = FullStage(pretraining=2, warmup=2, pretraining_rate=1e-4, rate=5e-4)
    monkeypatch.setitem(RECIPES, "standard", Recipe("standard", 160, 5.0, QueryStage(epochs=1, rate=1e-4), stage))
    told: list[Event] = []
    before = generation.current(library)
    made = adapting.adapt(library, "standard", control=Control(), listener=told.append)
    names = [stage["name"] for stage in made["stages"]]
    assert names == ["queries", "pretraining", "fine-tuning", "second", "judging"]
    chosen = {stage["name"]: stage["metrics"] for stage in made["stages"]}
    queries = max(v for k, v in chosen["queries"].items() if k.startswith("ndcg at") and k != "ndcg at 0")
    everything = max(v for k, v in chosen["second"].items() if k.startswith("ndcg at"))
    assert {f"nb-recall_{n}@200" for n in (1, 5, 10, 50)} <= set(chosen["second"])
    current = generation.current(library)
    assert current
    assert before
    if everything > queries:
        assert current.encoder == made["made"] != before.encoder
        assert not current.queries
    else:
        assert (current.encoder, current.queries) == (before.encoder, made["made"])
    finder = Finder(library)
    assert finder.search(Query("bees and honey", literal=True)).hits
    finder.close()
    assert roll_back(library, made["previous"]) == made["previous"]
    assert encoder_for(library).id == before.encoder


def test_one_run_at_a_time(library: Path) -> None:
    with FileLock(library / adapted.LOCK, "adapt"), pytest.raises(LibraryLocked, match="adapted already"):
        _adapt(library)


def test_too_small_a_library_is_told_before_anything_begins(
    tiny_home: Path, tiny_encoder: Encoder, tmp_path: Path
) -> None:
    corpus = tuple(CorpusDocument(str(p.id), "", p.text) for p in documents(20))
    folder = tmp_path / "small"
    folder.mkdir()
    build(folder, Dataset("small", folder, corpus, {}, {}), tiny_encoder, Control(), lambda event: None)
    assert "20 passages" in estimate(folder, "quick").reason
    with pytest.raises(KnownError, match="20 passages"):
        _adapt(folder)
    assert adapting.history(folder)[0]["state"] == "failed"


def test_an_estimate_of_this_machine(library: Path, tiny_home: Path) -> None:
    found = estimate(library, "quick")
    assert not found.reason
    assert 0 < found.seconds[0] < found.seconds[1]
    assert found.questions > 50
    assert found.passages == 240
    weights = (tiny_home / "models" / "tiny" / "model.safetensors").stat().st_size
    assert found.disk == 12 * weights
    full = estimate(library, "standard")
    assert full.seconds[1] > found.seconds[1]
    with pytest.raises(KnownError, match="no recipe"):
        estimate(library, "magic")


def test_the_longest_recipe_with_heads_and_a_reader_that_then_serve(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SimLM's road from start to end: what taught, and what was learned beside, serves once its own gate lets it in."""
    _accepting(monkeypatch)
    judge, better = rerank_stage.judge_reranker, FourStages._orders_better
    monkeypatch.setattr(rerank_stage, "judge_reranker", lambda *a: replace(judge(*a), accepted=True))
    monkeypatch.setattr(FourStages, "_orders_better", lambda *a: better(*a) or True)  # a reader this small may not
    monkeypatch.setattr(Hybrid, "pays", True)
    db = database.open_writer(library)
    with database.transaction(db):
        set_keeps_tokens(db, True)
    db.conn.close()
    reader = ReaderStage(layers=1, epochs=1, rate=1e-3, mined=4, distilling=1)
    stage = FullStage(2, 2, 1e-4, rate=5e-4, objective="simlm", reader=reader)
    recipe = Recipe("thorough", 160, 5.0, QueryStage(1, 1e-4), stage, heads=HeadsStage(epochs=1, dimension=8))
    monkeypatch.setitem(RECIPES, "thorough", recipe)
    made = adapting.adapt(library, "thorough", control=Control(), listener=lambda event: None)
    names = [stage["name"] for stage in made["stages"]]
    assert names[:4] == ["queries", "pretraining", "retriever-1", *names[3:4]]
    assert names[-4:] == ["distilled", "judging", "heads", "reading"]
    current = generation.current(library)
    assert current
    assert current.encoder == made["headed"]["encoder"]
    assert current.fusion.keys() >= {"lexical", "multi", "rerank"}
    assert current.reranker == made["read"]["reranker"]
    assert current.fusion["rerank"] == made["read"]["weight"]
    finder = Finder(library)
    hits = finder.search(Query("bees and honey", literal=True, rerank=True)).hits
    finder.close()
    assert {"dense", "lexical", "multi", "rerank"} <= {part.channel for part in hits[0].parts}
    assert sum(part.contribution for part in hits[0].parts) == pytest.approx(hits[0].score)
    assert _wrong(library) == []
    assert roll_back(library, made["previous"]) == made["previous"]
    assert adapting.history(library)[-1]["state"] == "taken-back"


def test_stopped_while_the_library_changes_over_it_goes_on_there(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _accepting(monkeypatch)
    before = generation.current(library)
    assert before
    switch = adapt_ending._switch

    def stopped(*args: object, **more: object) -> int:
        raise Cancelled()

    with monkeypatch.context() as patch:
        patch.setattr(adapt_ending, "_switch", stopped)
        with pytest.raises(Cancelled):
            _adapt(library)
    assert adapting.history(library)[0]["state"] == "stopped"
    monkeypatch.setattr(adapting, "_learnt", None)  # nothing is learned again
    made = _adapt(library)
    assert (made["number"], made["state"], made["previous"]) == (1, "accepted", before.number)
    assert _queries(library) == made["made"]
    assert switch is adapt_ending._switch


def test_what_does_not_fit_the_librarys_encoder_any_more_is_not_taken_over(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _accepting(monkeypatch)
    begin = adapt_ending.begin

    def meanwhile(*args: object) -> adapt_ending.Ending:
        return replace(begin(*args), encoders=("another-encoder", ""))  # type: ignore[arg-type]

    monkeypatch.setattr(adapt_ending, "begin", meanwhile)
    with pytest.raises(KnownError, match="another encoder meanwhile"):
        _adapt(library)
    (row,) = adapting.history(library)
    assert row["state"] == "failed"
    assert _queries(library) == ""
    assert [path.name for path in (library / "jobs/adapt/0001").iterdir()] == ["run.json"]


def test_what_was_removed_leaves_the_runs(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _accepting(monkeypatch)
    made = _adapt(library)
    shown = [one["passage"] for one in (*made["up"], *made["down"])]
    assert shown
    control = Control()

    def stop(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "mining":
            control.cancel()

    with pytest.raises(Cancelled):
        adapting.adapt(library, "quick", control=control, listener=stop)
    assert (library / "jobs/adapt/0002/questions.json").is_file()
    db = database.open_writer(library)
    with database.transaction(db):
        db.execute("DELETE FROM passage WHERE id = ?", (shown[0],))
        db.execute("INSERT INTO tombstone VALUES (?)", (shown[0],))
    db.conn.close()
    first, _ = adapting.history(library)
    assert shown[0] not in {one["passage"] for one in (*first["up"], *first["down"])}
    purged = purge(library)
    assert purged.adapted == made["made"]
    assert f'"passage": {shown[0]}' not in (library / "jobs/adapt/0001/run.json").read_text()
    assert [path.name for path in (library / "jobs/adapt/0002").iterdir()] == ["run.json"]
    with FileLock(library / adapted.LOCK, "adapt"), pytest.raises(LibraryLocked):
        purge(library)


@pytest.mark.e2e
def test_killed_anywhere_it_ends_the_same(library: Path, tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in a process of its own, killed at random moments and begun again."""
    script = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from core.base.events import Control; from core.train import adapt, gate; from core.train.recipes import *\n"
        "from core.worker import adapting\n"
        "judge = gate.judge; adapt.gate.judge = lambda *a: replace(judge(*a), accepted=True)\n"
        "RECIPES['quick'] = Recipe('quick', 400, 5.0, QueryStage(epochs=2, rate=2e-3, moments=1))\n"
        "print(adapting.adapt(Path(sys.argv[1]), 'quick', control=Control(), listener=lambda e: None)['made'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

    def run() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", script, str(library)], env=environment, stdout=subprocess.PIPE, text=True
        )

    begun = time.monotonic()
    whole, _ = run().communicate(timeout=400)
    lasts = time.monotonic() - begun
    assert whole.strip()
    current = generation.current(library)
    assert current
    assert current.parent
    roll_back(library, current.parent)
    luck = random.Random(4)
    for _ in range(6):
        child = run()
        time.sleep(luck.uniform(0.2, 0.8) * lasts)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        if _queries(library):  # it had ended: another run would begin where this one did
            break
    else:
        ended, _ = run().communicate(timeout=400)
        assert ended == whole
    assert _queries(library) == whole.strip()
    assert _wrong(library) == []


def _queries(library: Path) -> str:
    current = generation.current(library)
    return current.queries if current else ""


def _wrong(library: Path) -> list[str]:
    """What the doctor finds, but for the file that this library was made of without being read."""
    return [f"{f.check}: {f.detail}" for f in examine(library) if f.severity != "ok" and f.check != "files"]
