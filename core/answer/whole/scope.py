"""Where a question about the whole library looks: a document or folder that it names, found among those there are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from sqlite_utils import Database

from core.answer.whole.kinds import Plan, Whole
from core.base.files import path_shown
from core.base.types import Filters
from core.search.filters import plain_text

_FOLDER = re.compile(
    r"\b(?:folder|directory|ordner|verzeichnis|dossier|répertoire|carpeta|cartella|pasta|map|папк\w)\b|文件夹|資料夾|フォルダー?|폴더",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"\b(?:document|file|dokument|datei|fichier|documento|archivo|arquivo|bestand|документ\w*|файл\w*)\b|文件|文档|文書|문서",
    re.IGNORECASE,
)
_LEAST_NAME = 3  # letters: a shorter name stands in too many questions by chance
_SPACES = re.compile(r"[\W_]+")


def named(db: Database, plan: Plan, filters: Filters) -> tuple[Plan, Filters]:
    """The plan without the name of the document or folder that it names, and the filters that keep to it.

    A document is looked for in summaries, or where the question says that it means one; a folder where it says so.
    Of several names that fit the longest counts.
    """
    if plan.kind is Whole.COMPARE or not plan.subject:
        return plan, filters
    subject = _words(plan.subject)
    if _FOLDER.search(plan.subject):
        folder = _longest(subject, _folders(db))
        if folder:
            rest = _without(_FOLDER.sub(" ", plan.subject), folder)
            return replace(plan, subject=rest), _also(filters, Filters(folders=(folder,)))
    if plan.kind is Whole.SUMMARY or _DOCUMENT.search(plan.subject):
        known = _documents(db)
        name = _longest(subject, known)
        if name:
            rest = _without(_DOCUMENT.sub(" ", plan.subject), name)
            return replace(plan, subject=rest), _also(filters, Filters(documents=tuple(known[name])))
    return plan, filters


def _also(filters: Filters, narrower: Filters) -> Filters:
    return replace(filters, also=(*filters.also, narrower))


def _words(text: str) -> str:
    return f" {_SPACES.sub(' ', plain_text(text)).strip()} "


def _longest(subject: str, names: dict[str, list[int]]) -> str:
    fitting = [name for name in names if len(_words(name).strip()) >= _LEAST_NAME and _words(name) in subject]
    return max(fitting, key=lambda name: (len(_words(name)), name), default="")


def _without(subject: str, name: str) -> str:
    """What the subject says beside the name; empty when that is nothing but small words."""
    rest = _words(subject).replace(_words(name), " ").strip()
    return rest if any(len(word) >= _LEAST_NAME + 1 for word in rest.split()) or not rest.isascii() else ""


def _documents(db: Database) -> dict[str, list[int]]:
    """Ids of documents by title, by file name, and by file name without its ending."""
    found: dict[str, list[int]] = {}
    for number, path, external_id, title in db.execute("SELECT id, path, external_id, title FROM document").fetchall():
        last = PurePosixPath((external_id or path_shown(path)).replace("\\", "/"))
        for name in {title, last.name, last.stem} - {""}:
            found.setdefault(name, []).append(int(number))
    return found


def _folders(db: Database) -> dict[str, list[int]]:
    """Ids of documents by the name of each folder that they lie in, however deep."""
    found: dict[str, list[int]] = {}
    for number, path in db.execute("SELECT id, path FROM document").fetchall():
        for part in PurePosixPath(path_shown(path).replace("\\", "/")).parent.parts:
            if part.strip("/"):
                found.setdefault(part, []).append(int(number))
    return found
