"""The kind of a file is told by its content; names only tell kinds of plain text apart."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from core.ingest.readers.registry import FORMATS
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
        ("a.py", b'data = b"%PDF-1.4"\n', "text/x-source"),
        ("a.json", b'[{"name": "x"}]', "application/json"),
        ("a.txt", b'{"name": "x",\n "more": [1, 2]}', "application/json"),
        ("a.txt", b"[1] Smith, J. (2001). On rivers.\n[2] Ann.\n", "text/plain"),
        ("a.log", b'{"level": "info"}\n{"level": "error"}\n', "application/jsonl"),
        ("a.jsonl", b'{"level": "info"}\n', "application/jsonl"),
        ("a.csv", b"a;b\n1;2\n", "text/csv"),
        ("a.tsv", b"a\tb\n1\t2\n", "text/tab-separated-values"),
        ("a.csv", b"<!DOCTYPE html><title>Log in</title>", "text/html"),
        ("a.txt", b"id,name,town\n1,Ann,Bern\n2,Ben,Ulm\n3,Cleo,Rom\n", "text/csv"),
        ("a.xls", b"id\tname\n1\tAnn\n2\tBen\n3\tCleo\n", "text/tab-separated-values"),
        ("a.txt", b"First, we go.\nThen, we stay.\nLast, we rest.\nNow, the end.\n", "text/plain"),
        ("a.txt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "text/vtt"),
        ("a.txt", b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\nHi\r\n", "application/x-subrip"),
        ("a.rst", b"Title\n=====\n", "text/x-rst"),
        ("a.txt", b"Title\n=====\n\n.. note:: x\n\n.. image:: y\n", "text/x-rst"),
        ("a.txt", b"% comment\n\\documentclass{article}\n", "text/x-tex"),
        ("a.org", b"* Head\n", "text/x-org"),
        ("a.adoc", b"= Head\n", "text/x-asciidoc"),
        ("run", b"#!/usr/bin/env -S python3\nprint(1)\n", "text/x-source"),
        ("Makefile", b"all:\n\tcc a.c\n", "text/x-source"),
        ("a.ts", b"<?xml version='1.0'?><!DOCTYPE TS><TS></TS>", "application/xml"),
        ("a.fb2", b"<?xml version='1.0'?><FictionBook></FictionBook>", "application/x-fictionbook+xml"),
        ("a.xml", b"<note><to>Ann</to></note>", "application/xml"),
        ("a.txt", b"From ann@x.y Mon\nFrom: a@b.c\nSubject: x\n\nHello", "application/mbox"),
        ("a.mht", b"From: <saved>\nSubject: x\nDate: x\nContent-Type: multipart/related; x\n\n",
         "multipart/related"),
        ("a.eml", b"Subject: x\nTo: a@b.c\n\nHello", "message/rfc822"),
        ("a.txt", b"ID3 is a kind of tag in sound files.", "text/plain"),
        ("a.mp3", b"ID3\x04\0\0\0\0\0\0" + bytes(50), "audio/mpeg"),
        ("a.tif", b"MM\0*" + bytes(20), "image/tiff"),
        ("a.j2k", b"\xff\x4f\xff\x51" + bytes(20), "image/jp2"),
        ("a.hwp", OLE + "BodyText".encode("utf-16-le"), "application/x-hwp"),
        ("a.ott", packed(mimetype="application/vnd.oasis.opendocument.text-template"),
         "application/vnd.oasis.opendocument.text"),
        ("a.sxc", packed(mimetype="application/vnd.sun.xml.calc"), "application/vnd.oasis.opendocument.spreadsheet"),
        ("a.xlsb", office("ms-excel.sheet.binary.macroEnabled.main"),
         "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
        ("a.pages", packed(**{"Index/Document.iwa": "x"}), "application/vnd.apple.iwork"),
        ("a.txt", "Надежды на разрешение кризиса".encode("utf-16-le"), "text/plain"),
        ("a.txt", "The river rises in the spring of each year. ".encode("cp500"), "text/plain"),
    ],
)  # fmt: skip
def test_kind_by_content(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert sniff(path) == expected


def test_long_first_line_of_a_collection(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "1", "title": "", "text": "' + "word " * 50_000 + '"}\n')
    assert sniff(path) == "application/jsonl"


def test_every_format_has_words_and_old_archives_are_told(tmp_path: Path) -> None:
    for known in FORMATS:
        assert describe(known.media_type) != "a file of an unknown kind"
    header = bytearray(512)
    header[:5], header[148:156] = b"a.txt", b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = tmp_path / "old.tar"
    path.write_bytes(bytes(header) + bytes(1024))
    assert sniff(path) == "application/x-tar"


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
