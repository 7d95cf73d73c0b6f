"""What a reranker's folder says about it: transformers' models for sequence classification with one score."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.base.errors import KnownError, ModelDamaged
from core.models.bundles import RERANKER
from core.models.layout import AGAIN, card_licence, first, settings, window

KIND = "ForSequenceClassification"  # ends the names of such architectures
PAIR_TOKENS = 192  # that a downloaded one reads in a search: as SimLM's reranker does (section 4.1)
QUESTION_TOKENS = 64
_FILES = ("config.json", "tokenizer.json")
_WEIGHTS, _PICKLE = "model.safetensors", "pytorch_model.bin"


def is_reranker(config: Mapping[str, Any]) -> bool:
    """Whether a `config.json` is that of a model which gives a text (or a pair of them) scores."""
    named = config.get("architectures") or ()
    return isinstance(named, list) and any(str(name).endswith(KIND) for name in named)


def describe_reranker(path: Path, name: str = "") -> tuple[dict[str, Any], dict[str, Path]]:
    """Config (without an id) and files {name in the bundle: path} of the folder of a reranker.

    Raises:
        ModelDamaged: a file of settings cannot be read.
        KnownError: a file is missing, or it gives more than one score.
    """
    missing = [file for file in _FILES if not (path / file).is_file()]
    if missing:
        raise KnownError(f"{path} is not a reranker: {', '.join(missing)} is missing.", "Choose another folder.")
    model = settings(path / "config.json")
    labels = model.get("id2label") or {}
    if len(labels) > 1 or int(model.get("num_labels") or 1) > 1:
        raise KnownError(f"{name or path.name} sorts texts into classes: it is no reranker.", "Choose another model.")
    try:
        longest = min(PAIR_TOKENS, window(path, model)["max_tokens"])
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ModelDamaged(f"The settings of {path} are not those of a reranker: {error}.", AGAIN) from error
    config = {
        "kind": RERANKER, "pair_tokens": longest, "question_tokens": min(QUESTION_TOKENS, longest // 2),
        "source": name or path.resolve().name, "licence": card_licence(path / "README.md"),
    }  # fmt: skip
    files = {file: path / file for file in _FILES}
    return config, files | first(path, ((_WEIGHTS, _WEIGHTS), (_PICKLE, _PICKLE)))
