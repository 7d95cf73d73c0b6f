"""Adapting the query side alone: passages keep their vectors, questions learn where the library's answers lie.

Only the last layers move, taught by the ranking of the whole search (`core.train.teacher`). Nothing has to be encoded
again afterwards, so a library of any size is adapted in minutes, and taking it back costs nothing. The idea of a
frozen passage side is ADORE's (Zhan et al. 2021); listwise distillation as in SimLM (Wang et al. 2023, section 3.2),
with the teacher's temperature set so that its lists are as sharp as the student's at the start.

Shapes: B questions a batch, C passages of a lesson, P passages of the library, D dimensions, V tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.train.backbone import Backbone
from core.train.batches import length_grouped
from core.train.losses import anchor, listwise_kl
from core.train.record import data_hash
from core.train.teacher import Lesson
from core.train.types import Piece, Question

Vectors = npt.NDArray[np.float32]
Map = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]  # matrix [D, D] and shift [D]

_LAYER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")
_LEAST_IDF = 0.01
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """`layers` of the encoder are trained, the last ones. Tokens count in the mean by their idf to the power `rarity`
    (0: all alike). `temperature` is the student's; `anchor` weighs the distance to the vectors at the start."""

    questions: int = 64
    layers: int = 1
    rarity: float = 0.75
    temperature: float = 0.05
    anchor: float = 0.1
    query_tokens: int = 48


class QuerySide:
    """A `Task`. The backbone is left in evaluation mode: what little is learnt from must not be noised.

    Raises:
        ValueError: there is no lesson.
    """

    def __init__(
        self, backbone: Backbone, questions: Sequence[Question], lessons: Sequence[Lesson], ids: Sequence[int],
        passages_PD: Vectors, settings: QuerySettings, *, neutral: Map | None = None,
    ) -> None:  # fmt: skip
        """`passages_PD` are the vectors of the passages `ids` as the index compares them; `neutral` is what is done to
        a query's vector before it is compared (see `Means.query_map`)."""
        if not lessons:
            raise ValueError("nothing to learn from")
        self.backbone, self.questions, self.lessons, self.settings = backbone, questions, lessons, settings
        self.ids, self.vectors = ids, passages_PD
        places = {id: place for place, id in enumerate(ids)}
        self._places = [[places[id] for id in lesson.passages] for lesson in lessons]
        self._passages_PD = torch.from_numpy(passages_PD).to(backbone.device)
        self._neutral = (
            None if neutral is None else tuple(torch.from_numpy(p).float().to(backbone.device) for p in neutral)
        )
        self._ids = backbone.ids([questions[one.question].text for one in lessons], "query", settings.query_tokens)
        free_last(backbone, settings.layers)
        with torch.no_grad():
            first = [self.compared(self._ids[start : start + 64]) for start in range(0, len(lessons), 64)]
        self._first_LD = torch.cat(first)
        self._sharpness = self._matched()

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"backbone": self.backbone}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """Places in `lessons`, questions of like length together."""
        return length_grouped([len(own) for own in self._ids], self.settings.questions, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        self.backbone.eval()
        q_BD = self.compared([self._ids[place] for place in batch])
        student_BC, teacher_BC, none_BC = self._lists(batch, q_BD)
        weights_B = q_BD.new_tensor([self.questions[self.lessons[place].question].weight for place in batch])
        kl = listwise_kl(
            student_BC, teacher_BC, temperature=self.settings.temperature, teacher_temperature=self._sharpness,
            mask_BC=none_BC, weights_B=weights_B,
        )  # fmt: skip
        apart = anchor(q_BD, self._first_LD[list(batch)])
        loss = kl + self.settings.anchor * apart
        loss.backward()
        return {"loss": float(loss.detach()), "kl": float(kl.detach()), "anchor": float(apart.detach())}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass

    def data_hash(self) -> str:
        """Of all that a step depends on but the weights."""
        parts = [repr(sorted(asdict(self.settings).items()))]
        parts += [f"{self.questions[one.question].text}\0{one.passages}\0{one.scores}" for one in self.lessons]
        return data_hash(parts)

    def compared(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """Unit vectors [B, D] of questions as they are compared with the passages'."""
        q_BD = self.backbone.embed(ids)
        if self._neutral is None:
            return q_BD
        matrix_DD, shift_D = self._neutral
        return functional.normalize(q_BD @ matrix_DD + shift_D, dim=-1)

    def _lists(self, batch: Sequence[int], q_BD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of student and teacher [B, C], and where [B, C] a lesson has no passage."""
        width = max(len(self._places[place]) for place in batch)
        places_BC = torch.zeros(len(batch), width, dtype=torch.long)
        teacher_BC = torch.zeros(len(batch), width)
        none_BC = torch.ones(len(batch), width, dtype=torch.bool)
        for row, place in enumerate(batch):
            own = self._places[place]
            places_BC[row, : len(own)] = torch.tensor(own)
            teacher_BC[row, : len(own)] = torch.tensor(self.lessons[place].scores)
            none_BC[row, : len(own)] = False
        student_BC = (q_BD.unsqueeze(1) * self._passages_PD[places_BC.to(q_BD.device)]).sum(-1)
        return student_BC, teacher_BC.to(q_BD), none_BC.to(q_BD.device)

    def _matched(self) -> float:
        """The teacher's temperature at which its lists have the entropy that the student's have at the start."""
        parts = [
            self._entropies(range(start, min(start + 64, len(self.lessons))))
            for start in range(0, len(self.lessons), 64)
        ]
        wanted = float(torch.cat([student for student, _ in parts]).mean())
        low, high = 1e-2, 1e2
        for _ in range(_HALVINGS):
            middle = (low * high) ** 0.5
            found = float(torch.cat([_entropy(scores / middle) for _, scores in parts]).mean())
            low, high = (low, middle) if found > wanted else (middle, high)
        return (low * high) ** 0.5

    def _entropies(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Entropies [B] of the student's lists, and the teacher's scores [B, C] (-inf where there is no passage)."""
        student_BC, teacher_BC, none_BC = self._lists(batch, self._first_LD[list(batch)])
        student_BC = (student_BC / self.settings.temperature).masked_fill(none_BC, float("-inf"))
        return _entropy(student_BC), teacher_BC.masked_fill(none_BC, float("-inf"))


def _entropy(logits_BC: Tensor) -> Tensor:
    log_BC = logits_BC.log_softmax(-1)
    return -torch.where(log_BC.isfinite(), log_BC.exp() * log_BC, 0.0).sum(-1)


def free_last(backbone: Backbone, layers: int) -> None:
    """Let gradients reach the last `layers` of the model and nothing else (all of it, where it names no layers)."""
    numbers = {name: _LAYER.search(name) for name, _ in backbone.model.named_parameters()}
    known = sorted({int(found[1]) for found in numbers.values() if found})
    freed = set(known[-layers:])
    for name, parameter in backbone.named_parameters():
        found = numbers.get(name.removeprefix("model."))
        parameter.requires_grad_(not known or (found is not None and int(found[1]) in freed))


def rarities(backbone: Backbone, pieces: Sequence[Piece], power: float) -> Tensor:
    """Weights [V] of tokens in a question's mean: their idf in the library to the power `power`.

    What stands in every passage (of, the, the special tokens) says little of what is asked; a plain mean gives it as
    much weight as the rest. So does what stands before every text of a kind: tokens of prefixes weigh least.
    Source: the weighted mean of Arora, Liang & Ma 2017, with idf in place of their weight.
    """
    holding = np.zeros(len(backbone.tokens.names()))
    for ids in backbone.tokens.ids([piece.input for piece in pieces]):
        holding[np.unique(ids)] += 1
    idf = np.log((len(pieces) + 1) / (holding + 0.5))
    for ids in backbone.tokens.ids(["", *backbone.prefixes.values()]):
        idf[ids] = _LEAST_IDF
    return torch.from_numpy(np.maximum(idf, _LEAST_IDF) ** power).float()
