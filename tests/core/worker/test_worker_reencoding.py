"""Another encoder for a library: beside the old index, resumed after a kill, and the way back."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from core.base.errors import Cancelled, KnownError
from core.base.events import Control, Event, Progress, ignore
from core.base.types import DENSE, MULTI, Query
from core.encode.install import add
from core.index import generation
from core.models import catalogue
from core.models.bundles import Bundle
from core.store import database, jobs, passages
from core.worker.finding import Finder
from core.worker.generations import roll_back
from core.worker.ingesting import delete, ingest
from core.worker.protocol import Reply, Request
from core.worker.purge import purge
from core.worker.reencoding import Reencoded, reencode
from core.worker.roles.job import JobRole
from core.worker.roles.models import ModelsRole
from core.worker.server import Call

TOPICS = ("honey of the hive", "ship in the harbour", "bread of the baker", "bill to be paid", "rain and wind")
FILES = 30
OTHER = "other-encoder"


@pytest.fixture
def other(tiny_home: Path, tiny_bundle: Bundle, tmp_path: Path) -> str:
    """A second real encoder, installed beside the tiny one: its weights, disturbed."""
    folder = tmp_path / OTHER
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(tiny_bundle.path(name), folder / name)
    luck = np.random.default_rng(7)
    weights = load_file(tiny_bundle.path("model.safetensors"))
    noisy = {k: (v + 0.02 * luck.standard_normal(v.shape)).astype(v.dtype) for k, v in weights.items()}
    save_file(noisy, folder / "model.safetensors")
    return add(str(folder)).id


@pytest.fixture
def library(tiny_home: Path, tmp_path: Path) -> Path:
    made = tmp_path / "library"
    ingest(made, [_documents(tmp_path / "documents")], control=Control(), listener=ignore)
    return made


def _documents(folder: Path) -> Path:
    folder.mkdir()
    for n in range(FILES):
        words = " ".join(f"The {topic} number {n} of page {n * 7 + k}." for k, topic in enumerate(TOPICS))
        (folder / f"{n:02}.txt").write_text(words)
    return folder


def _found(library: Path) -> list[tuple[str, float]]:
    finder = Finder(library)
    try:
        hits = finder.search(Query("the ship in the harbour", k=8, channels=(DENSE,))).hits
    finally:
        finder.close()
    return [(Path(hit.passage.path).name, round(hit.parts[0].score, 4)) for hit in hits]


def _current(library: Path) -> tuple[int, str]:
    current = generation.current(library)
    assert current is not None
    return current.number, current.encoder


def test_the_old_index_answers_until_the_switch_and_is_the_way_back(library: Path, other: str, tmp_path: Path) -> None:
    number, old = _current(library)
    before = _found(library)
    finder, seen = Finder(library), []

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and event.stage in ("encoding", "indexing"):
            result = finder.search(Query("the ship in the harbour", k=8))
            seen.append((result.generation, finder.encoder.id, result.notice))

    made = reencode(library, other, control=Control(), listener=listen)
    assert seen
    assert set(seen) == {(number, old, "")}
    assert (made.encoder, made.passages, made.before) == (other, FILES, number)
    assert made.encoded == FILES
    assert _current(library) == (made.generation, other)
    assert finder.search(Query("the ship in the harbour")).notice == ""
    assert finder.encoder.id == other  # the open searcher follows
    fresh = tmp_path / "fresh"
    catalogue.use(other)
    ingest(fresh, [tmp_path / "documents"], control=Control(), listener=ignore)
    assert _found(library) == _found(fresh) != before
    assert _concepts(library) == _concepts(fresh) != ""
    assert roll_back(library) == made.before  # without a number: the encoder before, not a step on the way
    assert finder.search(Query("the ship in the harbour")).notice == ""
    assert finder.encoder.id == old
    finder.close()
    assert _found(library) == before


def _concepts(library: Path) -> str:
    current = generation.current(library)
    assert current is not None
    return current.concepts


def test_reading_goes_on_with_the_encoder_of_the_library(library: Path, other: str, tmp_path: Path) -> None:
    catalogue.use(other)
    (tmp_path / "documents" / "new.txt").write_text("A violin in the orchestra.")
    ingest(library, [], control=Control(), listener=ignore)
    assert _current(library)[1] == "tiny"
    reencode(library, control=Control(), listener=ignore)
    assert _current(library)[1] == other
    for n in range(4):  # more commits than generations are kept: the way back stays
        (tmp_path / "documents" / f"later{n}.txt").write_text(f"A telescope and the moon, night {n}.")
        ingest(library, [], control=Control(), listener=ignore)
    assert _current(library)[1] == other
    back = [g.number for g in generation.history(library) if g.encoder == "tiny"]
    assert len(back) == 1
    roll_back(library, back[0])
    ingest(library, [], control=Control(), listener=ignore)  # what came later is encoded by the old one, too
    assert "later3.txt" in _names(library, "telescope moon night")


def _names(library: Path, text: str) -> set[str]:
    finder = Finder(library)
    try:
        return {Path(hit.passage.path).name for hit in finder.search(Query(text, channels=(DENSE,))).hits}
    finally:
        finder.close()


def test_a_stopped_one_leaves_the_old_index_and_encodes_nothing_twice(
    library: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.ingest.indexing.ENCODE_AT_ONCE", 8)
    monkeypatch.setattr("core.worker.reencoding.Throttle", lambda: _Always())
    control = Control()

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "encoding" and event.done >= 16:
            control.cancel()

    before = _current(library)
    with pytest.raises(Cancelled):
        reencode(library, other, control=control, listener=listen)
    assert _current(library) == before
    assert _found(library)
    made = reencode(library, other, control=Control(), listener=ignore)
    assert made.encoded == FILES - 16


class _Always:
    def ready(self) -> bool:
        return True


def test_pause_holds_it_and_going_on_ends_it(library: Path, other: str) -> None:
    control = Control()
    control.pause()
    done: list[Reencoded] = []
    thread = threading.Thread(target=lambda: done.append(reencode(library, other, control=control, listener=ignore)))
    thread.start()
    thread.join(1.0)
    assert not done
    assert _current(library)[1] == "tiny"
    control.resume()
    thread.join(60)
    assert done[0].encoder == other


def test_killed_and_resumed_it_ends_equal_to_a_fresh_library(library: Path, other: str, tmp_path: Path) -> None:
    before = _current(library)
    for kept in (8, 16):  # killed twice, each time after some batches were stored
        _kill_after(library, kept)
        assert _current(library) == before
        assert _found(library)
    db = database.open_reader(library)
    left = jobs.interrupted(db)
    stored = FILES - passages.unencoded(db, other)
    db.conn.close()
    assert left is not None
    assert (left.kind, left.arguments) == ("reencode", {"model": other})
    made = reencode(library, other, control=Control(), listener=ignore)
    assert made.encoded == FILES - stored < FILES
    fresh = tmp_path / "fresh"
    catalogue.use(other)
    ingest(fresh, [tmp_path / "documents"], control=Control(), listener=ignore)
    assert _found(library) == _found(fresh)


_SLOWLY = """
import sys, time
from pathlib import Path
from core.base.events import Control
from core.ingest import indexing
from core.worker.reencoding import reencode
indexing.ENCODE_AT_ONCE = 4
put = indexing.passages.put_vectors
def slow(*args):
    put(*args)
    time.sleep(0.2)
indexing.passages.put_vectors = slow
reencode(Path(sys.argv[1]), sys.argv[2], control=Control(), listener=lambda event: None)
"""


def _kill_after(library: Path, vectors: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", _SLOWLY, str(library), OTHER], stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while True:
        db = database.open_reader(library)
        stored = FILES - passages.unencoded(db, OTHER)
        db.conn.close()
        if stored >= vectors:
            break
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()


def test_what_is_removed_meanwhile_is_gone_after_it_too(library: Path, other: str, tmp_path: Path) -> None:
    gone = tmp_path / "documents" / "03.txt"
    removed: list[bool] = []

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "encoding" and not removed:
            removed.append(True)
            delete(library, gone)

    made = reencode(library, other, control=Control(), listener=listen)
    assert made.passages == FILES - 1
    assert "03.txt" not in _names(library, "the ship in the harbour number 3 of page 22")


def test_purging_gives_the_room_of_the_old_encoder_back(library: Path, other: str) -> None:
    reencode(library, other, control=Control(), listener=ignore)
    db = database.open_reader(library)
    assert passages.encoders(db) == [other, "tiny"]
    db.conn.close()
    purge(library)
    db = database.open_reader(library)
    assert passages.encoders(db) == [other]
    db.conn.close()
    assert _found(library)


def test_the_models_child_lists_and_guards_the_librarys_encoder(
    library: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.ingest.guards.lower_priority", lambda: None)  # it would slow the other tests down
    role = ModelsRole(library)
    listed = role.handle(_call("list"))
    assert listed["library_encoder"] == "tiny"
    assert {"tiny", other} <= {entry.id for entry in listed["models"] if entry.installed}
    used = role.handle(_call("use", id=other))
    assert [entry.id for entry in used["models"] if entry.active and entry.kind == "encoder"] == [other]
    with pytest.raises(KnownError, match="index of this library"):
        role.handle(_call("remove", id="tiny"))
    events: list[Reply] = []
    made = JobRole(library).handle(_call("reencode", events, model=other))
    assert made.encoder == other
    assert {"progress", "changed"} <= {reply.event for reply in events}
    assert role.handle(_call("remove", id="tiny"))["library_encoder"] == other
    finder = Finder(library)
    assert finder.search(Query("the ship in the harbour")).notice == ""
    finder.close()


def _call(op: str, events: list[Reply] | None = None, **args: str) -> Call:
    return Call(Request(1, op, args), (events if events is not None else []).append)


def test_token_vectors_are_made_anew_too(tiny_home: Path, other: str, tmp_path: Path) -> None:
    made = tmp_path / "with-tokens"
    ingest(made, [_documents(tmp_path / "papers")], multi=True, control=Control(), listener=ignore)
    reencode(made, other, control=Control(), listener=ignore)
    current = generation.current(made)
    assert current is not None
    assert current.encoder == other
    assert all(file.multi_path for file in current.segments)
    finder = Finder(made)
    hits = finder.search(Query("the ship in the harbour", k=8)).hits
    finder.close()
    assert MULTI in {part.channel for part in hits[0].parts}
