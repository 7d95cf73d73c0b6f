"""Labels: the words that set a latent's passages apart, as a person would write them."""

from __future__ import annotations

import numpy as np
import pytest

from core.concepts.describe import describe
from core.concepts.sae import export, train
from core.concepts.settings import SaeConfig
from core.concepts.terms import Text, candidates, content_words
from core.concepts.vocabulary import Vocabulary
from tests.core.concepts.planted import WORDS, auc, plant


def surfaces(text: str, language: str = "en") -> set[str]:
    return {c.surface for c in candidates(Text(text, language))}


def label(texts: list[str], about: int, language: str = "en") -> str:
    """The label of a latent that fires in the first `about` texts."""
    active = np.zeros((len(texts), 1), np.float32)
    active[:about, 0] = np.linspace(1, 0.6, about)
    found = describe(Vocabulary([Text(t, language) for t in texts]), active)
    return found[0].label if found else ""


def test_planted_topics_get_their_own_words() -> None:
    corpus = plant(400, seed=4)
    model = export(train(corpus.vectors, SaeConfig(latents=20, k=2, steps=250, batch=128)))
    active = model.encode(corpus.vectors)
    named = {d.latent: d for d in describe(Vocabulary([Text(t, "en") for t in corpus.texts]), active)}
    for topic, words in enumerate(WORDS.values()):
        best = max(named, key=lambda latent: auc(active[:, latent], corpus.topics[:, topic]))
        assert set(named[best].label.casefold().replace(",", "").split()) & set(words.split()), named[best].label
    labels = [d.label.casefold() for d in named.values()]
    assert len(set(labels)) == len(labels)


def test_latents_in_one_passage_or_in_nearly_all_get_no_label() -> None:
    texts = [f"The bridge number {n} over the river" for n in range(10)]
    active = np.zeros((10, 3), np.float32)
    active[0, 0] = 1
    active[:9, 1] = 1
    active[:3, 2] = 1
    assert [d.latent for d in describe(Vocabulary([Text(t, "en") for t in texts]), active) if d.latent < 2] == []


def test_labels_have_no_stop_words_numbers_or_single_letters() -> None:
    assert surfaces("The 1984 x of and 42 km") == set()
    assert surfaces("Solar heating of the roof") == {"Solar", "heating", "Solar heating", "roof"}
    assert surfaces("UK law is in it") == {"UK", "law", "UK law"}
    assert surfaces("Die Heizung und der Kessel", "de") == {"Heizung", "Kessel"}
    assert surfaces("La chaudière et le toit", "fr") == {"chaudière", "toit"}


def test_a_phrase_is_preferred_to_its_words() -> None:
    texts = ["They chose solar heating again", "More solar heating here", "A solar heating plan for roofs"]
    assert (
        label([*texts, *[f"A roof and a {w} in the plan" for w in ("garden", "kitchen", "cellar", "attic")]], 3)
        == "solar heating"
    )


def test_phrases_grow_to_three_words_when_they_stand_so() -> None:
    texts = ["the reactive oxygen species rose", "more reactive oxygen species", "of reactive oxygen species again"]
    others = [f"a {w} of water and air" for w in ("glass", "cloud", "river", "pond", "lake", "flask")]
    assert label([*texts, *others], 3) == "reactive oxygen species"


def test_forms_of_a_word_are_one_and_the_usual_form_is_shown() -> None:
    texts = ["Gutters leak. Clean gutters often", "the gutters rust", "one gutter and gutters", "a gutter or gutters"]
    others = [f"the {w} is painted" for w in ("door", "wall", "fence", "gate", "bench", "shed")]
    assert label([*texts, *others], 4).startswith("gutters")


def test_names_keep_their_capitals_and_sentence_openings_do_not_give_any() -> None:
    texts = ["Heating is in Oslo", "Heating costs in Oslo, heating more", "In Oslo they want heating"]
    others = [f"a {w} in the cellar" for w in ("pump", "table", "lamp", "chair", "rope", "barrel")]
    found = label([*texts, *others], 3)
    assert "Oslo" in found
    assert "heating" in found


def test_scripts_without_spaces_get_words_of_their_characters() -> None:
    texts = ["太陽熱暖房は屋根にあります", "新しい太陽熱暖房です", "この太陽熱暖房の費用"]
    others = ["猫は庭にいます", "駅まで歩きました", "本を読みました", "雨が降りました", "海で泳ぎました"]
    found = label([*texts, *others], 3, "ja")
    assert found
    assert set(found) <= set("太陽熱暖房, ")
    chinese = ["太阳能供暖很便宜", "我们的太阳能供暖", "太阳能供暖的费用"]
    others = ["猫在花园里", "他去了车站", "今天下雨了", "我喜欢读书", "海边有风"]
    found = label([*chinese, *others], 3, "zh")
    assert found
    assert set(found) <= set("太阳能供暖, ")


def test_two_latents_on_the_same_passages_have_two_labels() -> None:
    texts = ["solar heating pump valve", "solar heating pump valve", "solar heating pump valve"]
    texts += [f"a {w} in the cellar" for w in ("table", "lamp", "chair", "rope", "barrel", "shelf")]
    active = np.zeros((len(texts), 2), np.float32)
    active[:3] = 1
    labels = [d.label for d in describe(Vocabulary([Text(t, "en") for t in texts]), active)]
    assert len(labels) == 2
    assert labels[0] != labels[1]


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "How do I repair the roof?", ["repair", "roof"]),
        ("de", "Wie kann ich das Dach reparieren?", ["Dach", "reparieren"]),
    ],
)
def test_content_words_of_a_question(language: str, text: str, words: list[str]) -> None:
    assert [text[t.start : t.end] for t in content_words(text, language)] == words
