"""How search grows: libraries of 100,000 and of 1,000,000 passages, in one process.

    WHYMATCH_SHARED=... python tests/benchmarks/bench_large.py real 100000 FOLDER --vectors NPZ [NPZ ...] [--tokens NPZ]
    WHYMATCH_SHARED=... python tests/benchmarks/bench_large.py synthetic 1000000 FOLDER --vectors NPZ [NPZ ...]

`real` recombines sentences of the collections behind the vector files into new passages; the queries are those of
the collections, encoded by the active encoder as they come. `synthetic` draws words by Zipf's law, and its queries
come with vectors: the encoder's time is not in them. Vectors are no texts' own in either: each is a mean of two real
passages' vectors with a little noise, unit length (encoding as many for real takes hours). A file holds `P` [N, D] and
`Q` [M, D] and is named after its collection. With `--tokens` (`passage_tokens` [T, D] and `passage_counts`) each
passage gets the token vectors of one of that file's passages by chance, and the best candidates are compared by them.

The library is made in FOLDER unless it is there. Printed as JSON: text to hits (p50, p95, wall and CPU), opening,
memory, bytes on disk per passage, recall of the dense channel against exact search over all vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.types import BM25, DENSE, Query, ReadDocument
from core.encode.encoder import QUERY, Encoded
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.index import build
from core.index.snapshot import Snapshot
from core.index.writer import IndexPassage, IndexWriter
from core.search.searcher import Searcher
from core.store import database, documents
from core.store.passages import NewPassage, put_vectors, replace_passages
from core.text.analyze import query_terms
from core.text.sentences import split

DRAWN = "drawn-vectors"
_A_DOCUMENT = 50  # passages; a segment has whole documents
_STORED = 10_000  # passages a transaction
_SHARES = (0.5, 0.25, 0.125, 0.0625, 0.0625)  # of the passages in each segment, as merging leaves them
_WORDS, _VOCABULARY = 60, 200_000  # a synthetic passage
_NOISE = 0.01
_ASKED, _JUDGED = 200, 50  # queries


class Drawn:
    """An encoder of queries that are asked by number: their vectors were drawn with the passages."""

    id, max_tokens = DRAWN, 512
    heads: frozenset[str] = frozenset({DENSE})

    def __init__(self, vectors: dict[str, np.ndarray], dimension: int) -> None:
        self._vectors, self.dimension = vectors, dimension

    def encode(self, texts: Sequence[str], *, kind: str = QUERY, **_: object) -> np.ndarray:
        return np.stack([self._vectors[text] for text in texts])

    def encode_heads(self, texts: Sequence[str], heads: Collection[str], *, kind: str = QUERY, **_: object) -> Encoded:
        return Encoded(self.encode(texts, kind=kind), None, None)


def recombined(sets: Sequence[Dataset], count: int, rng: np.random.Generator) -> Iterator[str]:
    """Passages of four to eight sentences, each from anywhere in the collections."""
    texts = [document.text for one in sets for document in one.corpus]
    chosen = rng.permutation(len(texts))[:20_000]
    pool = [texts[n][a:b] for n in chosen for a, b in split(texts[n]) if b - a > 20]
    for size in rng.integers(4, 9, count):
        yield " ".join(pool[n] for n in rng.integers(0, len(pool), size))


def drawn(count: int, rng: np.random.Generator) -> Iterator[str]:
    shares = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
    words = np.array([f"w{n}" for n in range(_VOCABULARY)], object)
    for _ in range(count):
        yield " ".join(words[np.searchsorted(shares, rng.random(_WORDS) * shares[-1])].tolist())


def mixed(real: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    left, right = real[rng.integers(0, len(real), count)], real[rng.integers(0, len(real), count)]
    share = rng.uniform(0.5, 1.0, (count, 1)).astype(np.float32)
    made = share * left + (1 - share) * right
    made += _NOISE * rng.standard_normal(made.shape, np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


class DrawnTokens:
    """Token vectors of passages by chance, out of those of some real ones."""

    def __init__(self, path: Path) -> None:
        file = np.load(path)
        ends = np.cumsum(file["passage_counts"])
        self._passages = np.split(file["passage_tokens"], ends[:-1])
        self._rng = np.random.default_rng(2)

    def __call__(self, count: int) -> list[np.ndarray]:
        return [self._passages[n] for n in self._rng.integers(0, len(self._passages), count)]


def make(
    folder: Path, texts: Iterator[str], real: np.ndarray, count: int, encoder: str, tokens: DrawnTokens | None = None
) -> dict[str, float]:
    """Write the library in segments as merging leaves them; CPU seconds of storing and indexing."""
    folder.mkdir(parents=True)
    db = database.create(folder)
    root = documents.add_root(db, "/made", is_folder=True)
    writer = IndexWriter(folder, db, encoder, real.shape[1])
    rng, spent = np.random.default_rng(1), {"store": 0.0, "index": 0.0}
    for share in _SHARES:
        size, began = max(1, round(count * share / _A_DOCUMENT)) * _A_DOCUMENT, time.process_time()
        stored: list[IndexPassage] = []
        while len(stored) < size:
            with database.transaction(db):
                for _ in range(min(_STORED, size - len(stored)) // _A_DOCUMENT):
                    stored += _document(db, root, [next(texts) for _ in range(_A_DOCUMENT)])
        vectors = mixed(real, len(stored), rng)
        with database.transaction(db):
            put_vectors(db, encoder, ((str(p.id), v.tobytes()) for p, v in zip(stored, vectors, strict=True)))
        stored_at = time.process_time()
        writer.add(stored, vectors, multi=tokens(len(stored)) if tokens else None)
        spent["store"] += stored_at - began
        spent["index"] += time.process_time() - stored_at
        print(f"{len(stored)} passages: {spent}", file=sys.stderr, flush=True)
    writer.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.conn.close()
    return spent


def _document(db: database.Database, root: int, texts: Sequence[str]) -> list[IndexPassage]:
    number = db.execute("SELECT count(*) FROM file").fetchone()[0]
    path = f"/made/{number:06d}.txt"
    file = documents.put_file(db, root, path, 1, 1, "")
    read = ReadDocument("\n".join(texts), title=f"Part {number}", media_type="text/plain")
    row = documents.put_document(db, file, path, str(number), read, language="en", size=len(read.text))
    first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM passage").fetchone()[0]
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
    new = [
        NewPassage(text, start, start + len(text), None, None, (), "en", str(first + n))
        for n, (text, start) in enumerate(zip(texts, starts[:-1], strict=True))
    ]
    replace_passages(db, row, new)
    return [IndexPassage(first + n, text, (), read.title, "en") for n, text in enumerate(texts)]


def ask(searcher: Searcher, queries: Sequence[str]) -> dict[str, object]:
    """Text to hits of queries none of which was asked before, after a few others."""
    for text in queries[:5]:
        searcher.search(Query(text, literal=True))
    walls, cpus, stages = [], [], []
    for text in queries[5:]:
        wall, cpu = time.perf_counter(), time.process_time()
        result = searcher.search(Query(text, literal=True))
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
        stages.append(result.milliseconds)
    return {
        "wall ms": _percentiles(walls), "cpu ms": _percentiles(cpus),
        "median ms by stage": {s: round(statistics.median(one[s] for one in stages), 1) for s in stages[0]},
    }  # fmt: skip


def channels(snapshot: Snapshot, queries: Sequence[tuple[str, np.ndarray]]) -> dict[str, object]:
    """Each channel alone, CPU ms for 200 candidates, cold and warm; recall of the dense one."""
    cold, warm, dense = [], [], []
    for text, vector in queries:
        terms = query_terms(text, ["en"])
        cold.append(_cpu(lambda t=terms: snapshot.sparse(BM25, t, 200)))  # type: ignore[misc]
        warm.append(_cpu(lambda t=terms: snapshot.sparse(BM25, t, 200)))  # type: ignore[misc]
        dense.append(_cpu(lambda v=vector: snapshot.dense(v, 200)))  # type: ignore[misc]
    return {"bm25 cold": _percentiles(cold), "bm25 warm": _percentiles(warm), "dense": _percentiles(dense)}


def recall(snapshot: Snapshot, vectors: np.ndarray) -> dict[str, float]:
    ids = snapshot.ids()
    best: list[list[tuple[float, int]]] = [[] for _ in vectors]
    for at in range(0, len(ids), 50_000):
        part = ids[at : at + 50_000]
        scores = snapshot.vectors(part) @ vectors.T
        for n, top in enumerate(np.argsort(-scores, axis=0)[:200].T):
            best[n] += [(float(scores[place, n]), int(part[place])) for place in top]
    found = {}
    for k in (10, 200):
        shares = []
        for vector, every in zip(vectors, best, strict=True):
            exact = {i for _, i in sorted(every, reverse=True)[:k]}
            shares.append(len(exact & set(snapshot.dense(vector, k)[0].tolist())) / k)
        found[f"recall@{k}"] = round(float(np.mean(shares)), 4)
    return found


def sizes(folder: Path, snapshot: Snapshot) -> dict[str, float]:
    """Bytes on disk per passage."""
    count = snapshot.passage_count
    packed = "SELECT channel, sum(length(term) + length(ordinals) + length(weights) + 12) FROM posting GROUP BY channel"
    found = {f"postings {channel}": size for channel, size in snapshot.db.execute(packed)}
    found["dense file"] = sum((folder / f.dense_path).stat().st_size for f in snapshot.generation.segments)
    found["multi file"] = sum(
        (folder / f.multi_path).stat().st_size for f in snapshot.generation.segments if f.multi_path
    )
    found["library.db, with texts and vectors"] = (folder / database.FILE).stat().st_size
    return {name: round(size / count, 1) for name, size in found.items()}


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    return {f"p{p}": round(float(np.percentile(times, p)), 2) for p in (50, 95)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["real", "synthetic"])
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vectors", type=Path, nargs="+", required=True)
    parser.add_argument("--tokens", type=Path)
    arguments = parser.parse_args()
    real = np.unique(np.concatenate([np.load(path)["P"] for path in arguments.vectors]).astype(np.float32), axis=0)
    asked = np.concatenate([np.load(path)["Q"] for path in arguments.vectors]).astype(np.float32)
    sets = [load(Path(os.environ["WHYMATCH_SHARED"]) / "datasets" / path.stem) for path in arguments.vectors]
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(asked))[: 2 * _ASKED]
    if arguments.kind == "real":
        encoder = open_encoder()
        every = [text for one in sets for text in one.queries.values()]
        queries = [every[n] for n in chosen]
        texts = recombined(sets, arguments.count, rng)
    else:
        queries = list(_short(drawn(2 * _ASKED, rng)))
        encoder = Drawn(dict(zip(queries, asked[chosen], strict=True)), real.shape[1])  # type: ignore[assignment]
        texts = drawn(arguments.count, rng)
        build.term_texts = lambda text, language: text.split()  # drawn words are terms already
    tokens = DrawnTokens(arguments.tokens) if arguments.tokens else None
    result: dict[str, object] = {"kind": arguments.kind, "passages": arguments.count}
    if not (arguments.folder / database.FILE).is_file():
        result["cpu s to make"] = make(arguments.folder, texts, real, arguments.count, encoder.id, tokens)
    print(json.dumps({**result, **measured(arguments.folder, encoder, queries, asked[chosen])}), flush=True)


def measured(folder: Path, encoder: Drawn, queries: Sequence[str], vectors: np.ndarray) -> dict[str, object]:
    process = psutil.Process()
    before = process.memory_info()
    wall, cpu = time.perf_counter(), time.process_time()
    searcher = Searcher(folder, encoder)
    snapshot = searcher.snapshot()
    found: dict[str, object] = {
        "open ms": {
            "wall": round(1000 * (time.perf_counter() - wall)), "cpu": round(1000 * (time.process_time() - cpu))
        }
    }  # fmt: skip
    found["text to hits"] = ask(searcher, queries[:_ASKED])
    after = process.memory_full_info()
    found["resident MB"] = {
        "before": before.rss >> 20,
        "after": after.rss >> 20,
        "of it mapped files": getattr(after, "shared", 0) >> 20,
    }
    found["channel cpu ms"] = channels(snapshot, list(zip(queries[_ASKED:], vectors[_ASKED:], strict=True)))
    found |= recall(snapshot, vectors[-_JUDGED:])
    found["bytes a passage"] = sizes(folder, snapshot)
    searcher.close()
    return found


def _short(texts: Iterator[str]) -> Iterator[str]:
    """Eight words of each."""
    for text in texts:
        yield " ".join(text.split()[:8])


if __name__ == "__main__":
    main()
