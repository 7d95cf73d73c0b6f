"""Names of files within files: decoded, harmless, in NFC."""

from __future__ import annotations

import pytest

from core.ingest.member_names import decode_name, file_name, safe_name


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("Übersicht Bücher.txt", "cp437"),
        ("über.txt", "cp437"),
        ("résumé.doc", "cp437"),
        ("報告書/会議の記録.txt", "cp932"),
        ("年度报告/会议记录.txt", "gbk"),
        ("Отчёт за год.txt", "cp866"),
        ("Übersicht – 報告.txt", "utf-8"),
    ],
)
def test_names_of_old_code_pages_are_decoded(name: str, encoding: str) -> None:
    assert decode_name(name.encode(encoding)) == name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        (r"C:\Windows\system.ini", "Windows/system.ini"),
        (r"..\..\boot.ini", "boot.ini"),
        ("nul", "_nul"),
        ("folder/CON.txt", "folder/_CON.txt"),
        ("a\0b.txt", "ab.txt"),
        ("../..", "unnamed"),
    ],
)
def test_names_that_lead_elsewhere_are_refused_and_told(name: str, kept: str) -> None:
    safe = safe_name(name)
    assert safe.text == kept
    assert "points outside" in safe.warning


@pytest.mark.parametrize("name", ["notes.txt", "a/b c/d.txt", "console.txt", "Ordner/Äpfel.txt", "x..y/z."])
def test_harmless_names_stay(name: str) -> None:
    assert safe_name(name).text == name
    assert not safe_name(name).warning


def test_names_are_composed() -> None:
    assert safe_name("A\u0308pfel.txt").text == "Äpfel.txt"


def test_file_names_suit_every_system() -> None:
    assert file_name("folder/a<b>:c?.txt") == "a_b__c_.txt"
    assert file_name("x/COM1.txt") == "_COM1.txt"
    assert file_name("...") == "file"
    long = file_name("報" * 300 + ".pdf")
    assert len(long.encode()) <= 120
    assert long.endswith(".pdf")
