"""GGUF files made here: headers of every kind, and a tiny language model of random weights that llama.cpp loads."""

from __future__ import annotations

import random
import struct
from typing import Any

ALIGNMENT = 32
WIDTH, HIDDEN, HEADS = 32, 64, 2
_KINDS = {bool: (7, "?"), int: (4, "I"), float: (6, "f")}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(content: Any) -> bytes:
    """The kind of a value and the value itself; a list is an array."""
    if isinstance(content, str):
        return struct.pack("<I", 8) + text(content)
    if isinstance(content, list):
        kind, members = struct.unpack("<I", value(content[0])[:4])[0], (value(one)[4:] for one in content)
        kind = 5 if kind == 4 else kind  # llama.cpp wants the types of tokens signed
        return struct.pack("<IIQ", 9, kind, len(content)) + b"".join(members)
    number, form = _KINDS[type(content)]
    return struct.pack(f"<I{form}", number, content)


def field(key: str, content: Any) -> bytes:
    return text(key) + value(content)


def tensor(name: str, shape: tuple[int, ...], offset: int, kind: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def gguf(fields: list[bytes], tensors: list[bytes] = [], data: bytes = b"", version: int = 3) -> bytes:  # noqa: B006
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(fields)) + b"".join(fields) + b"".join(tensors)
    return head + bytes(-len(head) % ALIGNMENT) + data


def vocabulary() -> list[str]:
    """Three control words, all bytes, and the letters."""
    words = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256))]
    return words + [chr(n) for n in range(0x61, 0x7B)] + ["▁"]


def fields(**changed: Any) -> dict[str, Any]:
    """Of the tiny model; `changed` ones by their name with "__" for ".", None leaves one out."""
    words = vocabulary()
    made: dict[str, Any] = {
        "general.architecture": "llama", "general.name": "Tiny", "general.license": "apache-2.0",
        "llama.context_length": 256, "llama.embedding_length": WIDTH, "llama.block_count": 1,
        "llama.feed_forward_length": HIDDEN, "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": WIDTH // HEADS,
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.scores": [float(-n) for n in range(len(words))],
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * (len(words) - 259)],
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
    }  # fmt: skip
    made |= {key.replace("__", "."): content for key, content in changed.items()}
    return {key: content for key, content in made.items() if content is not None}


def tiny(seed: int = 1, **changed: Any) -> bytes:
    """A llama of one layer with random weights: it loads, and writes nonsense."""
    draw, words = random.Random(seed), len(vocabulary())
    shapes = {
        "token_embd.weight": (WIDTH, words), "output_norm.weight": (WIDTH,), "output.weight": (WIDTH, words),
        "blk.0.attn_norm.weight": (WIDTH,), "blk.0.ffn_norm.weight": (WIDTH,),
        **{f"blk.0.attn_{part}.weight": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (WIDTH, HIDDEN), "blk.0.ffn_up.weight": (WIDTH, HIDDEN),
        "blk.0.ffn_down.weight": (HIDDEN, WIDTH),
    }  # fmt: skip
    tensors, data = [], b""
    for name, shape in shapes.items():
        tensors.append(tensor(name, shape, len(data)))
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        data += struct.pack(f"<{count}f", *(draw.uniform(-1, 1) for _ in range(count)))
        data += bytes(-len(data) % ALIGNMENT)
    return gguf([field(key, content) for key, content in fields(**changed).items()], tensors, data)
