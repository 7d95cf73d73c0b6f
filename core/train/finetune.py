"""Fine-tuning on questions: contrastive, or by the scores of a teacher that ranks better than the encoder.

Shapes: B questions a batch, N passages of them together, C candidates a question, D dimensions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from core.train.backbone import Backbone
from core.train.batches import length_grouped
from core.train.full_contrast import full_info_nce
from core.train.gradcache import Side, cached_step
from core.train.losses import anchor, info_nce, listwise_kl
from core.train.precision import FP32, Precision, autocast
from core.train.reduced import reduced
from core.train.types import Candidates, Piece, Question

Vectors = npt.NDArray[np.float32]
Teacher = Mapping[int, Mapping[int, float]]  # question -> passage id -> score


@dataclass(frozen=True, slots=True)
class FineTuneSettings:
    """`questions` a batch, each with `negatives` passages, encoded `chunk` at a time.

    `loss` "infonce" contrasts with all passages of the batch; "kl" follows the teacher's scores of the question's own
    candidates, divided by `teacher_temperature`, with `contrast` times InfoNCE beside it. Scores are scaled to 0..1
    before unless `scaled` is False, for a teacher whose scores are log-odds. With `passage_terms` the negatives are
    held away from the positive passage, too (SimLM).
    `anchor` weighs the distance to the vectors of the encoder that training began with. With `side` "query" passages
    keep their vectors and only questions are encoded anew (ADORE's half). A question that was taken out of its passage
    finds its words there only in a share of `keep_words` of the cases.
    """

    questions: int = 32
    negatives: int = 4
    chunk: int = 32
    query_tokens: int = 48
    passage_tokens: int = 160
    temperature: float = 0.05
    loss: Literal["infonce", "kl"] = "infonce"
    teacher_temperature: float = 0.3
    contrast: float = 0.1
    anchor: float = 0.0
    side: Literal["both", "query"] = "both"
    keep_words: float = 0.1
    scaled: bool = True
    passage_terms: bool = False


@dataclass(frozen=True, slots=True)
class Frozen:
    """Unit vectors by the encoder that training began with: of all questions [Q, D], and of all pieces [P, D]."""

    questions: Vectors
    pieces: Vectors


class FineTune:
    """A `Task` over the questions that have candidates; `candidates` may be exchanged between two steps.

    `negatives` names those in use where they came from a file ("" before any exchange); a resumed run asks `recall`
    for them, which whoever exchanges them puts here.

    Raises:
        ValueError: no question has candidates; or vectors of the frozen encoder are needed and not given.
    """

    def __init__(
        self, backbone: Backbone, questions: Sequence[Question], candidates: Sequence[Candidates],
        pieces: Sequence[Piece], settings: FineTuneSettings, *, frozen: Frozen | None = None,
        precision: Precision = FP32, teacher: Teacher | None = None,
    ) -> None:  # fmt: skip
        """`teacher` goes before the scores in `candidates`, whatever these were mined by; what it did not score gets
        the lowest score that it gave for the question."""
        if frozen is None and (settings.anchor or settings.side == "query"):
            raise ValueError("an anchor and a frozen side need the vectors of the first encoder")
        self.backbone, self.settings, self.frozen = backbone, settings, frozen
        self.questions, self.pieces = questions, pieces
        self._places = {piece.id: place for place, piece in enumerate(pieces)}
        self._precision, self._teacher = precision, teacher
        self._query_ids = backbone.ids([q.text for q in questions], "query", settings.query_tokens)
        self.piece_ids = backbone.ids([piece.input for piece in pieces], max_tokens=settings.passage_tokens)
        self.negatives = ""
        self.recall: Callable[[str], Sequence[Candidates]] | None = None
        self.candidates: tuple[Candidates, ...] = ()
        self.use(candidates)

    def use(self, candidates: Sequence[Candidates], name: str = "") -> None:
        """Train against these candidates from the next step on; they must be of the same questions as those before.

        `name` goes into checkpoints.

        Raises:
            ValueError: they are empty, or of other questions.
        """
        if not candidates:
            raise ValueError("no question has candidates")
        if self.candidates and [c.question for c in candidates] != [c.question for c in self.candidates]:
            raise ValueError("candidates of other questions")
        self.candidates, self.negatives = tuple(candidates), name

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"backbone": self.backbone}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """Places in `candidates`, those with passages of like length together."""
        lengths = [len(self.piece_ids[self._places[one.positive]]) for one in self.candidates]
        made = length_grouped(lengths, self.settings.questions, rng)
        return [batch for batch in made if len(batch) > 1] or made

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        drawn = self._draw([self.candidates[place] for place in batch], random)
        told: dict[str, float] = {}
        query_ids = [self._query_ids[one.question] for one in drawn.chosen]
        sides: list[Side[list[int]]] = [Side(query_ids, self._encode, length=len)]
        if self.settings.side == "both":
            sides.append(Side(drawn.passage_ids, self._encode, length=len))
        device = self.backbone.device
        loss, _ = cached_step(
            sides, lambda *reps: self._loss(drawn, told, *reps), chunk=self.settings.chunk,
            autocast=lambda: autocast(device, self._precision),
        )  # fmt: skip
        return {"loss": float(loss), **told}

    def state(self) -> dict[str, Any]:
        return {"negatives": self.negatives}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """
        Raises:
            ValueError: the run used negatives out of a file, and nobody is here who knows it.
        """
        name = str(state.get("negatives", ""))
        if name and self.recall is None:
            raise ValueError("the negatives in use cannot be recalled")
        if name and self.recall is not None:
            self.use(self.recall(name), name)

    def data_hash(self) -> str:
        """Of all that a step depends on but the weights."""
        told = hashlib.sha256(repr(sorted(asdict(self.settings).items())).encode())
        for question in self.questions:
            told.update(f"{question.text}\0{question.positive}\0{question.weight}\0".encode("utf-8", "surrogatepass"))
        for piece in self.pieces:
            told.update(f"{piece.id}\0{piece.input}\0".encode("utf-8", "surrogatepass"))
        for one in self.candidates:
            told.update(repr((one.question, one.negatives, self._taught(one).teacher)).encode())
        return told.hexdigest()[:16]

    def _encode(self, ids: Sequence[list[int]]) -> Tensor:
        return self.backbone.embed(ids)

    def _draw(self, chosen: Sequence[Candidates], random: np.random.Generator) -> _Drawn:
        """The batch's passages: all positives, then each question's negatives, at random out of its candidates."""
        settings = self.settings
        negatives = [_some(self._taught(one), settings.negatives, random, scaled=settings.scaled) for one in chosen]
        passages = [one.positive for one in chosen] + [id for own in negatives for id in own.ids]
        places = [self._places[id] for id in passages]
        ids = [self._positive_ids(one, random) for one in chosen]
        ids += [self.piece_ids[place] for place in places[len(chosen) :]]
        return _Drawn(list(chosen), negatives, places, ids)

    def _taught(self, one: Candidates) -> Candidates:
        if self._teacher is None:
            return one
        known = self._teacher.get(one.question)
        if not known:
            return replace(one, teacher=())
        low = min(known.values())
        return replace(one, teacher=tuple(known.get(id, low) for id in (one.positive, *one.negatives)))

    def _positive_ids(self, one: Candidates, random: np.random.Generator) -> list[int]:
        place = self._places[one.positive]
        if random.random() < self.settings.keep_words:
            return self.piece_ids[place]
        piece = self.pieces[place]
        shown = reduced(piece, [self.questions[one.question]])
        if shown is piece or not shown.text:
            return self.piece_ids[place]
        return self.backbone.ids([shown.input], max_tokens=self.settings.passage_tokens)[0]

    def _loss(self, drawn: _Drawn, told: dict[str, float], q_BD: Tensor, p_ND: Tensor | None = None) -> Tensor:
        settings = self.settings
        if p_ND is None:
            assert self.frozen is not None
            p_ND = torch.from_numpy(self.frozen.pieces[drawn.places]).to(q_BD)
        weights_B = q_BD.new_tensor([self.questions[one.question].weight for one in drawn.chosen])
        own_B = torch.arange(len(drawn.chosen), device=q_BD.device)
        mask_BN = torch.from_numpy(self._not_negative(drawn)).to(q_BD.device)
        contrast = full_info_nce if settings.passage_terms else info_nce
        loss = contrast(q_BD, p_ND, own_B, settings.temperature, mask_BN=mask_BN, weights_B=weights_B)
        told["infonce"] = float(loss.detach())
        if settings.loss == "kl":
            kl = self._distilled(drawn, q_BD, p_ND, weights_B)
            told["kl"] = float(kl.detach())
            loss = kl + settings.contrast * loss
        if settings.anchor:
            apart = self._apart(drawn, q_BD, p_ND)
            told["anchor"] = float(apart.detach())
            loss = loss + settings.anchor * apart
        return loss

    def _not_negative(self, drawn: _Drawn) -> npt.NDArray[np.bool_]:
        """[B, N]: where a passage is the question's own, or of its section: nobody can say that it is wrong."""
        passages = [self.pieces[place] for place in drawn.places]
        mask = np.zeros((len(drawn.chosen), len(passages)), bool)
        for row, one in enumerate(drawn.chosen):
            own = self.pieces[self._places[one.positive]]
            mask[row] = [p.id == own.id or (p.group, p.section) == (own.group, own.section) for p in passages]
        return mask

    def _distilled(self, drawn: _Drawn, q_BD: Tensor, p_ND: Tensor, weights_B: Tensor) -> Tensor:
        """Listwise KL over each question's own candidates; those without a teacher take no part."""
        longest = 1 + max(len(own.ids) for own in drawn.negatives)
        places_BC = torch.zeros(len(drawn.chosen), longest, dtype=torch.long)
        teacher_BC = torch.zeros(len(drawn.chosen), longest)
        none_BC = torch.ones(len(drawn.chosen), longest, dtype=torch.bool)
        taught_B = torch.zeros(len(drawn.chosen))
        column = len(drawn.chosen)
        for row, own in enumerate(drawn.negatives):
            places_BC[row, : 1 + len(own.ids)] = torch.tensor([row, *range(column, column + len(own.ids))])
            column += len(own.ids)
            none_BC[row, : 1 + len(own.ids)] = False
            if own.teacher:
                teacher_BC[row, : len(own.teacher)] = torch.tensor(own.teacher)
                taught_B[row] = 1
        places_BC, teacher_BC, none_BC, taught_B = (
            t.to(q_BD.device) for t in (places_BC, teacher_BC, none_BC, taught_B)
        )
        student_BC = (q_BD.unsqueeze(1) * p_ND[places_BC]).sum(-1)
        return listwise_kl(
            student_BC, teacher_BC, temperature=self.settings.temperature,
            teacher_temperature=self.settings.teacher_temperature, mask_BC=none_BC,
            weights_B=weights_B * taught_B + 1e-9,
        )  # fmt: skip

    def _apart(self, drawn: _Drawn, q_BD: Tensor, p_ND: Tensor) -> Tensor:
        """Distance to the first encoder's vectors, of the trained sides."""
        assert self.frozen is not None
        first_BD = torch.from_numpy(self.frozen.questions[[one.question for one in drawn.chosen]]).to(q_BD)
        apart = anchor(q_BD, first_BD)
        if self.settings.side == "query":
            return apart
        first_ND = torch.from_numpy(self.frozen.pieces[drawn.places]).to(p_ND)
        return (apart + anchor(p_ND, first_ND)) / 2


@dataclass(frozen=True, slots=True)
class _Own:
    """A question's negatives in this batch, and the teacher's scores of its positive and of them."""

    ids: list[int]
    teacher: list[float]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A batch: `places` of its passages among the pieces and their token ids, positives first."""

    chosen: list[Candidates]
    negatives: list[_Own]
    places: list[int]
    passage_ids: list[list[int]]


def _some(one: Candidates, count: int, random: np.random.Generator, *, scaled: bool) -> _Own:
    """At most `count` of a question's negatives; where `scaled`, the teacher's scores are, over all its candidates."""
    places = np.arange(len(one.negatives))
    if len(places) > count:
        places = np.sort(random.choice(places, count, replace=False))
    teacher: list[float] = []
    if one.teacher:
        scores = np.asarray(one.teacher, np.float64)
        if scaled:
            scores = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
        teacher = [float(scores[0]), *scores[1 + places].tolist()]
    return _Own([one.negatives[place] for place in places.tolist()], teacher)
