"""The language of ordinary sentences is told; too little text falls back to the default."""

from __future__ import annotations

import pytest

from core.text.language import detect


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The committee agreed that the report should be published before the end of the year."),
        ("de", "Der Ausschuss war sich einig, dass der Bericht vor Ende des Jahres erscheinen soll."),
        ("fr", "Le comité a décidé que le rapport devait être publié avant la fin de l'année."),
        ("es", "El comité acordó que el informe debería publicarse antes de que termine el año."),
        ("ru", "Комитет согласился, что отчёт должен быть опубликован до конца года."),
        ("ar", "اتفقت اللجنة على نشر التقرير قبل نهاية العام الحالي وإرساله إلى جميع الأعضاء"),
        ("ja", "委員会は年末までに報告書を公表することに合意した。"),
        ("zh", "委员会同意在年底之前发表这份报告。"),
        ("ko", "위원회는 연말 이전에 보고서를 발표하기로 합의했다."),
        ("th", "คณะกรรมการตกลงว่าควรเผยแพร่รายงานก่อนสิ้นปี"),
        ("el", "Η επιτροπή συμφώνησε ότι η έκθεση πρέπει να δημοσιευθεί."),
    ],
)
def test_detects_the_language_of_a_sentence(code: str, text: str) -> None:
    assert detect(text) == code
    assert detect(f"See https://example.org/{'x' * 30} 2024: {text}") == code


@pytest.mark.parametrize("text", ["", "  ", "12345 — 2023", "Q1", "ok"])
def test_too_little_text_gives_the_default(text: str) -> None:
    assert detect(text) == ""
    assert detect(text, "de") == "de"


def test_looks_at_the_whole_of_a_long_text() -> None:
    licence = "This text is free for everybody to read and to share with others. " * 10
    body = "Der alte Mann ging am Abend durch den Wald und dachte an seine verlorene Jugend. " * 200
    assert detect(licence + body) == "de"
