"""Training the heads of M3-Embedding on questions: a lexical and a multi-vector one beside the dense vector.

Each head is trained contrastively, and all of them follow what they know together. By default the encoder is held and
its token states are kept, so that an epoch costs minutes; or all weights are trained, held near where they were by an
anchor. Long passages are encoded a few at a time, whatever the batch (split-batch, section 3.4): that is GradCache.

Shapes: B questions a batch, N passages of them together, T tokens, D dimensions of a vector, M of a token vector, V
terms that texts are expanded by.
Source: Chen et al. 2024, "BGE M3-Embedding".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.base.errors import KnownError
from core.base.types import DENSE, LEXICAL, MULTI
from core.encode.encoder import PASSAGE, QUERY
from core.train.backbone import Backbone
from core.train.finetune import FineTune, FineTuneSettings, Frozen, _Drawn
from core.train.gradcache import Side, cached_step
from core.train.kept_states import KeptStates
from core.train.m3_heads import HeadSettings, M3Heads
from core.train.m3_losses import NO_TERM, flops, lexical_scores, max_sim, self_knowledge
from core.train.precision import FP32, Precision, autocast
from core.train.record import data_hash
from core.train.token_marks import TokenMarks
from core.train.types import Candidates, Piece, Question

HEADS = "heads"
SILENT_STEPS = 20
_LEAST_ALIVE = 0.01  # of a passage's own tokens (or one term of an expansion), below which the head is silent
_SAMPLE = 256  # passages whose tokens the heads begin with
_SPREAD = 1 << 20
_AT_ONCE = 64  # passages that are scored


@dataclass(frozen=True, slots=True)
class M3Settings:
    """`batch` says which questions and passages make a step; without `distil` the heads do not follow what they know
    together. With `all_weights` the encoder learns as well, after `warmup_steps` of the heads alone; an expansion has
    as many steps of its layer alone. `split_tokens` are encoded at once.

    The weights of an expansion cost `query_flops` and `passage_flops` times their FLOPS, rising to it quadratically
    over `flops_ramp` steps (SPLADE, section 4); `active` terms are raised by a token at first.
    """

    batch: FineTuneSettings = field(default_factory=lambda: FineTuneSettings(temperature=0.02))
    heads: HeadSettings = field(default_factory=HeadSettings)
    distil: bool = True
    all_weights: bool = False
    warmup_steps: int = 100
    warmup_rate: float = 1e-3
    split_tokens: int = 8192
    query_flops: float = 3e-2
    passage_flops: float = 1e-2
    flops_ramp: int = 100
    active: float = 4.0


@dataclass(frozen=True, slots=True)
class _Text:
    """One input: its token ids, which of them are its own, and the terms of those."""

    ids: list[int]
    own: list[bool]
    terms: list[int]


@dataclass(frozen=True, slots=True)
class _Made:
    """What the heads make of the texts of a side; `weights` are those of tokens [B, T] or of the terms of an expansion
    [B, V]."""

    dense_BD: Tensor
    weights: Tensor
    vectors_BTM: Tensor
    own_BT: Tensor
    terms_BT: Tensor


class M3(FineTune):
    """A `Task`: heads on an encoder that is held (`kept` gives its states), or heads and encoder together."""

    def __init__(
        self, backbone: Backbone, heads: M3Heads, questions: Sequence[Question], candidates: Sequence[Candidates],
        pieces: Sequence[Piece], settings: M3Settings, *, frozen: Frozen | None = None, precision: Precision = FP32,
        kept: KeptStates | None = None,
    ) -> None:  # fmt: skip
        """Without `kept` the encoder is trained, too."""
        super().__init__(
            backbone, questions, candidates, pieces, settings.batch, frozen=frozen, precision=precision
        )  # fmt: skip
        self.heads, self.m3, self._kept = heads, settings, kept
        self._marks = TokenMarks(backbone.tokens, backbone.prefixes)
        self._steps, self._silent = 0, 0

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {HEADS: self.heads} if self._kept is not None else {HEADS: self.heads, "backbone": self.backbone}

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        drawn = self._draw([self.candidates[place] for place in batch], random)
        queries = self._texts([self._query_ids[one.question] for one in drawn.chosen], QUERY)
        passages = self._texts(drawn.passage_ids, PASSAGE)
        sides = [self._side(queries), self._side(passages)]
        chunk = max(1, self.m3.split_tokens // max(len(text.ids) for text in passages))
        told: dict[str, float] = {}
        loss, _ = cached_step(
            sides,
            lambda q, p: self._loss_of(drawn, self._unpacked(q, queries), self._unpacked(p, passages), told),
            chunk=chunk, kept=1 if self._kept is None or self.heads.expander else len(queries) + len(passages),
            autocast=lambda: autocast(self.backbone.device, self._precision),
        )  # fmt: skip
        self._listen(told)
        self._steps += 1
        return {"loss": float(loss), **told}

    def state(self) -> dict[str, Any]:
        if self._kept is not None:
            self._kept.flush()
        return {**super().state(), "steps": self._steps, "silent": self._silent}

    def load_state(self, state: Mapping[str, Any]) -> None:
        super().load_state(state)
        self._steps, self._silent = int(state["steps"]), int(state["silent"])

    def data_hash(self) -> str:
        return data_hash([super().data_hash(), repr(sorted(asdict(self.m3).items()))])

    def scores(self, queries: Sequence[str], passages: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Scores [B, N] by head of any queries and encoder inputs of passages, without a graph."""
        with torch.no_grad():
            asked = self._made(self.backbone.ids(queries, QUERY, self.settings.query_tokens), QUERY)
            ids = self.backbone.ids(passages, max_tokens=self.settings.passage_tokens)
            parts = [
                self._scores(asked, self._made(ids[n : n + _AT_ONCE], PASSAGE)) for n in range(0, len(ids), _AT_ONCE)
            ]
        return {head: torch.cat([part[head] for part in parts], dim=1).cpu().numpy() for head in parts[0]}

    def _made(self, ids: Sequence[Sequence[int]], kind: str) -> _Made:
        texts = self._texts(ids, kind)
        return self._unpacked(self._packed(texts, max(len(text.ids) for text in texts)), texts)

    def sample(self) -> Tensor:
        """States [K, D] of the own tokens of some passages, spread over those that are trained on."""
        places = [self._places[one.positive] for one in self.candidates[:: -(-len(self.candidates) // _SAMPLE)]]
        texts = self._texts([self.piece_ids[place] for place in places], PASSAGE)
        with torch.no_grad():
            found = []
            for text in texts:
                states_1TD, _ = self._states([text])
                found.append(states_1TD[0, torch.tensor(text.own, device=states_1TD.device)])
        return torch.cat(found)

    def _texts(self, ids: Sequence[Sequence[int]], kind: str) -> list[_Text]:
        owned = [(list(row), self._marks.own(row, kind)) for row in ids]
        return [_Text(row, own, self._marks.terms(row, own)) for row, own in owned]

    def _side(self, texts: Sequence[_Text]) -> Side[_Text]:
        longest = max(len(text.ids) for text in texts)
        return Side(texts, lambda some: self._packed(some, longest), length=lambda text: len(text.ids))

    def _packed(self, texts: Sequence[_Text], longest: int) -> Tensor:
        """All that the heads make of some texts, one row each [n, D + T + T * M] (or V for the first T)."""
        states_BTD, shares_BT = self._states(texts)
        dense_BD = self.backbone.unit(states_BTD, shares_BT)
        room = (0, longest - states_BTD.shape[1])
        if self.heads.expander is not None:
            own_BT = _marks([text.own for text in texts], states_BTD.shape[1], states_BTD.device)
            weights = self.heads.expander(states_BTD, own_BT)
        else:
            weights = functional.pad(self.heads.token_weights(states_BTD), room)
        vectors_BTM = functional.pad(self.heads.token_vectors(states_BTD), (0, 0, *room))
        return torch.cat([dense_BD, weights.float(), vectors_BTM.float().flatten(1)], dim=1)

    def _states(self, texts: Sequence[_Text]) -> tuple[Tensor, Tensor]:
        """Token states [n, T, D] and how much each token counts in the mean [n, T]."""
        ids = [text.ids for text in texts]
        ids_BT, mask_BT = self.backbone.padded(ids)
        shares_BT = self.backbone.shares(ids_BT, mask_BT)
        if self._kept is not None:
            return self._kept.padded(ids), shares_BT
        return self.backbone.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state, shares_BT

    def _unpacked(self, rows: Tensor, texts: Sequence[_Text]) -> _Made:
        longest, dimension = max(len(text.ids) for text in texts), self.backbone.dimension
        wide = longest if self.heads.expander is None else len(self.heads.expander.ids_V)
        dense_BD, weights, flat = rows.split([dimension, wide, rows.shape[1] - dimension - wide], dim=1)
        terms_BT = torch.full((len(texts), longest), NO_TERM, dtype=torch.long)
        for row, text in zip(terms_BT, texts, strict=True):
            row[: len(text.terms)] = torch.tensor(text.terms)
        own_BT = _marks([text.own for text in texts], longest, rows.device)
        return _Made(dense_BD, weights, flat.unflatten(1, (longest, -1)), own_BT, terms_BT.to(rows.device))

    def _loss_of(self, drawn: _Drawn, queries: _Made, passages: _Made, told: dict[str, float]) -> Tensor:
        weights_B = queries.dense_BD.new_tensor([self.questions[one.question].weight for one in drawn.chosen])
        mask_BN = torch.from_numpy(self._not_negative(drawn)).to(weights_B.device)
        scores = self._scores(queries, passages)
        loss, parts = self_knowledge(
            scores, torch.arange(len(drawn.chosen), device=weights_B.device), self.settings.temperature,
            distil=self.m3.distil, mask_BN=mask_BN, weights_B=weights_B,
        )  # fmt: skip
        told |= parts | self._alive(passages)
        if self.heads.expander is not None:
            ramp = min(1.0, (self._steps + 1) / max(1, self.m3.flops_ramp)) ** 2
            cost = self.m3.query_flops * flops(queries.weights) + self.m3.passage_flops * flops(passages.weights)
            told["flops"] = float(cost.detach())
            loss = loss + ramp * cost
        if self._kept is None and self.settings.anchor:
            apart = self._apart(drawn, queries.dense_BD, passages.dense_BD)
            told["anchor"] = float(apart.detach())
            loss = loss + self.settings.anchor * apart
        return loss

    def _scores(self, queries: _Made, passages: _Made) -> dict[str, Tensor]:
        """Scores [B, N] by head."""
        if self.heads.expander is None:
            lexical_BN = lexical_scores(queries.terms_BT, queries.weights, passages.terms_BT, passages.weights)
        else:
            lexical_BN = queries.weights @ passages.weights.T
        multi_BN = max_sim(queries.vectors_BTM, queries.own_BT, passages.vectors_BTM, passages.own_BT)
        return {DENSE: queries.dense_BD @ passages.dense_BD.T, LEXICAL: lexical_BN, MULTI: multi_BN}

    def _alive(self, passages: _Made) -> dict[str, float]:
        """How many terms of a passage have a weight in the mean, and the share of its own tokens that have one."""
        there = passages.weights.detach() > 0
        if self.heads.expander is not None:
            active = float(there.sum(1).float().mean())
            return {"active": active, "alive": min(1.0, active * _LEAST_ALIVE)}
        rows, columns = torch.nonzero(there & (passages.terms_BT != NO_TERM), as_tuple=True)
        active = len((rows * _SPREAD + passages.terms_BT[rows, columns]).unique()) / len(there)
        return {"active": active, "alive": len(rows) / max(1, int((passages.terms_BT != NO_TERM).sum()))}

    def _listen(self, told: Mapping[str, float]) -> None:
        """Raises KnownError when the lexical head has been silent for long."""
        self._silent = self._silent + 1 if told["alive"] < _LEAST_ALIVE else 0
        if self._silent >= SILENT_STEPS:
            raise KnownError(
                f"The lexical head has fallen silent: for {SILENT_STEPS} steps it gave fewer than one of a hundred "
                "tokens a weight, and such a head does not recover.",
                "Use a lower learning rate; let the heads learn from each other from the first step on.",
            )


def _marks(own: Sequence[Sequence[bool]], longest: int, device: torch.device) -> Tensor:
    """Marks [B, T] of texts, False where they are shorter."""
    marks_BT = torch.zeros(len(own), longest, dtype=torch.bool)
    for row, mine in zip(marks_BT, own, strict=True):
        row[: len(mine)] = torch.tensor(mine, dtype=torch.bool)
    return marks_BT.to(device)
