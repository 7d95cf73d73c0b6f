"""A conversation as one HTML file that fetches nothing: no script, no picture, no style from elsewhere."""

from __future__ import annotations

from html import escape

from core.store.exports.content import Content, Line, Part, Section, Source

_STYLE = """body{font:16px/1.55 system-ui,sans-serif;max-width:46em;margin:2em auto;padding:0 1em;color:#1d2430;
background:#fff}h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}h3{font-size:1em}
.how,.sources{color:#566070;font-size:.92em}blockquote{margin:.4em 0;padding:0 1em;border-left:3px solid #c9d1dc}
sup{color:#3657c4}@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#15181d}.how,.sources{color:#a3acb9}
blockquote{border-color:#444c58}sup{color:#9db4ff}}"""


def html(content: Content) -> str:
    """The whole page."""
    body = "\n".join(_section(number, section) for number, section in enumerate(content.sections, 1))
    return f"{_head(content.title)}<h1{_DIR}>{escape(content.title)}</h1>\n{body}\n</body>\n</html>\n"


def html_part(content: Content) -> str:
    """Answers without a page around them, as the clipboard takes them."""
    return "\n".join(_section(number, section) for number, section in enumerate(content.sections, 1))


_DIR = ' dir="auto"'  # each text runs its own way: left to right, or right to left


def _head(title: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )


def _section(number: int, section: Section) -> str:
    asked = f" ({section.asked})" if section.asked else ""
    parts = "\n".join(_part(number, part, section.quoted) for part in section.parts)
    return (
        f"<h2{_DIR}>{escape(section.question)}</h2>\n"
        f'<p class="how">{escape(section.how + asked)}</p>\n{parts}\n{_sources(number, section)}'
    )


def _part(number: int, part: Part, quoted: bool) -> str:
    heading = f"<h3{_DIR}>{escape(part.heading)}</h3>\n" if part.heading else ""
    if quoted:
        return heading + "\n".join(f"<blockquote{_DIR}>{_line(number, line)}</blockquote>" for line in part.lines)
    return f"{heading}<p{_DIR}>{' '.join(_line(number, line) for line in part.lines)}</p>"


def _line(number: int, line: Line) -> str:
    marks = "".join(f'<sup><a href="#s{number}-{marker}">[{marker}]</a></sup>' for marker in line.markers)
    return escape(line.text) + marks


def _sources(number: int, section: Section) -> str:
    if not section.sources:
        return ""
    seen: set[int] = set()
    rows = "\n".join(f"<li{_DIR}{_anchor(number, source, seen)}>{_source(source)}</li>" for source in section.sources)
    return f'<div class="sources">\n<p>{section.sources_title}</p>\n<ul>\n{rows}\n</ul>\n</div>'


def _anchor(number: int, source: Source, seen: set[int]) -> str:
    """A marker may have several places: its first one is where the number leads."""
    if source.marker in seen or not source.marker:
        return ""
    seen.add(source.marker)
    return f' id="s{number}-{source.marker}"'


def _source(source: Source) -> str:
    mark = f"[{source.marker}] " if source.marker else ""
    quote = f": “{escape(source.quote)}”" if source.quote else ""
    return f"{mark}{escape(source.place)}{quote}"
