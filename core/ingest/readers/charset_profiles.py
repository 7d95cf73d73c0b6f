"""What text of a language looks like: its letters beyond ASCII, the frequent ones first, and the encodings it comes in.

Letters are in the order in which they are frequent in running text, since a wrong encoding of the right script maps
frequent letters to rare ones (all Cyrillic encodings hold the same letters at other places).
"""

from __future__ import annotations

from dataclasses import dataclass

_WESTERN = ("cp1252", "mac_roman", "cp850", "cp437", "iso8859_15")
_CENTRAL = ("cp1250", "iso8859_2", "mac_latin2", "cp852")
_BALTIC = ("cp1257", "iso8859_13", "iso8859_4", "cp775")
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "mac_cyrillic", "iso8859_5", "koi8_u", "cp855")
_VIETNAMESE_TONES = "\u0301\u0300\u0323\u0309\u0303"


@dataclass(frozen=True, slots=True)
class Profile:
    """`latin`: its letters beyond ASCII are few, and the words between them tell the language."""

    language: str
    letters: str
    encodings: tuple[str, ...]
    latin: bool = False


ALPHABETS = (
    Profile("ru", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", _CYRILLIC),
    Profile("uk", "оанивіетрсклудмпяьзгбчйхцїюєжшщфґ", _CYRILLIC),
    Profile("be", "аніеорыслтквдзьпмягшуёцбйчжхўюэф", _CYRILLIC),
    Profile("bg", "аоеитнрсвлдкпмзгъубчщцжхйяшфюь", _CYRILLIC),
    Profile("sr", "аиоенрсјткувдлмпгзбшчњцжћхљђфџ", _CYRILLIC),
    Profile("mk", "аоиетнсрвдлкмпујзгчбшцжхќфѓљњџѕ", _CYRILLIC),
    Profile("el", "αοιετνσηυρπκλμςωάίόέγδήχύώθφβξζψϊϋΐΰ", ("cp1253", "iso8859_7", "mac_greek", "cp737", "cp869")),
    Profile("he", "יוהלאתרבמשנדקחעפסגצטזכםןךףץ", ("cp1255", "iso8859_8", "cp862")),
    Profile("ar", "اليمنوترعبدسةفهكقحجأشصىطخضذثئزغءإظؤآـَُِّْ", ("cp1256", "iso8859_6", "mac_arabic")),
    Profile("fa", "ایرندوهمتبشسکزگدخفقلپحعجآچطصضغژثظذئءي", ("cp1256", "mac_farsi")),
    Profile("th", "านรอกเงมยลวดสตที่ปบ้คะิหัแจใพขช็ไโผศุูธฉซึืฐณถฟภษฝฏฬฎฌฒญำ์ๆฯ", ("cp874", "tis_620")),
)
LATIN = (
    Profile("en", "éèêïöüç", _WESTERN, latin=True),
    Profile("de", "üäöß", _WESTERN, latin=True),
    Profile("fr", "éèàêçôîùâûëïœæ", _WESTERN, latin=True),
    Profile("es", "óíáéñúü¿¡ºª", _WESTERN, latin=True),
    Profile("pt", "ãáçéíóõêâúàôüºª", _WESTERN, latin=True),
    Profile("it", "èàùòìéî", _WESTERN, latin=True),
    Profile("nl", "ëéïüöèó", _WESTERN, latin=True),
    Profile("sv", "äåöé", _WESTERN, latin=True),
    Profile("da", "æøåé", _WESTERN, latin=True),
    Profile("no", "øåæéòô", _WESTERN, latin=True),
    Profile("fi", "äöåš", _WESTERN, latin=True),
    Profile("is", "ðáíéöþúýóæ", _WESTERN, latin=True),
    Profile("ca", "àèéíòóúïüç·", _WESTERN, latin=True),
    Profile("pl", "ąęłóśżćńź", _CENTRAL, latin=True),
    Profile("cs", "íáéěřýžčšůúťďňó", _CENTRAL, latin=True),
    Profile("sk", "áíéčšžýúľťôňďäĺŕó", _CENTRAL, latin=True),
    Profile("hu", "áéöőíóüúű", _CENTRAL, latin=True),
    Profile("ro", "ăîâșțşţ", (*_CENTRAL, "iso8859_16"), latin=True),
    Profile("hr", "čšžćđ", _CENTRAL, latin=True),
    Profile("sl", "čšž", _CENTRAL, latin=True),
    Profile("sq", "ëç", ("cp1250", *_WESTERN), latin=True),
    Profile("tr", "ıüşçğöİâîû", ("cp1254", "mac_turkish", "cp857"), latin=True),
    Profile("et", "äõüöšž", (*_BALTIC, "cp1252"), latin=True),
    Profile("lv", "āīēšūņļķžčģ", _BALTIC, latin=True),
    Profile("lt", "ėšųžąįūęč", _BALTIC, latin=True),
    Profile("vi", f"đư{_VIETNAMESE_TONES}ơâêôăàáãèéìíòóùúý", ("cp1258",), latin=True),
    Profile("mt", "ħżġċàèòù", ("iso8859_3",), latin=True),
    Profile("eo", "ĉŝĝĵŭĥ", ("iso8859_3",), latin=True),
    Profile("cy", "ŵŷâêîôû", ("iso8859_14",), latin=True),
)


@dataclass(frozen=True, slots=True)
class Ideographs:
    """A language of many characters: the most frequent ones, and the standard whose first level holds the usual ones.

    `levels`: ranges of lead bytes in `standard` whose characters are usual.
    """

    language: str
    frequent: str
    standard: str
    levels: tuple[tuple[int, int], ...]
    encodings: tuple[str, ...]


IDEOGRAPHS = (
    Ideographs(
        "ja",
        "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30FD))))
        + "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北",
        "euc_jp", ((0xB0, 0xCF),), ("cp932", "euc_jis_2004"),
    ),
    Ideographs(
        "zh",
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运",
        "gb2312", ((0xB0, 0xD7),), ("gb18030",),
    ),
    Ideographs(
        "zh",
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運臺灣灣",
        "big5", ((0xA4, 0xC6),), ("cp950", "big5hkscs"),
    ),
    Ideographs(
        "ko",
        "이다는을의에가고하지를은한로기사도아대서리인자어시그나들해정부스일수나전으과보제원상장만있여주와게오구비공선동었면것성우세라국중미안경모소할음회년실신유물연화관무교조작없계개마까려내습니위된되등생당했요각",
        "euc_kr", ((0xB0, 0xC8),), ("cp949", "johab"),
    ),
)  # fmt: skip

EBCDIC = ("cp037", "cp500", "cp273", "cp1026", "cp875", "cp424")
