"""What may be written in the search box beside words."""

from __future__ import annotations

from app.i18n import tr


def syntax_hint() -> str:
    """A table in rich text, for the box's tooltip."""
    rows = [
        ('"annual report"', tr("these words side by side")),
        ('-draft &nbsp; -"old plan"', tr("without this word or phrase")),
        ("type:pdf &nbsp; in:Reports &nbsp; name:*.txt", tr("kind of file, folder, name")),
        ("title:budget &nbsp; author:Ada &nbsp; tag:work", tr("title, author, tag")),
        ("lang:de &nbsp; after:2023 &nbsp; before:2024-03", tr("language, dates")),
        ("-type:pdf", tr("everything else")),
    ]
    cells = "".join(f"<tr><td><b>{code}</b>&nbsp;&nbsp;</td><td>{said}</td></tr>" for code, said in rows)
    return f"<table cellspacing=2>{cells}</table>"
