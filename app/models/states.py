"""The states of documents in words, tones and groups, for badges, chips and filters."""

from __future__ import annotations

from dataclasses import dataclass

from core.base.types import Document
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
    S.UNFINISHED: StateWords(
        "Being read", "neutral", "What was read so far is found; the other pages follow by themselves."
    ),
    S.TRUNCATED: StateWords("Partly read", "warning", "The rest of the file is not searched."),
    S.EMPTY: StateWords("Empty", "neutral", "There is no text to search in it."),
    S.SCANNED: StateWords("Scanned", "warning", "Its pages are pictures. Switch on text recognition, then try again."),
    S.LOCKED: StateWords("Locked", "warning", "Unlock it to have it read."),
    S.BROKEN: StateWords("Damaged", "danger", "Open it in its own program and save it again, then try again."),
    S.UNSUPPORTED: StateWords(
        "Not supported",
        "neutral",
        "Whymatch reads documents, tables, slides, mail, books, pictures and archives.",
    ),
    S.TOO_LARGE: StateWords("Too large", "warning", "Split it into smaller files."),
    S.TIMED_OUT: StateWords("Took too long", "danger", "Try again when the computer has less to do."),
    S.CRASHED: StateWords(
        "Crashed", "danger", "Reading it ended its process; all other files are fine. Try again, or leave it out."
    ),
    S.DENIED: StateWords("No permission", "danger", "Change the rights of the file, then try again."),
    S.MISSING: StateWords("Missing", "warning", "It went away while it was read. Connect its drive, then try again."),
    S.CHANGING: StateWords("Still changing", "warning", "It was being written. Try again when that is done."),
    S.QUARANTINED: StateWords(
        "Set aside", "danger", "It ended the reading process three times. It is tried again when it changes or you ask."
    ),
    S.ONLINE_ONLY: StateWords(
        "Online only", "neutral", "Its content is with the cloud service. Make it available offline to have it read."
    ),
}

_OFFICE = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
KINDS = {
    "application/pdf": "PDF",
    f"{_OFFICE}.wordprocessingml.document": "Word",
    f"{_OFFICE}.presentationml.presentation": "PowerPoint",
    f"{_OFFICE}.spreadsheetml.sheet": "Excel",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "Excel",
    "application/msword": "Word (old)",
    "application/vnd.ms-powerpoint": "PowerPoint (old)",
    "application/vnd.ms-excel": "Excel (old)",
    f"{_ODF}.text": "OpenDocument text",
    f"{_ODF}.spreadsheet": "OpenDocument sheet",
    f"{_ODF}.presentation": "OpenDocument slides",
    "application/x-ole-encrypted": "Office (locked)",
    "application/rtf": "Rich Text",
    "application/x-hwp": "Hangul",
    "application/epub+zip": "EPUB",
    "application/x-fictionbook+xml": "FictionBook",
    "multipart/related": "Web archive",
    "message/rfc822": "Mail",
    "application/mbox": "Mailbox",
    "application/vnd.ms-outlook": "Outlook message",
    "application/zip": "ZIP archive",
    "application/x-tar": "TAR archive",
    "application/gzip": "Archive",
    "application/x-bzip2": "Archive",
    "application/x-xz": "Archive",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/csv": "Table",
    "text/tab-separated-values": "Table",
    "application/json": "JSON",
    "application/jsonl": "JSON Lines",
    "application/x-ndjson": "JSON Lines",
    "application/xml": "XML",
    "image/svg+xml": "SVG",
    "application/x-ipynb+json": "Notebook",
    "text/x-rst": "reStructuredText",
    "text/x-tex": "LaTeX",
    "text/x-org": "Org",
    "text/x-asciidoc": "AsciiDoc",
    "text/vtt": "Subtitles",
    "application/x-subrip": "Subtitles",
    "text/x-source": "Source code",
    "image/png": "Picture",
    "image/jpeg": "Picture",
    "image/gif": "Picture",
    "image/tiff": "Picture",
    "image/webp": "Picture",
    "image/bmp": "Picture",
    "image/jp2": "Picture",
}

# a mail is locked by a key, which no password opens
_KEYED = frozenset({"message/rfc822", "application/vnd.ms-outlook"})
_KEYED_ADVICE = "Open it in your mail program, which has the key, and save the text from there."


def opens_with_password(document: Document) -> bool:
    return document.state is S.LOCKED and document.media_type not in _KEYED


def advice(document: Document) -> str:
    """What can be done about the state of the document; empty when nothing needs doing."""
    locked_by_key = document.state is S.LOCKED and not opens_with_password(document)
    return _KEYED_ADVICE if locked_by_key else WORDS[document.state].advice


READABLE = frozenset({S.READ, S.TRUNCATED, S.UNFINISHED})
PROBLEMS = frozenset(S) - {S.READ, S.WAITING, S.UNFINISHED, S.UNSUPPORTED, S.EMPTY, S.ONLINE_ONLY}
SKIPPED = frozenset({S.UNSUPPORTED, S.EMPTY, S.ONLINE_ONLY})
RETRYABLE = PROBLEMS - {S.TRUNCATED, S.TOO_LARGE}
