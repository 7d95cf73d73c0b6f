"""What kind of answer a question asks for, told by its question words in many languages."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache


class Wanted(StrEnum):
    """The kind of answer that a question asks for."""

    PERSON = "person"
    TIME = "time"
    NUMBER = "number"
    PLACE = "place"
    REASON = "reason"
    ANY = "any"


_ASKS = {
    Wanted.NUMBER: (
        r"\bhow (many|much|old|tall|long|far|large|big|high|deep|fast|often)\b|\bwhat (number|percent\w*|amount|"
        r"fraction|"
        r"share|population|score|cost|price|size)\b|\bwieviele?\b|\bwie (viele?|hoch|groß|alt|lang\w*|weit|oft|"
        r"teuer)\b|"
        r"\bcombien\b|\bcuánt[oa]s?\b|\bquant[oaie]\b|\bquant[oa]s\b|\bhoeveel\b|\bсколько\b|多少|几[个個年天次名位人]|"
        r"幾[個年天次名位人]|いくつ|いくら|何[人個年回本枚台つ歳名匹%メ]|どれ(くらい|ぐらい|ほど)|몇|얼마"
    ),
    Wanted.TIME: (
        r"\bwhen\b|\b(what|which) (year|date|day|month|century|decade|time)\b|\bwann\b|\bwelche[mns]? (jahr|tag|datum|"
        r"monat|jahrhundert)\w*\b|\bquand\b|\bquelle (année|date|époque)\b|\bquel (jour|mois|siècle)\b|\bcuándo\b|"
        r"\bqué (año|fecha|día|mes|siglo)\b|\bquando\b|\bwanneer\b|\bкогда\b|\bв каком году\b|什么时候|何时|何時|"
        r"哪(一)?年|哪(一)?天|几月|几年|いつ|何年|何月|何日|언제"
    ),
    Wanted.PERSON: (
        r"\bwho(m|se)?\b|\b(what|which) (person|man|woman|player|actor|actress|author|president|king|queen|"
        r"scientist)\b|\bwer\b|\bwe[nm]\b|\bwessen\b|\bqui\b(?! est-ce que)|\bquién(es)?\b|\bchi\b|\bquem\b|"
        r"\bwie\b(?= (is|was|"
        r"heeft|werd))|\bкто\b|\bкого\b|谁|誰|だれ|누구|누가"
    ),
    Wanted.PLACE: (
        r"\bwhere\b|\b(what|which) (city|country|town|state|place|region|continent|river|street|building|venue|"
        r"stadium)\b|\bwo\b|\bwohin\b|\bwoher\b|\bwelche[rnms]? (stadt|land|ort|region|staat|fluss)\b|\boù\b|"
        r"\bquel(le)? (ville|pays|lieu|région)\b|\bdónde\b|\bdove\b|\bonde\b|\bwaar\b|\bгде\b|\bкуда\b|哪里|哪裡|哪儿|"
        r"哪(个|個)(城市|国家|國家|地方)|"
        r"どこ|어디"
    ),
    Wanted.REASON: (
        r"\bwhy\b|\bwhat (caused|causes|reason)\b|\bwarum\b|\bwieso\b|\bweshalb\b|\bpourquoi\b|\bpor qué\b|\bperché\b|"
        r"\bpor que\b|\bwaarom\b|\bпочему\b|\bзачем\b|为什么|為什麼|为何|なぜ|どうして|왜"
    ),
}  # fmt: skip


@cache
def _compiled() -> tuple[tuple[Wanted, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS.items())


def wanted(question: str) -> Wanted:
    """What kind of answer `question` asks for: by the question word that stands first."""
    found = [(match.start(), kind) for kind, pattern in _compiled() if (match := pattern.search(question))]
    return min(found, key=lambda pair: pair[0])[1] if found else Wanted.ANY
