"""The naming of a library's concepts by a language model: kept at once, resumed, given up when it leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.answer.backend import Message
from core.answer.echo import EchoBackend
from core.base.errors import Cancelled, ModelMissing
from core.base.events import Control
from core.encode.encoder import Encoder
from core.index import generation
from core.library import Library
from core.worker.concept_naming import name_concepts
from tests.core.concepts.library import fit_shelf, made_items, make_shelf


class Guesser(EchoBackend):
    """Writes two words of the strongest excerpt; cancels when it is asked the `last` time."""

    def __init__(self, control: Control, last: int = 10**6) -> None:
        super().__init__(context_size=8_000, prompt_budget=8_000)
        self._control, self._last = control, last

    def generate(
        self, messages: Sequence[Message], max_tokens: int, control: Control, stop: Sequence[str] = ()
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        if len(self.prompts) == self._last:
            self._control.cancel()
        control.check()
        line = next(line for line in messages[-1].content.splitlines() if line.startswith("[10]"))
        yield " ".join(line.split()[1:5])


@pytest.fixture
def library(tmp_path: Path, tiny_encoder: Encoder) -> Iterator[Library]:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made_items(tiny_encoder, 90))
    shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder) or "")
    shelf.close()
    found = Library.open(tmp_path / "library")
    yield found
    found.close()


def named(library: Library) -> dict[int, str]:
    current = generation.current(library.folder)
    assert current is not None
    return {c.id: c.label for c in library.concepts(current.concepts) if c.named_by == "model"}


def test_there_must_be_a_model(library: Library, tiny_encoder: Encoder) -> None:
    with pytest.raises(ModelMissing):
        name_concepts(library.folder, 1, load=lambda: None, encoder=tiny_encoder)


def test_a_model_that_writes_nonsense_is_given_up(library: Library, tiny_encoder: Encoder) -> None:
    backend = EchoBackend("of the", context_size=8_000, prompt_budget=8_000)
    told = name_concepts(library.folder, 9, load=lambda: backend, encoder=tiny_encoder)
    assert not told.capable
    assert (told.asked, told.kept) == (12, 0)
    assert named(library) == {}


def test_what_was_kept_before_a_cancel_stays_and_is_gone_on_from(library: Library, tiny_encoder: Encoder) -> None:
    control = Control()
    first = Guesser(control, last=6)
    with pytest.raises(Cancelled):
        name_concepts(library.folder, 9, control=control, load=lambda: first, encoder=tiny_encoder)
    before = named(library)
    second = Guesser(Control())
    told = name_concepts(library.folder, 9, load=lambda: second, encoder=tiny_encoder)
    seen = {p[-1].content for p in first.prompts[:5]}
    assert not seen & {p[-1].content for p in second.prompts}
    assert before.items() <= named(library).items()
    assert named(library)
    assert told.kept == len(named(library)) - len(before)
    assert told.asked == told.kept + sum(told.faults.values())
