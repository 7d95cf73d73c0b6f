"""The lines that a child and its parent speak: one JSON object a line, UTF-8, on a private descriptor.

Parent to child, `Request`: `{"id": 7, "op": "search", "args": {...}}`. The operations `cancel`, `pause`, `resume`
and `give_way` (end soon, in good order) carry the id of the request they mean. A child ends when its standard input
closes.

Child to parent, `Reply`: `{"id": 7, "event": ..., "data": ...}` with the events

- `ready` (id 0): the role is up; data names the role and what it loaded.
- `progress`: `core.base.events.Progress`; any number of them. `changed`: `Changed`. `notice`: `{"text"}`.
- `curve`: `core.base.events.Curve`, one point of a training's curve.
- `partial`: a first part of a result (`answer` role: `{"token": text}` or `{"answer": Answer}`).
- `result`: the outcome; the last event of its request.
- `error`: `{"code", "message", "advice"}`, `code` from `core.base.errors`; the last event of its request.
- `bug`: `{"message", "traceback"}`; the last event of its request.
- `cancelled`: the last event of a request that was cancelled.

Roles and operations (arguments -> result, types of `core.base.types` in `core.base.wire` form):

- `search`: `search {query: Query}` -> `SearchResult`;
  `retrieve {question, history: [Turn], filters: Filters, k}` -> `SearchResult` (its `query.text` is the
  stand-alone question that was searched);
  `every {text, filters: Filters, first, count}` -> `core.search.every.Matches`: a page of all passages that match, not
  the best; `text` has no syntax, an empty one matches everything;
  `explain {query: Query, passage_id}` -> `Explanation`;
  `why_not {query: Query, passage_id}` -> `WhyNot`;
  `query_concepts {query: Query}` -> `{concepts: [ConceptWeight]}`: those of its text, strongest first;
  `facets {query: Query}` -> `{concepts: [ConceptWeight]}`: those of its best hits that set them apart;
  `concepts {}` -> `core.worker.concept_list.ConceptList`: all of them with the figures of their model;
  `concept {id}` -> `ConceptDetail`; `concept_map {}` -> `{points: [ConceptPoint]}`;
  `profile {filters: Filters}` -> `{concepts: [ConceptWeight]}` of the documents that the filters let through;
  `difference {first: Filters, second: Filters}` -> `{concepts: [Difference]}`, the largest differences first;
  `judge_next {asked: [question, ...]}` -> `core.worker.judging.ToJudge`: the next question to judge by hand, none of
  those asked before; an empty one when there is none left. `Library.judge` takes the verdict.
- `answer`: `ask {question, history: [Turn], result: SearchResult, mode: "auto"|"extractive"}` ->
  partials, then `Answer`. A question about the whole library (how many, list all, compare, summarise, timeline) is
  answered from all that matches, unless `scope: "best"` says from the best passages; its partials are answers from
  what has been read so far. `ask_all`, with the same arguments, does so with any question.
  `stand_alone {question, history: [Turn]}` -> the question of a conversation as a language model writes it out, to be
  searched for; empty where the rules of `retrieve` are to do it.
- `view`: `page {document_id, number, scale, spans: [[start, end], ...], password: text or none}` (offsets in the
  document's text; without a password the remembered one is taken) ->
  `{number, pages, width, height, image: base64 PNG, rects: [[left, top, right, bottom], ...]}` in pixels;
  for PDFs and images. `sizes {document_id}` -> `{pages: [[width, height], ...]}` in points, for images in pixels.
- `job`: `ingest {paths: [...], retry: bool, battery: bool, ocr: bool, passwords: {path: password}, remember: bool,
  again: [...]}` -> `IngestReport`; an empty `paths` scans all roots again, files in `again` are read once more before
  all others (of folders, what changed goes first), `battery` pauses while the machine runs on its battery,
  `passwords` open locked files (which are read again) and are kept in the system's keyring when `remember` is set.
  `remove {path}`, or `{paths: [...]}`, -> `{documents, passages, channels, receipt, stays}`;
  `purge {}` -> `{bytes_before, bytes_after, segments, concepts, conversations}`;
  `demo {}` adds the sample library, -> `IngestReport`;
  `fit_concepts {}` finds the concepts of the whole library anew, -> `{generation, concepts: number of them}`;
  `name_concepts {minutes}` lets the local language model write names, kept where they lead to the passages better, ->
  `core.worker.concept_naming.Naming`;
  `reencode {model: id}` makes the index anew with another encoder beside the present one, which serves until then, ->
  `{generation, encoder, passages, encoded, seconds, before}`; `rollback {to: generation}` -> `{generation}`.
- `models`: `list {}`, `use {id}`, `remove {id}` -> `{models: [ModelEntry], library_encoder: id or "", memory: bytes
  of the machine, endpoint: none or {url, model, in_use, anywhere, context, host}}`;
  `needs {spec}` -> `ModelNeeds` (licence, download, disk and memory, before anything is fetched);
  `add {spec}` -> as `list`, with `id`; cancelled at once, and gone on with by the next `add` of the same model;
  `renew {id}` exports an `outdated` encoder again -> as `add`.
  `measure {id}` tells how fast an installed language model is on this machine -> as `list`;
  `endpoint_look {url, anywhere}` asks an endpoint for its models -> `{url, host, models: [name]}`;
  `endpoint_use {url, model, in_use, anywhere, context}`, `endpoint_forget {}` -> as `list`.
- `probe`: `try {path}` loads a file of a language model and writes some tokens -> `{read, write}` in tokens a second;
  the child may die of it (started by `core.worker.probing` only).
- `watch`: `watch {every, settle}` (seconds) -> a partial `{"paths": n}` each time that n files in the library's
  folders changed and have settled, or with n = 0 when it is time to look at them anyway; goes on until cancelled.
- `parse`: `read {path, media_type}` -> partials of one `ReadDocument` each, then `{documents: n}`
  (spoken by the ingest job only).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

SEARCH, ANSWER, VIEW, JOB, PARSE, WATCH = "search", "answer", "view", "job", "parse", "watch"
MODELS, PROBE = "models", "probe"
ROLES = (SEARCH, ANSWER, VIEW, JOB, PARSE, WATCH, MODELS, PROBE)
CONTROLS = frozenset({"cancel", "pause", "resume", "give_way"})  # methods of `core.base.events.Control`
LAST_EVENTS = frozenset({"result", "error", "bug", "cancelled"})


@dataclass(frozen=True, slots=True)
class Request:
    id: int
    op: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    id: int
    event: str
    data: Any = None

    @property
    def last(self) -> bool:
        return self.event in LAST_EVENTS


def encode_request(request: Request) -> bytes:
    return _line({"id": request.id, "op": request.op, "args": request.args})


def encode_reply(reply: Reply) -> bytes:
    return _line({"id": reply.id, "event": reply.event, "data": reply.data})


def _line(value: dict[str, Any]) -> bytes:
    # ASCII only: a lone surrogate from an odd file name must not break the pipe
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode_request(line: bytes) -> Request:
    """Raises ValueError on a line that is no request."""
    value, number = _message(line, "op")
    args = value.get("args") or {}
    if not isinstance(args, dict):
        raise ValueError("the arguments have no names")
    return Request(number, value["op"], args)


def decode_reply(line: bytes) -> Reply:
    """Raises ValueError on a line that is no reply."""
    value, number = _message(line, "event")
    return Reply(number, value["event"], value.get("data"))


def _message(line: bytes, kind: str) -> tuple[dict[str, Any], int]:
    """The object of a line and its id. Whatever else stands there ends as a ValueError: the listener goes on."""
    try:
        value = json.loads(line)
        if not isinstance(value, dict) or not isinstance(value.get(kind), str):
            raise ValueError(f"no message: {kind} is missing")
        return value, int(value.get("id", 0))
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError("no message") from error


def private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Move the protocol off descriptors 0 and 1, which native code may read and write.

    Returns the streams to read requests from and to write replies to. Afterwards descriptor 0 is the null
    device and descriptor 1 goes where standard error goes.
    """
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, replies


def read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines of an unbuffered stream until it closes."""
    rest = b""
    while chunk := stream.read(1 << 16):
        rest += chunk
        if b"\n" in chunk:
            *lines, rest = rest.split(b"\n")
            yield from lines


def command(role: str, library: str | None = None) -> list[str]:
    """Program and arguments that start a child of `role`."""
    line = [sys.executable, "-m", "core.worker", role]
    return [*line, "--library", library] if library else line
