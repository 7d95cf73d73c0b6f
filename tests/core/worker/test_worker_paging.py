"""A citation opens the page of its sentence, not the page on which its passage begins."""

from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Page, ReadDocument, Support
from core.library import Library
from core.store import database, documents
from core.store.database import transaction
from core.worker.paging import with_pages


def cited(document_id, start, page):
    return Citation(1, 1, document_id, "/a.pdf", "A", "", page, start, start + 3, "xyz")


def test_the_page_is_that_of_the_citation(tmp_path):
    db = database.create(tmp_path)
    read = ReadDocument("a" * 30, pages=(Page(1, 0, 10), Page(2, 10, 20), Page(7, 20, 30)))
    with transaction(db):
        root = documents.add_root(db, "/", True)
        file_id = documents.put_file(db, root, "/a.pdf", 1, 1, "h")
        number = documents.put_document(db, file_id, "/a.pdf", "c", read, language="en", size=1)
    db.conn.close()
    places = (cited(number, 5, 1), cited(number, 10, 1), cited(number, 25, 1), cited(number, 5, None), cited(99, 5, 4))
    sentence = AnswerSentence("xyz", Support.SUPPORTED, places)
    library = Library.open(tmp_path)
    answer = with_pages(Answer("?", AnswerMode.EXTRACTIVE, "xyz", (sentence,), places[1:2]), library)
    library.close()
    assert [c.page for c in answer.sentences[0].citations] == [1, 2, 7, None, 4]
    assert answer.near_misses[0].page == 2
