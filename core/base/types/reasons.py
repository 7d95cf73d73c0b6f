"""Why a passage matched, and the concepts of a library."""

from __future__ import annotations

from dataclasses import dataclass

from core.base.types.documents import Passage
from core.base.types.places import Span
from core.base.types.searching import ScorePart


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A query term found in a passage: its part of the BM25 score and where it stands in the passage."""

    term: str
    weight: float
    spans: tuple[Span, ...]
    added: bool = False  # not of the query: a word that its best passages share
    part_of: str = ""  # the query word that the term is a part of (of a compound)


@dataclass(frozen=True, slots=True)
class TokenAlignment:
    """A query word and the passage word nearest to it in meaning (cosine of contextual token states)."""

    query_token: str
    passage_token: str
    score: float
    span: Span


@dataclass(frozen=True, slots=True)
class ConceptPair:
    """What a concept of the query adds to a concept of the passage: activation · activation · (W_i·W_j)."""

    query_id: int
    query_label: str
    contribution: float  # in units of the dense score


@dataclass(frozen=True, slots=True)
class ConceptShare:
    """A concept's part of the dense score. `contribution` is in units of the score, `share` is of its whole.

    The contributions of `pairs`, and `rest` (what of the query no named concept holds), add up to `contribution`.
    """

    id: int
    label: str
    contribution: float
    share: float
    query_activation: float
    passage_activation: float
    spans: tuple[Span, ...] = ()  # sentences of the passage in which the concept is strongest
    words: tuple[Span, ...] = ()  # the words in them without which it would be weaker, strongest first
    pairs: tuple[ConceptPair, ...] = ()
    rest: float = 0.0


@dataclass(frozen=True, slots=True)
class AccountLine:
    """One reason in units of the hit's score. The lines of an account add up to the score.

    `kind` is word, added (a word that the best hits share), concept, common, unnamed, token, multi, rerank; of sections
    and documents others (what their further passages add) and document, of sentences sentence. `id` is the concept's.
    """

    kind: str
    channel: str
    label: str
    contribution: float
    spans: tuple[Span, ...] = ()
    id: int = -1


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a passage matched a query.

    `parts` add up to `score`. The dense score s = q·p is taken apart by the sparse autoencoder,
    p = W z + b + r: `concepts` (each z_i q·W_i), `common` (q·b: what all passages share) and `residual`
    (q·r: what the concepts leave unexplained) add up to `dense_score`. `explained_share` is the part of
    (dense_score - common) that the listed concepts carry, clipped to [0, 1].
    """

    query: str
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    terms: tuple[TermMatch, ...]
    alignment: tuple[TokenAlignment, ...]
    concepts: tuple[ConceptShare, ...]
    dense_score: float
    common: float
    residual: float
    explained_share: float
    sentence: str = ""  # the reason in one sentence
    tokens: tuple[TermMatch, ...] = ()  # shared tokens, with their parts of the score of learned words
    account: tuple[AccountLine, ...] = ()  # all channels' reasons in one list, largest first


@dataclass(frozen=True, slots=True)
class Standing:
    """How a passage stands in one channel: `rank` among all that can be found (from 1), or None beyond the candidates.

    `contribution` is its part of the passage's score, `last` that of the last hit shown, `best` that of the first.
    """

    channel: str
    score: float
    rank: int | None
    contribution: float
    last: float
    best: float


@dataclass(frozen=True, slots=True)
class Lift:
    """Something that would bring a passage up, tried out: `rank` is where it would stand, None when still nowhere.

    `kind` is word (add `what` to the question), concept (boost concept `id`), filter (leave out the filter `what`),
    channel (search by `what` alone).
    """

    kind: str
    what: str
    rank: int | None
    id: int = -1


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a passage that was expected is not among the hits, or not higher.

    `rank` is its place in the whole ranking, None when it is no candidate; `score` and `last` are its score and that of
    the last hit shown. `excluded` are the filters, phrases or exclusions that keep it out, as one writes them.
    `missing_words` are words of the question that it lacks, `missing_concepts` what the hits share and it lacks.
    `instead` says in which document equal text was shown in its place; 0 for none.
    """

    query: str
    passage: Passage
    rank: int | None
    score: float
    last: float
    standings: tuple[Standing, ...]
    excluded: tuple[str, ...] = ()
    missing_words: tuple[str, ...] = ()
    missing_concepts: tuple[ConceptShare, ...] = ()
    lifts: tuple[Lift, ...] = ()
    instead: int = 0
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    id: int
    label: str
    terms: tuple[str, ...]
    passages: int  # in how many passages it is active
    examples: tuple[int, ...]  # passage ids, strongest first
    idf: float
    quality: float = -1.0  # how often its passages are told from another (intruder test); -1 when not measured
    named_by: str = "terms"  # terms, model (a language model) or person
    hidden: bool = False  # by the person
    merged: tuple[int, ...] = ()  # ids of concepts that the person put together with this one


@dataclass(frozen=True, slots=True)
class ConceptWeight:
    """A concept with a number: how active it is in a query, how large its share of a text is.

    `passages` is in how many of the texts looked at it is active, `lift` how much more often than in the library.
    """

    id: int
    label: str
    weight: float
    passages: int = 0
    lift: float = 1.0


@dataclass(frozen=True, slots=True)
class ConceptExample:
    """A passage in which a concept is strong, and where."""

    passage: Passage
    activation: float
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptDetail:
    """A concept with its strongest passages, those it stands with, those near to it, and when its documents are from.

    `growth` are pairs of a month (ISO, 2024-05) and the number of its passages in documents of that month.
    """

    concept: Concept
    examples: tuple[ConceptExample, ...]
    together: tuple[ConceptWeight, ...]
    near: tuple[ConceptWeight, ...]
    documents: int
    growth: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptPoint:
    """A concept on the map; `x` and `y` between 0 and 1, `group` numbers concepts that lie together."""

    id: int
    label: str
    x: float
    y: float
    passages: int
    group: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A concept of two sets of documents: its share of the passages of each, and which has more beyond chance."""

    id: int
    label: str
    first: float
    second: float
    z: float  # of the difference of the shares; positive when the first has more


@dataclass(frozen=True, slots=True)
class Lens:
    """A saved way of looking: concepts that count more or less (`boosts`, 0 mutes) or must be there (`required`)."""

    id: int
    name: str
    boosts: dict[int, float]
    required: tuple[int, ...] = ()
