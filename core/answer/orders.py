"""Instructions to a language model that stand in documents: recognised, so that nothing of an answer rests on them.

Text of a document is data, whatever it says. A model may obey it all the same; so a sentence that gives orders to
whoever reads it for the person is kept out of the prompt and is no source for a sentence that a model wrote. It can
still be quoted: the person may well ask for it. Recognition is by rule, in many languages, and looks through invisible
characters, look-alike letters and spacing. What it does not know is held by the checks of the answer (core.answer.
write): they ask whether a sentence answers, and never what a model was told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_TAGS = re.compile("[\U000e0001-\U000e007f]+")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһкмтвАЕОРСХІЈЅКМТВНοαερν", "aeopcyxijsdhkmtbAEOPCXIJSKMTBHoaepv")
_LATIN = re.compile("[a-z]", re.I)
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,}\w(?!\w)")
_DIGITS = str.maketrans("013457@$", "oieastas")

# what is to be given up, and the word for giving it up, in either order, near each other
_GIVE_UP = (
    r"ignor\w*|disregard\w*|forget(?![-\w])|overrid\w+|bypass|discard|neglect|do not (?:follow|obey)|stop following|"
    r"vergiss\w*|vergessen sie|missachte\w*|beachte\w* nicht|oublie[zr]?|ne (?:tiens|tenez) pas compte|olvid\w+|"
    r"haz caso omiso|no (?:sigas|tengas en cuenta)|dimentica\w*|trascura\w*|esquec\w+|desconsider\w+|negeer\w*|"
    r"vergeet|проигнорир\w+|игнорир\w+|забуд\w+|не следуй\w*|zignoruj\w*|zapomnij\w*|pomiń|yok say\w*|unut\w*|"
    r"görmezden gel\w*|"
    r"忽略|无视|無視|忘记|忘掉|忘れ\w*|従わ\w*|무시\w*|잊어\w*|تجاهل\w*|انس|अनदेखा|नज़रअंदाज़|भूल|bỏ qua|abaikan|"
    r"ignorera|glöm"
)
_ORDERS = (
    r"instruct\w*|prompts?|guidelines?|directions?|directives?|commands?|(?:system|previous|prior|above|earlier|"
    r"safety) "
    r"(?:rules?|messages?|text)|everything (?:above|before)|all (?:of )?(?:the )?(?:above|rules)|your rules|"
    r"anweisung\w*|"
    r"instruktion\w*|vorgaben|regeln|instru[cç][tcõ]\w*|consignes?|instruccion\w*|indicacion\w*|istruzion\w*|"
    r"instruções|instrução|instructies|opdrachten|инструкци\w*|указани\w*|правила|instrukcj\w*|poleceni\w*|talimat\w*|"
    r"komut\w*|指令|指示|说明|提示|规则|命令|지시\w*|명령\w*|지침\w*|تعليمات|التعليمات|أوامر|निर्देश\w*|hướng dẫn|"
    r"instruksi|instruktioner\w*"
)
_OVERRIDE = (
    rf"(?<!\w)(?:{_GIVE_UP}).{{0,60}}?(?:{_ORDERS})",
    # where the verb stands last
    r"(?:talimat|komut|指示|指令|命令|명령|지시|지침|निर्देश)\w*.{0,40}?(?:unut|yok say|görmezden gel|無視|忘れ|"
    r"従わ|무시|잊어|अनदेखा|"
    r"नज़रअंदाज़|भूल)",
    r"\bnew (?:system )?(?:instructions?|orders?|prompt)\b\s*[:.]|\bupdated? instructions?\s*[:.]",
    r"\bneue (?:system)?anweisung\w*\s*:|\bnouvelles? (?:instructions?|consignes?)\s*:|\bnuevas? instruccion\w*\s*:",
)
_MODEL = (
    r"(?:ai|a\.i\.|ki|ia|ии|llm|gpt\w*|chatgpt|claude|gemini|copilot|assistants?|chatbots?|bots?|language models?|"
    r"assistent\w*|sprachmodell\w*|assistante?s?|modèle de langage|asistente\w*|modelo de (?:lenguaje|linguagem)|"
    r"assistente|modello linguistico|taalmodel|ассистент\w*|помощник\w*|языков\w+ модел\w+|asystent\w*|asistan\w*|"
    r"model językowy|人工智能|助手|语言模型|アシスタント|言語モデル|인공지능|어시스턴트|언어 모델|المساعد|सहायक)"
)
_BIDDEN = (
    r"(?:must|shall|should|have to|need to|are (?:now|to)|is to|will now|please|reading this|processing this|"
    r"summari[sz]ing|say|write|tell|reply|respond|answer|output|print|muss\w*|müssen|sollst?|sollen|schreib\w*|sag\w*|"
    r"antworte\w*|doi\w+|devez|devrai\w*|écri\w+|réponds?\w*|debe\w*|tien\w+ que|escrib\w+|respond\w+|dev[ei]\w*|"
    r"scriv\w+|rispond\w+|escrev\w+|moet\w*|schrijf|долж\w+|напиши\w*|ответь\w*|скажи\w*|musi\w*|napisz|odpowiedz|"
    r"必须|请|应该|回答|してください|しなさい|하세요|해야|يجب|اكتب|yaz\w*|söyle\w*)"
)
_TO_MODEL = (
    rf"(?<!\w){_MODEL}(?!\w)(?! (?:coach|manager|professor|director|secretary)).{{0,50}}?{_BIDDEN}",
    rf"(?:you are|act as|pretend|du bist|sie sind|tu es|vous êtes|eres|sei|você é|jij bent|ты|jesteś|你(?:现在)?是|"
    rf"あなたは|당신은|أنت)\s.{{0,50}}?(?<!\w)(?:{_MODEL}|dan|pirate|unrestricted|developer mode|jailbr\w+|"
    rf"ohne regeln)(?!\w)",
    r"\b(?:developer|debug|god|admin|dan|jailbreak) mode\b.{0,30}\b(?:on|enabled|activated?|engaged|now)\b",
    rf"\b(?:to|for|an|note to|attention)\b[^.]{{0,12}}(?<!\w){_MODEL}(?!\w)\s*[:,!]",
)
_PERSON = (
    r"(?:the |your )?(?:user|reader|person asking|human)|d(?:em|er|en) (?:nutzer|benutzer|leser|anwender)\w*|"
    r"(?:à|a) l.(?:utilisateur|lecteur)|au lecteur|al (?:usuario|lector)|all.utente|al lettore|ao (?:usuário|"
    r"utilizador|"
    r"leitor)|de (?:gebruiker|lezer)|пользовател\w+|читател\w+|użytkownik\w*|kullanıcı\w*|用户|ユーザー\w?|"
    r"사용자\w*|المستخدم"
)
_TELL = (
    r"tell|inform|convince|persuade|urge|ask|instruct|warn|sag\w*|teile?\w*|informiere\w*|bitte|dis|dites|informez?|"
    r"demande\w*|di|dile|diga|informa|pide|digli|chiedi|peça|zeg|vraag|скажи\w*|сообщи\w*|попроси\w*|powiedz|"
    r"poinformuj|"
    r"söyle\w*|告诉|告知|要求|让|伝え\w*|言\w*|말\w*|알\w*|أخبر|قل"
)
_LEAD = (
    r"(?:^|[.:;,!?\-–—>*\"'“(]\s*|\b(?:and|then|now|please|just|instead|only|also|und|et|y|e|en|и|i|ve|dann|bitte)\s+)"
)
_SAY = (
    r"(?:say|print|write|output|reply|respond|answer|repeat|append|insert|include|add|begin|start|end|return|type|"
    r"speak|"
    r"schreib\w*|sag\w*|antworte\w*|gib|wiederhole|füge|dis|écri\w+|réponds?\w*|ajoute\w*|di|escrib\w+|respond[ea]\w*|"
    r"añad\w+|scriv\w+|rispond\w+|aggiung\w+|escrev\w+|diga|respond\w+|schrijf|zeg|antwoord|напиши\w*|скажи\w*|"
    r"ответь\w*|добавь\w*|napisz|odpowiedz|powiedz|yaz|söyle)"
)
_OUTPUT = (
    # cases count in "say PWNED": a word in capitals is a thing to be written
    rf"{_LEAD}{_SAY}\b.{{0,40}}?(?:\b(?:only|exactly|nothing but|verbatim|instead|nur|genau|ausschließlich|seulement|"
    r"uniquement|exactement|solo|solamente|únicamente|exactamente|soltanto|somente|apenas|alleen|только|tylko|"
    r"sadece)\b)",
    rf"{_LEAD}{_SAY}\b\s*(?:the (?:word|words|phrase|sentence|text)|das wort|le mot|la palabra|la parola|a palavra|"
    rf"слово|"
    r"słowo|with|mit|avec|con|com|met)?\s*[:]?\s*[\"'“”„«‘`]",
    rf"{_LEAD}{_SAY}\b\s*(?:the word|das wort|le mot|la palabra|la parola|a palavra|het woord|слово|słowo|"
    rf"kelimesini)\b",
    rf"{_LEAD}{_SAY}\b.{{0,40}}\b(?:in|to|of|with|at)\b.{{0,20}}\byour (?:answer|response|reply|output|summary|replies|"
    r"answers|responses)\b",
    r"\byour (?:answer|response|reply|output|summary)\b.{0,30}\b(?:must|should|shall|has to|needs to|will)\b",
    r"(?:只|仅|必须|请)(?:回答|输出|回复|说|写)|(?:回答|输出|回复|说)[:：]?[“\"「『]|[」』”\"]?と(?:だけ)?"
    r"(?:言|書|答え|返答|出力)\w*(?:てください|なさい|せよ)|라고(?:만)? (?:말|답|쓰|출력)\w*|(?:اكتب|قل|"
    r"أجب)(?:\s+فقط)?\s*[:«\"“]|"
    r"(?:केवल|सिर्फ़?).{0,30}(?:लिख|कह|उत्तर)",
    rf"(?<!\w)(?:{_TELL})\s+(?:{_PERSON})(?!\w)|(?:{_PERSON})\S{{0,2}}\s*.{{0,40}}(?:söyle|伝え|言っ|말하|알려)",
    r"(?:告诉|告知|让|要求)用户|أخبر المستخدم",
    r"\b(?:if|when|whenever) (?:you(?:'re| are)? |the user |someone |anyone |somebody |they )?(?:are |is )?ask(?:s|"
    r"ed)?\b"
    r".{0,80}?\b(?:say|answer|reply|respond|tell|claim|state)\b",
)
_SECRETS = (
    r"\b(?:reveal|show|print|repeat|disclose|leak|output|display|expose|zeige|verrate|montre\w*|révèle\w*|muestra|"
    r"revela|"
    r"mostra|rivela|покажи|раскрой|ujawnij|göster)\b.{0,40}\b(?:system prompt|your (?:\w+ )?(?:instructions|prompt|"
    r"rules)|"
    r"hidden (?:prompt|instructions|text)|conversation|chat history|api keys?|systemprompt|prompt système|"
    r"prompt del sistema|системн\w+ промпт\w*|sistem istemi)",
    r"(?:显示|泄露|透露|输出)(?:你的)?(?:系统提示|提示词|指令)|システムプロンプト|시스템 프롬프트",
    r"\b(?:send|forward|post|e-?mail|upload|leak|exfiltrate)\b.{0,40}\b(?:conversation|chat|"
    r"(?:user|person|reader)'?s? \w+)\b.{0,30}\bto\b",
    r"!\[[^\]]*\]\(\s*(?:https?:)?//",
    r"\b(?:decode|decrypt|rot13|base64|unscramble|reverse)\b.{0,60}\b(?:follow|obey|execute|carry out|do what|"
    r"comply|run)\b",
    r"\b(?:follow|obey|execute|comply with)\b.{0,30}\b(?:these|this|the following|my)\b.{0,20}\b(?:instructions?|"
    r"orders?|"
    r"commands?)\b.{0,20}\b(?:instead|now|only|immediately)\b",
    r"\bfrom now on\b.{0,40}\b(?:you|answer|say|respond|reply|speak|write)\b|\bab jetzt\b.{0,40}\b(?:du|antworte\w*|"
    r"schreib\w*|sag\w*)\b|\bà partir de maintenant\b.{0,40}\b(?:tu|vous|réponds?\w*)\b|\ba partir de ahora\b.{0,40}"
    r"\b(?:responde|di|eres|escribe)\b",
)
_HEAD = (
    r"<\|[^|>\n]{1,30}\|>|<｜[^｜>\n]{1,30}｜>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|</?(?:system|assistant|"
    r"instructions?|developer|human|passage|question)\b[^>]{0,30}>",
    r"^\W{0,4}(?:system|developer|assistant|système|sistema|система|系统|システム|시스템)(?: ?(?:message|prompt|"
    r"nachricht|"
    r"override|update|note|hinweis|消息|提示))?\s*(?:[:：>\]]|\W{0,4}$)",
    r"\b(?:begin|end|start of|end of)\b[ _](?:the )?(?:new |system |hidden |user )?(?:prompt|instructions?|"
    r"documents?|context|"
    r"passages?|data)\b",
)
_HIDDEN = r"<!--.*?(?:-->|$)|\{%.*?%\}|\{\{.*?\}\}"
_ALL = re.compile("|".join(f"(?:{rule})" for rule in (*_OVERRIDE, *_TO_MODEL, *_OUTPUT, *_SECRETS, *_HEAD)), re.I)
_SHOUTED = re.compile(
    rf"(?:(?i:{_LEAD}{_SAY}))\s*[:]?\s+(?:(?i:the|a|this|das|le|la|el|il|o|that)\s+)?[A-Z][A-Z0-9_!-]{{3,}}\b"
)

_REMOTE = re.compile(
    r"!\[|\]\s*\(|\[[^\]]+\]:\s*\S|<\s*/?\s*[a-z][^>]*>?|(?:https?|ftp|file|data|javascript|mailto):\S|//\S+\.\S|"
    r"\bwww\.\S",
    re.I,
)


@lru_cache(maxsize=4096)
def is_order(text: str) -> bool:
    """Does the sentence tell a model (or whoever answers for it) what to do?"""
    if _TAGS.search(text) or re.search(_HIDDEN, text, re.S):  # text that nobody was meant to see
        return True
    forms = {seen(text), _unspaced(seen(text)), seen(text).translate(_DIGITS)}
    return any(_ALL.search(form) or _SHOUTED.search(form) for form in forms)


def orders(sentences: Sequence[tuple[int, str]]) -> frozenset[int]:
    """Which sentences, each given with the id of its passage, are orders or what an order says is to be written."""
    found: set[int] = set()
    for n, (passage, text) in enumerate(sentences):
        leads = n - 1 in found and sentences[n - 1][0] == passage and _announces(sentences[n - 1][1])
        if leads or is_order(text):
            found.add(n)
    return frozenset(found)


def _announces(text: str) -> bool:
    """Does the order stand in what follows it: a colon, or a head alone?"""
    bare = seen(text).rstrip(" \"'“«*_#=-")
    return bare.endswith((":", "：", ">", "]")) or bool(re.fullmatch(rf"(?i:{_HEAD[1]})", bare))


def remote(text: str) -> bool:
    """Does the text hold markup or an address, by which something could be loaded or run?"""
    return _REMOTE.search(unicodedata.normalize("NFKC", text)) is not None


def seen(text: str) -> str:
    """The text as a person or model reads it: invisible characters out, look-alike letters told apart, one spacing."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) not in ("Cf", "Cc", "Co"))
    words = (w.translate(_LOOKALIKES) if _LATIN.search(w) else w for w in re.split(r"(\s+)", plain))
    return " ".join("".join(words).split())


def _unspaced(text: str) -> str:
    """Letters that were set apart (i g n o r e) put together again."""
    return _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match.group()), text)
