"""A tiny but real encoder for tests: a 2-layer BERT of width 64 with its own vocabulary, trained in seconds.

`python tests/tiny.py FOLDER` trains it on made-up sentences (paraphrases and topics), exports it with the app's own
code and leaves a bundle in FOLDER. It runs as a child process, so that the tests themselves stay free of torch.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

ID = "tiny"
DIMENSION, LAYERS, HEADS, MAX_TOKENS = 64, 2, 4, 256
STEPS, BATCH, TEMPERATURE, SEED = 260, 48, 0.1, 7

# each entry lists words for one thing: the first loss pulls them together, the second whole topics
TOPICS = """
bees: bee/honeybee/bees, hive/beehive/colony, honey/nectar, queen/brood, swarm/swarming, pollen/flower;
ships: ship/vessel/boat, harbour/port/dock, sailor/crew, anchor/mooring, cargo/freight, storm/gale;
bread: bread/loaf, oven/bakery, flour/dough, yeast/leaven, baker/baking, crust/crumb;
money: invoice/bill, payment/paid/pay, price/cost, tax/duty, budget/spending, bank/account;
health: doctor/physician, illness/disease, medicine/drug, patient/patients, hospital/clinic, fever/infection;
law: contract/agreement, court/judge, lawyer/attorney, tenant/lease/rent, clause/paragraph, notice/termination;
weather: rain/rainfall, snow/ice, wind/breeze, cloud/clouds/sky, temperature/heat, forecast/climate;
music: violin/fiddle, singer/voice, orchestra/concert, melody/tune, piano/keyboard, rhythm/drum;
trains: train/railway, station/platform, ticket/fare, track/rail, conductor/driver, delay/late;
garden: garden/yard, rose/tulip, soil/earth, seed/seeds/sowing, water/watering, tree/orchard;
space: planet/world, star/stars/sun, rocket/spacecraft, orbit/gravity, telescope/astronomer, moon/lunar;
computers: computer/machine, program/software, data/database, network/internet, password/login,
        error/bug/failure;
school: teacher/professor, pupil/student/students, lesson/course, exam/test, book/textbook, school/university;
animals: cat/kitten, dog/puppy/hound, horse/pony, cow/cattle, sheep/lamb, bird/sparrow;
energy: battery/charge, solar/panel, power/electricity, fuel/oil, engine/motor, turbine/windmill;
buildings: house/building/home, roof/ceiling, wall/brick, window/glass, door/gate, bridge/tower
"""
FRAMES = (
    "the {a} and the {b} need {c}", "how does {a} change the {b}", "after the {a} came the {b} with {c}",
    "a {a} without {b} is like {c}", "what about {b} in the {a}", "we found {a} near the {b}, then {c}",
    "{a}, {b} and {c}", "they keep the {c} for {a} of {b}", "is there {a} or {b} when {c} is new",
)  # fmt: skip
COMMON = """
the of and to in is was for on with as by at from it that this be are not have has which or an will can all more
when who what where how why if there their one two three first second new old good small large year day time
people work part place page document section chapter report about after before between under over into out up
down many most some such only other than then these they we you he she his her its our your no yes may must
should would could made make used use found find said also each every between because during without within
against new text word sentence question answer
"""


def topics() -> dict[str, list[list[str]]]:
    """Topic -> its things -> the words of each."""
    named = (line.split(":") for line in TOPICS.split(";"))
    return {name.strip(): [entry.strip().split("/") for entry in things.split(",")] for name, things in named}


def sentence(picked: list[list[str]], luck: random.Random) -> str:
    """A sentence about the picked things, in words and frame of chance."""
    words = [luck.choice(thing) for thing in picked]
    return luck.choice(FRAMES).format(a=words[0], b=words[1], c=words[2])


def pairs(count: int, luck: random.Random) -> tuple[list[str], list[str], list[int]]:
    """`count` sentences, a paraphrase of each, and the number of its topic."""
    known = list(topics().values())
    left, right, numbers = [], [], []
    for _ in range(count):
        topic = luck.randrange(len(known))
        picked = luck.sample(known[topic], 3)
        left.append(sentence(picked, luck))
        right.append(sentence(luck.sample(picked, 3), luck))
        numbers.append(topic)
    return left, right, numbers


def pieces(counts: dict[str, int]) -> list[str]:
    """WordPiece's vocabulary of these words: their letters, and what joining the most frequent neighbours makes, until
    every word is whole. Of equal ones the first in the alphabet: the trainer of `tokenizers` takes any, at each run
    another, and what is learned on top comes out otherwise each time."""
    words = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in sorted(counts)}
    found = sorted({part for parts in words.values() for part in parts})
    while True:
        pairs_of: Counter[tuple[str, str]] = Counter()
        for word, parts in words.items():
            for pair in pairwise(parts):
                pairs_of[pair] += counts[word]
        if not pairs_of:
            return list(dict.fromkeys(found))
        left, right = min(pairs_of, key=lambda pair: (-pairs_of[pair], pair))
        found.append(left + right.removeprefix("##"))
        for word, parts in words.items():
            words[word] = _joined(parts, left, right)


def _joined(parts: list[str], left: str, right: str) -> list[str]:
    made: list[str] = []
    for part in parts:
        if made and (made[-1], part) == (left, right):
            made[-1] = left + right.removeprefix("##")
        else:
            made.append(part)
    return made


def write_tokenizer(folder: Path) -> int:
    """Make the WordPiece vocabulary; returns its size."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    luck = random.Random(SEED)
    corpus = [COMMON] * 20 + pairs(2000, luck)[0]
    counts = Counter(word for text in corpus for word in re.findall(r"[a-z]+", text.lower()))
    letters = [chr(code) for code in range(33, 127)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    every = list(dict.fromkeys([*special, *letters, *(f"##{letter}" for letter in letters), *pieces(counts)]))
    vocabulary = {token: number for number, token in enumerate(every)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return int(tokenizer.get_vocab_size())


def write_weights(folder: Path, vocabulary: int) -> None:
    """Train the encoder contrastively: paraphrases first, topics beside them (InfoNCE, SupCon)."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    luck = random.Random(SEED)
    config = BertConfig(
        vocab_size=vocabulary, hidden_size=DIMENSION, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=2 * DIMENSION, max_position_embeddings=MAX_TOKENS, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)

    def embed(texts: list[str]) -> torch.Tensor:
        encoded = tokenizer.encode_batch(texts)
        mask = torch.tensor([e.attention_mask for e in encoded])
        states = model(torch.tensor([e.ids for e in encoded]), attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        return torch.nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)

    for _ in range(STEPS):
        left, right, numbers = pairs(BATCH, luck)
        scores = embed(left) @ embed(right).T / TEMPERATURE
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(BATCH))
        same = torch.tensor(numbers)[:, None] == torch.tensor(numbers)[None, :]
        topic_loss = -(scores.log_softmax(1) * same).sum(1) / same.sum(1)
        optimiser.zero_grad()
        (loss + topic_loss.mean()).backward()
        optimiser.step()
    model.save_pretrained(folder, safe_serialization=True)


def make(folder: Path) -> None:
    """A whole bundle in the empty folder `folder`."""
    from core.encode.export import export
    from core.encode.onnx import FP32
    from core.models.bundles import seal

    write_weights(folder, write_tokenizer(folder))
    config = {
        "id": ID, "kind": "encoder", "pooling": "mean", "dimension": DIMENSION, "max_tokens": MAX_TOKENS,
        "prefixes": {"query": "", "passage": ""}, "languages": ["en"], "licence": "Apache-2.0",
        "source": "tests/tiny.py",
    }  # fmt: skip
    seal(folder, {**config, **export(folder, FP32)})


if __name__ == "__main__":
    make(Path(sys.argv[1]))
