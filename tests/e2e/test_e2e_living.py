"""A folder that changes while its library is killed again and again: nothing is lost, nothing is encoded twice."""

import contextlib
import json
import random
import sqlite3
import threading
import time
from pathlib import Path

import psutil
import pytest

from core.base.errors import ChildDied, KnownError, LibraryLocked, NotFound
from core.base.types import Query
from core.library import Library
from core.worker.client import ChildClient
from core.worker.doctor import examine
from core.worker.finding import Finder
from tests.corpus import make_folder
from tests.e2e.changing import Changes
from tests.traces import found_in

KILLS = 40
STEADY = 30  # documents that nobody touches
QUERIES = ("honey and the hive", "storm in the harbour", "invoice payment", "telescope and stars", "code0007x")
# a job is killed within so many seconds after one of so many events that it tells of; a removal tells nothing
EVENTS = {"ingest": 30, "remove": 0, "purge": 5}
SECONDS = {"ingest": 0.2, "remove": 0.06, "purge": 0.2}
_SOONER = 0.85


def call(library, op, arguments):
    with ChildClient("job", library) as child:
        return child.call(op, arguments)


def call_and_kill(library, op, arguments, events, seconds):
    """Run an operation of a job and kill its process `seconds` after it has told so many events.

    Returns whether that came in time. Without events to wait for, the child is made ready before.
    """
    client = ChildClient("job", library)
    timer = threading.Timer(seconds, client.kill)
    left = [events]

    def told(_reply=None):
        left[0] -= 1
        if left[0] == 0:
            timer.start()

    try:
        if not events:
            with contextlib.suppress(NotFound):
                client.call("remove", {"path": "/nowhere/at/all"})
            timer.start()
        client.call(op, arguments, on_event=told)
        return False
    except ChildDied:
        return True
    finally:
        timer.cancel()
        client.close()


class Killer:
    """Does and kills the work on a library of two folders, and knows what was removed by hand."""

    def __init__(self, library, steady, changes, folder):
        self._library, self._roots = library, [steady, folder]
        self._changes, self._folder = changes, folder
        self._part = dict.fromkeys(SECONDS, 1.0)  # of the events and seconds that are waited for
        self._luck = random.Random(7)
        self.removed = set()  # for certain
        self.asked = set()  # perhaps
        self.kills = dict.fromkeys(SECONDS, 0)

    def run(self, kills):
        first = kills // 5  # at least so many come before there is something to remove
        plan = ["ingest", "ingest", "remove", "purge"] * first
        self._luck.shuffle(plan)
        for op in [*["ingest"] * first, *plan, *["ingest"] * kills]:
            while sum(self.kills.values()) < kills and not self._kill(op):
                pass

    def _kill(self, op):
        arguments = {"ingest": self._ingest, "remove": self._remove, "purge": dict}[op]()
        if arguments is None:
            return True
        if op == "purge":
            written(self._library, "INSERT INTO purging VALUES (1)")
        killed = call_and_kill(self._library, op, arguments, *self._when(op))
        written(self._library, "DELETE FROM purging")
        self.kills[op] += killed
        if not killed:  # it came too late: strike sooner
            self._part[op] *= _SOONER
        if op == "remove" and not killed:
            self.removed.add(arguments["path"])
        return killed

    def _when(self, op):
        most = round(EVENTS[op] * self._part[op])
        events = self._luck.randint(1, max(most, 1)) if EVENTS[op] else 0
        return events, self._luck.uniform(0, SECONDS[op] * self._part[op])

    def _ingest(self):
        """Folders are added once: to add them again would bring back what was removed."""
        reader = Library.open(self._library)
        known = {root.path for root in reader.roots()}
        reader.close()
        return {"paths": [str(root) for root in self._roots if str(root) not in known]}

    def _remove(self):
        reader = Library.open(self._library)
        paths = {d.path for d in reader.documents() if d.path.startswith(f"{self._folder}/")} - self.asked
        reader.close()
        for path in self._luck.sample(sorted(paths), len(paths)):
            if self._changes.let_be(Path(path)):
                self.asked.add(path)
                return {"path": path}
        return None


def written(library, *statements):
    db = sqlite3.connect(library / "library.db", timeout=10)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def watch_encoding(library):
    """Have the database itself note each vector that is stored: a vector stored twice was encoded twice.

    What a purge dropped may be stored again; what it dropped although it was needed shows in the steady files.
    """
    written(
        library,
        "CREATE TABLE purging (yes INTEGER)",
        "CREATE TABLE encoded (hash TEXT, times INTEGER, purged INTEGER, PRIMARY KEY (hash))",
        "CREATE TRIGGER stored AFTER INSERT ON vector BEGIN INSERT INTO encoded VALUES (new.hash, 1, 0) "
        "ON CONFLICT (hash) DO UPDATE SET times = times + 1; END",
        "CREATE TRIGGER dropped AFTER DELETE ON vector WHEN EXISTS (SELECT 1 FROM purging) "
        "BEGIN UPDATE encoded SET purged = purged + 1 WHERE hash = old.hash; END",
    )


def encoded_again(library, paths, *, purged=0):
    """Passages of the files at `paths` that went through the encoder more than once: (path, text, times).

    `purged` of 1 forgives as many times as a purge dropped the vector.
    """
    db = sqlite3.connect(library / "library.db")
    rows = db.execute(
        "SELECT d.path, p.text, e.times, e.purged FROM document d "
        "JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) LEFT JOIN encoded e ON e.hash = p.hash"
    ).fetchall()
    db.close()
    wanted = {str(path) for path in paths}
    rows = [row for row in rows if row[0] in wanted]
    assert {row[0] for row in rows} == wanted
    assert all(times for _, _, times, _ in rows)
    return [row for row in rows if row[2] > 1 + purged * row[3]]


def content(library):
    """All that a person could see of the library, without ids: by document, what was read, shared and passages."""
    reader = Library.open(library)
    try:
        found = reader.documents()
        names = {d.id: (d.path, d.external_id) for d in found}
        families = {}
        for d in found:
            families.setdefault(d.family, set()).add(names[d.id])
        return {
            names[d.id]: (
                d.title, d.state, d.reason, d.language, d.pages, d.characters, names.get(d.copy_of),
                families[d.family] if d.family is not None else None, reader.document_text(d.id),
                [(p.ordinal, p.text, p.start, p.end, p.first_page, p.heading_path)
                 for p in reader.document_passages(d.id)],
            ) for d in found
        }  # fmt: skip
    finally:
        reader.close()


def results(library):
    """By query the hits, the best first; those of almost equal score in the order of their texts."""
    finder = Finder(library)
    try:
        return {
            q: sorted(
                ((h.passage.path, h.passage.text, h.score) for h in finder.search(Query(q, k=500, fold=False)).hits),
                key=lambda hit: hit[:2],
            )
            for q in QUERIES
        }
    finally:
        finder.close()


def check_equal(library, fresh):
    """Everything that can be seen or found in one library is in the other."""
    left, right = content(library), content(fresh)
    assert left.keys() == right.keys()
    assert [key for key in left if left[key] != right[key]] == []
    found, expected = results(library), results(fresh)
    for query in QUERIES:
        assert [hit[:2] for hit in found[query]] == [hit[:2] for hit in expected[query]], query
        assert [hit[2] for hit in found[query]] == pytest.approx([hit[2] for hit in expected[query]], abs=2e-3)


def check_clean(library, home):
    """Nothing is left of the dead: no half-written or unpacked file, no note, no process."""
    assert [f for f in examine(library) if f.severity != "ok"] == []
    assert [p for p in library.rglob("*") if p.name.endswith(".part")] == []
    assert list((library / "spool").glob("*")) == []
    assert not (library / "reading.json").exists()
    until = time.monotonic() + 10
    while (left := reading_children(home)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []


def reading_children(home):
    """Processes of this test that read files."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if "parse" in (process.info["cmdline"] or ()) and process.environ().get("WHYMATCH_HOME") == str(home):
                found.append(process.pid)
    return found


@pytest.mark.e2e
@pytest.mark.timeout(1500)
def test_forty_kills_on_a_changing_folder(tmp_path, tiny_home):
    steady, living = tmp_path / "steady", tmp_path / "living"
    kept = make_folder(steady, STEADY)
    make_folder(living, 25, seed=2)
    library, fresh = tmp_path / "library", tmp_path / "fresh"
    both = {"paths": [str(steady), str(living)]}
    Library.create(library).close()
    watch_encoding(library)
    with Changes(living, 11) as changes:
        killer = Killer(library, steady, changes, living)
        killer.run(KILLS)
    assert all(changes.counts.values()), changes.counts
    assert all(killer.kills.values()), killer.kills
    call(library, "ingest", {"paths": []})
    settled = call(library, "ingest", {"paths": []})
    assert (settled["encoded"], settled["moved"], settled["removed"], settled["failed"]) == (0, 0, 0, [])
    seen = {path for path, _ in content(library)}
    assert seen & killer.removed == set()
    everything = {str(p) for p in (*steady.rglob("*"), *living.rglob("*")) if p.is_file()}
    assert everything - seen <= killer.asked
    assert encoded_again(library, kept) == []
    unbroken = set(map(str, changes.unbroken())) & seen
    assert encoded_again(library, unbroken, purged=1) == []
    assert len(unbroken) > 5
    call(library, "ingest", {"paths": sorted(killer.asked)})
    call(fresh, "ingest", both)
    check_equal(library, fresh)
    call(library, "purge", {})
    check_equal(library, fresh)
    check_clean(library, tiny_home)
    gone = changes.gone_words()[-30:]
    assert len(gone) == 30
    assert found_in(library, gone) == set()
    assert call(library, "ingest", {"paths": []})["encoded"] == 0


def remove_when_there(child, path, ingest):
    """Remove a file as soon as the library knows it. Whether that was while the ingest was still at work."""
    until = time.monotonic() + 60
    while True:
        beside = ingest.is_alive()
        try:
            child.call("remove", {"path": str(path)})
            return beside
        except NotFound:
            assert beside, path
            assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.e2e
@pytest.mark.timeout(300)
def test_removals_and_a_purge_beside_an_ingest(tmp_path, tiny_home):
    folder, later = tmp_path / "docs", tmp_path / "later"
    early = make_folder(folder, 20, suffixes=("txt", "md"))
    library, fresh = tmp_path / "library", tmp_path / "fresh"
    call(library, "ingest", {"paths": [str(folder)]})
    make_folder(later, 60, seed=3)
    lines = [json.dumps({"_id": str(n), "title": f"T{n}", "text": f"Ship {n} of the harbour."}) for n in range(400)]
    (later / "many.jsonl").write_text("\n".join(lines))
    gone = [*early[:4], *sorted(later.glob("*.txt"))[:6], later / "many.jsonl"]
    working, locked = threading.Event(), []
    with ChildClient("job", library) as child:

        def told(reply):
            if reply.event == "progress" and reply.data["stage"] in ("reading", "encoding"):
                working.set()

        thread = threading.Thread(
            target=lambda: child.call("ingest", {"paths": [str(later)]}, on_event=told), name="ingest"
        )
        thread.start()
        assert working.wait(60)
        with ChildClient("job", library) as other:
            try:
                other.call("purge", {})
            except KnownError as error:
                locked.append(error)
            beside = [remove_when_there(other, path, thread) for path in gone]
        thread.join()
    (error,) = locked
    assert isinstance(error, LibraryLocked)
    assert f"ingest {child.pid}" in error.message
    assert sum(beside) > len(gone) // 2  # the others were removed when the ingest had ended
    assert {path for path, _ in content(library)} & {str(path) for path in gone} == set()
    for path in gone:
        path.unlink()
    call(library, "ingest", {"paths": []})
    call(fresh, "ingest", {"paths": [str(folder), str(later)]})
    check_equal(library, fresh)
    call(library, "purge", {})
    check_equal(library, fresh)
    check_clean(library, tiny_home)
