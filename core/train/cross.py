"""Training a cross-encoder to rank: listwise, each question's passage among what a search took for it.

Every question's loss stands for itself, so a batch is worked off a few questions at a time, each part with its own
backward pass: the gradients are those of the whole batch. Shapes: C candidates of a question, the positive first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.base.events import Control
from core.encode.encoder import FloatArray
from core.encode.pairs import Pair
from core.train.batches import length_grouped
from core.train.cross_model import CrossModel
from core.train.reduced import reduced
from core.train.types import Candidates, Piece, Question


@dataclass(frozen=True, slots=True)
class CrossSettings:
    """`questions` a batch, each with its passage and `negatives` others, about `chunk` pairs at a time.

    With `scored` above `negatives` so many negatives are scored first without a gradient, and the hardest of them are
    learnt from (SimLM's forward factor); else they are drawn by chance. `r_drop` weighs how far two passes with other
    dropout may differ; 0 makes one pass. A question that was taken out of its passage finds its words there only in a
    share of `keep_words` of the cases.
    """

    questions: int = 8
    negatives: int = 7
    scored: int = 0
    chunk: int = 32
    r_drop: float = 1.0
    keep_words: float = 0.1


def score(model: CrossModel, pairs: Sequence[tuple[str, str]], control: Control | None = None) -> FloatArray:
    """How well each passage answers its question [N], for pairs (question, what an encoder sees of the passage).

    They are logits: comparable among the passages of one question, larger is better.

    Raises:
        Cancelled: through `control`.
    """
    return model.scores(model.joined(pairs), control)


def listwise(scores_C: Tensor) -> Tensor:
    """Cross-entropy of the first of these scores among all of them. Source: SimLM section 3.2."""
    return -scores_C.log_softmax(-1)[0]


def apart(left_C: Tensor, right_C: Tensor) -> Tensor:
    """Half the symmetric KL divergence of two passes over the same candidates. Source: R-drop, Liang et al. 2021."""
    left_C, right_C = left_C.log_softmax(-1), right_C.log_softmax(-1)
    one = functional.kl_div(left_C, right_C, reduction="sum", log_target=True)
    other = functional.kl_div(right_C, left_C, reduction="sum", log_target=True)
    return (one + other) / 2


class Cross:
    """A `Task` over the questions that have candidates.

    Raises:
        ValueError: no question has candidates.
    """

    def __init__(
        self, model: CrossModel, questions: Sequence[Question], candidates: Sequence[Candidates],
        pieces: Sequence[Piece], settings: CrossSettings,
    ) -> None:  # fmt: skip
        if not candidates:
            raise ValueError("no question has candidates")
        self.model, self.settings = model, settings
        self.questions, self.candidates, self.pieces = questions, tuple(candidates), pieces
        self._by_id = {piece.id: piece for piece in pieces}
        self._question_ids = model.pairs.questions([question.text for question in questions])
        named = sorted({id for one in candidates for id in (one.positive, *one.negatives)})
        ids = model.pairs.passages([self._by_id[id].input for id in named])
        self._passage_ids = dict(zip(named, ids, strict=True))

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"cross": self.model}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """Places in `candidates`, those with passages of like length together."""
        lengths = [len(self._passage_ids[one.positive]) for one in self.candidates]
        return length_grouped(lengths, self.settings.questions, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        drawn = [self._drawn(self.candidates[place], random) for place in batch]
        weights = [self.questions[self.candidates[place].question].weight for place in batch]
        told: dict[str, float] = dict.fromkeys(("listwise", "r_drop") if self.settings.r_drop else ("listwise",), 0.0)
        total = 0.0
        for part in _parts([len(own) for own in drawn], self.settings.chunk):
            shares = [weights[at] / sum(weights) for at in part]
            loss = self._loss([drawn[at] for at in part], shares, told)
            loss.backward()
            total += float(loss.detach())
        return {"loss": total, **told}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """There is nothing beside the weights."""

    def data_hash(self) -> str:
        """Of all that a step depends on but the weights."""
        sizes = (self.model.pair_tokens, self.model.question_tokens)
        told = hashlib.sha256(repr((sorted(asdict(self.settings).items()), sizes)).encode())
        for question in self.questions:
            told.update(f"{question.text}\0{question.positive}\0{question.weight}\0".encode("utf-8", "surrogatepass"))
        for piece in self.pieces:
            told.update(f"{piece.id}\0{piece.input}\0".encode("utf-8", "surrogatepass"))
        for one in self.candidates:
            told.update(repr((one.question, one.negatives)).encode())
        return told.hexdigest()[:16]

    def _drawn(self, one: Candidates, random: np.random.Generator) -> list[Pair]:
        """The question's pairs of this step, its own passage first."""
        question = self._question_ids[one.question]
        most = max(self.settings.negatives, self.settings.scored)
        places = np.arange(len(one.negatives))
        if len(places) > most:
            places = np.sort(random.choice(places, most, replace=False))
        pairs = [self.model.pairs.joined(question, self._passage_ids[one.negatives[place]]) for place in places]
        if len(pairs) > self.settings.negatives:
            hardest = np.argsort(-self.model.scores(pairs), kind="stable")[: self.settings.negatives]
            pairs = [pairs[place] for place in hardest.tolist()]
        return [self.model.pairs.joined(question, self._positive(one, random)), *pairs]

    def _positive(self, one: Candidates, random: np.random.Generator) -> list[int]:
        if random.random() < self.settings.keep_words:
            return self._passage_ids[one.positive]
        piece = self._by_id[one.positive]
        shown = reduced(piece, [self.questions[one.question]])
        if shown is piece or not shown.text:
            return self._passage_ids[one.positive]
        return self.model.pairs.passages([shown.input])[0]

    def _loss(self, drawn: Sequence[Sequence[Pair]], shares: Sequence[float], told: dict[str, float]) -> Tensor:
        flat, sizes = [pair for own in drawn for pair in own], [len(own) for own in drawn]
        first = self.model(flat).split(sizes)
        ranked = _weighted([listwise(own_C) for own_C in first], shares)
        if not self.settings.r_drop:
            told["listwise"] += float(ranked.detach())
            return ranked
        second = self.model(flat).split(sizes)
        ranked = (ranked + _weighted([listwise(own_C) for own_C in second], shares)) / 2
        differ = _weighted([apart(*both) for both in zip(first, second, strict=True)], shares)
        told["listwise"] += float(ranked.detach())
        told["r_drop"] += float(differ.detach())
        return ranked + self.settings.r_drop * differ


def _weighted(losses: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    return torch.stack([loss * share for loss, share in zip(losses, shares, strict=True)]).sum()


def _parts(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Places of questions that go through the model together: at most `most` pairs, or one question."""
    part: list[int] = []
    count = 0
    for place, size in enumerate(sizes):
        if part and count + size > most:
            yield part
            part, count = [], 0
        part.append(place)
        count += size
    if part:
        yield part
