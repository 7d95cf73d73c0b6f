"""Search by words strengthened, beside the same search without: RM3 feedback, and doc2query expansion.

RM3 adds to a query what its best passages share, and searches again (Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004).
doc2query adds to a passage questions that it answers (Nogueira et al. 2019); those that do not fit it make it worse, so
the weakest are left out (doc2query--, Gospodinov et al. 2023). What meaning sees of a passage stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from core.base.events import Control, Listener, ignore
from core.base.types import BM25, FUSED
from core.encode.encoder import Encoder, input_text
from core.evaluate.datasets import Dataset
from core.evaluate.kept_vectors import KeptVectors
from core.evaluate.run import MEASURES, Evaluation, comparisons, evaluate_encoder
from core.evaluate.significance import compare
from core.search.fuse import DEFAULT, Fusing

RM3: Final = "rm3"
DOC2QUERY: Final = "doc2query"
KEPT_SHARE = 0.7  # of the written questions, the best ones over the whole collection

Expansion = Mapping[str, Sequence[str]]  # a document's id -> questions that it answers


def fitting(dataset: Dataset, questions: Expansion, encoder: Encoder, *, share: float = KEPT_SHARE,
            control: Control | None = None) -> dict[str, tuple[str, ...]]:  # fmt: skip
    """The `share` of all questions that are nearest to their passages in meaning; a document may lose all of its own.

    Raises:
        ValueError: a share outside of 0 to 1.
        Cancelled
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a share of {share}")
    texts = {one.id: input_text((), one.text, one.title) for one in dataset.corpus if questions.get(one.id)}
    pairs = [(id, question) for id in texts for question in questions[id]]
    if not pairs:
        return {}
    passages = dict(zip(texts, encoder.encode(list(texts.values()), control=control), strict=True))
    asked = encoder.encode([question for _, question in pairs], kind="query", control=control)
    scores = np.array([float(vector @ passages[id]) for (id, _), vector in zip(pairs, asked, strict=True)])
    best = np.argsort(-scores, kind="stable")[: round(share * len(pairs))]
    kept: dict[str, tuple[str, ...]] = {}
    for place in sorted(best.tolist()):
        id, question = pairs[place]
        kept[id] = (*kept.get(id, ()), question)
    return kept


def strengthened(
    plain: Evaluation, dataset: Dataset, encoder: Encoder, *, rm3: bool = False, questions: Expansion | None = None,
    measures: Sequence[str] = MEASURES, control: Control | None = None, listener: Listener = ignore,
    fusing: Fusing | None = None, kept: KeptVectors | None = None,
) -> Evaluation:  # fmt: skip
    """`plain` with further channels: "bm25+rm3", "bm25+doc2query", "bm25+doc2query+rm3", and "fused+doc2query" where
    `plain` has a fused ranking. Each is compared with what it strengthens, on the same queries.

    `plain` is of a throw-away library of `dataset`, made by `encoder` with the same `fusing`.

    Raises:
        BadDataset, BadSetting, Cancelled, DiskFull
    """
    alone = replace(fusing or DEFAULT, alone=True)

    def measure(channels: Sequence[str], fusing: Fusing | None, expansion: Expansion | None) -> Evaluation:
        return evaluate_encoder(
            dataset, encoder, channels, measures=measures, control=control, listener=listener, fusing=fusing,
            kept=kept, clock=False, expansion=expansion,
        )  # fmt: skip

    found: dict[str, tuple[str, Evaluation]] = {}
    if rm3:
        found[f"{BM25}+{RM3}"] = BM25, measure((BM25,), alone, None)
    if questions is not None:
        both = [channel for channel in (BM25, FUSED) if channel == BM25 or channel in plain.values]
        expanded = measure(both, fusing, questions)
        found |= {f"{channel}+{DOC2QUERY}": (channel, expanded) for channel in both}
    if rm3 and questions is not None:
        found[f"{BM25}+{DOC2QUERY}+{RM3}"] = BM25, measure((BM25,), alone, questions)
    return beside(plain, found)


def beside(plain: Evaluation, variants: Mapping[str, tuple[str, Evaluation]]) -> Evaluation:
    """`plain` with the channels of other evaluations of the same queries under names of their own, before its last.

    Each name stands for a channel of an evaluation, and is compared with the channel of that name in `plain`, too.
    """
    last = list(plain.values)[-1]
    order = [*(name for name in plain.values if name != last), *variants, last]
    of = {name: (name, plain) for name in plain.values} | dict(variants)

    def taken(part: str) -> dict[str, Any]:
        return {name: getattr(of[name][1], part)[of[name][0]] for name in order}

    values = taken("values")
    measure = next(iter(values[last]))
    own = [
        compare(name, channel, measure, values[name][measure], values[channel][measure])
        for name, (channel, _) in variants.items()
        if channel in values and channel != last
    ]
    return replace(
        plain, channels=taken("channels"), intervals=taken("intervals"), values=values, runs=taken("runs"),
        comparisons=(*comparisons(values), *own),
    )  # fmt: skip
