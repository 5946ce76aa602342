"""Saves any picture as PNG, SVG or PDF: white page, light palette, twice the pixels, fonts as on screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter, QPicture
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

from engine.errors import DataError
from workbench.ui import file_dialogs, theme
from workbench.ui.context import Context
from workbench.ui.plots.base import pens_scaled
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.sight import is_in_sight

SCALE = 2
MAX_SIDE_PX = 16000  # of a PNG; larger pictures are drawn smaller
MARGIN_PX = 16
POINTS_PER_INCH = 72
OTHER_FONTS = "'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
OF_ALL = "compare"  # the picture that is of no single model
NOT_IN_NAMES = r'[\\/:*?"<>|\x00-\x1f]'  # of files, on one system or another
Picture = QGraphicsView | Sequence[QGraphicsView]
FORMATS = {".png": "PNG picture", ".svg": "SVG drawing", ".pdf": "PDF document"}


class _Part(NamedTuple):
    """One view in a picture: what of its scene is drawn, and where it stands."""

    view: QGraphicsView
    source: QRectF
    place: QRectF


def export_picture(picture: Picture, path: str | Path) -> None:
    """Write the picture that a view shows; the tree is written whole, every card in full detail.

    Parameters
    ----------
    picture : FigurePlot, TreeCanvas or sequence of them
        Several are written into one picture, beside or below each other as on the screen.
    path : str or Path
        Its ending (.png, .svg, .pdf) says the format.

    Raises
    ------
    DataError
        The ending is another, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise DataError(f"{path.name!r} ends in {path.suffix!r}; choose one of {', '.join(FORMATS)}")
    scale = SCALE if path.suffix.lower() == ".png" else 1
    views = tuple(picture) if isinstance(picture, Sequence) else (picture,)
    try:
        with theme.exporting(), pens_scaled(scale), ExitStack() as dressed:
            sources = [dressed.enter_context(_dressed_for_paper(view, scale)) for view in views]
            _WRITERS[path.suffix.lower()](_placed(views, sources), path)
    finally:
        for view in views:
            _undress(view)


@contextmanager
def _dressed_for_paper(view: Any, scale: int) -> Iterator[QRectF]:
    """Let the view be as it is drawn into a file; yields the scene's rectangle."""
    is_tree = isinstance(view, TreeCanvas)
    if is_tree:
        view.item.full_detail = True
        source = view.item.boundingRect().adjusted(-MARGIN_PX, -MARGIN_PX, MARGIN_PX, MARGIN_PX)
    else:
        view.redraw()
        source = QRectF(view.viewport().rect())
        _set_export_mode(view, {"resolutionScale": scale})
    try:
        yield source
    finally:
        if is_tree:
            view.item.full_detail = False
        else:
            _set_export_mode(view, None)


def _undress(view: Any) -> None:
    """Paint a plot in the colours of the screen again; a tree takes them whenever it is painted."""
    if not isinstance(view, TreeCanvas):
        view.redraw()


def _set_export_mode(view: QGraphicsView, options: dict | None) -> None:
    for item in view.scene().items():
        if hasattr(item, "setExportMode"):  # pyqtgraph's items then paint shapes, not cached pixels
            item.setExportMode(options is not None, options or {})


def _placed(views: Sequence[QGraphicsView], sources: Sequence[QRectF]) -> list[_Part]:
    """Put views where they stand to one another on the screen, the first corner at 0, 0."""
    corners = [view.viewport().mapTo(view.window(), QPoint(0, 0)) for view in views]
    left, top = min(corner.x() for corner in corners), min(corner.y() for corner in corners)
    places = [
        QRectF(QPointF(corner.x() - left, corner.y() - top), source.size())
        for corner, source in zip(corners, sources, strict=True)
    ]
    return [_Part(*part) for part in zip(views, sources, places, strict=True)]


def _size_of(parts: Sequence[_Part]) -> QSizeF:
    return QSizeF(max(part.place.right() for part in parts), max(part.place.bottom() for part in parts))


def _paint(parts: Sequence[_Part], device: Any, size: QSizeF) -> None:
    """Draw all parts on a device of `size`."""
    painter = QPainter(device)
    if not painter.isActive():
        raise OSError("the file cannot be opened for writing")
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.fillRect(QRectF(QPointF(0, 0), size), theme.tokens().colour("surface"))
    whole = _size_of(parts)
    across, down = size.width() / whole.width(), size.height() / whole.height()
    for view, source, place in parts:
        target = QRectF(place.x() * across, place.y() * down, place.width() * across, place.height() * down)
        view.scene().render(painter, target, source, Qt.AspectRatioMode.KeepAspectRatio)
    painter.end()


def _write_png(parts: Sequence[_Part], path: Path) -> None:
    whole = _size_of(parts)
    scale = min(SCALE, MAX_SIDE_PX / max(whole.width(), whole.height()))
    size = QSize(max(round(whole.width() * scale), 1), max(round(whole.height() * scale), 1))
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(theme.tokens().colour("surface"))
    _paint(parts, image, QSizeF(size))
    if not image.save(str(path)):
        raise _unwritable(path)


def _dots_per_inch() -> int:
    """Of pyqtgraph's axes, which are recorded first and then played: larger on a device with more dots."""
    return QPicture().logicalDpiX()


def _write_svg(parts: Sequence[_Part], path: Path) -> None:
    size, generator = _size_of(parts), QSvgGenerator()
    generator.setFileName(str(path))
    generator.setResolution(_dots_per_inch())
    generator.setSize(size.toSize())
    generator.setViewBox(QRectF(QPointF(0, 0), size))
    generator.setTitle("Treewright")
    _try(lambda: _paint(parts, generator, size), path)
    _name_other_fonts(path)


def _name_other_fonts(path: Path) -> None:
    """Let a machine without our font take one like it instead of one with serifs."""
    family = theme.font().family()
    drawing = path.read_text(encoding="utf-8")
    listed = f"{family}, {OTHER_FONTS}"
    # only a tag's own attribute has plain quotes: in texts they are written as &quot;
    path.write_text(drawing.replace(f'font-family="{family}"', f'font-family="{listed}"'), encoding="utf-8")


def _write_pdf(parts: Sequence[_Part], path: Path) -> None:
    size, writer, dots = _size_of(parts), QPdfWriter(str(path)), _dots_per_inch()
    points = QSizeF(size.width() * POINTS_PER_INCH / dots, size.height() * POINTS_PER_INCH / dots)
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(writer.pageLayout().minimumMargins())
    writer.setResolution(dots)
    writer.setTitle("Treewright")
    _try(lambda: _paint(parts, writer, size), path)


_WRITERS = {".png": _write_png, ".svg": _write_svg, ".pdf": _write_pdf}


def _try(paint: Callable[[], None], path: Path) -> None:
    try:
        paint()
    except OSError:
        raise _unwritable(path) from None


def _unwritable(path: Path) -> DataError:
    return DataError(f"{path.name!r} cannot be written in {str(path.parent)!r}; choose another folder")


def file_stem(context: Context, what: str) -> str:
    """Return what a file about the current model is called: "Decision tree 1 pruning"."""
    run, what = context.document.current_run, what.replace("_", " ")
    return what if run is None else re.sub(NOT_IN_NAMES, "_", f"{run.name} {what}")


class PictureExports(QObject):
    """The one command "Export Picture": of the view with the focus, else of the first one in sight."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.actions)
        self._context = context
        self._pictures: list[tuple[QWidget, Callable[[], Picture | None], str]] = []
        context.actions.add(
            "action.figure.export", "Export Picture…", "Ctrl+Shift+E", self._export_current, "picture"
        )

    @classmethod
    def of(cls, context: Context) -> PictureExports:
        """The window's one; made on first use."""
        return context.actions.findChild(cls) or cls(context)

    def register(self, panel: QWidget, picture: Callable[[], Picture | None], name: str) -> None:
        """Let a panel's picture be exported; `picture` returns None while there is none."""
        self._pictures.append((panel, picture, name))

    def _export_current(self) -> None:
        focus = QApplication.focusWidget()
        seen = [entry for entry in self._pictures if is_in_sight(entry[0])]
        shown = [entry for entry in seen if entry[1]() is not None]
        around = [entry for entry in shown if focus is not None and entry[0].isAncestorOf(focus)]
        inside = [entry for entry in around if not any(entry[0].isAncestorOf(other[0]) for other in around)]
        if not shown:
            self._context.document.post_message("There is no picture to export yet: train a model first")
            return
        panel, picture, name = (inside or shown)[0]
        self.ask(panel, picture(), name)

    def ask(self, panel: QWidget, picture: Picture | None, name: str) -> None:
        """Ask for a file and write the picture."""
        if picture is None:
            return
        filters = ";;".join(f"{text} (*{ending})" for ending, text in FORMATS.items())
        if name != OF_ALL:
            name = file_stem(self._context, name)
        file_dialogs.ask_save(
            panel, "Export Picture", filters, f"{name}.png", "png", lambda path: self._write(picture, path)
        )

    def _write(self, picture: Picture, path: str) -> None:
        try:
            export_picture(picture, path)
        except DataError as error:
            self._context.document.post_message(str(error))
        else:
            self._context.document.post_message(f"Picture saved as {Path(path).name}")
