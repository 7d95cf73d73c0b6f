"""Which language a source file is written in, by its name or its first line."""

from __future__ import annotations

import re

_SUFFIXES = {
    "python": "py pyi pyw pyx", "javascript": "js jsx mjs cjs", "typescript": "ts tsx mts cts", "java": "java",
    "c": "c h", "cpp": "cc cpp cxx c++ hh hpp hxx inl ipp cu cuh", "csharp": "cs", "go": "go", "rust": "rs",
    "ruby": "rb rake gemspec", "php": "php php5 phtml", "shell": "sh bash zsh ksh fish", "sql": "sql",
    "kotlin": "kt kts", "swift": "swift", "r": "r", "lua": "lua", "perl": "pl pm", "scala": "scala sc sbt",
    "css": "css scss sass less", "dart": "dart", "groovy": "groovy gradle", "objective-c": "m mm", "julia": "jl",
    "haskell": "hs", "elixir": "ex exs", "erlang": "erl hrl", "clojure": "clj cljs cljc edn", "lisp": "lisp el scm rkt",
    "fortran": "f f90 f95 f03 for", "pascal": "pas pp dpr", "visual-basic": "vb bas vbs", "powershell": "ps1 psm1",
    "batch": "bat cmd", "assembly": "asm s", "fsharp": "fs fsx", "ocaml": "ml mli", "zig": "zig", "nim": "nim",
    "solidity": "sol", "protobuf": "proto", "graphql": "graphql gql", "vue": "vue", "svelte": "svelte",
    "terraform": "tf hcl", "make": "mk mak", "cmake": "cmake", "config": "yaml yml toml ini cfg conf properties env",
    "bibtex": "bib", "verilog": "v sv", "vhdl": "vhd vhdl", "matlab": "mat",
}  # fmt: skip
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {
    "makefile": "make", "gnumakefile": "make", "dockerfile": "shell", "cmakelists.txt": "cmake", "rakefile": "ruby",
    "gemfile": "ruby", "jenkinsfile": "groovy", ".bashrc": "shell", ".zshrc": "shell", ".profile": "shell",
    ".gitignore": "config", ".editorconfig": "config",
}  # fmt: skip
_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_BY_PROGRAM = {
    "sh": "shell", "bash": "shell", "zsh": "shell", "dash": "shell", "ksh": "shell", "fish": "shell",
    "python": "python", "node": "javascript", "deno": "typescript", "ruby": "ruby", "perl": "perl", "php": "php",
    "lua": "lua", "rscript": "r",
}  # fmt: skip


def language_of(name: str, text: str = "") -> str:
    """The language of a file with this name (lower case) and beginning; empty when it is not known as source."""
    found = _BY_NAME.get(name) or _BY_SUFFIX.get(name.rpartition(".")[2] if "." in name else "")
    if found:
        return found
    program = _SHEBANG.match(text)
    return _BY_PROGRAM.get(program.group(1), "") if program else ""
