"""Subtitles (WebVTT, SubRip): what is said, cues joined to sentences; the place of a block is its time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from core.base.types import ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.plain_file import load

_TIMES = re.compile(r"((?:\d+:)?\d{1,2}:\d{2})[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}[^\n]*")
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-z][^<>]*>|<\d[\d:.]*>|\{\\[^}]*\}", re.I)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&lrm;": "", "&rlm;": ""}
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_LONGEST = 600  # characters of cues joined while no sentence ends


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    begin, spoken = "", ""
    for time, text in cues(file.text.lstrip("\ufeff")):
        tick()
        if spoken.endswith(text):  # rolling captions say each line twice
            continue
        begin = begin if spoken else time
        spoken = f"{spoken} {text}".strip()
        if _SENTENCE_END.search(spoken) or len(spoken) > _LONGEST:
            builder.add(spoken, place=begin)
            spoken = ""
    builder.add(spoken, place=begin)
    title = re.match(r"WEBVTT[ \t]+-?[ \t]*([^\n]+)", file.text.lstrip("\ufeff"))
    yield file.marked(builder.build(title=title.group(1) if title else "", warnings=file.warnings))


def cues(text: str) -> Iterator[tuple[str, str]]:
    """The time at which each cue begins, and its words on one line. Notes, styles and numbers are left out."""
    for block in re.split(r"\n[^\S\n]*\n", text):
        times = _TIMES.search(block)
        if times:
            words = _plain(block[times.end() :])
            if words:
                yield times.group(1), words


def _plain(text: str) -> str:
    text = _TAG.sub("", _SPEAKER.sub(r"\1: ", text))
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return collapse(text)
