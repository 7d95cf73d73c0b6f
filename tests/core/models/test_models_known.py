"""The languages that a model was made for, as its config or what is known of its source tells them."""

from __future__ import annotations

import pytest

from core.encode.load import languages
from core.models.bundles import Bundle
from core.models.known import spoken


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"languages": ["en"]}, {"en"}),
        ({"languages": ["pt-BR", "zh_CN", "DE"]}, {"pt", "zh", "de"}),
        ({"languages": ["en", "multilingual"]}, set()),
        ({"languages": ["eng"]}, set()),
        ({"languages": ["many"]}, set()),
        ({"languages": []}, set()),
        ({"source": "BAAI/bge-small-en-v1.5"}, {"en"}),
        ({"source": "intfloat/multilingual-e5-small"}, set()),
        ({"source": "somebody/else"}, set()),
    ],
)
def test_only_two_letter_codes_are_taken_for_all_there_is(config: dict[str, object], found: set[str]) -> None:
    assert spoken(config) == found


def test_an_installed_encoder_tells_its_languages(tiny_home: object, tiny_bundle: Bundle) -> None:
    assert languages(tiny_bundle.id) == {"en"}
    assert languages("not-there") == frozenset()
