"""The Concepts page over a small real library with stored concepts, and a role that counts from its passages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from concept_library import MODEL, SAMPLES, put_concepts
from inline_engine import InlineEngine
from pages_fixtures import Desk
from pages_library import make_library
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from test_app_access import check

from app.context import Context, Place
from app.engine.engine import Engine
from app.errors import Notifications
from app.settings import Settings
from app.tasks.jobs import Jobs
from app.theme import Theme
from app.views.concept_edit import MergeSheet, RenameSheet
from app.views.concept_page import COMPARE, FIDELITY, LIST, MAP, PROFILE, ConceptPage
from app.views.concept_scope import DocumentSheet, of_document
from app.views.job_messages import concepts_message, naming_message
from app.widgets.concept_example import ExampleRow
from app.widgets.concept_rows import ShareRow
from app.widgets.steer_state import ByConcept
from core.library import Library

ROLE = Path(__file__).with_name("concept_role.py")
Show = Callable[[Desk], ConceptPage]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library without concepts, made once; each test works on a copy of it."""
    folder = tmp_path_factory.mktemp("concepts")
    make_library(folder / "library", folder / "files").close()
    return folder


def made_desk(folder: Path, engine: Engine | InlineEngine, theme: Theme, tmp_path: Path) -> Desk:
    visits: list = []
    messages: list = []
    notifications = Notifications()
    notifications.shown.connect(messages.append)
    made = Context(
        engine, Library.open(folder), Settings(tmp_path / "settings.json"), theme,
        lambda page, target: visits.append((page, target)), notifications, Jobs(engine),
    )  # fmt: skip
    return Desk(made, visits, messages)


@pytest.fixture
def library(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored / "library", tmp_path / "library"))


@pytest.fixture
def desk(qtbot: QtBot, qapp, theme: Theme, library: Path, tmp_path: Path) -> Iterator[Desk]:
    engine = InlineEngine(library)
    made = made_desk(library, engine, theme, tmp_path)
    yield made
    made.context.library.close()
    engine.deleteLater()


@pytest.fixture
def real_desk(qtbot: QtBot, qapp, theme: Theme, library: Path, tmp_path: Path) -> Iterator[Desk]:
    """With a child process."""
    engine = Engine(str(library), lambda role, folder: [sys.executable, str(ROLE), role, folder])
    made = made_desk(library, engine, theme, tmp_path)
    yield made
    engine.close()
    made.context.library.close()
    engine.deleteLater()


@pytest.fixture
def show(qtbot: QtBot) -> Iterator[Show]:
    pages: list[ConceptPage] = []

    def make(desk: Desk) -> ConceptPage:
        page = ConceptPage(desk.context)
        pages.append(page)
        page.resize(1000, 720)
        page.show()
        return page

    yield make
    for page in pages:
        page.close_page()
        page.close()
        page.deleteLater()


@pytest.fixture
def page(desk: Desk, show: Show, qtbot: QtBot) -> ConceptPage:
    """The page with its list and the first concept's details."""
    put_concepts(desk.context.library.folder)
    made = show(desk)
    qtbot.waitUntil(lambda: made.card.detail is not None, timeout=10_000)
    return made


def rows(page: ConceptPage) -> list[str]:
    model = page.list.model
    return [model.concept(row).label for row in range(model.rowCount())]  # type: ignore[union-attr]


def texts(widget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def visible(widget) -> list[ShareRow]:
    return [row for row in widget.findChildren(ShareRow) if row.isVisibleTo(widget)]


def said(widget) -> list[str]:
    return [row.accessibleName() for row in visible(widget)]


def test_the_list_is_searched_sorted_and_filtered(page: ConceptPage, qtbot: QtBot) -> None:
    assert rows(page) == [c.label for c in SAMPLES[:1]] + ["lamp · keeper · light", "money and payment",
                                                          "ice · winter · storm", "the · of · board"]  # fmt: skip
    page.list.table.horizontalHeader().setSortIndicator(2, Qt.SortOrder.DescendingOrder)
    assert rows(page)[:2] == ["harbour · dues · overnight", "ice · winter · storm"]
    page.list.search.setText("crowns")
    page.list.search.returnPressed.emit()
    assert rows(page) == ["money and payment"]  # by a word of it, not of its name
    page.list.search.setText("nothing like this")
    page.list.search.returnPressed.emit()
    assert page.list.rows.currentWidget() is page.list.nothing
    assert page.escape()
    page.list.search.returnPressed.emit()
    page.list.kinds.choose("weak")
    assert rows(page) == ["the · of · board"]


def test_a_concept_shows_where_it_is_strong_and_opens_there(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    assert page.card.concept is not None
    assert page.card.concept.id == 7
    assert "In 4" not in page.card.where.text()
    assert "in 2 documents" in page.card.where.text()
    assert "93 %" in page.card.clear.text()
    examples = page.card.findChildren(ExampleRow)
    assert len(examples) == 3
    examples[0].click()
    kind, place = desk.visits[-1]
    assert kind == "document"
    assert isinstance(place, Place)
    passage = examples[0].example.passage
    text = desk.context.library.document_text(passage.document_id)[0]
    marked = {text[s.start : s.end].casefold() for s in place.spans}
    assert marked == {"harbour", "dues", "overnight"}
    other = next(row for row in page.card.findChildren(ShareRow) if row.accessibleName().startswith("lamp"))
    other.click()
    qtbot.waitUntil(lambda: page.card.detail is not None and page.card.detail.concept.id == 12, timeout=5000)
    assert page.list.table.current().id == 12
    page.card.search_button.click()
    assert desk.visits[-1] == ("search", ByConcept("lamp light", 12, page.card.concept.label))


def test_a_name_is_given_and_taken_back(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    page.card.rename_button.click()
    sheet = page.findChild(RenameSheet)
    sheet.field.setText("   ")
    assert not sheet.yes.isEnabled()
    sheet.field.setText("Fees  of berths")
    sheet.yes.click()
    qtbot.waitUntil(lambda: "Fees of berths" in rows(page), timeout=5000)
    qtbot.waitUntil(lambda: page.card.title.text() == "Fees of berths", timeout=5000)
    assert desk.context.library.concepts(MODEL)[0].named_by == "person"
    message = desk.messages[-1]
    assert message.action == "Undo"
    message.on_action()
    qtbot.waitUntil(lambda: "harbour · dues · overnight" in rows(page), timeout=5000)
    assert "Fees of berths" not in rows(page)


def test_what_is_hidden_leaves_list_and_map_and_can_come_back(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    page.views.choose(MAP)
    qtbot.waitUntil(lambda: len(page.map.map.points) == 5, timeout=5000)
    page.card.hide_button.click()
    qtbot.waitUntil(lambda: len(page.map.map.points) == 4, timeout=5000)
    assert "harbour · dues · overnight" not in rows(page)
    page.views.choose(LIST)
    page.list.kinds.choose("hidden")
    assert rows(page) == ["harbour · dues · overnight"]
    page.show_concept(7)
    assert page.card.hide_button.text() == "Show again"
    page.card.hide_button.click()
    qtbot.waitUntil(lambda: not desk.context.library.concepts(MODEL)[0].hidden, timeout=5000)


def test_two_concepts_become_one_and_two_again(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    page.card.merge_button.click()
    sheet = page.findChild(MergeSheet)
    assert not sheet.yes.isEnabled()
    sheet.search.setText("money")
    sheet.search.returnPressed.emit()
    sheet.list.setCurrentIndex(sheet.model.index(0, 0))
    sheet.yes.click()
    qtbot.waitUntil(lambda: len(rows(page)) == 4, timeout=5000)
    qtbot.waitUntil(lambda: page.card.concept.id == 9 and page.card.detail is not None
                    and page.card.detail.concept.merged == (7,), timeout=5000)  # fmt: skip
    qtbot.waitUntil(lambda: "You put another concept together with it" in texts(page.card), timeout=5000)
    page.card.split.emit(7)
    qtbot.waitUntil(lambda: len(rows(page)) == 5, timeout=5000)


def test_the_map_is_walked_by_keys_and_zoomed(page: ConceptPage, qtbot: QtBot) -> None:
    page.views.choose(MAP)
    shown = page.map.map
    qtbot.waitUntil(lambda: len(shown.points) == 5, timeout=5000)
    assert shown.named == {c.id for c in SAMPLES}
    chosen: list[int] = []
    shown.chosen.connect(chosen.append)
    down = shown.next_one(0, 1)
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    assert chosen == [down.id] == [page.card.concept.id]
    assert down.label in shown.accessibleDescription()
    whole = shown.transform().m11()
    qtbot.keyClick(shown, Qt.Key.Key_Plus)
    assert shown.transform().m11() > whole
    qtbot.keyClick(shown, Qt.Key.Key_0)
    assert shown.transform().m11() == pytest.approx(whole)
    shown.zoom(0.01)
    assert shown.transform().m11() == pytest.approx(whole)
    point = shown.points[0]
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=shown._at(point).toPoint())
    assert chosen[-1] == point.id


def test_what_a_document_is_about(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    letter = next(d for d in desk.context.library.documents() if d.path.endswith("letter.txt"))
    page.show_target(of_document(letter))
    qtbot.waitUntil(lambda: len(visible(page.profile)) == 1, timeout=5000)  # the lamp is everywhere
    assert said(page.profile) == ["the · of · board: in 1 passage, 4.2 times as often"]
    page.profile.order.choose("much")
    qtbot.waitUntil(lambda: len(visible(page.profile)) == 2, timeout=5000)
    assert [row.shares[0].words for row in visible(page.profile)] == ["1 passage · 33 %"] * 2
    next(row for row in page.profile.findChildren(ShareRow) if row.text().startswith("lamp")).click()
    assert page.views.key == LIST
    assert page.card.concept.label == "lamp · keeper · light"
    page.profile.scope._ask_document()
    sheet = page.findChild(DocumentSheet)
    sheet.search.setText("visitors")
    sheet.search.returnPressed.emit()
    sheet._take(sheet.model.index(0, 0))
    assert page.profile.scope.scope.name == "visitors.html"


def test_two_sets_of_documents_are_compared(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    page.views.choose(COMPARE)
    letter = next(d for d in desk.context.library.documents() if d.path.endswith("letter.txt"))
    page.compare.first.choose(of_document(letter))
    qtbot.waitUntil(lambda: bool(said(page.compare)), timeout=5000)
    assert "More in letter.txt" in texts(page.compare)
    assert "More in all others" in texts(page.compare)
    assert any(words.endswith(("; surely", "; probably")) for words in said(page.compare))
    page.compare.second.choose(of_document(letter))
    qtbot.waitUntil(lambda: "They are about the same" in texts(page.compare), timeout=5000)


def test_fidelity_in_words_and_figures(page: ConceptPage) -> None:
    page.views.choose(FIDELITY)
    told = texts(page.fidelity)
    assert "71 %" in told  # what of the held-out passages is explained
    assert "99 %" in told
    assert "Of 4 that were tested, 2 concepts are clear; 1 is vague" in told
    assert "nmse_held_out" not in told
    page.fidelity.more.click()
    assert "nmse_held_out" in texts(page.fidelity)


def test_the_language_model_names_them(page: ConceptPage, desk: Desk, qtbot: QtBot) -> None:
    page.views.choose(FIDELITY)
    page.fidelity.name_button.click()
    assert page.job.isVisible()
    assert not page.fidelity.name_button.isEnabled()
    qtbot.waitUntil(lambda: "Written by the model" in rows(page), timeout=10_000)
    assert page.fidelity.name_button.isEnabled()
    assert not page.job.isVisible()


def test_what_jobs_on_concepts_came_to_is_told() -> None:
    told = naming_message({"kept": 1, "left": 2, "capable": True})
    assert (told.text, told.advice) == ("1 concept has a better name now.", "2 are left for another time.")
    assert "given up" in naming_message({"kept": 0, "left": 2, "capable": False}).advice
    assert concepts_message({"concepts": 31}).text == "31 concepts were found."
    assert concepts_message({"concepts": 0}).tone == "warning"


def test_without_documents_and_with_too_few(desk: Desk, show: Show, qtbot: QtBot, monkeypatch) -> None:
    made = show(desk)
    qtbot.waitUntil(lambda: made.work.listing is not None, timeout=10_000)
    assert made.empty.title.text() == "Too little text for concepts"
    assert "24 are needed" in made.empty.text.text()
    assert made.add_button.isVisible()
    assert not made.find_button.isVisible()
    monkeypatch.setattr(Library, "passage_count", lambda self: 0)
    made.work.listing = None
    made._show_stack()
    assert made.empty.title.text() == "No concepts yet"


def test_they_are_found_by_a_job_with_its_progress(real_desk: Desk, show: Show, qtbot: QtBot, monkeypatch) -> None:
    made = show(real_desk)
    qtbot.waitUntil(lambda: made.work.listing is not None, timeout=10_000)
    made.work.listing = replace(made.work.listing, least=2)
    made._show_stack()
    assert made.find_button.isVisible()
    made.find_button.click()
    assert made.job.isVisible()
    assert not made.find_button.isVisible()
    assert real_desk.context.jobs.running.op == "fit_concepts"
    put_concepts(real_desk.context.library.folder)
    qtbot.waitUntil(lambda: len(rows(made)) == 5 and not made.job.isVisible(), timeout=10_000)
    assert made.stack.currentIndex() == 1


def test_an_error_is_told_and_can_be_tried_again(desk: Desk, show: Show, qtbot: QtBot) -> None:
    put_concepts(desk.context.library.folder)
    desk.context.engine.broken = True
    made = show(desk)
    qtbot.waitUntil(made.banner.isVisible, timeout=10_000)
    assert made.banner.text() == "The search model is not there."
    desk.context.engine.broken = False
    made.banner.acted.emit()
    qtbot.waitUntil(lambda: made.card.detail is not None, timeout=10_000)
    assert not made.banner.isVisible()
    desk.context.engine.broken = True
    for key, view in ((MAP, made.map), (PROFILE, made.profile)):
        made.views.choose(key)
        if key == PROFILE:
            made.profile.scope.choose(of_document(desk.context.library.documents()[0]))
        qtbot.waitUntil(view.banner.isVisible, timeout=5000)
    desk.context.engine.broken = False
    made.profile.banner.acted.emit()
    qtbot.waitUntil(lambda: bool(visible(made.profile)), timeout=5000)


def test_every_control_has_a_name_and_is_reached(page: ConceptPage) -> None:
    for key in (LIST, MAP, PROFILE, COMPARE, FIDELITY):
        page.views.choose(key)
        check(page)


def test_long_names_and_large_text_stay_within_a_narrow_page(
    desk: Desk, show: Show, qtbot: QtBot, theme: Theme
) -> None:
    long = "Minutes of the extraordinary general assembly of the Northern Harbour Association and its annexes"
    put_concepts(desk.context.library.folder, [replace(c, label=long + str(c.id)) for c in SAMPLES])
    made = show(desk)
    qtbot.waitUntil(lambda: made.card.detail is not None, timeout=10_000)
    theme.set_text_percent(180)
    made.resize(620, 700)
    assert made.split.orientation() == Qt.Orientation.Vertical
    for key in (LIST, MAP, PROFILE, COMPARE, FIDELITY):
        made.views.choose(key)
        assert made.minimumSizeHint().width() <= 620
    theme.set_text_percent(100)
