"""The sentences that the app itself says in an answer, in one place, each with an id to translate it by."""

from __future__ import annotations

NOT_IN_DOCUMENTS = "answer.not-in-documents"
NO_PASSAGES = "answer.no-passages"
EVIDENCE_WEAK = "answer.evidence-weak"
NAMES_MISSING = "answer.names-missing"
NO_MODEL = "answer.no-model"
ASKED_FOR_QUOTES = "answer.asked-for-quotes"
NO_SUPPORT = "answer.no-support"
MODEL_WEAK = "answer.model-weak"
MODEL_SUPPORTED = "answer.model-supported"

PHRASES = {
    NOT_IN_DOCUMENTS: "Your documents do not say.",
    NO_PASSAGES: "No passage was found for this question.",
    EVIDENCE_WEAK: "The best passages found are too far from the question.",
    NAMES_MISSING: "The best passages found do not mention {missing}.",
    NO_MODEL: "No language model is installed: these are the best sentences of your documents, quoted.",
    ASKED_FOR_QUOTES: "These are the best sentences of your documents, quoted.",
    NO_SUPPORT: "These are your documents' own words: what the language model made of them was not fully supported.",
    MODEL_WEAK: "These are your documents' own words: what the language model made of them was no answer.",
    MODEL_SUPPORTED: "Each sentence is supported by the cited place.",
}


def say(phrase: str, **values: str) -> str:
    """The phrase of this id, its gaps filled."""
    return PHRASES[phrase].format(**values)
