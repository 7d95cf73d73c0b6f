"""The known models and their state: what `whymatch models` lists, uses and removes.

Adding a model also exports it for serving and is therefore in `core.encode.install`.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.base.errors import KnownError, ModelDamaged
from core.models import bundles
from core.models.bundles import Bundle
from core.models.starter import STARTER_MODELS


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One line of the list. `size` is bytes on disk, or about what it will take when not installed."""

    id: str
    kind: str
    source: str
    size: int
    licence: str
    installed: bool
    active: bool


def listing() -> list[ModelEntry]:
    """The starter models and all installed ones: encoders first, then LLMs, each by id."""
    used = {kind: bundles.active(kind) for kind in (bundles.ENCODER, bundles.LLM)}
    entries = {known.id: _absent(known.config, known.size) for known in STARTER_MODELS}
    for bundle in bundles.installed():
        entries[bundle.id] = _present(bundle, used.get(bundle.kind))
    return sorted(entries.values(), key=lambda entry: (entry.kind, entry.id))


def use(id: str) -> Bundle:
    """Make an installed model the active one of its kind.

    Raises:
        ModelMissing, ModelDamaged
    """
    bundle = bundles.find(id)
    bundles.verify(bundle)
    bundles.set_active(bundle.kind, id)
    return bundle


def remove(id: str) -> None:
    """Delete an installed model.

    Raises:
        ModelMissing
        KnownError: it is the encoder in use (libraries need it), or its files cannot be deleted.
    """
    try:
        bundle = bundles.find(id)
    except ModelDamaged:
        bundles.remove(id)
        return
    used = bundles.active(bundle.kind)
    if bundle.kind == bundles.ENCODER and used is not None and used.id == id:
        raise KnownError(f"{id} is the encoder in use.", "Use another one first: whymatch models use")
    bundles.remove(id)


def _present(bundle: Bundle, used: Bundle | None) -> ModelEntry:
    config = bundle.config
    is_used = used is not None and used.id == bundle.id
    source, licence = str(config.get("source", "")), str(config.get("licence", ""))
    return ModelEntry(bundle.id, bundle.kind, source, bundle.size, licence, True, is_used)


def _absent(config: dict[str, object], size: int) -> ModelEntry:
    id, kind = str(config["id"]), str(config["kind"])
    return ModelEntry(id, kind, str(config["source"]), size, str(config["licence"]), False, False)
