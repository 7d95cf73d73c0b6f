r"""LaTeX text without its commands: what they print stays, what they steer goes; formulas stay as written."""

from __future__ import annotations

import re
import unicodedata

_DROPPED = (
    "label|vspace|hspace|includegraphics|input|include|bibliography|bibliographystyle|usepackage|setlength|newcommand"
    "|renewcommand|providecommand|pagestyle|thispagestyle|documentclass|index|addcontentsline|setcounter|hypersetup"
    "|definecolor|color|geometry|graphicspath|addtocounter|phantomsection|hypertarget|pgfplotsset|tikzset|DeclareMathOperator"
)
_DROPPED_COMMAND = re.compile(rf"\\(?:{_DROPPED})\*?(?![A-Za-z])\s*(?:\[[^\]]*\]|\{{[^{{}}]*\}})*")
_CITED = re.compile(r"\\(?:\w*cite\w*|\w*ref|Cref|eqref)\*?\s*(?:\[[^\]]*\])*\s*\{([^{}]*)\}")
_LINK = re.compile(r"\\href\s*\{[^{}]*\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\[[^\]]*\])?(?:\{[^{}]*\})?")
_MATH = re.compile(r"(?<!\\)\$(?:[^$\n]|\n(?!\s*\n))*\$|\\\(.*?\\\)", re.S)
_ACCENT = re.compile(r"\\([`'^\"~=.])\s*\{?\\?([A-Za-z])\}?|\\([uvHckrbd])(?:\s*\{\\?([A-Za-z])\}|\s+([A-Za-z])\b)")
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "b": "\u0331",
    "d": "\u0323",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "i": "i", "j": "j", "LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…", "textbackslash": "\\", "S": "§",
    "textendash": "–", "textemdash": "—", "euro": "€", "texteuro": "€", "pounds": "£", "copyright": "©", "quad": " ",
    "qquad": " ", "newline": "\v", "par": "\v", "and": ", ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?[^\S\n]*(?:\[[^\]\n]*\])?")
_LINE_BREAK = re.compile(r"\\\\\*?(?:\[[^\]]*\])?")
_ESCAPED = re.compile(r"\\([%&$#_{}])")


def argument(text: str, at: int) -> tuple[str, int]:
    """The group in braces that begins at `at`, and where the text goes on; braces may be nested."""
    depth = 0
    for match in re.finditer(r"\\.|[{}]", text[at : at + 20_000], re.S):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0 and match.group() == "}":
            return text[at + 1 : at + match.start()], at + match.end()
    return "", at + 1


def plain(text: str) -> str:
    """The words of `text`. A forced line break becomes a vertical tab."""
    parts, at = [], 0
    for formula in _MATH.finditer(text):
        parts += [_without_commands(text[at : formula.start()]), formula.group().replace("\n", " ")]
        at = formula.end()
    return "".join([*parts, _without_commands(text[at:])])


def _without_commands(text: str) -> str:
    for pattern in (_DROPPED_COMMAND, _LINK, _ENVIRONMENT):
        text = pattern.sub(" ", text)
    text = _ACCENT.sub(_accented, _CITED.sub(r"[\1]", text))
    text = _COMMAND.sub(lambda m: _LETTERS.get(m.group(1), ""), _LINE_BREAK.sub("\v", text))
    text = _ESCAPED.sub(lambda m: {"{": "\x00", "}": "\x01"}.get(m.group(1), m.group(1)), text)
    text = text.replace("{", "").replace("}", "").replace("\x00", "{").replace("\x01", "}")
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”").replace("~", " ")
    return re.sub(r"\\([,;:! ])", " ", text)


def _accented(match: re.Match[str]) -> str:
    sign, letter = match.group(1) or match.group(3), match.group(2) or match.group(4) or match.group(5)
    return unicodedata.normalize("NFC", letter + _ACCENTS[sign])
