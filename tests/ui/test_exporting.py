"""Pictures leave as PNG, SVG and PDF on white; case C32: names with signs of markup."""

import re
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from engine.errors import DataError
from engine.features import FeatureSpec
from engine.tree.structure import LEAF, THRESHOLD, Tree
from tests.ui.training_help import train
from tests.workbench.test_figures_surface import c33_figure
from workbench.figures.training import make_line, make_training_figure
from workbench.figures.tree import make_tree_figure
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.exporting import export_picture
from workbench.ui.plots.surface import SurfacePlot
from workbench.ui.plots.training import TrainingPlot
from workbench.ui.plots.tree import TreeCanvas

FEATURES = (FeatureSpec('a<b & "c"'), FeatureSpec("back\\slash"))
CLASSES = ("it's", "<15.75", "x & y")


def c32_figure():
    """Ten rows, depth 2, every class wins one leaf."""
    tree = Tree.from_arrays(
        {
            "feature": [0, 1, -1, -1, -1],
            "kind": [THRESHOLD, THRESHOLD, LEAF, LEAF, LEAF],
            "threshold": [0.5, 1.5, *[np.nan] * 3],
            "level_offsets": np.zeros(6),
            "level_sets": np.empty((0, 2)),
            "first_child": [1, 3, -1, -1, -1],
            "n_children": [2, 2, 0, 0, 0],
            "missing_child": [0, 0, -1, -1, -1],
            "unseen_child": [0, 0, -1, -1, -1],
            "value": [[0.3, 0.3, 0.4], [0.5, 0.5, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]],
            "impurity": [0.66, 0.5, 0, 0, 0],
            "gain": [0.3, 0.5, 0, 0, 0],
            "n_node_samples": [10, 6, 4, 3, 3],
            "weighted_n_node_samples": [10, 6, 4, 3, 3],
            "n_missing": np.zeros(5),
        }
    )
    return make_tree_figure(tree, FEATURES, CLASSES, title="tree")


@pytest.fixture
def canvas(qtbot):
    made = TreeCanvas()
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    made.set_figure(c32_figure())
    return made


def texts_of(path) -> str:
    return "\n".join(
        "".join(element.itertext()) for element in ET.parse(path).iter() if element.tag.endswith("text")
    )


def test_c32_the_svg_is_strict_xml_with_literal_names(canvas, tmp_path):
    path = tmp_path / "tree.svg"
    export_picture(canvas, path)
    texts = texts_of(path)
    for literal in ('a<b & "c"', "back\\slash", "it's 100 %", "<15.75 100 %", "x & y 100 %", "3 of 3"):
        assert literal in texts, literal


def test_the_whole_tree_is_exported_whatever_is_in_view(canvas, tmp_path):
    canvas._set_zoom(0.1)
    canvas.select((0,))
    path = tmp_path / "tree.svg"
    export_picture(canvas, path)
    assert texts_of(path).count("rows") == 5
    assert not canvas.item.full_detail


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_png_is_twice_the_size_on_white_in_either_theme(canvas, tmp_path, appearance):
    theme.set_appearance(appearance)
    path = tmp_path / "Übung 数据.png"
    export_picture(canvas, path)
    image = QImage(str(path))
    bounds = canvas.item.boundingRect()
    assert image.width() == round((bounds.width() + 32) * 2)
    assert image.pixelColor(2, 2) == QColor(theme.LIGHT.surface)
    assert theme.tokens().is_dark == (appearance == "dark")


def test_plots_export_in_all_formats_and_keep_their_dress(qtbot, tmp_path):
    theme.set_appearance("dark")
    training, surface = TrainingPlot(), SurfacePlot()
    for plot in (training, surface):
        qtbot.addWidget(plot)
        plot.resize(500, 350)
        plot.show()
    lines = [make_line("training", "a<b", [3, 2, 1]), make_line("validation", "x & y", [3, 2, 2.5])]
    training.set_figure(make_training_figure(lines, "loss <nats>", title='"q" & <b>'))
    surface.set_figure(c33_figure())
    for name, plot in (("training", training), ("surface", surface)):
        for ending in ("png", "svg", "pdf"):
            export_picture(plot, tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert QImage(str(tmp_path / f"{name}.png")).width() == 2 * plot.viewport().width()
    picture = QImage(str(tmp_path / "training.png"))
    ink, middle = QColor(theme.LINES_LIGHT[1]), picture.width() // 4  # left of the best round all is one line
    column = [picture.pixelColor(middle, y) for y in range(picture.height())]
    drawn = sum(abs(p.red() - ink.red()) + abs(p.green() - ink.green()) < 60 for p in column)
    assert 4 <= drawn <= 12, "2.5 px of the screen are 5 of the picture"
    texts = texts_of(tmp_path / "training.svg")
    for literal in ("a<b", "x & y", "loss <nats>", '"q" & <b>'):
        assert literal in texts, literal
    assert training.curves[0].opts["pen"].color() == QColor(theme.LINES_DARK[0])
    assert_drawn_to_one_scale(tmp_path / "training")


def assert_drawn_to_one_scale(path):
    """Axes are recorded for the screen; played for 72 or 192 dots an inch they left the curves."""
    drawing = path.with_suffix(".svg").read_text(encoding="utf-8")
    scales = {float(a) for a, d in re.findall(r"matrix\((\S+?),0,0,([^,]+),", drawing) if a == d}
    assert scales == {1.0}, scales
    streams = re.findall(rb"stream\r?\n(.*?)endstream", path.with_suffix(".pdf").read_bytes(), re.DOTALL)
    page = next(text for text in map(inflated, streams) if b" cm" in text)
    scales = {float(a) for a, d in re.findall(rb"(\S+) 0 0 (\S+) \S+ \S+ cm", page) if a == d}
    assert scales == {1.0}, scales


def inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""  # a font or the catalogue, stored as it is


def test_another_ending_or_folder_is_refused_in_words(canvas, tmp_path):
    with pytest.raises(DataError, match=r"'tree\.bmp' ends in '\.bmp'; choose one of \.png, \.svg, \.pdf"):
        export_picture(canvas, tmp_path / "tree.bmp")
    for ending in ("png", "svg", "pdf"):
        with pytest.raises(DataError, match="cannot be written"):
            export_picture(canvas, tmp_path / "nowhere" / f"tree.{ending}")


def test_a_plot_keeps_its_dress_where_its_file_cannot_be_written(qtbot, tmp_path):
    theme.set_appearance("dark")
    plot = TrainingPlot()
    qtbot.addWidget(plot)
    plot.resize(500, 350)
    plot.set_figure(make_training_figure([make_line("training", "training", [3, 2, 1])], "loss"))
    with pytest.raises(DataError, match="cannot be written"):
        export_picture(plot, tmp_path / "nowhere" / "plot.png")
    assert plot.curves[0].opts["pen"].color() == QColor(theme.LINES_DARK[0])


def test_the_command_asks_for_a_file_and_tells_the_end(qtbot, session, dialogs, tmp_path):
    from tests.ui.training_help import train
    from workbench.samples import load_sample

    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.context.actions["action.view.as_tabs"].trigger()  # one picture in sight
    session.window.centre.show_view("tree")
    dialogs.answers.append(tmp_path / "mine.svg")
    session.window.context.actions["action.figure.export"].trigger()
    assert "flipper_length_mm ≤" in texts_of(tmp_path / "mine.svg")
    assert session.document.messages[-1] == "Picture saved as mine.svg"
    session.window.centre.show_view("scores")  # the tree is behind it now
    session.window.setFocus()
    dialogs.answers.append(tmp_path / "shown.svg")
    session.window.context.actions["action.figure.export"].trigger()
    assert "predicted" in texts_of(tmp_path / "shown.svg")


def test_an_svg_names_fonts_for_a_machine_without_ours(canvas, tmp_path):
    path = tmp_path / "tree.svg"
    export_picture(canvas, path)
    texts = [element for element in ET.parse(path).iter() if element.tag.endswith("text")]
    families = {element.get("font-family") for element in texts}
    assert families == {"Inter, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"}


def characters_of(path) -> set[str]:
    """What a PDF's glyphs stand for, when it is searched or copied from."""
    found: set[str] = set()
    for targets in re.findall(rb"<[0-9A-Fa-f]{4}> <[0-9A-Fa-f]{4}> \[(.*?)\]", path.read_bytes(), re.DOTALL):
        found |= {chr(int(code, 16)) for code in re.findall(rb"<([0-9A-Fa-f]{4})", targets)}
    return found


def test_a_pdf_carries_its_fonts_and_can_be_searched(canvas, tmp_path):
    path = tmp_path / "tree.pdf"
    export_picture(canvas, path)
    assert path.read_bytes().count(b"/FontFile2") == 2  # regular and 600
    characters = characters_of(path)
    assert set("01356<&%≤\\") <= characters
    assert not {c for c in characters if "\ue000" <= c <= "\uf8ff"}  # glyphs without a character


def test_a_picture_is_proposed_by_the_name_of_its_model(qtbot, session, dialogs):
    session.document.open_table(load_sample("xor"))
    run_id = train(qtbot, session, "tree")
    session.document.rename_run(run_id, "a/b: c")
    dialogs.answers = [None]
    session.window.centre.show_view("tree")
    session.window.findChild(QWidget, "panel.tree")._export()
    assert dialogs.proposals == ["a_b_ c tree.png"]
