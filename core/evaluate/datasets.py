"""Test collections in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.errors import BadDataset, from_os_error

_ADVICE = "A data set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv."


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """`qrels` map a query's id to its judged documents with their gains; `queries` holds the judged ones."""

    name: str
    folder: Path
    corpus: tuple[CorpusDocument, ...]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load(folder: Path) -> Dataset:
    """
    Raises:
        BadDataset: a file is missing or malformed, or no query is judged.
    """
    if not folder.is_dir():
        raise BadDataset(f"{folder} is not a folder.", _ADVICE)
    corpus = tuple(_documents(folder / "corpus.jsonl"))
    queries = {_id(row, place): _text(row, "text", place) for row, place in _rows(folder / "queries.jsonl")}
    qrels = _judgements(_qrels_file(folder))
    judged = {query: text for query, text in queries.items() if query in qrels}
    if not corpus or not judged:
        what = "no documents" if not corpus else "no query with judgements"
        raise BadDataset(f"{folder} holds {what}.", _ADVICE)
    return Dataset(folder.resolve().name, folder, corpus, judged, {q: qrels[q] for q in judged})


def _documents(path: Path) -> Iterator[CorpusDocument]:
    seen: set[str] = set()
    for row, place in _rows(path):
        document = CorpusDocument(_id(row, place), _text(row, "title", place), _text(row, "text", place))
        if document.id in seen:
            raise BadDataset(f"{place}: the id {document.id} occurs twice.", "Give every document its own id.")
        seen.add(document.id)
        yield document


def _rows(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a JSON Lines file, each with its place for error messages."""
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise BadDataset(f"{place}: not JSON.", "Each line must be one JSON object.") from None
        if not isinstance(row, dict):
            raise BadDataset(f"{place}: not a JSON object.", "Each line must be one JSON object.")
        yield row, place


def _lines(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise BadDataset(f"{path} is missing.", _ADVICE) from None
    except UnicodeDecodeError:
        raise BadDataset(f"{path} is not UTF-8 text.", "Convert it to UTF-8.") from None
    except OSError as error:
        raise from_os_error(error, path) from error


def _id(row: dict[str, Any], place: str) -> str:
    value = row.get("_id")
    if not isinstance(value, (str, int)) or value == "":
        raise BadDataset(f"{place}: no _id.", "Give every line an _id.")
    return _valid(str(value))


def _text(row: dict[str, Any], field: str, place: str) -> str:
    value = row.get(field) or ""
    if not isinstance(value, str):
        raise BadDataset(f"{place}: {field} is not text.", "Write it as a string.")
    return _valid(value)


def _valid(text: str) -> str:
    """Without halves of characters, which JSON can write and no file can hold."""
    return text.encode(errors="replace").decode()


def _qrels_file(folder: Path) -> Path:
    path = folder / "qrels" / "test.tsv"
    others = sorted((folder / "qrels").glob("*.tsv"))
    return others[0] if not path.exists() and len(others) == 1 else path


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), 1):
        fields = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and fields[-1].strip() == "score"):
            continue
        try:
            query, document, gain = fields
            found.setdefault(query, {})[document] = int(float(gain))
        except (ValueError, OverflowError):
            raise BadDataset(
                f"{path}, line {number}: not a query id, a document id and a gain.", "Separate the three by tabs."
            ) from None
    return found
