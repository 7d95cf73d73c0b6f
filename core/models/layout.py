"""What an encoder's folder says about it: sentence-transformers, BAAI/bge-m3 and plain transformers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.base.errors import KnownError, ModelDamaged
from core.base.files import read_json
from core.models.bundles import ENCODER

# names in a bundle; a pickle becomes safetensors when it is installed
WEIGHTS, PICKLE = "model.safetensors", "pytorch_model.bin"
DENSE_WEIGHTS, DENSE_PICKLE = "dense.safetensors", "dense.bin"
LEXICAL_PICKLE, MULTI_PICKLE = "sparse_linear.pt", "colbert_linear.pt"  # of bge-m3

_INSTRUCTION = "Represent this sentence for searching relevant passages: "
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
# prefixes (query, passage) that a model was trained with though its folder does not tell, by its name
_TRAINED_WITH = (
    (re.compile(r"(^|[-_/])e5([-_].*)?-instruct", re.I), (_TASK, "")),
    (re.compile(r"(^|[-_/])e5([-_.]|$)", re.I), ("query: ", "passage: ")),
    (re.compile(r"(^|[-_/])bge-(small|base|large)-en", re.I), (_INSTRUCTION, "")),
    (re.compile(r"(^|[-_/])bge-(small|base|large)-zh", re.I), ("为这个句子生成表示以用于检索相关文章：", "")),
)
_CLS_NAME = re.compile(r"(^|[-_/])bge-", re.I)
_POOLING_FLAG = re.compile(r"pooling_mode_(\w+?)(_tokens?)?")
# divided by the root of the length instead of the length: the same direction
_POOLINGS = {"cls": "cls", "mean": "mean", "mean_sqrt_len": "mean"}
_LEAST_TOKENS = 3  # with special tokens
AGAIN = "Fetch the model again."
_LICENCE = re.compile(r"^licen[sc]e:\s*[\"']?([\w.+-]+)", re.M)


def describe_encoder(path: Path, name: str = "") -> tuple[dict[str, Any], dict[str, Path]]:
    """Config (without an id) and files {name in the bundle: path} of the folder of an encoder.

    `name` is what the model is called where it comes from ("intfloat/e5-small"), by default as the folder: prefixes and
    pooling that the folder does not tell follow from it.

    Raises:
        ModelDamaged: a file of settings cannot be read.
        KnownError: a file is missing, or the model is built in a way that is not supported.
    """
    try:
        return _described(path, name)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ModelDamaged(f"The settings of {path} are not those of an encoder: {error}.", AGAIN) from error


def _described(path: Path, name: str) -> tuple[dict[str, Any], dict[str, Path]]:
    modules = _modules(path)
    base = path / modules.get("Transformer", "")
    files = _files(path, base)
    model = settings(base / "config.json")
    names = (name, path.resolve().name, str(model.get("_name_or_path", "")))
    prefixes = _prefixes(path, names)
    config = {
        "kind": ENCODER, "pooling": _pooling(path / modules.get("Pooling", "1_Pooling"), names),
        "dimension": int(model.get("hidden_size", 0)), **window(base, model), "prefixes": prefixes,
        "source": name or path.resolve().name, "licence": card_licence(path / "README.md"),
    }  # fmt: skip
    if "Dense" in modules:
        folder = path / modules["Dense"]
        dense = settings(folder / "config.json")
        config |= {"dimension": int(dense.get("out_features", 0)), "dense_activation": _activation(dense)}
        files |= first(folder, ((DENSE_WEIGHTS, WEIGHTS), (DENSE_PICKLE, PICKLE)))
    _check_prompt(path / modules.get("Pooling", "1_Pooling"), prefixes)
    return config, files


def _modules(path: Path) -> dict[str, str]:
    """Kind -> folder of the modules that a sentence-transformers folder names; none for another folder."""
    listed = _json_list(path / "modules.json")
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in listed]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Dense", "Normalize", "Dropout")]
    if unknown or len(set(kinds)) != len(kinds):
        what = f"{path.name} is built of {', '.join(kinds)}, which is not supported."
        raise KnownError(what, "Choose an encoder of a transformer, a pooling and at most one dense layer.")
    return {kind: str(module.get("path", "")) for kind, module in zip(kinds, listed, strict=True)}


def _files(path: Path, base: Path) -> dict[str, Path]:
    missing = [name for name in ("config.json", "tokenizer.json") if not (base / name).is_file()]
    if missing:
        raise KnownError(f"{path} is not an encoder: {', '.join(missing)} is missing.", "Choose another folder.")
    files = {name: base / name for name in ("config.json", "tokenizer.json")}
    files |= first(base, ((WEIGHTS, WEIGHTS), (PICKLE, PICKLE)))
    return files | {name: path / name for name in (LEXICAL_PICKLE, MULTI_PICKLE) if (path / name).is_file()}


def first(folder: Path, choices: Iterable[tuple[str, str]]) -> dict[str, Path]:
    """The first of the files that is there, by its name in the bundle."""
    choices = tuple(choices)
    for name, file in choices:
        if (folder / file).is_file():
            return {name: folder / file}
    raise KnownError(f"{folder} is not an encoder: {choices[0][1]} is missing.", "Choose another folder.")


def window(base: Path, model: Mapping[str, Any]) -> dict[str, int]:
    """The longest input that the model was made for, and what its position table holds."""
    positions = int(model.get("max_position_embeddings", 512))
    if model.get("model_type") != "bert":
        positions -= 2  # the RoBERTa family counts positions from 2
    told = settings(base / "sentence_bert_config.json").get("max_seq_length")
    told = told or settings(base / "tokenizer_config.json").get("model_max_length") or positions
    most = min(int(told), positions)
    if most < _LEAST_TOKENS:
        raise ValueError(f"its longest text has {most} tokens")
    return {"max_tokens": most, "positions": positions}


def _pooling(folder: Path, names: Iterable[str]) -> str:
    if not (folder / "config.json").is_file():
        return "cls" if any(_CLS_NAME.search(name) for name in names) else "mean"
    told = settings(folder / "config.json")
    named = told.get("pooling_mode")
    if named is None:
        flags = ((_POOLING_FLAG.fullmatch(key), value) for key, value in told.items())
        named = [match[1] for match, value in flags if match and value is True]
    modes = [named] if isinstance(named, str) else [str(mode) for mode in named]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        what = f"An encoder pooled by {' and '.join(map(str, modes)) or 'nothing'} is not supported."
        raise KnownError(what, "Choose an encoder with mean or CLS pooling.")
    return _POOLINGS[modes[0]]


def _check_prompt(folder: Path, prefixes: Mapping[str, str]) -> None:
    if settings(folder / "config.json").get("include_prompt") is False and any(prefixes.values()):
        raise KnownError("An encoder that pools without its prompt is not supported.", "Choose another encoder.")


def _prefixes(path: Path, names: Iterable[str]) -> dict[str, str]:
    """What the folder tells, unless it is empty: that is what is written where nobody said anything."""
    told = settings(path / "config_sentence_transformers.json").get("prompts") or {}
    query, passage = str(told.get("query") or ""), str(told.get("passage") or told.get("document") or "")
    if not query and not passage:
        known = (prefixes for name in names for pattern, prefixes in _TRAINED_WITH if pattern.search(name))
        query, passage = next(known, ("", ""))
    return {"query": query, "passage": passage}


def _activation(dense: Mapping[str, Any]) -> str:
    name = str(dense.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2].lower()
    if name not in ("identity", "tanh", "relu"):
        raise KnownError(f"A dense layer with {name} is not supported.", "Choose another encoder.")
    return name


def card_licence(card: Path) -> str:
    """The licence that the head of a model card names."""
    try:
        text = card.read_text(encoding="utf-8", errors="replace")[:20000] if card.is_file() else ""
    except OSError:  # a card that cannot be read is one that tells nothing
        return ""
    head = text.split("\n---", 1)[0] if text.startswith("---") else ""
    found = _LICENCE.search(head)
    return found[1] if found else ""


def settings(path: Path) -> dict[str, Any]:
    value = _read(path, {})
    return value if isinstance(value, dict) else {}


def _json_list(path: Path) -> list[dict[str, Any]]:
    value = _read(path, [])
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _read(path: Path, default: Any) -> Any:
    try:
        return read_json(path) if path.is_file() else default
    except (ValueError, RecursionError) as error:
        raise ModelDamaged(f"{path} cannot be read.", AGAIN) from error
