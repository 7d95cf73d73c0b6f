"""Words that stand side by side, in plain letters and in the forms they are written in."""

from __future__ import annotations

import re
from itertools import pairwise

from core.text import tokens
from core.text.letters import plain
from core.text.normalize import mark_ranges


def phrase_pattern(phrase: str, language: str) -> re.Pattern[str]:
    """Finds the words of `phrase` side by side in the `plain` text of a passage in `language`.

    Signs and line breaks between words do not count. Words begin and end where the phrase says; characters of scripts
    without spaces may have others around them. A phrase without words is found everywhere.
    """
    between = rf"(?:[^\w{mark_ranges()}]|_)"
    found = tokens.pieces(plain(phrase, language))
    parts = [rf"{between}*".join(map(re.escape, p)) if u else rf"{between}+".join(map(re.escape, p)) for p, u in found]
    pattern = "".join(parts[:1])
    for ((_, before), (_, after)), part in zip(pairwise(found), parts[1:], strict=True):
        pattern += between + ("*" if before or after else "+") + part
    if found and not found[0][1]:
        pattern = rf"(?<!{tokens.letter()})(?<![{mark_ranges()}])" + pattern
    if found and not found[-1][1]:
        pattern += rf"(?!{tokens.letter()})(?![{mark_ranges()}])(?!\+\+|#)"
    return re.compile(pattern)
