"""The readable text of a mail, and what is attached to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message

from selectolax.lexbor import LexborHTMLParser

from core.base.types import BlockKind
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.html import decode_page, walk
from core.ingest.readers.mail_headers import attachment_name, header, text_of

_DEEPEST = 60  # parts within parts
_SMALL_PICTURE = 20_000  # bytes; smaller ones that the text shows are logos and signatures
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_CONTENT_ID = re.compile(r"cid:([^\s\"'>)]+)", re.I)
_SIGNED = ("signed-data", "certs-only", "compressed-data")


@dataclass(slots=True)
class Content:
    """`plain` and `html` are the text parts to show, in order; `encrypted` when what there is cannot be read."""

    bodies: list[Message] = field(default_factory=list)
    attached: list[Message] = field(default_factory=list)
    encrypted: bool = False


def content_of(message: Message) -> Content:
    """Sort the parts of `message` into text to show and attachments."""
    content = Content()
    _sort(message, content, 0)
    shown = _shown_pictures(message)
    content.attached = [part for part in content.attached if not _is_decoration(part, shown)]
    return content


def _sort(part: Message, content: Content, depth: int) -> None:
    kind = part.get_content_type()
    children = part.get_payload() if part.is_multipart() else None
    if kind == "multipart/encrypted" or _is_enveloped(part, kind):
        content.encrypted = True
    elif kind == "message/rfc822" and depth:
        content.attached.append(part)
    elif isinstance(children, list) and depth < _DEEPEST:
        _sort_children(kind, [child for child in children if isinstance(child, Message)], content, depth)
    elif _is_body(part, kind, depth):
        content.bodies.append(part)
    elif not kind.endswith(("pgp-signature", "pkcs7-signature", "pgp-encrypted")):
        content.attached.append(part)


def _sort_children(kind: str, children: list[Message], content: Content, depth: int) -> None:
    if kind == "multipart/alternative":
        options = [Content() for _ in children]
        for child, option in zip(children, options, strict=True):
            _sort(child, option, depth + 1)
        best = _best([option for option in options if option.bodies])
        content.bodies += best.bodies if best else []
        for option in options:
            content.attached += option.attached
            content.encrypted = content.encrypted or option.encrypted
        return
    for child in children:
        _sort(child, content, depth + 1)


def _best(options: list[Content]) -> Content | None:
    """The plain text, unless the page says much more ("your program cannot show this message")."""
    if not options:
        return None
    plain = next((o for o in options if all(p.get_content_type() != "text/html" for p in o.bodies)), None)
    page = next((o for o in reversed(options) if o is not plain), None)
    if plain is None or page is None:
        return plain or page
    return plain if 2 * _length(plain) >= _length(page) else page


def _length(option: Content) -> int:
    builder = TextBuilder(1_000_000)
    for part in option.bodies:
        add_body(part, builder)
    return builder.length


def _is_enveloped(part: Message, kind: str) -> bool:
    if kind not in ("application/pkcs7-mime", "application/x-pkcs7-mime"):
        return False
    return str(part.get_param("smime-type", "enveloped-data")).lower() not in _SIGNED


def _is_body(part: Message, kind: str, depth: int) -> bool:
    if not kind.startswith("text/") and not (depth == 0 and kind.startswith(("multipart/", "message/"))):
        return kind in ("message/delivery-status", "message/disposition-notification")
    if depth and (part.get_content_disposition() == "attachment" or attachment_name(part)):
        return False
    return kind not in ("text/calendar", "text/vcard", "text/x-vcard", "text/csv")


def _shown_pictures(message: Message) -> set[str]:
    """The content ids that pages in the message refer to, also those not chosen as its body."""
    pages = [payload(part).decode("latin-1") for part in message.walk() if part.get_content_type() == "text/html"]
    return {name.lower() for page in pages for name in _CONTENT_ID.findall(page)}


def _is_decoration(part: Message, shown: set[str]) -> bool:
    if part.get_content_maintype() != "image" or len(payload(part)) >= _SMALL_PICTURE:
        return False
    return header(part, "Content-ID").strip("<> ").lower() in shown


def payload(part: Message) -> bytes:
    """The bytes of a part that is no multipart."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def charset(part: Message) -> str:
    """The charset a part declares, whatever it is worth."""
    value = part.get_param("charset", "")
    return str(value[2] if isinstance(value, tuple) else value)


def add_body(part: Message, builder: TextBuilder) -> None:
    """The text of one part as blocks."""
    if part.get_content_type() == "text/html":
        declared = charset(part)
        data = payload(part)
        page = text_of(data, declared) if declared else decode_page(data).text
        add_page(page, builder)
        return
    text = text_of(_plain_payload(part), charset(part)).replace("\r\n", "\n").replace("\r", "\n")
    if str(part.get_param("format", "")).lower() == "flowed":
        text = unflow(text, str(part.get_param("delsp", "")).lower() == "yes")
    add_plain(text, builder)


def add_page(page: str, builder: TextBuilder) -> None:
    """The text of an HTML body as blocks."""
    tree = LexborHTMLParser(page)
    if tree.body is not None:
        walk(tree.body, builder)


def add_plain(text: str, builder: TextBuilder) -> None:
    """Paragraphs of plain text; what is quoted from other mails as quotes."""
    for paragraph in _PARAGRAPHS.split(text):
        for lines, quoted in _runs(paragraph.split("\n")):
            builder.add("\n".join(lines), BlockKind.QUOTE if quoted else BlockKind.PARAGRAPH)


def _runs(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    run: list[str] = []
    for line in lines:
        if run and line.startswith(">") != run[0].startswith(">"):
            yield run, run[0].startswith(">")
            run = []
        run.append(line)
    if run:
        yield run, run[0].startswith(">")


def unflow(text: str, delete_space: bool) -> str:
    """Lines that were broken only for the way put together again (RFC 3676)."""
    flowed: list[str] = []
    open_depth = -1  # depth of quoting of the line that goes on; -1 when none does
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        if depth == open_depth and content != "-- ":
            flowed[-1] += content
        else:
            flowed.append(("> " if depth else "") + content)
        goes_on = content.endswith(" ") and content != "-- "
        open_depth = depth if goes_on else -1
        if goes_on and delete_space:
            flowed[-1] = flowed[-1][:-1]
    return "\n".join(flowed)


def _plain_payload(part: Message) -> bytes:
    """Also of parts whose declared structure is not there: their raw text."""
    if part.is_multipart():
        inner = [p.as_string() for p in part.get_payload() if isinstance(p, Message)]
        return "\n\n".join(inner).encode("utf-8", "replace")
    return payload(part)


def is_cipher(text: str) -> bool:
    """Whether all the text there is, is an encrypted message (PGP)."""
    return collapse(text).startswith("-----BEGIN PGP MESSAGE-----")
