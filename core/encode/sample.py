"""Short texts in many languages and scripts: an encoder's 8-bit graph is calibrated and judged on them.

Each theme is told in several languages, so that near and far texts are to be told apart.
"""

from __future__ import annotations

CALIBRATION = (
    "The ferry leaves the northern pier at half past seven and returns before dark, unless the wind is stronger than "
    "force six; in that case passengers may use the evening bus without another ticket.",
    "Table 4: mean residual error (in %) by sample size, n = 32, 64, 128; p < 0.05 throughout. See also section 3.1.2.",
    "def area(width: float, height: float) -> float:\n    return width * height  # square metres",
    "Die Mieterin kündigte den Vertrag fristgerecht zum 31. März 2024 und verlangte die Kaution von 1.250 Euro zurück.",
    "Le médecin a conseillé au patient de boire davantage d'eau et de revenir dans deux semaines pour un examen.",
    "Los agricultores del valle siembran trigo en otoño y recogen la cosecha a comienzos del verano.",
    "Врач посоветовал больному больше гулять и принимать лекарство три раза в день после еды.",
    "يغادر القطار المحطة في الساعة الثامنة صباحا ويصل إلى العاصمة قبل الظهر.",
    "医生建议病人多喝水，每天散步半小时，两周后再来复查。",
    "会議は来週の火曜日に延期されました。資料は前日までに送ってください。",
    "이 건물은 백 년 전에 지어졌으며 지금은 도서관으로 쓰이고 있다.",
    "Toplantı önümüzdeki hafta salı gününe ertelendi; belgeleri bir gün önceden gönderin.",
    "किसान शरद ऋतु में गेहूँ बोते हैं और गर्मियों की शुरुआत में फसल काटते हैं।",
    "Tòa nhà này được xây dựng cách đây một trăm năm và hiện nay là một thư viện.",
    "Invoice no. 2024-0817: 3 x printer paper, 14.70 EUR; payable within 30 days.",
    "yes",
)  # what the ranges of activations are read from: nothing of it is judged

JUDGED = (
    "The bees leave the hive when the lime trees bloom and bring home a dark, strong honey.",
    "A swarm that hangs in the open is calm, since it has no brood and no stores to defend.",
    "The contract ends without notice when the rent has not been paid for two months.",
    "The tenant may ask for the deposit back once the flat has been handed over.",
    "A cold front crosses the coast tonight; heavy rain and gusts are likely until Friday.",
    "The glacier has lost a third of its length since the first survey in 1894.",
    "Restart the server, clear the cache and check the log for error 502.",
    "The password must have twelve characters and is changed once a year.",
    "The orchestra rehearses the second movement slowly, with the violins alone at first.",
    "The probe entered orbit around the planet after a voyage of seven years.",
    "Der Imker öffnet den Stock nur an warmen Tagen, damit die Brut nicht auskühlt.",
    "Das Gericht hob die Kündigung auf, weil die Frist nicht eingehalten worden war.",
    "Les abeilles visitent les fleurs du verger dès les premiers jours de soleil.",
    "La lluvia intensa provocó inundaciones en los barrios bajos de la ciudad.",
    "O contrato termina no fim do ano se nenhuma das partes o renovar.",
    "L'orchestra suonò la sinfonia senza intervallo davanti a una sala piena.",
    "Спутник вышел на орбиту и передал первые снимки поверхности.",
    "ينتهي عقد الإيجار في نهاية السنة ما لم يجدده الطرفان.",
    "暴雨导致河水上涨，城市低洼地区被淹。",
    "蜂蜜的颜色和味道取决于蜜蜂采集的花朵。",
    "探査機は七年の旅を経て惑星の軌道に入った。",
    "비밀번호는 열두 글자 이상이어야 하며 일 년에 한 번 바꾼다.",
    "Kira iki ay ödenmezse sözleşme bildirim yapılmadan sona erer.",
    "तेज़ बारिश के कारण निचले इलाकों में बाढ़ आ गई।",
    "Mật khẩu phải có ít nhất mười hai ký tự và được thay mỗi năm một lần.",
    "Pszczoły opuszczają ul, gdy kwitną lipy, i przynoszą ciemny miód.",
    "Lumimyrsky katkaisi sähköt useista kylistä viikonlopun aikana.",
    "Orkiestra ćwiczy drugą część powoli, najpierw same skrzypce.",
)

QUESTIONS = (
    "honey from lime trees", "when may the landlord end the contract?", "flood after heavy rain",
    "how to reset a password", "spacecraft in orbit", "concert of the orchestra", "Wann darf man den Stock öffnen?",
    "Kaution zurück", "météo de ce week-end", "contrato de alquiler", "снимки со спутника", "عقد الإيجار", "洪水",
    "パスワードの変更", "꿀벌", "sözleşme ne zaman biter",
)  # fmt: skip
