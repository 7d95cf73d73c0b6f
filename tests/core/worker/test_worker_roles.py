"""The roles as real child processes: search, view, answer, job."""

import base64
import os
import signal
import tempfile
import time
import zipfile
from email.message import EmailMessage
from pathlib import Path

import psutil
import pytest

from core.base.errors import BadQuery, Cancelled, ChildDied, NotALibrary, NotFound, PathMissing
from core.base.events import Control
from core.base.types import Answer, AnswerMode, Explanation, IngestReport, Query, SearchResult, WhyNot
from core.base.wire import from_plain, to_plain
from core.library import Library
from core.search.every import Matches
from core.worker.client import ChildClient, describe_ending
from tests.corpus import make_folder

pytestmark = pytest.mark.e2e


@pytest.fixture
def library(tmp_path, tiny_home):
    make_folder(tmp_path / "docs", 32)
    with ChildClient("job", tmp_path / "library") as child:
        data = child.call("ingest", {"paths": [str(tmp_path / "docs")]})
    assert from_plain(IngestReport, data).documents == 32
    return tmp_path / "library"


def search(child, text, **values):
    return from_plain(SearchResult, child.call("search", {"query": to_plain(Query(text, **values))}))


def test_search_and_explain(library):
    with ChildClient("search", library) as child:
        result = search(child, "reference code0003x")
        assert "code0003x" in result.hits[0].passage.text
        args = {"query": to_plain(result.query), "passage_id": result.hits[0].passage.id}
        why = from_plain(Explanation, child.call("explain", args))
        assert why.passage == result.hits[0].passage
        assert why.parts == result.hits[0].parts
        with pytest.raises(BadQuery):
            search(child, "  ")
        with pytest.raises(NotFound):
            child.call("explain", {**args, "passage_id": 10**9})
        absent = from_plain(WhyNot, child.call("why_not", args))
        assert (absent.passage, absent.rank, absent.excluded) == (why.passage, 1, ())
        assert [s.channel for s in absent.standings] == [p.channel for p in why.parts]
        with pytest.raises(NotFound):
            child.call("why_not", {**args, "passage_id": 10**9})
        assert search(child, "honey").hits


def test_a_search_child_sees_what_a_job_commits(library, tmp_path):
    with ChildClient("search", library) as child:
        assert not any("zebras" in h.passage.text for h in search(child, "zebras").hits)
        (tmp_path / "docs" / "new.txt").write_text("A new report. It is about zebras and their stripes.")
        with ChildClient("job", library) as job:
            job.call("ingest", {"paths": []})
        assert "zebras" in search(child, "zebras").hits[0].passage.text
        with ChildClient("job", library) as job:
            job.call("remove", {"path": str(tmp_path / "docs" / "new.txt")})
        assert not any("zebras" in h.passage.text for h in search(child, "zebras").hits)


def test_view_marks_the_words_on_the_page(library):
    reader = Library.open(library)
    document = next(d for d in reader.documents() if d.path.endswith("money-0003.pdf"))
    text, _, _ = reader.document_text(document.id)
    start = text.index("code0003x")
    args = {"document_id": document.id, "number": 1, "scale": 2.0, "spans": [[start, start + 9]]}
    with ChildClient("view", library) as child:
        page = child.call("page", args)
        assert base64.b64decode(page["image"])[:8] == b"\x89PNG\r\n\x1a\n"
        assert page["pages"] == 2
        assert len(page["rects"]) == 1
        left, top, right, bottom = page["rects"][0]
        assert 0 < left < right < page["width"]
        assert 0 < top < bottom < page["height"]
        assert 30 < right - left < 150  # nine letters of ten points at twice the size
        elsewhere = child.call("page", {**args, "number": 2})
        assert elsewhere["rects"] == []
        sizes = child.call("sizes", {"document_id": document.id})
        assert len(sizes["pages"]) == 2
        Path(document.path).unlink()
        with pytest.raises(PathMissing):
            child.call("page", args)
    reader.close()


def test_view_shows_a_file_within_a_mail_within_an_archive(library, tmp_path):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Figures"
    mail.set_content("The mail speaks of zebras.")
    pdf = next((tmp_path / "docs").rglob("money-0003.pdf")).read_bytes()
    mail.add_attachment(pdf, maintype="application", subtype="pdf", filename="figures.pdf")
    with zipfile.ZipFile(tmp_path / "docs" / "box.zip", "w") as archive:
        archive.writestr("post/letter.eml", mail.as_bytes())
    with ChildClient("job", library) as job:
        job.call("ingest", {"paths": []})
    reader = Library.open(library)
    found = {d.external_id: d for d in reader.documents() if d.path.endswith("box.zip")}
    assert set(found) == {"post/letter.eml", "post/letter.eml/figures.pdf"}
    document = found["post/letter.eml/figures.pdf"]
    text, _, _ = reader.document_text(document.id)
    start = text.index("code0003x")
    with ChildClient("view", library) as child:
        page = child.call("page", {"document_id": document.id, "number": 1, "spans": [[start, start + 9]]})
        assert page["pages"] == 2
        assert len(page["rects"]) == 1
        assert child.call("page", {"document_id": document.id, "number": 2})["number"] == 2
    assert not list(Path(tempfile.gettempdir()).glob("whymatch-view-*/*/figures.pdf"))
    reader.close()


def test_an_answer_cites_the_place(library):
    with ChildClient("search", library) as child:
        question = "What is the reference code0003x?"
        result = child.call("retrieve", {"question": question, "history": [], "filters": {}, "k": 8})
    parts = []
    with ChildClient("answer", library) as child:
        args = {"question": question, "history": [], "result": result, "mode": "auto"}
        answer = from_plain(Answer, child.call("ask", args, on_event=parts.append))
    assert answer.mode is AnswerMode.EXTRACTIVE
    assert "code0003x" in answer.text
    assert parts[0].event == "partial"


def test_a_question_about_the_whole_library_reads_all_of_it(library):
    question = "How many documents are there?"
    with ChildClient("search", library) as child:
        result = child.call("retrieve", {"question": question, "history": [], "filters": {}, "k": 8})
        page = from_plain(Matches, child.call("every", {"text": "", "first": 5, "count": 10}))
    parts = []
    args = {"question": question, "history": [], "result": result, "mode": "extractive"}
    with ChildClient("answer", library) as child:
        answer = from_plain(Answer, child.call("ask", args, on_event=parts.append))
        best = from_plain(Answer, child.call("ask", {**args, "scope": "best"}))
        every = from_plain(Answer, child.call("ask_all", {**args, "question": "code0003x"}))
    assert answer.sentences[0].text.startswith("32 documents in all")
    assert answer.read == answer.matching == page.total >= 32
    assert len(page.matches) == 10
    first = from_plain(Answer, parts[0].data["answer"])
    assert (parts[0].event, first.read, first.matching) == ("partial", 0, answer.matching)
    assert (best.matching, best.groups) == (0, ())
    assert every.matching > 0


def test_a_job_can_be_cancelled_and_goes_on_later(tmp_path, tiny_home):
    make_folder(tmp_path / "docs", 200, suffixes=("txt",))
    control = Control()

    def listen(reply):
        if reply.event == "progress" and reply.data["counts"].get("files", 0) > 5:
            control.cancel()

    with ChildClient("job", tmp_path / "library") as child:
        begun = time.monotonic()
        with pytest.raises(Cancelled):
            child.call("ingest", {"paths": [str(tmp_path / "docs")]}, on_event=listen, control=control)
        assert time.monotonic() - begun < 60
    with ChildClient("job", tmp_path / "library") as child:
        assert child.call("ingest", {"paths": []})["documents"] == 200


def test_a_dead_child_is_told_by_how_it_ended(library):
    child = ChildClient("search", library)
    search(child, "honey")
    os.kill(child.pid, signal.SIGSEGV)
    with pytest.raises(ChildDied, match="SIGSEGV"):
        search(child, "honey")
    child.close()
    assert describe_ending(-9) == "was ended by SIGKILL (perhaps out of memory)"
    assert describe_ending(3) == "ended with code 3"


def test_no_child_outlives_its_parent(library):
    client = ChildClient("search", library)
    search(client, "honey")
    process = psutil.Process(client.pid)
    client.close()
    assert not process.is_running()


def test_a_folder_that_is_no_library_is_an_error_not_a_death(tmp_path, tiny_home):
    with ChildClient("search", tmp_path) as child:
        for _ in range(2):
            with pytest.raises(NotALibrary):
                search(child, "honey")


def test_what_is_judged_next_comes_with_passages_and_never_twice(library):
    with ChildClient("search", library) as child:
        asked: list[str] = []
        for _ in range(3):
            told = child.call("judge_next", {"asked": asked})
            assert told["question"] not in asked
            assert 1 <= len(told["passages"]) <= 5
            assert (told["done"], told["wanted"]) == (0, 50)
            asked.append(told["question"])
        reader = Library.open(library)
        assert reader.judge(asked[0], {told["passages"][0]["id"]: 2}) == 1
        reader.close()
        again = child.call("judge_next", {"asked": asked[1:]})
        assert again["done"] == 1
        assert again["question"] != asked[0]
