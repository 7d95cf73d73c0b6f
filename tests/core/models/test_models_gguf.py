"""The header of a GGUF file: what it tells, and that none can do harm, however it lies."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from gguf_files import ALIGNMENT, field, fields, gguf, tensor, text, tiny, value, vocabulary

from core.base.errors import KnownError, ModelDamaged
from core.models.gguf import header
from core.models.gguf_model import inspect

Write = Callable[[bytes], Path]
HUGE = (1 << 64) - 1


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(content: bytes) -> Path:
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return path

    return put


def test_what_a_model_tells(write: Write) -> None:
    found = inspect(write(tiny()))
    assert (found.architecture, found.name, found.licence) == ("llama", "Tiny", "apache-2.0")
    assert (found.context, found.layers, found.quantisation) == (256, 1, "F32")
    matrices = 2 * 32 * len(vocabulary()) + 4 * 32 * 32 + 3 * 32 * 64
    assert found.parameters == matrices + 3 * 32
    assert found.cache == 2 * (16 + 16) * 2  # two heads of 16 numbers, keys and values, of two bytes
    assert found.memory > found.size


def test_heads_that_differ_from_layer_to_layer_are_added_up(write: Write) -> None:
    found = inspect(write(tiny(llama__block_count=3, llama__attention__head_count_kv=[2, 0, 1])))
    assert found.cache == 3 * (16 + 16) * 2


def test_a_header_that_is_cut_short_anywhere_is_refused(write: Write) -> None:
    whole = tiny()
    starts = whole.index(text("output.weight")) + 64
    for length in (*range(0, 600, 7), *range(600, starts, 499), len(whole) - 1):
        with pytest.raises(KnownError):
            inspect(write(whole[:length]))


def _counts(tensors: int, pairs: int) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs) + bytes(200)


def _with(pair: bytes) -> bytes:
    return gguf([pair]) + bytes(4000)


def _deep(depth: int) -> bytes:
    return text("a") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * depth + struct.pack("<IQ", 4, 0)


HOSTILE = {
    "nothing at all": b"",
    "text": b"hello, I am a model",
    "another version": b"GGUF" + struct.pack("<IQQ", 9, 0, 0),
    "the other byte order": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "more fields than bytes": _counts(0, HUGE),
    "more tensors than bytes": _counts(HUGE, 0),
    "many fields in a small file": _counts(0, 60_000),
    "a key without an end": _with(struct.pack("<Q", HUGE)),
    "a key of the file's length": _with(struct.pack("<Q", 4000)),
    "an empty key": _with(field("", 1)),
    "a key twice": gguf([field("a", 1), field("a", 2)]),
    "an array's key twice": gguf([field("a", [1, 2]), field("a", 2)]),
    "a text without an end": _with(text("a") + struct.pack("<IQ", 8, HUGE)),
    "an unknown kind": _with(text("a") + struct.pack("<I", 77)),
    "an array without an end": _with(text("a") + struct.pack("<IIQ", 9, 4, HUGE)),
    "an array whose bytes overflow": _with(text("a") + struct.pack("<IIQ", 9, 10, 1 << 61)),
    "an array of texts without an end": _with(text("a") + struct.pack("<IIQ", 9, 8, 1 << 40)),
    "an array of an unknown kind": _with(text("a") + struct.pack("<IIQ", 9, 13, 1)),
    "arrays in arrays": _with(_deep(100)),
    "no alignment": gguf([field("general.alignment", 0)]),
    "an odd alignment": gguf([field("general.alignment", 33)]),
    "an alignment that is text": gguf([field("general.alignment", "32")]),
    "no dimension": gguf([], [tensor("a", (), 0)]),
    "five dimensions": gguf([], [tensor("a", (1, 1, 1, 1, 1), 0)], bytes(32)),
    "a dimension of nothing": gguf([], [tensor("a", (32, 0), 0)]),
    "dimensions that overflow": gguf([], [tensor("a", (1 << 62, 1 << 62), 0)], bytes(64)),
    "a number type that is not known": gguf([], [tensor("a", (32,), 0, 5000)], bytes(128)),
    "half a block": gguf([], [tensor("a", (33,), 0, 8)], bytes(128)),
    "weights behind the end": gguf([], [tensor("a", (32,), 1 << 40)], bytes(128)),
    "weights that are cut short": gguf([], [tensor("a", (32,), 0)], bytes(127)),
    "weights out of line": gguf([], [tensor("a", (8,), 4)], bytes(128)),
    "weights upon weights": gguf([], [tensor("a", (32,), 0), tensor("b", (32,), 32)], bytes(256)),
    "a tensor twice": gguf([], [tensor("a", (8,), 0), tensor("a", (8,), 32)], bytes(256)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_header_that_lies_is_refused_without_being_believed(write: Write, name: str) -> None:
    path = write(HOSTILE[name])
    tracemalloc.start()
    try:
        with pytest.raises(KnownError):
            header(path)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


OTHER = {
    "no weights": gguf([field(key, content) for key, content in fields().items()]),
    "no architecture": tiny(general__architecture=None),
    "an architecture that is a number": tiny(general__architecture=7),
    "an encoder": tiny(general__architecture="nomic-bert"),
    "a reader of pictures": tiny(general__architecture="clip"),
    "an adapter": tiny(general__type="adapter"),
    "a part of a model": tiny(split__count=3),
    "no vocabulary": tiny(tokenizer__ggml__tokens=None),
    "a negative context": tiny(llama__context_length=-1.5),
    "an endless context": tiny(llama__context_length=(1 << 32) - 1),
    "heads beyond measure": tiny(llama__attention__head_count_kv=(1 << 31)),
    "heads that are text": tiny(llama__attention__head_count_kv="many"),
}


@pytest.mark.parametrize("name", OTHER)
def test_what_is_no_language_model_is_refused(write: Write, name: str) -> None:
    with pytest.raises(KnownError) as caught:
        inspect(write(OTHER[name]))
    assert "model.gguf" in caught.value.message
    assert caught.value.advice


def test_bytes_changed_by_chance_are_read_or_refused_and_nothing_else(write: Write) -> None:
    whole, refused = tiny(), 0
    end = whole.index(text("output.weight")) + 64
    for seed in range(150):
        draw, changed = random.Random(seed), bytearray(whole)
        for _ in range(draw.choice((1, 3, 20))):
            changed[draw.randrange(4, end)] = draw.randrange(256)
        try:
            inspect(write(bytes(changed)))
        except KnownError:
            refused += 1
    assert refused > 30


def test_the_alignment_that_a_file_tells_is_kept(write: Write) -> None:
    head = gguf([field("general.alignment", 64)], [tensor("a", (8,), 0)])
    begin = -(-len(head) // 64) * 64
    assert begin - len(head) in (0, ALIGNMENT)
    whole = head + bytes(begin - len(head)) + bytes(32)
    assert header(write(whole)).tensors[0].size == 32
    with pytest.raises(ModelDamaged):
        header(write(whole[:-1]))


def test_a_long_array_is_counted_and_not_kept(write: Write) -> None:
    found = header(write(gguf([field("few", [1, 2, 3]), field("many", [0] * 5000), text("w") + value(["a", "b"])])))
    assert found.fields == {"few": (1, 2, 3)}
    assert found.lengths == {"few": 3, "many": 5000, "w": 2}


def test_no_more_numbers_are_kept_than_any_model_tells(write: Write) -> None:
    packed = struct.pack("<IIQ", 9, 0, 1024) + bytes(1024)
    with pytest.raises(ModelDamaged, match="holds too much"):
        header(write(gguf([text(f"a{n}") + packed for n in range(4000)])))
