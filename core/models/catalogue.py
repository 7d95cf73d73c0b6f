"""The known models and their state: what `whymatch models` lists, uses and removes, and what adding one takes.

Adding a model also exports it for serving and is therefore in `core.encode.install`.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import KnownError, ModelDamaged, ModelMissing
from core.base.paths import models
from core.models import bundles, graphs, hub, hub_fetch, hub_partial, local, speeds
from core.models.bundles import ENCODER, LLM, RERANKER, Bundle
from core.models.known import KNOWN_MODELS, KnownModel, known_model
from core.models.speeds import Speed
from core.models.starter import STARTER_MODELS, Starter


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One line of the list. `size` is bytes on disk, or about what it will take when not installed.

    Of language models also how the weights are kept, the longest text in tokens, and, once measured on this machine,
    tokens a second that are read and written.

    `spec` is what to add it by. `download` (0 once it is installed) and `memory` are bytes, about. `damaged` ones are
    there but cannot be used; `partial` ones are fetched in part. `outdated` ones are served from a graph of an older
    version: they work, and are faster once renewed.
    """

    id: str
    kind: str
    source: str
    size: int
    licence: str
    installed: bool
    active: bool
    spec: str = ""
    languages: tuple[str, ...] = ()
    download: int = 0
    memory: int = 0
    about: str = ""
    damaged: bool = False
    partial: bool = False
    outdated: bool = False
    quantisation: str = ""
    context: int = 0
    read_speed: float = 0.0
    write_speed: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelNeeds:
    """What adding a model takes, in bytes, told before anything is fetched; `free` is what the disk has."""

    id: str
    spec: str
    kind: str
    source: str
    licence: str
    languages: tuple[str, ...]
    download: int
    disk: int
    memory: int
    free: int
    about: str = ""
    quantisation: str = ""
    context: int = 0


def listing() -> list[ModelEntry]:
    """The known models, all installed ones and those fetched in part: encoders, LLMs, rerankers, each by id."""
    used = {kind: bundles.active(kind) for kind in (ENCODER, LLM, RERANKER)}
    entries = {known.id: _starter_entry(known) for known in STARTER_MODELS}
    for known in KNOWN_MODELS:
        entries.setdefault(known.id, _known_entry(known))
    for folder in _damaged():
        entries[folder.name] = _damaged_entry(folder.name, entries.get(folder.name))
    for bundle in bundles.installed():
        same = next((e for e in entries.values() if e.source == bundle.config.get("source") and not e.installed), None)
        if same is not None:  # a file of one repository is installed under a name of its own
            del entries[same.id]
        entries[bundle.id] = _present(bundle, used.get(bundle.kind), same or entries.get(bundle.id))
    told = {entry.source for entry in entries.values() if entry.partial}
    entries |= {half.repo: _partial_entry(half) for half in hub_fetch.partial() if half.repo not in told}
    return sorted(entries.values(), key=lambda entry: (entry.kind, entry.id.lower()))


def resolved(spec: str) -> Starter | Path | str:
    """What a person means by `spec`: a starter, a path on the disk, or a model of the hub (`owner/name`).

    Known models are found by their id, too, and those of the hub by the address of their page. What is nothing of all
    is taken for a path.
    """
    if spec.startswith("http"):
        spec = spec.removeprefix(f"{hub.endpoint()}/").rstrip("/")
    starter = next((known for known in STARTER_MODELS if known.id == spec), None)
    if starter is not None:
        return starter
    path = Path(spec)
    with contextlib.suppress(RuntimeError, OSError):  # no such account, or a name longer than the disk takes
        path = path.expanduser()
        if path.exists():
            return path
    known = next((known for known in KNOWN_MODELS if known.id == spec), None)
    return known.repo if known else spec if hub.is_spec(spec) else path


def needs(spec: str) -> ModelNeeds:
    """What adding this model takes. For a model of the hub it is asked; nothing is fetched.

    Raises:
        PathMissing, ModelMissing, ModelDamaged
        KnownError: not a model that can be used; no network, no access.
    """
    meant = resolved(spec)
    free = shutil.disk_usage(next(p for p in (models(), *models().parents) if p.exists())).free
    if isinstance(meant, Starter):
        entry = _starter_entry(meant)
        size = 0 if entry.installed else entry.download
        return ModelNeeds(entry.id, spec, entry.kind, entry.source, entry.licence, entry.languages, size, entry.size,
                          entry.memory, free, entry.about)  # fmt: skip
    if isinstance(meant, Path):
        return _local_needs(meant, spec, free)
    remote = hub.describe(meant)
    known = known_model(remote.repo)
    return ModelNeeds(
        remote.repo.partition("/")[2], meant, remote.kind, remote.repo, remote.licence, remote.languages,
        remote.download, remote.disk, remote.memory, free, known.about if known else "",
    )  # fmt: skip


def use(id: str) -> Bundle:
    """Make an installed model the active one of its kind: encoders for new libraries, LLMs for all answers, a reranker
    to be tried when a library is adapted.

    Raises:
        ModelMissing, ModelDamaged
    """
    bundle = bundles.find(id)
    bundles.verify(bundle)
    bundles.set_active(bundle.kind, id)
    return bundle


def remove(id: str) -> None:
    """Delete an installed model, or what was fetched of one that is not installed yet.

    Raises:
        ModelMissing
        KnownError: it is the encoder in use (libraries need it), or its files cannot be deleted.
    """
    half = next((known.repo for known in KNOWN_MODELS if id in (known.id, known.repo)), id.partition(":")[0])
    if hub.is_spec(half) and hub_fetch.staging(half).is_dir():
        hub_fetch.discard(half)
        if not (models() / half.partition("/")[2]).is_dir():
            return
    id = id.partition("/")[2] or id
    try:
        bundle = bundles.find(id)
    except ModelDamaged:
        bundles.remove(id)
        return
    used = bundles.active(bundle.kind)
    if bundle.kind == ENCODER and used is not None and used.id == id:
        raise KnownError(f"{id} is the encoder in use.", "Use another one first: whymatch models use")
    bundles.remove(id)
    speeds.forget(id)


def _damaged() -> list[Path]:
    found = []
    for config in sorted(models().glob(f"*/{bundles.CONFIG}")):
        try:
            bundles.load(config.parent)
        except (ModelDamaged, ModelMissing):
            found.append(config.parent)
    return found


def _damaged_entry(id: str, known: ModelEntry | None) -> ModelEntry:
    size = sum(p.stat().st_size for p in (models() / id).rglob("*") if p.is_file())
    base = known or ModelEntry(id, ENCODER, "", 0, "", False, False)
    return ModelEntry(id, base.kind, base.source, size, base.licence, False, False, base.spec, base.languages,
                      base.download, base.memory, base.about, damaged=True)  # fmt: skip


def _present(bundle: Bundle, used: Bundle | None, known: ModelEntry | None) -> ModelEntry:
    config = bundle.config
    is_used = used is not None and used.id == bundle.id
    source, licence = str(config.get("source", "")), str(config.get("licence", ""))
    about = known.about if known and known.source == source else ""
    speed = speeds.known().get(bundle.id, Speed(0.0, 0.0)) if bundle.kind == LLM else Speed(0.0, 0.0)
    return ModelEntry(
        bundle.id, bundle.kind, source, bundle.size, licence, True, is_used, bundle.id,
        tuple(config.get("languages", ())), 0, _memory(bundle), about, outdated=graphs.outdated(bundle),
        quantisation=str(config.get("quantisation", "")),
        context=int(config.get("context") or 0) if bundle.kind == LLM else 0,
        read_speed=speed.read, write_speed=speed.write,
    )  # fmt: skip


def _memory(bundle: Bundle) -> int:
    """While it serves: what is loaded, and what a batch or a conversation takes besides."""
    if bundle.kind == LLM and bundle.config.get("memory"):  # told by its header when it was added
        return int(bundle.config["memory"])
    served = str(bundle.config.get("serving") or bundle.config.get("model", ""))
    loaded = int(bundle.config["sizes"].get(served, bundle.size))
    return loaded + (250_000_000 if bundle.kind != LLM else max(300_000_000, loaded // 2))


def _starter_entry(known: Starter) -> ModelEntry:
    config, id = known.config, known.id
    kind, installed = str(config["kind"]), False
    with contextlib.suppress(ModelMissing, ModelDamaged):
        installed = bundles.find(id) is not None
    about = "English texts, small and fast." if kind == ENCODER else "Very short English answers on any computer."
    return ModelEntry(
        id, kind, str(config["source"]), known.size, str(config["licence"]), installed, False, id,
        tuple(config["languages"]), known.size if kind == LLM else known.size * 2 // 5, known.size + 250_000_000, about,
    )  # fmt: skip


def _known_entry(known: KnownModel) -> ModelEntry:
    half = hub_fetch.staging(known.repo).is_dir()
    return ModelEntry(
        known.id, known.kind, known.repo, known.disk, known.licence, False, False, known.repo, known.languages,
        known.download, known.memory, known.about, partial=half,
    )  # fmt: skip


def _partial_entry(half: hub_partial.Partial) -> ModelEntry:
    """Named by its repository: as long as it is not installed it has no id."""
    return ModelEntry(
        half.repo, half.kind, half.repo, half.disk or half.fetched, half.licence, False, False, half.spec,
        half.languages, max(0, half.download - half.fetched), half.memory, partial=True,
    )  # fmt: skip


def _local_needs(path: Path, spec: str, free: int) -> ModelNeeds:
    config, files = local.describe(path)
    size = sum(file.stat().st_size for file in files.values())
    kind = str(config["kind"])
    disk = size if kind == LLM or "serving" in config else size * 3
    memory = int(config.get("memory", 0)) if kind == LLM else size * 5 // 4 + 200_000_000
    return ModelNeeds(
        str(config["id"]), spec, kind, str(path), str(config.get("licence", "")),
        tuple(config.get("languages", ())), 0, disk, memory, free, "", str(config.get("quantisation", "")),
        int(config.get("context") or 0) if kind == LLM else 0,
    )  # fmt: skip
