"""How ingestion bears a large folder: `bench_scale.py FOLDER LIBRARY --files 20000 [--encoder tiny|stub|starter]`.

Makes FOLDER (when it is not there) with so many small files of mixed kinds and about ten passages each, reads it into
LIBRARY, scans it again unchanged, renames a folder of it, and prints files and passages per second, the peak memory of
this process and of the one that reads, the seconds of the scans, what was said of the time left when a tenth, half and
nine tenths of the files were read and how long it took, and the size of the library. `stub` is an encoder that hashes
words into vectors: it costs next to nothing, so that the figures are those of the pipeline. With `--concepts` they are
fitted, too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.base.events import Changed, Control, Event, Progress
from core.base.types import IngestReport
from core.encode.encoder import Encoded, Encoder, FloatArray, TokenStates
from core.encode.load import open_encoder, serve
from core.ingest.pipeline import Ingest
from core.library import Library
from core.models.bundles import load
from core.store import database
from core.worker.ingesting import ingest
from tests.benchmarks.many_files import make

SHARES = (0.1, 0.5, 0.9)  # of the files


class HashingEncoder:
    """Unit vectors as sums of fixed random vectors of the words: equal texts are equal, similar ones are near."""

    id, dimension, max_tokens = "hashing-words", 384, 256

    def __init__(self) -> None:
        self._table = np.random.default_rng(0).standard_normal((4096, self.dimension)).astype(np.float32)

    def encode(
        self, texts: Sequence[str], *, kind: str = "passage", control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:  # fmt: skip
        made = np.stack([self._table[[hash_of(w) for w in text.split()] or [0]].sum(axis=0) for text in texts])
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    heads = frozenset(("dense",))

    def encode_heads(
        self, texts: Sequence[str], heads: Collection[str], *, kind: str = "passage", control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:  # fmt: skip
        return Encoded(self.encode(texts, kind=kind, control=control, on_batch=on_batch) if "dense" in heads else None)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) * 4 // 3 for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        spans, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            spans.append((at, at + len(word)))
            at += len(word)
        return spans

    def token_states(self, text: str, kind: str = "passage") -> TokenStates:
        spans = self.token_spans(text)
        return TokenStates(spans, self.encode([text[a:b] for a, b in spans]), self.encode([text])[0])


@cache
def hash_of(word: str) -> int:
    number = 2166136261
    for code in word.encode():
        number = (number ^ code) * 16777619 & 0xFFFFFFFF
    return number % 4096


class Peak(threading.Thread):
    """The most memory that this process, and any child of it, held while it ran."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes = self.child_bytes = 0
        self.running = True

    def run(self) -> None:
        process = psutil.Process()
        while self.running:
            self.bytes = max(self.bytes, process.memory_info().rss)
            for child in process.children():
                with contextlib.suppress(psutil.Error):  # it has just ended
                    self.child_bytes = max(self.child_bytes, child.memory_info().rss)
            time.sleep(0.1)


class Watch:
    """Hears a run: when the first documents could be found, and what was said of the time left, and when."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.first = 0.0
        self.told: list[tuple[float, float | None]] = []  # seconds since the begin, seconds left

    def __call__(self, event: Event) -> None:
        now = time.monotonic() - self.begun
        if isinstance(event, Changed) and event.passages and not self.first:
            self.first = now
        if isinstance(event, Progress):
            share = event.counts.get("files", 0) / max(event.counts.get("files_total", 0), 1)
            if len(self.told) < len(SHARES) and share >= SHARES[len(self.told)]:
                self.told.append((now, event.seconds_left))
            if event.stage != "scanning" and int(now) % 20 == 0:
                print(f"{now:.0f} {event.stage} {event.counts} left {event.seconds_left}", file=sys.stderr)

    def left(self, seconds: float) -> list[tuple[float | None, float]]:
        """(said, true) seconds left at each of the `SHARES`."""
        return [(said and round(said, 1), round(seconds - now, 1)) for now, said in self.told]


def encoder_of(name: str) -> Encoder:
    if name == "stub":
        return HashingEncoder()
    if name == "tiny":
        return serve(
            load(max(Path(__file__).parents[2].glob(".pytest_cache/d/tiny/*"), key=lambda p: p.stat().st_mtime))
        )
    return open_encoder()


def timed(library: Path, paths: list[Path], encoder: Encoder, concepts: bool) -> tuple[IngestReport, float, Watch]:
    """The report, the seconds, and what was heard meanwhile."""
    watch = Watch()
    if concepts:
        report = ingest(library, paths, control=Control(), listener=watch, encoder=encoder)
    else:
        Library.create(library).close()
        db = database.open_writer(library)
        report = Ingest(library, db, encoder, Control(), watch).run(paths)
        db.conn.close()
    return report, time.monotonic() - watch.begun, watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--encoder", choices=("tiny", "stub", "starter"), default="stub")
    parser.add_argument("--concepts", action="store_true")
    given = parser.parse_args()
    if not given.folder.exists():
        make(given.folder, given.files)
    encoder, peak = encoder_of(given.encoder), Peak()
    peak.start()
    report, seconds, watch = timed(given.library, [given.folder], encoder, given.concepts)
    again, rescan, _ = timed(given.library, [], encoder, given.concepts)
    some = next(p for p in sorted(given.folder.iterdir()) if p.is_dir() and not p.name.startswith("moved"))
    some.rename(some.with_name(f"moved {some.name}"))
    moved, move, _ = timed(given.library, [], encoder, given.concepts)
    peak.running = False
    size = sum(p.stat().st_size for p in given.library.rglob("*") if p.is_file())
    figures = {
        "files": report.documents, "passages": report.passages, "seconds": round(seconds, 1),
        "files_per_second": round(report.documents / seconds, 1),
        "passages_per_second": round(report.passages / seconds, 1), "first_found_seconds": round(watch.first, 1),
        "peak_mb": peak.bytes >> 20, "reader_peak_mb": peak.child_bytes >> 20,
        "rescan_seconds": round(rescan, 2), "rescan_skipped": again.skipped,
        "moved": moved.moved, "move_seconds": round(move, 2), "moved_encoded": moved.encoded,
        "library_mb": size >> 20, "left_said_and_true": watch.left(seconds),
    }  # fmt: skip
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
