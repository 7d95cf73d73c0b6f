"""Mail messages (EML) and saved web pages (MHTML). What is attached to a mail is read as documents of its own."""

from __future__ import annotations

import base64
import email
import email.parser
import email.policy
import io
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import IO

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.budget import SharedLimits, shared
from core.ingest.limits import Limits, Tick
from core.ingest.members import read_inner, read_member
from core.ingest.readers import mail_headers
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.charset import decode
from core.ingest.readers.html import decode_page, page_document
from core.ingest.readers.mail_body import Content, add_body, charset, content_of, is_cipher, payload

_CHUNK = 1 << 20
_COUNTED = re.compile(rb"(\d{1,10})[ \t]*\r?\n")


class _Raw(email.policy.Compat32):
    """Headers as they stand in the file: bytes beyond ASCII are decoded here, by what they look like."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return value


_POLICY = _Raw()
_ENCRYPTED = "The message is encrypted; its key is not at hand."


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """The message (title is its subject), then its attachments; of a saved web page, the page."""
    with path.open("rb") as file:
        message = parse(file, tick)
    page = _saved_page(message)
    if page is not None:
        yield _page(page, limits)
        return
    yield from read_message(message, shared(limits), tick)


def parse(file: IO[bytes], tick: Tick) -> Message:
    """The parsed message. One that is UTF-16 or UTF-32 as a whole is turned into UTF-8 first.

    In Apple's files the size of the message comes first, and data of the program behind it.
    """
    start = file.read(4096)
    if start.count(0) > len(start) // 4 or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        file = io.BytesIO(decode(start + file.read()).text.encode())
        start = file.read(4096)
    counted = _COUNTED.match(start)
    if counted:
        file = io.BytesIO((start + file.read())[counted.end() :][: int(counted.group(1))])
        start = file.read(4096)
    parser = email.parser.BytesFeedParser(policy=_POLICY)
    parser.feed(start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n \t"))
    while chunk := file.read(_CHUNK):
        tick()
        parser.feed(chunk)
    return parser.close()


def read_message(message: Message, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    content = content_of(message)
    yield _own(message, content, limits)
    for number, part in enumerate(content.attached[: limits.members], 1):
        name = mail_headers.attachment_name(part)
        if part.get_content_type() == "message/rfc822":
            yield from _forwarded(part, name, limits, tick)
            continue
        name = name or f"attachment {number}{mimetypes.guess_extension(part.get_content_type()) or ''}"
        yield from read_member(name, payload(part), limits, tick, packed=False)


def _own(message: Message, content: Content, limits: Limits) -> ReadDocument:
    subject = mail_headers.header(message, "Subject")
    builder = TextBuilder(limits.output_characters)
    builder.heading(subject, 1)
    builder.add(mail_headers.head_lines(message))
    head = builder.length
    for part in content.bodies:
        add_body(part, builder)
    warnings = []
    if len(content.attached) > limits.members:
        warnings.append(f"Only the first {limits.members:,} of {len(content.attached):,} attachments were read.")
    document = builder.build(
        title=subject,
        author=mail_headers.sender(message),
        created=mail_headers.date(message),
        warnings=tuple(warnings),
    )
    body = document.text[head:].strip()
    if (content.encrypted and not body) or is_cipher(body):
        return replace(document, text="", blocks=(), state=DocumentState.LOCKED, reason=_ENCRYPTED)
    return document


def _forwarded(part: Message, name: str, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    """A message within the message."""
    inner = part.get_payload()
    message = inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Message) else part
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64" and not message.keys():
        message = email.message_from_bytes(base64.b64decode(str(message.get_payload())), policy=_POLICY)
    name = name or f"{mail_headers.header(message, 'Subject').replace('/', '_')[:100] or 'message'}.eml"

    def read_in(inside: SharedLimits) -> Iterator[ReadDocument]:
        for document in read_message(message, inside, tick):
            yield replace(document, media_type=document.media_type or sniff.EML, reader=document.reader or "eml")

    yield from read_inner(name, read_in, limits, tick)


def _saved_page(message: Message) -> Message | None:
    """The page in a file that a browser saved (RFC 2557); None for a mail."""
    sender = mail_headers.header(message, "From").lower()
    saved = "saved by" in sender or message.get("Snapshot-Content-Location") is not None
    if not saved and (message.get("To") is not None or message.get("Received") is not None or sender):
        return None
    if message.get_content_type() == "text/html":
        return message
    if message.get_content_type() != "multipart/related":
        return None
    pages = [part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml")]
    start = str(message.get_param("start", "")) or mail_headers.header(message, "Snapshot-Content-Location")
    root = next((p for p in pages if start and start in (p.get("Content-Location"), p.get("Content-ID"))), None)
    return root or next(iter(pages), None)


def _page(page: Message, limits: Limits) -> ReadDocument:
    data, declared = payload(page), charset(page)
    return page_document(decode(data, declared) if declared else decode_page(data), limits)
