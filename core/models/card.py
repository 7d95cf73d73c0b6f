"""The card of a bundle: its `README.md`, for a person who looks into the folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CARD = "README.md"
_HEADS = {
    "dense": "one vector for a text",
    "lexical": "a weight for each term of the vocabulary (trained head)",
    "multi": "one vector for each token",
}


def card(config: Mapping[str, Any]) -> str:
    """What a bundle's config says, in Markdown."""
    rows = [
        ("Kind", config["kind"]), ("Source", config.get("source")), ("Licence", config.get("licence")),
        ("Languages", ", ".join(config.get("languages", ()))),
    ]  # fmt: skip
    more = _encoder if "dimension" in config else _reranker if "pair_tokens" in config else _llm
    rows += more(config)
    table = "\n".join(f"| {name} | {_cell(value)} |" for name, value in rows)
    return f"# {config['id']}\n\n| | |\n|---|---|\n{table}\n\nHashes of all files: `bundle.json`.\n"


def _encoder(config: Mapping[str, Any]) -> list[tuple[str, object]]:
    heads = config.get("heads", ("dense", "multi"))
    prefixes = "; ".join(f"{kind} `{text}`" for kind, text in config.get("prefixes", {}).items() if text)
    return [
        ("Dimension", config["dimension"]), ("Pooling", config.get("pooling")),
        ("Longest input", f"{config.get('max_tokens', 'unknown')} tokens"), ("Prefixes", prefixes or "none"),
        *((f"Head: {head}", _HEADS[head]) for head in heads),
        ("Dimension of token vectors", config.get("multi_dimension", config["dimension"])),
        ("Served from", config.get("serving")),
    ]  # fmt: skip


def _reranker(config: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [
        ("Longest pair", f"{config['pair_tokens']} tokens, the question's at most {config['question_tokens']} of them"),
        ("Served from", config.get("serving")),
    ]  # fmt: skip


def _llm(config: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [("File", config.get("model")), ("Context", f"{config.get('context', 'unknown')} tokens")]


def _cell(value: object) -> str:
    return str(value or "not stated").replace("|", "\\|").replace("\n", " ")
