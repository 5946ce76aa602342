"""What an empty window offers: samples, recent files, a place to drop a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.resources import path
from workbench.ui import theme
from workbench.ui.widgets import ElidedLabel, IconLabel, Label, button, clear, column, literal, repolish, row

CARD_MIN_WIDTH, MAX_PAGE_WIDTH = 232, 1160
VIEW_ICONS = {"tree": "tree", "surface": "surface", "curve": "training"}


def mark(px: int) -> QPixmap:
    """The program's own mark, drawn sharp at `px` pixels."""
    pixmap = QPixmap(px, px)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(str(path("icons", "treewright.svg"))).render(painter, QRectF(0, 0, px, px))
    painter.end()
    return pixmap


class Card(QFrame):
    """A thing to open: press it, or Enter on it."""

    chosen = Signal()

    def __init__(self, icon: str, title: str, text: str, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        head = row(IconLabel(icon), ElidedLabel(title, "name", Qt.TextElideMode.ElideRight), spacing=8)
        head.setStretch(1, 1)
        body = Label(text, "secondary", wrap=True)
        body.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        foot = ElidedLabel(caption, "caption", Qt.TextElideMode.ElideRight)
        layout = column(head, body, foot, margins=12, spacing=4)
        layout.setStretch(1, 1)
        self.setLayout(layout)

    def mouseReleaseEvent(self, event) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit()
        else:
            super().keyPressEvent(event)


class CardGrid(QWidget):
    """Cards in as many equal columns as fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: list[Card] = []
        self._n_columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    def add(self, card: Card) -> None:
        self._cards.append(card)
        self._n_columns = 0
        self._place()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._place()

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.scaled(CARD_MIN_WIDTH), super().minimumSizeHint().height())

    def _place(self) -> None:
        n_columns = max(1, (self.width() + 12) // (theme.scaled(CARD_MIN_WIDTH) + 12))
        if n_columns == self._n_columns:
            return
        for idx in range(self._n_columns):
            self._grid.setColumnStretch(idx, 0)
        self._n_columns = n_columns
        for idx, card in enumerate(self._cards):
            self._grid.addWidget(card, idx // n_columns, idx % n_columns)
        for idx in range(n_columns):
            self._grid.setColumnStretch(idx, 1)


class DropTarget(QFrame):
    """Says that files may be dropped; the window itself takes the drop anywhere."""

    def __init__(self, on_open: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome.drop")
        self.setProperty("look", "drop")
        text = Label("Drop a table or a project here", "name", wrap=True)
        kinds = Label("CSV, TSV, Excel, Parquet, .treewright", "caption", wrap=True)
        for label in (text, kinds):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        open_button = button("Open File", "primary", on_open, "welcome.open")
        self.setLayout(
            column(
                row(-1, IconLabel("file", 32, "text3"), -1),
                text,
                kinds,
                4,
                row(-1, open_button, -1),
                margins=16,
            )
        )

    def set_over(self, is_over: bool) -> None:
        """Show that a file hangs over the window."""
        self.setProperty("over", "true" if is_over else "false")
        repolish(self)


class WelcomePage(QScrollArea):
    """Emits what the person chose; opens nothing by itself."""

    sample_chosen = Signal(str)
    experiment_chosen = Signal(str)
    file_chosen = Signal(str)
    open_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self.drop = DropTarget(self.open_requested.emit)
        self._cards = CardGrid()
        side = QWidget()
        side.setFixedWidth(theme.scaled(264))
        side.setLayout(
            column(
                self.drop,
                16,
                Label("RECENT", "section"),
                self._recent,
                16,
                Label("EXPERIMENTS", "section"),
                self._make_experiments(),
                -1,
            )
        )
        main = column(Label("SAMPLES", "section"), self._cards, -1, spacing=12)
        body = row(side, main, spacing=32)
        body.setStretch(1, 1)
        inner = QWidget()
        inner.setMaximumWidth(MAX_PAGE_WIDTH)
        inner.setLayout(column(self._make_head(), 16, body))
        page = QWidget()
        page.setProperty("look", "page")
        outer = row(-1, inner, -1, margins=32)
        outer.setStretch(1, 100)
        page.setLayout(outer)
        self.setWidget(page)
        self._add_samples()
        self.set_recent([])

    @staticmethod
    def _make_head():
        picture = QLabel()
        picture.setPixmap(mark(48))
        picture.setFixedSize(48, 48)
        words = column(
            Label("Treewright", "title"),
            Label("Train, look at, prune and take away tree models.", "secondary"),
            spacing=2,
        )
        return row(picture, words, -1, spacing=16)

    def _add_samples(self) -> None:
        from workbench.samples import SAMPLES

        for sample in SAMPLES:
            card = Card(
                VIEW_ICONS.get(sample.opens_view, "table"),
                sample.title,
                sample.description,
                sample.n_rows_text,
            )
            card.setObjectName(f"welcome.sample.{sample.key}")
            card.setToolTip(literal(f"Source: {sample.source}\nLicence: {sample.licence}"))
            card.chosen.connect(lambda key=sample.key: self.sample_chosen.emit(key))
            self._cards.add(card)

    def _make_experiments(self) -> QVBoxLayout:
        from workbench.experiments import EXPERIMENTS

        listed = QVBoxLayout()
        listed.setSpacing(0)
        for experiment in EXPERIMENTS:
            entry = button(experiment.title, "quiet", partial(self.experiment_chosen.emit, experiment.key))
            entry.setObjectName(f"welcome.experiment.{experiment.key}")
            entry.setToolTip(literal(experiment.text))
            listed.addWidget(entry, 0, Qt.AlignmentFlag.AlignLeft)
        return listed

    def set_recent(self, paths: Iterable[str]) -> None:
        """List recent files, latest first."""
        clear(self._recent)
        listed = list(paths)
        for place, name in enumerate(listed):
            entry = button(elided_name(name), "quiet", partial(self.file_chosen.emit, name))
            entry.setObjectName(f"welcome.recent.{place}")
            entry.setToolTip(literal(name))
            self._recent.addWidget(entry, 0, Qt.AlignmentFlag.AlignLeft)
        if not listed:
            self._recent.addWidget(Label("Files you open are listed here.", "caption", wrap=True))


def elided_name(path_text: str, n_max: int = 34) -> str:
    """A file's name, shortened in the middle; "&" is doubled, else a button takes it for a shortcut."""
    name = Path(path_text).name
    if len(name) > n_max:
        half = (n_max - 1) // 2
        name = f"{name[:half]}…{name[-half:]}"
    return name.replace("&", "&&")
