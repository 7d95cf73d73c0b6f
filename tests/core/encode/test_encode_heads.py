"""Heads and checkpoint layouts, installed and served, against a slow encoder in float64."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
import pytest
from checkpoints import DIMENSION, POSITIONS
from numpy.typing import NDArray
from slow_encoder import SlowEncoder, unit

from core.base.errors import Cancelled, KnownError, ModelDamaged
from core.base.events import Control
from core.encode.batched import BatchedEncoder
from core.encode.encoder import Encoded, Encoder
from core.encode.heads import HEADS_FILE, Heads, Linear, write_heads
from core.encode.install import add
from core.encode.load import serve
from core.encode.onnx import FP32, OnnxEncoder
from core.models.bundles import Bundle, seal

ALL = ("dense", "lexical", "multi")
TEXTS = [
    "bee", "The honey bee (bee) and the bees, the bee!", "",
    "我们 喜欢 蜂蜜。 Emoji \U0001f41d unknown", "sailor  keeps </s> [SEP]",
    " ".join(["a ship in the harbour"] * 30), "query: passage",
]  # fmt: skip
NAMELESS = {"<s>", "</s>", "<pad>", "<unk>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"}


def torch_encoder(bundle: Bundle) -> Encoder:
    from core.encode.torch_encoder import TorchEncoder

    return TorchEncoder(bundle, device="cpu")


def exact(bundle: Bundle) -> Encoder:
    """Served in whole precision: whether 8 bits are quicker, and so served, depends on the machine."""
    return OnnxEncoder(bundle, threads=1, file=FP32)


def encoders(bundle: Bundle) -> list[Encoder]:
    return [exact(bundle), torch_encoder(bundle)]


def layer(linear: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return linear.weight.detach().double().numpy(), linear.bias.detach().double().numpy()


def near(found: Sequence[Any] | np.ndarray[Any, Any], expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), atol=3e-4)


def same_terms(found: dict[str, float], expected: dict[str, float]) -> None:
    strong = {term for term, weight in expected.items() if weight > 1e-3}
    assert strong <= set(found) <= set(expected) | {term for term, weight in found.items() if weight < 1e-3}
    near([found[term] for term in sorted(strong)], [expected[term] for term in sorted(strong)])


@pytest.mark.parametrize("multi_dimension", [DIMENSION, 8])
def test_bge_m3_has_all_three_heads(tmp_path: Path, multi_dimension: int) -> None:
    made, lexical, multi = checkpoints.bge_m3(tmp_path / "my-m3", multi_dimension)
    bundle = add(str(tmp_path / "my-m3"))
    assert not list(bundle.folder.glob("*.bin")) + list(bundle.folder.glob("*.pt"))
    assert (bundle.config["pooling"], bundle.config["licence"]) == ("cls", "mit")
    assert (bundle.config["max_tokens"], bundle.config["positions"]) == (64, POSITIONS)
    assert bundle.config["heads"] == sorted(ALL)
    slow = SlowEncoder(tmp_path / "my-m3", checkpoints.arrays(made), window=64)
    for encoder in encoders(bundle):
        assert encoder.heads == set(ALL)
        encoded = encoder.encode_heads(TEXTS, ALL)
        assert encoded.dense is not None
        assert encoded.lexical is not None
        assert encoded.multi is not None
        near(encoded.dense, [unit(slow.pooled(text, "cls")) for text in TEXTS])
        near(encoder.encode(TEXTS), encoded.dense)
        for text, terms, vectors in zip(TEXTS, encoded.lexical, encoded.multi, strict=True):
            same_terms(terms, slow.lexical(text, *layer(lexical), NAMELESS))
            near(vectors, np.reshape(slow.multi(text, *layer(multi)), (-1, multi_dimension)))
        assert any(encoded.lexical)
        assert len(encoded.multi[2]) == 0


def test_sentence_transformers_dense_layer_and_prompts(tiny_bundle: Bundle, tmp_path: Path) -> None:
    made, dense = checkpoints.sentence_transformers(tmp_path / "mine", tiny_bundle.path("tokenizer.json"))
    bundle = add(str(tmp_path / "mine"))
    assert bundle.config["prefixes"] == {"query": "honey: ", "passage": ""}
    assert bundle.config["dimension"] == 16
    weight, bias = layer(dense)
    for kind, prefix in bundle.config["prefixes"].items():
        slow = SlowEncoder(tmp_path / "mine", checkpoints.arrays(made), prefix, POSITIONS)
        for encoder in encoders(bundle):
            assert encoder.heads == {"dense", "multi"}
            encoded = encoder.encode_heads(TEXTS, ("dense", "multi"), kind=kind)
            assert encoded.dense is not None
            assert encoded.multi is not None
            near(encoded.dense, [unit(np.tanh(weight @ slow.pooled(text, "mean") + bias)) for text in TEXTS])
            for text, vectors in zip(TEXTS, encoded.multi, strict=True):
                near(vectors, np.reshape(slow.multi(text), (-1, DIMENSION)))


def test_the_prefix_has_neither_terms_nor_vectors(tiny_bundle: Bundle, tmp_path: Path) -> None:
    checkpoints.bert(tmp_path / "some-e5-base", tiny_bundle.path("tokenizer.json"))
    bundle = add(str(tmp_path / "some-e5-base"))
    assert bundle.config["prefixes"] == {"query": "query: ", "passage": "passage: "}
    write_heads(bundle.path(HEADS_FILE), Heads(lexical=Linear(np.zeros((1, DIMENSION)), np.ones(1))))
    seal(bundle.folder, {**bundle.config, "heads": list(ALL)})
    for encoder in encoders(add(str(bundle.folder))):
        encoded = encoder.encode_heads(["the bee, the hive", "query"], ALL, kind="query")
        assert encoded.lexical is not None
        assert encoded.multi is not None
        assert encoded.lexical[0] == {"the": 1.0, "bee": 1.0, ",": 1.0, "hive": 1.0}
        assert [len(vectors) for vectors in encoded.multi] == [5, len(encoder.token_spans("query"))]


def test_pickles_and_half_precision_serve_as_the_whole_weights(tiny_bundle: Bundle, tmp_path: Path) -> None:
    import torch

    made = checkpoints.bert(tmp_path / "plain", tiny_bundle.path("tokenizer.json"))
    made.bfloat16().save_pretrained(tmp_path / "plain")
    torch.save(made.state_dict(), tmp_path / "pytorch_model.bin")
    halves = exact(add(str(tmp_path / "plain"))).encode(TEXTS)
    (tmp_path / "plain/model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").rename(tmp_path / "plain/pytorch_model.bin")
    near(exact(add(str(tmp_path / "plain"))).encode(TEXTS), halves)


class _Harm:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("harm-was-done"),))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "sparse_linear.pt"])
def test_code_in_a_pickle_is_not_run(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    checkpoints.bge_m3(tmp_path / "m3")
    torch.save({"weight": _Harm()}, tmp_path / "m3" / name)
    with pytest.raises(ModelDamaged, match=name):
        add(str(tmp_path / "m3"))
    assert not (tmp_path / "harm-was-done").exists()


def test_mixed_batches_equal_single_texts(tmp_path: Path) -> None:
    """Padding has no influence: any mixture of lengths gives each text what it gets alone."""
    checkpoints.bge_m3(tmp_path / "m3", 8)
    encoder = exact(add(str(tmp_path / "m3")))
    assert isinstance(encoder, BatchedEncoder)
    luck = np.random.default_rng(4)
    words = ["bee", "honey", "hive", "ship", "harbour", "sailor", "我们", "蜂蜜", "(", ")", ":", "nectar", "board"]
    texts = [" ".join(luck.choice(words, size=luck.integers(0, 90))) for _ in range(60)]
    alone = [encoder.encode_heads([text], ALL) for text in texts]
    for budget in (1, 100, 1024, 10**6):
        encoder.batch_tokens = budget
        order = luck.permutation(len(texts))
        together = encoder.encode_heads([texts[i] for i in order], ALL)
        for place, i in enumerate(order):
            _equal(together, place, alone[i])


def _equal(together: Encoded, place: int, alone: Encoded) -> None:
    assert together.dense is not None
    assert alone.dense is not None
    assert together.lexical is not None
    assert alone.lexical is not None
    assert together.multi is not None
    assert alone.multi is not None
    np.testing.assert_allclose(together.dense[place], alone.dense[0], atol=2e-5)
    np.testing.assert_allclose(together.multi[place], alone.multi[0], atol=2e-5)
    terms = set(together.lexical[place]) | set(alone.lexical[0])
    assert all(
        together.lexical[place].get(t, 0) == pytest.approx(alone.lexical[0].get(t, 0), abs=1e-4) for t in terms
    )  # fmt: skip


def test_all_heads_take_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints.bge_m3(tmp_path / "m3")
    bundle = add(str(tmp_path / "m3"))
    passes: list[int] = []
    states = OnnxEncoder._states

    def counted(self: OnnxEncoder, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Any:
        passes.append(len(ids))
        return states(self, ids, mask)

    monkeypatch.setattr(OnnxEncoder, "_states", counted)
    seen: list[int] = []
    encoded = OnnxEncoder(bundle, threads=1).encode_heads(TEXTS * 20, ALL, on_batch=seen.append)
    assert sum(passes) == len(TEXTS) * 20 == seen[-1]
    assert encoded.multi is not None
    assert all(vectors.base is None for vectors in encoded.multi)


def test_only_what_is_asked_for_is_made_and_cancel_is_heard(tmp_path: Path, tiny_encoder: Encoder) -> None:
    checkpoints.bge_m3(tmp_path / "m3")
    encoder = exact(add(str(tmp_path / "m3")))
    for head in ALL:
        encoded = encoder.encode_heads(TEXTS, (head,))
        assert [name for name in ALL if getattr(encoded, name) is not None] == [head]
    assert encoder.encode_heads([], ALL).lexical == ()
    with pytest.raises(ValueError, match="lexical"):
        tiny_encoder.encode_heads(TEXTS, ALL)
    control = Control()
    with pytest.raises(Cancelled):
        encoder.encode_heads(TEXTS * 99, ALL, control=control, on_batch=lambda done: control.cancel())


def test_damaged_heads_are_named(tmp_path: Path) -> None:
    checkpoints.bge_m3(tmp_path / "m3")
    bundle = add(str(tmp_path / "m3"))
    data = bytearray(bundle.path(HEADS_FILE).read_bytes())
    data[-3] ^= 0x40
    bundle.path(HEADS_FILE).write_bytes(data)
    with pytest.raises(ModelDamaged, match=HEADS_FILE):
        serve(bundle, threads=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("modules.json", checkpoints.modules("Transformer", "Pooling", "LSTM")),
        ("modules.json", checkpoints.modules("Transformer", "Pooling", "Dense", "Dense")),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}),
        ("1_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": False}),
        ("2_Dense/config.json", {"out_features": 16, "activation_function": "torch.nn.modules.activation.Softplus"}),
    ],
)
def test_what_cannot_be_served_rightly_is_refused(
    tiny_bundle: Bundle, tmp_path: Path, name: str, value: object
) -> None:
    checkpoints.sentence_transformers(tmp_path / "odd", tiny_bundle.path("tokenizer.json"), **{name: value})
    with pytest.raises(KnownError, match=r"not supported"):
        add(str(tmp_path / "odd"))


@pytest.mark.parametrize(
    ("name", "query", "passage", "pooling"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: ", "mean"),
        ("intfloat/multilingual-e5-large-instruct", "Instruct: ", "", "mean"),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence", "", "cls"),
        ("BAAI/bge-m3", "", "", "cls"), ("someone/name5-e50", "", "", "mean"),
    ],
)  # fmt: skip
def test_prefixes_that_only_the_name_tells(
    tiny_bundle: Bundle, tmp_path: Path, name: str, query: str, passage: str, pooling: str
) -> None:
    from core.models.local import describe

    checkpoints.bert(tmp_path / "snapshot", tiny_bundle.path("tokenizer.json"))
    prompts = {"prompts": {"query": "", "document": ""}}  # what is written where nobody said anything
    (tmp_path / "snapshot/config_sentence_transformers.json").write_text(json.dumps(prompts))
    config, _ = describe(tmp_path / "snapshot", name)
    assert config["id"] == name.partition("/")[2]
    assert config["prefixes"]["query"].startswith(query)
    assert bool(config["prefixes"]["query"]) == bool(query)
    assert (config["prefixes"]["passage"], config["pooling"]) == (passage, pooling)


def test_each_bundle_has_a_card(tmp_path: Path) -> None:
    checkpoints.bge_m3(tmp_path / "m3", 8)
    bundle = add(str(tmp_path / "m3"))
    text = (bundle.folder / "README.md").read_text()
    for part in ("# m3", "mit", "| Dimension | 32 |", "cls", "Head: lexical", "| Dimension of token vectors | 8 |"):
        assert part in text
    bundle.path("README.md").write_text("a note of mine")
    assert serve(add(str(bundle.folder)), threads=1).heads == set(ALL)
