"""A small role that speaks the worker protocol over a real library: search by shared words, answers by quoting.

What a query holds steers it: "fail" ends with a known error, "slow" waits until it is cancelled, "nothing" has no
hits, "closely" has hits that can be read closely, which turns their order round ("closely breaks" and "closely dies"
fail and end the process then, "closely waits" until it is cancelled), "invent" brings a sentence without support,
"unknown" abstains, "dead" ends the process.
"""

from __future__ import annotations

import base64
import os
import re
import struct
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

# ruff: noqa: E402, I001
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

from fake_role import FakeRole

from core.base.events import Control
from core.base.types import (
    AccountLine, Answer, AnswerGroup, AnswerMode, AnswerSentence, Citation, ConceptPair, ConceptShare, ConceptWeight,
    Explanation, Filters, Hit, Lift, Passage, Query, ScorePart, SearchResult, Span, Standing, Support, TermMatch,
    TokenAlignment, Turn, WhyNot,
)  # fmt: skip
from core.base.wire import from_plain, to_plain
from core.library import Library
from core.search.syntax import parse

CONCEPTS = {  # id: name, and the words that make a text one about it
    7: ("harbour · dues · berth", ("harbour", "dues", "moor")),
    9: ("money and payment", ("crowns", "pays", "half")),
    11: ("ice", ("ice", "winter", "storm")),
}
TYPES = {"pdf": "application/pdf", "txt": "text/plain", "html": "text/html"}


def words(text: str) -> list[str]:
    return [w.casefold() for w in re.findall(r"\w+", text) if len(w) > 3]


def spans_of(word: str, text: str) -> tuple[Span, ...]:
    return tuple(Span(*m.span()) for m in re.finditer(re.escape(word), text, re.IGNORECASE))


class PagesRole(FakeRole):
    def __init__(self, role: str, library: str) -> None:
        super().__init__(role)
        self.folder = library

    def run(self, number: int, op: str, args: dict[str, Any]) -> None:
        if "number" in args:  # a page's number, not the request's
            args["page"] = args.pop("number")
        super().run(number, op, args)

    def passages(self) -> list[Passage]:
        library = Library.open(self.folder)
        found = [p for d in library.documents(sort="id") for p in library.document_passages(d.id)]
        library.close()
        return found

    def steer(self, number: int, control: Control, text: str) -> None:
        if "dead" in text:
            os._exit(9)
        if "unfinished" in text:
            self.say(number, "error", {"code": "bad-query", "message": "Only exclusions.", "advice": "Add a word."})
            raise SystemExit
        while "slow" in text:
            control.check()
            time.sleep(0.01)
        if "fail" in text:
            data = {"code": "index-damaged", "message": "The index is damaged.", "advice": "Repair it."}
            self.say(number, "error", data)
            raise SystemExit

    def active(self, text: str) -> list[int]:
        """The concepts of a text."""
        found = {i: sum(w in text.casefold() for w in about) for i, (_, about) in CONCEPTS.items()}
        return sorted((i for i, n in found.items() if n), key=lambda i: -found[i])

    def weights(self, texts: list[str]) -> Any:
        counts = {i: sum(i in self.active(text) for text in texts) for i in CONCEPTS}
        return {"concepts": [to_plain(ConceptWeight(i, CONCEPTS[i][0], n, n)) for i, n in counts.items() if n]}

    def query_concepts(self, number: int, control: Control, query: dict[str, Any]) -> Any:
        return self.weights([query["text"]])

    def facets(self, number: int, control: Control, query: dict[str, Any]) -> Any:
        return self.weights([hit.passage.text for hit in self.find(from_plain(Query, query)).hits])

    def concepts(self, number: int, control: Control) -> Any:
        listed = [{"id": i, "label": label} for i, (label, _) in CONCEPTS.items()]
        return {"model": "sae-test", "concepts": listed}

    def why_not(self, number: int, control: Control, query: dict[str, Any], passage_id: int) -> Any:
        asked = from_plain(Query, query)
        self.steer(number, control, asked.text)
        passage = next(p for p in self.passages() if p.id == passage_id)
        hits = self.find(replace(asked, k=1000)).hits
        rank = next((h.rank for h in hits if h.passage.id == passage_id), None)
        kept_out = rank is None and "type:" in asked.text
        has = [w for w in words(asked.text) if spans_of(w, passage.text)]
        return to_plain(
            WhyNot(
                asked.text, passage, rank, 0.4, 0.9,
                (Standing("dense", 0.31, 2, 0.31, 0.35, 0.4), Standing("bm25", 0.0, None, 0.0, 0.6, 1.1)),
                tuple(w for w in asked.text.split() if "type:" in w) if kept_out else (),
                tuple(w for w in words(asked.text) if w not in has and "type" not in w),
                (ConceptShare(9, CONCEPTS[9][0], 0.1, 0.2, 0.5, 0.0),),
                (
                    Lift("word", "pier", 1), Lift("concept", CONCEPTS[11][0], 2, 11), Lift("channel", "dense", 2),
                    *((Lift("filter", "type:pdf", 1),) if kept_out else ()), Lift("word", "boat", None),
                ),
                0, "It lacks the words of the question.",
            )
        )  # fmt: skip

    def search(self, number: int, control: Control, query: dict[str, Any]) -> Any:
        asked = from_plain(Query, query)
        self.steer(number, control, asked.text)
        if "closely" not in asked.text:
            return to_plain(self.find(asked))
        found = self.find(asked)
        if not asked.rerank:
            return to_plain(replace(found, closer=True))
        turns = {"closely breaks": "fail", "closely dies": "dead", "closely waits": "slow"}
        self.steer(number, control, next((turn for said, turn in turns.items() if said in asked.text), ""))
        turned = [replace(hit, rank=n) for n, hit in enumerate(reversed(found.hits), 1)]
        return to_plain(replace(found, hits=tuple(turned)))

    def find(self, query: Query) -> SearchResult:
        scored = [(self.hit(query, passage), passage) for passage in self.passages()]
        hits = [hit for hit, _ in scored if hit is not None and "nothing" not in query.text]
        kept = [h for h in hits if not query.filters.types or h.passage.media_type in query.filters.types]
        kept = [h for h in kept if set(query.required) <= set(self.active(h.passage.text))]
        kept.sort(key=lambda h: -h.score * self.boost(query, h.passage))
        ranked = tuple(Hit(n, h.passage, h.score, h.parts, h.spans, h.snippet) for n, h in enumerate(kept, start=1))
        parsed = parse(query.text)
        told = (parsed.understood, parsed.places)
        notice = "A damaged index file is being made again." if "notice" in query.text else ""
        return SearchResult(query, ranked[: query.k], 1, {"total": 12.0}, len(hits) - len(kept), notice, *told)

    def boost(self, query: Query, passage: Passage) -> float:
        about = self.active(passage.text)
        lowered = any(f < 1 and i in about for i, f in query.boosts.items())
        raised = any(f > 1 and i in about for i, f in query.boosts.items())
        return (0.01 if lowered else 1.0) * (100.0 if raised else 1.0)

    def hit(self, query: Query, passage: Passage) -> Hit | None:
        found = {w: spans_of(w, passage.text) for w in words(query.text)}
        matched = sorted((s for spans in found.values() for s in spans), key=lambda s: s.start)
        if not matched:
            return None
        by_words, meaning = 0.35 * sum(bool(s) for s in found.values()), 0.3 + 0.01 * (passage.id % 7)
        parts = (ScorePart("dense", meaning, 1, 1.0, meaning), ScorePart("bm25", by_words * 9, 2, 1.0, by_words))
        return Hit(0, passage, by_words + meaning, parts, tuple(matched), Span(0, min(300, len(passage.text))))

    def retrieve(self, number: int, control: Control, question: str, history: Any, filters: Any, k: int) -> Any:
        turns = [from_plain(Turn, t) for t in history]
        alone = f"{turns[-1].search_text} {question}" if turns else question
        self.steer(number, control, question.replace("slow", ""))
        return to_plain(self.find(Query(alone, k, from_plain(Filters, filters))))

    def stand_alone(self, number: int, control: Control, question: str, history: Any) -> Any:
        return "What do guests pay at the harbour?" if "written out" in question else ""

    def explain(self, number: int, control: Control, query: dict[str, Any], passage_id: int) -> Any:
        asked = from_plain(Query, query)
        self.steer(number, control, asked.text)
        passage = next(p for p in self.passages() if p.id == passage_id)
        hit = self.hit(asked, passage)
        assert hit is not None
        terms = tuple(
            TermMatch(w, 1.0 + len(w) / 10, spans_of(w, passage.text))
            for w in dict.fromkeys(words(asked.text))
            if spans_of(w, passage.text)
        )
        first = passage.text.split(". ")[0]
        whole = (Span(0, len(first)),)
        dense = hit.parts[0].score
        pairs = (ConceptPair(7, CONCEPTS[7][0], 0.3 * dense), ConceptPair(9, CONCEPTS[9][0], 0.15 * dense))
        dues = ConceptShare(
            7, CONCEPTS[7][0], 0.5 * dense, 0.5, 1.2, 1.4, whole, spans_of("dues", passage.text), pairs, 0.05 * dense
        )
        concepts = (
            dues,
            ConceptShare(9, "money and payment", 0.2 * dense, 0.2, 0.6, 0.9, whole),
            ConceptShare(11, "ice", -0.05 * dense, -0.05, -0.1, 0.2, ()),
        )
        aligned = (TokenAlignment("fees", "dues", 0.83, (spans_of("dues", passage.text) or whole)[0]),)
        by_words = hit.parts[1].contribution / sum(t.weight for t in terms)
        account = (
            *(AccountLine("word", "bm25", t.term, t.weight * by_words, t.spans) for t in terms),
            *(AccountLine("concept", "dense", c.label, c.contribution, c.spans, c.id) for c in concepts),
            AccountLine("common", "dense", "", 0.25 * dense), AccountLine("unnamed", "dense", "", 0.1 * dense),
        )  # fmt: skip
        sentence = f"It shares {len(terms)} words with the question and speaks of harbour dues."
        return to_plain(
            Explanation(
                asked.text, passage, hit.score, hit.parts, terms, aligned, concepts, dense, 0.25 * dense, 0.1 * dense,
                0.87, sentence, account=account,
            )
        )  # fmt: skip

    def ask(self, number: int, control: Control, question: str, history: Any, result: Any, mode: str) -> Any:
        found = from_plain(SearchResult, result)
        if "unknown" in question or not found.hits:
            near = tuple(self.citation(n, h.passage, 0) for n, h in enumerate(found.hits[:2], start=1))
            return to_plain(Answer(question, AnswerMode.ABSTAINED, "", (), near, "No passage speaks of it."))
        quoted = self.quoted(question, found)
        self.say(number, "partial", {"answer": to_plain(quoted)})
        if mode == "extractive":
            return to_plain(quoted)
        for word in ["The", "dues", "are", "12", "crowns", "a", "night.", ""] * (1000 if "slow" in question else 1):
            control.check()
            self.say(number, "partial", {"token": word + " "})
            time.sleep(0.01)
        return to_plain(self.written(question, quoted))

    def ask_all(self, number: int, control: Control, question: str, history: Any, result: Any, mode: str) -> Any:
        """Reads forty passages, a moment each, and finds the first hit in all that it has read."""
        quoted = self.quoted(question, from_plain(SearchResult, result))
        groups = tuple(AnswerGroup(s.citations[0].title, n, n + 1) for n, s in enumerate(quoted.sentences))
        for read in range(40):
            control.check()
            self.say(number, "partial", {"answer": to_plain(replace(quoted, groups=groups, read=read, matching=40))})
            time.sleep(0.05 if "slow" in question else 0.0)
        return to_plain(replace(quoted, groups=groups, read=40, matching=40))

    def citation(self, marker: int, p: Passage, sentence: int) -> Citation:
        text = p.text.split(". ")[sentence]
        start = p.start + p.text.index(text)
        return Citation(
            marker, p.id, p.document_id, p.path, p.title, p.external_id, p.first_page, start, start + len(text), text
        )

    def quoted(self, question: str, found: SearchResult) -> Answer:
        sentences = tuple(
            AnswerSentence(c.quote, Support.SUPPORTED, (c,))
            for c in (self.citation(n, h.passage, 0) for n, h in enumerate(found.hits[:2], start=1))
        )
        text = " ".join(f"{s.text} [{s.citations[0].marker}]" for s in sentences)
        return Answer(question, AnswerMode.EXTRACTIVE, text, sentences, reason="No local model is installed.")

    def written(self, question: str, quoted: Answer) -> Answer:
        cited = quoted.sentences[0].citations
        sentences = [AnswerSentence("The dues are 12 crowns a night.", Support.SUPPORTED, cited)]
        if len(quoted.sentences) > 1:
            sentences.append(AnswerSentence("Members pay less.", Support.PARTLY, quoted.sentences[1].citations))
        if "invent" in question:
            sentences.append(AnswerSentence("Dogs travel free.", Support.UNSUPPORTED))
        text = "The dues are 12 crowns a night. [1]"
        return Answer(question, AnswerMode.GENERATED, text, tuple(sentences), model="SmolLM2-135M-Instruct")

    def sizes(self, number: int, control: Control, document_id: int) -> Any:
        library = Library.open(self.folder)
        path, (_, pages, _) = library.document(document_id).path, library.document_text(document_id)
        library.close()
        if not Path(path).is_file():
            self.say(number, "error", {"code": "path-missing", "message": "The file is gone.", "advice": ""})
            raise SystemExit
        return {"pages": [[p.width, p.height] for p in pages]}

    def page(self, number: int, control: Control, document_id: int, page: int, scale: float, spans: Any) -> Any:
        """A white page with grey lines. A span is marked at its offset in the page, in points down the page."""
        library = Library.open(self.folder)
        pages = library.document_text(document_id)[1]
        library.close()
        it = next(p for p in pages if p.number == page)
        width, height = round(it.width * scale), round(it.height * scale)
        rects = [
            [72 * scale, (100 + max(0, s - it.start)) * scale, 300 * scale, (112 + max(0, s - it.start)) * scale]
            for s, e in spans
            if s < it.end and e > it.start
        ]
        return {
            "number": page, "pages": len(pages), "width": width, "height": height,
            "image": base64.b64encode(png(width, height, scale)).decode(), "rects": rects,
        }  # fmt: skip


def png(width: int, height: int, scale: float) -> bytes:
    """A grey-scale picture of a page with lines of text."""
    rows = bytearray()
    left, right = round(72 * scale), width - round(72 * scale)
    for y in range(height):
        line = 60 < y / scale < height / scale - 60 and (y / scale) % 16 < 7
        rows += b"\0" + (
            b"\xff" * left + b"\x99" * (right - left) + b"\xff" * (width - right) if line else b"\xff" * width
        )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(rows), 1))
        + chunk(b"IEND", b"")
    )


if __name__ == "__main__":
    PagesRole(sys.argv[1], sys.argv[2]).serve()
