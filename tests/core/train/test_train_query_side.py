"""What the query side learns from, and how much each of a question's tokens counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.base.events import ignore
from core.base.files import write_json
from core.base.wire import to_plain
from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.ground import Ground
from core.train.query_side import _LEAST_IDF, rarities
from core.train.query_stage import _lessons
from core.train.split import Split
from core.train.teacher import Lesson, among
from tests.core.train.asking import questions
from tests.core.train.made import documents

_NOBODY: Any = None  # no search is needed for lessons that were kept


def test_a_lesson_loses_what_has_gone_and_no_more() -> None:
    lessons = (Lesson(0, (1, 2, 3), (3.0, 2.0, 1.0)), Lesson(1, (3, 4), (2.0, 1.0)), Lesson(2, (1, 2), (2.0, 1.5)))
    assert among(lessons, frozenset({1, 3})) == (Lesson(0, (1, 3), (3.0, 1.0)),)
    assert among(lessons, frozenset({1, 2, 3, 4})) == lessons


def test_lessons_that_were_kept_go_on_without_passages_that_have_gone(tmp_path: Path) -> None:
    pieces = documents(5)
    ground = Ground(tuple(pieces[:4]), Split(tuple(questions(pieces)[:3]), (), ()))
    kept = [Lesson(0, (5, 2, 3), (3.0, 2.0, 1.0)), Lesson(1, (5, 4), (2.0, 1.0)), Lesson(9, (1, 2), (2.0, 1.0))]
    write_json(tmp_path / "lessons.json", to_plain(kept))
    assert _lessons(ground, _NOBODY, tmp_path / "lessons.json", None, ignore) == (Lesson(0, (2, 3), (2.0, 1.0)),)


def test_tokens_of_prefixes_weigh_least_and_rare_words_most(tiny_bundle: Bundle) -> None:
    pieces = documents(40, sentences=2)
    told = {"query": "blacksmith: ", "passage": "passage: "}
    assert not any("blacksmith" in piece.input for piece in pieces)
    plain = Backbone.open(tiny_bundle, "cpu")
    bundle = replace(tiny_bundle, config={**tiny_bundle.config, "prefixes": told})
    weights_V = rarities(Backbone.open(bundle, "cpu"), pieces, 1.0).numpy()
    least = {id for row in plain.tokens.ids(list(told.values())) for id in row}
    np.testing.assert_allclose(weights_V[sorted(least)], _LEAST_IDF, rtol=1e-6)
    others = np.setdiff1d(np.arange(len(weights_V)), sorted(least))
    # without what stands before each text the library counts as it does without prefixes
    np.testing.assert_array_equal(weights_V[others], rarities(plain, pieces, 1.0).numpy()[others])
    assert weights_V[others].max() > 100 * _LEAST_IDF
