"""One scale for the cosines of any encoder in any language: 0 is "about something else", 1 is "says just that".

Encoders differ in how close they put unrelated texts (0.1 for some, 0.75 for others), and one encoder differs between
languages: those it hardly knows all look alike to it. A fixed threshold on a raw cosine would mean something else each
time. Four questions with their answers in each of some languages show both ends: the mean of the mismatched pairs is
0, the mean of the matched ones is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.encode.encoder import Encoder

FloatArray = NDArray[np.float32]
LEAST_RANGE = 0.05
# for a language without pairs: one that is far from English, so that its ends are cautious
OTHER = "ru"
PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("When does the night bus leave from the harbour?", "The night bus leaves the harbour at half past eleven."),
        ("Who repaired the church organ?", "The church organ was repaired by a carpenter from the next village."),
        ("How many eggs does a hen lay in a week?", "A hen lays about five eggs in a week."),
        ("Why did the bridge have to close?", "The bridge had to close because its bearings had rusted through."),
    ),
    "de": (
        ("Wann fährt der Nachtbus am Hafen ab?", "Der Nachtbus fährt um halb zwölf am Hafen ab."),
        ("Wer hat die Kirchenorgel repariert?", "Die Kirchenorgel hat ein Tischler aus dem Nachbardorf repariert."),
        ("Wie viele Eier legt ein Huhn in der Woche?", "Ein Huhn legt in der Woche etwa fünf Eier."),
        ("Warum wurde die Brücke gesperrt?", "Die Brücke wurde gesperrt, weil ihre Lager durchgerostet waren."),
    ),
    "fr": (
        ("Quand le bus de nuit part-il du port ?", "Le bus de nuit part du port à onze heures et demie."),
        ("Qui a réparé l'orgue de l'église ?", "L'orgue de l'église a été réparé par un menuisier du village."),
        ("Combien d'œufs une poule pond-elle par semaine ?", "Une poule pond environ cinq œufs par semaine."),
        ("Pourquoi a-t-il fallu fermer le pont ?", "Il a fallu fermer le pont parce que ses appuis étaient rouillés."),
    ),
    "es": (
        ("¿Cuándo sale el autobús nocturno del puerto?", "El autobús nocturno sale del puerto a las once y media."),
        ("¿Quién reparó el órgano de la iglesia?", "El órgano de la iglesia lo reparó un carpintero del pueblo."),
        ("¿Cuántos huevos pone una gallina por semana?", "Una gallina pone unos cinco huevos por semana."),
        ("¿Por qué hubo que cerrar el puente?", "Hubo que cerrar el puente porque sus apoyos estaban oxidados."),
    ),
    "ru": (
        ("Когда ночной автобус отходит от порта?", "Ночной автобус отходит от порта в половине двенадцатого."),
        ("Кто починил церковный орган?", "Церковный орган починил столяр из соседней деревни."),
        ("Сколько яиц несёт курица за неделю?", "Курица несёт за неделю около пяти яиц."),
        ("Почему закрыли мост?", "Мост закрыли, потому что его опоры проржавели."),
    ),
    "ja": (
        ("夜行バスは港を何時に出ますか。", "夜行バスは十一時半に港を出ます。"),
        ("教会のオルガンを修理したのは誰ですか。", "教会のオルガンは隣の村の大工が修理しました。"),
        ("鶏は一週間に卵をいくつ産みますか。", "鶏は一週間に卵を五つほど産みます。"),
        ("橋はなぜ閉鎖されましたか。", "橋は支承が錆びたため閉鎖されました。"),
    ),
    "zh": (
        ("夜班车几点从港口出发？", "夜班车十一点半从港口出发。"),
        ("教堂的管风琴是谁修的？", "教堂的管风琴是邻村的一位木匠修好的。"),
        ("一只母鸡一周下几个蛋？", "一只母鸡一周大约下五个蛋。"),
        ("大桥为什么关闭？", "大桥因为支座锈穿而关闭。"),
    ),
}  # fmt: skip


@dataclass
class Scale:
    """Turns raw cosines into shares of the way from "unrelated" to "says just that"; measures a language once."""

    encoder: Encoder
    _ends: dict[str, tuple[float, float]] = field(default_factory=dict)

    def ends(self, language: str) -> tuple[float, float]:
        """Raw cosines that stand for 0 and 1 in texts of `language`."""
        key = language if language in PAIRS else OTHER
        if key not in self._ends:
            self._ends[key] = _measure(self.encoder, PAIRS[key])
        return self._ends[key]

    def __call__(self, cosines: FloatArray, languages: Sequence[str]) -> FloatArray:
        """Cosines [..., N] with texts of these languages [N], scaled and cut to 0 to 1.2."""
        low, high = np.array([self.ends(language) for language in languages], np.float32).reshape(-1, 2).T
        return np.clip((cosines - low) / (high - low), 0.0, 1.2).astype(np.float32)


def _measure(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    questions = encoder.encode([question for question, _ in pairs], kind="query")
    answers = encoder.encode([answer for _, answer in pairs])
    cosines = questions @ answers.T
    matched = np.eye(len(pairs), dtype=bool)
    low, high = float(cosines[~matched].mean()), float(cosines[matched].mean())
    return low, max(high, low + LEAST_RANGE)
