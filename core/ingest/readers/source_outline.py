"""Where a source file defines classes and functions."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LONGEST_LINE = 300
_DEEPEST = 6
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|open|sealed|virtual"
    r"|extern|inline|const|unsafe|pub(?:\([a-z]+\))?|local|partial|data|case|lazy|suspend|readonly|synchronized|native"
    r"|mutating|fileprivate|declare|implicit|friend|constexpr|global)\s+)*"
)
_TYPE = (
    rf"{_MODIFIERS}(class|interface|enum|struct|trait|impl|namespace|module|record|object|protocol|extension|actor"
    r"|union|mod|message|service|type)\s+([A-Za-z_][\w.:<>$']*)"
)
_FUNCTION = (
    rf"{_MODIFIERS}(def|defp|defmacro|defmodule|function|func|fn|fun|sub|proc|procedure|rpc|macro)\s*\*?\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w.:$!?']*)"
)
_ASSIGNED = (
    rf"{_MODIFIERS}(?:(let|var|const)\s+)?([A-Za-z_$][\w.$]*)\s*(?:=|<-|:)\s*(?:async\s+)?"
    r"(?:function\b|\([^()]*\)\s*(?::\s*[\w<>\[\]]+\s*)?=>|\w+\s*=>)"
)
_METHOD = (
    r"(?:(?:async|static|get|set|public|private|protected|readonly)\s+)*()(\#?[A-Za-z_$][\w$]*)\s*\([^()]*\)\s*"
    r"(?::\s*[\w<>\[\]| ]+)?\{\s*$"
)
_C_FUNCTION = r"()(?:[\w:<>\[\],~@.]+[\s*&]+)+([A-Za-z_~][\w:~]*)\s*\([^;]*$"
_SHELL = r"(function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?"
_SQL = (
    r"(?i:(create\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?(?:table|view|function|procedure|trigger|index|type|schema))"
    r"\s+(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]+))"
)
_SECTION = r"()\[+([^\[\]]+)\]+\s*$"
_TERRAFORM = r"(resource|module|variable|data|output|provider)\s+(\"[^{]+)"
_BASIC = r"(?i:(?:(?:public|private|friend|shared)\s+)*(sub|function|class|module|property\s+\w+)\s+(\w+))"

_BRACES = (_TYPE, _FUNCTION)
_PATTERNS: dict[str, tuple[str, ...]] = {
    "javascript": (*_BRACES, _ASSIGNED, _METHOD), "typescript": (*_BRACES, _ASSIGNED, _METHOD),
    "vue": (*_BRACES, _ASSIGNED, _METHOD), "svelte": (*_BRACES, _ASSIGNED, _METHOD),
    "java": (_TYPE, _C_FUNCTION), "csharp": (_TYPE, _C_FUNCTION), "c": (_TYPE, _C_FUNCTION),
    "cpp": (_TYPE, _C_FUNCTION), "dart": (_TYPE, _C_FUNCTION), "groovy": (*_BRACES, _C_FUNCTION),
    "objective-c": (_C_FUNCTION,), "shell": (_SHELL,), "sql": (_SQL,), "config": (_SECTION,),
    "terraform": (_TERRAFORM,),
    "r": (_ASSIGNED,), "visual-basic": (_BASIC,), "css": (), "make": (), "cmake": (), "batch": (), "bibtex": (),
}  # fmt: skip
_NO_NAMES = frozenset(
    ["if", "for", "while", "switch", "return", "else", "catch", "new", "throw", "do", "foreach", "using", "lock",
     "when", "match", "with", "await", "yield", "case", "sizeof", "in", "of", "not", "and", "or", "typeof", "delete"]
)  # fmt: skip
_ABOVE = re.compile(r"\s*(?://|#(?!include|define|if|endif|pragma)|\*|/\*|--|;|@|\[\w)")  # comments and annotations


@dataclass(frozen=True, slots=True)
class Definition:
    """Begins at `line` (from 0), with the comments above it; `level` is 1 for the outermost."""

    line: int
    level: int
    label: str


def outline(lines: Sequence[str], language: str) -> list[Definition]:
    """Definitions in order. A file that its own language cannot parse is cut at lines that look like definitions."""
    if language == "python":
        try:
            return list(_python(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # of an older Python, or a piece of one
    return list(_by_lines(lines, _PATTERNS.get(language, _BRACES)))


def _python(lines: Sequence[str]) -> Iterator[Definition]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the code that is read, such as invalid escapes
        tree = ast.parse("\n".join(lines))

    def inside(body: Sequence[ast.stmt], level: int) -> Iterator[Definition]:
        for node in body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
                word = "class" if isinstance(node, ast.ClassDef) else "def"
                yield Definition(_with_comments(lines, first), level, f"{word} {node.name}")
                if isinstance(node, ast.ClassDef) and level < _DEEPEST:
                    yield from inside(node.body, level + 1)
            elif isinstance(node, (ast.If, ast.Try)):
                yield from inside(node.body, level)

    # two definitions on one line begin at the same place: the later stands for both
    return iter({definition.line: definition for definition in inside(tree.body, 1)}.values())


def _by_lines(lines: Sequence[str], patterns: Sequence[str]) -> Iterator[Definition]:
    """Depth by indentation: what stands further right than a definition above belongs to it."""
    if not patterns:
        return
    compiled = [re.compile(r"\s*" + pattern) for pattern in patterns]
    above: list[int] = []
    last = -1
    for number, line in enumerate(lines):
        label = _label(line, compiled) if len(line) <= _LONGEST_LINE else ""
        if not label:
            continue
        wide = line.expandtabs(4)
        indent = len(wide) - len(wide.lstrip())
        while above and above[-1] >= indent:
            above.pop()
        start = max(_with_comments(lines, number), last + 1)
        above.append(indent)
        yield Definition(start, min(len(above), _DEEPEST), label)
        last = number


def _label(line: str, patterns: Sequence[re.Pattern[str]]) -> str:
    first = line.split(None, 1)[0].rstrip("({") if line.strip() else ""
    if first in _NO_NAMES or line.lstrip().startswith(("//", "*", "/*", "--")):
        return ""
    for pattern in patterns:
        match = pattern.match(line)
        if match and match.group(2) not in _NO_NAMES:
            return f"{match.group(1) or ''} {match.group(2)}".strip().strip('"')
    return ""


def _with_comments(lines: Sequence[str], line: int) -> int:
    """The line where the comments right above `line` begin."""
    while line > 0 and _ABOVE.match(lines[line - 1]):
        line -= 1
    return line
