import json
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.base.errors import BadDataset, Cancelled
from core.base.events import Control, Event, Progress
from core.encode.encoder import Encoder
from core.evaluate.datasets import Dataset, load
from core.evaluate.kept_vectors import KeptVectors
from core.evaluate.report import System, page
from core.evaluate.run import MEASURES, evaluate, evaluate_encoder
from core.evaluate.throwaway import build
from core.search.searcher import Searcher
from tests.tiny import sentence, topics

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Sixteen topics with five documents each; a query asks for a topic's documents."""
    luck = random.Random(5)
    folder = tmp_path_factory.mktemp("topics")
    (folder / "qrels").mkdir()
    corpus, queries, qrels = [], [], ["query-id\tcorpus-id\tscore"]
    for name, things in topics().items():
        queries.append(json.dumps({"_id": f"q-{name}", "text": sentence(things, luck)}))
        for n in range(5):
            corpus.append(json.dumps({"_id": f"{name}-{n}", "title": "", "text": sentence(things, luck)}))
            qrels.append(f"q-{name}\t{name}-{n}\t1")
    (folder / "corpus.jsonl").write_text("\n".join(corpus))
    (folder / "queries.jsonl").write_text("\n".join(queries))
    (folder / "qrels" / "test.tsv").write_text("\n".join(qrels))
    return load(folder)


def test_a_throw_away_library_is_measured(dataset: Dataset, tiny_encoder: Encoder) -> None:
    events: list[Event] = []
    found = evaluate_encoder(dataset, tiny_encoder, listener=events.append)
    assert found.dataset == dataset.name
    assert found.queries == 16
    assert set(found.channels) == {"bm25", "dense", "fused"}
    for measured in found.channels.values():
        assert set(measured) == set(MEASURES)
        assert all(0 <= value <= 1 for value in measured.values())
    chance = 5 / 80
    assert found.channels["dense"]["ndcg@10"] > 5 * chance
    assert found.channels["fused"]["recall@100"] == 1.0
    assert 0 < found.milliseconds["p50"] <= found.milliseconds["p95"]
    assert {e.stage for e in events if isinstance(e, Progress)} == {"encoding", "evaluating"}


_KILLED = """
import os, sys
from pathlib import Path
from core.evaluate.throwaway import room
with room(Path(sys.argv[1])) as made:
    (made / "library.db").write_text("a passage")
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_what_a_killed_measurement_left_in_a_folder_goes_with_the_next(
    dataset: Dataset, tiny_encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, system, seen = tmp_path / "run", tmp_path / "system", list[list[str]]()
    system.mkdir()
    subprocess.run([sys.executable, "-c", _KILLED, own], cwd=ROOT, check=False)
    (left,) = own.iterdir()
    assert (left / "library.db").exists()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    evaluate_encoder(
        dataset, tiny_encoder, folder=own, listener=lambda event: seen.append([path.name for path in own.iterdir()])
    )
    assert all(len(names) == 1 and names != [left.name] for names in seen)
    assert seen
    assert list(own.iterdir()) == list(system.iterdir()) == []


def test_an_open_library_is_measured_alike(dataset: Dataset, tiny_encoder: Encoder, tmp_path: Path) -> None:
    build(tmp_path, dataset, tiny_encoder, Control(), lambda event: None)
    searcher = Searcher(tmp_path, tiny_encoder)
    found = evaluate(dataset, searcher, ["dense"])
    searcher.close()
    assert found.channels["dense"] == evaluate_encoder(dataset, tiny_encoder, ["dense"]).channels["dense"]


def test_a_library_without_the_documents_is_refused(dataset: Dataset, tiny_encoder: Encoder, tmp_path: Path) -> None:
    other = Dataset("other", dataset.folder, dataset.corpus, dataset.queries, {q: {"?": 1} for q in dataset.queries})
    build(tmp_path, dataset, tiny_encoder, Control(), lambda event: None)
    searcher = Searcher(tmp_path, tiny_encoder)
    with pytest.raises(BadDataset, match="None of the judged"):
        evaluate(other, searcher)
    searcher.close()


def test_unknown_channels_and_cancel(dataset: Dataset, tiny_encoder: Encoder) -> None:
    with pytest.raises(BadDataset, match="Unknown channels"):
        evaluate_encoder(dataset, tiny_encoder, ["telepathy"])
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        evaluate_encoder(dataset, tiny_encoder, control=control)


def test_a_channel_that_the_index_lacks_is_refused(dataset: Dataset, tiny_encoder: Encoder) -> None:
    with pytest.raises(BadDataset, match="lexical"):
        evaluate_encoder(dataset, tiny_encoder, ("bm25", "lexical"))


def test_queries_are_kept_one_by_one(dataset: Dataset, tiny_encoder: Encoder) -> None:
    found = evaluate_encoder(dataset, tiny_encoder, measures=["ndcg@10", "hole@5"])
    for channel, means in found.channels.items():
        for name, mean in means.items():
            values = found.values[channel][name]
            assert len(values) == found.queries
            assert mean == pytest.approx(sum(values) / len(values), abs=1e-4)
            assert found.intervals[channel][name].low <= mean + 1e-4
        for documents in found.runs[channel].values():
            scores = [score for _, score in documents]
            assert scores == sorted(scores, reverse=True)
    assert [(c.first, c.second) for c in found.comparisons] == [("fused", "bm25"), ("fused", "dense")]


def test_kept_vectors_change_nothing(dataset: Dataset, tiny_encoder: Encoder, tmp_path: Path) -> None:
    plain = evaluate_encoder(dataset, tiny_encoder)
    with KeptVectors(tmp_path / "kept.db") as kept:
        for _ in range(2):
            assert evaluate_encoder(dataset, tiny_encoder, kept=kept).channels == plain.channels


def test_the_report_escapes_and_shows_each_comparison(dataset: Dataset, tiny_encoder: Encoder) -> None:
    found = evaluate_encoder(dataset, tiny_encoder)
    odd = replace(found, texts={q: f"<script>{t}</script>" for q, t in found.texts.items()})
    other = System("a <b>run</b>", {m: [0.0] * found.queries for m in MEASURES})
    text = page([odd], {odd.dataset: [other]})
    tags = Tags()
    tags.feed(text)
    assert not tags.seen & {"script", "b", "link", "img", "iframe"}
    assert {"svg", "table", "style"} <= tags.seen
    assert "fused against bm25" in text
    assert "fused against a &lt;b&gt;run&lt;/b&gt;" in text
    assert "&lt;script&gt;" in text
    assert f"{found.intervals['fused']['ndcg@10'].mean:.4f}" in text


class Tags(HTMLParser):
    """Which tags a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)


@pytest.mark.shared
@pytest.mark.starter
def test_a_real_collection(shared_folder: Path, starter_encoder: Encoder) -> None:
    found = evaluate_encoder(load(shared_folder / "datasets" / "adi"), starter_encoder)
    assert found.channels["bm25"]["ndcg@10"] >= 0.42
    assert found.channels["fused"]["ndcg@10"] >= 0.45
