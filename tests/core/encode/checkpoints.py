"""Tiny real checkpoints with random weights, laid out as they are published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

DIMENSION, POSITIONS = 32, 200
_TEXTS = [
    "The honey bee and the hive (bee) need nectar.", "Ships, boats and a harbour: query passage", "我们 喜欢 蜂蜜 我们",
    "a sailor kept bees on board; sailors keep a bee",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789",
]  # fmt: skip


def sentencepiece(file: Path) -> int:
    """A Unigram tokenizer as XLM-R has one; returns the size of its vocabulary."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=special, unk_token="<unk>", show_progress=False
    )  # fmt: skip
    tokenizer.train_from_iterator(_TEXTS * 10, trainer)
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.save(str(file))
    return int(tokenizer.get_vocab_size())


def model(kind: str, vocabulary: int, seed: int = 0) -> Any:
    """A transformer of two layers with random weights, large enough that heads see differences."""
    import torch
    from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(seed)
    config, build = (BertConfig, BertModel) if kind == "bert" else (XLMRobertaConfig, XLMRobertaModel)
    made = build(
        config(
            vocab_size=vocabulary, hidden_size=DIMENSION, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=2 * DIMENSION, max_position_embeddings=POSITIONS + (0 if kind == "bert" else 2),
            pad_token_id=0 if kind == "bert" else 1, initializer_range=0.3, type_vocab_size=1,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    return made.eval()


def arrays(made: Any) -> dict[str, NDArray[np.float64]]:
    return {name: value.double().numpy() for name, value in made.state_dict().items() if value.is_floating_point()}


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))


def modules(*kinds: str) -> list[dict[str, Any]]:
    """A modules.json; the transformer lies in the folder itself."""
    return [
        {"idx": i, "name": str(i), "path": "" if kind == "Transformer" else f"{i}_{kind}", "type": f"s_t.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]


def bge_m3(folder: Path, multi_dimension: int = DIMENSION) -> tuple[Any, Any, Any]:
    """The layout of BAAI/bge-m3: pickles only. Returns the model and its two linear layers."""
    import torch

    folder.mkdir(parents=True)
    made = model("xlm-roberta", sentencepiece(folder / "tokenizer.json"))
    made.config.save_pretrained(folder)
    lexical, multi = torch.nn.Linear(DIMENSION, 1), torch.nn.Linear(DIMENSION, multi_dimension)
    torch.save(made.state_dict(), folder / "pytorch_model.bin")
    torch.save(lexical.state_dict(), folder / "sparse_linear.pt")
    torch.save(multi.state_dict(), folder / "colbert_linear.pt")
    pooling = {"word_embedding_dimension": DIMENSION, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    write(folder, {
        "modules.json": modules("Transformer", "Pooling", "Normalize"), "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": {"max_seq_length": 64},
    })  # fmt: skip
    (folder / "README.md").write_text("---\nlicense: mit\nlanguage: en\n---\n# Card\n")
    return made, lexical, multi


def sentence_transformers(folder: Path, tokenizer: Path, **settings: Any) -> tuple[Any, Any]:
    """A BERT, mean pooling in the newer spelling, a dense layer with tanh to 16 dimensions, prompts."""
    import torch
    from safetensors.torch import save_file

    made = bert(folder, tokenizer)
    dense = torch.nn.Linear(DIMENSION, 16)
    (folder / "2_Dense").mkdir()
    save_file(
        {f"linear.{name}": value for name, value in dense.state_dict().items()}, folder / "2_Dense/model.safetensors"
    )
    tanh = {
        "in_features": DIMENSION,
        "out_features": 16,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    write(folder, {
        "modules.json": modules("Transformer", "Pooling", "Dense", "Normalize"),
        "1_Pooling/config.json": {"embedding_dimension": DIMENSION, "pooling_mode": "mean"},
        "2_Dense/config.json": tanh,
        "config_sentence_transformers.json": {"prompts": {"query": "honey: ", "document": ""}}, **settings,
    })  # fmt: skip
    return made, dense


def bert(folder: Path, tokenizer: Path) -> Any:
    """A plain folder of transformers."""
    folder.mkdir(parents=True)
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    made = model("bert", Tokenizer.from_file(str(tokenizer)).get_vocab_size())
    made.save_pretrained(folder)
    return made
