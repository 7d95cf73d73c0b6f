"""`whymatch demo`: the main job on the sample documents, from folder to explained answer."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.paths import resources
from core.base.types import Answer, Explanation, IngestReport, Query
from core.base.wire import to_plain
from core.cli.output import ProgressLine, out
from core.cli.present import show_answer, show_explanation


@dataclass(frozen=True, slots=True)
class Demo:
    report: IngestReport
    answer: Answer
    explanation: Explanation | None

    def plain(self) -> dict[str, Any]:
        return {"ingest": to_plain(self.report), "answer": to_plain(self.answer), "why": to_plain(self.explanation)}

    def show(self) -> None:
        out.print(f"Read {self.report.documents} sample documents: {self.report.passages} passages.")
        out.print(f"\nQuestion: {self.answer.question}", markup=False)
        show_answer(self.answer)
        if self.explanation is not None:
            out.print("\nWhy this passage matched:")
            show_explanation(self.explanation)


def run(line: ProgressLine) -> Demo:
    """Ingest the sample, ask its first question, explain the passage that the answer rests on."""
    from core.worker.asking import ask
    from core.worker.finding import Finder
    from core.worker.ingesting import ingest

    sample = resources() / "sample"
    question = json.loads((sample / "questions.json").read_text(encoding="utf-8"))[0]["question"]
    with tempfile.TemporaryDirectory(prefix="whymatch-demo-") as folder:
        library = Path(folder) / "library"
        report = ingest(library, [sample / "documents"], control=line.control, listener=line)
        finder = Finder(library)
        try:
            answer, result = ask(finder, library, question, control=line.control)
            cited = [c.passage_id for s in answer.sentences for c in s.citations]
            best = cited or [hit.passage.id for hit in result.hits[:1]]
            why = finder.explain(Query(result.query.text), best[0]) if best else None
        finally:
            finder.close()
    return Demo(report, answer, why)
