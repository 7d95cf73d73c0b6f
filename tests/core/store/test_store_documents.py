"""Documents and passages: what stays, what goes, and that search hears of it in the same transaction."""

import json

import pytest

from core.base.errors import NotFound
from core.base.types import Answer, AnswerMode, Block, BlockKind, Box, DocumentState, Page, ReadDocument
from core.library import Library
from core.store import database, documents, jobs, passages
from core.store.database import transaction
from core.store.passages import NewPassage


@pytest.fixture
def db(tmp_path):
    opened = database.create(tmp_path)
    yield opened
    opened.conn.close()


def piece(text, start=0, language="en", content=None):
    return NewPassage(text, start, start + len(text), 1, 1, ("Head",), language, content or f"h-{text}")


def put(db, path="/a.txt", text="one two", rows=("one", "two"), **values):
    read = ReadDocument(
        text,
        pages=(Page(1, 0, len(text)),),
        blocks=(Block(BlockKind.PARAGRAPH, 0, 3, 1, (), (Box(1, 2, 3, 4),)),),
        **values,
    )
    with transaction(db):
        root = documents.add_root(db, "/", True)
        file_id = documents.put_file(db, root, path, 7, 1, "hash")
        document_id = documents.put_document(db, file_id, path, "c", read, language="en", size=7)
        fresh = passages.replace_passages(db, document_id, [piece(r) for r in rows])
        documents.finish_file(db, file_id, read.state, "", 0.5)
    return file_id, document_id, fresh


def ids(db, document_id):
    return {p.text: p.id for p in passages.of_document(db, document_id)}


def tombstones(db):
    return {r[0] for r in db.execute("SELECT passage_id FROM tombstone").fetchall()}


def test_text_pages_and_blocks_come_back(db, tmp_path):
    _, document_id, _ = put(db, text="one two \U0001f600 文")
    library = Library.open(tmp_path)
    text, pages, blocks = library.document_text(document_id)
    assert text == "one two \U0001f600 文"
    assert pages == (Page(1, 0, len(text)),)
    assert blocks[0].boxes == (Box(1, 2, 3, 4),)
    found = library.document(document_id)
    assert (found.state, found.passages, found.seconds) == (DocumentState.READ, 2, 0.5)
    library.close()


def test_unchanged_passages_keep_their_ids_and_changed_ones_are_tombstones(db):
    _, document_id, fresh = put(db, rows=("one", "two", "three"))
    assert fresh == 3
    before = ids(db, document_id)
    _, again, fresh = put(db, rows=("zero", "three", "one"))
    after = ids(db, again)
    assert again == document_id
    assert fresh == 1
    assert after["one"] == before["one"]
    assert after["three"] == before["three"]
    assert [p.text for p in passages.of_document(db, document_id)] == ["zero", "three", "one"]
    assert tombstones(db) == {before["two"]}


def test_equal_passages_in_one_document_are_kept_apart(db):
    _, document_id, _ = put(db, rows=("same", "same"))
    first = [p.id for p in passages.of_document(db, document_id)]
    _, _, fresh = put(db, rows=("same", "same"))
    assert fresh == 0
    assert [p.id for p in passages.of_document(db, document_id)] == first
    put(db, rows=("same",))
    assert tombstones(db) == {first[1]}


def test_an_id_is_never_used_again(db):
    _, document_id, _ = put(db, rows=("one",))
    old = ids(db, document_id)["one"]
    put(db, rows=())
    put(db, rows=("new",))
    assert ids(db, document_id)["new"] > old


def test_deleting_a_document_takes_everything(db):
    _, document_id, _ = put(db)
    gone = set(ids(db, document_id).values())
    with transaction(db):
        assert documents.delete_document(db, document_id) == 2
    assert tombstones(db) == gone
    for table in ("document", "document_text", "passage"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def test_lists_filter_sort_and_page(db, tmp_path):
    for number in range(5):
        put(db, f"/d{number}.txt")
    put(db, "/100%_odd.pdf", text="", rows=(), state=DocumentState.LOCKED)
    library = Library.open(tmp_path)
    assert library.count() == 6
    assert library.counts() == {DocumentState.READ: 5, DocumentState.LOCKED: 1}
    assert [d.path for d in library.documents(text="%_o")] == ["/100%_odd.pdf"]
    assert [d.path for d in library.documents(states=[DocumentState.LOCKED])] == ["/100%_odd.pdf"]
    page = library.documents(sort="path", descending=True, offset=1, limit=2)
    assert [d.path for d in page] == ["/d3.txt", "/d2.txt"]
    with pytest.raises(NotFound):
        library.document(99)
    library.close()


def test_lists_by_name_look_past_folders_and_capitals_and_use_an_index(db, tmp_path):
    for path in ("/a/zebra.txt", "/b/Apple.txt", "C:\\notes\\mango.txt", "/b/b/kiwi.txt", "/b/b/b"):
        put(db, path)
    library = Library.open(tmp_path)
    names = [d.path.replace("\\", "/").rpartition("/")[2] for d in library.documents(sort="name")]
    assert names == ["Apple.txt", "b", "kiwi.txt", "mango.txt", "zebra.txt"]
    library.close()
    order = f"{documents.SORTS['name']} ASC, path ASC, external_id ASC"
    plan = db.execute(f"EXPLAIN QUERY PLAN SELECT id FROM document ORDER BY {order}").fetchall()
    assert [row[3] for row in plan] == ["SCAN document USING COVERING INDEX document_names"]


def test_is_under_knows_folder_borders():
    assert documents.is_under("/a/b/c", "/a/b")
    assert documents.is_under("/a/b", "/a/b")
    assert documents.is_under("/a", "/")
    assert not documents.is_under("/a/bc", "/a/b")


def test_vectors_are_kept_by_content_and_dropped_when_unused(db):
    put(db, rows=("one", "two"))
    with transaction(db):
        passages.put_vectors(db, "enc", [("h-one", b"1"), ("h-two", b"2"), ("h-old", b"3")])
        passages.put_vectors(db, "enc", [("h-one", b"x")])
    assert passages.vectors(db, "enc", ["h-one", "h-old", "h-none"]) == {"h-one": b"1", "h-old": b"3"}
    assert passages.vectors(db, "other", ["h-one"]) == {}
    with transaction(db):
        assert passages.drop_unused_vectors(db) == 1


def test_conversations_are_kept(db, tmp_path):
    library = Library.open(tmp_path)
    answer = Answer("Who?", AnswerMode.ABSTAINED, "Your documents do not say.", ())
    number = library.save_turn(None, "who", answer)
    assert library.save_turn(number, "who else", answer) == number
    assert [c.title for c in library.conversations()] == ["Who?"]
    assert [t.search_text for t in library.turns(number)] == ["who", "who else"]
    assert library.turns(number)[0].answer == answer
    library.delete_conversation(number)
    assert library.conversations() == []
    library.close()


def test_a_job_without_an_end_was_cut_off(db, tmp_path):
    library = Library.open(tmp_path)
    first = jobs.start(db, "ingest", {"paths": ["/a"]})
    cut = library.interrupted_job()
    assert cut is not None
    assert cut.arguments == {"paths": ["/a"]}
    second = jobs.start(db, "ingest", {})
    jobs.end(db, second, jobs.DONE, {"documents": 1})
    assert library.interrupted_job() is None
    states = {j.id: j.state for j in library.jobs()}
    assert states == {first: jobs.INTERRUPTED, second: jobs.DONE}
    assert json.dumps(library.jobs()[0].outcome) == '{"documents": 1}'
    library.close()


def test_tags_are_a_change_of_their_own(db, tmp_path):
    _, document_id, _ = put(db)
    library = Library.open(tmp_path)
    library.set_tags(document_id, ["red", "blue", "red"])
    assert library.document(document_id).tags == ("blue", "red")
    assert library.facets()["tags"] == [("blue", 1), ("red", 1)]
    library.close()
