"""The Compare view: scores and differing settings, curves of the selected runs."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView, QWidget

from engine import DecisionTreeRegressor
from engine.export.json import to_json
from engine.tree.parameters import TREE_REGRESSOR
from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui.panels.compare import ALL_CURVES, NONE_SELECTED_HAS_CURVES


def heads(table):
    model = table.model()
    return [model.headerData(k, Qt.Orientation.Horizontal) for k in range(model.columnCount())]


def test_two_boosted_runs_side_by_side(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    first = train(qtbot, session, "boosting", n_estimators=5)
    second = train(qtbot, session, "boosting", n_estimators=8)
    tree = train(qtbot, session, "tree")
    panel = session.window.findChild(QWidget, "panel.compare")
    session.window.centre.show_view("compare")
    table = panel.findChild(QTableView, "compare.table")
    label = heads(table)[-1]
    assert len(heads(table)) == 7
    model = table.model()
    assert [model.text(k, 6) for k in range(3)] == ["5", "8", ""]
    assert panel.plot.figure.title == ALL_CURVES  # nothing is selected
    panel.table.selectRow(0)
    assert panel.plot.legend_.entries == ()
    assert_names_are_whole(panel.plot)
    assert label != "n_estimators"  # in plain words
    value = document.run(tree).result.scores["validation"].accuracy.value
    assert model.text(2, 3) == f"{value:.3f}"
    table.selectRow(0)
    assert panel.selected_ids() == [first]
    table.selectionModel().select(
        model.index(1, 0),
        table.selectionModel().SelectionFlag.Select | table.selectionModel().SelectionFlag.Rows,
    )
    names = [line.name for line in panel.plot.figure.lines]
    one, two = document.run(first).name, document.run(second).name
    assert names == [f"{one}, training", f"{one}, validation", f"{two}, training", f"{two}, validation"]
    assert panel.plot.figure.title == "Curves of the selected models"
    assert [name for name, _ in panel.plot.legend_.entries] == [one, two]  # at its end one would cover two
    assert not any(name.isVisible() for name in panel.plot._names)
    drawn = [len(curve.getData()[0]) for curve in panel.plot.curves]
    assert drawn == [6, 6, 9, 9]
    table.doubleClicked.emit(model.index(0, 0))
    assert document.current_run_id == first
    table.selectRow(2)
    assert panel._no_curves.text() == NONE_SELECTED_HAS_CURVES
    forest = document.add_run("forest")
    assert heads(table)[-1] == label
    assert model.text([row.run_id for row in model.figure.rows].index(forest), 6) == ""  # trees, no rounds


def test_curves_of_models_that_boost_nothing_are_called_by_no_wrong_name(qtbot, session):
    session.document.open_table(load_sample("darts"))
    name = session.document.run(train(qtbot, session, "perceptron")).name
    panel = session.window.findChild(QWidget, "panel.compare")
    session.window.centre.show_view("compare")
    assert [line.name for line in panel.plot.figure.lines] == [f"{name}, training", f"{name}, validation"]
    assert panel.plot.figure.title.startswith("Curves of all models that have one")
    train(qtbot, session, "linear")
    panel.table.selectRow(1)
    assert "perceptron" in panel._no_curves.text()


def test_models_for_different_columns_say_so_and_none_is_best(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    document.set_target("sex")
    train(qtbot, session, "tree", max_depth=2)
    panel = session.window.findChild(QWidget, "panel.compare")
    kinds = [panel.model.text(k, 1) for k in range(2)]
    assert kinds == ["Decision tree for species", "Decision tree for sex"]
    assert not any(panel.model.figure.best)


def assert_names_are_whole(plot):
    plot.grab()  # texts find their places when they are painted
    box = plot.plot.vb.sceneBoundingRect().adjusted(-1, -1, 1, 1)
    visible = [name for name in plot._names if name.isVisible()]
    assert visible
    for name in visible:
        margin = name.textItem.document().documentMargin()
        assert box.contains(name.mapRectToScene(name.boundingRect()).adjusted(0, margin, 0, -margin))


def test_renaming_and_deleting_are_followed(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    run_id = document.add_run("tree")
    other = document.duplicate_run(run_id)
    panel = session.window.findChild(QWidget, "panel.compare")
    document.rename_run(run_id, "<b>mine</b>")
    assert panel.model.text(0, 0) == "<b>mine</b>"
    assert panel.model.text(0, 2) == "not trained"
    document.delete_run(other)
    assert panel.model.rowCount() == 1


def test_a_regression_model_without_a_table_is_headed_as_regression(qtbot, session, tmp_path):
    model = DecisionTreeRegressor(criterion="squared_error", max_depth=2).fit(
        np.arange(20.0)[:, None], np.arange(20.0) ** 2
    )
    path = tmp_path / "squares.tree.json"
    path.write_text(to_json(model, {"target": "square"}), encoding="utf-8")
    session.window.files.open_path(str(path))
    qtbot.waitUntil(lambda: len(session.document.runs) == 1, timeout=20_000)
    assert session.document.current_run.result.target == "square"
    session.window.ensure_centre()
    panel = session.window.findChild(QWidget, "panel.compare")
    wanted = ["R², validation", "RMSE, validation", "mean absolute error, validation"]
    qtbot.waitUntil(lambda: heads(panel.findChild(QTableView, "compare.table"))[3:] == wanted)
    form = session.window.findChild(QWidget, "panel.settings").form
    assert form.row("max_depth").parameter in TREE_REGRESSOR
    assert {"algorithm", "class_weight"}.isdisjoint(form.names)  # of classes
    assert form.row("criterion").parameter in TREE_REGRESSOR
