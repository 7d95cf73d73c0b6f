"""Old encodings are told by the text they give: round trips of short and longer sentences in many languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ingest.limits import Limits
from core.ingest.readers.charset import decode
from core.ingest.readers.registry import read

RUSSIAN = "Весной река выходит из берегов, и жители деревни переносят лодки к самым домам."
UKRAINIAN = "Навесні річка виходить із берегів, і мешканці села переносять човни до самих хат."
GREEK = "Την άνοιξη το ποτάμι φουσκώνει και οι κάτοικοι μεταφέρουν τις βάρκες στα σπίτια."
HEBREW = "באביב הנהר עולה על גדותיו ותושבי הכפר מעבירים את הסירות אל הבתים."
ARABIC = "في الربيع يفيض النهر وينقل سكان القرية قواربهم إلى جوار البيوت."
THAI = "ในฤดูใบไม้ผลิแม่น้ำเอ่อล้นตลิ่ง ชาวบ้านย้ายเรือไปไว้ใกล้บ้าน"
JAPANESE = "春になると川の水があふれ、村の人々は舟を家のそばまで運びます。"
CHINESE = "春天河水上涨，村民们把小船搬到房屋旁边。孩子们每天步行去学校。"
TAIWANESE = "春天河水上漲，村民們把小船搬到房屋旁邊。孩子們每天步行去學校。"
KOREAN = "봄이 되면 강물이 넘쳐 마을 사람들은 배를 집 가까이로 옮긴다."
GERMAN = "Im Frühling tritt der Fluss über die Ufer, und größere Kinder gehen zu Fuß zur Schule."
FRENCH = "Au printemps, la rivière déborde et les élèves vont à pied à l'école, même très tôt."
POLISH = "Wiosną rzeka występuje z brzegów, a mieszkańcy wsi przenoszą łodzie pod same domy."
CZECH = "Na jaře se řeka vylije z břehů a děti chodí každý den pěšky do školy, i když prší."
TURKISH = "İlkbaharda ırmak taşar ve köylüler kayıkları evlerin yanına kadar taşır, öğretmen şaşırır."
LATVIAN = "Pavasarī upe iziet no krastiem, un ciema iedzīvotāji pārnes laivas pie mājām."
LITHUANIAN = "Pavasarį upė išsilieja iš krantų, ir kaimo gyventojai perneša valtis prie namų."
SMART = "“The village” carries its boats up to the houses – it’s an old habit…"

CASES = [
    (RUSSIAN, "cp1251 koi8_r cp866 mac_cyrillic iso8859_5"), (UKRAINIAN, "cp1251 koi8_u"),
    (GREEK, "cp1253 iso8859_7 cp737"), (HEBREW, "cp1255 iso8859_8 cp862"), (ARABIC, "cp1256 iso8859_6"),
    (THAI, "cp874 tis_620"), (JAPANESE, "cp932 euc_jp iso2022_jp"), (CHINESE, "gb18030"), (TAIWANESE, "big5"),
    (KOREAN, "cp949 johab iso2022_kr"), (GERMAN, "cp1252 mac_roman cp850"), (FRENCH, "cp1252 mac_roman cp850"),
    (POLISH, "cp1250 iso8859_2 cp852"), (CZECH, "cp1250 iso8859_2"), (TURKISH, "cp1254 cp857"),
    (LATVIAN, "cp1257"), (LITHUANIAN, "cp1257"), (SMART, "cp1252"),
]  # fmt: skip
PAIRS = [(text, encoding) for text, encodings in CASES for encoding in encodings.split()]


@pytest.mark.parametrize(("text", "encoding"), PAIRS, ids=lambda value: value if len(value) < 15 else "")
def test_sentences_come_back(text: str, encoding: str) -> None:
    for sample in (text, text[:40].rstrip(), f"{text}\n" * 20):
        decoded = decode(sample.encode(encoding))
        assert (decoded.text, decoded.lost) == (sample, 0)


@pytest.mark.parametrize(
    "encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32", "utf-8-sig"]
)
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, GREEK, KOREAN])
def test_unicode_with_and_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_a_long_head_in_english_does_not_hide_the_text() -> None:
    text = "This file comes from a large collection of free books.\n" * 2000 + f"{JAPANESE}\n" * 30
    assert decode(text.encode("cp932")).text == text


@pytest.mark.parametrize("encoding", ["cp037", "cp500", "cp273"])
def test_ebcdic(tmp_path: Path, encoding: str) -> None:
    text = "The river rises in spring and the village carries its boats up to the houses. It is an old habit."
    path = tmp_path / "mainframe.txt"
    path.write_bytes(f"{text}\n{text}".encode(encoding).replace(b"\x25", b"\x15"))
    (document,) = read(path, "", Limits())
    assert document.text.split("\n")[0].startswith(text)


def test_a_false_declaration_is_overruled() -> None:
    assert decode(RUSSIAN.encode("koi8_r"), "windows-1252").text == RUSSIAN
    assert decode(ARABIC.encode("cp1256"), "utf-8").text == ARABIC
    assert decode(KOREAN.encode("cp949"), "iso-8859-1").text == KOREAN
    assert decode(GERMAN.encode("cp1252"), "no-such-charset").text == GERMAN


@pytest.mark.parametrize(("word", "declared"), [("čas", "iso-8859-2"), ("ёж", "koi8-r"), ("naïve", "windows-1252")])
def test_a_declaration_decides_where_there_is_too_little_to_tell(word: str, declared: str) -> None:
    assert decode(word.encode(declared), declared).text == word


def test_what_is_lost_is_counted() -> None:
    decoded = decode((GERMAN * 20).encode() + b"\xff\xfe")
    assert decoded.lost == decoded.text.count("\ufffd") == 2
    assert "2 bytes" in decoded.warnings[0]
