"""A conversation as Markdown (CommonMark). What documents and models say stays text: it can be no picture, no link."""

from __future__ import annotations

import re

from core.store.exports.content import Content, Line, Part, Section, Source

_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~$#])")
_AT_START = re.compile(r"^(?:([-+=])|(\d{1,9})([.)]))")


def markdown(content: Content) -> str:
    parts = [f"# {escaped(content.title)}", *(text for section in content.sections for text in _section(section))]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """`text`, one line of it, so that a reader of Markdown shows it as it is."""
    text = _SPECIAL.sub(r"\\\1", text)
    return _AT_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)


def _section(section: Section) -> list[str]:
    how = f"*{escaped(section.how)}*" + (f" ({section.asked})" if section.asked else "")
    parts = [text for part in section.parts for text in _part(part, section.quoted)]
    return [f"## {escaped(section.question)}", how, *parts, *_sources(section)]


def _part(part: Part, quoted: bool) -> list[str]:
    heading = [f"### {escaped(part.heading)}"] if part.heading else []
    if quoted:
        return [*heading, "\n>\n".join(f"> {_line(line)}" for line in part.lines)]
    return [*heading, " ".join(_line(line) for line in part.lines)]


def _line(line: Line) -> str:
    marks = "".join(f"\\[{marker}\\]" for marker in line.markers)
    return f"{escaped(line.text)} {marks}".rstrip()


def _sources(section: Section) -> list[str]:
    if not section.sources:
        return []
    return [f"**{section.sources_title}**", "\n".join(f"- {_source(source)}" for source in section.sources)]


def _source(source: Source) -> str:
    number = f"\\[{source.marker}\\] " if source.marker else ""
    quote = f": “{escaped(source.quote)}”" if source.quote else ""
    return f"{number}{escaped(source.place)}{quote}"
