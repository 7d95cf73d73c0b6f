"""Real odd files read one by one by the command, each as its line in an index says it should be.

    python tests/benchmarks/check_files.py FILES_FOLDER [kind ...] [--only PART_OF_PATH]

FILES_FOLDER has an `index.tsv` (path, kind, expect, must_contain, must_not_contain). Prints each miss, then the share
of rows as expected, the slowest file, and the largest memory of a reading child.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 60
NO_TEXT = {"empty", "scanned", "locked", "broken", "unsupported", "too-large", "timed-out", "crashed"}


@dataclass(frozen=True)
class Outcome:
    path: str
    expect: str
    state: str
    seconds: float
    wrong: str  # empty when as expected


def plain(text: str) -> str:
    """As the index compares: NFKC, without format characters and white space, ignoring case."""
    kept = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in kept if not c.isspace() and unicodedata.category(c) != "Cf")


def read(path: Path) -> tuple[dict[str, Any], float]:
    begun = time.monotonic()
    line = [sys.executable, "-m", "core.cli", "text", str(path), "--json"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, timeout=10 * LIMIT_SECONDS)
    seconds = time.monotonic() - begun
    if done.returncode:
        return {"text": "", "state": f"exit {done.returncode}", "reason": done.stderr.decode(errors="replace")}, seconds
    found: dict[str, Any] = json.loads(done.stdout)
    return found, seconds


def fault(row: dict[str, str], found: dict[str, Any]) -> str:
    """What is not as the row expects; empty when all is."""
    text, state = plain(found["text"]), found["state"]
    if state.startswith("exit"):
        return f"the command failed: {found['reason'][-200:]}"
    for unwanted in filter(None, (row["must_not_contain"] or "").split("|")):
        if plain(unwanted) in text:
            return f"holds {unwanted!r}"
    match row["expect"]:
        case "phrase" | "ocr":
            wanted = plain(row["must_contain"])
            missing = not (wanted in text if wanted else text)
            return f"{state}: lacks {row['must_contain']!r} {found.get('reason', '')}" if missing else ""
        case "some-text":
            return "" if text else f"{state}: no text {found.get('reason', '')}"
        case "empty":
            return "" if state == "empty" and not text else f"{state} with {len(text)} characters"
        case "locked":
            return "" if state == "locked" else f"{state}, not locked"
        case "error-ok":
            return "" if state == "read" or state == "truncated" or found.get("reason") else f"{state} without a reason"
    return f"the index expects {row['expect']!r}, which is unknown here"


def check(folder: Path, row: dict[str, str]) -> Outcome:
    found, seconds = read(folder / row["path"])
    wrong = fault(row, found)
    if not wrong and seconds > LIMIT_SECONDS:
        wrong = f"took {seconds:.0f} s"
    return Outcome(row["path"], row["expect"], found["state"], seconds, wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder = options.folder.resolve()
    with (folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if not options.kinds or r["kind"] in options.kinds]
    outcomes = []
    for row in rows:
        if options.only not in row["path"]:
            continue
        outcomes.append(check(folder, row))
        if outcomes[-1].wrong:
            print(f"MISS {row['path']} [{row['expect']}; {row['oddity']}]: {outcomes[-1].wrong}", flush=True)
    right = sum(not o.wrong for o in outcomes)
    slowest = max(outcomes, key=lambda o: o.seconds)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"{right} of {len(outcomes)} as expected ({100 * right / len(outcomes):.1f} %)")
    print(f"slowest: {slowest.path}, {slowest.seconds:.1f} s; most memory of a child: {memory} MB")
    return 0 if right >= 0.97 * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
