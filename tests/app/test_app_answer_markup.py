"""Markup in answers and quotes is text in the window: nothing of it is drawn, followed or fetched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument, QTextFragment
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.widgets.answer_turn import TurnView
from app.widgets.labels import ElidedLabel
from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Support

MARKUP = (
    "![open](https://evil.example/take?q=bakery)",
    "[opening hours](https://evil.example/hours)",
    "<img src='https://evil.example/six'> opens at six.",
    "<a href='https://evil.example'>six</a>",
    "<b>six</b> & <script>alert(1)</script>",
    "<iframe src=https://evil.example></iframe>",
    "# Heading\n- list",
)


def citation(quote: str) -> Citation:
    return Citation(1, 10, 1, "/docs/<i>0</i>.pdf", "<b>Title</b>", "", 3, 0, len(quote), quote)


def fragments(document: QTextDocument) -> Iterator[QTextFragment]:
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            yield iterator.fragment()
            iterator += 1
        block = block.next()


@pytest.mark.parametrize("mode", [AnswerMode.EXTRACTIVE, AnswerMode.GENERATED])
@pytest.mark.parametrize("markup", MARKUP)
def test_an_answer_shows_markup_as_it_is_written(markup: str, mode: AnswerMode, qtbot: QtBot) -> None:
    turn = TurnView(markup)
    qtbot.addWidget(turn)
    turn.add_token(markup)
    assert markup.splitlines()[0] in turn.draft.toPlainText()
    sentence = AnswerSentence(markup, Support.SUPPORTED, (citation(markup),))
    left_out = AnswerSentence(f"{markup} left", Support.UNSUPPORTED)
    turn.show_answer(Answer(markup, mode, f"{markup} [1]", (sentence, left_out), reason=markup))
    turn.resize(600, 400)
    turn.show()
    for view in (turn.text, turn.draft):
        kinds = [fragment.charFormat() for fragment in fragments(view.document())]
        assert not any(kind.isImageFormat() for kind in kinds)
        assert all(kind.anchorHref().startswith("cite:") for kind in kinds if kind.isAnchor())
    assert markup.splitlines()[0] in turn.text.toPlainText()
    labels = turn.findChildren(QLabel)
    assert labels
    assert all(label.textFormat().name == "PlainText" for label in labels if "<" in label.text())


def test_a_title_that_is_cut_shows_its_markup_in_the_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("<img src='https://evil.example/x'> " + "long " * 40)
    qtbot.addWidget(label)
    label.resize(80, 20)
    label.show()
    assert label.toolTip().startswith("&lt;img src='https://evil.example/x'&gt; long")
    label.set_whole("A < B " + "long " * 40)
    assert label.toolTip() == label.whole()


def test_nothing_is_loaded_and_only_chips_are_followed(qtbot: QtBot) -> None:
    turn = TurnView("?")
    qtbot.addWidget(turn)
    sentence = AnswerSentence("six", Support.SUPPORTED, (citation("six"),))
    turn.show_answer(Answer("?", AnswerMode.EXTRACTIVE, "six [1]", (sentence,)))
    followed: list[object] = []
    turn.text.cited.connect(followed.append)
    assert turn.text.loadResource(QTextDocument.ResourceType.ImageResource, QUrl("https://evil.example/x.png")) is None
    for address in ("https://evil.example", "file:///etc/passwd", "javascript:alert(1)", "cite:x"):
        turn.text.anchorClicked.emit(QUrl(address))
    assert followed == []
    assert not turn.text.openLinks()
    assert not turn.text.openExternalLinks()
    turn.text.anchorClicked.emit(QUrl("cite:0"))
    assert followed == [citation("six")]
