"""The general probe: questions of many fields and languages by which an encoder shows that it has forgotten nothing.

Its pairs come with the app (`resources/probe/probe.jsonl`) and have nothing to do with any library. A question shares
few words with the passage that answers it, and its nearest rivals are passages of the same field.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import BadDataset
from core.base.paths import resources
from core.evaluate.datasets import CorpusDocument, Dataset

_NAME = "general-probe"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the one passage that answers it; `language` is an ISO 639-1 code."""

    id: str
    language: str
    question: str
    passage: str


def probe(languages: Collection[str] = ()) -> Dataset:
    """All passages, and the questions in these languages: in all, where none is given or none of them is known.

    Raises:
        BadDataset: the file did not come with the app, or is damaged.
    """
    known = pairs()
    asked = [pair for pair in known if pair.language in languages] or known
    return Dataset(
        _NAME,
        resource().parent,
        tuple(CorpusDocument(pair.id, "", pair.passage) for pair in known),
        {pair.id: pair.question for pair in asked},
        {pair.id: {pair.id: 1} for pair in asked},
    )


def pairs() -> tuple[Pair, ...]:
    """
    Raises:
        BadDataset: the file did not come with the app, or is damaged.
    """
    path = resource()
    try:
        found = tuple(Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())
    except OSError:
        raise BadDataset(f"{path} cannot be read.", "Install Whymatch again.") from None
    except (ValueError, TypeError):
        found = ()
    if not found:
        raise BadDataset(f"{path} is damaged.", "Install Whymatch again.")
    return found


def resource() -> Path:
    """Where the pairs lie."""
    return resources() / "probe" / "probe.jsonl"
