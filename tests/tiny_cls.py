"""A tiny real encoder pooled at CLS that reads far beyond its window, trained in seconds: for MCLS.

`python tests/tiny_cls.py FOLDER TINY` goes on from the bundle TINY of tests/tiny.py: its position table is repeated,
and the state of CLS learns to find a sentence among common words. It leaves a bundle in FOLDER, as a
child process.
"""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

from tiny import COMMON, DIMENSION, MAX_TOKENS, SEED, pairs

ID, TABLES = "tiny-cls", 5  # so many times the position table
STEPS, BATCH, TEMPERATURE, LONGEST = 240, 32, 0.1, 100


def buried(sentences: list[str], words: int, luck: random.Random) -> list[str]:
    """Each sentence somewhere among `words` common words."""
    common = COMMON.split()
    texts = []
    for sentence in sentences:
        noise = luck.choices(common, k=words)
        at = luck.randrange(words + 1)
        texts.append(" ".join([*noise[:at], sentence, *noise[at:]]))
    return texts


def write_weights(folder: Path, tiny: Path) -> None:
    """InfoNCE between sentences and their buried paraphrases, with ever more words around them."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    luck = random.Random(SEED)
    state = BertModel.from_pretrained(tiny, add_pooling_layer=False).state_dict()
    table = "embeddings.position_embeddings.weight"
    config = BertConfig.from_pretrained(tiny, max_position_embeddings=TABLES * MAX_TOKENS)
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict({**state, table: state[table].repeat(TABLES, 1)})
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def embed(texts: list[str]) -> torch.Tensor:
        encoded = tokenizer.encode_batch(texts)
        ids, mask = (torch.tensor([getattr(e, name) for e in encoded]) for name in ("ids", "attention_mask"))
        states = model(ids, attention_mask=mask).last_hidden_state
        return torch.nn.functional.normalize(states[:, 0], dim=-1)

    for step in range(STEPS):
        left, right, _ = pairs(BATCH, luck)
        words = luck.randrange(LONGEST * (step + 1) // STEPS + 1)
        scores = embed(left) @ embed(buried(right, words, luck)).T / TEMPERATURE
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(BATCH))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder, safe_serialization=True)


def make(folder: Path, tiny: Path) -> None:
    """A whole bundle in the empty folder `folder`."""
    from core.encode.export import export
    from core.encode.onnx import FP32
    from core.models.bundles import seal

    shutil.copyfile(tiny / "tokenizer.json", folder / "tokenizer.json")
    write_weights(folder, tiny)
    config = {
        "id": ID, "kind": "encoder", "pooling": "cls", "dimension": DIMENSION, "max_tokens": MAX_TOKENS,
        "positions": TABLES * MAX_TOKENS, "prefixes": {"query": "", "passage": ""}, "languages": ["en"],
        "licence": "Apache-2.0", "source": "tests/tiny_cls.py",
    }  # fmt: skip
    seal(folder, {**config, **export(folder, FP32)})


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
