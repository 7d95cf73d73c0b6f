"""The same folder of real files indexed by this app and by Recoll (https://www.recoll.org), as whole processes.

    python tests/benchmarks/bench_recoll.py FILES_FOLDER WORK_FOLDER [--runs 1]

FILES_FOLDER has an `index.tsv` (path, expect, must_contain). For each program: wall time, processor time, index size,
documents, files reported as failed, files found by a phrase that they hold (an exact phrase in Recoll, a query here).
Recoll's index is of words only; this app encodes with whichever encoder is active.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HITS = 10


@dataclass(frozen=True)
class Row:
    path: Path
    phrase: str


@dataclass(frozen=True)
class Figures:
    program: str
    wall: float
    cpu: float
    megabytes: float
    documents: int
    failed: int
    found: int


def timed(line: Sequence[str]) -> tuple[str, float, float]:
    """Output, wall seconds, processor seconds of a command with its children."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout.decode("utf-8", "replace"), time.monotonic() - begun, cpu


def size(folder: Path) -> float:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / (1 << 20)


def ours(files: Path, library: Path, rows: Sequence[Row]) -> Figures:
    command = [sys.executable, "-m", "core.cli"]
    output, wall, cpu = timed([*command, "ingest", str(files), "--library", str(library), "--json"])
    report = json.loads(output)
    return Figures(
        "Whymatch", wall, cpu, size(library), report["documents"], len(report["failed"]), search(library, rows)
    )


def search(library: Path, rows: Sequence[Row]) -> int:
    from core.base.types import Query
    from core.worker.finding import Finder

    finder = Finder(library)
    found = 0
    for row in rows:
        hits = finder.search(Query(row.phrase, k=HITS)).hits
        paths = {h.passage.path for h in hits} | {copy.path for h in hits for copy in h.copies}
        found += str(row.path) in paths
    finder.close()
    return found


def recoll(files: Path, config: Path, rows: Sequence[Row]) -> Figures:
    config.mkdir(parents=True)
    (config / "recoll.conf").write_text(f"topdirs = {files}\nloglevel = 2\nlogfilename = {config}/log\n")
    _, wall, cpu = timed(["recollindex", "-c", str(config), "-z"])
    found = sum(_recoll_finds(config, row) for row in rows)
    listed = subprocess.run(["recollq", "-c", str(config), "-n", "1", "mime:*"], capture_output=True, check=False)
    head = listed.stdout.decode(errors="replace").splitlines()
    documents = next((int(line.split()[0]) for line in head if line.endswith("results")), 0)
    missing = (config / "missing").read_text(errors="replace").splitlines() if (config / "missing").exists() else []
    failed = sum(
        "cannot" in line or "rror" in line for line in (config / "log").read_text(errors="replace").splitlines()
    )
    return Figures("Recoll", wall, cpu, size(config / "xapiandb"), documents, failed + len(missing), found)


def _recoll_finds(config: Path, row: Row) -> bool:
    phrase = row.phrase.replace('"', " ")
    line = ["recollq", "-c", str(config), "-b", "-n", str(HITS), f'"{phrase}"']
    done = subprocess.run(line, capture_output=True, check=False)
    return row.path.name in done.stdout.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    files, work = options.folder.resolve(), options.work.resolve()
    with (files / "index.tsv").open(encoding="utf-8", newline="") as file:
        read = [
            r for r in csv.DictReader(file, delimiter="\t") if r["expect"] in ("phrase", "ocr") and r["must_contain"]
        ]
    rows = [Row(files / r["path"], r["must_contain"]) for r in read]
    on_disk = sum(len(names) for _, _, names in os.walk(files))
    print(f"{on_disk} files, {len(rows)} phrases")
    for run in range(options.runs):
        for program, index in ((recoll, work / f"recoll{run}"), (ours, work / f"library{run}")):
            shutil.rmtree(index, ignore_errors=True)
            print(program(files, index, rows), flush=True)


if __name__ == "__main__":
    main()
