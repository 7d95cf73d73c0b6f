"""Named colours, light and dark, and how they become a palette, a style sheet and a type scale.

Widgets never hold a literal colour. What a style sheet can say is said in `resources/styles/whymatch.qss`
by dynamic properties (`kind`, `tone`, `role`); what must be painted by hand asks `colours()` while painting,
which follows the palette in force and so needs no signal.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from core.base.paths import resources

SYSTEM, LIGHT_MODE, DARK_MODE = "system", "light", "dark"


@dataclass(frozen=True, slots=True)
class Colours:
    """Every colour of the window, as `#rrggbb`. Pairs that hold text keep a contrast of at least 4.5:1."""

    window: str  # behind everything
    surface: str  # cards, lists, fields
    sunken: str  # wells inside a surface: table headers, code
    hover: str
    pressed: str
    border: str  # quiet lines between areas
    outline: str  # edge of a control, 3:1 against its surroundings
    text: str
    muted: str  # second-rank text
    accent: str  # primary buttons, selection bars, focus rings
    on_accent: str
    accent_hover: str
    accent_soft: str  # tinted areas: selected row, active page
    accent_text: str  # links, and text on accent_soft
    success: str
    success_soft: str
    warning: str
    warning_soft: str
    danger: str
    danger_soft: str
    on_danger: str
    neutral_soft: str  # a badge without a meaning of its own
    mark: str  # behind a matched word
    on_mark: str
    toast: str
    on_toast: str
    toast_link: str
    # hues to tell channels and concepts apart, each 3:1 against `surface`, and all of one weight
    series_1: str
    series_2: str
    series_3: str
    series_4: str
    series_5: str
    series_6: str

    def colour(self, name: str) -> QColor:
        """The colour called `name`. Raises AttributeError for a name that is none."""
        return QColor(getattr(self, name))


LIGHT = Colours(
    window="#f5f6f8", surface="#ffffff", sunken="#eef0f4", hover="#eceff5", pressed="#e0e5ee",
    border="#dfe3ea", outline="#858f9f", text="#1b2029", muted="#566071",
    accent="#3557c9", on_accent="#ffffff", accent_hover="#2a48ad", accent_soft="#e5ebfc", accent_text="#2a48ad",
    success="#19693f", success_soft="#def3e6", warning="#7d4f00", warning_soft="#fdf0d0",
    danger="#b0261d", danger_soft="#fce6e3", on_danger="#ffffff", neutral_soft="#e8ebf0",
    mark="#ffe49a", on_mark="#1b2029", toast="#262c38", on_toast="#f5f6f8", toast_link="#a9c1ff",
    series_1="#3557c9", series_2="#0f7f79", series_3="#b4560f", series_4="#8a45b5", series_5="#b02f63",
    series_6="#5b7213",
)  # fmt: skip

DARK = Colours(
    window="#14171d", surface="#1c2028", sunken="#171b22", hover="#272d38", pressed="#313847",
    border="#2d3440", outline="#6f7a8c", text="#e7eaf0", muted="#a2acbb",
    accent="#8fb0ff", on_accent="#0f1a33", accent_hover="#aac3ff", accent_soft="#25324f", accent_text="#b3c9ff",
    success="#7fd6a4", success_soft="#1c3a2b", warning="#f0c26b", warning_soft="#3d3118",
    danger="#ff9d94", danger_soft="#472422", on_danger="#330a07", neutral_soft="#2b313c",
    mark="#66521a", on_mark="#fff0c2", toast="#e7eaf0", on_toast="#1b2029", toast_link="#2a48ad",
    series_1="#8fb0ff", series_2="#5ccbc3", series_3="#f2a56b", series_4="#cf9cf0", series_5="#f592b8",
    series_6="#b3cc6b",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scale:
    """Type sizes in points at 100 %."""

    small: float = 9.5
    body: float = 10.5
    heading: float = 12.5
    title: float = 17.0
    display: float = 24.0


def colours() -> Colours:
    """The colours in force, read off the application's palette. For painting by hand."""
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if window == QColor(DARK.window) else LIGHT


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    brighter, darker = sorted((_luminance(QColor(one)), _luminance(QColor(other))), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: QColor) -> float:
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
             for v in (colour.redF(), colour.greenF(), colour.blueF())]  # fmt: skip
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


class Theme(QObject):
    """Keeps the application's look: the mode that was chosen, and the colours that follow from it.

    `changed` comes after palette and style sheet are in force.
    """

    changed = Signal()

    def __init__(self, app: QApplication, mode: str = SYSTEM, text_percent: int = 100) -> None:
        super().__init__(app)
        self._app = app
        self._mode = mode
        self._percent = text_percent
        self._families = _families()
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def mode(self) -> str:
        return self._mode

    @property
    def dark(self) -> bool:
        if self._mode == SYSTEM:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._mode == DARK_MODE

    @property
    def colours(self) -> Colours:
        return DARK if self.dark else LIGHT

    def set_mode(self, mode: str) -> None:
        """`mode` is "system", "light" or "dark"."""
        if mode != self._mode:
            self._mode = mode
            self._apply()

    def set_text_percent(self, percent: int) -> None:
        if percent != self._percent:
            self._percent = percent
            self._apply()

    def font(self, role: str = "body", *, bold: bool = False) -> QFont:
        """The font of a step of the type scale, for text that is painted by hand."""
        font = QFont(self._families)
        font.setPointSizeF(getattr(Scale(), role) * self._percent / 100)
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        return font

    def _system_changed(self) -> None:
        if self._mode == SYSTEM:
            self._apply()

    def _apply(self) -> None:
        self._app.setFont(self.font())
        self._app.setPalette(palette(self.colours))
        self._app.setStyleSheet(style_sheet(self.colours, self._percent))
        self.changed.emit()


def _families() -> list[str]:
    """The system's own font; where that is only a stand-in (bare X11), a better one if it is installed."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    if system.lower() not in ("sans serif", "sans", "dejavu sans", "bitstream vera sans", "helvetica"):
        return [system]
    installed = set(QFontDatabase.families())
    return [f for f in ("Inter", "Noto Sans", "Cantarell", "Ubuntu") if f in installed] + [system]


def palette(c: Colours) -> QPalette:
    """The colours as a Qt palette, for what no style sheet reaches."""
    role = QPalette.ColorRole
    made = QPalette()
    for name, value in {
        role.Window: c.window, role.WindowText: c.text, role.Base: c.surface, role.AlternateBase: c.sunken,
        role.Text: c.text, role.Button: c.surface, role.ButtonText: c.text, role.BrightText: c.danger,
        role.Highlight: c.accent, role.HighlightedText: c.on_accent, role.Accent: c.accent,
        role.Link: c.accent_text, role.LinkVisited: c.accent_text, role.PlaceholderText: c.muted,
        role.ToolTipBase: c.toast, role.ToolTipText: c.on_toast, role.Light: c.surface, role.Midlight: c.hover,
        role.Mid: c.border, role.Dark: c.outline, role.Shadow: c.outline,
    }.items():  # fmt: skip
        made.setColor(name, QColor(value))
    for name in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, name, QColor(c.outline))
    return made


def style_sheet(c: Colours, text_percent: int = 100) -> str:
    """`resources/styles/whymatch.qss` with its `$names` filled."""
    template = Template((resources() / "styles" / "whymatch.qss").read_text(encoding="utf-8"))
    sizes = {f"size_{k}": f"{v * text_percent / 100:.2f}pt" for k, v in dataclasses.asdict(Scale()).items()}
    look = "dark" if c is DARK else "light"
    pictures = {
        "icons": (resources() / "icons").as_posix(),
        "arrow": f"chevron-down-{look}.svg",
        "arrow_up": f"chevron-up-{look}.svg",
        "check": f"check-{look}.svg",
    }
    return template.substitute(dataclasses.asdict(c) | sizes | pictures)
