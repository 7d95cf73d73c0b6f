"""What the concept pages say, in words that need no knowledge of how concepts are found."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QDate, QLocale

from app.i18n import grouped, plural, tr
from app.models.concept_entries import LIKELY, SURE, Clearness, Listing, clearness
from core.base.types import Concept, ConceptDetail, ConceptWeight, Difference

WHAT = (
    "A concept is something that several passages of your documents are about. They are found by comparing passages, "
    "on this computer; nobody chose them beforehand."
)
_CLEAR = {
    Clearness.CLEAR: "In a test, one passage that does not belong was put among nine of its own: it was found {share} "
                     "of the time (guessing finds 10 %).",
    Clearness.MIXED: "In a test, one passage that does not belong was put among nine of its own: it was found only "
                     "{share} of the time (guessing finds 10 %).",
    Clearness.WEAK: "In a test, one passage that does not belong was put among nine of its own: it was found only "
                    "{share} of the time (guessing finds 10 %). So it is not given as a reason for a match, unless you "
                    "give it a name.",
    Clearness.UNTESTED: "It was not tested how clear it is: too few passages hold it.",
}  # fmt: skip
_NAMED = {
    "terms": "Named by the words that set its passages apart.",
    "model": "Named by the language model on this computer.",
    "person": "You gave it this name.",
}


def percent(share: float) -> str:
    """A share in whole percent; a small one is never called none."""
    return tr("under 1 %") if 0 < share < 0.005 else tr("{n} %", n=round(100 * share))


def times(lift: float) -> str:
    """How often, compared with the whole library: "3.1 times as often", "as often"."""
    if 0.95 <= lift <= 1.05:
        return tr("as often as everywhere")
    figure = f"{lift:.0f}" if lift >= 10 else f"{lift:.1f}"
    return tr("{n} times as often", n=figure)


def clear_words(concept: Concept) -> str:
    return tr(_CLEAR[clearness(concept)], share=percent(concept.quality))


def named_words(concept: Concept) -> str:
    return tr(_NAMED.get(concept.named_by, _NAMED["terms"]))


def where_words(detail: ConceptDetail, passages: int) -> str:
    """In how much of the library a concept is."""
    within = tr("{n} of {m} passages", n=grouped(detail.concept.passages), m=grouped(passages))
    of = plural(detail.documents, "in {n} document", "in {n} documents")
    return f"{within}, {of}"


def weight_words(one: ConceptWeight) -> str:
    """What a row of a profile says in full."""
    passages = plural(one.passages, "{n} passage", "{n} passages")
    return tr("{name}: in {passages}, {times}", name=one.label, passages=passages, times=times(one.lift))


def sureness(difference: Difference) -> str:
    """How likely it is that a difference is more than chance."""
    if abs(difference.z) >= SURE:
        return tr("surely")
    return tr("probably") if abs(difference.z) >= LIKELY else tr("perhaps by chance")


def found_words(listing: Listing) -> str:
    """How many concepts there are, from how much, and since when."""
    shown = sum(not concept.hidden for concept in listing.concepts)
    words = plural(shown, "{n} concept", "{n} concepts")
    if listing.fitted:
        words += " " + plural(listing.fitted, "found in {n} passage", "found in {n} passages")
    day = _day(listing.created)
    return f"{words} · {day}" if day else words


def grown_words(listing: Listing) -> str:
    """What to say when the library is far larger than it was when its concepts were found; empty when it is not."""
    more = listing.passages - listing.fitted
    if not listing.fitted or more < max(20, listing.fitted // 10):
        return ""
    return plural(
        more, "{n} passage came since: what is new in it may have no concept yet.",
        "{n} passages came since: what is new in them may have no concept yet.",
    )  # fmt: skip


def search_words(concept: Concept) -> str:
    """What to search for to find a concept's passages. A person's name for it need not stand in any of them."""
    return concept.label if concept.named_by == "model" or not concept.terms else " ".join(concept.terms[:4])


def _day(created: str) -> str:
    try:
        day = date.fromisoformat(created[:10])
    except ValueError:
        return ""
    return QLocale().toString(QDate(day.year, day.month, day.day), "d MMM yyyy")
