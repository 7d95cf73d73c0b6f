"""What is given to be judged, and the library's own test set of it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from core.cli.commands import app
from core.evaluate import own
from core.ingest.removal import delete_documents
from core.library import Library
from core.store import database
from core.train.signals import key_of
from core.worker.finding import Finder
from core.worker.judging import POOLED, Judging
from core.worker.purge import purge
from tests.core.train.asked import FILLER, Made
from tests.corpus import make_folder
from tests.kept import Kept


@pytest.fixture(scope="module")
def made(tmp_path_factory, tiny_encoder):
    place = tmp_path_factory.mktemp("judging")
    make_folder(place / "docs", 24, suffixes=("md", "txt"))
    kept = Kept(place / "library", tiny_encoder)
    kept.run(place / "docs")
    return place / "library"


def test_what_the_person_asked_comes_first_and_nothing_twice(made, tiny_encoder) -> None:
    library, finder = Library.open(made), Finder(made, tiny_encoder)
    try:
        judging, asked = Judging(made, finder.search), []
        first = judging.next(asked)
        own_one = first.passages[0].id
        library.set_pinned("who keeps the honey in the hive?", own_one, on=True)
        pinned = judging.next(asked)
        assert pinned.question == "who keeps the honey in the hive?"
        while (told := judging.next(asked)).question:
            assert key_of(told.question) not in set(map(key_of, asked))
            assert 1 <= len(told.passages) <= POOLED
            assert len({one.id for one in told.passages}) == len(told.passages)
            asked.append(told.question)
            if len(asked) == 12:
                break
        assert pinned.question in asked
        library.judge(asked[0], {own_one: 2})
        assert judging.next([]).done == 1
        assert judging.next([]).question not in asked[:1]
        library.judge(asked[0], {})
        library.set_pinned(pinned.question, own_one, on=False)
    finally:
        library.close()
        finder.close()


def test_evaluate_measures_on_what_was_judged(made, tiny_home) -> None:
    run = CliRunner().invoke(app, ["evaluate", "--library", str(made), "--own", "--json"])
    assert "No question of this library is judged." in str(run.exception or run.output)
    library = Library.open(made)
    first, second = library.document_passages(library.documents()[0].id)[:2]
    words = " ".join(first.text.split()[:12])
    library.judge(words, {first.id: 2, second.id: 0})
    library.judge("nothing answers this", {second.id: 0})
    db = database.open_reader(made)
    data = own.load(made, db)
    db.conn.close()
    assert list(data.queries.values()) == [words]
    assert data.qrels["q1"][str(first.id)] == 2
    assert data.qrels["q1"][str(second.id)] == 0
    run = CliRunner().invoke(
        app, ["evaluate", "--library", str(made), "--own", "--json", "--measures", "ndcg@10", "--channels", "bm25"]
    )
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    assert (told["dataset"], told["queries"]) == ("own", 1)
    assert told["channels"]["bm25"]["ndcg@10"] == 1.0
    for wrong in (["--own"], [], ["--own", "--library", str(made), str(made)]):
        assert CliRunner().invoke(app, ["evaluate", *wrong]).exit_code == 2
    library.judge(words, {})
    library.judge("nothing answers this", {})
    library.close()


def test_a_purge_takes_what_was_said_of_passages_that_are_gone(tmp_path) -> None:
    made = Made(tmp_path / "library")
    gone, stays = made.add("/shelf/a.txt", ["Quokkas sleep."]), made.add("/shelf/b.txt", [FILLER])
    library = Library.open(tmp_path / "library")
    library.judge("where do quokkas sleep?", {made.ids(gone)[0]: 2})
    library.judge("green book", {made.ids(stays)[0]: 2})
    library.close()
    with database.transaction(made.db):
        delete_documents(made.db, [gone], keep_vectors=True)  # as a run leaves it that is cut off
    made.db.conn.close()
    purge(tmp_path / "library")
    assert b"where do quokkas" not in (tmp_path / "library" / database.FILE).read_bytes()
    library = Library.open(tmp_path / "library")
    assert [one.question for one in library.judgements()] == ["green book"]
    library.close()
