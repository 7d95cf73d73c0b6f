"""Models of the hub that were fetched in part: what each is, told by a file beside what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from core.base.files import atomic_file
from core.models.bundles import ENCODER, LLM
from core.models.hub import Remote, is_spec

_TOLD = "model.json"


@dataclass(frozen=True, slots=True)
class Partial:
    """A model whose files wait in `folder`. `spec` is what to go on with, `fetched` the bytes that are there.

    Of one that an older version began to fetch, nothing but its repository is known.
    """

    repo: str
    spec: str
    folder: Path
    fetched: int
    kind: str = ENCODER
    licence: str = ""
    languages: tuple[str, ...] = ()
    download: int = 0
    disk: int = 0
    memory: int = 0


def tell(remote: Remote, folder: Path) -> None:
    """Write down what is being fetched into `folder`. Raises DiskFull, NoPermission."""
    told = {
        "repo": remote.repo, "spec": _spec(remote), "kind": remote.kind, "licence": remote.licence,
        "languages": list(remote.languages), "download": remote.download, "disk": remote.disk, "memory": remote.memory,
    }  # fmt: skip
    with atomic_file(folder / _TOLD) as file:
        file.write(json.dumps(told).encode())


def found(folders: Iterator[Path]) -> list[Partial]:
    """The models in these folders, by repository."""
    made = (_read(folder) for folder in folders if folder.is_dir())
    return sorted((one for one in made if one is not None), key=lambda one: one.repo.lower())


def _spec(remote: Remote) -> str:
    """Of several files of one LLM the very one that was chosen."""
    chosen = f"{remote.repo}:{PurePosixPath(remote.weights.name).stem}"
    return chosen if remote.kind == LLM and is_spec(chosen) else remote.repo


def _read(folder: Path) -> Partial | None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    fetched = sum(path.stat().st_size for path in files if path.name not in (_TOLD, "lock"))
    try:
        told: dict[str, Any] = json.loads((folder / _TOLD).read_bytes())
        return Partial(**told | {"languages": tuple(told["languages"]), "folder": folder, "fetched": fetched})
    except (OSError, ValueError, TypeError, KeyError):
        repo = _named(folder)
        return Partial(repo, repo, folder, fetched) if is_spec(repo) else None


def _named(folder: Path) -> str:
    """The repository by the folder's name, in which the slash is two hyphens; the inner folder is the model's name."""
    whole = folder.name.partition("-")[2]
    name = next((p.name for p in folder.iterdir() if p.is_dir() and whole.endswith(f"--{p.name}")), "")
    return f"{whole.removesuffix(f'--{name}')}/{name}" if name else whole.replace("--", "/", 1)
