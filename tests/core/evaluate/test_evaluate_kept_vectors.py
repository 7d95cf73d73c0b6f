from pathlib import Path

import numpy as np
import pytest

from core.base.errors import Cancelled, DiskFull
from core.base.events import Control
from core.encode.encoder import Encoder
from core.evaluate import kept_vectors
from core.evaluate.kept_vectors import _PROBE, KeptVectors, Remembering, made_by

TEXTS = ["the ship in the harbour", "bread and butter", "the ship in the harbour"]


class Counting:
    """The encoder, with a count of what it was asked."""

    def __init__(self, encoder: Encoder, id: str) -> None:
        self._encoder, self.id, self.dimension, self.asked = encoder, id, encoder.dimension, list[str]()

    def encode(self, texts, *, kind="passage", control=None, on_batch=None):  # type: ignore[no-untyped-def]
        self.asked += [text for text in texts if text != _PROBE]
        return self._encoder.encode(texts, kind=kind, control=control, on_batch=on_batch)


def test_a_text_is_encoded_once_by_each_encoder_and_kind(tmp_path: Path, tiny_encoder: Encoder) -> None:
    one, other = Counting(tiny_encoder, "one"), Counting(tiny_encoder, "other")
    with KeptVectors(tmp_path / "kept.db") as kept:
        first = Remembering(one, kept).encode(TEXTS)  # type: ignore[arg-type]
        assert one.asked == TEXTS[:2]
    with KeptVectors(tmp_path / "kept.db") as kept:
        told: list[int] = []
        again = Remembering(one, kept).encode([*TEXTS, "new"], on_batch=told.append, control=Control())  # type: ignore[arg-type]
        assert one.asked == [*TEXTS[:2], "new"]
        assert told == [4]
        Remembering(one, kept).encode(TEXTS[:1], kind="query")  # type: ignore[arg-type]
        Remembering(other, kept).encode(TEXTS[:1])  # type: ignore[arg-type]
        assert (len(one.asked), len(other.asked)) == (4, 1)
    np.testing.assert_array_equal(again[:3], first)
    np.testing.assert_allclose(first[0], tiny_encoder.encode(TEXTS[:1])[0], atol=1e-6)


def test_what_was_encoded_before_a_stop_is_kept(
    tmp_path: Path, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_vectors, "_BLOCK", 2)
    texts, control, told = [f"ship {number}" for number in range(5)], Control(), list[int]()

    def stop(done: int) -> None:
        told.append(done)
        if done == 4:
            control.cancel()

    one = Counting(tiny_encoder, "one")
    with KeptVectors(tmp_path / "kept.db") as kept, pytest.raises(Cancelled):
        Remembering(one, kept).encode(texts, control=control, on_batch=stop)  # type: ignore[arg-type]
    again = Counting(tiny_encoder, "one")
    with KeptVectors(tmp_path / "kept.db") as kept:
        found = Remembering(again, kept).encode(texts, on_batch=told.append)  # type: ignore[arg-type]
    assert again.asked == texts[4:]
    assert told == [2, 4, 5]
    np.testing.assert_allclose(found, tiny_encoder.encode(texts), atol=1e-2)  # blocks of other lengths, in 8 bits


class Rounded(Counting):
    """The same model with numbers of fewer bits: its id is the same, its vectors are not."""

    def encode(self, texts, *, kind="passage", control=None, on_batch=None):  # type: ignore[no-untyped-def]
        made = super().encode(texts, kind=kind, control=control, on_batch=on_batch)
        return made.astype(np.float16).astype(np.float32)


def test_vectors_of_8_bits_are_not_taken_for_exact_ones(tmp_path: Path, tiny_encoder: Encoder) -> None:
    exact, rounded = Counting(tiny_encoder, "one"), Rounded(tiny_encoder, "one")
    assert made_by(exact) == made_by(exact) != made_by(rounded)  # type: ignore[arg-type]
    with KeptVectors(tmp_path / "kept.db") as kept:
        Remembering(exact, kept).encode(TEXTS)  # type: ignore[arg-type]
        found = Remembering(rounded, kept).encode(TEXTS)  # type: ignore[arg-type]
    assert rounded.asked == TEXTS[:2]
    np.testing.assert_array_equal(found[0], rounded.encode(TEXTS[:1])[0])


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    rows = [(bytes([n]), bytes(100)) for n in range(10)]
    with KeptVectors(tmp_path / "kept.db", most_bytes=500) as kept:
        for row in rows:
            kept.put("e", [row])
        kept.get("e", [bytes([0])])
        kept.trim()
        left = kept.get("e", [key for key, _ in rows])
    assert set(left) == {bytes([n]) for n in (0, 6, 7, 8, 9)}


def test_what_is_unknown_is_not_found(tmp_path: Path) -> None:
    with KeptVectors(tmp_path / "kept.db") as kept:
        assert kept.get("e", [b"?"]) == {}
        assert kept.get("e", []) == {}


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    with KeptVectors(tmp_path / "kept.db") as kept:
        kept._db.execute("PRAGMA max_page_count = 8")  # the file may grow no more: what a full disk does
        with pytest.raises(DiskFull):
            kept.put("one", ((bytes([n]) * 16, bytes(4_000)) for n in range(20)))
        assert kept.get("one", [bytes(16)]) == {}  # none of them, and the file is whole
