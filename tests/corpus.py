"""A made folder of documents in several formats, about the topics that the tiny encoder knows."""

from __future__ import annotations

import random
from pathlib import Path

from tests.tiny import sentence, topics

SUFFIXES = ("txt", "md", "html", "pdf", "docx")


def make_folder(folder: Path, count: int, *, seed: int = 1, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Write `count` documents, each about one topic, in turn of the suffixes. Equal seeds give equal texts."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(topics())
    made = []
    for number in range(count):
        luck = random.Random(f"{seed}-{number}")
        topic = names[number % len(names)]
        path = folder / f"{topic}-{number:04d}.{suffixes[number % len(suffixes)]}"
        write_document(path, f"Notes on {topic} {number}", sections(topic, luck, number))
        made.append(path)
    return made


def sections(topic: str, luck: random.Random, number: int) -> list[tuple[str, list[str]]]:
    """Headings with their paragraphs; one sentence holds a code that no other document has."""
    things = topics()[topic]
    found = []
    for part in range(2):
        lines = [sentence(luck.sample(things, 3), luck).capitalize() + "." for _ in range(12)]
        if part == 0:
            lines[5] = f"The reference of this report is code{number:04d}x."
        found.append(
            (f"Part {part + 1} {luck.choice(luck.choice(things))}", [" ".join(lines[:6]), " ".join(lines[6:])])
        )
    return found


def write_document(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    _WRITERS[path.suffix[1:]](path, title, parts)


def _txt(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    body = "\n\n".join(f"{heading}\n\n" + "\n\n".join(texts) for heading, texts in parts)
    path.write_text(f"{title}\n\n{body}\n", encoding="utf-8")


def _md(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    body = "\n\n".join(f"## {heading}\n\n" + "\n\n".join(texts) for heading, texts in parts)
    path.write_text(f"# {title}\n\n{body}\n", encoding="utf-8")


def _html(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    body = "".join(f"<h2>{heading}</h2>" + "".join(f"<p>{t}</p>" for t in texts) for heading, texts in parts)
    path.write_text(
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>", encoding="utf-8"
    )


def _docx(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    import docx

    document = docx.Document()
    document.add_heading(title, 0)
    for heading, texts in parts:
        document.add_heading(heading, 1)
        for text in texts:
            document.add_paragraph(text)
    document.save(str(path))


def _pdf(path: Path, title: str, parts: list[tuple[str, list[str]]]) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer

    styles = getSampleStyleSheet()
    story: list[object] = [Paragraph(title, styles["Title"])]
    for number, (heading, texts) in enumerate(parts):
        if number:
            story.append(PageBreak())
        story.append(Paragraph(heading, styles["Heading1"]))
        for text in texts:
            story += [Paragraph(text, styles["BodyText"]), Spacer(1, 8)]
    SimpleDocTemplate(str(path), title=title, invariant=1).build(story)


_WRITERS = {"txt": _txt, "md": _md, "html": _html, "docx": _docx, "pdf": _pdf}
