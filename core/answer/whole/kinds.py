"""Is a question about the whole library, and what does it ask of it? Told by its first words, in many languages.

What it is about stays when the words that only say what to do with it are taken out ("In how many documents is ...
mentioned?"). A question that is taken for one of a single fact is never read as one about the whole: "How many
passengers does the ferry carry?" counts nothing in the library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from core.answer.question import Wanted, wanted


class Whole(StrEnum):
    """What is asked of all that matches."""

    COUNT = "count"
    LIST = "list"
    COMPARE = "compare"
    SUMMARY = "summary"
    TIMELINE = "timeline"


# share of the weight of the subject's words that a passage must hold: a count claims most
LINES = {Whole.COUNT: 0.75, Whole.LIST: 0.6, Whole.COMPARE: 0.6, Whole.SUMMARY: 0.5, Whole.TIMELINE: 0.5}


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with what. `subject` is empty where all documents are meant; `sides` are the things compared."""

    kind: Whole
    subject: str
    sides: tuple[str, ...] = ()

    @property
    def line(self) -> float:
        return LINES[self.kind]


_PLEASE = (
    r"^\W*(?:(?:please|bitte|kindly|(?:can|could|would) you|kannst du|können sie|s['’]il (?:te|vous) plaît|"
    r"por favor|peux-tu|pouvez-vous|puedes|per favore|puoi|alsjeblieft|kun je|пожалуйста|请|請)[ ,]*)*"
)
_OF = (
    r"(?:\s+(?:of|all|my|the|our|these|those|this|me|von|der|die|das|den|dem|meine[rnms]?|unsere[rnm]?|diese[rnms]?|"
    r"aller?|alle|de|des|du|la|le|les|mes|nos|ces|mis|los|las|el|estos|dei|i|miei|le|gli|os|as|meus|minhas|dos|das|"
    r"mijn|onze|van|моих|этих|всех|из))*"
)
_NOUN = (
    r"(?:documents?|files?|texts?|papers?|reports?|letters?|e-?mails?|messages?|articles?|notes?|passages?|contracts?|"
    r"dokumente[n]?|dateien?|texte[n]?|berichte[n]?|briefe[n]?|nachrichten|artikeln?|notizen|verträge[n]?|unterlagen|"
    r"fichiers?|textes?|rapports?|lettres?|courriels?|contrats?|documentos?|archivos?|textos?|informes?|cartas?|"
    r"correos?|contratos?|documenti|documento|testi|lettere|contratti|arquivos?|relatórios?|documenten|bestanden|"
    r"teksten|brieven|документ\w*|файл\w*|текст\w*|письм\w*|отчёт\w*|отчет\w*)"
)
_SAY = (
    r"(?:mention\w*|contain\w*|says?|talks?|discuss\w*|deals?(?: with)?|refers?(?: to)?|speaks?|describes?|covers?|"
    r"appears?|occurs?|named|about|on|erwähn\w*|enthalten|enthält|genannt|nennen|behandel\w*|handeln|sprechen|vorkomm\w*|"
    r"gibt es|über|mentionn\w*|contien\w*|parl\w*|évoqu\w*|cit[ée]\w*|mencion\w*|habla\w*|trata\w*|menzion\w*|"
    r"contengono|falam|contêm|contém|noem\w*|vermeld\w*|bevat\w*|genoemd|упомин\w*|упомянут\w*|содерж\w*|говор\w*)"
)
_HAVE = r"(?:(?:are|is) there|(?:do|have) (?:i|we)(?: have)?|habe ich|haben wir|gibt es|y a-t-il|hay|tengo|ci sono|há)"
_LINK = (
    r"(?:\s+(?:that|which|who|where|in which|in denen|die|der|das|wo|qui|où|que|donde|en los que|che|dove|in cui|onde|"
    r"die|waarin|котор\w+|где))?"
)
_TO = r"(?:\s+(?:about|of|to|with|on|that|von|über|um|de|des|du|sur|sobre|su|di|da|over|van|о|об|про))*(?!\w)"

_HEADS: dict[Whole, str] = {
    Whole.COUNT: (
        rf"^\W*(?:in |dans |en |em |in |в )?(?:how many|wie ?viele[nr]?|combien(?: de)?|cuánt[oa]s|quant[ieoa]s?|"
        rf"hoeveel|(?:в )?скольк\w+){_OF}\s+{_NOUN}\b(?=.*\b(?:{_SAY}|{_HAVE})(?!\w)|\W*$)"
        rf"(?:\s+(?:{_HAVE}|are|is|se|si))?{_LINK}(?:\s+{_SAY})?{_TO}|"
        rf"^\W*(?:how (?:often|many times)|wie (?:oft|häufig)|combien de fois|cuántas veces|quante volte|"
        rf"quantas vezes|hoe vaak|как часто|сколько раз)\b(?=.*\b{_SAY})|"
        r"^\W*(?:有)?(?:多少|几)(?:个|份|篇)?(?:文件|文档|文章|文献|資料)(?:中)?(?:提到|提及|包含|谈到)?了?|"
        r"(?:いくつの|何件の)(?:文書|ファイル|資料)(?:が|に|で)?|"
        r"몇 ?(?:개의|개|건의) ?(?:문서|파일|자료)(?:가|이|에서|에)?"
    ),
    Whole.COMPARE: (
        rf"{_PLEASE}(?:compare|contrast|vergleiche?n?(?: sie)?|compare[zr]?|compara[r]?|confronta(?:re)?|vergelijk|"
        rf"сравни(?:те|ть)?)\b|"
        r"^.{0,40}?\b(?:differences? between|unterschiede? zwischen|différences? entre|diferencias? entre|"
        r"differenz[ae] (?:tra|fra)|diferenças? entre|verschil(?:len)? tussen|разниц\w+ между|отлич\w+ между)\b|"
        r"^\W*how (?:do|does|did)\b(?=.*\b(?:differ from|compare (?:to|with))\b)|"
        r"^\W*(?:请|請)?(?:比较|比較|对比|對比)(?:一下)?"
    ),
    Whole.SUMMARY: (
        rf"{_PLEASE}(?:give me |write |gib mir |schreibe? |donne[zr]?-moi |dame |dammi |make |un |an? |eine[n]? |una |"
        rf"um |uma |een |the )*"
        rf"(?:summari[sz]e|sum up|summary(?: of)?|overview(?: of)?|fasse?n?(?: sie)?\b(?=.*\bzusammen\b)|"
        rf"zusammenfassung(?: von| der| des)?|überblick(?: über)?|résume[zr]?|résumé(?: de| des| du)?|resum[aei]r?|"
        rf"resumen(?: de)?|riassum\w+|riassunto(?: di)?|resumo(?: de| dos)?|samenvatting(?: van)?|"
        rf"vat\b(?=.*\bsamen\b)|кратко изложи\w*|резюм\w+|обобщи\w*|сводк\w+)(?!\w)(?:{_OF}\s+{_NOUN}(?!\w))?{_TO}|"
        rf"^\W*what (?:is|are)(?: all)? (?:this|these|the|my|our) (?:folder|{_NOUN})(?= (?:all )?about)|"
        r"^\W*(?:请|請)?(?:总结|總結|概括|摘要)(?:一下)?"
    ),
    Whole.TIMELINE: (
        rf"{_PLEASE}.{{0,40}}?\b(?:timeline|chronology|chronologi\w+|zeitstrahl|zeitleiste|zeittafel|chronologisch\w*|"
        rf"frise chronologique|chronologie|cronolog[ií]a|línea de(?:l)? tiempo|linea del tempo|linha do tempo|tijdlijn|"
        rf"хронологи\w+|лент\w+ времени)(?!\w){_TO}|"
        r"^\W*(?:请|請)?(?:列出|制作)(?=.*(?:时间线|時間線|时间轴|大事记|年表))"
    ),
    Whole.LIST: (
        rf"{_PLEASE}(?:(?:list|enumerate|auflisten|liste|lister|énumère[rz]?|enumera[r]?|elenca(?:re)?|"
        rf"перечисли(?:те|ть)?|lijst|(?:name|show|give|find|tell|collect|gather)(?: me)?(?= (?:all|every|each)\b)|"
        rf"(?:nenne|zeige?|finde?|zähle)(?: mir| sie)?(?= all\w*\b)|(?:donne|montre|trouve|cite)[zr]?(?:-moi)?"
        rf"(?= (?:tous|toutes)\b)|(?:dame|muestra|encuentra|nombra|lista)(?= tod[oa]s\b)|"
        rf"(?:mostra|trova|dammi)(?= tutt[ie]\b)|(?:noem|toon|geef)(?: me)?(?= alle\b)|"
        rf"(?:назови|покажи|найди)(?:те)?(?= вс))\b)"
        rf"(?:\s+(?:all|every|each|alle[sn]?|tous|toutes|tod[oa]s|tutt[ie]|всех?))?(?:{_OF}\s+{_NOUN}(?!\w){_LINK}"
        rf"(?:\s+{_SAY}(?!\w))?)?{_TO}|"
        rf"^\W*(?:in )?(?:which|welche[nr]?|quels|quelles|qué|que|cuáles|quali|quais|welke|какие)(?:{_OF}|)\s+{_NOUN}\b"
        rf"(?=.*\b{_SAY}(?!\w)){_LINK}(?:\s+{_SAY}(?!\w))?{_TO}|"
        r"^\W*(?:请|請)?(?:列出|列举|列舉|找出)(?:所有|全部)?(?:的)?(?:提到|关于)?|^\W*哪些(?:文件|文档|文章)(?:中)?(?:提到|提及|包含|谈到)了?"
    ),
}  # fmt: skip

# scripts that say last what to do: the subject stands before it
_TAILS: dict[Whole, str] = {
    Whole.COUNT: r"(?:を|に)?(?:言及|記載|含)(?:して|されて|まれて)?(?:いますか|いる|か)?|언급\S*",
    Whole.COMPARE: (
        r"(?:を|の)?(?:比較|違い)(?:して)?.*$|(?:을|를)? ?비교\S*.*$|의 ?차이\S*.*$|"
        r"(?:的|有什么)(?:区别|區別|差异|不同).*$"
    ),
    Whole.SUMMARY: r"(?:を|の)?(?:要約|まとめ)(?:して)?.*$|(?:을|를)? ?요약\S*.*$",
    Whole.TIMELINE: (
        r"(?:を|の)?(?:年表|時系列|タイムライン).*$|(?:을|를|의)? ?(?:연표|연대기|타임라인|시간순)\S*.*$|"
        r"的?(?:时间线|時間線|时间轴|大事记|年表).*$"
    ),
    Whole.LIST: (
        r"(?:を|に関する)?(?:すべて|全て|全部)(?:の)?(?:挙げ|列挙|リスト|一覧|教え).*$|"
        r"(?:을|를)? ?(?:모두|전부) ?(?:나열|열거|알려|보여)\S*.*$|的(?:文件|文档|文章|段落)$"
    ),
}  # fmt: skip

_REST = re.compile(
    rf"(?:(?:^|\s+)(?:is|are|was|were|wird|werden|ist|sind|est|sont|é|è|sono|es|son|wordt|worden|do|does|in)(?=\s))*"
    rf"(?:(?:^|\s+)(?:{_SAY}|zusammen|samen|auf|all about))?"
    r"(?: in (?:my|the|our|these|all) (?:documents|files|library)| in meinen dokumenten| dans mes documents|"
    r" en mis documentos)?[\s?？.。!！]*$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\s+(?:and|with|versus|vs\.?|und|mit|et|avec|y|con|e|ed|com|en|met|и|с)\s+|\s*[,、]\s*|"
    r"和|与|與|跟|と|와 |과 |하고 ",
    re.IGNORECASE,
)
_APART = re.compile(r"\s+(?:to|from)\s+", re.IGNORECASE)  # only where nothing else stands between two things
_DIFFER = re.compile(r"\b(?:differ from|compare (?:to|with))\b", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:(?:the|that|der|die|das|den|dem|le|la|les|l['’]|el|los|las|il|lo|i|gli|o|a|os|as|de|het|of|about|on|von|über|du|des|del|al|sur|sobre|sul|sulla|di|da|do|van|over|о|об|is|are|wird|werden|"
    r"ist|est|sont)\s+)+(?=\S)",
    re.IGNORECASE,
)
_THIS = re.compile(
    rf"^(?:(?:what is said|what (?:my|the) documents say) (?:about|of) )|"
    rf"^(?:(?:all|this|these|those|the|my|our|diese[nrms]?|die|den|meine[nr]?|alle|ces?|cet|cette|le|mes|est[aeo]s?|la|el|mis|"
    rf"quest[aeio]|mia|deze|dit|mijn|эт\w+|мо\w+|все) )*(?:folder|library|everything|ordner|bibliothek|alles|dossier|"
    rf"bibliothèque|tout|carpeta|biblioteca|todo|cartella|tutto|pasta|map|папк\w|библиотек\w|всё|{_NOUN})$|"
    r"^(?:这个|这些|這些|所有|全部|この|これらの|이|모든) ?(?:文件夹|文件|文档|文書|資料|フォルダー?|폴더|문서|자료)$",
    re.IGNORECASE,
)
_EDGES = ' \t\n?？.。!！:：,，;；"“”„«»'
_MOST_SIDES = 4
_LONGEST = 600  # characters: what is longer is a text and no question


@cache
def _compiled() -> tuple[tuple[Whole, re.Pattern[str], re.Pattern[str]], ...]:
    flags = re.IGNORECASE | re.DOTALL
    return tuple((kind, re.compile(head, flags), re.compile(_TAILS[kind], flags)) for kind, head in _HEADS.items())


def plan(question: str) -> Plan | None:
    """What the question asks of the whole library; None when it asks for a fact."""
    text = " ".join(question.split())
    if len(text) > _LONGEST:
        return None
    for kind, head, tail in _compiled():
        match = head.search(text)
        if match is None and (kind is Whole.COUNT or not (match := tail.search(text))):
            continue
        if kind is Whole.TIMELINE and wanted(text) in (Wanted.PERSON, Wanted.PLACE, Wanted.REASON):
            continue
        rest = text[: match.start()] + " " + text[match.end() :]
        made = _planned(kind, tail.sub(" ", rest))
        if made is not None:
            return made
    return None


def of_kind(question: str, kind: Whole = Whole.LIST) -> Plan:
    """The plan for any question, whether or not it says what to do: all that is said of it is listed by default."""
    return plan(question) or Plan(kind, question.strip(_EDGES))


def _planned(kind: Whole, rest: str) -> Plan | None:
    """None for a comparison of fewer than two things."""
    subject = _clean(_DIFFER.sub(" from ", rest) if kind is Whole.COMPARE else _REST.sub("", rest))
    if kind is not Whole.COMPARE:
        return Plan(kind, _clean(_THIS.sub("", subject)))
    for between in (_BETWEEN, _APART):
        sides = tuple(side for part in between.split(subject) if (side := _clean(part)))
        if len(sides) > 1:
            return Plan(kind, subject, sides[:_MOST_SIDES])
    return None


def _clean(text: str) -> str:
    return _FILLER.sub("", " ".join(text.split()).strip(_EDGES)).strip(_EDGES)
