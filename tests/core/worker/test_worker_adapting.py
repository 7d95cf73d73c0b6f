"""Adapting a library: whole runs on a tiny encoder, what the gate lets through, and the way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import KnownError, LibraryLocked
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
from core.train.how_far import Tried, best
from core.train.hybrid import Hybrid
from core.train.m3_recipe import HeadsStage
from core.train.recipes import RECIPES, FullStage, QueryStage, ReaderStage, Recipe
from core.train.teacher import Lesson
from core.worker import adapt_estimate, adapting
from core.worker.adapt_estimate import estimate
from core.worker.finding import Finder, encoder_for
from core.worker.generations import roll_back
from tests.core.train.made import documents
from tests.core.worker.adapting_runs import SMALL, accepting, adapt, wrong

pytestmark = pytest.mark.usefixtures("short_recipe")


def test_a_run_comes_to_a_verdict_and_tells_of_itself(library: Path) -> None:
    before = generation.current(library)
    made = adapt(library)
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
    assert wrong(library) == []


def test_what_was_accepted_serves_and_is_taken_back(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepting(monkeypatch)
    finder = Finder(library)
    query = Query("bees and honey", literal=True)
    first = finder.search(query)
    made = adapt(library)
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
    accepting(monkeypatch)
    first, second = adapt(library), adapt(library)
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
        assert adapt(library)["state"] == "refused"
    monkeypatch.setitem(RECIPES, "quick", replace(SMALL, query=QueryStage(epochs=2, rate=0.5)))
    assert adapt(library)["state"] == "refused"
    current = generation.current(library)
    assert current
    assert not current.queries


def test_all_weights_by_the_longer_recipe(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pre-training, two rounds, the query side; what found most on the questions that choose is judged and serves."""
    accepting(monkeypatch)
    monkeypatch.setattr(finishing, "usable_cores", lambda: 4)  # negatives are mined in a process of their own
    stage = FullStage(pretraining=2, warmup=2, pretraining_rate=1e-4, rate=5e-4)
    monkeypatch.setitem(RECIPES, "standard", Recipe("standard", 160, 5.0, QueryStage(epochs=1, rate=1e-4), stage))
    told: list[Event] = []
    before = generation.current(library)
    made = adapting.adapt(library, "standard", control=Control(), listener=told.append)
    names = [stage["name"] for stage in made["stages"]]
    assert names == ["queries", "pretraining", "fine-tuning", "second", "judging"]
    chosen = {stage["name"]: stage["metrics"] for stage in made["stages"]}
    assert {f"general at {share:g}" for share in finishing.SHARES} <= set(chosen["second"])
    assert {f"nb-recall_{n}@200" for n in (1, 5, 10, 50)} <= set(chosen["second"])
    current = generation.current(library)
    assert current
    assert before
    if _best(chosen["second"]) > _best(chosen["queries"]):
        assert (current.encoder, current.queries) == (made["made"], "")
    else:
        assert (current.encoder, current.queries) == (before.encoder, made["made"])
    finder = Finder(library)
    assert finder.search(Query("bees and honey", literal=True)).hits
    finder.close()
    assert roll_back(library, made["previous"]) == made["previous"]
    assert encoder_for(library).id == before.encoder


def _best(figures: dict[str, float]) -> float:
    """What the share that was chosen found: of those that forget nothing (see `core.train.how_far`)."""
    shares = [float(name.split()[-1]) for name in figures if name.startswith("ndcg at")]
    tried = [Tried(s, figures[f"ndcg at {s:g}"], figures[f"general at {s:g}"]) for s in shares if s]
    before = figures.get("general at 0", 1.0)
    return best(tried, before).ndcg


def test_one_run_at_a_time(library: Path) -> None:
    with FileLock(library / adapted.LOCK, "adapt"), pytest.raises(LibraryLocked, match="adapted already"):
        adapt(library)


def test_too_small_a_library_is_told_before_anything_begins(
    tiny_home: Path, tiny_encoder: Encoder, tmp_path: Path
) -> None:
    corpus = tuple(CorpusDocument(str(p.id), "", p.text) for p in documents(20))
    folder = tmp_path / "small"
    folder.mkdir()
    build(folder, Dataset("small", folder, corpus, {}, {}), tiny_encoder, Control(), lambda event: None)
    assert "20 passages" in estimate(folder, "quick").reason
    with pytest.raises(KnownError, match="20 passages"):
        adapt(folder)
    assert adapting.history(folder)[0]["state"] == "failed"


def test_an_estimate_of_this_machine(library: Path, tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = estimate(library, "quick")
    assert not found.reason
    assert 0 < found.seconds[0] < found.seconds[1]
    assert found.questions > 50
    assert found.passages == 240
    weights = (tiny_home / "models" / "tiny" / "model.safetensors").stat().st_size
    assert found.disk == 12 * weights
    monkeypatch.setattr(adapt_estimate, "_searching", lambda *args: 0.01)  # this machine may have other work to do
    monkeypatch.setattr(adapt_estimate, "_encoding", lambda *args: 0.02)
    quick, full = estimate(library, "quick"), estimate(library, "standard")
    assert full.seconds[1] > quick.seconds[1] > 0
    assert full.memory > quick.memory
    assert full.disk > quick.disk
    with pytest.raises(KnownError, match="no recipe"):
        estimate(library, "magic")


def test_the_longest_recipe_with_heads_and_a_reader_that_then_serve(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SimLM's road from start to end: what taught, and what was learned beside, serves once its own gate lets it in."""
    accepting(monkeypatch)
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
    assert wrong(library) == []
    assert roll_back(library, made["previous"]) == made["previous"]
    assert adapting.history(library)[-1]["state"] == "taken-back"
