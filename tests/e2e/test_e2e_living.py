"""A folder that changes while its library is killed again and again: nothing is lost, nothing is encoded twice."""

import random
import shutil
import sqlite3
import threading
import time

import pytest

from core.base.errors import ChildDied, KnownError
from core.base.types import Query
from core.library import Library
from core.worker.client import ChildClient
from core.worker.doctor import examine
from core.worker.finding import Finder
from tests.corpus import make_folder

KILLS = 40
STEADY = 30  # documents that nobody touches
QUERIES = ("honey and the hive", "storm in the harbour", "invoice payment", "telescope and stars", "code0007x")


class Changes(threading.Thread):
    """Adds, edits, renames, moves, copies and deletes files until it is told to stop."""

    def __init__(self, folder, seed):
        super().__init__(daemon=True)
        self._folder = folder
        self._luck = random.Random(seed)
        self._stop_asked = threading.Event()
        self._made = 0
        self.counts = dict.fromkeys(("add", "edit", "rename", "move", "copy", "delete"), 0)
        self.removed = set()  # taken out of the library by hand: left alone from then on

    def run(self):
        while not self._stop_asked.wait(self._luck.uniform(0.02, 0.12)):
            self.change()

    def stop(self):
        self._stop_asked.set()
        self.join()

    def change(self):
        files = sorted(p for p in self._folder.rglob("*") if p.is_file() and str(p) not in self.removed)
        kind = self._luck.choice(list(self.counts)) if len(files) > 6 else "add"
        path = self._luck.choice(files) if files else None
        getattr(self, f"_{kind}")(path)
        self.counts[kind] += 1

    def _text(self):
        self._made += 1
        things = [self._luck.choice(("honey", "harbour", "invoice", "telescope", "bread", "storm")) for _ in range(40)]
        return f"Note {self._made}\n\n" + " ".join(things) + f" and the word fresh{self._made}q.\n"

    def _add(self, path):
        (self._folder / f"new-{self._made}.txt").write_text(self._text())

    def _edit(self, path):
        if path.suffix in (".txt", ".md", ".html"):
            path.write_text(path.read_text() + "\n\n" + self._text())

    def _rename(self, path):
        self._made += 1
        path.rename(path.with_name(f"renamed-{self._made}{path.suffix}"))

    def _move(self, path):
        below = self._folder / f"below{self._luck.randrange(3)}"
        below.mkdir(exist_ok=True)
        self._made += 1
        path.rename(below / f"moved-{self._made}{path.suffix}")

    def _copy(self, path):
        self._made += 1
        shutil.copy(path, path.with_name(f"copy-{self._made}{path.suffix}"))

    def _delete(self, path):
        path.unlink()


def call(library, op, arguments):
    with ChildClient("job", library) as child:
        return child.call(op, arguments)


def call_and_kill(library, op, arguments, seconds):
    """Run an operation of a job and kill its process some time into the work. Returns whether that came in time."""
    client = ChildClient("job", library)
    timer = threading.Timer(seconds, client.kill)
    timer.start()
    try:
        client.call(op, arguments)
        return False
    except ChildDied:
        return True
    except KnownError:
        return False
    finally:
        timer.cancel()
        client.close()


def watch_encoding(library):
    """Have the database itself note each vector that is stored: a vector stored twice was encoded twice."""
    db = sqlite3.connect(library / "library.db")
    db.execute("CREATE TABLE encoded (hash TEXT)")
    db.execute("CREATE TRIGGER note AFTER INSERT ON vector BEGIN INSERT INTO encoded VALUES (new.hash); END")
    db.commit()
    db.close()


def encoded_again(library, paths):
    """Passages of the files at `paths` that went through the encoder more than once."""
    db = sqlite3.connect(library / "library.db")
    marks = ", ".join("?" * len(paths))
    rows = db.execute(
        "SELECT p.hash, (SELECT count(*) FROM encoded e WHERE e.hash = p.hash) FROM passage p "
        f"JOIN document d ON d.id = p.document_id WHERE d.path IN ({marks})",
        [str(p) for p in paths],
    ).fetchall()
    db.close()
    assert rows
    return [row for row in rows if row[1] > 1]


def content(library):
    """All that a person could see of the library, without ids: by path, what was read and its passages."""
    reader = Library.open(library)
    try:
        return {
            (d.path, d.external_id): (
                d.title, d.state, d.language, d.pages, d.characters,
                [(p.ordinal, p.text, p.start, p.end, p.first_page, p.heading_path)
                 for p in reader.document_passages(d.id)],
            ) for d in reader.documents()
        }  # fmt: skip
    finally:
        reader.close()


def results(library):
    finder = Finder(library)
    try:
        return {
            q: sorted((round(h.score, 3), h.passage.text) for h in finder.search(Query(q, k=500, fold=False)).hits)
            for q in QUERIES
        }
    finally:
        finder.close()


@pytest.mark.e2e
@pytest.mark.timeout(1500)
def test_forty_kills_on_a_changing_folder(tmp_path, tiny_home):
    steady, living = tmp_path / "steady", tmp_path / "living"
    kept = make_folder(steady, STEADY)
    make_folder(living, 25, seed=2)
    library = tmp_path / "library"
    Library.create(library).close()
    watch_encoding(library)
    begun = time.monotonic()
    call(tmp_path / "trial", "ingest", {"paths": [str(steady), str(living)]})
    whole = time.monotonic() - begun
    luck, changes = random.Random(7), Changes(living, 11)
    changes.start()
    kills = dict.fromkeys(("ingest", "remove", "purge"), 0)
    try:
        while sum(kills.values()) < KILLS:
            op = luck.choices(list(kills), (6, 2, 2))[0] if sum(kills.values()) > 5 else "ingest"
            arguments = {}
            if op == "ingest":
                arguments = {"paths": [str(steady), str(living)]}
            elif op == "remove":
                arguments = {"path": str(_choose(library, living, luck, changes))}
            kills[op] += call_and_kill(library, op, arguments, luck.uniform(0.2, 0.2 + whole / 2))
    finally:
        changes.stop()
    assert all(changes.counts.values()), changes.counts
    assert all(kills.values()), kills
    again = [path for path in sorted(changes.removed) if (tmp_path / path).exists()]
    call(library, "ingest", {"paths": [str(steady), str(living), *again]})
    settled = call(library, "ingest", {"paths": []})
    assert settled["encoded"] == 0
    assert encoded_again(library, kept) == []
    fresh = tmp_path / "fresh"
    call(fresh, "ingest", {"paths": [str(steady), str(living)]})
    assert content(library) == content(fresh)
    left, right = results(library), results(fresh)
    for query in QUERIES:
        assert [text for _, text in left[query]] == [text for _, text in right[query]], query
        assert [s for s, _ in left[query]] == pytest.approx([s for s, _ in right[query]], abs=2e-3)
    assert [f for f in examine(library) if f.severity != "ok"] == []
    assert [p for p in library.rglob("*") if p.name.endswith(".part")] == []


def _choose(library, folder, luck, changes):
    """A document of the changing folder to take out of the library."""
    reader = Library.open(library)
    try:
        paths = sorted({d.path for d in reader.documents() if d.path.startswith(str(folder))})
    finally:
        reader.close()
    path = luck.choice(paths) if paths else str(folder / "nothing")
    changes.removed.add(path)
    return path
