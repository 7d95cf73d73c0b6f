"""Whole words are hidden, in vocabularies of all kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from core.encode.tokens import Tokens
from core.train.masking import IGNORED, WholeWordMask

_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_TEXTS = ["unbelievable stories of unusual travellers", "travelling is usual and believable", "東京都の天気は晴れです"]


@pytest.fixture(scope="module")
def wordpiece(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##believ", "##able", "story", "##s", "old", "a"]
    tokenizer = Tokenizer(models.WordPiece({name: i for i, name in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(vocabulary[:5])
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    path = tmp_path_factory.mktemp("wordpiece") / "tokenizer.json"
    tokenizer.save(str(path))
    return Tokens(path, 64)


@pytest.fixture(scope="module")
def sentencepiece(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=_SPECIAL, unk_token="<unk>", show_progress=False, max_piece_length=4
    )
    tokenizer.train_from_iterator(_TEXTS * 20, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )  # fmt: skip
    path = tmp_path_factory.mktemp("sentencepiece") / "tokenizer.json"
    tokenizer.save(str(path))
    return Tokens(path, 64)


def test_wordpiece_words(wordpiece: Tokens) -> None:
    ids = wordpiece.ids(["unbelievable storys a old"])[0]
    assert WholeWordMask(wordpiece).words(ids) == [[1, 2, 3], [4, 5], [6], [7]]


def test_sentencepiece_words_begin_at_a_space(sentencepiece: Tokens) -> None:
    ids = sentencepiece.ids(["unusual travelling stories"])[0]
    names = sentencepiece.names()
    words = WholeWordMask(sentencepiece).words(ids)
    spelled = ["".join(names[ids[place]] for place in word).strip("\u2581") for word in words]
    assert spelled == ["unusual", "travelling", "stories"]
    assert any(len(word) > 1 for word in words)


def test_without_spaces_every_token_is_a_word(sentencepiece: Tokens) -> None:
    ids = sentencepiece.ids(["天気は晴れです"])[0]
    words = WholeWordMask(sentencepiece).words(ids)
    assert len(words) >= len(ids) - 3  # the two special tokens, and the mark of the beginning with what follows it


@pytest.mark.parametrize("vocabulary", ["wordpiece", "sentencepiece"])
def test_whole_words_are_hidden_and_nothing_else(vocabulary: str, request: pytest.FixtureRequest) -> None:
    tokens: Tokens = request.getfixturevalue(vocabulary)
    mask = WholeWordMask(tokens, share=0.3)
    ids = tokens.ids(["unbelievable storys a old unbelievable old storys a a"])[0]
    for seed in range(30):
        made = mask(ids, np.random.default_rng(seed))
        chosen = {place for place, label in enumerate(made.labels) if label != IGNORED}
        assert chosen
        assert all(made.labels[place] == ids[place] for place in chosen)
        assert all(made.ids[place] == ids[place] for place in range(len(ids)) if place not in chosen)
        for word in mask.words(ids):
            assert chosen.issuperset(word) or chosen.isdisjoint(word)
        assert all(ids[place] not in tokens.special() for place in chosen)


def test_the_shares_are_those_of_bert(wordpiece: Tokens) -> None:
    mask, random = WholeWordMask(wordpiece, share=0.15), np.random.default_rng(0)
    ids = wordpiece.ids(["old a " * 30])[0]
    made = [mask(ids, random) for _ in range(400)]
    chosen = [(row.ids[i], ids[i]) for row in made for i in range(len(ids)) if row.labels[i] != IGNORED]
    assert len(chosen) / (400 * 60) == pytest.approx(0.15, abs=0.005)
    hidden = sum(new == wordpiece.mask() for new, _ in chosen) / len(chosen)
    kept = sum(new == old for new, old in chosen) / len(chosen)
    assert hidden == pytest.approx(0.8, abs=0.02)
    assert kept == pytest.approx(0.1 + 0.1 / 7, abs=0.02)  # one of seven tokens drawn is the one that stood there


def test_a_text_of_one_long_word_is_hidden_too(wordpiece: Tokens) -> None:
    made = WholeWordMask(wordpiece)(wordpiece.ids(["unbelievable"])[0], np.random.default_rng(0))
    assert [label != IGNORED for label in made.labels] == [False, True, True, True, False]


def test_a_text_of_nothing_hides_nothing(wordpiece: Tokens) -> None:
    made = WholeWordMask(wordpiece)(wordpiece.ids([""])[0], np.random.default_rng(0))
    assert set(made.labels) == {IGNORED}


def test_a_vocabulary_without_a_mask_is_refused(tmp_path: Path) -> None:
    Tokenizer(models.WordPiece({"a": 0, "[UNK]": 1}, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match="mask"):
        WholeWordMask(Tokens(tmp_path / "tokenizer.json", 8))
