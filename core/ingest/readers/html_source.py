"""A page's source made safe for the HTML parser: its work grows with the square of how deep elements are nested."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

_DEEPEST = 1000  # elements within elements; tags further in are taken out, their text stays
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_SELF_ENDING = _VOID | frozenset(  # those that the parser closes when the next of their kind begins
    ["p", "li", "dd", "dt", "tr", "td", "th", "tbody", "thead", "tfoot", "option", "html", "body", "head", "colgroup"]
)
_RAW = frozenset(["script", "style", "textarea", "title", "xmp", "noembed"])
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)([^<>]*)>")
_CLOSED_AT_ONCE = re.compile(r"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_XHTML_START = re.compile(r"\s*<\?xml|.{0,500}?//DTD XHTML|.{0,2000}?<html[^<>]*xmlns", re.S | re.I)


def parse_page(text: str) -> LexborHTMLParser:
    """The tree of a page; a time in proportion to its length."""
    if _XHTML_START.match(text[:4000]):
        text = _CLOSED_AT_ONCE.sub(_opened_and_closed, text)
    return LexborHTMLParser(without_deep_tags(text))


def _opened_and_closed(match: re.Match[str]) -> str:
    """`<script/>`, which an HTML parser would take for the beginning of a script."""
    name, attributes = match.group(1), match.group(2)
    return match.group() if name.lower() in _VOID else f"<{name}{attributes}></{name}>"


def without_deep_tags(text: str) -> str:
    """`text` without the tags that would be nested deeper than the limit."""
    if text.count("<") < _DEEPEST:
        return text
    parts: list[str] = []
    depth = at = 0
    raw = ""  # the element whose content is no markup
    for tag in _TAG.finditer(text):
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if raw:
            raw = "" if closing and name == raw else raw
            continue
        if name in _RAW:
            raw = "" if closing else name
            continue
        if name in _SELF_ENDING or (tag.group(3).endswith("/") and ":" not in name and name in ("path", "use", "g")):
            continue
        too_deep = depth > _DEEPEST or (depth == _DEEPEST and not closing)
        depth = max(0, depth + (-1 if closing else 1))
        if too_deep:
            parts += [text[at : tag.start()], " "]
            at = tag.end()
    return "".join([*parts, text[at:]])
