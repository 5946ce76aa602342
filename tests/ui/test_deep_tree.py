"""Case C42 on screen: a tree of 1,100 levels is drawn, opened, read and exported without recursion."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QTreeView

from engine import DecisionTreeClassifier
from engine.features import FeatureSpec
from engine.tree.cost_complexity import PathLosses, pruning_path
from tests.engine.test_tree_cases import chain_of_classes
from workbench.figures.pruning import make_pruning
from workbench.figures.tree import leaves_below, make_tree_figure
from workbench.pruning import CutPrices, PruningCurve
from workbench.runs import ModelSpec
from workbench.ui.exporting import export_picture
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.plots.tree_outline import OutlineModel

DEPTH = 1100


@pytest.fixture(scope="module")
def figure():
    return make_tree_figure(chain_of_classes(DEPTH), (FeatureSpec("x"),), ("no", "yes"), title="deep")


@pytest.fixture
def canvas(qtbot, figure):
    made = TreeCanvas()
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    made.set_figure(figure)
    return made


def deepest(figure):
    return figure.tree.path_to(figure.n_nodes - 1)


def test_the_figure_has_words_for_every_node(figure):
    assert figure.depth.max() == DEPTH
    assert figure.n_leaves[0] == DEPTH + 1
    for node in range(figure.n_nodes):
        assert figure.story(node)
        assert figure.card(node).prediction
        assert node == 0 or figure.edge_text(node)
    assert figure.open_to(DEPTH).sum() == DEPTH


def test_the_canvas_opens_all_and_goes_to_the_deepest_node(canvas, figure):
    canvas.open_all()
    assert len(canvas.item.nodes) == figure.n_nodes
    assert canvas.viewport().grab().toImage().width() > 0
    assert canvas.mini_map.grab().toImage().width() > 0
    canvas.select(deepest(figure))
    assert canvas.selected_path == deepest(figure)
    canvas.fit()
    canvas.viewport().grab()
    assert 0 < canvas.item.n_painted < figure.n_nodes


def test_selecting_the_deepest_node_opens_the_way_to_it(canvas, figure):
    canvas.set_open(0, False)
    assert len(canvas.item.nodes) == 1
    canvas.select(deepest(figure))
    assert figure.n_nodes - 1 in canvas.item.place


def test_it_is_exported_as_a_drawing(canvas, tmp_path):
    canvas.open_all()
    export_picture(canvas, tmp_path / "deep.svg")
    text = " ".join(ET.parse(tmp_path / "deep.svg").getroot().itertext())
    assert "x ≤ 1100.5" in text


def test_the_outline_unfolds_whole(qtbot, figure):
    outline, model = QTreeView(), OutlineModel()
    qtbot.addWidget(outline)
    outline.setModel(model)
    model.set_figure(figure)
    outline.show()
    outline.expandAll()
    outline.grab()
    last = model.index_of(figure.n_nodes - 1)
    outline.setCurrentIndex(last)
    outline.scrollTo(last)
    outline.grab()
    assert model.data(outline.currentIndex()).startswith("no: yes 100 %")
    n_levels, index = 0, last
    while index.isValid():
        index, n_levels = model.parent(index), n_levels + 1
    assert n_levels == DEPTH + 1
    assert model.parent(model.index(0, 0)) == QModelIndex()


def test_it_has_prices_and_a_pruning_curve(figure):
    class Result:
        trees, classes, scores, edits, spec = [figure.tree], ("no", "yes"), {}, (), ModelSpec("tree")
        estimator = DecisionTreeClassifier().fit([[0], [1]], [0, 1])

    path = pruning_path(figure.tree)
    losses = PathLosses(np.linspace(0, 0.1, len(path.alphas)), np.full(len(path.alphas), 0.01))
    curve = PruningCurve(figure.tree, path, {"train": losses}, {"train": DEPTH + 1}, losses)
    made = make_pruning("deep", Result(), curve)
    assert made.stops[-1].n_leaves == DEPTH + 1
    assert made.story(0).startswith("1 leaf")
    prices = CutPrices(
        figure.tree, leaves_below(figure.tree) - 1, {}, loss="misclassification", n_splits_uncut=DEPTH
    )
    assert prices.sentence(0).startswith("Cut here: −1,100 leaves;")
