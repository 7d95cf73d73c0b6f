"""Writing token vectors: the token files of segments, and the life of the codec that all of them share.

At first tokens are kept plainly. Once there are enough, a codec is trained and every token file is coded with it; when
the library has grown `GROWTH`-fold since, a new one is trained and files are coded again, from the vectors as far as
they were kept (the encoder is not asked, so what one codec left out stays left out). In between, merging copies codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from core.base.errors import IndexDamaged
from core.base.events import Control
from core.base.types import SegmentFile
from core.index import codec as codecs
from core.index import token_file
from core.index.coding import Floats, Plain, TokenCodec
from core.index.multivector import open_codec
from core.index.rounded import Rounded
from core.index.rows import Ids
from core.index.token_file import LACKING, Coded, Counts, Part, TokenFile

Tokens = Sequence[Floats | None]  # unit vectors [T, M] for each passage, None for one without
Mask = np.ndarray
_ENCODED = 64  # passages at a time


class TokenWriter:
    """`codec_path` is what the next generation names. Files that a generation names are never changed."""

    def __init__(self, library: Path, codec_path: str) -> None:
        """Raises IndexDamaged: the codec is lost, and with it all tokens that it coded."""
        self._library, self.codec_path = library, codec_path
        self._written = 0
        self._codec: TokenCodec | None = open_codec(library, codec_path, 0) if codec_path else None

    def built(self, folder: Path, file: SegmentFile, tokens: Tokens | Coded) -> SegmentFile:
        """The new segment `file` with the token vectors of its passages, or with such as this codec has coded.

        Raises:
            ValueError: they do not fit the passages. DiskFull, NoPermission
        """
        if isinstance(tokens, Coded):
            codec = self._codec_of(tokens.codes.shape[1] // 2)
            if len(tokens.counts) != file.passages or tokens.codec != codec.id:
                raise ValueError(f"tokens of {len(tokens.counts)} passages for {file.passages}, or of another codec")
            return self._write(folder, file, codec, tokens.counts, [(tokens.numbers, tokens.codes)])
        if len(tokens) != file.passages or not all(np.isfinite(t).all() for t in tokens if t is not None):
            raise ValueError(f"token vectors of {len(tokens)} for {file.passages} passages")
        sizes = {t.shape[1] for t in tokens if t is not None}
        if not sizes:
            return file
        codec = self._codec_of(sizes.pop())
        coded = token_file.code(codec, tokens)
        return self._write(folder, file, codec, coded.counts, [(coded.numbers, coded.codes)])

    def kept(self, files: Sequence[tuple[SegmentFile, Ids]], wanted: Ids) -> Coded | None:
        """The tokens of the passages `wanted` as `files` (with their passages' ids) hold them; None: no tokens."""
        counts = np.full(len(wanted), LACKING)
        found: list[Part | None] = [None] * len(wanted)
        for file, ids in files:
            opened = self._opened(file)
            _, places, ordinals = np.intersect1d(wanted, ids, return_indices=True)
            if opened is not None and len(places):
                counts[places] = opened.counts[ordinals]
                for place, part in zip(places.tolist(), _each(opened.coded(ordinals)), strict=True):
                    found[place] = part
        parts = [part for part, count in zip(found, counts.tolist(), strict=True) if part is not None and count > 0]
        if self._codec is None or not parts:
            return None
        numbers, codes = zip(*parts, strict=True)
        return Coded(self._codec.id, counts, np.concatenate(numbers), np.concatenate(codes))

    def merged(
        self, folder: Path, made: SegmentFile, files: Sequence[SegmentFile], alive: Sequence[Mask]
    ) -> SegmentFile:
        """The segment `made` of the passages of `files` that are `alive`, with copies of their codes.

        A file that cannot be read is left out: its passages are encoded again when the library wants their tokens.
        """
        opened = [self._opened(file) for file in files]
        codec = self._codec
        if codec is None or not any(opened):
            return made
        pairs = list(zip(opened, alive, strict=True))
        counts = [np.full(int(a.sum()), LACKING) if f is None else f.counts[a] for f, a in pairs]
        parts = chain.from_iterable(f.parts(a) for f, a in pairs if f is not None)
        return self._write(folder, made, codec, np.concatenate(counts), parts)

    def completed(
        self, folder: Path, file: SegmentFile, ids: Ids, wanted: Mask, encode: Callable[[Sequence[int]], Tokens]
    ) -> tuple[SegmentFile, int]:
        """The segment with the tokens of its passages `wanted` [N] too, and how many passages were given some.

        `ids` [N] are those of its passages; `encode` gives the tokens of a few. What is there is copied.
        """
        old = self._opened(file)
        counts = np.full(file.passages, LACKING) if old is None else old.counts.copy()
        wanted = wanted & (counts == LACKING)
        given: list[Coded] = []
        ordinals = np.flatnonzero(wanted)
        for start in range(0, len(ordinals), _ENCODED):
            some = ordinals[start : start + _ENCODED]
            tokens = encode(ids[some].tolist())
            sizes = {t.shape[1] for t in tokens if t is not None}
            if sizes:
                given.append(token_file.code(self._codec_of(sizes.pop()), tokens))
                counts[some] = given[-1].counts
        if self._codec is None or not given:
            return file, 0
        parts = _interleaved(old, given, ordinals[: sum(len(c.counts) for c in given)], file.passages)
        return self._write(folder, file, self._codec, counts, parts), int((counts[ordinals] != LACKING).sum())

    def lacking(self, file: SegmentFile) -> Mask:
        """Which passages [N] of a segment have no token vectors that can be read."""
        opened = self._opened(file)
        return np.ones(file.passages, np.bool_) if opened is None else opened.counts == LACKING

    def settled(self, folder: Path, files: Sequence[SegmentFile], control: Control) -> list[SegmentFile]:
        """The segments in the codec that suits how many tokens there are: mostly just as they are.

        Raises:
            Cancelled: nothing has changed then. DiskFull, NoPermission
        """
        opened = [self._opened(file) for file in files]
        total = sum(file.tokens for file in opened if file is not None)
        old = self._codec
        if old is None or not _due(old, total):
            return list(files)
        sample = _sample([f for f in opened if f is not None], old, codecs.sample_size(total), control)
        new = codecs.train(sample, total)
        path = folder / f"codec-{new.id}.npz"
        new.save(path)
        made = []
        for file, tokens in zip(files, opened, strict=True):
            control.check()
            if tokens is not None:
                parts = token_file.recoded(tokens.parts(np.ones(file.passages, np.bool_)), old, new)
                file = self._write(folder, file, new, tokens.counts, parts)
            made.append(file)
        self._codec, self.codec_path = new, path.relative_to(self._library).as_posix()
        return made

    def _write(
        self, folder: Path, file: SegmentFile, codec: TokenCodec, counts: Counts, parts: Iterable[Part]
    ) -> SegmentFile:
        self._written += 1  # a name of its own: what is there stays the index until the commit
        path = folder / f"multi-{file.segment:06d}-{self._written}.tokens"
        digest = token_file.write(path, codec, counts, parts)
        return replace(file, multi_path=path.relative_to(self._library).as_posix(), multi_sha256=digest)

    def _opened(self, file: SegmentFile) -> TokenFile | None:
        """None for a segment without token vectors, or with such as cannot be read (`check` tells of them)."""
        if not file.multi_path:
            return None
        try:
            opened = TokenFile(self._library / file.multi_path, file.passages)
        except IndexDamaged:
            return None
        return opened if opened.codec == self._codec_of(opened.width // 2).id else None

    def _codec_of(self, dimension: int) -> TokenCodec:
        if self._codec is None:
            self._codec = Plain(dimension)
        return self._codec


def _due(codec: TokenCodec, tokens: int) -> bool:
    if isinstance(codec, Rounded) and tokens > codecs.MOST_ROUNDED:
        return True
    if isinstance(codec, Rounded | codecs.Residual):
        return tokens >= codecs.GROWTH * codec.tokens and codecs.centroid_count(tokens) > len(codec.centroids)
    return tokens >= codecs.LEAST_TOKENS


def _sample(files: Sequence[TokenFile], codec: TokenCodec, size: int, control: Control) -> Floats:
    """Token vectors [size, M] of passages chosen at random, always the same for the same index."""
    rng = np.random.default_rng(0)
    total = sum(file.tokens for file in files)
    found = []
    for file in files:
        control.check()
        coded = file.coded(rng.permutation(len(file.counts))[: max(1, -(-len(file.counts) * size // max(total, 1)))])
        found.append(codec.decode(coded.numbers, coded.codes))
    return np.concatenate(found)


def _interleaved(old: TokenFile | None, given: Sequence[Coded], ordinals: np.ndarray, passages: int) -> Iterator[Part]:
    """The tokens of all passages in order: those of `ordinals` are `given`, the others are `old`."""
    at = 0
    fresh = (part for coded in given for part in _each(coded))
    for ordinal, part in zip(ordinals.tolist(), fresh, strict=True):
        if old is not None:
            yield from old.parts(_between(passages, at, ordinal))
        yield part
        at = ordinal + 1
    if old is not None:
        yield from old.parts(_between(passages, at, passages))


def _each(coded: Coded) -> Iterator[Part]:
    ends = np.cumsum(coded.counts.clip(min=0))
    for count, end in zip(coded.counts.clip(min=0).tolist(), ends.tolist(), strict=True):
        yield coded.numbers[end - count : end], coded.codes[end - count : end]


def _between(passages: int, first: int, end: int) -> Mask:
    mask = np.zeros(passages, np.bool_)
    mask[first:end] = True
    return mask
