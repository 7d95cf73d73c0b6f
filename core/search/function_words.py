"""Function words of languages of which no more is known: they carry no subject in a query. As folded, lower case.

Of scripts without spaces they are the bigrams that such words give, and characters of their own.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = {
    "zh": _words(
        "的 了 是 在 和 与 有 为 被 什 么 谁 哪 几 吗 呢 吧 什么 哪些 哪个 哪一 多少 怎么 怎样 如何 为何 为什 "
        "哪里 哪儿 谁的 是什 么是 的是 是谁 几个 何时 何地 什么时 么时 时候 是否 一个 一种 这个 那个 这些 那些 "
        "它的 他的 她的 以及 或者 因为 所以 請問 请问 什麼 為什 為何 哪裡 怎麼 麼是 是什麼"
    ),
    "ja": _words(
        "です ます した して する ある いる から まで など のは には とは では これ それ あれ どれ この その "
        "どの どこ だれ なに なん いつ もの こと った ため よう という いう てい れて れた され たの たか すか "
        "いて なぜ どう ての でし しょ ょう うか ませ せん んな どん のか るの の は が を に で と も か へ 何 "
        "誰 について てく くだ ださ さい んで あり りま にお おい ける とし とい"
    ),
    "ko": _words(
        "무엇 무엇인 누구 언제 어디 어디서 몇 얼마 어떤 어느 무슨 왜 엇인 인가 가요 나요 는가 한가 은가 었나 "
        "았나 였나 했나 되나 습니 니까 입니 일까 을까 까요 인지 는지 언젠 젠가 떤 어떻 떻게 마나 구인 디인 제인 "
        "엇을 엇이 무 누 언 어 있는 있나 가장 때는"
    ),
    "ar": _words(
        "من في على إلى الى عن ما ماذا هو هي هم متى أين اين كيف كم هل لماذا الذي التي الذين هذا هذه ذلك تلك أن ان "
        "إن كان كانت و أو او ثم قد مع بين عند منذ حتى كل بعد قبل لا لم لن أي اي تم يتم بعض غير"
    ),
    "fa": _words(
        "از در به با را و که این آن است بود شد چه چرا چگونه کی کجا کدام آیا برای تا هم یا یک می های هر ها چیست کیست"
    ),
    "he": _words(
        "של על את עם אל מן מה מי מתי איפה איך כמה למה האם הוא היא הם הן זה זאת אלה אשר כי לא גם או אם כל היה "
        "היתה יש אין"
    ),
    "tr": _words(
        "ve veya ile bir bu şu o ne kim hangi nerede nereye nereden neden niçin nasıl kaç kadar mi mı mu mü için "
        "da de ki gibi olarak olan daha en çok her göre sonra önce ise idi neydi nedir kimdir zaman değil "
        "hangisi hangileri"
    ),
    "fi": _words(
        "ja tai sekä on ovat oli olivat mikä mitä mitkä missä mistä mihin milloin kuka kenen ketkä miksi miten "
        "kuinka monta paljon onko minä vuonna se ne hän he joka jotka ei että kun kuin myös mutta ollut "
        "millainen minkä"
    ),
    "ru": _words(
        "и в во на с со из к ко о об от до по за для при у не ни что кто где когда как какой какая какое какие "
        "каком каких какую каким какого куда откуда почему зачем сколько чей чем чего кого кому это этот эта эти "
        "тот та те он она оно они его её их был была было были быть есть ли же бы а но или так также который "
        "которая которое которые"
    ),
    "uk": _words(
        "і й та в у на з зі із до від за для при не що хто де коли як який яка яке які чому скільки це цей ця ці "
        "той він вона воно вони його її їх був була було були є чи або але"
    ),
    "vi": _words(
        "là gì của và ở những các được nào ai khi đâu bao nhiêu thì mà có không cho với trong về từ này "
        "đó một như để bị đã sẽ tại vì sao thế ra bởi đến hay hoặc nhất"
    ),
    "id": _words(
        "apa siapa kapan dimana mana di ke dari yang dan atau adalah ialah itu ini pada untuk dengan oleh dalam "
        "berapa bagaimana mengapa kenapa apakah siapakah kapankah dimanakah berapakah tidak juga akan telah "
        "sudah ada nama sebuah para"
    ),
    "hi": _words(
        "है हैं था थी थे का की के को में से पर और या कि यह वह ये वे क्या कौन कब कहाँ कहां कैसे क्यों कितना कितने "
        "कितनी किस किसने किसे ने तक एक इस उस जो भी नहीं हो लिए साथ"
    ),
    "nl": _words(
        "de het een en of van in op te aan met voor bij uit naar door over om is zijn was waren werd werden "
        "heeft hebben wat wie waar wanneer waarom hoe welke welk hoeveel die dat dit deze er niet ook als dan"
    ),
    "sv": _words(
        "och eller en ett den det de i på av för med till från om är var varit har hade vad vem vilka vilken "
        "vilket när varför hur många mycket som att inte också sig"
    ),
    "da": _words(
        "og eller en et den det de i på af for med til fra om er var har havde hvad hvem hvilken hvilke hvilket "
        "hvor hvornår hvorfor hvordan mange meget som at ikke også sig"
    ),
    "no": _words(
        "og eller en et ei den det de i på av for med til fra om er var har hadde hva hvem hvilken hvilke "
        "hvilket hvor når hvorfor hvordan mange mye som at ikke også seg"
    ),
    "pl": _words(
        "i oraz lub w we na z ze do od za dla przy o po nie co kto gdzie kiedy jak jaki jaka jakie jakim jakiej "
        "który która które dlaczego ile czy to ten ta te on ona ono oni jego jej ich był była było były jest są "
        "się"
    ),
    "cs": _words(
        "a i nebo v ve na z ze do od za pro při o po ne co kdo kde kdy jak jaký jaká jaké který která které proč "
        "kolik to ten ta ty on ona ono oni jeho její jejich byl byla bylo byly je jsou se"
    ),
    "hu": _words(
        "a az egy és vagy is nem mi mit ki kit hol mikor miért hogyan melyik milyen hány mennyi volt van voltak "
        "vannak ez ezek azok hogy meg mint"
    ),
    "el": _words(
        "ο η το οι τα του της των τον την και ή σε με από για στο στη στην στον τι ποιος ποια ποιο ποιοι πού "
        "πότε πώς γιατί πόσο πόσα είναι ήταν δεν ότι που να θα"
    ),
    "ro": _words(
        "și sau în pe de la din cu pentru prin un o ce cine unde când cum care cât câți câte este e sunt a fost "
        "era erau nu se al ai ale lui"
    ),
}

FUNCTION_WORDS["ms"] = FUNCTION_WORDS["id"]
FUNCTION_WORDS["nb"] = FUNCTION_WORDS["nn"] = FUNCTION_WORDS["no"]
