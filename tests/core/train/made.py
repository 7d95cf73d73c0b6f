"""Made-up libraries and untrained encoders for the tests of training."""

from __future__ import annotations

import random
from dataclasses import replace

import torch
from transformers import BertConfig, BertModel

from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.types import Piece
from tests.tiny import sentence, topics


def fresh(bundle: Bundle, *, seed: int = 0, pooling: str = "mean", layers: int = 2, dropout: float = 0.1) -> Backbone:
    """An encoder that knows nothing yet, with the tokenizer of `bundle`."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=1500, hidden_size=48, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=128, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    made = replace(bundle, config={**bundle.config, "dimension": 48, "max_tokens": 128, "pooling": pooling})
    return Backbone(model, None, made, "cpu")


def documents(count: int, *, sentences: int = 8, seed: int = 0) -> list[Piece]:
    """Documents of one passage, each about three things of its own out of two topics, in words of chance."""
    luck = random.Random(seed)
    known = list(topics().values())
    pieces = []
    for number in range(count):
        left, right = luck.sample(known, 2)
        things = [*luck.sample(left, 2), luck.choice(right)]
        said = [sentence(luck.sample(things, 3), luck) + f" of {luck.choice('abcdefgh')}." for _ in range(sentences)]
        text = " ".join(one.capitalize() for one in said)
        pieces.append(Piece(number + 1, number + 1, number + 1, text, text, "", (), "en"))
    return pieces
