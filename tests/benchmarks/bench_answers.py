"""How good are the answers: `python tests/benchmarks/bench_answers.py DATASET [DATASET...] [--model] [--fit]`.

Each DATASET is a folder in BEIR layout with an `answers.jsonl`. Prints, for answers by quotes and (with `--model`) by
the installed language model: how many hold a gold answer, how many cite a gold document, how many of the citations are
of one, and the modes. Then the curve of abstention: the share of answerable questions answered against the share of
unanswerable ones answered falsely. Unanswerable are the questions of the other sets asked of this one, and this one's
own with a name or number changed; its own with the gold documents taken out are shown apart (others may still
answer). `--fit` fits the weights of `core.answer.extractive` and `core.answer.abstain` on the same questions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.answer import abstain, extractive
from core.answer.evidence import Evidence, gather
from core.answer.facts import bare, names
from core.answer.llama import LlamaBackend
from core.answer.scale import Scale
from core.answer.service import Answerer
from core.base.events import Control, ignore
from core.base.types import Answer, AnswerMode, Filters, SearchResult
from core.encode.encoder import Encoder
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.evaluate.throwaway import build
from core.models.bundles import LLM, active
from core.search.searcher import Searcher
from core.text.normalize import fold

HITS = 10
THRESHOLDS = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
OTHER_NAMES = ("Kowalczyk", "Brennholt", "Tindersby", "Okonkwo", "Villareggio", "Halvorsen", "Drumcondra", "Pellworm")
OWN, GONE, OTHER, CHANGED = "answerable", "gold taken out", "of another set", "name or number changed"


@dataclass(frozen=True)
class Asked:
    """One question with its search result, gold documents and gold answers."""

    text: str
    result: SearchResult
    gold: frozenset[str]
    answers: tuple[str, ...]


class Remembering:
    """An encoder that encodes each text once: the same sentences are found for many questions."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[tuple[str, str], np.ndarray] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], *, kind: str = "passage", **options: Any) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        for text, vector in zip(new, self._encoder.encode(new, kind=kind, **options), strict=True):
            self._known[kind, text] = vector
        return np.array([self._known[kind, text] for text in texts], np.float32).reshape(len(texts), -1)


class Bench:
    """One data set in a throw-away library."""

    def __init__(self, folder: Path, library: Path, encoder: Encoder, count: int, seed: int) -> None:
        library.mkdir()
        self.dataset: Dataset = load(folder)
        build(library, self.dataset, encoder, Control(), ignore)
        self.searcher = Searcher(library, encoder)
        self._gold_answers = _answers(folder)
        ids = sorted(set(self.dataset.queries) & set(self._gold_answers))
        self.ids = random.Random(seed).sample(ids, min(count, len(ids)))

    def retrieve(self, question: str, k: int = HITS) -> SearchResult:
        return self.searcher.retrieve(question, (), Filters(), k)

    def asked(self) -> list[Asked]:
        return [self._ask(query) for query in self.ids]

    def _ask(self, query: str) -> Asked:
        text = self.dataset.queries[query]
        gold = frozenset(d for d, gain in self.dataset.qrels[query].items() if gain > 0)
        return Asked(text, self.retrieve(text), gold, self._gold_answers[query])

    def without_gold(self, asked: Asked) -> SearchResult:
        result = self.retrieve(asked.text, 2 * HITS)
        hits = [hit for hit in result.hits if hit.passage.external_id not in asked.gold]
        return replace(result, hits=tuple(hits[:HITS]))


def _answers(folder: Path) -> dict[str, tuple[str, ...]]:
    rows = [json.loads(line) for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    return {str(row["_id"]): tuple(row["answers"]) for row in rows}


def changed(question: str, luck: random.Random) -> str:
    """`question` with one name or number replaced; empty when it has none."""
    found = [
        m for m in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)*", question) if bare(m.group()) in names(question, "en")
    ]
    if found:
        match = luck.choice(found)
        return question[: match.start()] + luck.choice(OTHER_NAMES) + question[match.end() :]
    number = re.search(r"\d{2,}", question)
    if number is None:
        return ""
    return question[: number.start()] + str(int(number.group()) + luck.randint(3, 40)) + question[number.end() :]


def holds(text: str, answers: Sequence[str]) -> bool:
    """Does `text` hold one of the gold answers, letters and digits compared alone?"""
    plain = _plain(text)
    return any(_plain(answer) in plain for answer in answers if _plain(answer))


def _plain(text: str) -> str:
    return "".join(c for c in fold(text).text if c.isalnum())


def report(title: str, asked: Sequence[Asked], answers: Sequence[Answer]) -> None:
    """Shares over the questions that got an answer."""
    given = [(a, b) for a, b in zip(asked, answers, strict=True) if b.mode is not AnswerMode.ABSTAINED]
    cited = [[c.external_id for s in b.sentences for c in s.citations] for _, b in given]
    right = [holds(b.text, a.answers) for a, b in given]
    any_gold = [bool(a.gold & set(ids)) for (a, _), ids in zip(given, cited, strict=True)]
    precision = [np.mean([i in a.gold for i in ids]) for (a, _), ids in zip(given, cited, strict=True)]
    modes = Counter(b.mode.value for b in answers)
    print(
        f"{title}: {len(asked)} questions {dict(modes)}; of the answered: holds the gold answer {np.mean(right):.3f}, "
        f"cites a gold document {np.mean(any_gold):.3f}, citations of gold documents {np.mean(precision):.3f}; "
        f"holds it, of all {sum(right) / len(asked):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--model", type=int, default=0, metavar="N", help="ask the language model N questions a set")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    encoder: Any = Remembering(open_encoder(threads=1))
    with tempfile.TemporaryDirectory() as folder:
        benches = [
            Bench(path, Path(folder) / path.name, encoder, options.questions, options.seed) for path in options.datasets
        ]
        run(benches, encoder, options)
        for bench in benches:
            bench.searcher.close()


def run(benches: Sequence[Bench], encoder: Encoder, options: argparse.Namespace) -> None:
    scale, control = Scale(encoder), Control()
    signs: list[tuple[str, str, np.ndarray]] = []
    ranked: list[tuple[Asked, Evidence]] = []

    def weigh(name: str, kind: str, question: str, result: SearchResult) -> Evidence:
        evidence = gather(question, result.hits, encoder, control)
        signs.append((name, kind, abstain.signs(evidence, scale)))
        return evidence

    for bench in benches:
        name, asked = bench.dataset.name, bench.asked()
        report(f"{name} by quotes", asked, _ask_all(Answerer(encoder), asked))
        if options.model:
            few = asked[: options.model]
            report(f"{name} by the model", few, _ask_all(Answerer(encoder, _model()), few))
        others = [a.text for b in benches if b is not bench for a in b.asked()][: options.questions]
        luck = random.Random(options.seed)
        for one in asked:
            ranked.append((one, weigh(name, OWN, one.text, one.result)))
            weigh(name, GONE, one.text, bench.without_gold(one))
            if question := changed(one.text, luck):
                weigh(name, CHANGED, question, bench.retrieve(question))
        for question in others:
            weigh(name, OTHER, question, bench.retrieve(question))
    curve(signs)
    if options.fit:
        fit_ranking(ranked, scale)
        fit_signs(signs)


def _ask_all(answerer: Answerer, asked: Sequence[Asked]) -> list[Answer]:
    return [answerer.answer(one.text, (), one.result) for one in asked]


def _model() -> LlamaBackend:
    bundle = active(LLM)
    assert bundle is not None, "no language model is installed"
    return LlamaBackend.load(bundle)


def curve(signs: Sequence[tuple[str, str, np.ndarray]]) -> None:
    chances = [(n, k, 1 / (1 + np.exp(-(x @ abstain.WEIGHTS + abstain.BIAS)))) for n, k, x in signs]

    def share(pick: Callable[[str, str], bool], threshold: float) -> float:
        values = [c >= threshold for n, k, c in chances if pick(n, k)]
        return float(np.mean(values)) if values else float("nan")

    print("threshold  answered  false  (gold taken out)")
    for threshold in THRESHOLDS:
        own = share(lambda _, k: k == OWN, threshold)
        false = share(lambda _, k: k in (OTHER, CHANGED), threshold)
        print(f"{threshold:9.2f} {own:9.3f} {false:6.3f} {share(lambda _, k: k == GONE, threshold):8.3f}")
    print(f"by set at {abstain.THRESHOLD}:")
    for name in dict.fromkeys(n for n, _, _ in chances):
        parts = [
            f"{kind} {share(lambda n, k, a=name, b=kind: (n, k) == (a, b), abstain.THRESHOLD):.3f}"
            for kind in (OWN, OTHER, CHANGED, GONE)
        ]
        print(f"  {name}: " + ", ".join(parts))


def fit_ranking(ranked: Sequence[tuple[Asked, Evidence]], scale: Scale) -> None:
    """Listwise softmax: the sentences of gold documents that hold a gold answer against the others."""
    weights, rows = np.zeros(len(extractive.FEATURES)), []
    for asked, evidence in ranked:
        right = [s.passage.external_id in asked.gold and holds(s.text, asked.answers) for s in evidence.sentences]
        if any(right):
            rows.append((extractive.features(evidence, scale), np.array(right, float)))
    for step in range(400):
        gradient = np.zeros_like(weights)
        for features, right in rows:
            score = features @ weights
            chance = np.exp(score - score.max())
            chance /= chance.sum()
            gradient += features.T @ (chance * right / (chance @ right + 1e-9) - chance)
        weights += (6.0 if step < 200 else 2.0) * (gradient / len(rows) - 0.002 * weights)
    print("extractive:", dict(zip(extractive.FEATURES, weights.round(2).tolist(), strict=True)))


def fit_signs(signs: Sequence[tuple[str, str, np.ndarray]]) -> None:
    """Logistic regression; both classes weigh alike, questions with the gold taken out count half."""
    rows = np.array([np.append(x, 1.0) for _, _, x in signs])
    label = np.array([kind == OWN for _, kind, _ in signs], float)
    importance = np.array([0.5 if kind == GONE else 1.0 for _, kind, _ in signs])
    importance[label == 1] *= importance[label == 0].sum() / importance[label == 1].sum()
    weights = np.zeros(rows.shape[1])
    for _ in range(8000):
        error = importance * (label - 1 / (1 + np.exp(-rows @ weights))) / importance.sum()
        weights += 4.0 * (rows.T @ error - 0.0005 * np.append(weights[:-1], 0.0))
    print("abstain:", dict(zip((*abstain.SIGNS, "bias"), weights.round(2).tolist(), strict=True)))


if __name__ == "__main__":
    main()
