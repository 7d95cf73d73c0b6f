"""Files of negatives, handed from the side that mines them to the side that trains: whole and of this run, or not seen.

`neg-00000003` is one file: the hash of all that follows, a line of plain JSON (what was mined, from which checkpoint)
and arrays. It is written under another name, made durable and renamed last; the reader believes the hash alone, so that
neither a killed writer nor a copy from elsewhere is ever trained on.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.files import TEMPORARY_SUFFIX, atomic_file, sha256_file
from core.models.bundles import Bundle
from core.train.negatives import Mining
from core.train.record import data_hash
from core.train.types import Candidates, Piece, Question

_NAME = re.compile(r"neg-(\d{8})")
_HASH = 64  # hex digits of sha256
_FORMAT = 1

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Contract:
    """What negatives must have been mined from to be of use in a run: hashes of it."""

    corpus: str
    questions: str
    tokenizer: str
    mining: str

    @classmethod
    def of(cls, questions: Sequence[Question], pieces: Sequence[Piece], bundle: Bundle, mining: Mining) -> Contract:
        """Raises OSError: the bundle's tokenizer cannot be read."""
        corpus = data_hash(part for piece in pieces for part in (str(piece.id), piece.input, piece.text))
        asked = data_hash(part for q in questions for part in (q.text, str(q.positive)))
        tokens = data_hash(
            [sha256_file(bundle.path("tokenizer.json")), repr(sorted(bundle.config["prefixes"].items()))]
        )
        return cls(corpus, asked, tokens, data_hash([repr(sorted(asdict(mining).items()))]))


@dataclass(frozen=True, slots=True)
class Negatives:
    """The candidates of every question of a run, by the checkpoint of `step`, whose weights have the hash `weights`.

    Where `fresh` is False the search did not find the question's own passage, and it keeps its earlier negatives.
    `hash` is that of the file.
    """

    number: int
    step: int
    weights: str
    candidates: tuple[Candidates, ...]
    fresh: tuple[bool, ...]
    hash: str = ""

    @property
    def name(self) -> str:
        """What a checkpoint calls them: number and hash, so that a resumed run takes the same ones or none."""
        return f"{self.number}:{self.hash}"


def write(folder: Path, made: Negatives, contract: Contract) -> Negatives:
    """Hand over; returns the same with the file's hash. A file of that number is replaced at one stroke.

    Raises:
        DiskFull, KnownError: nothing is left behind.
    """
    head = {"format": _FORMAT, "number": made.number, "step": made.step, "weights": made.weights, **asdict(contract)}
    body = json.dumps(head).encode() + b"\n" + _packed(made)
    hash = hashlib.sha256(body).hexdigest()
    with atomic_file(_path(folder, made.number)) as file:
        file.write(hash.encode() + b"\n" + body)
    return replace(made, hash=hash)


def read(folder: Path, number: int, contract: Contract) -> Negatives | None:
    """The negatives of this number; None where they are absent, cut short, changed, or of another run."""
    try:
        data = _path(folder, number).read_bytes()
    except OSError:
        return None
    hash, body = data[:_HASH].decode("ascii", "replace"), data[_HASH + 1 :]
    if hashlib.sha256(body).hexdigest() != hash:
        return None
    line, _, arrays = body.partition(b"\n")
    head = json.loads(line)
    if any(head.get(key) != value for key, value in {"format": _FORMAT, "number": number, **asdict(contract)}.items()):
        return None
    candidates, fresh = _unpacked(arrays)
    return Negatives(number, int(head["step"]), str(head["weights"]), candidates, fresh, hash)


def newest(folder: Path, contract: Contract, *, above: int = 0, until: int | None = None) -> Negatives | None:
    """The whole ones of the highest number that is greater than `above`, of a checkpoint not after step `until`."""
    for number in reversed(numbers(folder)):
        if number <= above:
            break
        found = read(folder, number, contract)
        if found is not None and (until is None or found.step <= until):
            return found
    return None


def named(folder: Path, name: str, contract: Contract) -> Negatives | None:
    """Those that a checkpoint calls `name`; None where they are not there as they were."""
    number, _, hash = name.partition(":")
    found = read(folder, int(number), contract)
    return found if found is not None and found.hash == hash else None


def numbers(folder: Path) -> list[int]:
    """Of all files with a right name, ascending; nothing is said about what is in them."""
    matches = (_NAME.fullmatch(path.name) for path in folder.glob("neg-*"))
    return sorted(int(match.group(1)) for match in matches if match)


def prune(folder: Path, keep: Collection[int]) -> None:
    """Delete those whose number is below the highest of `keep` and not in it; newer ones may be on their way."""
    for number in numbers(folder):
        if keep and number < max(keep) and number not in keep:
            with contextlib.suppress(OSError):  # still read by another process: the next time takes it
                _path(folder, number).unlink()


def sweep(folder: Path) -> None:
    """Delete what killed writers left behind. For the one writer, before it begins."""
    for left in folder.glob(f".neg-*{TEMPORARY_SUFFIX}"):
        left.unlink(missing_ok=True)


def _path(folder: Path, number: int) -> Path:
    return folder / f"neg-{number:08d}"


def _packed(made: Negatives) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        question=_integers([one.question for one in made.candidates]),
        positive=_integers([one.positive for one in made.candidates]),
        fresh=np.array(made.fresh, bool),
        counts=_integers([len(one.negatives) for one in made.candidates]),
        negatives=_integers([id for one in made.candidates for id in one.negatives]),
        taught=_integers([len(one.teacher) for one in made.candidates]),
        teacher=np.array([score for one in made.candidates for score in one.teacher], np.float64),
    )
    return file.getvalue()


def _unpacked(data: bytes) -> tuple[tuple[Candidates, ...], tuple[bool, ...]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    ids = np.split(kept["negatives"], np.cumsum(kept["counts"])[:-1])
    scores = np.split(kept["teacher"], np.cumsum(kept["taught"])[:-1])
    candidates = tuple(
        Candidates(question, positive, tuple(own.tolist()), tuple(taught.tolist()))
        for question, positive, own, taught in zip(
            kept["question"].tolist(), kept["positive"].tolist(), ids, scores, strict=True
        )
    )
    return candidates, tuple(kept["fresh"].tolist())


def _integers(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
