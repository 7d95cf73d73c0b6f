"""Function words of the languages that are told apart: words that serve grammar and carry no content.

A language that is missing here loses this hint and nothing else: weights by rarity carry the rest.
"""

from __future__ import annotations

import re
from functools import cache

_FUNCTION = {
    "en": "a an the this that these those it its he she they them his her their our your my we you i me us him who "
    "whom "
    "whose which what when where why how is are was were be been being am do does did doing done has have had having "
    "can could will would shall should may might must of in on at by for from to with into onto over under about "
    "against between through during before after above below up down out off as than then so such and or but nor if "
    "because while until also too very just only own same other another each every both few more most some any all no "
    "not there here now s t don doesn didn isn aren wasn weren won many much tell give please say said says name named "
    "called get got one ones kind type according per via",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen ist sind war "
    "waren sein seine seiner ihr ihre ihrer er sie es wir ihr ich du man wer wen wem wessen was wann wo woher wohin "
    "wie "
    "warum wieso weshalb welche welcher welches welchen welchem wird werden wurde wurden worden hat haben hatte hatten "
    "kann können konnte konnten soll sollen muss müssen mit von vom zu zum zur in im ins an am auf aus bei nach für "
    "durch über unter um gegen ohne vor seit als wenn dass ob auch noch nur sehr mehr viel viele wieviel so dann da "
    "hier dort sich bis zwischen laut gab gibt heißt heißen nennt genannt",
    "fr": "le la les l un une des du de d et ou mais ne pas plus est sont était étaient être été a ont avait avaient "
    "avoir il elle ils elles on nous vous je tu se s son sa ses leur leurs ce cet cette ces c qui que qu quoi quel "
    "quelle quels quelles quand où comment pourquoi combien dont à au aux en dans sur sous par pour avec sans entre "
    "vers chez depuis pendant avant après y si comme aussi très même tout tous toute toutes lequel laquelle peut "
    "fait t m n j appelle nom",
    "es": "el la los las lo un una unos unas de del al y o pero no es son era eran fue fueron ser sido está están ha "
    "han había hay que qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo por para con sin "
    "en entre sobre desde hasta a se su sus él ella ellos ellas nosotros yo tú lo le les me te nos este esta estos "
    "estas ese esa esos como más muy también si cuyo llama nombre",
    "it": "il lo la i gli le un uno una di del dello della dei degli delle da dal dalla a al alla ai alle in nel nella "
    "su sul sulla con per tra fra e o ma non è sono era erano essere stato stata ha hanno aveva che chi cosa quale "
    "quali quando dove come perché quanto quanta quanti quante si suo sua suoi loro questo questa questi più anche",
    "pt": "o a os as um uma de do da dos das em no na nos nas por pelo pela para com sem e ou mas não é são era eram "
    "foi foram ser sido está tem têm tinha que quem qual quais quando onde como porque quanto quanta quantos quantas "
    "se seu sua seus suas ele ela eles elas este esta esse essa mais muito também",
    "nl": "de het een en of maar niet geen is zijn was waren wordt werd werden worden heeft hebben had hadden kan "
    "kunnen kon moet wie wat wanneer waar waarom hoe hoeveel welke welk van in op aan bij met voor door over onder uit "
    "naar om te tot als dan dat die dit deze er ze hij zij we ik je hun haar zich ook nog meer veel zeer",
    "ru": "и в во на с со к ко по о об от до из за у для при не ни но а или что чтобы как это этот эта эти тот та те "
    "он "
    "она оно они мы вы я ты его её их им ему кто кого кому когда где куда откуда почему зачем сколько какой какая "
    "какое "
    "какие каких который которая которые был была было были есть быть же ли бы так также",
}  # fmt: skip

# East Asian characters that only serve grammar or the question
_HAN_FUNCTION = frozenset(
    "的了是在有和与与及或之于為为被把对對从從就也都很而但其这這那哪谁誰什么麼么怎样樣吗嗎呢吧几幾多少何個个些"
)
_KANA = re.compile(r"[\u3040-\u309f]")  # hiragana: particles and endings


@cache
def _function_words(language: str) -> frozenset[str]:
    if language in _FUNCTION:
        return frozenset(_FUNCTION[language].split())
    return frozenset(word for words in _FUNCTION.values() for word in words.split())


def is_function_word(word: str, language: str) -> bool:
    """Does `word` (as written) only serve grammar? Every language's words count where the language is unknown."""
    lower = word.casefold()
    if lower in _function_words(language):
        return True
    if not lower or ord(max(lower)) < 0x3040:
        return False
    return all(c in _HAN_FUNCTION or _KANA.match(c) for c in lower)
