"""The doctor on learned weights: what is lost is named, and made again by the encoder."""

from dataclasses import replace

import pytest

from core.base.types import LEXICAL
from core.encode.encoder import Encoder
from core.index.snapshot import Snapshot
from core.text.analyze import QueryTerm
from core.worker import doctor
from tests.kept import Kept

TEXTS = {"bees": "The hive is full of honey.", "ships": "A vessel lies in the port.", "bread": "The oven is hot."}


class Learned:
    """The tiny encoder with a head for weights: every word weighs as many as it has letters."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self.asked = encoder, list[str]()

    def __getattr__(self, name):
        return getattr(self._encoder, name)

    @property
    def heads(self):
        return self._encoder.heads | {LEXICAL}

    def encode_heads(self, texts, heads, **options):
        self.asked += texts
        made = self._encoder.encode_heads(texts, set(heads) - {LEXICAL}, **options)
        words = tuple({word: float(len(word)) for word in text.split()} for text in texts)
        return replace(made, lexical=words if LEXICAL in heads else None)


@pytest.fixture
def encoder(tiny_encoder):
    return Learned(tiny_encoder)


@pytest.fixture
def kept(tmp_library, tmp_path, encoder, monkeypatch):
    monkeypatch.setattr(doctor, "encoder_for", lambda library: encoder)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    made = Kept(tmp_library, encoder)
    made.run(folder)
    encoder.asked.clear()
    return made


def wrong(kept, *, repair=False):
    return {f.check: f.repaired for f in doctor.examine(kept.folder, repair=repair) if f.severity != "ok"}


def scores(kept):
    terms = [QueryTerm(word, (word,), 1.0) for word in ("hive", "port.", "The")]
    with Snapshot.open(kept.folder) as snapshot:
        return snapshot.sparse_scores(LEXICAL, terms, snapshot.ids()).tolist()


ROW = "(SELECT hash FROM representation ORDER BY hash LIMIT 1)"


@pytest.mark.parametrize(
    ("damage", "encoded"),
    [
        ("DELETE FROM posting WHERE channel = 'lexical' AND term = 'hive'", 0),
        ("DELETE FROM posting WHERE channel = 'lexical'", 0),
        (f"DELETE FROM representation WHERE hash = {ROW}", 1),
        ("DELETE FROM representation", 3),
    ],
)
def test_lost_weights_are_named_and_made_again(kept, encoder, damage, encoded):
    before = scores(kept)
    assert sorted(before) == [3.0, 5.0, 7.0]  # port. / The / The + hive
    assert wrong(kept) == {}
    kept.written(lambda db: db.execute(damage))
    assert wrong(kept) == {"learned weights": False}
    assert wrong(kept, repair=True) == {"learned weights": True}
    assert len(encoder.asked) == encoded
    assert wrong(kept) == {}
    assert scores(kept) == before


def test_a_lost_vector_comes_back_with_its_weights(kept, encoder):
    before = scores(kept)
    kept.written(lambda db: (db.execute("DELETE FROM vector"), db.execute("DELETE FROM representation")))
    assert set(wrong(kept)) == {"vectors", "learned weights"}
    assert set(wrong(kept, repair=True).values()) == {True}
    assert len(encoder.asked) == 3
    assert scores(kept) == before
