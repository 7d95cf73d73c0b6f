"""An ingest killed again and again ends like one that nobody disturbed."""

import random
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from core.base.errors import ChildDied
from core.base.types import Query
from core.library import Library
from core.worker.client import ChildClient
from core.worker.doctor import examine
from core.worker.finding import Finder
from tests.corpus import make_folder

KILLS = 30
QUERIES = ("honey and the hive", "storm in the harbour", "code0007x", "invoice payment", "telescope and stars", "bread")


def ingest(library, paths):
    with ChildClient("job", library) as child:
        return child.call("ingest", {"paths": [str(p) for p in paths]})


def ingest_and_kill(library, paths, seconds):
    """Start an ingest and kill its process some time into the work. Returns whether it came before the end."""
    client = ChildClient("job", library)
    timer = threading.Timer(seconds, client.kill)

    def started(reply):
        if not timer.is_alive() and not timer.finished.is_set():
            timer.start()

    try:
        client.call("ingest", {"paths": [str(p) for p in paths]}, on_event=started)
        return False
    except ChildDied:
        return True
    finally:
        timer.cancel()
        client.close()


def content(library):
    """All that a person could see of the library, without ids."""
    reader = Library.open(library)
    try:
        documents = reader.documents()
        rows = [
            (d.path, d.external_id, d.title, d.state, d.language, d.pages, d.characters, d.passages) for d in documents
        ]
        passages = {
            (d.path, d.external_id): [(p.ordinal, p.text, p.start, p.end, p.first_page, p.heading_path) for p in
                                      reader.document_passages(d.id)] for d in documents
        }  # fmt: skip
        return rows, passages
    finally:
        reader.close()


def results(library):
    finder = Finder(library)
    try:
        return {
            q: [(h.passage.path, h.passage.ordinal, h.score) for h in finder.search(Query(q, k=20)).hits]
            for q in QUERIES
        }
    finally:
        finder.close()


@pytest.mark.e2e
@pytest.mark.timeout(900)
def test_thirty_kills_lose_nothing(tmp_path, tiny_home):
    folder = tmp_path / "docs"
    make_folder(folder, 60)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    lines = [f'{{"_id": "{n}", "title": "T{n}", "text": "Ship {n} brings cargo to the harbour."}}' for n in range(200)]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    calm = tmp_path / "calm"
    begun = time.monotonic()
    report = ingest(calm, [folder])
    whole = time.monotonic() - begun
    luck = random.Random(5)
    library = tmp_path / "library"
    kills = 0
    while kills < KILLS:
        if ingest_and_kill(library, [folder], luck.uniform(0, whole / 8)):
            kills += 1
        else:
            shutil.rmtree(library)  # it came to its end: begin again, so that each kill falls into work
    assert ingest(library, [folder])["documents"] == report["documents"]
    assert content(library) == content(calm)
    left, right = results(library), results(calm)
    for query in QUERIES:
        assert [hit[:2] for hit in left[query]] == [hit[:2] for hit in right[query]], query
        assert [h[2] for h in left[query]] == pytest.approx([h[2] for h in right[query]], abs=1e-4)
    assert [f for f in examine(library) if f.severity != "ok"] == []
    assert leftovers(library) == []
    assert _parse_children() == []


def leftovers(library):
    """Files that no one will ever read again."""
    return [str(p) for p in Path(library).rglob("*") if p.name.endswith(".part")]


def _parse_children():
    """Reading children that outlived their job."""
    shown = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if "core.worker parse" in line and line.split()[1] == "1"]
