"""Where else a hit stands: said in its row, and opened from its menu."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from app.widgets.answer_parts import place
from app.widgets.hit_list import HitList
from app.widgets.hit_model import copies_text, place_of
from app.widgets.page_loader import StoredDocument
from core.base.types import Block, BlockKind, Citation, Copy, Document, DocumentState, Hit, Page, Passage, Span

PASSAGE = Passage(1, 10, 0, "storm and ferry", 0, 15, 2, 2, ("Q3",), "en", "/d/book.xlsx", "", "", "", "Q3 · B2:F9")


def copy(number: int, *, exact: bool) -> Copy:
    return Copy(
        number, f"/d/old/{number}.md", "", "", "2024-02-03T10:00:00+00:00", exact, None if exact else 100 + number
    )


def hit(*copies: Copy) -> Hit:
    return Hit(1, PASSAGE, 1.0, (), (Span(0, 5),), Span(0, 15), copies)


def test_copies_and_versions_in_words() -> None:
    assert copies_text(hit()) == ""
    assert copies_text(hit(copy(1, exact=True))) == "+1 copy"
    assert copies_text(hit(copy(1, exact=True), copy(2, exact=True))) == "+2 copies"
    assert copies_text(hit(copy(1, exact=False), copy(2, exact=False))) == "newest of 3 versions"
    assert copies_text(hit(copy(1, exact=False), copy(2, exact=True))) == "newest of 2 versions, +1 copy"


def test_named_places_stand_for_pages_and_are_not_said_twice() -> None:
    assert place_of(PASSAGE) == "Q3 · B2:F9"
    assert place_of(replace(PASSAGE, place="", heading_path=())) == "page 2"
    inner = replace(PASSAGE, title="Costs", external_id="inner.zip/costs.xlsx", path="/d/outer.zip")
    assert place_of(inner) == "outer.zip › inner.zip/costs.xlsx  ·  Q3 · B2:F9"
    citation = Citation(1, 1, 10, "/d/book.xlsx", "", "", 2, 0, 5, "storm", "Q3 · B2:F9")
    assert place(citation) == "book.xlsx, Q3 · B2:F9"
    assert place(replace(citation, place="")) == "book.xlsx, page 2"


def test_the_note_can_be_clicked_and_the_menu_key_works(qtbot: QtBot, theme) -> None:
    view = HitList()
    qtbot.addWidget(view)
    view.resize(700, 300)
    view.show_hits([hit(copy(1, exact=True)), hit()])
    view.show()
    asked: list[Hit] = []
    menus: list[tuple[Hit, QPoint]] = []
    view.copies_asked.connect(lambda one, at: asked.append(one))
    view.menu_asked.connect(lambda one, at: menus.append((one, at)))
    option = QStyleOptionViewItem()
    view.initViewItemOption(option)
    option.rect = view.visualRect(view.model().index(0, 0))
    rect: QRect = view._delegate.copies_rect(option, view.hits[0]).toRect()
    assert rect.width() > 20
    assert option.rect.contains(rect)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert asked == [view.hits[0]]
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center() + QPoint(0, 40))
    assert len(asked) == 1
    view.customContextMenuRequested.emit(QPoint(-1, -1))
    assert menus[0][0] == view.hits[0]
    said = view.model().index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "+1 copy" in said


def test_viewer_names_the_place() -> None:
    blocks = (
        Block(BlockKind.TABLE_ROW, 0, 5, place="A1:B1"), Block(BlockKind.TABLE_ROW, 7, 12, place="A2:B2"),
    )  # fmt: skip
    document = Document(1, "/a.xlsx", "", "", "", "", "", "", "", DocumentState.READ, "", "", 1, 12, 1)
    stored = StoredDocument(document, "a | b\n\nc | d", (Page(1, 0, 12, label="Q3"),), blocks, "")
    assert stored.named_place(8) == "Q3 · A2:B2"
    plain = StoredDocument(document, "text", (), (Block(BlockKind.PARAGRAPH, 0, 4),), "")
    assert plain.named_place(2) == ""
