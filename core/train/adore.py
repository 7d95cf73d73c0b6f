"""ADORE: passages keep their vectors and the question side alone is trained, each step against what it finds just then.

No passage is encoded again, so the negatives are never stale and cost one product of matrices. Source: Zhan et al.
2021, "Optimizing Dense Retrieval Model Training with Hard Negatives", section 4.2 (with a softmax over the list that
was retrieved, or a teacher's scores, in place of its pairwise loss).

Shapes: B questions a batch, P passages of the library, K retrieved ones, C = 1 + K candidates, D dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from core.train.alike import alike, shingles
from core.train.backbone import Backbone
from core.train.batches import length_grouped
from core.train.finetune import Frozen
from core.train.gradcache import Side, cached_step
from core.train.losses import anchor, listwise_kl
from core.train.precision import FP32, Precision, autocast
from core.train.record import data_hash
from core.train.types import Piece, Question

Teacher = Mapping[int, Mapping[int, float]]  # question -> passage id -> score
_LOOKED_AT = 2  # times `retrieved` passages are looked through for those that are no answer


@dataclass(frozen=True, slots=True)
class AdoreSettings:
    """`questions` a batch, each against its positive and the `retrieved` best passages of the moment.

    With `denoise` a passage is no negative that stands in the positive's section, says nearly the same, or scored above
    `ceiling` times the positive's score by the encoder that training began with, both counted from the mean over all
    passages. `loss` "kl" follows the teacher's scores, with `contrast` times the contrastive loss beside it; `anchor`
    weighs the distance to the first vectors.
    """

    questions: int = 32
    chunk: int = 64
    retrieved: int = 50
    query_tokens: int = 48
    temperature: float = 0.05
    loss: Literal["infonce", "kl"] = "infonce"
    teacher_temperature: float = 0.3
    contrast: float = 0.1
    anchor: float = 0.0
    denoise: bool = True
    ceiling: float = 0.95


class Adore:
    """A `Task` over the questions whose passage is among `pieces`.

    `frozen` holds vectors by the encoder that training began with. A passage that `teacher` does not score gets the
    lowest score that it gave for the question; a question that it does not know takes no part in "kl".

    Raises:
        ValueError: no question has its passage there; "kl" without a teacher.
    """

    def __init__(
        self, backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], settings: AdoreSettings,
        frozen: Frozen, *, teacher: Teacher | None = None, precision: Precision = FP32,
        embed: Callable[[Sequence[Sequence[int]]], Tensor] | None = None,
    ) -> None:  # fmt: skip
        """`embed` gives unit vectors [B, D] of questions as they are compared with the passages', by default the
        backbone's own."""
        self._embed = embed or backbone.embed
        self.backbone, self.settings, self.frozen = backbone, settings, frozen
        self.questions, self.pieces, self._teacher = questions, pieces, teacher or {}
        self._precision = precision
        self._places = {piece.id: place for place, piece in enumerate(pieces)}
        self.asked = [number for number, q in enumerate(questions) if q.positive in self._places]
        if not self.asked:
            raise ValueError("no question has its passage among the pieces")
        if settings.loss == "kl" and not self._teacher:
            raise ValueError("nothing to follow: no teacher")
        self._ids = backbone.ids([q.text for q in questions], "query", settings.query_tokens)
        self._pieces_PD = torch.from_numpy(frozen.pieces).to(backbone.device)
        self._first_QD = torch.from_numpy(frozen.questions).to(backbone.device)
        self._sections: dict[tuple[int, tuple[str, ...]], list[int]] = {}
        for place, piece in enumerate(pieces):
            self._sections.setdefault((piece.group, piece.section), []).append(place)
        self._shingles: dict[int, frozenset[int]] = {}

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"backbone": self.backbone}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """Places in `asked`, questions of like length together."""
        return length_grouped([len(self._ids[number]) for number in self.asked], self.settings.questions, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        numbers = [self.asked[place] for place in batch]
        told: dict[str, float] = {}
        side: Side[list[int]] = Side([self._ids[number] for number in numbers], self._embed)
        device = self.backbone.device
        loss, _ = cached_step(
            [side], lambda q_BD: self._loss(numbers, told, q_BD), chunk=self.settings.chunk,
            autocast=lambda: autocast(device, self._precision),
        )  # fmt: skip
        return {"loss": float(loss), **told}

    def state(self) -> dict[str, Any]:
        """Nothing: the negatives are found anew in every step."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass

    def data_hash(self) -> str:
        """Of all that a step depends on but the weights."""
        parts = [repr(sorted(asdict(self.settings).items())), repr(sorted(self._teacher.items()))]
        parts += [f"{q.text}\0{q.positive}\0{q.weight}" for q in self.questions]
        parts += [f"{piece.id}\0{piece.text}\0{piece.group}\0{piece.section}" for piece in self.pieces]
        parts += [sha256(vectors.tobytes()).hexdigest() for vectors in (self.frozen.questions, self.frozen.pieces)]
        return data_hash(parts)

    def retrieved(self, numbers: Sequence[int], q_BD: Tensor) -> list[list[int]]:
        """Places of the best passages for each question by its vector of the moment, without positives and what is
        probably an answer, too; best first."""
        scores_BP = q_BD.detach() @ self._pieces_PD.T
        scores_BP.masked_fill_(self._never(numbers), float("-inf"))
        most = min(_LOOKED_AT * self.settings.retrieved, len(self.pieces))
        found_BK = scores_BP.topk(most)
        rows = zip(numbers, found_BK.indices.tolist(), found_BK.values.isfinite().sum(1).tolist(), strict=True)
        return [self._kept(number, places[:count]) for number, places, count in rows]

    def _never(self, numbers: Sequence[int]) -> Tensor:
        """[B, P]: True where a passage is the positive or, without a look at its words, probably an answer."""
        own = [self._places[self.questions[number].positive] for number in numbers]
        never_BP = torch.zeros(len(numbers), len(self.pieces), dtype=torch.bool, device=self._pieces_PD.device)
        if self.settings.denoise:
            first_BP = self._first_QD[list(numbers)] @ self._pieces_PD.T
            own_B1 = first_BP.gather(1, torch.tensor(own, device=first_BP.device).unsqueeze(1))
            mean_B1 = first_BP.mean(1, keepdim=True)  # the cosines of some encoders are all near 1
            never_BP = first_BP > own_B1 - (1 - self.settings.ceiling) * (own_B1 - mean_B1).abs()
        for row, place in enumerate(own):
            piece = self.pieces[place]
            beside = self._sections[piece.group, piece.section] if self.settings.denoise else []
            never_BP[row, [place, *beside]] = True
        return never_BP

    def _kept(self, number: int, places: Sequence[int]) -> list[int]:
        """The first `retrieved` of these that do not say nearly the same as the positive."""
        kept: list[int] = []
        own = self._places[self.questions[number].positive]
        for place in places:
            if len(kept) == self.settings.retrieved:
                break
            if not (self.settings.denoise and alike(self._words(place), self._words(own))):
                kept.append(place)
        return kept

    def _words(self, place: int) -> frozenset[int]:
        if place not in self._shingles:
            self._shingles[place] = shingles(self.pieces[place].text)
        return self._shingles[place]

    def _loss(self, numbers: Sequence[int], told: dict[str, float], q_BD: Tensor) -> Tensor:
        settings = self.settings
        lists = self.retrieved(numbers, q_BD)
        places_BC, none_BC = self._candidates(numbers, lists)
        student_BC = (q_BD.unsqueeze(1) * self._pieces_PD[places_BC].to(q_BD)).sum(-1)
        weights_B = q_BD.new_tensor([self.questions[number].weight for number in numbers])
        logits_BC = (student_BC / settings.temperature).masked_fill(none_BC, float("-inf"))
        losses_B = -logits_BC.log_softmax(-1)[:, 0]
        loss = (losses_B * weights_B).sum() / weights_B.sum()
        told["infonce"] = float(loss.detach())
        if settings.loss == "kl":
            kl = self._distilled(numbers, lists, student_BC, none_BC, weights_B)
            told["kl"] = float(kl.detach())
            loss = kl + settings.contrast * loss
        if settings.anchor:
            apart = anchor(q_BD, self._first_QD[list(numbers)].to(q_BD))
            told["anchor"] = float(apart.detach())
            loss = loss + settings.anchor * apart
        return loss

    def _candidates(self, numbers: Sequence[int], lists: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Places [B, C] of each question's positive and of what was retrieved, and where [B, C] there is none."""
        width, device = 1 + max(map(len, lists)), self._pieces_PD.device
        places_BC = torch.zeros(len(numbers), width, dtype=torch.long)
        none_BC = torch.ones(len(numbers), width, dtype=torch.bool)
        for row, (number, found) in enumerate(zip(numbers, lists, strict=True)):
            own = self._places[self.questions[number].positive]
            places_BC[row, : 1 + len(found)] = torch.tensor([own, *found])
            none_BC[row, : 1 + len(found)] = False
        return places_BC.to(device), none_BC.to(device)

    def _distilled(
        self, numbers: Sequence[int], lists: Sequence[Sequence[int]], student_BC: Tensor, none_BC: Tensor,
        weights_B: Tensor,
    ) -> Tensor:  # fmt: skip
        """Listwise KL to the teacher's scores, scaled to 0..1 over all that it scored for a question."""
        teacher_BC, taught_B = torch.zeros(none_BC.shape), torch.zeros(len(numbers))
        for row, (number, found) in enumerate(zip(numbers, lists, strict=True)):
            known = self._teacher.get(number)
            if not known:
                continue
            low, high = min(known.values()), max(known.values())
            ids = [self.questions[number].positive, *(self.pieces[place].id for place in found)]
            scaled = [(known.get(id, low) - low) / max(high - low, 1e-9) for id in ids]
            teacher_BC[row, : len(ids)] = torch.tensor(scaled)
            taught_B[row] = 1
        return listwise_kl(
            student_BC, teacher_BC.to(student_BC), temperature=self.settings.temperature,
            teacher_temperature=self.settings.teacher_temperature, mask_BC=none_BC,
            weights_B=weights_B * taught_B.to(weights_B) + 1e-9,
        )  # fmt: skip
