"""Rerankers: pairs as transformers reads them, graphs as exact as a slow reference, a clock that is heeded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import DIMENSION, POSITIONS, sentencepiece
from hub_server import Hub, serving
from slow_encoder import SlowEncoder
from tokenizers import Tokenizer, processors

from core.base.errors import Cancelled, KnownError, ModelDamaged
from core.base.events import Control
from core.encode import cross_encoder
from core.encode.cross_encoder import CrossEncoder
from core.encode.cross_export import correlation
from core.encode.install import add
from core.encode.load import open_encoder, open_reranker
from core.encode.onnx import FP32, INT8
from core.encode.pairs import Pairs
from core.models import catalogue
from core.models.bundles import RERANKER, Bundle

QUESTION = "where do the honey bees live"
PASSAGES = ["The bee and the hive need nectar.", "ships, boats, sailors", "a sailor kept bees on board " * 12, "bee"]
LONGEST, MOST = 40, 12


def checkpoint(folder: Path, family: str, tokenizer: Path | None, labels: int = 1, pickled: bool = False) -> Any:
    """A tiny classifier with random weights, as transformers saves it."""
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
    )

    folder.mkdir(parents=True)
    if tokenizer is None:
        vocabulary = sentencepiece(folder / "tokenizer.json")
    else:
        shutil.copyfile(tokenizer, folder / "tokenizer.json")
        vocabulary = Tokenizer.from_file(str(tokenizer)).get_vocab_size()
    torch.manual_seed(3)
    bert = family == "bert"
    config = (BertConfig if bert else XLMRobertaConfig)(
        vocab_size=vocabulary, hidden_size=DIMENSION, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=2 * DIMENSION, max_position_embeddings=POSITIONS, pad_token_id=0 if bert else 1,
        initializer_range=0.3, type_vocab_size=2 if bert else 1, num_labels=labels,
    )  # fmt: skip
    model = (BertForSequenceClassification if bert else XLMRobertaForSequenceClassification)(config).eval()
    model.save_pretrained(folder)
    if pickled:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": LONGEST}))
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    return model


def slow(folder: Path, model: Any, pairs: Pairs) -> list[float]:
    """Scores in float64, layer by layer, token by token."""
    bert = json.loads((folder / "config.json").read_text())["model_type"] == "bert"
    prefix = "bert." if bert else "roberta."
    weights = {name.removeprefix(prefix): value.double().numpy() for name, value in model.state_dict().items()}
    reference = SlowEncoder(folder, weights)
    hidden, out = ("pooler.dense", "classifier") if bert else ("classifier.dense", "classifier.out_proj")
    question, found = pairs.questions([QUESTION])[0], []
    for passage in pairs.passages(PASSAGES):
        pair = pairs.joined(question, passage)
        first = reference.states(pair.ids, pair.types if bert else None)[0]
        inner = np.tanh(weights[f"{hidden}.weight"] @ first + weights[f"{hidden}.bias"])
        found.append(float(weights[f"{out}.weight"][0] @ inner + weights[f"{out}.bias"][0]))
    return found


@pytest.mark.parametrize(
    ("family", "template"),
    [("bert", "[CLS] $A [SEP] $B:1 [SEP]:1"), ("xlm-roberta", "[CLS] $A [SEP] [SEP] $B [SEP]")],
)
def test_pairs_are_joined_and_cut_as_the_tokenizer_does_it(
    tiny_bundle: Bundle, tmp_path: Path, family: str, template: str
) -> None:
    whole = Tokenizer.from_file(str(tiny_bundle.path("tokenizer.json")))
    whole.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", template, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    whole.save(str(tmp_path / "tokenizer.json"))
    whole.enable_truncation(LONGEST, strategy="only_second")
    pairs = Pairs(tmp_path / "tokenizer.json", family, longest=LONGEST, question_tokens=MOST)
    question = pairs.questions([QUESTION])[0]
    for passage, own in zip(PASSAGES, pairs.passages(PASSAGES), strict=True):
        wanted, pair = whole.encode(QUESTION, passage), pairs.joined(question, own)
        assert pair.ids == wanted.ids
        if family == "bert":
            assert pair.types == wanted.type_ids
    assert len(pairs.questions(["bee " * 50])[0]) == MOST + (family != "bert")


def test_no_room_for_a_passage_is_refused(tiny_bundle: Bundle) -> None:
    with pytest.raises(ValueError, match="no room"):
        Pairs(tiny_bundle.path("tokenizer.json"), "bert", longest=20, question_tokens=19)


@pytest.mark.parametrize(("family", "pickled"), [("bert", False), ("xlm-roberta", True)])
def test_a_downloaded_one_is_installed_and_scores_as_the_reference(
    tiny_bundle: Bundle, tmp_path: Path, family: str, pickled: bool
) -> None:
    tokenizer = tiny_bundle.path("tokenizer.json") if family == "bert" else None
    model = checkpoint(tmp_path / "mine", family, tokenizer, pickled=pickled)
    bundle = add(str(tmp_path / "mine"))
    assert (bundle.kind, bundle.config["licence"], bundle.config["pair_tokens"]) == (RERANKER, "mit", LONGEST)
    assert "pytorch_model.bin" not in bundle.config["files"]
    pairs = Pairs(
        bundle.path("tokenizer.json"), family, longest=LONGEST, question_tokens=bundle.config["question_tokens"]
    )
    wanted = slow(tmp_path / "mine", model, pairs)
    exact, rounded = (CrossEncoder(bundle, file=file, threads=2) for file in (FP32, INT8))
    np.testing.assert_allclose(exact.score(QUESTION, PASSAGES), wanted, atol=1e-4)
    assert np.abs(rounded.score(QUESTION, PASSAGES) - wanted).max() < 0.2 * np.ptp(wanted)
    np.testing.assert_array_equal(exact([(QUESTION, one) for one in PASSAGES]), exact.score(QUESTION, PASSAGES))
    assert next(one for one in catalogue.listing() if one.id == "mine").kind == RERANKER
    assert "| Longest pair | 40 tokens" in bundle.path("README.md").read_text()


def test_what_is_no_reranker_is_refused(tiny_bundle: Bundle, tmp_path: Path) -> None:
    tokenizer = tiny_bundle.path("tokenizer.json")
    checkpoint(tmp_path / "classes", "bert", tokenizer, labels=3)
    with pytest.raises(KnownError, match="sorts texts into classes"):
        add(str(tmp_path / "classes"))
    checkpoint(tmp_path / "damaged", "bert", tokenizer)
    weights = tmp_path / "damaged/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelDamaged):
        add(str(tmp_path / "damaged"))


def test_kinds_are_not_taken_for_each_other(tiny_bundle: Bundle, tiny_home: Path, tmp_path: Path) -> None:
    checkpoint(tmp_path / "mine", "bert", tiny_bundle.path("tokenizer.json"))
    add(str(tmp_path / "mine"))
    with pytest.raises(KnownError, match="not an encoder"):
        open_encoder("mine")
    with pytest.raises(KnownError, match="not a reranker"):
        open_reranker(tiny_bundle.id)


def test_one_of_the_hub_is_known_for_a_reranker_before_it_is_fetched(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint(tmp_path / "mine", "bert", tiny_bundle.path("tokenizer.json"))
    files = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    hub: Hub
    with serving("some-lab/tiny-reranker", files) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert catalogue.needs("some-lab/tiny-reranker").kind == RERANKER
        assert add("some-lab/tiny-reranker").kind == RERANKER


@pytest.mark.parametrize(("until", "done"), [(-1.0, 0), (0.0, 1), (35.0, 3), (1e9, 4)])
def test_the_clock_is_heeded_and_the_first_ones_go_before(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: float, done: int
) -> None:
    """Each pair takes ten; another one is begun only where it will be done in time."""
    checkpoint(tmp_path / "mine", "bert", tiny_bundle.path("tokenizer.json"))
    one = CrossEncoder(add(str(tmp_path / "mine")), threads=1)
    now, run = [0.0], one._run

    def slowly(pair: Any) -> float:
        now[0] += 10.0
        return run(pair)

    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    monkeypatch.setattr(cross_encoder.time, "perf_counter", clock)
    monkeypatch.setattr(one, "_run", slowly)
    scores = one.score(QUESTION, PASSAGES, until=until)
    assert np.isfinite(scores).tolist() == [True] * done + [False] * (len(PASSAGES) - done)


def test_cancelling_is_heard_after_the_pair_at_work(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint(tmp_path / "mine", "bert", tiny_bundle.path("tokenizer.json"))
    one, control, done = CrossEncoder(add(str(tmp_path / "mine")), threads=1), Control(), []
    run = one._run

    def overtaken(pair: Any) -> float:
        done.append(pair)
        control.cancel()
        return run(pair)

    monkeypatch.setattr(one, "_run", overtaken)
    with pytest.raises(Cancelled):
        one.score(QUESTION, PASSAGES, control=control)
    assert len(done) == 1


def test_correlation_is_that_of_the_textbook() -> None:
    rows = np.random.default_rng(0).standard_normal((2, 3, 9))
    wanted = np.mean([np.corrcoef(left, right)[0, 1] for left, right in zip(*rows, strict=True)])
    assert correlation(*rows) == pytest.approx(wanted)
    assert correlation(np.ones((2, 3)), np.ones((2, 3))) == 0.0
