"""Models from the person's own disk: what a file or folder says about itself, as a bundle's config."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from core.base.errors import PathMissing
from core.models.bundles import CONFIG, LLM, load, verify
from core.models.gguf_model import inspect
from core.models.layout import describe_encoder, settings
from core.models.reranker_layout import describe_reranker, is_reranker


def describe(path: Path, name: str = "") -> tuple[dict[str, Any], dict[str, Path]]:
    """Config and files {name in the bundle: path} of a GGUF file, a bundle folder or the folder of an encoder or a
    reranker.

    `name` is what such a one is called where it comes from, such as "BAAI/bge-m3"; by default as its folder.

    Raises:
        PathMissing, ModelDamaged
        KnownError: not a model that can be used.
    """
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError:  # a name that is too long
        is_file = is_folder = False
    if is_file:
        return _llm(path)
    if not is_folder:
        raise PathMissing(
            f"{path} does not exist.",
            "Name a model of the hub (owner/name), a starter model, a .gguf file or a folder.",
        )
    if (path / CONFIG).is_file():
        return _bundle(path)
    described = describe_reranker if is_reranker(settings(path / "config.json")) else describe_encoder
    config, files = described(path, name)
    return {"id": _id(name.rpartition("/")[2] or path.resolve().name), **config}, files


def copy(files: dict[str, Path], folder: Path) -> None:
    """Copy a model's files into an empty folder."""
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def link(files: dict[str, Path], folder: Path) -> None:
    """As `copy`, but without taking room a second time where the disk knows links: for files that nobody changes."""
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.hardlink_to(source)
        except OSError:
            shutil.copyfile(source, target)


def _llm(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    model = inspect(path)
    config = {"id": _id(path.stem), "kind": LLM, "model": path.name, "source": path.name}
    return {**config, **model.config}, {path.name: path}


def _bundle(path: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    bundle = load(path)
    verify(bundle)
    config = {key: value for key, value in bundle.config.items() if key not in ("files", "sizes")}
    return config, {name: path / name for name in bundle.config["files"]}


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "model"
