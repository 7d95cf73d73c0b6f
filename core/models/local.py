"""Models from the person's own disk: what a file or folder says about itself, as a bundle's config."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from core.base.errors import KnownError, ModelDamaged, PathMissing
from core.base.files import read_json
from core.models.bundles import CONFIG, ENCODER, LLM, load, verify
from core.models.gguf import metadata

_ENCODER_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def describe(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """Config and files {name in the bundle: path} of a GGUF file, a bundle folder or a transformers folder.

    Raises:
        PathMissing, ModelDamaged
        KnownError: not a model that can be used.
    """
    if path.is_file():
        return _llm(path)
    if not path.is_dir():
        raise PathMissing(f"{path} does not exist.", "Name a starter model, a .gguf file or a model folder.")
    if (path / CONFIG).is_file():
        return _bundle(path)
    return _encoder(path)


def copy(files: dict[str, Path], folder: Path) -> None:
    """Copy a model's files into an empty folder."""
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _llm(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    header = metadata(path)
    family = header.get("general.architecture", "")
    context = int(header.get(f"{family}.context_length", 2048))
    config = {"id": _id(path.stem), "kind": LLM, "model": path.name, "context": context, "source": path.name}
    return {**config, "licence": str(header.get("general.license", ""))}, {path.name: path}


def _bundle(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    bundle = load(path)
    verify(bundle)
    config = {key: value for key, value in bundle.config.items() if key not in ("files", "sizes")}
    return config, {name: path / name for name in bundle.config["files"]}


def _encoder(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """A folder as transformers and sentence-transformers save it."""
    missing = [name for name in _ENCODER_FILES if not (path / name).is_file()]
    if missing:
        raise KnownError(f"{path} is not an encoder: {', '.join(missing)} is missing.", "Choose another folder.")
    model, sentence = _json(path / "config.json"), _json(path / "sentence_bert_config.json")
    window = int(model.get("max_position_embeddings", 512))
    if model.get("model_type") != "bert":
        window -= 2  # the RoBERTa family counts positions from 2
    prompts = _json(path / "config_sentence_transformers.json").get("prompts", {})
    passage = prompts.get("passage") or prompts.get("document", "")
    cls = bool(_json(path / "1_Pooling" / "config.json").get("pooling_mode_cls_token", False))
    config = {
        "id": _id(path.resolve().name), "kind": ENCODER, "pooling": "cls" if cls else "mean",
        "dimension": int(model.get("hidden_size", 0)), "source": path.name, "licence": "",
        "max_tokens": min(int(sentence.get("max_seq_length") or window), window),
        "prefixes": {"query": prompts.get("query", ""), "passage": passage},
    }  # fmt: skip
    return config, {name: path / name for name in _ENCODER_FILES}


def _json(path: Path) -> dict[str, Any]:
    try:
        value = read_json(path) if path.is_file() else {}
    except ValueError as error:
        raise ModelDamaged(f"{path} cannot be read.", "Fetch the model again.") from error
    return value if isinstance(value, dict) else {}


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "model"
