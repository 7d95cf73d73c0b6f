"""Real files ingested by the command, then found by the phrases that they are known to hold.

    python tests/benchmarks/bench_files.py FILES_FOLDER LIBRARY [kind ...]

FILES_FOLDER has an `index.tsv` (path, kind, expect, must_contain). Prints files by state, and each phrase whose
document is not among the first ten hits.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("pdf", "docx", "html", "md", "txt")


def whymatch(*arguments: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "core.cli", *arguments, "--json"]
    done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    folder, library = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    kinds = tuple(sys.argv[3:]) or KINDS
    report = whymatch("ingest", *(str(folder / kind) for kind in kinds), "--library", str(library))
    print({k: v for k, v in report.items() if k != "failed"})
    documents = whymatch("documents", "--library", str(library))["documents"]
    print(Counter(d["state"] for d in documents))
    on_disk = {str(p) for kind in kinds for p in (folder / kind).rglob("*") if p.is_file()}
    print("without a state:", sorted(on_disk - {d["path"] for d in documents}))
    look_for_phrases(folder, library, kinds)


def look_for_phrases(folder: Path, library: Path, kinds: tuple[str, ...]) -> None:
    from core.base.types import Query
    from core.worker.finding import Finder

    with (folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if r["kind"] in kinds and r["expect"] == "phrase"]
    finder = Finder(library)
    missed = []
    for row in rows:
        hits = finder.search(Query(row["must_contain"], k=10)).hits
        if str(folder / row["path"]) not in {hit.passage.path for hit in hits}:
            missed.append((row["path"], row["must_contain"]))
    finder.close()
    print(f"found by phrase: {len(rows) - len(missed)} of {len(rows)}")
    for path, phrase in missed:
        print(f"  {path}: {phrase!r}")


if __name__ == "__main__":
    main()
