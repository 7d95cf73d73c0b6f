"""What the head of a mail says: words in odd encodings, people, dates, names of attachments."""

from __future__ import annotations

import email.errors
import email.header
import email.utils
import re
from collections.abc import Iterable
from email.message import Message

from core.ingest.readers.build import collapse
from core.ingest.readers.charset import decode

_BARE_WORD = re.compile(r"(=\?[\w.*-]+\?[bqBQ]\?[^?\s]*\?=)(?=[^\s])")  # words that stand too close to be seen
_SHOWN = ("From", "To", "Cc", "Date")


def header(message: Message, name: str) -> str:
    """The value of a header as text on one line; empty when there is none."""
    raw = message.get(name)
    return collapse(words(str(raw))) if raw is not None else ""


def words(raw: str) -> str:
    """Encoded words (RFC 2047) and raw bytes of any charset as text."""
    if "=?" not in raw:
        return _text(_bytes(raw), "")
    try:
        pieces = email.header.decode_header(_BARE_WORD.sub(r"\1 ", raw))
    except (ValueError, email.errors.HeaderParseError):
        return _text(_bytes(raw), "")
    return "".join(_text(b"".join(parts), charset) for parts, charset in _merged(pieces))


def _merged(pieces: Iterable[tuple[bytes | str, str | None]]) -> list[tuple[list[bytes], str]]:
    """Neighbours of one charset together: a character may be cut between two words."""
    merged: list[tuple[list[bytes], str]] = []
    for value, charset in pieces:
        data = _bytes(value) if isinstance(value, str) else value
        if merged and charset and merged[-1][1] == charset:
            merged[-1][0].append(data)
        else:
            merged.append(([data], charset or ""))
    return merged


def _bytes(raw: str) -> bytes:
    return raw.encode("utf-8", "surrogateescape")


def _text(data: bytes, charset: str) -> str:
    return text_of(data, charset) if data else ""


def text_of(data: bytes, charset: str) -> str:
    """Text in the charset that the mail declares, if it can be, else in the one it looks like."""
    declared = charset.partition("*")[0].strip().strip("\"'").lower()
    if declared in ("utf-7", "unicode-1-1-utf-7", "hz-gb-2312", "hz"):  # plain ASCII to any detection
        return data.decode("utf-7" if "7" in declared else "hz", "replace")
    if data.isascii() and b"\x1b" not in data:
        return data.decode("ascii")
    return decode(data, declared).text


def head_lines(message: Message) -> str:
    """From, to, copy and date, a line each."""
    lines = [f"{name}: {value}" for name in _SHOWN if (value := header(message, name))]
    return "\n".join(lines)


def sender(message: Message) -> str:
    """The name of who wrote it, or the address when there is no name."""
    name, address = email.utils.parseaddr(header(message, "From"))
    return name or address or header(message, "From")


def date(message: Message) -> str:
    """The date as ISO 8601, empty when it is none."""
    try:
        return email.utils.parsedate_to_datetime(header(message, "Date")).isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return ""


def attachment_name(part: Message) -> str:
    """The file name of a part (RFC 2231, RFC 2047, or neither); empty when it has none."""
    for name, field in (("filename", "content-disposition"), ("name", "content-type")):
        try:
            value = part.get_param(name, None, field)
        except (ValueError, LookupError, IndexError):
            continue
        if isinstance(value, tuple):
            charset, _, text = value
            return collapse(text_of(text.encode("latin-1", "replace"), charset or ""))
        if value:
            return collapse(words(str(value)))
    return ""
