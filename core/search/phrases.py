"""Phrases and excluded words of a query as the set of passages that may answer, found before any scoring.

The postings name the passages that hold all words of a phrase; their texts say whether the words stand side by side
there. Case, accents and letters' variants do not count, forms do: `"annual report"` is not in "annual reports".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

import numpy as np

from core.base.types import BM25
from core.index.snapshot import Ids, Snapshot
from core.search.syntax import ParsedQuery
from core.text.adjacent import phrase_pattern
from core.text.analyze import QueryTerm, phrase_terms, query_terms
from core.text.letters import plain

_BATCH = 500  # texts in memory at a time


def allowed(snapshot: Snapshot, parsed: ParsedQuery, languages: Sequence[str], within: Ids | None) -> Ids | None:
    """Ids of the passages among `within` (None: all) that hold what the query says they must, and nothing they must
    not, ascending; None when the query says nothing of the kind.

    `languages` are those of the library: words are looked up in the forms that each of them makes.
    """
    if not (parsed.phrases or parsed.excluded or parsed.excluded_phrases):
        return within
    found = np.sort(snapshot.ids()) if within is None else within
    for phrase in parsed.phrases:
        found = _holding(snapshot, phrase, languages, found)
    for phrase in parsed.excluded_phrases:
        found = np.setdiff1d(found, _holding(snapshot, phrase, languages, found))
    for word in parsed.excluded:
        found = np.setdiff1d(found, _with_word(snapshot, word, languages, found))
    return found


def _with_word(snapshot: Snapshot, word: str, languages: Sequence[str], within: Ids) -> Ids:
    """Those that hold a word in any of its forms, in their titles and headings too; a compound as it stands."""
    terms = query_terms(word, languages)
    if len(terms) != 1:
        return _holding(snapshot, word, languages, within)
    return np.intersect1d(within, _having(snapshot, terms[0]))


def _holding(snapshot: Snapshot, phrase: str, languages: Sequence[str], within: Ids) -> Ids:
    """Those in whose text the words of `phrase` stand side by side."""
    having = [_having(snapshot, term) for term in phrase_terms(phrase, languages)]
    maybe = reduce(np.intersect1d, sorted(having, key=len), within)
    patterns = {language: phrase_pattern(phrase, language) for language in ("", "vi")}
    batches = (maybe[start : start + _BATCH] for start in range(0, len(maybe), _BATCH))
    return np.array(sorted(i for batch in batches for i in _verified(snapshot, batch, patterns)), np.int64)


def _verified(snapshot: Snapshot, ids: Ids, patterns: dict[str, re.Pattern[str]]) -> list[int]:
    """Those of `ids` in whose text the pattern is found; there is one for each way to read accents."""
    marks = ", ".join("?" * len(ids))
    rows = snapshot.db.execute(f"SELECT id, text, language FROM passage WHERE id IN ({marks})", ids.tolist())
    return [i for i, text, language in rows if patterns.get(language, patterns[""]).search(plain(text, language))]


def _having(snapshot: Snapshot, term: QueryTerm) -> Ids:
    """Ids of the passages in whose postings one of the word's forms stands, ascending."""
    ids, _ = snapshot.sparse(BM25, [term], snapshot.passage_count)
    return np.sort(ids)
