"""Models of the hub that are known to serve well, with what a person should know before fetching one.

Sizes are rounded figures for the list; the hub itself is asked before anything is fetched. Any other model of the hub
can be added by its name, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.models.bundles import ENCODER, LLM, RERANKER

_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class KnownModel:
    """`download`, `disk` (installed, with the exported files) and `memory` (while it serves) in bytes, about.

    Of a repository with several files of weights the one whose name holds `variant` is meant.
    """

    repo: str
    kind: str
    licence: str
    languages: tuple[str, ...]
    download: int
    disk: int
    memory: int
    about: str
    variant: str = ""

    @property
    def id(self) -> str:
        return self.repo.partition("/")[2]


_MANY = ("many",)  # about a hundred languages

KNOWN_MODELS: tuple[KnownModel, ...] = (
    KnownModel(
        "BAAI/bge-m3", ENCODER, "MIT", _MANY, 2_295 * _MB, 5_900 * _MB, 3_000 * _MB,
        "The best search in every language, by meaning and by learned words. Large: better with a fast computer.",
    ),
    KnownModel(
        "intfloat/multilingual-e5-small", ENCODER, "MIT", _MANY, 488 * _MB, 1_370 * _MB, 800 * _MB,
        "Search in about a hundred languages, and across them, on any computer.",
    ),
    KnownModel(
        "BAAI/bge-small-en-v1.5", ENCODER, "MIT", ("en",), 134 * _MB, 335 * _MB, 350 * _MB,
        "English texts, a little more exact than the starter encoder and about half as fast.",
    ),
    KnownModel(
        "sentence-transformers/all-MiniLM-L6-v2", ENCODER, "Apache-2.0", ("en",), 92 * _MB, 240 * _MB, 300 * _MB,
        "English texts, small and fast: the encoder that Whymatch starts with.",
    ),
    KnownModel(
        "cross-encoder/ms-marco-MiniLM-L6-v2", RERANKER, "Apache-2.0", ("en",), 92 * _MB, 240 * _MB, 300 * _MB,
        "Reads the best passages of an English search again, together with the question.",
    ),
    KnownModel(
        "BAAI/bge-reranker-base", RERANKER, "MIT", ("en", "zh"), 1_130 * _MB, 2_900 * _MB, 1_600 * _MB,
        "Reads the best passages again, in English and Chinese. Slow without a fast computer: a few passages a search.",
    ),
    KnownModel(
        "BAAI/bge-reranker-v2-m3", RERANKER, "Apache-2.0", _MANY, 2_290 * _MB, 5_900 * _MB, 3_000 * _MB,
        "Reads the best passages again, in every language. Too slow to search with on most computers; a good teacher.",
    ),
    KnownModel(
        "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF", LLM, "Apache-2.0", ("en",), 386 * _MB, 386 * _MB, 700 * _MB,
        "Short English answers, quick on any computer.", "q8_0",
    ),
    KnownModel(
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", LLM, "Apache-2.0", ("en",), 1_056 * _MB, 1_056 * _MB, 1_800 * _MB,
        "Good English answers on a computer with 8 GB of memory.", "q4_k_m",
    ),
    KnownModel(
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF", LLM, "Apache-2.0", _MANY, 491 * _MB, 491 * _MB, 900 * _MB,
        "Short answers in 29 languages, quick on any computer.", "q4_k_m",
    ),
    KnownModel(
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF", LLM, "Apache-2.0", _MANY, 1_117 * _MB, 1_117 * _MB, 1_900 * _MB,
        "Good answers in 29 languages on a computer with 8 GB of memory.", "q4_k_m",
    ),
)  # fmt: skip


def known_model(repo: str) -> KnownModel | None:
    return next((known for known in KNOWN_MODELS if repo == known.repo), None)


def spoken(config: Mapping[str, Any]) -> frozenset[str]:
    """ISO 639-1 codes of the languages that a model was made for; none where that is not told, or they are many.

    Where the config does not say, what is known of its source does.
    """
    known = known_model(str(config.get("source", "")))
    named = config.get("languages") or (known.languages if known else ())
    codes = frozenset(str(name).lower().replace("_", "-").partition("-")[0] for name in named)
    return codes if all(len(code) == 2 for code in codes) else frozenset()
