"""Words that name nothing: left out of labels, and of the words that an explanation aligns.

A label needs words with content, so the lists hold function words and also the verbs and adverbs that any
prose is full of. Languages without a list rely on the contrast of the describer alone.
"""

from __future__ import annotations

from functools import cache

_EN = """
a about above according across after again against all allow almost alone along already also although always
am among an and another any anyone anything are around as aside ask at away back be became because become been
before began behind being below best better between beyond both bring but by call came can cannot case cause
certain change clear clearly come common commonly compared consider could current currently day days did
different difficult do does doing done down due during each early easily easy effect eight either else end
enough especially even ever every everyone everything example except far few find first five follow followed
following for former found four from full further furthermore gave general generally get give given go goes
good got great greater had half has have having he hence her here hers herself high higher highly him himself
his how however i if important in include included includes including increase increased indeed instead into
is it its itself just keep kept kind know known large largely larger last late later least less let like
likely little long longer look low lower made main mainly make makes making many may me mean means might more
moreover most mostly much must my myself near nearly need needed neither never nevertheless new next nine no
nobody none nor not nothing now number of off often old on once one ones only onto or order other others
otherwise our ours out over overall own part particular particularly people per perhaps place possible
possibly present previous previously probably provide provided provides put quite rather really recent
recently reduced related relative respectively result resulted resulting results right said same saw say
second see seen seven several shall she should show showed shown shows significant significantly similar
similarly since six small so some someone something sometimes soon still strong studied studies study such
suggest suggested suggests suggesting take taken tell ten than that the their theirs them themselves then
there thereby therefore these they thing things think third this those though three through throughout thus
time times to together too took toward towards two type under unlike until up upon us use used useful uses
using usually various very via was way ways we well went were what when where whereas whether which while who
whole whom whose why wide widely will with within without work would year years yes yet you your yours
yourself based observed identified demonstrate demonstrated investigated associated determine determined
reported required respect addition additional aim objective background methods conclusion conclusions findings
evidence role approach develop developed contrast produce produced lead led leads leading help helps play
plays remain remains unknown involve involved occur occurs occurred able well-known set sets form forms
high-quality page chapter section table figure isn't don't doesn't didn't won't can't wasn't weren't aren't
it's that's etc eg ie vs non
"""

_DE = """
ab aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus außer bei
beide beiden beim bereits bin bis bisher bist da dabei dadurch dafür dagegen daher damit danach dann daran
darauf daraus darf darin darüber darum das dass davon davor dazu dein dem den denen denn dennoch der deren des
dessen deswegen dich die dies diese diesem diesen dieser dieses dir doch dort drei du durch dürfen eben
ebenfalls ebenso ein eine einem einen einer eines einige einigen einiger einmal er erst es etwa etwas euch
euer fast für ganz gar gegen gegenüber gemäß genau gibt gleich gut habe haben hat hatte hatten her hier hin
hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins insbesondere ist ja je jede
jedem jeden jeder jedes jedoch jene jetzt kann kein keine keinem keinen keiner können könnte konnte konnten
machen macht man mehr mein meist mich mir mit möglich müssen muss musste nach nachdem neben neue neuen nicht
nichts noch nun nur ob oben oder ohne schon sehr sei seien sein seine seinem seinen seiner seines seit seitdem
selbst sich sie sind so sobald sogar solche solchen soll sollen sollte sondern sonst sowie sowohl statt stets
über um und uns unser unsere unseren unter usw viel viele vielen vom von vor während war waren was wegen weil
weiter weitere weiteren welche welchem welchen welcher welches wenig weniger wenn wer werde werden wie wieder
will wir wird wo wobei wurde wurden würde würden zu zum zur zusammen zwar zwei zwischen zwölf jahr jahre
jahren zeit teil beispiel
"""

_FR = """
à afin ai aie aient ainsi alors après as au aucun aucune aujourd'hui auquel aussi autre autres aux avaient
avait avant avec avez avoir ayant beaucoup bien c'est car ce ceci cela celle celles celui cent cependant
certains ces cet cette ceux chaque chez ci comme comment contre d'un d'une dans de depuis dernier des deux
devant devrait dire dit dix doit doivent donc dont du durant elle elles en encore enfin entre est et étaient
était étant été être eu eux fait faire faut fois font grand grande hors ici il ils jamais je jour jusqu l la
laquelle le lequel les lesquels leur leurs lors lorsque lui ma mais même mêmes mes moins moi mon ne ni non nos
notre nous nouveau on ont ou où par parce parfois parmi pas pendant peu peut peuvent plus plusieurs plutôt
pour pourquoi première premier presque puis qu quand quatre que quel quelle quelles quelque quelques quels qui
quoi sa sans se selon sera seront ses si sinon soit son sont sous souvent sur ta tandis tant te tel telle tels
tes toi ton toujours tous tout toute toutes très trois trop tu un une vers voici voilà vos votre vous y an ans
année années
"""

_ES = """
a además al algo algunas alguno algunos ante antes aquel aquella aquellos aquí así aun aún aunque año años
bajo bien cada casi como con contra cual cuales cualquier cuando cuanto de debe deben del desde después día
días donde dos durante e el ella ellas ello ellos en entonces entre era eran es esa esas ese eso esos esta
está estaba están estar estas este esto estos fue fueron gran grandes ha había habían han hasta hay hace hacer
hacia incluso la las le les lo los luego más me mayor mediante mejor menos mi mientras misma mismo mucho
muchos muy nada ni ninguna ninguno no nos nosotros nuestra nuestro nueva nuevo o otra otras otro otros para
parte pero poco por porque primer primera primero pueda puede pueden pues que qué quien quienes se sea sean
según ser si sí sido siempre siendo sin sino sobre solo son su sus tal también tan tanto te tener tiene tienen
toda todas todo todos tras tres tu tuvo un una unas uno unos usted ustedes varios vez veces y ya yo
"""

_IT = """
a abbiamo ad ai al alla alle allo altra altre altri altro anche ancora anni anno avere aveva c'è che chi ci
ciò circa come con contro cosa così cui da dai dal dalla dalle dallo degli dei del della delle dello dopo dove
due durante e è ed era erano essere fa fino fra fu furono già gli ha hanno i il in infatti inoltre io l la le
lei li lo loro lui ma mai mentre mi molte molti molto ne negli nei nel nella nelle nello no noi non nostro o
ogni oltre oppure per perché però più poco poi prima primo può qua quale quali quando quanto quasi quella
quelle quelli quello questa queste questi questo qui se sei sempre senza si sia siamo sono sopra sotto stata
state stati stato su sua sue sugli sui sul sulla sulle suo suoi tra tre tutta tutte tutti tutto un una uno
verso via vi viene voi
"""

_PT = """
a à ainda além algumas alguns anos ante antes ao aos após apenas aquela aquele aqueles aqui as às assim até
bem cada com como contra da das de dela dele deles depois desde dessa desse desta deste deve devem dia do dos
duas durante e é ela elas ele eles em embora entre era eram essa essas esse esses esta está estão estas este
estes eu foi foram grande há isso isto já lhe mais mas me menos mesma mesmo meu minha muito muitos na nas nem
nenhum no nos nós nossa nosso num numa não o onde os ou outra outras outro outros para parte pela pelas pelo
pelos pode podem pois por porque quais qual quando quanto que quem são se seja sem sempre ser será seu seus
sido sob sobre sua suas só também tanto te tem têm tendo ter tinha toda todas todo todos três tu um uma umas
uns você vez
"""

_NL = """
aan af al alle alleen alles als altijd ander andere anders bij binnen daar daarna dan dat de deze die dit doen
door drie dus echter een eens en enkele er geen gehad geweest had hadden heb hebben heeft hem het hier hij hoe
hun ieder iets ik in is ja jaar je kan kon kunnen maar maken me meer men met mij mijn moet moeten na naar
nadat niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen ten ter terwijl tijdens toch
toen tot tussen twee u uit uw van vanaf veel vele verder via vooral voor waar waarbij waren was wat we wel
werd werden wie wij wil worden wordt zal ze zeer zelf zich zij zijn zo zoals zonder zou zouden
"""

_RU = """
а без более больше будет будто бы был была были было быть в вам вас весь во вот все всего всех вы где да даже
два для до другие другой его ее её если есть еще ещё же за здесь и из или им иногда их к как какая какой когда
который которая которые которых кто ли лишь между меня мне много может можно мой мы на над надо наш не него
нее ней нет ни них но ну о об один однако он она они оно от очень по под после потом потому почти при про раз
с сам свою себе себя сейчас со среди так также такой там тебя тем теперь то тогда того тоже только том тот три
ту ты у уже хотя чего чем через что чтобы чуть эта эти этих это этого этой этом этот эту я год года лет
"""

_TR = """
acaba ama ancak aslında az bazı bana ben bir birçok biri birkaç biz böyle bu buna bunda bundan bunlar bunun
çok çünkü da daha de değil diğer diye en fakat gibi göre hem hep hepsi her herhangi hiç için ile ilgili ise
işte kadar kendi kez ki kim kimse mı mi mu mü nasıl ne neden nerede niçin o olan olarak oldu olduğu olduğunu
olmak olur ona ondan onlar onun önce öyle pek rağmen sadece sanki sen siz son sonra şey şöyle şu tarafından
tüm ve veya ya yani yer yıl yılında yok zaman
"""

_SV = """
alla allt än andra är at att av bara blev bli blir de deras dem den denna dess dessa det detta dig din dit där
då efter ej eller en ett finns från för före genom ha hade han har hennes henne hon honom hur här i icke ifrån
in ingen inom inte jag kan kunde man med mellan men mer mot mycket nu när någon något några och också om oss
på samma sedan sig sin sina sitt skulle som så sådan till två under upp ut utan vad var vara varför varit vi
vid vill även över år ska
"""

_AR = """
في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم كان كانت يكون تكون قد لقد لم لن لا ما أن إن أو ثم
بل كل بعض غير بين بعد قبل عند حتى إذا كما حيث أي أيضا منذ خلال حول ضد كانوا وقد وكان وهو وهي ولم وفي ومن عام
وكانت فقد عندما لكن
"""

_VI = """
là và của có các những một được trong cho với không người này khi đã đến từ để ở vào ra như về thì cũng nhiều
nhưng lại sau trên theo đó nó bị tại năm rất hơn hay hoặc bởi do sẽ vì còn nên mà
"""

_ID = """
ada adalah agar akan antara apa atau bagi bahwa banyak beberapa belum bisa dalam dan dapat dari dengan di dia
hanya harus hingga ia ini itu jika juga kami karena ke kepada ketika lain lebih masih mereka namun oleh orang
pada para sangat satu saya sebagai sebelum sebuah secara sehingga sejak selama seorang seperti serta setelah
suatu sudah tahun tanpa telah tetapi tidak untuk yaitu yang
"""

_FI = """
ei eivät että he hän häntä ja jo joka jos jossa jotka joten kanssa kaikki kuin kuitenkin kun me minä mitä
muita mukaan mutta myös ne niin noin nyt näin oli olivat on ovat sekä sen se siitä sitä suuri tai tämä vain
vielä vuonna vuoden
"""

# in scripts without spaces: a candidate that holds one of these characters or words is no name
_UNSPACED = """
的 了 是 在 和 与 及 或 也 都 而 就 被 把 对 为 从 到 这 那 他 她 它 们 我 你 其 不 有 以 于 之 上 下 中的
等 个 一 時 こと もの ため よう これ それ この その です ます した して する され 및 에서 으로 하는 했다 있다 이다
"""

_LISTS = {
    "en": _EN, "de": _DE, "fr": _FR, "es": _ES, "it": _IT, "pt": _PT, "nl": _NL, "ru": _RU, "tr": _TR, "sv": _SV,
    "ar": _AR, "vi": _VI, "id": _ID, "fi": _FI,
}  # fmt: skip


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded function words of a language (ISO 639-1). Those of English go with every language."""
    return frozenset(_EN.split()) | frozenset(_LISTS.get(language, "").split())


@cache
def unspaced_stops() -> tuple[str, ...]:
    return tuple(_UNSPACED.split())
