"""The figures of design.md, recomputed from the tokens."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette, QPixmap, QStyleHints
from PySide6.QtWidgets import QTableView, QWidget

from workbench.ui import fonts, icons, theme
from workbench.ui.inputs import Slider
from workbench.ui.stylesheet import style_sheet
from workbench.ui.widgets import FOCUS_PX, paint_focus

SURFACES = ("window", "surface", "raised", "hover")
TEXTS = ("text", "text2", "text3", "accent", "danger", "warning", "good", "info")
# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
DEFICIENCIES = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour: str) -> np.ndarray:
    rgb = np.array(QColor(colour).getRgb()[:3]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    light, dark = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb_linear: np.ndarray) -> np.ndarray:
    matrix = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    t = matrix @ np.clip(rgb_linear, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, two: np.ndarray) -> float:
    """Sharma, Wu, Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    dh = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dl, dc, dhh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh / 2))
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    mh = h1 + h2 if c1 * c2 == 0 else (h1 + h2) / 2 + (180 if abs(h1 - h2) > 180 and h1 + h2 < 360 else 0)
    mh -= 180 if c1 * c2 and abs(h1 - h2) > 180 and h1 + h2 >= 360 else 0
    cos = lambda degrees: np.cos(np.radians(degrees))  # noqa: E731
    t = 1 - 0.17 * cos(mh - 30) + 0.24 * cos(2 * mh) + 0.32 * cos(3 * mh + 6) - 0.2 * cos(4 * mh - 63)
    sl = 1 + 0.015 * (ml - 50) ** 2 / np.sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    rt = -2 * np.sqrt(mc**7 / (mc**7 + 25.0**7)) * np.sin(np.radians(60 * np.exp(-(((mh - 275) / 25) ** 2))))
    parts = dl / sl, dc / sc, dhh / sh
    return float(np.sqrt(sum(p * p for p in parts) + rt * parts[1] * parts[2]))


def worst_pair(colours) -> float:
    return min(
        ciede2000(lab(np.array(matrix) @ linear(a)), lab(np.array(matrix) @ linear(b)))
        for matrix in DEFICIENCIES.values()
        for a, b in itertools.combinations(colours, 2)
    )


def test_ciede2000_matches_published_pairs():
    # Sharma, Wu, Dalal 2005, table 1, pairs 1 and 25
    assert ciede2000(np.array([50, 2.6772, -79.7751]), np.array([50, 0, -82.7485])) == pytest.approx(
        2.0425, abs=1e-4
    )
    assert ciede2000(
        np.array([60.2574, -34.0099, 36.2677]), np.array([60.4626, -34.1751, 39.4387])
    ) == pytest.approx(1.2644, abs=1e-4)


@pytest.mark.parametrize(("tokens", "lowest"), [(theme.LIGHT, 4.65), (theme.DARK, 4.62)])
def test_text_is_readable_on_every_surface(tokens, lowest):
    pairs = [
        *itertools.product(TEXTS, SURFACES),
        *itertools.product(("text", "text2", "text3"), ("accent_soft",)),
    ]
    pairs += [("danger", "danger_soft"), ("warning", "warning_soft")]
    values = [contrast(getattr(tokens, ink), getattr(tokens, ground)) for ink, ground in pairs]
    assert min(values) >= 4.5
    assert min(values) == pytest.approx(lowest, abs=0.01)


@pytest.mark.parametrize(("tokens", "control", "ring"), [(theme.LIGHT, 3.17, 3.0), (theme.DARK, 3.0, 5.27)])
def test_outlines_and_the_focus_ring_are_visible(tokens, control, ring):
    assert min(contrast(tokens.control, getattr(tokens, s)) for s in SURFACES) >= control - 0.005
    assert min(contrast(tokens.accent, getattr(tokens, s)) for s in SURFACES) >= ring - 0.005


@pytest.mark.parametrize(("tokens", "expected"), [(theme.LIGHT, 6.5), (theme.DARK, 7.6)])
def test_the_primary_button_is_readable(tokens, expected):
    assert contrast(tokens.accent, tokens.on_accent) == pytest.approx(expected, abs=0.06)
    assert contrast(tokens.accent_hover, tokens.on_accent) >= 4.5


@pytest.mark.parametrize(("n_classes", "least"), [(2, 54.0), (4, 19.9), (6, 16.2), (12, 12.3)])
def test_class_colours_differ_for_every_eye(n_classes, least):
    assert worst_pair(theme.CLASS_COLOURS[:n_classes]) >= least - 0.5


@pytest.mark.parametrize(
    ("lines", "surface", "ratio", "least"),
    [
        (theme.LINES_LIGHT, theme.LIGHT.surface, 3.25, 19.3),
        (theme.LINES_DARK, theme.DARK.surface, 3.98, 16.9),
    ],
)
def test_lines_are_visible_and_differ(lines, surface, ratio, least):
    assert min(contrast(line, surface) for line in lines) >= ratio - 0.01
    assert worst_pair(lines) >= least - 0.5


def test_no_other_file_holds_a_colour_value():
    folder = Path(theme.__file__).parent
    pattern = re.compile(r"#[0-9A-Fa-f]{6}\b|QColor\(\s*\d|QColor\(\s*[\"']")
    found = [
        path.name
        for path in folder.rglob("*.py")
        if path.name != "theme.py" and pattern.search(path.read_text())
    ]
    assert found == []


def test_the_palette_sets_every_role():
    made, default = theme.palette(theme.DARK), QPalette()
    roles = [
        role
        for role in QPalette.ColorRole
        if role not in (QPalette.ColorRole.NColorRoles, QPalette.ColorRole.NoRole)
    ]
    unset = [role.name for role in roles if not made.isBrushSet(QPalette.ColorGroup.Active, role)]
    assert unset == []
    assert default is not None
    assert (
        made.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).name().upper()
        == theme.DARK.disabled
    )


def test_appearance_switches_at_once_and_tells(qtbot, qapp):
    theme.set_appearance("light")
    with qtbot.waitSignal(theme.changed):
        theme.set_appearance("dark")
    assert theme.tokens() is theme.DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.DARK.window)
    with theme.exporting():
        assert theme.tokens() is theme.LIGHT
    with pytest.raises(ValueError, match="sepia"):
        theme.set_appearance("sepia")


def test_it_follows_the_system_until_somebody_chooses(qtbot, qapp, monkeypatch):
    hints = qapp.styleHints()

    def system_becomes(scheme):  # no system under the offscreen plugin has one to change
        monkeypatch.setattr(QStyleHints, "colorScheme", lambda _hints: scheme)
        hints.colorSchemeChanged.emit(scheme)

    theme.set_appearance("system")
    system_becomes(Qt.ColorScheme.Dark)
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.DARK.window)
    system_becomes(Qt.ColorScheme.Light)
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.LIGHT.window)
    theme.set_appearance("light")
    system_becomes(Qt.ColorScheme.Dark)
    assert theme.tokens() is theme.LIGHT
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.LIGHT.window)


def test_the_text_scale_is_kept_in_bounds_and_scales_type():
    theme.set_text_scale(500)
    assert theme.text_scale() == 200
    assert theme.font(13).pixelSize() == 26
    theme.set_text_scale(10)
    assert theme.text_scale() == 80


def test_inter_is_loaded_with_weights_and_figures_of_one_width():
    assert fonts.text_family() == "Inter"
    widths = {digit: QFontMetricsF(theme.font(13)).horizontalAdvance(digit) for digit in "0123456789"}
    assert len(set(widths.values())) == 1
    regular, strong = (
        QFontMetricsF(theme.font(28, weight)).horizontalAdvance("Weight") for weight in (400, 600)
    )
    assert strong > regular * 1.02, "the weight axis has no effect"


@pytest.mark.parametrize("name", sorted(icons.NAMES))
def test_every_icon_has_a_glyph_that_paints(name):
    assert len(icons.glyph(name)) == 1
    image = icons.icon(name).pixmap(32, 32).toImage()
    assert any(image.pixelColor(x, y).alpha() for x in range(32) for y in range(32))


def test_an_unknown_icon_is_refused():
    with pytest.raises(KeyError, match="NAMES"):
        icons.icon("unicorn")


def test_event_class_is_orange_and_late_classes_share_a_colour():
    orange, blue = QColor(theme.CLASS_COLOURS[1]), QColor(theme.CLASS_COLOURS[0])
    assert theme.class_colour(0, 2, event_idx=0) == orange
    assert theme.class_colour(1, 2, event_idx=0) == blue
    assert theme.class_colour(12) == theme.class_colour(40) == theme.tokens().colour("control")
    assert [theme.class_shape(i, 3) for i in range(3)] == ["o"] * 3
    assert len({theme.class_shape(i, 12) for i in range(12)}) == 12


class _Painted(QWidget):
    """Paints as the window's own widgets do: pens, brushes, no pen, no brush."""

    def paintEvent(self, event):
        painter = QPainter(self)
        painter.setPen(theme.tokens().colour("text"))
        painter.setBrush(theme.class_colour(1))
        painter.drawEllipse(2, 2, 8, 8)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        icons.paint(painter, self.rect().toRectF(), "tree")
        painter.end()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal there")
def test_ten_thousand_repaints_lose_no_reference_to_none(qtbot):
    # PySide6 6.12.0 loses one a call of setPen and setBrush; Python then aborts.
    widget = _Painted()
    qtbot.addWidget(widget)
    widget.resize(16, 16)
    pixmap = QPixmap(16, 16)
    widget.render(pixmap)
    before = sys.getrefcount(None)
    for _ in range(10_000):
        widget.render(pixmap)
    assert abs(sys.getrefcount(None) - before) < 1_000


FOCUSED = (
    'QFrame[look="card"]',
    "QToolButton",
    "QPushButton",
    'QPushButton[look="primary"]',
    'QPushButton[look="quiet"]',
    "QLineEdit",
    "QComboBox",
    "QAbstractSpinBox",
    "QPlainTextEdit",
    "QTableView::item",
    "QTreeView::item",
    "QTabBar::tab",
    "QCheckBox::indicator",
    "QRadioButton::indicator",
)


def rules(sheet: str) -> dict[str, str]:
    """Declarations of each selector, those of several rules behind one another."""
    found: dict[str, str] = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        for selector in selectors.split(","):
            found[selector.strip()] = found.get(selector.strip(), "") + body
    return found


@pytest.mark.parametrize("scale", [100, 200])
def test_every_kind_of_widget_wears_a_ring_of_two_pixels_and_keeps_its_size(scale):
    theme.set_text_scale(scale)
    found = rules(style_sheet(theme.LIGHT))
    without = [name for name in FOCUSED if "2px solid" not in found.get(f"{name}:focus", "")]
    assert without == []
    assert FOCUS_PX == 2
    assert f"border-color: {theme.LIGHT.accent}" in found["TreeCanvas:focus"]
    assert "border: 2px solid transparent" in found["TreeCanvas"]
    for name in ("QPushButton", "QLineEdit"):
        at_rest, focused = (
            int(re.search(r"min-height: (\d+)px", found[key])[1]) for key in (name, f"{name}:focus")
        )
        assert at_rest + 2 == focused + 4


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK])
def test_what_is_off_wears_no_accent(tokens):
    found = rules(style_sheet(tokens))
    off = {name: body for name, body in found.items() if name.endswith(":disabled")}
    assert [name for name, body in off.items() if tokens.accent in body] == []
    for name in ("QCheckBox", "QRadioButton"):  # said again, as "checked" is as strong as "disabled"
        assert f"border-color: {tokens.disabled}" in off[f"{name}::indicator:checked:disabled"]


def test_a_focused_row_is_ringed_in_two_pixels_of_accent(qapp):
    pixmap = QPixmap(40, 20)
    pixmap.fill(theme.tokens().colour("surface"))
    painter = QPainter(pixmap)
    paint_focus(painter, pixmap.rect().toRectF())
    painter.end()
    image, accent = pixmap.toImage(), theme.tokens().colour("accent")
    assert [image.pixelColor(20, y) == accent for y in range(20)] == [True] * 2 + [False] * 16 + [True] * 2


def test_headers_of_tables_are_11_600_in_every_dress(qtbot):
    table = QTableView()
    qtbot.addWidget(table)
    table.show()
    for appearance in ("dark", "light"):
        theme.set_appearance(appearance)
        font = table.horizontalHeader().font()
        assert (font.pixelSize(), font.weight()) == (11, 600)


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_a_sliders_handle_is_seen_on_every_ground(qapp, qtbot, appearance):
    theme.set_appearance(appearance)
    theme.apply(qapp)
    slider = Slider("some.slider", "Some")
    qtbot.addWidget(slider)
    slider.resize(160, 28)
    slider.setRange(0, 10)
    slider.setValue(5)
    image, ground = slider.grab().toImage(), theme.tokens().window
    off_the_groove = [(x, y) for x in range(60, 100) for y in (*range(10), *range(18, 28))]
    assert max(contrast(image.pixelColor(*place).name(), ground) for place in off_the_groove) > 2.9
