"""Names that a language model writes: kept where they lead to the passages better, and never otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from core.answer.echo import EchoBackend
from core.base.errors import Cancelled
from core.base.events import Control
from core.concepts.lsa import word_space
from core.concepts.naming import Namer, cleaned, excerpt
from core.concepts.terms import Text
from core.concepts.vocabulary import Vocabulary
from tests.core.concepts.crowded import crowd

CORPUS = crowd(600, seed=0)
TEXTS = [Text(text, "en") for text in CORPUS.texts]
SPACE = word_space(Vocabulary(TEXTS))
TOPIC = 3
ACTIVE = (CORPUS.topics[:, TOPIC] * np.random.default_rng(0).uniform(0.4, 1, len(TEXTS))).astype(np.float32)


def by_words(name: Text) -> np.ndarray:
    return SPACE.vectors @ SPACE.fold(name)


def namer(reply: str, **options: int) -> tuple[Namer, EchoBackend]:
    backend = EchoBackend(reply, **options)
    return Namer(backend, TEXTS, [by_words]), backend


def common(rows: np.ndarray) -> str:
    """The word in most of these texts."""
    words = [word for row in rows for word in set(CORPUS.texts[row].split())]
    return max(set(words), key=lambda word: (words.count(word), word))


OWN = common(np.flatnonzero(ACTIVE))
OTHER = common(np.flatnonzero(CORPUS.topics[:, TOPIC + 1]))


def test_a_name_that_leads_to_the_passages_better_is_kept() -> None:
    write, _ = namer(f'Name: "{OWN}".')
    trial = write(ACTIVE, OTHER, [OTHER])
    assert (trial.name, trial.fault) == (OWN, "")
    assert trial.before < 0.6
    assert trial.after > 0.9


def test_a_name_that_leads_no_better_is_not() -> None:
    write, _ = namer(OTHER)
    trial = write(ACTIVE, OWN, [OWN])
    assert (trial.name, trial.fault, trial.wrote) == ("", "no better", OTHER)
    assert trial.before > trial.after


def test_another_concepts_name_is_not_taken() -> None:
    write, _ = namer(OWN.upper())
    assert write(ACTIVE, OTHER, [], taken={OWN}).fault == "is one already"
    assert write(ACTIVE, OWN, []).fault == "is one already"


def test_the_model_sees_the_strongest_passages_and_is_tested_on_others() -> None:
    write, backend = namer(OWN, context_size=8_000, prompt_budget=8_000)
    several = (CORPUS.topics[:, TOPIC : TOPIC + 2].any(1) * np.linspace(0.4, 1, len(TEXTS))).astype(np.float32)
    write(several, OTHER, [])
    shown = backend.prompts[0][1].content
    order = np.argsort(-several, kind="stable")[: int((several > 0).sum())]
    seen = [" ".join(CORPUS.texts[row].split())[:60] in shown for row in order]
    assert seen == sorted(seen, reverse=True)  # the strongest ones, and only they
    assert sum(seen) == min(30, len(order) - len(order) // 3)
    assert "[10] " in shown


def test_a_small_prompt_holds_fewer_passages() -> None:
    write, backend = namer(OWN, prompt_budget=400)
    write(ACTIVE, OTHER, [])
    assert backend.count_prompt(backend.prompts[0]) <= 400
    assert namer(OWN, prompt_budget=60)[0](ACTIVE, OTHER, []).fault == "no room for the passages"


def test_a_latent_of_few_passages_is_not_asked_about() -> None:
    few = np.zeros_like(ACTIVE)
    few[:4] = 1
    write, backend = namer(OWN)
    assert write(few, OTHER, []).fault == "too few passages"
    assert backend.prompts == []


def test_names_are_of_the_language_in_which_the_latent_is_strongest() -> None:
    texts = [Text(text, "de" if n % 3 else "en") for n, text in enumerate(CORPUS.texts)]
    several = CORPUS.topics[:, TOPIC : TOPIC + 3].any(1)
    active = (several * np.where(np.arange(len(texts)) % 3, 1, 0.1)).astype(np.float32)
    backend = EchoBackend(OWN, context_size=8_000, prompt_budget=8_000)
    Namer(backend, texts, [by_words])(active, OTHER, [])
    content = backend.prompts[0][1].content
    english = [CORPUS.texts[row] for row in np.flatnonzero(active) if texts[row].language == "en"]
    assert not any(text[:60] in content for text in english)


def test_naming_can_be_cancelled() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        Namer(EchoBackend(OWN), TEXTS, [by_words], control)(ACTIVE, OTHER, [])


@pytest.mark.parametrize(
    ("wrote", "name"),
    [
        ('1. "Honey bees in winter."', "Honey bees in winter"),
        ("Topic: **Roof repair**\nThe lines are about roofs.", "Roof repair"),
        ("[9] Solar heating", "Solar heating"),
        ("屋根の修理", "屋根の修理"),
    ],
)
def test_what_is_kept_of_a_models_text(wrote: str, name: str) -> None:
    assert cleaned(wrote, "en") == (name, "")


@pytest.mark.parametrize(
    ("wrote", "fault"),
    [
        ("  \n ", "empty"),
        ("Roof repair and what it costs a household in a year", "form"),
        ("What is a roof?", "form"),
        ("The lines share roofs", "about the text"),
        ("roof roof roof roof", "repeats itself"),
        ("of the", "says nothing"),
    ],
)
def test_what_falls_and_why(wrote: str, fault: str) -> None:
    assert cleaned(wrote, "en") == ("", fault)


def test_an_excerpt_is_the_sentence_with_most_of_the_terms() -> None:
    text = "It rained for a week. The roof lost its tiles. A gutter broke."
    assert excerpt(text, ["roof", "tiles"]) == "The roof lost its tiles."
    assert len(excerpt("word " * 100, [])) <= 222
