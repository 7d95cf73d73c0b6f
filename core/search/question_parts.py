"""Questions that ask for several things, taken apart by rules: each part is searched by itself, too.

One vector for "Who built the lighthouse and when was the Tern launched?" stands between two subjects, and the passages
of the weaker one rank low. Parts come from several sentences, from clauses that each have a question word, and from
things that are compared. A part that leans on the one before it is given that one's subject. A question that no rule
takes apart is searched as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.types import Turn
from core.search.standalone import content_words, needs_context, standalone
from core.text.sentences import split

MOST = 4  # parts; each costs a search
_LONGEST = 600  # characters: what is longer is a text and no question

# "and", "or", "as well as" where languages write spaces (not the Dutch "of": it is English, too)
_AND = (
    "and|or|as well as|und|oder|sowie|et|ou|ainsi que|y|e|o|u|así como|ed|od|oppure|bem como|en|evenals|и|или|а|"
    "а также|ve|veya|oraz|lub|och|eller|og|và|hoặc|और|या|و|أو"
)
# question words that begin a clause
_ASKING = (
    "who|whom|whose|what|which|when|where|why|how|wer|wen|wem|wessen|was|welche[rsnm]?|wann|wo|wohin|woher|warum|"
    "wieso|wie|wieviele?|qui|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|combien|quién(?:es)?|qué|cuál(?:es)?|"
    "cuándo|dónde|cómo|cuánt[oa]s?|chi|cosa|quale|quali|quando|dove|perché|come|quant[oiae]|quem|qual|quais|onde|como|"
    "quant[oa]s|wat|wanneer|waar|waarom|hoe|hoeveel|welke?|кто|что|как(?:ой|ая|ое|ие)?|когда|где|куда|откуда|"
    "почему|зачем|сколько|kim|ne|nerede|nasıl|neden|kaç|kto|co|kiedy|gdzie|jak|ile|dlaczego|vem|vad|när|var|hur|"
    "ai|khi nào|ở đâu|कौन|क्या|कब|कहाँ|कितने|من|ما|متى|أين|كيف|كم|لماذا"
)
_CLAUSE = re.compile(rf"\s*[,،]?\s+(?:{_AND})\s+(?=(?:{_ASKING})(?!\w))", re.I)
_MARKS = ("?", "？", "؟")
_CLAUSE_UNSPACED = re.compile(
    "[，、,]?(?:以及|并且|而且|另外|还有|和(?=谁|什么|何|哪|多少))|[，、](?=.*[谁什何哪几多怎吗か誰])|、?また、?|。そして"
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_ASKS = re.compile(rf"(?<!\w)(?:{_ASKING})(?!\w)", re.I)
_ASKS_UNSPACED = re.compile("谁|誰|什么|什麼|何|哪|多少|几|幾|为什么|怎|吗|か|いつ|どこ|누구|무엇|언제|어디")

# what says that the things named are held against each other
_COMPARING = re.compile(
    r"\b(?:compare[ds]?|comparison|differ\w*|difference|versus|vs|than|both|better|same|similar\w*|in common|"
    r"vergleich\w*|unterschied\w*|unterscheide\w*|als|beide\w*|compar\w+|diff[ée]ren\w+|diferen\w+|differenz\w*|"
    r"confront\w+|verschil\w*|vergelijk\w*|сравн\w+|разниц\w+|отлича\w+|чем)\b|"
    r"^\W*(?:which|who|what|where|welche\w?|wer|was|wo)\b.*\b\w{3,}er\b(?=.*\b(?:or|oder)\b)",
    re.I,
)
_NAME = re.compile(r"(?<![^\W_])[A-ZÀ-ÞА-Я][\w’'-]*(?:,?\s+(?:[A-ZÀ-ÞА-Я]\.|[A-ZÀ-ÞА-Я\d][\w’'-]*))*")
_MOST_COMPARED = 3


def parts(question: str) -> tuple[str, ...]:
    """What `question` asks for besides itself, in order, at most `MOST`; empty when it asks for one thing."""
    question = " ".join(question.split())
    if len(question) > _LONGEST:
        return ()
    found = _clauses(question)
    if len(found) < 2:
        found = _compared(question)
    kept = [part for part in dict.fromkeys(found) if part and part != question]
    return tuple(kept[:MOST]) if len(kept) > 1 else ()


def _clauses(question: str) -> list[str]:
    """Sentences and clauses that each ask for something, made to stand alone."""
    pieces = [piece for sentence in _questions(question) for piece in _split(sentence)]
    made: list[str] = []
    for piece in pieces:
        text = piece.strip(" ,;，、；")
        # "when and where was the Tern built": a question word alone asks for nothing
        if not _asks(piece) or not _tells(text):
            continue
        leans = made and needs_context(text)
        made.append(standalone(text, (Turn(made[0], ""),)) if leans else text)
    return made


def _tells(text: str) -> bool:
    """Does the piece say more than a question word?"""
    return bool(content_words(text)) and (len(text.split()) > 1 or _UNSPACED.search(text) is not None)


def _asks(text: str) -> bool:
    """Does the piece ask: by a question mark, or by a question word?"""
    asking = _ASKS_UNSPACED if _UNSPACED.search(text) else _ASKS
    return text.rstrip().endswith(_MARKS) or asking.search(text) is not None


def _questions(text: str) -> list[str]:
    """Sentences with a question mark, each with what was said before it."""
    found, begin = [], 0
    spans = split(text)
    for start, end in spans:
        if text[start:end].endswith(_MARKS) or end == spans[-1][1]:
            found.append(text[begin:end])
            begin = end
    return found


def _split(sentence: str) -> list[str]:
    """Clauses, where each of them asks; else the sentence."""
    unspaced = _UNSPACED.search(sentence)
    pieces = [p for p in (_CLAUSE_UNSPACED if unspaced else _CLAUSE).split(sentence) if p]
    asking = _ASKS_UNSPACED if unspaced else _ASKS
    return pieces if all(asking.search(p) and _tells(p) for p in pieces) else [sentence]


def _compared(question: str) -> list[str]:
    """The question once for each of the named things that it compares."""
    if not _COMPARING.search(question):
        return []
    found = dict.fromkeys(_name(match.group(), match.start() == 0) for match in _NAME.finditer(question))
    names = [name for name in found if content_words(name) and not _COMPARING.search(name)]
    if not 2 <= len(names) <= _MOST_COMPARED:
        return []
    return [_without(question, [other for other in names if other != name]) for name in names]


def _name(found: str, first: bool) -> str:
    """A name without the word in capitals that begins a question."""
    begins, _, rest = found.partition(" ")
    return rest if first and (not content_words(begins) or _COMPARING.search(begins)) else found


def _without(question: str, names: Sequence[str]) -> str:
    for name in names:
        named = re.escape(name)
        question, done = re.subn(rf"(?<!\w){named}\s+(?:{_AND})\s+", "", question, count=1)
        if not done:
            question = re.sub(rf"(?:\s+(?:{_AND}))?\s+{named}(?!\w)", "", question, count=1)
    return question
