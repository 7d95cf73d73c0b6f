"""Models of the hub: what one holds and needs, told before anything is fetched.

Requests name neither this program's user nor their system: the library's user agent (with its telemetry) is replaced,
and an access token is sent only for a model that is closed without one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from core.base.errors import KnownError, ModelMissing
from core.models.bundles import ENCODER, LLM, RERANKER
from core.models.known import known_model
from core.models.reranker_layout import is_reranker

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo

TIMEOUT_SECONDS = 15.0
USER_AGENT = {"user-agent": "whymatch"}
_SPEC = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?::([\w.-]+))?", re.ASCII)
_SAFE_NAME = re.compile(r"[\w][\w. +-]*(/[\w][\w. +-]*)*", re.ASCII)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that is there is taken
_HEADS = frozenset({"sparse_linear.pt", "colbert_linear.pt"})
_SETTINGS = frozenset(
    {
        "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "modules.json",
        "sentence_bert_config.json", "config_sentence_transformers.json",
    }
)  # fmt: skip
_MODULE = re.compile(r"\d+_\w+")  # the folders of a sentence-transformers model
_MODULE_FILES = frozenset({"config.json", *_WEIGHTS})
_PREFERRED = ("q4_k_m", "q5_k_m", "q4_0", "q4_1", "q8_0")  # of several files of one LLM
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository: `digest` is its sha256 ("sha256:...") or its git object ("git:...")."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Remote:
    """A model on the hub as of one commit; `disk` and `memory` in bytes, about."""

    repo: str
    revision: str
    endpoint: str
    kind: str
    licence: str
    languages: tuple[str, ...]
    files: tuple[RemoteFile, ...]
    disk: int
    memory: int
    with_token: bool = False

    @property
    def download(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)

    @property
    def weights(self) -> RemoteFile:
        return max(self.files, key=lambda file: file.size)


def is_spec(text: str) -> bool:
    """Whether this may name a model of the hub: `owner/name`, for one of several files `owner/name:q4_k_m`."""
    return _SPEC.fullmatch(text) is not None


def endpoint() -> str:
    """The hub that is asked, without a slash at its end: `HF_ENDPOINT`, else the library's own."""
    from huggingface_hub import constants

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def describe(spec: str) -> Remote:
    """Ask the hub what the model is and which of its files are needed. Nothing is fetched.

    Raises:
        ModelMissing: no such model.
        KnownError: not a model that can be used; no network, no access.
    """
    from core.models.hub_errors import explained, garbage

    match = _SPEC.fullmatch(spec)
    if match is None:
        raise ModelMissing(f"{spec!r} is not a model's name.", "Names look like owner/name.")
    repo, variant = match[1], (match[2] or "").lower()
    at = endpoint()
    with explained(repo, at):
        info, with_token = _info(repo, at)
        files = [_file(sibling) for sibling in info.siblings or ()]
        if not info.sha:
            raise garbage(repo, at)
    known = known_model(repo)
    kind, chosen = _needed(repo, files, variant or (known.variant if known else ""))
    if kind == ENCODER and ((known and known.kind == RERANKER) or is_reranker(getattr(info, "config", None) or {})):
        kind = RERANKER
    disk, memory = _needs(kind, chosen, info)
    return Remote(
        repo, info.sha, at, kind, _licence(info) or (known.licence if known else ""),
        known.languages if known else _languages(info), chosen, disk, memory, with_token,
    )  # fmt: skip


def token_for(remote: Remote) -> str | bool:
    """What the library calls a token: the person's own for a closed model, else none at all."""
    from huggingface_hub import get_token

    return (get_token() or False) if remote.with_token else False


def _info(repo: str, at: str) -> tuple[ModelInfo, bool]:
    """The hub's word on a repository, and whether it took the person's token to hear it."""
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi(endpoint=at, headers=USER_AGENT)
    try:
        return api.model_info(repo, files_metadata=True, token=False, timeout=TIMEOUT_SECONDS), False
    except HfHubHTTPError as error:
        token = get_token()
        if error.response.status_code not in (401, 403) or token is None:
            raise
    return api.model_info(repo, files_metadata=True, token=token, timeout=TIMEOUT_SECONDS), True


def _file(sibling: object) -> RemoteFile:
    """Raises ValueError for a file without size and hash, or with a name that would lead elsewhere."""
    name, size = str(getattr(sibling, "rfilename", "")), getattr(sibling, "size", None)
    lfs, blob = getattr(sibling, "lfs", None), getattr(sibling, "blob_id", None)
    if not isinstance(size, int) or not (lfs or blob):
        raise ValueError(f"{name}: size or hash is missing")
    return RemoteFile(name, size, f"sha256:{lfs.sha256}" if lfs else f"git:{blob}")


def _needed(repo: str, files: Sequence[RemoteFile], variant: str) -> tuple[str, tuple[RemoteFile, ...]]:
    """Kind and files of the model: one GGUF file, or an encoder's settings, weights and heads.

    Raises KnownError when there is neither.
    """
    safe = [file for file in files if _SAFE_NAME.fullmatch(file.name)]
    gguf = _gguf(safe, variant)
    if gguf is not None:
        return LLM, (gguf,)
    names = {file.name for file in safe}
    weights = next((name for name in _WEIGHTS if name in names), None)
    if weights is None or not {"config.json", "tokenizer.json"} <= names:
        raise KnownError(
            f"{repo} holds no model that can be used here.",
            "Encoders need config.json, tokenizer.json and their weights in one file; language models are GGUF files.",
        )
    return ENCODER, tuple(file for file in safe if file.name == weights or _of_encoder(file.name, names))


def _of_encoder(name: str, names: set[str]) -> bool:
    if name in _SETTINGS or name in _HEADS:
        return True
    folder, _, inner = name.partition("/")
    twice = inner == _WEIGHTS[1] and f"{folder}/{_WEIGHTS[0]}" in names
    return _MODULE.fullmatch(folder) is not None and inner in _MODULE_FILES and not twice


def _gguf(files: Iterable[RemoteFile], variant: str) -> RemoteFile | None:
    """The file that is asked for by a part of its name, else the usual trade of size and quality."""
    whole = sorted((f for f in files if f.name.lower().endswith(".gguf") and not _PART.search(f.name)),
                   key=lambda f: (f.size, f.name))  # fmt: skip
    wanted = (*((variant.removesuffix(".gguf"),) if variant else ()), *_PREFERRED)
    for part in wanted:
        found = [f for f in whole if part in PurePosixPath(f.name).name.lower()]
        if found:
            return found[0]
    return whole[0] if whole else None


def _needs(kind: str, files: Sequence[RemoteFile], info: ModelInfo) -> tuple[int, int]:
    """Bytes on disk once installed, and of memory while it serves: measured on the starter models, rounded up.

    An encoder is kept with its weights and exported twice with 4 bytes a parameter; of the second export only the
    matrix products take less, so this is what it takes at most.
    """
    size = sum(file.size for file in files)
    if kind == LLM:
        return size, size + max(300_000_000, size // 2)
    parameters = (getattr(info.safetensors, "total", 0) if info.safetensors else 0) or size // 4
    return size + 8 * parameters, 5 * parameters + 200_000_000


def _licence(info: ModelInfo) -> str:
    card = getattr(info, "card_data", None)
    named = getattr(card, "license", None) or next(
        (tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")), ""
    )
    return ", ".join(named) if isinstance(named, list) else str(named or "")


def _languages(info: ModelInfo) -> tuple[str, ...]:
    spoken = getattr(getattr(info, "card_data", None), "language", None) or ()
    return (spoken,) if isinstance(spoken, str) else tuple(str(one) for one in spoken)
