"""Is a sentence borne out by its sources? Words and meaning first, then the hard facts by themselves."""

from __future__ import annotations

from core.answer.citations import Alignment
from core.answer.evidence import Evidence, whole_text
from core.answer.facts import contradicts, folded_words, names, numbers
from core.base.types import Support
from core.text.analyze import terms

FULL = 0.72  # share of the content words that suffices by itself
CLOSE_WORDS, CLOSE_MEANING = 0.5, 0.85  # fewer shared words suffice when the meaning is this close: a paraphrase
PARTLY = 0.45


def judge(text: str, alignment: Alignment, evidence: Evidence) -> Support:
    """Supported, partly or unsupported. A wrong number, a foreign name or a flipped negation is never supported."""
    if not facts_hold(text, alignment, evidence):
        return Support.UNSUPPORTED
    paraphrase = alignment.coverage >= CLOSE_WORDS and alignment.cosine >= CLOSE_MEANING
    if alignment.coverage >= FULL or paraphrase:
        return Support.SUPPORTED
    return Support.PARTLY if alignment.coverage >= PARTLY else Support.UNSUPPORTED


def facts_hold(text: str, alignment: Alignment, evidence: Evidence) -> bool:
    """Numbers stand in the cited sentences or beside them, names in the cited passages, nothing is denied."""
    return (
        numbers(text) <= _numbers(alignment, evidence)
        and not _foreign_names(text, alignment, evidence)
        and not contradicts(text, " ".join(evidence.sentences[n].text for n in alignment.sources))
    )


def _numbers(alignment: Alignment, evidence: Evidence) -> frozenset[str]:
    """Numbers of the cited sentences and their neighbours; those of the question hold in the whole passage."""
    passages = {evidence.sentences[n].passage.id: evidence.sentences[n].passage for n in alignment.sources}
    near = [
        other.text
        for n in alignment.sources
        for other in evidence.sentences[max(0, n - 1) : n + 2]
        if other.passage.id == evidence.sentences[n].passage.id
    ]
    whole = numbers("\n".join(whole_text(passage) for passage in passages.values()))
    return numbers("\n".join(near)) | (whole & numbers(evidence.question))


def _foreign_names(text: str, alignment: Alignment, evidence: Evidence) -> bool:
    """Is a name of `text` missing in the passages cited? Inflected forms are compared by their stems."""
    passages = [evidence.sentences[n].passage for n in alignment.sources]
    language = passages[0].language
    source = "\n".join(whole_text(passage) for passage in passages)
    known, stems = folded_words(source), {term.text for term in terms(source, language)}
    new = names(text, language) - known
    return any(stems.isdisjoint(term.text for term in terms(name, language)) for name in new)
