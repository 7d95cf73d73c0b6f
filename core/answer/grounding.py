"""Is a sentence borne out by its sources? Words and meaning first, then the hard facts by themselves."""

from __future__ import annotations

from core.answer.citations import Alignment
from core.answer.evidence import Evidence, whole_text
from core.answer.facts import contradicts, folded_words, names, numbers
from core.answer.relations import turned_round
from core.base.types import Support
from core.text.analyze import terms

FULL = 0.72  # share of the content words that suffices by itself
CLOSE_WORDS, CLOSE_MEANING = 0.5, 0.85  # fewer shared words suffice when the meaning is this close: a paraphrase
PARTLY = 0.45


def judge(text: str, alignment: Alignment, evidence: Evidence) -> Support:
    """Supported, partly or unsupported. A wrong number, a foreign name, a flipped negation or a relation turned round
    is never supported."""
    if not facts_hold(text, alignment, evidence):
        return Support.UNSUPPORTED
    paraphrase = alignment.coverage >= CLOSE_WORDS and alignment.cosine >= CLOSE_MEANING
    if alignment.coverage >= FULL or paraphrase:
        return Support.SUPPORTED
    return Support.PARTLY if alignment.coverage >= PARTLY else Support.UNSUPPORTED


def facts_hold(text: str, alignment: Alignment, evidence: Evidence) -> bool:
    """Numbers stand in the cited sentences or beside them, names in the cited passages, nothing is denied or turned
    round."""
    cited = [evidence.sentences[n] for n in alignment.sources]
    source = " ".join(sentence.text for sentence in cited)
    return (
        numbers(text) <= _numbers(alignment, evidence)
        and _bound(text, alignment, evidence)
        and not _foreign_names(text, alignment, evidence)
        and not contradicts(text, source)
        and not turned_round(text, source, cited[0].passage.language)
    )


def _numbers(alignment: Alignment, evidence: Evidence) -> frozenset[str]:
    """Numbers of the cited sentences and their neighbours; those of the question hold in the whole passage."""
    passages = {evidence.sentences[n].passage.id: evidence.sentences[n].passage for n in alignment.sources}
    near = _near(alignment, evidence)
    whole = numbers("\n".join(whole_text(passage) for passage in passages.values()))
    return numbers("\n".join(near)) | (whole & numbers(evidence.question))


def _near(alignment: Alignment, evidence: Evidence) -> list[str]:
    """The cited sentences and their neighbours in the passage."""
    return [
        other.text
        for n in alignment.sources
        for other in evidence.sentences[max(0, n - 1) : n + 2]
        if other.passage.id == evidence.sentences[n].passage.id
    ]


def _bound(text: str, alignment: Alignment, evidence: Evidence) -> bool:
    """Does each number belong to the names it is told of? "The Merganser 62, the Dabchick 45" is no source for
    "the Dabchick 62": a number's sentence must speak of the name before it, unless it names nobody, and a name that
    has numbers of its own there must have one of those in the text."""
    language = evidence.sentences[alignment.sources[0]].passage.language if alignment.sources else ""
    told, found = numbers(text) - numbers(evidence.question), names(text, language)
    if not told or not found:
        return True
    near = [(numbers(s), folded_words(s), names(s, language)) for s in _near(alignment, evidence)]
    for number, name in _owners(text, told, found):
        holders = [(words, named) for held, words, named in near if number in held]
        if holders and all(named and name not in words for words, named in holders):
            return False
    for name in found:
        own = frozenset[str]().union(*(held for held, words, _ in near if name in words))
        if own and not own & told:
            return False
    return True


def _owners(text: str, told: frozenset[str], found: frozenset[str]) -> list[tuple[str, str]]:
    """Each told number with the last name before it, or the first name of all."""
    words = text.split()
    named = [(n, name) for n, word in enumerate(words) for name in found & folded_words(word)]
    if not named:
        return []
    return [
        (number, next((name for at, name in reversed(named) if at < n), named[0][1]))
        for n, word in enumerate(words)
        for number in told & numbers(word)
    ]


def _foreign_names(text: str, alignment: Alignment, evidence: Evidence) -> bool:
    """Is a name of `text` missing in the passages cited? Inflected forms are compared by their stems."""
    passages = [evidence.sentences[n].passage for n in alignment.sources]
    language = passages[0].language
    source = "\n".join(whole_text(passage) for passage in passages)
    known, stems = folded_words(source), {term.text for term in terms(source, language)}
    new = names(text, language) - known
    return any(stems.isdisjoint(term.text for term in terms(name, language)) for name in new)
