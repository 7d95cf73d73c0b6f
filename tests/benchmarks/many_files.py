"""A made folder of many small files of mixed kinds, each of about ten passages, for measuring ingestion at scale.

Words follow Zipf's law over a vocabulary of 50,000, so that the lists of an index have the lengths of real ones.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from email.message import EmailMessage
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.corpus import write_document

FOLDERS, VOCABULARY, PARAGRAPHS, SENTENCES, WORDS = 200, 50_000, 10, 5, 26
# of twenty files
KINDS = ("txt",) * 6 + ("md",) * 4 + ("html",) * 4 + ("eml",) * 2 + ("csv", "json", "docx", "pdf")

Parts = list[tuple[str, list[str]]]


def make(folder: Path, files: int) -> None:
    """Equal numbers give equal texts."""
    luck = random.Random(1)
    words = _vocabulary(luck)
    weights = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))

    def paragraph() -> str:
        said = luck.choices(words, cum_weights=weights, k=SENTENCES * WORDS)
        lines = [" ".join(said[at : at + WORDS]).capitalize() + "." for at in range(0, len(said), WORDS)]
        return " ".join(lines)

    for number in range(files):
        kind = KINDS[(number + number // FOLDERS) % len(KINDS)]
        path = folder / f"{number % FOLDERS:03d}" / f"note {number:05d}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [(f"Part {n} {luck.choice(words)}", [paragraph()]) for n in range(PARAGRAPHS)]
        _WRITERS.get(kind, write_document)(path, f"Note {number} on {luck.choice(words)}", parts)


def _vocabulary(luck: random.Random) -> list[str]:
    syllables = [c + v for c in "bcdfghklmnprstvw" for v in "aeiou"] + ["an", "en", "ing", "ter", "ment", "st"]
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(luck.choices(syllables, k=luck.randint(1, 4)))] = None
    return list(words)


def _eml(path: Path, title: str, parts: Parts) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@example.org", "bob@example.org", title
    mail["Date"] = "Tue, 03 Mar 2026 10:00:00 +0000"
    mail.set_content("\n\n".join(f"{heading}\n\n" + "\n\n".join(texts) for heading, texts in parts))
    path.write_bytes(mail.as_bytes())


def _csv(path: Path, title: str, parts: Parts) -> None:
    rows = [f"{heading},{text.replace(',', ' ')}" for heading, texts in parts for text in texts]
    path.write_text("\n".join([f"name,{title}", *rows]) + "\n", encoding="utf-8")


def _json(path: Path, title: str, parts: Parts) -> None:
    items = [{"name": heading, "text": texts} for heading, texts in parts]
    path.write_text(json.dumps({"title": title, "items": items}, indent=1), encoding="utf-8")


_WRITERS: dict[str, Callable[[Path, str, Parts], None]] = {"eml": _eml, "csv": _csv, "json": _json}
