"""Speed of the text of PDFs against pdftotext: whole processes over the same files, user and system time.

    python tests/benchmarks/bench_pdf.py FOLDER [--runs 5]

Each run reads every PDF of FOLDER once: ours in one process by the reader that the application uses (documents with
pages, blocks and boxes), pdftotext in one process a file. Prints seconds of processor time of each run, the medians,
pages per second of one core, and the ratio of ours to pdftotext.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = """
import sys
from pathlib import Path
from core.ingest.limits import Limits, no_tick
from core.ingest.readers.pdf import read
pages = sum(len(d.pages) for name in sys.argv[1:] for d in read(Path(name), Limits(), no_tick))
sys.stdout.write(str(pages))
"""


def cpu(*line: str) -> tuple[float, str]:
    """Processor seconds of a child process from start to end, and what it wrote."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, done.stdout.decode(errors="replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    names = [str(path.resolve()) for path in sorted(options.folder.rglob("*.pdf"))]
    ours, theirs, pages = [], [], 0
    for run in range(options.runs):
        seconds, answer = cpu(sys.executable, "-c", OURS, *names)
        ours.append(seconds)
        pages = int(answer)
        theirs.append(sum(cpu("pdftotext", name, "-")[0] for name in names))
        print(f"run {run + 1}: ours {ours[-1]:.2f} s, pdftotext {theirs[-1]:.2f} s", flush=True)
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"{len(names)} files, {pages} pages; medians: ours {mine:.2f} s, pdftotext {other:.2f} s")
    print(f"pages a second of one core: ours {pages / mine:.0f}, pdftotext {pages / other:.0f}")
    print(f"ratio: {other / mine:.2f}")


if __name__ == "__main__":
    main()
