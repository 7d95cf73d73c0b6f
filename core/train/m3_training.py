"""A run of training token heads: what they begin with, the stages, and where token states are kept.

Shapes: K tokens of many texts, D width of the states, V terms that texts are expanded by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.base.events import Control, Listener, ignore
from core.encode.encoder import PASSAGE, QUERY
from core.encode.heads import read_heads
from core.encode.padding import pad
from core.train.backbone import Backbone
from core.train.bundle import weights_hash
from core.train.finetune import Frozen
from core.train.kept_states import KeptStates
from core.train.loop import Callback, Settings, train
from core.train.m3 import HEADS, M3, M3Settings, _Text
from core.train.m3_heads import Expander, M3Heads
from core.train.m3_losses import NO_TERM
from core.train.m3_recipe import MOST_BYTES
from core.train.record import Record
from core.train.token_marks import TokenMarks
from core.train.types import Candidates, Piece, Question

_WARM, _EXPANSION, _MAIN, _STATES = "warm-up", "expansion", "main", "states"
_GUESSED = 512  # tokens a warm-up step of the expansion


class _Guess(M3):
    """The expansion's layer alone: each token's own term must be read out of its state."""

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        assert self.heads.expander is not None
        return {"expander": self.heads.expander}

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        assert self.heads.expander is not None
        passages = self._texts([self.piece_ids[self._places[self.candidates[p].positive]] for p in batch], PASSAGE)
        states_KD, terms_K = self._own(passages, self.heads.expander.ids_V)
        drawn_K = torch.randperm(len(terms_K))[:_GUESSED].to(terms_K.device)
        loss = functional.cross_entropy(self.heads.expander.scores(states_KD[drawn_K]), terms_K[drawn_K])
        loss.backward()
        return {"loss": float(loss.detach())}

    def _own(self, texts: Sequence[_Text], ids_V: Tensor) -> tuple[Tensor, Tensor]:
        """States [K, D] of the texts' own tokens, and the places of their terms among `ids_V` (ascending) [K]."""
        with torch.no_grad():
            states_BTD, _ = self._states(texts)
        terms_BT = torch.from_numpy(pad([[t + 1 for t in text.terms] for text in texts], 0)[0] - 1).to(ids_V.device)
        places_BT = torch.searchsorted(ids_V, terms_BT).clamp(max=len(ids_V) - 1)
        there_BT = ids_V[places_BT] == terms_BT
        return states_BTD[there_BT], places_BT[there_BT]


def _expander(
    backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], settings: M3Settings
) -> Expander | None:
    """An expansion by all terms that the library or a question says: others could match nothing."""
    if not settings.heads.expansion:
        return None
    marks = TokenMarks(backbone.tokens, backbone.prefixes)
    rows = backbone.ids([piece.input for piece in pieces]) + backbone.ids([q.text for q in questions], QUERY)
    ids = sorted({marks.term(id) for id in {id for row in rows for id in row}} - {NO_TERM})
    model: Any = backbone.model
    table_VD = model.get_input_embeddings().weight.detach()
    chosen_V = torch.tensor(ids, device=table_VD.device)
    return Expander(table_VD[chosen_V], chosen_V)


def _fresh(backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], settings: M3Settings) -> M3Heads:
    model: Any = backbone.model
    expander = _expander(backbone, questions, pieces, settings)
    return M3Heads(int(model.config.hidden_size), settings.heads, expander).to(backbone.device)


@dataclass(frozen=True, slots=True)
class Trained:
    """The heads, and the record of their training (`active`, the terms of a passage with a weight, is in its curve)."""

    heads: M3Heads
    record: Record


def train_m3(
    backbone: Backbone, questions: Sequence[Question], candidates: Sequence[Candidates], pieces: Sequence[Piece],
    settings: M3Settings, training: Settings, folder: Path, *, frozen: Frozen | None = None,
    states: Path | None = None, most_bytes: int = MOST_BYTES, control: Control | None = None,
    listener: Listener = ignore, callbacks: Sequence[Callback] = (),
) -> Trained:  # fmt: skip
    """Train heads on `backbone`, which changes only with `all_weights`. Resumes by itself from what lies in `folder`.

    `frozen` is needed where the batch has an anchor. `states` is where the token states of the held encoder are kept,
    by default in `folder`; at most `most_bytes` of them.

    Raises:
        ValueError: no question has candidates.
        KnownError: the lexical head fell silent; and, with Cancelled and DiskFull, see `core.train.loop.train`.
    """
    torch.manual_seed(training.seed)  # fresh layers are the same in every run of these settings
    heads = _fresh(backbone, questions, pieces, settings)
    key = weights_hash(backbone.weights())[:16]

    def task(kind: type[M3], kept: KeptStates | None) -> M3:
        return kind(
            backbone, heads, questions, candidates, pieces, settings, frozen=frozen, precision=training.precision,
            kept=kept,
        )  # fmt: skip

    def run(task: M3, training: Settings, name: str, told: Sequence[Callback] = ()) -> Record:
        return train(task, training, folder / name, control, listener, told, data_hash=task.data_hash(), stage=HEADS)

    warm = Settings(settings.warmup_steps, settings.warmup_rate, seed=training.seed)
    with KeptStates(backbone, states or folder / _STATES, key, most_bytes) as kept:
        held = task(M3, kept)
        sample_KD = held.sample()
        heads.begin(sample_KD)
        heads.take_over(read_heads(backbone.bundle))
        if heads.expander is not None:
            run(task(_Guess, kept), warm, _EXPANSION)
            heads.expander.settle(sample_KD[:_GUESSED], settings.active)
        if not settings.all_weights:
            return Trained(heads, run(held, training, _MAIN, callbacks))
        run(held, warm, _WARM)
    return Trained(heads, run(task(M3, None), training, _MAIN, callbacks))
