"""Language-neutral vectors: what only tells the language of a text is taken out of its dense vector.

A multilingual encoder puts texts of one language near each other, so that a question prefers passages of its own.
Each language's mean differs from the mean of all passages by an *offset*; it is subtracted from the language's
passages. From a query the span of the offsets is projected out: its language need not be known, and may be one that no
passage has. Most of the common mean goes, too, as it stands in the way of comparing what is left.

An offset that rests on few passages holds their topics as well. It is shrunk as empirical Bayes does (James & Stein
1961, Efron & Morris 1973): along each principal direction of the variation within languages by t / (t + w / n), where
w is that variation, n the number of passages and t the variance of offsets, estimated from all languages. A library of
one language, or whose languages the encoder does not tell apart, has no means: its vectors stay as they are.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import write_bytes
from core.index.generation import damaged

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LEAST_PASSAGES = 3  # of a language
CENTRED = 0.8  # of the common mean that is taken out; all of it costs a point of nDCG within one language
_ATTRACTED = 0.02  # of a larger language's passages that may lie nearer to this one's mean
_KEPT = 0.5  # of its own passages that must lie nearest to its mean, they themselves left out
_FLAT = 1e-4  # of the largest singular value: below, a direction is rounding
_DRIFT = 0.02  # of a unit vector: passages of one topic differ by ten times as much


@dataclass(frozen=True)
class Means:
    """`offsets` [L, D] of `languages` (sorted) from `centre` [D], resting on so many passages each (`counts`)."""

    languages: tuple[str, ...]
    counts: tuple[int, ...]
    offsets: Floats
    centre: Floats

    def passages(self, vectors: Floats, languages: Sequence[str]) -> Floats:
        """Neutral unit vectors [N, D] of unit vectors whose languages are told; those of others take the nearest's."""
        rows = {language: row for row, language in enumerate(self.languages)}
        known = np.array([rows.get(language, -1) for language in languages], np.int64)
        strange = np.flatnonzero(known < 0)
        known[strange] = _nearest(vectors[strange], self.centre + self.offsets)
        return _unit(vectors.astype(np.float64) - self.offsets[known] - CENTRED * self.centre.astype(np.float64))

    def queries(self, vectors: Floats) -> Floats:
        """Neutral unit vectors [N, D] of queries in any language."""
        centred = vectors.astype(np.float64) - self.centre
        left = centred - (centred @ self._span.T) @ self._span
        return _unit(left + (1.0 - CENTRED) * self.centre.astype(np.float64))

    def query_map(self) -> tuple[Doubles, Doubles]:
        """Matrix [D, D] and shift [D] with `queries(v) = unit(v @ matrix + shift)`, for those who need its gradient."""
        matrix = np.eye(len(self.centre)) - self._span.T @ self._span
        centre = self.centre.astype(np.float64)
        return matrix, (1.0 - CENTRED) * centre - centre @ matrix

    def differ(self, other: Means | None) -> bool:
        """Whether vectors made with `other` are worth making anew."""
        if other is None or self.languages != other.languages:
            return True
        moved = (self.offsets + self.centre) - (other.offsets + other.centre)
        return bool(np.linalg.norm(moved, axis=1).max() > _DRIFT)

    def same(self, other: Means | None) -> bool:
        """Whether both make the very same vectors."""
        return (
            other is not None
            and self.languages == other.languages
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.centre, other.centre)
        )

    @cached_property
    def _span(self) -> Doubles:
        """Orthonormal rows that span the offsets."""
        _, strengths, directions = np.linalg.svd(self.offsets.astype(np.float64), full_matrices=False)
        return np.asarray(directions[strengths > _FLAT * max(float(strengths[0]), 1e-12)])

    def write(self, path: Path) -> None:
        """Raises DiskFull, NoPermission."""
        buffer = io.BytesIO()
        np.savez(
            buffer, languages=np.array(self.languages), counts=np.array(self.counts, np.int64),
            offsets=self.offsets, centre=self.centre,
        )  # fmt: skip
        write_bytes(path, buffer.getvalue())


def read(path: Path, dimension: int) -> Means:
    """
    Raises:
        IndexDamaged: the file is lost or damaged, or its vectors have another dimension.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            languages, counts = tuple(found["languages"].tolist()), tuple(found["counts"].tolist())
            offsets, centre = found["offsets"], found["centre"]
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except OSError as error:
        raise from_os_error(error, path) from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise damaged(path) from error
    shapes = (offsets.shape, centre.shape, len(counts))
    if shapes != ((len(languages), dimension), (dimension,), len(languages)) or not np.isfinite(offsets).all():
        raise damaged(path, f"not {len(languages)} means of dimension {dimension}")
    return Means(languages, counts, offsets.astype(np.float32), centre.astype(np.float32))


def estimate(vectors: Floats, languages: Sequence[str], counts: Mapping[str, int] | None = None) -> Means | None:
    """The means of passages with unit `vectors` [N, D] in these `languages`; None where they are of one language.

    The passages may be a sample; `counts` are those of the whole then. The sums are taken in the order given.
    """
    told = np.array(languages)
    total = counts or Counter(languages)
    rows = {language: np.flatnonzero(told == language) for language in sorted(total) if language}
    rows = {language: found for language, found in rows.items() if len(found) >= LEAST_PASSAGES}
    x = vectors.astype(np.float64)
    kept = _told_apart({language: x[found] for language, found in rows.items()}, total)
    if len(kept) < 2:
        return None
    means = {language: found.mean(0) for language, found in kept.items()}
    weights = np.array([total[language] for language in kept], np.float64)
    centre = (weights[:, None] * np.stack(list(means.values()))).sum(0) / weights.sum()
    within = np.concatenate([found - means[language] for language, found in kept.items()])
    sizes = np.array([len(found) for found in kept.values()], np.float64)
    offsets = _shrunk(np.stack(list(means.values())) - centre, within, sizes)
    return Means(
        tuple(kept), tuple(int(n) for n in weights), offsets.astype(np.float32), centre.astype(np.float32)
    )  # fmt: skip


def _told_apart(by_language: dict[str, Doubles], total: Mapping[str, int]) -> dict[str, Doubles]:
    """Without the languages that the encoder takes for a larger one: mostly mistakes of the detection."""
    kept: dict[str, Doubles] = {}
    for language in sorted(by_language, key=lambda code: (-total[code], code)):
        own = by_language[language]
        if all(_differ(own, larger) for larger in kept.values()):
            kept[language] = own
    return dict(sorted(kept.items()))


def _differ(small: Doubles, large: Doubles) -> bool:
    """Whether the mean of `small` attracts its own passages, each left out of it, and few of `large`."""
    own, other = small.mean(0), large.mean(0)
    attracted = (_distances(large, own) < _distances(large, other)).mean()
    left_out = len(small) / (len(small) - 1) * np.sqrt(_distances(small, own))
    kept = (left_out < np.sqrt(_distances(small, other))).mean()
    return bool(attracted <= _ATTRACTED and kept >= _KEPT)


def _shrunk(offsets: Doubles, within: Doubles, sizes: Doubles) -> Doubles:
    """The offsets [L, D], each direction shrunk by what chance makes of it."""
    covariance = within.T @ within / max(len(within) - len(sizes), 1)
    values, directions = np.linalg.eigh(covariance)
    w = np.maximum(values, 0.0)
    turned = offsets @ directions
    spread = (np.square(turned).sum(1) - w.sum() / sizes).mean() / len(w)
    t = max(float(spread), 1e-12)
    return np.asarray((turned * (t / (t + w / sizes[:, None]))) @ directions.T)


def _distances(vectors: Doubles, mean: Doubles) -> Doubles:
    return np.asarray(np.square(vectors - mean).sum(1))


def _nearest(vectors: Floats, means: Floats) -> npt.NDArray[np.int64]:
    """For each vector [N, D] the row of the nearest of `means` [L, D]."""
    return np.asarray((np.square(means).sum(1) - 2 * vectors @ means.T).argmin(1), np.int64)


def _unit(vectors: Doubles) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
