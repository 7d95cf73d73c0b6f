"""The hard facts of a sentence, compared by themselves: numbers, dates, names, negations.

A sentence may be close in words and in meaning to its source and still be false in one of these. So each is looked up
by its own rule: a number of the answer must stand in the source, a name must too, and what the source denies the
answer must not claim.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from core.answer.words import is_function_word

_FRACTIONS = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75", "⅓": ".333", "⅔": ".667"})
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?![\d])(?:[.,]\d+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_NUMBER_WORDS = {
    "0": "zero null zéro cero ноль",
    "2": "two twice second zwei zweite zweiten zweiter deux deuxième dos segundo segunda due два две",
    "3": "three third thirds drei dritte dritten dritter trois troisième tres tercero tercera tre три",
    "4": "four fourth vier vierte vierten vierter quatre quatrième cuatro cuarto quattro четыре",
    "5": "five fifth fünf fünfte fünften fünfter cinq cinquième cinco quinto cinque пять",
    "6": "six sixth sechs sechste sechsten sechster sixième seis sexto sei шесть",
    "7": "seven seventh sieben siebte siebten siebter sept septième siete séptimo sette семь",
    "8": "eight eighth acht achte achten achter huit huitième ocho octavo otto восемь",
    "9": "nine ninth neun neunte neunten neunter neuf neuvième nueve noveno nove девять",
    "10": "ten tenth zehn zehnte zehnten dix dixième diez décimo dieci десять",
    "11": "eleven eleventh elf elfte elften onze once undici",
    "12": "twelve twelfth zwölf zwölfte zwölften douze ",
    "13": "thirteen thirteenth dreizehn treize trece",
    "14": "fourteen fourteenth vierzehn quatorze catorce",
    "15": "fifteen fifteenth fünfzehn ",
    "16": "sixteen sixteenth sechzehn seize dieciséis",
    "17": "seventeen seventeenth siebzehn",
    "18": "eighteen eighteenth achtzehn",
    "19": "nineteen nineteenth ",
    "20": "twenty twentieth zwanzig vingt veinte venti",
    "30": "thirty dreißig trente treinta",
    "40": "forty vierzig quarante ",
    "50": "fifty fünfzig cinquante cincuenta",
    "60": "sixty sechzig soixante sesenta",
    "70": "seventy siebzig setenta",
    "80": "eighty achtzig ochenta",
    "90": "ninety neunzig noventa",
    "100": "hundred hundert cent cien",
    "1000": "thousand tausend mille mil",
}  # fmt: skip
_MONTHS = (
    "january januar jänner janvier enero jan", "february februar février febrero feb",
    "march märz mars marzo mar", "april avril abril apr", "may mai mayo", "june juni juin junio jun",
    "july juli juillet julio jul", "august août agosto aug", "september septembre septiembre sep sept",
    "october oktober octobre octubre oct okt", "november novembre noviembre nov",
    "december dezember décembre diciembre dec dez",
)  # fmt: skip
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_EAST_ASIAN_MONTH = re.compile(r"(\d{1,2})[月월]")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_NEAR_DIGIT = 2  # a month is a month only this many words from a number: "may" and "mars" are words too

_NEGATION_WORDS = (
    "not no never none nobody nothing neither nor without cannot nicht kein keine keinen keinem keiner keines nie "
    "niemals niemand nichts weder ohne pas jamais aucun aucune rien personne sans ni nunca jamás nadie nada sin ningún "
    "ninguna ninguno mai nessuno senza nem sem niet geen nooit не нет никогда без"
)
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_NEGATED_ENDING = re.compile(r"n['’]t$", re.IGNORECASE)
_EAST_ASIAN_NEGATION = re.compile(r"不(?!同|仅|僅|断|斷|久|过|過)|没|沒|未|無い|ない|なかっ|ません|ず、|なく|않|없|못")
_SCOPE = 4  # words after a negation that it may deny
_CLAUSE = re.compile(r"[,;:.!?()，。；：！？、–—]")
_KATAKANA = re.compile(r"[ァ-ヴー]{3,}")


@cache
def _number_word() -> dict[str, str]:
    return {word: digit for digit, words in _NUMBER_WORDS.items() for word in words.split()}


@cache
def _month() -> dict[str, str]:
    return {word: f"month {n}" for n, words in enumerate(_MONTHS, 1) for word in words.split()}


def numbers(text: str) -> frozenset[str]:
    """Numbers, number words and months of `text` in one spelling: "1,234" and "1234", "three" and "3" are equal."""
    plain = unicodedata.normalize("NFKC", text.translate(_FRACTIONS))
    found = {f"month {int(match.group(2))}" for match in _ISO_DATE.finditer(plain)}
    found |= {f"month {int(match.group(1))}" for match in _EAST_ASIAN_MONTH.finditer(plain)}
    rest = _GROUPED.sub(lambda match: _keep(found, _ungrouped(match.group())), plain)
    found |= {_decimal(match.group()) for match in _NUMBER.finditer(rest)}
    words = re.findall(r"\w+", plain.casefold())
    found |= {_number_word()[word] for word in words if word in _number_word()}
    return frozenset(found | _months(words))


def _keep(found: set[str], number: str) -> str:
    found.add(number)
    return " "


def _ungrouped(number: str) -> str:
    whole = re.sub(r"[,.'’\u00a0\u202f ](?=\d{3}(?!\d))", "", number)
    return _decimal(whole)


def _decimal(number: str) -> str:
    """One spelling: a dot for the decimal mark, no zeros that mean nothing."""
    whole, _, fraction = number.replace(",", ".").partition(".")
    fraction = fraction.rstrip("0") if fraction.isdigit() else fraction
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _months(words: list[str]) -> set[str]:
    near = range(-_NEAR_DIGIT, _NEAR_DIGIT + 1)
    return {
        _month()[word]
        for n, word in enumerate(words)
        if word in _month() and any(0 <= n + d < len(words) and words[n + d][:1].isdigit() for d in near)
    }


def quantities(text: str) -> frozenset[str]:
    """The numbers of `text` that do not stand in a date and are no year."""
    plain = _date().sub(" ", unicodedata.normalize("NFKC", text.translate(_FRACTIONS)))
    return frozenset(n for n in numbers(plain) if not _YEAR.fullmatch(n) and not n.startswith("month"))


@cache
def _date() -> re.Pattern[str]:
    month = "|".join(sorted(_month(), key=len, reverse=True))
    day = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
    written = rf"\b(?:{day}\s+(?:de\s+)?(?:{month})\b\.?|(?:{month})\b\.?\s+{day}(?!\d))(?:,?\s+(?:de\s+)?\d{{4}})?"
    return re.compile(rf"{_ISO_DATE.pattern}|{written}|\d{{1,4}}[年月日]", re.IGNORECASE)


def names(text: str, language: str) -> frozenset[str]:
    """Words of `text` written as names, case folded: capitals inside the sentence, acronyms, runs of katakana.

    The first word counts only where a second name follows it: every sentence begins with a capital.
    """
    words = list(_WORD.finditer(text))
    found: set[str] = set(_KATAKANA.findall(text))
    for n, match in enumerate(words):
        inside = not _opens_sentence(text, match.start())
        if _is_name(match.group(), language) and (inside or _name_goes_on(text, words, n, language)):
            found.add(bare(match.group()))
    return frozenset(found)


def bare(word: str) -> str:
    """`word` case folded, without a possessive ending."""
    return re.sub(r"['’]s?$", "", word).casefold()


def _is_name(word: str, language: str) -> bool:
    return (
        word[0].isupper() and len(word) > 1 and not is_function_word(word, language) and word.casefold() not in _skip()
    )


@cache
def _skip() -> frozenset[str]:
    """Capitalised words that are compared as numbers."""
    return frozenset(_number_word()) | frozenset(_month())


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\n\"'“”„«»‘’([-–—•*")
    return not before or before[-1] in ".!?:。！？…"


def _name_goes_on(text: str, words: list[re.Match[str]], n: int, language: str) -> bool:
    if words[n].group().isupper() and len(words[n].group()) > 2:
        return True
    if n + 1 == len(words) or text[words[n].end() : words[n + 1].start()] != " ":
        return False
    return language != "de" and _is_name(words[n + 1].group(), language)


def folded_words(text: str) -> frozenset[str]:
    """All words of `text` as `names` writes them, and its katakana runs, to look names up in."""
    return frozenset(bare(match.group()) for match in _WORD.finditer(text)) | frozenset(_KATAKANA.findall(text))


def denied(text: str) -> frozenset[str]:
    """Content words that a negation of `text` stands before, case folded; East Asian text gives the mark "¬"."""
    found: set[str] = {"¬"} if _EAST_ASIAN_NEGATION.search(text) else set()
    for clause in _CLAUSE.split(text):
        words = [match.group().casefold() for match in _WORD.finditer(clause)]
        for n, word in enumerate(words):
            if _is_negation(word):
                found |= {w for w in words[n + 1 : n + 1 + _SCOPE] if not is_function_word(w, "")}
    return frozenset(found)


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or _NEGATED_ENDING.search(word) is not None


def _negates(text: str) -> bool:
    words = (match.group().casefold() for match in _WORD.finditer(text))
    return _EAST_ASIAN_NEGATION.search(text) is not None or any(_is_negation(word) for word in words)


def contradicts(answer: str, source: str) -> bool:
    """Does one of the two deny what the other says? Looks at the words that stand under a negation.

    An answer that denies anything needs a source that denies something.
    """
    if _negates(answer) and not _negates(source):
        return True
    in_answer, in_source = denied(answer), denied(source)
    if not in_answer and not in_source:
        return False
    if ("¬" in in_answer) != ("¬" in in_source):
        return True
    in_answer, in_source = _stems(in_answer), _stems(in_source)
    if in_answer & in_source or (not in_answer and not in_source):
        return False
    return bool(in_answer & _stems(folded_words(source)) or in_source & _stems(folded_words(answer)))


def _stems(words: frozenset[str]) -> frozenset[str]:
    """A stem rough enough that "win" meets "winning" and "won't support" meets "supported"."""
    return frozenset(word[: max(3, min(5, len(word) - 2))] for word in words if word != "¬")
