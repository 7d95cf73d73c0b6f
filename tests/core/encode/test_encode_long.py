"""Texts beyond the window: windows, CLS tokens, averages, and that they find what stands deep in a text."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from slow_encoder import SlowEncoder, unit
from tiny import pairs
from tiny_cls import buried

from core.base.errors import Cancelled
from core.base.events import Control
from core.encode.encoder import Encoder
from core.encode.load import serve
from core.encode.long import Frame, even_parts, mcls_windows, mean_windows
from core.models.bundles import CONFIG, Bundle, load

ROOT = Path(__file__).parents[3]
FRAME = Frame([101], [7, 8], [102])


def changed(bundle: Bundle, **config: object) -> Encoder:
    return serve(Bundle(bundle.id, bundle.kind, bundle.folder, {**bundle.config, **config}), threads=1)


@pytest.mark.parametrize("length", [1, 251, 252, 253, 700, 5000])
def test_windows_hold_every_token_once(length: int) -> None:
    body = list(range(1000, 1000 + length))
    for windows, size in ((mean_windows(body, FRAME, 256), 256), (mcls_windows(body, FRAME, 1024), 1024)):
        assert [id for window in windows for id in window.ids if id >= 1000] == body
        assert all(len(window.ids) <= size for window in windows)
        assert all([id for id in window.ids if id != 101][:2] == [7, 8] for window in windows)
        assert len(windows) == -(-length // (size - 4 if size == 256 else size - 7))
        lengths = [len(window.ids) for window in windows]
        assert max(lengths) - min(lengths) <= 2


def test_a_cls_stands_before_every_256_tokens() -> None:
    (window,) = mcls_windows(list(range(1000, 1900)), FRAME, 2048)
    assert window.at == [0, 257, 514, 771] == [i for i, id in enumerate(window.ids) if id == 101]
    assert window.weight == 4
    assert window.ids.count(102) == 1
    assert window.ids[-1] == 102


def test_parts_are_even() -> None:
    assert [len(part) for part in even_parts(range(10), 4)] == [3, 3, 4]
    assert [len(part) for part in even_parts(range(8), 4)] == [4, 4]


def test_short_texts_have_exactly_the_plain_vector(tiny_bundle: Bundle) -> None:
    texts = ["bee", "", "the honey bee " * 60, "a ship in the harbour"]
    for pooling in ("mean", "cls"):
        encoder = changed(tiny_bundle, pooling=pooling)
        assert max(encoder.count_tokens(texts)) < encoder.max_tokens - 2
        for kind in ("passage", "query"):
            assert np.array_equal(encoder.encode_long(texts, kind=kind), encoder.encode(texts, kind=kind))
    assert encoder.encode_long([]).shape == (0, encoder.dimension)


def test_windowed_mean_is_the_weighted_mean_of_the_windows(tiny_bundle: Bundle) -> None:
    from safetensors.numpy import load_file

    text = " ".join(pairs(30, random.Random(1))[0])
    encoder = changed(tiny_bundle, max_tokens=64, prefixes={"query": "", "passage": "word: "})
    slow = SlowEncoder(tiny_bundle.folder, load_file(tiny_bundle.path("model.safetensors")), "word: ")
    ids, own = slow.tokens(text)
    count = -(-len(own) // (64 - own[0] - 1))
    bounds = [own[0] + len(own) * i // count for i in range(count + 1)]
    total = np.zeros(encoder.dimension)
    for start, end in itertools.pairwise(bounds):
        states = slow.states([*ids[: own[0]], *ids[start:end], ids[-1]])
        total += (end - start) * states.sum(axis=0) / len(states)
    vectors = encoder.encode_long(["bee", text, "honey"])
    np.testing.assert_allclose(vectors[1], unit(total), atol=3e-4)
    assert np.array_equal(vectors[[0, 2]], encoder.encode(["bee", "honey"]))


def test_mcls_averages_the_states_of_its_cls_tokens(tiny_bundle: Bundle) -> None:
    """Within the position table one reading; beyond it the average over the CLS tokens of all windows."""
    from safetensors.numpy import load_file

    slow = SlowEncoder(tiny_bundle.folder, load_file(tiny_bundle.path("model.safetensors")))
    encoder = changed(tiny_bundle, pooling="cls", max_tokens=32, positions=256)
    for words in (60, 400):
        text = " ".join(pairs(90, random.Random(2))[0]).split()[:words]
        ids = slow.tokens(" ".join(text))[0]
        cut = mcls_windows(ids[1:-1], Frame(ids[:1], [], ids[-1:]), 256)
        assert len(cut) > 1 or words == 60
        states = [slow.states(window.ids)[at] for window in cut for at in window.at]
        np.testing.assert_allclose(encoder.encode_long([" ".join(text)])[0], unit(np.mean(states, axis=0)), atol=3e-4)


def test_torch_reads_long_texts_alike(tiny_bundle: Bundle) -> None:
    from core.encode.torch_encoder import TorchEncoder

    texts = [" ".join(pairs(80, random.Random(seed))[0]) for seed in range(1)]
    for pooling in ("mean", "cls"):
        config = {**tiny_bundle.config, "pooling": pooling}
        bundle = Bundle(tiny_bundle.id, tiny_bundle.kind, tiny_bundle.folder, config)
        served, trained = (
            serve(bundle, threads=1).encode_long(texts),
            TorchEncoder(bundle, device="cpu").encode_long(texts),
        )
        np.testing.assert_allclose(served, trained, atol=1e-4)


def test_cancel_and_progress(tiny_encoder: Encoder) -> None:
    texts = ["honey " * 600] * 70
    seen: list[int] = []
    tiny_encoder.encode_long(texts, on_batch=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 70
    control = Control()
    with pytest.raises(Cancelled):
        tiny_encoder.encode_long(texts, control=control, on_batch=lambda done: control.cancel())


def reciprocal_rank(questions: np.ndarray, documents: np.ndarray) -> float:
    scores = questions @ documents.T
    return float((1 / (1 + (scores > np.diag(scores)[:, None]).sum(axis=1))).mean())


def test_windowed_mean_finds_what_stands_deep(tiny_encoder: Encoder) -> None:
    """As `tests/benchmarks/bench_long.py`, in small: a sentence among 1,000 common words."""
    luck = random.Random(4)
    left, right, _ = pairs(60, luck)
    questions, texts = tiny_encoder.encode(left, kind="query"), buried([". ".join([r] * 6) for r in right], 1000, luck)
    start, whole = tiny_encoder.encode(texts), tiny_encoder.encode_long(texts)
    assert reciprocal_rank(questions, whole) > 1.3 * reciprocal_rank(questions, start)


@pytest.fixture(scope="module")
def cls_encoder(tiny_bundle: Bundle, request: pytest.FixtureRequest) -> Encoder:
    """An encoder pooled at CLS whose position table is five times its window, trained once per recipe."""
    recipe = (ROOT / "tests/tiny_cls.py").read_bytes() + tiny_bundle.path("model.onnx").read_bytes()
    cache = request.config.cache
    assert cache is not None
    target = Path(cache.mkdir("tiny-cls")) / hashlib.sha256(recipe).hexdigest()[:16]
    if not (target / CONFIG).is_file():
        target.mkdir(exist_ok=True)
        command = [sys.executable, str(ROOT / "tests/tiny_cls.py"), str(target), str(tiny_bundle.folder)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
    return serve(load(target), threads=1)


@pytest.mark.parametrize("words", [1000, 2500])
def test_mcls_finds_what_stands_deep(cls_encoder: Encoder, words: int) -> None:
    """One reading within the position table, and several beyond it."""
    luck = random.Random(5)
    left, right, _ = pairs(60, luck)
    questions, texts = cls_encoder.encode(left, kind="query"), buried(right, words, luck)
    start, whole = cls_encoder.encode(texts), cls_encoder.encode_long(texts)
    assert reciprocal_rank(questions, whole) > 1.3 * reciprocal_rank(questions, start)
