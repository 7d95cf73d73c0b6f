"""The states of documents in words, tones and groups, for badges, chips and filters."""

from __future__ import annotations

from dataclasses import dataclass

from core.base.types import DocumentState as S


@dataclass(frozen=True, slots=True)
class StateWords:
    """`title` on the badge, `tone` of its colour, `advice` on what can be done."""

    title: str
    tone: str
    advice: str = ""


WORDS: dict[S, StateWords] = {
    S.WAITING: StateWords("Waiting", "neutral", "It will be read when its turn comes."),
    S.READ: StateWords("Read", "success"),
    S.TRUNCATED: StateWords("Partly read", "warning", "The rest of the file is not searched."),
    S.EMPTY: StateWords("Empty", "neutral", "There is no text to search in it."),
    S.SCANNED: StateWords(
        "Scanned", "warning", "Its pages are pictures. Run text recognition on it, then add it again."
    ),
    S.LOCKED: StateWords("Locked", "warning", "It needs a password. Save a copy without one, then try again."),
    S.BROKEN: StateWords("Damaged", "danger", "Open it in its own program and save it again, then try again."),
    S.UNSUPPORTED: StateWords(
        "Not supported", "neutral", "Whymatch reads PDF, Word, HTML, Markdown, text and JSON Lines."
    ),
    S.TOO_LARGE: StateWords("Too large", "warning", "Split it into smaller files."),
    S.TIMED_OUT: StateWords("Took too long", "danger", "Try again when the computer has less to do."),
    S.CRASHED: StateWords(
        "Crashed", "danger", "Reading it ended its process; all other files are fine. Try again, or leave it out."
    ),
    S.DENIED: StateWords("No permission", "danger", "Change the rights of the file, then try again."),
    S.MISSING: StateWords("Missing", "warning", "It went away while it was read. Connect its drive, then try again."),
    S.CHANGING: StateWords("Still changing", "warning", "It was being written. Try again when that is done."),
}

KINDS = {
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "application/jsonl": "JSON Lines",
    "application/x-ndjson": "JSON Lines",
}

READABLE = frozenset({S.READ, S.TRUNCATED})
PROBLEMS = frozenset(S) - {S.READ, S.WAITING, S.UNSUPPORTED, S.EMPTY}
SKIPPED = frozenset({S.UNSUPPORTED, S.EMPTY})
RETRYABLE = PROBLEMS - {S.TRUNCATED, S.SCANNED, S.TOO_LARGE}
