"""Facts deep in long texts: which vector of a whole document finds them? On demand:

    python tests/benchmarks/bench_long.py [ENCODER] [DOCUMENTS] [WORDS]

Writes documents of everyday reports (from templates, seeded), each with one event of a few sentences at a random
depth and a passing mention of an event of another document; asks two questions about each event in other words.
nDCG@10 of the documents by: the encoder's window at the start of the text (`encode`), the whole text (`encode_long`:
windowed mean or MCLS), and the best passage, which is what a search for documents uses besides. Depths are told
apart: within the window and beyond it. The last line gives a paired sign test of the whole text against its start.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.encode.encoder import QUERY, Encoder
from core.encode.load import open_encoder
from core.models.bundles import STARTERS

SEED = 5
_PASSAGE_WORDS = 140

_WHO = """the committee; the council; a neighbour; the office; the board; the caretaker; our group; the teacher;
the director; two visitors; the treasurer; the clerk; a volunteer; the planning team; the residents; the inspector"""
_DID = """reviewed; discussed; postponed; approved; repaired; described; counted; moved; cleaned; measured; ordered;
compared; sketched; checked; recorded; delivered"""
_WHAT = """the plans for the car park; the heating in the hall; the list of members; the budget for paper; the old
windows; a delivery of chairs; the minutes of the last meeting; the timetable; the road signs; the kitchen; the copier;
the rules for parking; the flower beds; the survey of noise; the tickets for the fair; the water bill; the
garden fence"""
_WHEN = """on Monday; before noon; in the following week; after a long break; without any hurry; for the second time;
in spite of the rain; at the end of the month; as agreed in March; with great care; late in the evening; once more"""
_THEN = """and nobody objected; which took longer than expected; and the matter was closed; so the costs stayed the
same; but the result was not yet clear; and a note was sent to everyone; while the rest waited outside; and lunch was
served; although two people were absent; and the date was confirmed; because the forms were missing; and that was all"""

_TRADES = {
    "clockmaker": ("built a brass orrery", "constructed a mechanical model of the planets"),
    "beekeeper": ("bred a white swarm", "raised pale bees"),
    "glassblower": ("cast a green lens", "made a coloured piece of optical glass"),
    "shipwright": ("launched a flat barge", "put a cargo boat on the water"),
    "weaver": ("wove a silver banner", "made a shining flag on the loom"),
    "baker": ("baked a loaf of chestnuts", "made bread from nuts"),
    "potter": ("fired a blue urn", "made a ceramic vessel in the kiln"),
    "astronomer": ("charted a double comet", "mapped a twin object in the night sky"),
    "physician": ("cured the marsh fever", "healed an illness of the wetlands"),
    "blacksmith": ("forged a folding gate", "made an iron door that collapses"),
    "gardener": ("grew a black tulip", "cultivated a dark flower"),
    "printer": ("printed an atlas of rivers", "published maps of streams"),
    "mason": ("laid a spiral bridge", "built a winding crossing of stone"),
    "musician": ("tuned a glass harp", "adjusted an instrument of crystal"),
    "miner": ("found a vein of cobalt", "discovered a blue metal underground"),
    "painter": ("painted a winter ceiling", "decorated the roof of a room with snow scenes"),
    "tailor": ("sewed a coat of feathers", "stitched a garment of plumes"),
    "chemist": ("distilled a violet oil", "extracted a purple liquid"),
    "saddler": ("stitched a camel harness", "made riding gear for a desert animal"),
    "carpenter": ("carved a walnut staircase", "made wooden steps"),
}
_START = ("Var", "Kel", "Ost", "Mir", "Tal", "Hol", "Bren", "Sul", "Dor", "Fen", "Gri", "Lun")
_END = ("holt", "mar", "dal", "vik", "stad", "by", "moor", "sund", "feld", "rock")
_PEOPLE = ("Elsa", "Jonas", "Mira", "Oskar", "Petra", "Ruben", "Sofia", "Tomas", "Vera", "Willem", "Agnes", "Boris")


@dataclass(frozen=True, slots=True)
class Long:
    """A long text, two questions about its event, and how many words stand before the event."""

    text: str
    questions: tuple[str, str]
    depth: int


@dataclass(frozen=True, slots=True)
class _Event:
    trade: str
    place: str
    person: str
    year: int

    def told(self) -> str:
        did, _ = _TRADES[self.trade]
        return (
            f"In {self.year} the {self.trade} {self.person} of {self.place} {did}. People came to {self.place} to see "
            f"what the {self.trade} had done, and {self.person} told them how it went. The {self.trade} {did} only "
            f"once, and the town of {self.place} kept the memory of {self.person}."
        )

    def mention(self) -> str:
        return f"Somebody spoke of a {self.trade} in {self.place}, but that is another story."

    def asked(self) -> tuple[str, str]:
        did, words = _TRADES[self.trade]
        return f"Which {self.trade} {did} in {self.place}?", f"Who in {self.place} {words}?"


def _choices(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(";")]


def _filler(luck: random.Random, words: int) -> list[str]:
    """Sentences of everyday reports with about so many words together."""
    lists = [_choices(part) for part in (_WHO, _DID, _WHAT, _WHEN, _THEN)]
    sentences, count = [], 0
    while count < words:
        sentence = "{} {} {} {}, {}.".format(*(luck.choice(part) for part in lists))
        sentences.append(sentence[0].upper() + sentence[1:])
        count += len(sentence.split())
    return sentences


def make(count: int, words: int) -> list[Long]:
    """`count` documents of at least `words` words; an event lies anywhere, with equal chance."""
    luck = random.Random(SEED)
    places = luck.sample([start + end for start in _START for end in _END], len(_START) * len(_END))
    keys = luck.sample([(trade, place) for trade in _TRADES for place in places], count)
    events = [_Event(trade, place, luck.choice(_PEOPLE), luck.randrange(1700, 1950)) for trade, place in keys]
    made = []
    for i, event in enumerate(events):
        sentences = _filler(luck, words)
        at = luck.randrange(len(sentences) + 1)
        depth = sum(len(sentence.split()) for sentence in sentences[:at])
        other = luck.choice([one for j, one in enumerate(events) if j != i])
        sentences.insert(at, event.told())
        sentences.insert(luck.randrange(len(sentences) + 1), other.mention())
        made.append(Long(" ".join(sentences), event.asked(), depth))
    return made


def passages(text: str) -> list[str]:
    """Pieces of whole sentences, each of at least `_PASSAGE_WORDS` words but the last."""
    pieces: list[str] = []
    piece: list[str] = []
    for sentence in text.replace(". ", ".\n").split("\n"):
        piece.append(sentence)
        if sum(len(part.split()) for part in piece) >= _PASSAGE_WORDS:
            pieces.append(" ".join(piece))
            piece = []
    return [*pieces, " ".join(piece)] if piece else pieces


def gains(scores_QN: NDArray[np.float32], relevant: Sequence[int]) -> NDArray[np.float64]:
    """nDCG@10 of each question with one relevant document."""
    own = scores_QN[np.arange(len(relevant)), list(relevant)]
    ranks = (scores_QN > own[:, None]).sum(axis=1) + 1
    return np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0)


def best_passage(encoder: Encoder, questions: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
    pieces = [passages(text) for text in texts]
    vectors = encoder.encode([piece for own in pieces for piece in own])
    starts = np.cumsum([0, *(len(own) for own in pieces)])[:-1]
    return np.maximum.reduceat(questions @ vectors.T, starts, axis=1)


def sign_test(left: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[int, int, float]:
    """Wins, losses, two-sided p."""
    wins, losses = int((left > right).sum()), int((left < right).sum())
    tail = sum(math.comb(wins + losses, i) for i in range(min(wins, losses) + 1)) / 2 ** (wins + losses)
    return wins, losses, min(1.0, 2 * tail)


def main(arguments: Sequence[str]) -> None:
    name = arguments[0] if arguments else STARTERS["encoder"]
    count, words = (int(value) for value in [*arguments[1:], *("300", "2000")[len(arguments[1:]) :]])
    encoder, documents = open_encoder(name), make(count, words)
    texts = [document.text for document in documents]
    asked = [question for document in documents for question in document.questions]
    relevant = [i for i, document in enumerate(documents) for _ in document.questions]
    tokens = encoder.count_tokens(texts)
    shortest = min(len(text.split()) for text in texts)
    print(f"{name}: {count} documents of {shortest} words and more, {np.median(tokens):.0f} tokens")
    questions = encoder.encode(asked, kind=QUERY)
    scores: dict[str, NDArray[np.float32]] = {}
    for label, work in {
        "start of the text": lambda: questions @ encoder.encode(texts).T,
        "whole text": lambda: questions @ encoder.encode_long(texts).T,
        "best passage": lambda: best_passage(encoder, questions, texts),
    }.items():
        began = time.process_time()
        scores[label] = work()
        print(f"  {label}: {time.process_time() - began:.0f} s of CPU time", flush=True)
    scores["whole text + best passage"] = scores["whole text"] + scores["best passage"]
    share = encoder.max_tokens / np.median(tokens)
    seen = np.array([documents[i].depth < words * share for i in relevant])
    print(f"nDCG@10 of {len(asked)} questions ({seen.mean():.0%} of the events begin within the window)")
    for label, found in scores.items():
        gain = gains(found, relevant)
        print(f"  {label:26} {gain.mean():.3f}   within {gain[seen].mean():.3f}   beyond {gain[~seen].mean():.3f}")
    wins, losses, p = sign_test(gains(scores["whole text"], relevant), gains(scores["start of the text"], relevant))
    print(f"whole text against its start: {wins} wins, {losses} losses, p = {p:.2g}")


if __name__ == "__main__":
    main(sys.argv[1:])
