"""Colours, type and measures of the whole window. The only file that holds a colour value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from workbench.ui import fonts


@dataclass(frozen=True)
class Tokens:
    """The colours of one theme, as "#RRGGBB"; named by what they are for."""

    window: str
    surface: str
    raised: str
    hover: str
    border: str
    control: str
    text: str
    text2: str
    text3: str
    disabled: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    good: str
    info: str
    is_dark: bool

    def colour(self, name: str) -> QColor:
        """The token `name` as a QColor."""
        return QColor(getattr(self, name))


LIGHT = Tokens(
    window="#F5F6F4",
    surface="#FFFFFF",
    raised="#ECEFEC",
    hover="#E4E9E5",
    border="#D5DBD6",
    control="#78847C",
    text="#1A211D",
    text2="#515C56",
    text3="#5E6963",
    disabled="#9AA49E",
    accent="#0E6B52",
    accent_hover="#0A5542",
    on_accent="#FFFFFF",
    accent_soft="#DDF0E8",
    danger="#B3261E",
    danger_soft="#FBE9E7",
    warning="#8A5300",
    warning_soft="#FDF0DC",
    good="#1F6F3D",
    info="#2457B0",
    is_dark=False,
)
DARK = Tokens(
    window="#14181B",
    surface="#1B2023",
    raised="#252B2F",
    hover="#2E3539",
    border="#363E42",
    control="#7A858B",
    text="#E7ECE9",
    text2="#AAB4B0",
    text3="#96A19D",
    disabled="#68736E",
    accent="#54C5A0",
    accent_hover="#74D6B6",
    on_accent="#06261C",
    accent_soft="#1E3A31",
    danger="#F28B82",
    danger_soft="#3B2220",
    warning="#E8B45A",
    warning_soft="#3A2E18",
    good="#74CC92",
    info="#86B4F5",
    is_dark=True,
)
CLASS_COLOURS = (
    "#3D65CE",
    "#D77F00",
    "#3BB999",
    "#9C445F",
    "#EDD87D",
    "#4F326C",
    "#639061",
    "#7C1501",
    "#A6D8FF",
    "#BD9FBF",
    "#6B7022",
    "#1F4D3D",
)
CLASS_SHAPES = ("o", "s", "t", "d", "p", "h", "star", "+", "x", "t1", "t2", "t3")
LINE_ROLES = ("training", "validation", "out_of_bag", "run_4", "run_5", "run_6")
LINES_LIGHT = ("#3054BD", "#DE602F", "#62998D", "#8C4353", "#28204D", "#392A00")
LINES_DARK = ("#537DE9", "#F19437", "#B3F7F0", "#A76A8C", "#C6B4FB", "#F5E9AE")
VALUE_MAP, SIGNED_MAP = "cividis", "CET-D1A"  # pyqtgraph's names

APPEARANCES = ("system", "light", "dark")
MIN_TEXT_SCALE, MAX_TEXT_SCALE = 80, 200  # per cent
CONTROL_HEIGHT, PRIMARY_HEIGHT, TOOLBAR_HEIGHT, STATUS_HEIGHT = 28, 32, 44, 24
PANEL_PADDING, LABEL_GAP, GROUP_GAP = 16, 8, 24
GROUND_MARGIN = 8  # of what has a ground of its own, lists and strips: their texts are at the padding


class _Theme(QObject):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.appearance = "system"
        self.text_scale = 100
        self.reduce_motion = False
        self.is_following = False
        self.forced: Tokens | None = None  # while a picture is exported


_theme = _Theme()
changed = _theme.changed  # emitted after appearance, contrast or text size changed: repaint from tokens()


def tokens() -> Tokens:
    """The colours in force: light or dark, with stronger lines where the system asks for contrast."""
    if _theme.forced is not None:
        return _theme.forced
    base = DARK if _is_dark() else LIGHT
    return _high_contrast(base) if _wants_contrast() else base


def _is_dark() -> bool:
    if _theme.appearance != "system":
        return _theme.appearance == "dark"
    app = QGuiApplication.instance()
    return isinstance(app, QGuiApplication) and app.styleHints().colorScheme() == Qt.ColorScheme.Dark


def _wants_contrast() -> bool:
    app = QGuiApplication.instance()
    if not isinstance(app, QGuiApplication):
        return False
    hints = app.styleHints()
    # Qt has told contrast since 6.10; before that nobody can ask.
    accessibility = getattr(hints, "accessibility", lambda: None)()
    high = getattr(Qt, "ContrastPreference", None)
    return accessibility is not None and accessibility.contrastPreference() == high.HighContrast


@lru_cache(maxsize=2)
def _high_contrast(base: Tokens) -> Tokens:
    values = {field.name: getattr(base, field.name) for field in fields(base)}
    return Tokens(**{**values, "border": base.control, "text3": base.text2})


@contextmanager
def exporting() -> Iterator[None]:
    """Within the block `tokens()` are the light ones on any screen: pictures leave on a white page."""
    before, _theme.forced = _theme.forced, LIGHT
    try:
        yield
    finally:
        _theme.forced = before


def is_exporting() -> bool:
    """Tell whether a picture is drawn for a file, where there is nothing to take hold of."""
    return _theme.forced is not None


def appearance() -> str:
    """One of "system", "light", "dark"."""
    return _theme.appearance


def set_appearance(name: str) -> None:
    """Take the light, the dark or the system's theme, at once and everywhere."""
    if name not in APPEARANCES:
        raise ValueError(f"appearance is {name!r}; enter one of {', '.join(APPEARANCES)}")
    _theme.appearance = name
    _restyle()


def text_scale() -> int:
    """Size of type, controls and node cards in per cent."""
    return _theme.text_scale


def set_text_scale(percent: int) -> None:
    """Scale type, control heights and node cards together; kept within 80 and 200 %."""
    _theme.text_scale = min(max(int(percent), MIN_TEXT_SCALE), MAX_TEXT_SCALE)
    _restyle()


def reduces_motion() -> bool:
    """Tell whether transitions are off."""
    return _theme.reduce_motion


def set_reduces_motion(is_on: bool) -> None:
    """Turn transitions off or on."""
    _theme.reduce_motion = bool(is_on)


def scaled(px: float) -> int:
    """A measure of the design in pixels at the present text size."""
    return round(px * _theme.text_scale / 100)


def font(px: float = 13, weight: int = 400, tabular: bool = True) -> QFont:
    """Inter at `px` (before text scale) and `weight`; figures of one width unless `tabular` is False."""
    is_plain = _theme.forced is not None  # in a file: glyphs that programs can read back as text
    return _font(max(scaled(px), 1), weight, tabular and not is_plain, is_plain, fonts.text_family())


@lru_cache(maxsize=128)
def _font(pixel_size: int, weight: int, tabular: bool, is_plain: bool, family: str) -> QFont:
    made = QFont(family) if family else QFont()
    made.setPixelSize(pixel_size)
    # Inter is a variable font: setWeight alone changes nothing, and where Inter is absent only it does.
    made.setWeight(QFont.Weight(weight))
    made.setVariableAxis(QFont.Tag("wght"), weight)
    if is_plain:
        made.setFeature(QFont.Tag("calt"), 0)  # else "<" beside a letter becomes a glyph without a character
    if tabular:
        made.setFeature(QFont.Tag("tnum"), 1)
    return made


def class_colour(class_idx: int, n_classes: int | None = None, event_idx: int | None = None) -> QColor:
    """Colour of a class, the same in every picture and theme.

    Parameters
    ----------
    class_idx : int
        Position in class order. From the thirteenth on all classes share `control`.
    n_classes, event_idx : int, optional
        With two classes and a known event class the event is orange, the other blue.
    """
    if n_classes == 2 and event_idx is not None:
        class_idx = int(class_idx == event_idx)
    if class_idx >= len(CLASS_COLOURS):
        return tokens().colour("control")
    return QColor(CLASS_COLOURS[class_idx])


def class_shape(class_idx: int, n_classes: int) -> str:
    """pyqtgraph symbol of a class: circles only up to six classes, one shape a class above."""
    return CLASS_SHAPES[class_idx % len(CLASS_SHAPES)] if n_classes > 6 else "o"


def line_colour(role: str | int) -> QColor:
    """Colour of a curve: a name of LINE_ROLES, or its position (wraps round)."""
    idx = role if isinstance(role, int) else LINE_ROLES.index(role)
    lines = LINES_DARK if tokens().is_dark else LINES_LIGHT
    return QColor(lines[idx % len(lines)])


def mix(over: QColor, under: QColor, share: float) -> QColor:
    """`share` of the first colour on top of the second, in sRGB."""
    channels = [(over.red(), under.red()), (over.green(), under.green()), (over.blue(), under.blue())]
    return QColor(*(round(a * share + b * (1 - share)) for a, b in channels))


def palette(t: Tokens) -> QPalette:
    """Every role of Qt's palette from the tokens, the Disabled group too."""
    role = QPalette.ColorRole
    colours = {
        role.Window: t.window,
        role.WindowText: t.text,
        role.Base: t.surface,
        role.AlternateBase: t.surface,
        role.ToolTipBase: t.raised,
        role.ToolTipText: t.text,
        role.PlaceholderText: t.text3,
        role.Text: t.text,
        role.Button: t.surface,
        role.ButtonText: t.text,
        role.BrightText: t.danger,
        role.Light: t.surface,
        role.Midlight: t.raised,
        role.Mid: t.border,
        role.Dark: t.control,
        role.Shadow: t.control,
        role.Highlight: t.accent_soft,
        role.HighlightedText: t.text,
        role.Accent: t.accent,
        role.Link: t.accent,
        role.LinkVisited: t.accent,
    }
    made = QPalette()
    for key, value in colours.items():
        made.setColor(key, QColor(value))
    for key in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText, role.PlaceholderText):
        made.setColor(QPalette.ColorGroup.Disabled, key, QColor(t.disabled))
    made.setColor(QPalette.ColorGroup.Disabled, role.Accent, QColor(t.disabled))
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(t.raised))
    return made


def apply(app: QApplication) -> None:
    """Dress the application: style, palette, font, style sheet; follows the system from now on."""
    app.setStyle(QStyleFactory.create("Fusion"))
    if not _theme.is_following:
        app.styleHints().colorSchemeChanged.connect(_on_system_changed)
        _theme.is_following = True
    _restyle()


def _on_system_changed(*_: object) -> None:
    if _theme.appearance == "system":
        _restyle()


def _restyle() -> None:
    from workbench.ui.stylesheet import style_sheet  # it reads the tokens of this module

    app = QApplication.instance()
    if isinstance(app, QApplication):
        t = tokens()
        app.setPalette(palette(t))
        app.setFont(font(13))
        app.setFont(font(11, 600), "QHeaderView")  # type: ignore[arg-type]  # it takes no bytes
        app.setStyleSheet(style_sheet(t))
    changed.emit()
