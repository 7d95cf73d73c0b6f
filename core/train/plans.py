"""Ways to pre-train an encoder on a library, by name: what is hidden, who guesses it, and from what. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.base.errors import KnownError

COCONDENSER, CONDENSER, SIMLM, RETROMAE = "cocondenser", "condenser", "simlm", "retromae"
MLM, ENCDEC_MLM, RTD, AUTO_ENCODER = "mlm", "encdec-mlm", "rtd", "auto-encoder"

Hiding = Literal["words", "tokens"]
Filling = Literal["mask", "generator"]
Asked = Literal["tokens", "swapped"]
Decoder = Literal["none", "plain", "enhanced"]


@dataclass(frozen=True, slots=True)
class Plan:
    """`encoder` and `decoder` are the shares of a text's tokens that are hidden from each; what is hidden from the
    encoder is hidden from the decoder, too.

    `hiding` "words" takes whole words in BERT's manner for the encoder alone. What is hidden is shown as the mask, or,
    with `filling` "generator", as what a small language model would put there. Asked are the tokens that stood there,
    or for each token whether it was swapped; in all places or, with `everywhere` False, in hidden ones only.
    """

    encoder: float
    decoder: float = 0.0
    hiding: Hiding = "tokens"
    filling: Filling = "mask"
    asked: Asked = "tokens"
    reads: Decoder = "plain"
    everywhere: bool = True


@dataclass(frozen=True, slots=True)
class Objective:
    """`plan` is None where spans of documents are contrasted (`core.train.pretrain`). `paper` is MRR@10 on MS MARCO
    after the first fine-tuning, by the table of SimLM's authors (None where they did not try it)."""

    about: str
    source: str
    plan: Plan | None = None
    paper: float | None = None


_SIMLM: Final = "Wang et al. 2023, SimLM"

OBJECTIVES: Final[Mapping[str, Objective]] = {
    COCONDENSER: Objective(
        "Hidden words are guessed through the text's vector, and parts of one document are brought together.",
        "Gao & Callan 2022, coCondenser",
    ),
    CONDENSER: Objective(
        "Hidden words are guessed through the text's vector.", "Gao & Callan 2021, Condenser", paper=36.9
    ),
    SIMLM: Objective(
        "Words are swapped for likely ones; encoder and a small decoder behind the text's vector restore them.",
        _SIMLM, Plan(0.3, 0.5, filling="generator"), 38.0,
    ),
    RETROMAE: Objective(
        "A decoder of one layer restores the whole text from its vector and half of its words.",
        "Xiao et al. 2022, RetroMAE", Plan(0.3, hiding="words", reads="enhanced"),
    ),
    MLM: Objective(
        "Hidden words are guessed from the words around them.",
        "Devlin et al. 2019, BERT", Plan(0.15, hiding="words", reads="none", everywhere=False), 36.7,
    ),
    ENCDEC_MLM: Objective(
        "As simlm, with masks in place of likely words, and only hidden words guessed.",
        _SIMLM, Plan(0.3, 0.5, everywhere=False), 37.7,
    ),
    RTD: Objective(
        "As simlm, but only which words were swapped is asked.",
        f"Clark et al. 2020, ELECTRA; {_SIMLM}", Plan(0.3, 0.5, filling="generator", asked="swapped"), 36.2,
    ),
    AUTO_ENCODER: Objective(
        "The whole text is restored from its vector alone.", _SIMLM, Plan(0.0, 1.0), 32.8
    ),
}  # fmt: skip


def named(name: str) -> Objective:
    """
    Raises:
        KnownError: there is no such objective.
    """
    if name not in OBJECTIVES:
        raise KnownError(f"There is no pre-training {name!r}.", f"Choose among {', '.join(OBJECTIVES)}.")
    return OBJECTIVES[name]
