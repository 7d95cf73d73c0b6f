"""The kind of a file is told by its content; names only tell kinds of plain text apart."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from core.ingest.sniff import describe, sniff


def packed(**parts: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in parts.items():
            archive.writestr("[Content_Types].xml" if name == "types" else name, text)
    return data.getvalue()


def office(kind: str) -> bytes:
    return packed(types=f'<Types><Override ContentType="application/vnd.{kind}"/></Types>')


WORD = "openxmlformats-officedocument.wordprocessingml.document.main+xml"
EXCEL = "openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", b"%PDF-1.4 ...", "application/pdf"),
        ("a.bin", b"junk before\n%PDF-1.7", "application/pdf"),
        ("a.pdf", b"Just words.", "text/plain"),
        ("a.docx", office(WORD), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.docx", office(EXCEL), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.docx", packed(readme="hello"), "application/zip"),
        ("a.docx", b"PK\x03\x04 cut off", "application/zip"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "application/x-ole-encrypted"),
        ("a.doc", OLE + "WordDocument".encode("utf-16-le"), "application/msword"),
        ("a.txt", packed(mimetype="application/epub+zip"), "application/epub+zip"),
        ("a", b"\x89PNG\r\n\x1a\n" + bytes(30), "image/png"),
        ("a.txt", bytes(range(256)) * 20, "application/octet-stream"),
        ("a.txt", "Zwei Wörter".encode("utf-16-le"), "text/plain"),
        ("a.txt", "Zwei Wörter".encode("utf-32"), "text/plain"),
        ("a.txt", "日本語の文章です。".encode("iso2022_jp"), "text/plain"),
        ("a.txt", b"MZ is how this text begins.", "text/plain"),
        ("a.exe", b"MZ\x90\0\3\0\0\0", "application/x-executable"),
        ("a.txt", b"<!DOCTYPE html><title>x</title>", "text/html"),
        ("a.txt", b"<?xml version='1.0'?>\n<!-- c --><html><body>x</body></html>", "text/html"),
        ("a.html", b"Some <b>bold</b> words <br> only", "text/html"),
        ("a.txt", b"Use <b> for bold.", "text/plain"),
        ("a.svg", b"<?xml version='1.0'?><svg></svg>", "image/svg+xml"),
        ("a.xml", b"<?xml version='1.0'?><note></note>", "application/xml"),
        ("a.md", b"Plain words.", "text/markdown"),
        ("README", b"# Title\n\n- [ ] do\n\n[link](http://x.y)\n", "text/markdown"),
        ("a.txt", b"# Title\n\n[a](b) [c](d) [e](f)\n", "text/plain"),
        ("a.txt", b'{"_id": "1", "title": "t", "text": "x"}\n', "application/jsonl"),
        ("a.jsonl", b'{broken\n{"_id": "1", "text": "x"}\n', "application/jsonl"),
        ("a.json", b'{"name": "x", "value": 1}', "application/json"),
        ("a.ipynb", b'{"cells": [], "nbformat": 4}', "application/x-ipynb+json"),
        ("a.txt", b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nHello", "message/rfc822"),
        ("a.txt", b"", "application/x-empty"),
    ],
)
def test_kind_by_content(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert sniff(path) == expected


def test_long_first_line_of_a_collection(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "1", "title": "", "text": "' + "word " * 50_000 + '"}\n')
    assert sniff(path) == "application/jsonl"


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sniff(tmp_path / "none")


@pytest.mark.parametrize(
    ("media_type", "words"),
    [
        ("image/png", "a picture"),
        ("application/vnd.oasis.opendocument.text", "an OpenDocument file"),
        ("application/x-7z-compressed", "an archive"),
        ("application/octet-stream", "a binary file"),
        ("chemical/x-pdb", "a file of an unknown kind"),
    ],
)
def test_kinds_have_words(media_type: str, words: str) -> None:
    assert describe(media_type) == words
