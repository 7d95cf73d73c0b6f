"""`whymatch demo`: the main job on the sample documents, from folder to explained answer."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.errors import KnownError
from core.base.paths import home, resources
from core.base.types import Answer, Explanation, IngestReport, Query
from core.base.wire import to_plain
from core.cli.output import ProgressLine, out
from core.cli.present import show_answer, show_explanation

_PREFIX = "demo-"


@dataclass(frozen=True, slots=True)
class Demo:
    report: IngestReport
    answer: Answer
    explanation: Explanation | None

    def plain(self) -> dict[str, Any]:
        return {"ingest": to_plain(self.report), "answer": to_plain(self.answer), "why": to_plain(self.explanation)}

    def show(self) -> None:
        read = "Read" if self.report.encoded else "Found unchanged"
        out.print(f"{read} {self.report.documents} sample documents: {self.report.passages} passages.")
        out.print(f"\nQuestion: {self.answer.question}", markup=False)
        show_answer(self.answer)
        if self.explanation is not None:
            out.print("\nWhy this passage matched:")
            show_explanation(self.explanation)


def run(line: ProgressLine) -> Demo:
    """Ingest the sample, ask its first question, explain the passage that the answer rests on.

    The library is thrown away when the sample changes; until then the next demo finds it ready.
    """
    from core.worker.asking import ask
    from core.worker.finding import Finder

    sample = resources() / "sample"
    question = json.loads((sample / "questions.json").read_text(encoding="utf-8"))[0]["question"]
    library, report = _library(sample / "documents", line)
    finder = Finder(library)
    try:
        answer, result = ask(finder, library, question, control=line.control)
        cited = [c.passage_id for s in answer.sentences for c in s.citations]
        best = cited or [hit.passage.id for hit in result.hits[:1]]
        why = finder.explain(Query(result.query.text), best[0]) if best else None
    finally:
        finder.close()
    return Demo(report, answer, why)


def _library(documents: Path, line: ProgressLine) -> tuple[Path, IngestReport]:
    """The demo's library, up to date. One that cannot be used is made anew."""
    from core.worker.ingesting import ingest

    library = home() / f"{_PREFIX}{_digest(documents)}"
    for old in home().glob(f"{_PREFIX}*"):
        if old != library:
            shutil.rmtree(old, ignore_errors=True)
    fresh = not library.exists()
    try:
        return library, ingest(library, [documents], control=line.control, listener=line)
    except KnownError:
        if fresh:
            raise
        shutil.rmtree(library, ignore_errors=True)
        return library, ingest(library, [documents], control=line.control, listener=line)


def _digest(documents: Path) -> str:
    digest = hashlib.sha256(str(documents).encode())
    for path in sorted(documents.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]
