"""The chat templates that model files bring along: programs of others, of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from core.answer.backend import Message
from core.answer.llama import _CHATML, _template

CHAT = [Message("system", "Answer."), Message("user", "How many?")]
EACH = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"


class Loaded:
    """What a template is filled with, of a loaded model."""

    def __init__(self, template: str) -> None:
        self.metadata = {"tokenizer.chat_template": template} if template else {}
        self._model = self

    def token_get_text(self, token: int) -> str:
        return f"<{token}>"

    def token_eos(self) -> int:
        return 2

    def token_bos(self) -> int:
        return -1


def rendered(template: str) -> str:
    loaded: Any = Loaded(template)
    return str(_template(loaded)(CHAT))


def test_the_models_own_template_is_used() -> None:
    assert rendered(EACH) == "[system]Answer.[user]How many?"


@pytest.mark.parametrize(
    "template",
    [
        "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + EACH,
        EACH.replace("messages", "messages if m.role != 'system'"),  # leaves it out
    ],
)
def test_one_that_takes_no_system_message_is_given_it_with_the_question(template: str) -> None:
    assert rendered(template) == "[user]Answer.\n\nHow many?"


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{% if ",
        "{{ 1 / 0 }}",
        "{{ messages[0].content + 1 }}",
        "nothing of it",
        EACH + EACH,
        "{{ raise_exception(1) }}",
    ],
)
def test_a_common_one_stands_in_for_one_that_does_not_work(template: str) -> None:
    assert rendered(template) == rendered(_CHATML)
    assert "<|im_start|>user\nHow many?<|im_end|>" in rendered(template)
