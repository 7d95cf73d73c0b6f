"""Encoding: parity with torch, order, batches, cancel, spans, what the encoder sees."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tiny import pairs

from core.base.errors import Cancelled, KnownError, ModelDamaged, ModelMissing
from core.base.events import Control
from core.encode.batched import batches
from core.encode.encoder import Encoder, input_hash, input_text
from core.encode.load import open_encoder, serve
from core.encode.onnx import FP32, INT8, OnnxEncoder
from core.models.bundles import Bundle


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Sentences of very different lengths, some beyond the window, some empty."""
    luck = random.Random(3)
    sentences = pairs(60, luck)[0]
    long = [" ".join(luck.choices(sentences, k=luck.choice([2, 5, 40, 90]))) for _ in range(12)]
    return [*sentences, *long, "", " ", "ü€語 \ud800 \x00"]


def test_rows_are_unit_and_in_order(tiny_encoder: Encoder, texts: list[str]) -> None:
    vectors = tiny_encoder.encode(texts)
    assert vectors.shape == (len(texts), tiny_encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([tiny_encoder.encode([text]) for text in texts])
    assert (vectors * alone).sum(axis=1).min() > 0.9999


def test_no_texts_give_no_rows(tiny_encoder: Encoder) -> None:
    assert tiny_encoder.encode([]).shape == (0, tiny_encoder.dimension)
    assert tiny_encoder.count_tokens([]) == []


def test_like_is_nearer_than_unlike(tiny_encoder: Encoder) -> None:
    left, right, topics = pairs(200, random.Random(11))
    scores = tiny_encoder.encode(left, kind="query") @ tiny_encoder.encode(right).T
    same = np.equal.outer(topics, topics)
    assert scores[same].mean() - scores[~same].mean() > 0.3
    ranks = (scores > np.diag(scores)[:, None]).sum(axis=1)
    assert np.median(ranks) <= 5


def test_onnx_equals_torch(tiny_bundle: Bundle, tiny_encoder: Encoder, texts: list[str]) -> None:
    from core.encode.torch_encoder import TorchEncoder

    torch_encoder = TorchEncoder(tiny_bundle, device="cpu")
    cosines = (tiny_encoder.encode(texts) * torch_encoder.encode(texts)).sum(axis=1)
    assert cosines.min() >= 0.999
    served, trained = (encoder.token_states(texts[0]) for encoder in (tiny_encoder, torch_encoder))
    assert served.spans == trained.spans
    assert (served.vectors * trained.vectors).sum(axis=1).min() >= 0.999


def test_int8_ranks_nearly_like_fp32(tiny_bundle: Bundle) -> None:
    left, right, _ = pairs(200, random.Random(5))
    exact, small = (OnnxEncoder(tiny_bundle, file=file, threads=1) for file in (FP32, INT8))
    tops = [np.argsort(-(e.encode(left) @ e.encode(right).T), axis=1)[:, :10] for e in (exact, small)]
    overlap = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*tops, strict=True)])
    assert overlap > 0.8


@pytest.mark.starter
def test_starter_equals_torch(starter_encoder: Encoder, starter_llm: Bundle) -> None:
    from core.encode.torch_encoder import TorchEncoder
    from core.models.bundles import load

    bundle = load(starter_llm.folder.parent / starter_encoder.id)
    sentences = ["A man is eating food.", "Grüße aus München", "bees " * 400, "", "What is BM25? " * 8]
    expected = TorchEncoder(bundle, device="cpu").encode(sentences)
    for encoder, least in ((OnnxEncoder(bundle, file=FP32), 0.99999), (OnnxEncoder(bundle, file=INT8), 0.99)):
        assert (encoder.encode(sentences) * expected).sum(axis=1).min() >= least
    close, far = (
        starter_encoder.encode(["Someone has a meal.", "The stock market fell."])
        @ starter_encoder.encode(sentences[:1]).T
    )
    assert close[0] > far[0] + 0.3


def test_progress_counts_up_to_all(tiny_encoder: Encoder, texts: list[str]) -> None:
    seen: list[int] = []
    tiny_encoder.encode(texts * 3, on_batch=seen.append)
    assert seen == sorted(set(seen))
    assert seen[-1] == 3 * len(texts)
    assert len(seen) > 3


def test_cancel_stops_between_batches(tiny_encoder: Encoder, texts: list[str]) -> None:
    control = Control()
    seen: list[int] = []

    def stop(done: int) -> None:
        seen.append(done)
        control.cancel()

    with pytest.raises(Cancelled):
        tiny_encoder.encode(texts * 3, control=control, on_batch=stop)
    assert len(seen) == 1


def test_batches_cover_every_text_within_the_budget() -> None:
    lengths = [random.Random(1).randrange(1, 300) for _ in range(500)] + [5000]
    rows = list(batches(lengths, 1024))
    assert sorted(int(row) for batch in rows for row in batch) == list(range(501))
    for batch in rows:
        longest = max(lengths[row] for row in batch)
        assert len(batch) == 1 or len(batch) * longest <= 1024


def test_tokens_are_counted_whole_and_spans_lie_in_the_text(tiny_encoder: Encoder) -> None:
    text = "The  honeybee,\nunder the Telescopes — naïve!"
    spans = tiny_encoder.token_spans(text)
    assert tiny_encoder.count_tokens([text, "", text * 100]) == [len(spans), 0, 100 * len(spans)]
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())


def test_token_states_end_at_the_window(tiny_encoder: Encoder) -> None:
    text = "honey " * 500
    states = tiny_encoder.token_states(text)
    assert len(states.spans) == len(states.vectors) == tiny_encoder.max_tokens - 2
    assert {text[start:end] for start, end in states.spans} == {"honey"}
    np.testing.assert_allclose(np.linalg.norm(states.vectors, axis=1), 1, atol=1e-5)
    assert len(tiny_encoder.token_states("").spans) == 0


def test_prefix_is_seen_but_not_among_the_states(tiny_bundle: Bundle) -> None:
    config = {**tiny_bundle.config, "prefixes": {"query": "query: ", "passage": ""}}
    encoder = serve(Bundle(tiny_bundle.id, tiny_bundle.kind, tiny_bundle.folder, config), threads=1)
    states = encoder.token_states("honey bee", "query")
    assert states.spans == [(0, 5), (6, 9)]
    as_query, as_passage, written = (
        encoder.encode(["honey bee"], kind="query"), encoder.encode(["honey bee"]), encoder.encode(["query: honey bee"])
    )  # fmt: skip
    np.testing.assert_allclose(as_query, written, atol=1e-6)
    assert (as_query * as_passage).sum() < 0.9999


def test_cls_pooling_takes_the_first_state(tiny_bundle: Bundle) -> None:
    from core.encode.torch_encoder import TorchEncoder

    config = {**tiny_bundle.config, "pooling": "cls"}
    bundle = Bundle(tiny_bundle.id, tiny_bundle.kind, tiny_bundle.folder, config)
    served, trained = (
        serve(bundle, threads=1).encode(["honey", "a bee"]),
        TorchEncoder(bundle).encode(["honey", "a bee"]),
    )
    np.testing.assert_allclose(served, trained, atol=1e-4)


def test_damaged_graph_is_named(tiny_home: object, tiny_bundle: Bundle) -> None:
    encoder = open_encoder(threads=1)
    assert encoder.id == tiny_bundle.id
    from core.models.bundles import find

    file = find(tiny_bundle.id).path("model.onnx")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(ModelDamaged, match="tiny"):
        open_encoder("tiny")


def test_missing_and_wrong_models_are_named(tmp_path: object) -> None:
    with pytest.raises(ModelMissing):
        open_encoder()
    with pytest.raises(ModelMissing, match="none-such"):
        open_encoder("none-such")


def test_llm_is_no_encoder(tiny_bundle: Bundle) -> None:
    with pytest.raises(KnownError, match="not an encoder"):
        serve(Bundle("x", "llm", tiny_bundle.folder, tiny_bundle.config))


def test_input_text_puts_context_before_the_text() -> None:
    assert input_text((), "text") == "text"
    assert input_text(("Chapter", "Part"), "text", "Title") == "Title. Chapter. Part\ntext"
    assert input_text(("Title", "Part"), "text", " Title ") == "Title. Part\ntext"
    long = input_text(("outer " * 40, "The heading next to it"), "text", "A title")
    assert long.endswith("The heading next to it\ntext")
    assert len(long) < 200
    assert input_text(("語" * 400,), "text").endswith("語\ntext")


def test_input_hash_tells_inputs_apart() -> None:
    assert len(input_hash("a")) == 32
    assert input_hash("a") == input_hash("a") != input_hash("b")
    assert input_hash("\ud800")
