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
MODEL_FAILED = "answer.model-failed"
MODEL_SUPPORTED = "answer.model-supported"
WHOLE_COUNT = "answer.whole.count"
WHOLE_AT_LEAST = "answer.whole.at-least"
WHOLE_OTHER_WORDS = "answer.whole.other-words"
WHOLE_COPIES = "answer.whole.copies"
WHOLE_HELD = "answer.whole.held"
WHOLE_SO_FAR = "answer.whole.so-far"
WHOLE_BY_WORDS = "answer.whole.by-words"
WHOLE_BY_MEANING = "answer.whole.by-meaning"
WHOLE_ALL = "answer.whole.all"
WHOLE_NOWHERE = "answer.whole.nowhere"
WHOLE_MOST = "answer.whole.most"
WHOLE_SHOWN = "answer.whole.shown"
WHOLE_NO_SIDE = "answer.whole.no-side"
WHOLE_DATED = "answer.whole.dated"
WHOLE_WRITTEN = "answer.whole.written"
WHOLE_WITHIN = "answer.whole.within"
DOCUMENTS = "answer.whole.documents"
PASSAGES = "answer.whole.passages"
OLDER_VERSIONS = "answer.older-versions"
ORDERS_FOUND = "answer.orders-found"

PHRASES = {
    NOT_IN_DOCUMENTS: "Your documents do not say.",
    NO_PASSAGES: "No passage was found for this question.",
    EVIDENCE_WEAK: "The best passages found are too far from the question.",
    NAMES_MISSING: "The best passages found do not mention {missing}.",
    NO_MODEL: "No language model is installed: these are the best sentences of your documents, quoted.",
    ASKED_FOR_QUOTES: "These are the best sentences of your documents, quoted.",
    NO_SUPPORT: "These are your documents' own words: what the language model made of them was not fully supported.",
    MODEL_WEAK: "These are your documents' own words: what the language model made of them was no answer.",
    OLDER_VERSIONS: "Of documents in several versions the newest comes first.",
    ORDERS_FOUND: "A document that was found gives instructions to a language model: they were not followed.",
    MODEL_FAILED: "These are your documents' own words. {problem}",
    MODEL_SUPPORTED: "Each sentence is supported by the cited place.",
    WHOLE_COUNT: "{documents} in all, in {passages}.",
    WHOLE_AT_LEAST: "At least {documents}, in {passages}.",
    WHOLE_OTHER_WORDS: "Beside them {documents} may say it in other words, judged by meaning alone.",
    WHOLE_COPIES: "Copies and other versions are not counted: there are {number} of them.",
    WHOLE_HELD: "Found in {documents}, in {passages}.",
    WHOLE_SO_FAR: "This is not all: {read} of {matching} passages have been read so far.",
    WHOLE_BY_WORDS: "A passage matches that holds {share} or more of the words of {subject}; rare words weigh more.",
    WHOLE_BY_MEANING: "The {number} nearest in meaning were read as well.",
    WHOLE_ALL: "These are all passages of {documents}.",
    WHOLE_NOWHERE: "Found nowhere: {words}.",
    WHOLE_MOST: "{number} more passages match and were not read.",
    WHOLE_SHOWN: "Shown are the first {number} of {total}.",
    WHOLE_NO_SIDE: "Nothing was found about {side}.",
    WHOLE_DATED: "A sentence is on the timeline when it tells a date.",
    WHOLE_WRITTEN: "What the language model wrote is shown where the documents support it; the rest is quoted.",
    WHOLE_WITHIN: "Only {place} was looked at.",
}

COUNTED = {
    DOCUMENTS: ("{n} document", "{n} documents"),
    PASSAGES: ("{n} passage", "{n} passages"),
}


def say(phrase: str, **values: str) -> str:
    """The phrase of this id, its gaps filled."""
    return PHRASES[phrase].format(**values)


def counted(phrase: str, number: int) -> str:
    """A number of things."""
    one, many = COUNTED[phrase]
    return (one if number == 1 else many).format(n=number)
