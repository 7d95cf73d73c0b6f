"""The pages' role with concepts: those stored in the library; the rest is counted from its passages."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

# ruff: noqa: E402, I001
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

from concept_library import MODEL, listed, listing
from pages_role import PagesRole, spans_of

from core.base.events import Control
from core.base.types import (
    Concept, ConceptDetail, ConceptExample, ConceptPoint, ConceptWeight, Difference, Filters, Passage,
)  # fmt: skip
from core.base.wire import from_plain, to_plain
from core.library import Library

FAILED = {"code": "model-missing", "message": "The search model is not there.", "advice": "Add it under Models."}
_GOLDEN = 0.618_033_988_7


def in_passage(concept: Concept, passage: Passage) -> bool:
    return any(spans_of(term, passage.text) for term in concept.terms)


class ConceptRole(PagesRole):
    def known(self) -> list[Concept]:
        return [c for c in self.stored() if not c.hidden]

    def stored(self) -> list[Concept]:
        return listed(Path(self.folder))

    def concepts(self, number: int, control: Control) -> Any:
        """As `core.worker.concept_list` gives them."""
        return to_plain(listing(Path(self.folder)))

    def concept(self, number: int, control: Control, id: int) -> Any:
        concepts = self.known()
        concept = next(c for c in self.stored() if c.id == id)
        found = [p for p in self.passages() if in_passage(concept, p)]
        examples = tuple(
            ConceptExample(p, 1.0, tuple(s for t in concept.terms for s in spans_of(t, p.text)[:1])) for p in found
        )
        others = [c for c in concepts if c.id != id]
        weights = tuple(ConceptWeight(c.id, c.label, 0.9 / n, c.passages) for n, c in enumerate(others[:6], start=1))
        growth = (("2021-03", 4), ("2021-04", 7), ("2021-09", 2), ("2022-01", 12), ("2022-02", 3))
        documents = len({p.document_id for p in found})
        return to_plain(ConceptDetail(concept, examples, weights[:4], weights[2:], documents, growth))

    def concept_map(self, number: int, control: Control) -> Any:
        """Spread evenly: multiples of the golden ratio."""
        points = [
            ConceptPoint(c.id, c.label, (n * _GOLDEN) % 1, (n + 0.5) / len(self.known()), c.passages, n % 5)
            for n, c in enumerate(self.known())
        ]
        return to_plain({"points": points})

    def profile(self, number: int, control: Control, filters: Any) -> Any:
        inside = self.inside(from_plain(Filters, filters))
        return to_plain({"concepts": [
            ConceptWeight(c.id, c.label, n / max(1, len(inside)), n, 0.5 + 3.7 * (c.id % 3))
            for c in self.known() if (n := sum(in_passage(c, p) for p in inside))
        ]})  # fmt: skip

    def difference(self, number: int, control: Control, first: Any, second: Any) -> Any:
        one, other = (self.inside(from_plain(Filters, filters)) for filters in (first, second))
        found = []
        for c in self.known():
            a, b = (sum(in_passage(c, p) for p in texts) / max(1, len(texts)) for texts in (one, other))
            found.append(Difference(c.id, c.label, a, b, 6 * (a - b)))
        return to_plain({"concepts": sorted(found, key=lambda d: -abs(d.z))})

    def inside(self, filters: Filters) -> list[Passage]:
        """Enough of filtering for what the pages ask: documents, folders, and what is none of them."""
        out = {p.id for one in filters.none for p in self.inside(one)}
        return [
            p for p in self.passages()
            if p.id not in out
            and (not filters.documents or p.document_id in filters.documents)
            and (not filters.folders or any(p.path.startswith(folder) for folder in filters.folders))
        ]  # fmt: skip

    def fit_concepts(self, number: int, control: Control) -> Any:
        for step in range(20):
            control.check()
            self.say(number, "progress", {"stage": "concepts", "done": step * 5, "total": 100})
            time.sleep(0.02)
        library = Library.open(self.folder)
        data = {"generation": 2, "documents": library.count(), "passages": library.passage_count()}
        library.close()
        self.say(number, "changed", data)
        return {"generation": 2, "concepts": len(self.known())}

    def name_concepts(self, number: int, control: Control, minutes: float) -> Any:
        library = Library.open(self.folder)
        library.rename_concept(MODEL, 7, "Written by the model")
        library.close()
        self.say(number, "progress", {"stage": "naming", "done": 1, "total": 2})
        return {"asked": 3, "kept": 1, "left": 2, "capable": True, "faults": {}}


if __name__ == "__main__":
    ConceptRole(sys.argv[1], sys.argv[2]).serve()
