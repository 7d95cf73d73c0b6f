"""Good text of any script reads as good; what broken fonts and wrong code pages leave does not."""

from __future__ import annotations

import random

import pytest

from core.text.quality import GOOD, quality, scripts

RIGHTS = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience "
    "and should act towards one another in a spirit of brotherhood.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison.",
    "cs": "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Čtvrtý vlk zmrzl, prst trčel z vln.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są obdarzeni rozumem.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel bírván.",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "ru": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "ar": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق، وقد وهبوا عقلًا وضميرًا وعليهم أن يعامل بعضهم بعضًا.",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。PDFファイルの第3章。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 이성과 양심을 부여받았다.",
}
ODD_BUT_GOOD = {
    "numbers": "\n".join(f"{n * 7919 % 1000} {n * 31 % 97}.{n % 10} -{n} {n}%" for n in range(200)),
    "code": "def f(xs: list[int]) -> int:\n    return sum(x ** 2 for x in xs if x % 2 == 0)\n\nclass HttpServer:\n"
    "    def __init__(self, host, port):\n        self._sock = socket.create_server((host, port))\n",
    "formulae": "∑ᵢ xᵢ² ≤ ‖w‖₂ · √n, α + β ≥ γ ⇒ ∃x: f(x) = 0; 5 μm, 3 Ω, Δt = 0.5 s, E = mc²",
    "abbreviations": "Dr. Ph.D., HTTP, TCP/IP, XML, PDF, DHCP, BBC, NVIDIA, WWW, SQL, MHz, GmbH & Co. KG, vs., pp. 12",
    "short": "Xqzr",
    "page number": "17",
    "nothing": "",
    "bullets": "\uf0b7 First of all, the rights\n\uf0b7 Then the duties of everybody\n\uf0b7 At last the rest of it",
    "single letters": "a b c d e f g h i j k l m n o p",
}


def shifted(text: str, by: int = -29) -> str:
    """What a font leaves whose numbers of glyphs are taken for characters."""
    return "".join(chr(ord(c) + by) if ord(c) + by > 32 and not c.isspace() else c for c in text)


@pytest.mark.parametrize("text", RIGHTS.values(), ids=RIGHTS)
def test_good_text(text: str) -> None:
    assert quality(text) >= 0.75
    assert quality(text * 20) >= 0.75


@pytest.mark.parametrize("text", ODD_BUT_GOOD.values(), ids=ODD_BUT_GOOD)
def test_text_that_is_odd_but_good(text: str) -> None:
    assert quality(text) >= GOOD + 0.1


@pytest.mark.parametrize("language", ["en", "de", "fr", "cs", "pl", "hu"])
def test_letters_in_the_place_of_others(language: str) -> None:
    text = RIGHTS[language] * 3
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert quality(shifted(text)) < GOOD
    found = []
    for seed in range(20):
        mixed = "".join(random.Random(seed).sample(letters, 26))
        found.append(quality(text.lower().translate(str.maketrans(letters, mixed))))
    assert sum(value < GOOD for value in found) >= 15  # letters may change places with their like


@pytest.mark.parametrize(
    "text",
    [
        RIGHTS["ru"].encode("cp1251").decode("latin-1") * 2,  # another code page
        "".join(chr(0xE000 + ord(c) % 96) for c in RIGHTS["en"]),
        RIGHTS["en"][:60] + "\ufffd" * 30,
        " ".join(word[:2] + "жд" + word[2:] for word in RIGHTS["en"].split()),
        " ".join(RIGHTS["en"].replace(" ", "")) * 3,  # torn apart
        "ISSUE Date˖2019-4-25 Buyer˖哾㦓",
    ],
    ids=["code page", "private use", "replaced", "mixed scripts", "torn", "glyph numbers"],
)
def test_garbage(text: str) -> None:
    assert quality(text) < GOOD


def test_scripts_are_counted() -> None:
    found = scripts(RIGHTS["ru"] + " etc.")
    assert found.most_common(1)[0][0] == "CYRILLIC"
    assert found["LATIN"] == 3
