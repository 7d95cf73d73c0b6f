"""Model bundles: one verified folder per model, and which of them is in use.

A bundle is a folder `models()/<id>/` with the model's files and `bundle.json`, which carries all that is needed
to judge and serve it. It appears by one rename, so it is whole or not there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from core.base.errors import KnownError, LibraryLocked, ModelDamaged, ModelMissing, from_os_error
from core.base.files import TEMPORARY_SUFFIX, FileLock, read_json, sha256_file, sync_folder, write_json
from core.base.paths import home, models
from core.models.card import CARD, card

FORMAT = 1
CONFIG = "bundle.json"
ENCODER, LLM, RERANKER = "encoder", "llm", "reranker"
STARTERS = {ENCODER: "all-MiniLM-L6-v2", LLM: "SmolLM2-135M-Instruct-Q4_1"}
_ACTIVE = "active.json"
_LOCK = "installing.lock"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(\+[0-9a-f]{8})?")  # an adapted one has its hash behind
_AGAIN = "Install it again: whymatch models add"


@dataclass(frozen=True, slots=True)
class Bundle:
    """An installed model. `config` is the content of `bundle.json`.

    Common fields: format, id, kind, licence, source, files {name: sha256}, sizes {name: bytes}.
    Encoders: pooling ("mean" | "cls"), dimension, max_tokens (with special tokens), prefixes {"query", "passage"},
    serving (name of the ONNX file to serve), weights (folder layout of transformers).
    LLMs: model (name of the GGUF file), context (tokens).
    Rerankers: serving, pair_tokens (that it reads of a question and a passage), question_tokens (of them at most).
    """

    id: str
    kind: str
    folder: Path
    config: dict[str, Any]

    def path(self, name: str) -> Path:
        return self.folder / name

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(self.config["sizes"].values())


def load(folder: Path) -> Bundle:
    """Read a bundle's config and check that its files are there in their full size (not their hashes).

    Raises:
        ModelMissing: no bundle in `folder`.
        ModelDamaged: the config is unreadable, or a file is absent or cut short.
    """
    try:
        if not (folder / CONFIG).is_file():
            raise ModelMissing(f"The model {folder.name} is not installed.", f"{_AGAIN} {folder.name}")
        config = read_json(folder / CONFIG)
        _check_texts([config["id"], *config.get("languages", ()), *config.get("heads", ())])
        bundle = Bundle(config["id"], config["kind"], folder, config)
        sizes = _within(dict(config["sizes"]), config["files"])
        newer = config["format"] > FORMAT
    except PermissionError as error:
        raise from_os_error(error, folder) from error
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise _damaged(folder.name, f"{CONFIG} cannot be read") from error
    if newer:
        raise ModelDamaged(f"The model {folder.name} was made by a newer version of Whymatch.", "Update Whymatch.")
    for name, size in sizes.items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != size:
            raise _damaged(bundle.id, f"{name} is missing or cut short")
    return bundle


def _check_texts(values: list[object]) -> None:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("a name is no text")


def _within(sizes: dict[str, int], files: dict[str, str]) -> dict[str, int]:
    """The sizes, of the same files as the hashes; a bundle from elsewhere must not name what lies outside of it."""
    for name in (*sizes, *files):
        parts = PureWindowsPath(name)  # knows the separators of all systems
        if parts.anchor or ".." in parts.parts or name not in sizes or name not in files:
            raise ValueError(f"{name} is no file of the bundle")
    return sizes


def verify(bundle: Bundle, names: tuple[str, ...] = ()) -> None:
    """Compare the files' hashes (all files, or only `names`) with the config.

    Raises:
        ModelDamaged: a file is absent or differs.
    """
    for name in names or tuple(bundle.config["files"]):
        path = bundle.path(name)
        if not path.is_file() or sha256_file(path) != bundle.config["files"].get(name):
            raise _damaged(bundle.id, f"{name} is missing or differs from what was installed")


def _damaged(name: str, what: str) -> ModelDamaged:
    return ModelDamaged(f"The model {name} is damaged: {what}.", f"{_AGAIN} {name}")


def find(id: str, also: Path | None = None) -> Bundle:
    """The bundle with this id: one that lies in the folder `also`, such as a library's own, else an installed one.

    Raises:
        ModelMissing, ModelDamaged
    """
    _check_id(id)
    own = also is not None and (also / id / CONFIG).is_file()
    return load(also / id if also is not None and own else models() / id)


def installed() -> list[Bundle]:
    """All whole bundles, by id. Damaged ones are left out: `find` says what is wrong with them."""
    found = []
    for config in sorted(models().glob(f"*/{CONFIG}")):
        if not config.parent.name.startswith("."):
            with contextlib.suppress(ModelDamaged, ModelMissing):  # missing: another process has just removed it
                found.append(load(config.parent))
    return found


def active(kind: str) -> Bundle | None:
    """The bundle in use for `kind` ("encoder" | "llm" | "reranker"): the chosen one, else the starter, where there is
    one; None if neither is there."""
    for id in (_choices().get(kind), STARTERS.get(kind)):
        if id:
            with contextlib.suppress(ModelMissing, ModelDamaged):
                return find(id)
    return None


def set_active(kind: str, id: str) -> None:
    """Use this bundle for `kind` from now on.

    Raises:
        ModelMissing, ModelDamaged
        KnownError: the bundle is of another kind.
    """
    bundle = find(id)
    if bundle.kind != kind:
        raise KnownError(f"{id} is of the kind {bundle.kind}, not {kind}.", "Choose another model.")
    write_json(models() / _ACTIVE, {**_choices(), kind: id})


def unset_active(kind: str) -> None:
    """Use none for `kind`, or the starter where there is one."""
    write_json(models() / _ACTIVE, {own: id for own, id in _choices().items() if own != kind})


def remove(id: str) -> None:
    """Delete an installed bundle, damaged or whole.

    Raises:
        ModelMissing
        KnownError: the files cannot be deleted.
    """
    _check_id(id)
    folder = models() / id
    if not folder.is_dir():
        raise ModelMissing(f"The model {id} is not installed.")
    try:
        discard(folder)
    except OSError as error:
        raise from_os_error(error, folder) from error
    left = {kind: chosen for kind, chosen in _choices().items() if chosen != id}
    write_json(models() / _ACTIVE, left)


@contextlib.contextmanager
def installing(config: dict[str, Any], where: Path | None = None) -> Iterator[Path]:
    """Give an empty folder to put a model's files into; when the block ends well it becomes the bundle.

    `config` needs id and kind; format, files and sizes are added here, after the block has run. An older bundle
    of the same id is replaced. Nothing stays when the block fails. The bundle lies in the folder `where`, which one
    process at a time may write to, or among the installed ones.

    Raises:
        KnownError: the disk is full, there is no permission, or another process installs a model.
    """
    _check_id(config["id"])
    target = (where or models()) / config["id"]
    with _alone(target) if where is None else contextlib.nullcontext(_swept(where)):
        yield from _installing(target, config)


def _installing(target: Path, config: dict[str, Any]) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=TEMPORARY_SUFFIX))
    except OSError as error:
        raise from_os_error(error, target) from error
    try:
        yield folder
        seal(folder, config)
        if target.exists():
            discard(target)
        folder.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise from_os_error(error, target) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """One installation at a time, so that what a killed one has left behind can be told and swept."""
    _make_folder(target.parent)
    lock = FileLock(home() / _LOCK, "install")
    try:
        lock.acquire()
    except LibraryLocked:
        raise KnownError("Another model is being installed.", "Wait until that is done, then try again.") from None
    try:
        _swept(target.parent)
        yield
    finally:
        lock.release()


def _swept(folder: Path) -> Path:
    """The folder, made where it lacks, without what killed installations left behind."""
    _make_folder(folder)
    for left in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        shutil.rmtree(left, ignore_errors=True)
    return folder


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, folder) from error


def seal(folder: Path, config: dict[str, Any]) -> None:
    """Write the card and `bundle.json` for the files that lie in `folder`, made durable first."""
    (folder / CARD).write_text(card(config), encoding="utf-8")
    written = (folder / CONFIG, folder / CARD)  # the card is for people: they may change it
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p not in written)
    for name in names:
        with (folder / name).open("rb+") as file:
            os.fsync(file.fileno())
    files = {name: sha256_file(folder / name) for name in names}
    sizes = {name: (folder / name).stat().st_size for name in names}
    write_json(folder / CONFIG, {"format": FORMAT, **config, "files": files, "sizes": sizes})


def discard(folder: Path) -> None:
    """Delete a folder so that a half-deleted one is never taken for a bundle."""
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=TEMPORARY_SUFFIX))
    folder.rename(aside / folder.name)
    shutil.rmtree(aside)


def _choices() -> dict[str, str]:
    try:
        value = read_json(models() / _ACTIVE)
    except (OSError, ValueError):
        return {}
    return {kind: id for kind, id in value.items() if isinstance(id, str)} if isinstance(value, dict) else {}


def _check_id(id: str) -> None:
    if not _ID.fullmatch(id):
        raise ModelMissing(f"{id!r} is not a model's name.", "See: whymatch models list")
