"""Families: estimates near the truth, versions found, families that fall apart and come together."""

import random

import numpy as np
import pytest

from core.ingest import families
from tests.kept import Kept
from tests.tiny import sentence, topics


def words(seed, count=400):
    luck = random.Random(seed)
    return [f"w{luck.randrange(5000)}" for _ in range(count)]


def changed(text, part, seed=0):
    """The words with a share of them replaced, in one run so that few shingles are touched."""
    at = len(text) // 3
    return [*text[:at], *words(f"{seed}x", int(part * len(text))), *text[at + int(part * len(text)) :]]


def shingles(text):
    return {tuple(text[n : n + families.SHINGLE]) for n in range(len(text) - families.SHINGLE + 1)}


@pytest.mark.parametrize("part", [0.0, 0.05, 0.1, 0.3, 0.6, 1.0])
def test_the_estimate_is_near_the_share_of_common_shingles(part):
    errors = []
    for seed in range(12):
        left = words(seed)
        right = changed(left, part, seed)
        a, b = shingles(left), shingles(right)
        true = len(a & b) / len(a | b)
        errors.append(
            families.resemblance(families.signature(" ".join(left)), families.signature(" ".join(right))) - true
        )
    assert abs(np.mean(errors)) < 0.04  # 4 standard errors of the mean of 12
    assert np.abs(errors).max() < 0.18


def test_bands_agree_exactly_where_their_minima_do():
    left = families.signature(" ".join(words(1)))
    right = left.copy()
    right[:8] += 1
    assert [a == b for a, b in zip(families.bands(left), families.bands(right), strict=True)] == [False] + [True] * 15


def test_short_texts_have_no_signature_and_scripts_without_spaces_have_one():
    assert families.signature("word " * (families.LEAST_WORDS - 1)) is None
    assert families.signature("蜜蜂在蜂巢里酿蜜" * 10) is not None
    assert families.signature("WORD " * 60).tolist() == families.signature("word\n" * 60).tolist()


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


def text(topic, count=40, seed=0):
    luck = random.Random(f"{topic}{seed}")
    return [sentence(luck.sample(topics()[topic], 3), luck).capitalize() + "." for _ in range(count)]


def family_names(kept):
    found = {}
    for name, document in kept.documents().items():
        if document.family is not None:
            found.setdefault(document.family, set()).add(name)
    return sorted(map(sorted, found.values()))


def write(folder, name, lines):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(" ".join(lines))


def test_versions_are_a_family_and_others_are_not(kept, tmp_path, tiny_encoder):
    docs = tmp_path / "docs"
    bees = text("bees")
    write(docs, "bees-1.txt", bees)
    write(docs, "bees-2.txt", [*bees, "One more remark at the end of this report."])
    write(docs, "other-bees.txt", text("bees", seed=1))
    write(docs, "ships.txt", text("ships"))
    kept.run(docs)
    assert family_names(kept) == [["bees-1.txt", "bees-2.txt"]]
    write(docs, "bees-3.txt", ["A remark before it all.", *bees])
    kept.run()
    assert family_names(kept) == [["bees-1.txt", "bees-2.txt", "bees-3.txt"]]
    (docs / "bees-1.txt").unlink()
    write(docs, "bees-2.txt", text("trains"))
    write(docs, "ships-2.txt", [*text("ships"), "The end."])
    kept.run()
    assert family_names(kept) == [["ships-2.txt", "ships.txt"]]
    fresh = Kept(tmp_path / "fresh", tiny_encoder)
    fresh.run(docs)
    assert fresh.seen() == kept.seen()


def test_a_chain_falls_apart_without_its_middle(kept, tmp_path):
    docs = tmp_path / "docs"
    lines = text("garden", 60)
    first, second = text("space", 10), text("music", 10)
    write(docs, "a.txt", [*lines, *first])
    write(docs, "b.txt", lines)
    write(docs, "c.txt", [*second, *lines])
    kept.run(docs)
    assert family_names(kept) == [["a.txt", "b.txt", "c.txt"]]
    (docs / "b.txt").unlink()
    kept.run()
    a, c = (families.signature(" ".join(x)) for x in ([*lines, *first], [*second, *lines]))
    assert families.resemblance(a, c) < families.LEAST  # so only the middle held them together
    assert family_names(kept) == []


def test_a_comparison_cut_off_in_between_is_made_up_for(kept, tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    write(docs, "a.txt", text("law"))
    write(docs, "b.txt", [*text("law"), "Signed."])
    with monkeypatch.context() as patch:
        patch.setattr(families, "_group", lambda db, touched: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kept.run(docs)
    assert kept.rows("SELECT count(*) FROM signature") == [(2,)]
    kept.run()
    assert family_names(kept) == [["a.txt", "b.txt"]]


def test_an_heir_is_compared_when_its_owner_went_before_it_was(kept, tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    write(docs, "b.txt", [*text("law"), "Signed."])
    kept.run(docs)
    write(docs, "a.txt", text("law"))
    write(docs, "c.txt", text("law"))
    with monkeypatch.context() as patch:
        patch.setattr(families, "_group", lambda db, touched: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kept.run()
    (docs / "a.txt").unlink()
    kept.run()
    assert family_names(kept) == [["b.txt", "c.txt"]]


def test_a_document_removed_while_others_are_compared(kept, tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    for name in ("a.txt", "b.txt", "c.txt"):
        write(docs, name, [*text("law"), f"Signed {name}."])
    found = families.families.without_signature

    def and_then_removed(db):
        ids = found(db)
        kept.remove(docs / "b.txt")
        return ids

    monkeypatch.setattr(families.families, "without_signature", and_then_removed)
    kept.run(docs)
    assert family_names(kept) == [["a.txt", "c.txt"]]


def test_copies_belong_to_the_family_of_their_owner(kept, tmp_path):
    docs = tmp_path / "docs"
    write(docs, "a.txt", text("law"))
    write(docs, "b.txt", [*text("law"), "Signed."])
    write(docs, "c.txt", text("law"))
    kept.run(docs)
    assert family_names(kept) == [["a.txt", "b.txt", "c.txt"]]
    (docs / "a.txt").unlink()
    kept.run()
    assert family_names(kept) == [["b.txt", "c.txt"]]


def test_word_hashes_name_the_words(monkeypatch):
    text = "the cat, the dog_the 蜂蜜 straße naïve cat"
    found = families._word_hashes(text)
    words = ["the", "cat", "the", "dog", "the", "蜂", "蜜", "straße", "naïve", "cat"]
    assert len(found) == len(words)
    alone = [int(families._word_hashes(word)[0]) for word in words]
    assert found.tolist() == alone
    assert len(set(alone)) == len(set(words))
    monkeypatch.setattr(families, "_BLOCK", 21)  # between two words
    assert families._word_hashes(text).tolist() == alone
