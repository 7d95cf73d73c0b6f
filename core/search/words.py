"""Function words by language: they carry no subject in a query, and tell follow-up questions apart. Lower case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.search.function_words import FUNCTION_WORDS
from core.text.analyze import QueryTerm


@dataclass(frozen=True)
class Words:
    """`pronouns` stand for something said before; `pointers` may also join or point within the sentence;
    `leads` begin a follow-up; `function` carry no subject; `copulas` with `defining` ask what something is."""

    pronouns: frozenset[str]
    pointers: frozenset[str]
    leads: frozenset[str]
    function: frozenset[str]
    defining: frozenset[str]
    copulas: frozenset[str]

    @cached_property
    def all(self) -> frozenset[str]:
        return self.pronouns | self.pointers | self.leads | self.function | self.defining | self.copulas


def _words(pronouns: str, pointers: str, leads: str, function: str, defining: str, copulas: str) -> Words:
    parts = (pronouns, pointers, leads, function, defining, copulas)
    return Words(*(frozenset(part.split()) for part in parts))


BY_LANGUAGE = {
    "en": _words(
        "it its itself they them their theirs he him his she her hers",
        "this that these those there then such ones",
        "and but or also",
        "a an the of in on at by for from to with without about into over under between after before since until as "
        "be been being am do does did done has have had having can could will would shall should may might must i you "
        "we me us my your our who whom whose which what when where why how if not no nor than too very any some all "
        "each every more most other only own same so just please tell show give many much long s t else again",
        "what define explain",
        "is are was were",
    ),
    "de": _words(
        "er ihn ihm es sie ihr ihre ihren ihrem ihrer ihnen sein seine seinen seinem seiner deren dessen",
        "dies diese dieser dieses diesen diesem jene jener jenes dort dazu davon dafür damit dabei daran darin "
        "darüber daraus danach",
        "und oder aber auch",
        "der die das den dem des ein eine einen einem einer eines nicht kein keine von vom zu zum zur im in an am auf "
        "aus bei mit nach seit vor über unter zwischen für durch gegen ohne um als wie wird werden wurde wurden hat "
        "haben hatte hatten kann können soll sollen muss müssen darf ich du wir man mir uns was wer wen wem wessen "
        "wann wo warum wieso wohin woher welche welcher welches welchen noch nur sehr mehr viel viele lange bitte so",
        "was definiere erkläre",
        "ist sind war waren",
    ),
    "fr": _words(
        "il elle ils elles lui leur leurs sa ses celui celle ceux celles",
        "cela ceci ça ce cet cette ces y en son",
        "et ou mais aussi",
        "le la les l un une des du de d au aux ne pas dans sur sous par pour avec sans entre chez être a ont peut "
        "avait peuvent je tu nous vous on me te se que qui quoi quel quelle quels quelles où quand comment "
        "pourquoi combien très plus moins qu s c j n m t encore",
        "qu définir expliquer",
        "est sont était étaient",
    ),
    "es": _words(
        "él ella ellos ellas su sus suyo suya",
        "eso esto ese esa esos esas este esta estos estas aquello allí",
        "y o pero también",
        "el la los las un una unos unas de del al no en con sin por para entre sobre ser fue ha han puede pueden yo tú "
        "nosotros que qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuántos se lo le más",
        "qué definir explicar",
        "es son era eran",
    ),
    "pt": _words(
        "ele ela eles elas seu sua seus suas dele dela deles delas",
        "isso isto esse essa esses essas este esta estes estas ali",
        "e ou mas também",
        "o a os as um uma uns umas de do da dos das no na nos nas em com sem por para não foi ser pode podem quem qual "
        "quais quando onde como quanto quantos se mais",
        "que definir explicar",
        "é são era eram",
    ),
    "it": _words(
        "esso essa essi esse lui lei loro suo sua suoi sue",
        "questo questa questi queste quello quella quelli ciò",
        "e o ma anche",
        "il lo la gli i le un uno una di del della dello dei delle degli da al alla nel nella in con senza per tra fra "
        "su non ha hanno può possono chi che quale quali quando dove come perché quanto quanti si più",
        "cosa cos definire spiegare",
        "è sono era erano",
    ),
    "ko": _words(
        "그것 그것은 그것의 그는 그녀는 그의 그녀의 그들은 그들의",
        "이것 이것은 그 이 저 거기",
        "그리고 그럼 그러면",
        "",
        "",
        "",
    ),
}

# the same for scripts without spaces, where a pointer is any of these strings
POINTERS_UNSPACED = "それ|これ|その|この|彼|そこ|它|(?<!其)他|她|这个|那个|这些|那些"

_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def of(words: Sequence[str]) -> Words:
    """The function words of the language that has most of `words` (casefolded)."""
    return max(BY_LANGUAGE.values(), key=lambda known: sum(word in known.all for word in words))


def without_function_words(text: str, terms: Sequence[QueryTerm], languages: Sequence[str] = ()) -> list[QueryTerm]:
    """The query's terms that carry its subject; all of them when none would be left ("to be or not to be").

    The list of one language counts, the one that has most of the query's words among those of the library's
    `languages` (without any: of all). Abbreviations stay (the IT of "IT security"). Leaving out the rest raises BM25's
    nDCG@10 by half a point to three points on most of twenty-five test collections and lowers it on none by more than
    rounding.
    """
    empty = _function_words([term.text for term in terms], languages)
    names = set() if text.isupper() else {name.casefold() for name in _CAPITALS.findall(text)}
    kept = [term for term in terms if term.text not in empty or term.text in names]
    return kept or list(terms)


def _function_words(words: Sequence[str], languages: Sequence[str]) -> frozenset[str]:
    lists = FUNCTION_WORDS | {language: known.all for language, known in BY_LANGUAGE.items()}
    lists["ko"] |= FUNCTION_WORDS["ko"]
    wanted = [lists[language] for language in languages if language in lists] if languages else list(lists.values())
    return max(wanted, key=lambda known: sum(word in known for word in words), default=frozenset())
