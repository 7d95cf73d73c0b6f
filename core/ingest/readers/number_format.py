"""Numbers of a sheet as its format shows them: dates as ISO dates, percent, decimals, thousands, units in quotes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0", 49: "@",
}  # fmt: skip
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.I)
_DATE_SIGN = re.compile(r"[ymdhse]|gg|aaa", re.I)
_NUMBER_SIGN = re.compile(r"[0#?][0#?,.]*")
_LAST_DAY = 2_958_466  # 31 December 9999


def built_in(number: int) -> str:
    """The code of a built-in format, "General" when there is none."""
    return BUILT_IN.get(number, "yyyy-mm-dd" if 27 <= number <= 36 or 50 <= number <= 58 else "General")


def show(value: float, code: str, epoch_1904: bool = False) -> str:
    """`value` in the format `code`."""
    sections = _sections(code)
    bare = _LITERAL.sub("", sections[0])
    if "general" in code.lower() or bare.strip() in ("", "@"):
        return plain(value)
    if _DATE_SIGN.search(bare) and not re.search(r"E[+-]", bare):
        return _date(value, bare, epoch_1904) or plain(value)
    negative = value < 0 and len(sections) > 1
    section = sections[1] if negative else sections[2] if value == 0 and len(sections) > 2 else sections[0]
    text = _number(abs(value) if negative else value, section)
    return f"-{text}" if negative and text and "-" not in text else text or plain(value)


def plain(value: float) -> str:
    """A number without a format: up to 12 significant digits, no exponent unless it is very large or small."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}"


def _sections(code: str) -> list[str]:
    """A code's parts for positive, negative and zero values; a semicolon in quotes parts nothing."""
    parts, quoted = [""], False
    for sign in code:
        quoted ^= sign == '"'
        if sign == ";" and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _number(value: float, section: str) -> str:
    """A number with the digits, the percent sign and the words of its section; empty when it shows no digits."""
    worded = _LITERAL.sub(lambda match: next((g for g in match.groups() if g), "").replace("0", "\ue000"), section)
    slot = _NUMBER_SIGN.search(worded)
    if slot is None or "/" in worded or re.search(r"E[+-]", worded):
        return ""
    digits = slot[0]
    whole, _, decimals = digits.partition(".")
    scale = len(whole) - len(whole.rstrip(",")) if not decimals else len(decimals) - len(decimals.rstrip(","))
    value = value * (100 if "%" in worded else 1) / 1000**scale
    places = len(decimals.rstrip(","))
    text = f"{value:{',' if ',' in whole.rstrip(',') else ''}.{min(places, 15)}f}"
    optional = len(decimals) - len(decimals.rstrip("#?"))
    if optional:
        kept = len(text) - optional
        text = (text[:kept] + text[kept:].rstrip("0")).rstrip(".")
    before = re.sub(r"[^\w\s%$€£¥().+\-\ue000]", "", worded[: slot.start()])
    after = re.sub(r"[#?]", "", worded[slot.end() :])
    return f"{before}{text}{after}".replace("\ue000", "0").strip()


def _date(value: float, bare: str, epoch_1904: bool) -> str:
    """The ISO form of a day number: date, time or both, as the format has them. Empty when it is no date."""
    code = bare.lower()
    clock = "h" in code or "s" in code
    calendar = bool(re.search(r"[yde]|gg|mmm|aaa", code)) or not clock
    if not 0 <= value < _LAST_DAY:
        return ""
    if "[" in code or (value < 1 and not calendar):
        return _duration(value, seconds="s" in code)
    first = datetime(1904, 1, 1) if epoch_1904 else datetime(1899, 12, 30 if value >= 61 else 31)
    try:
        moment = first + timedelta(seconds=round(value * 86_400))
    except OverflowError:
        return ""
    form = ("%Y-%m-%d " if calendar else "") + (("%H:%M:%S" if "s" in code else "%H:%M") if clock else "")
    return moment.strftime(form).strip()


def _duration(value: float, seconds: bool) -> str:
    total = round(value * 86_400)
    text = f"{total // 3600:02d}:{total // 60 % 60:02d}"
    return f"{text}:{total % 60:02d}" if seconds else text
