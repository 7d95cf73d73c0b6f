"""Run files in TREC format: one line a document, `query Q0 document rank score tag`."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from core.base.errors import BadDataset, from_os_error
from core.base.files import write_bytes

Run = Mapping[str, Sequence[tuple[str, float]]]  # a query's documents with their scores, best first

_ADVICE = "A run file has lines of query, Q0, document, rank, score and tag."


def write(path: Path, run: Run, tag: str) -> None:
    """
    Raises:
        BadDataset: an id holds white space, which the format does not allow.
        DiskFull, NoPermission
    """
    text = io.StringIO()
    for query, documents in run.items():
        for rank, (document, score) in enumerate(documents, 1):
            check((query, document, tag))
            text.write(f"{query} Q0 {document} {rank} {score!r} {tag}\n")
    write_bytes(path, text.getvalue().encode())


def check(names: Iterable[str]) -> None:
    """Raises BadDataset for a name that the format has no room for."""
    for name in names:
        if not name or len(name.split()) != 1:
            raise BadDataset(f"The id {name!r} cannot stand in a run file.", "Ids may hold no white space.")


def read(path: Path) -> dict[str, list[tuple[str, float]]]:
    """The run by query, by score; of equal scores the one of the better rank comes first.

    Raises:
        BadDataset: the file is missing, malformed or empty, or names a document twice for a query.
    """
    found: dict[str, list[tuple[float, int, str]]] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            query, _, document, rank, score, _ = line.split()
            if math.isnan(float(score)):
                raise ValueError("not a number")
            found.setdefault(query, []).append((-float(score), int(rank), document))
        except ValueError:
            raise BadDataset(f"{path}, line {number}: not a line of a run.", _ADVICE) from None
    if not found:
        raise BadDataset(f"{path} is empty.", _ADVICE)
    run = {query: [(document, -score) for score, _, document in sorted(rows)] for query, rows in found.items()}
    for query, rows in run.items():
        if len({document for document, _ in rows}) < len(rows):
            raise BadDataset(f"{path} names a document twice for the query {query}.", _ADVICE)
    return run


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise BadDataset(f"{path} is missing.", _ADVICE) from None
    except UnicodeDecodeError:
        raise BadDataset(f"{path} is not UTF-8 text.", _ADVICE) from None
    except OSError as error:
        raise from_os_error(error, path) from error
