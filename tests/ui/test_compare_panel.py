"""The Compare view: scores and differing settings, curves of the selected runs."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample


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
    table = panel.findChild(QTableView, "compare.table")
    label = heads(table)[-1]
    assert len(heads(table)) == 7
    model = table.model()
    assert [model.text(k, 6) for k in range(3)] == ["5", "8", ""]
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
    drawn = [len(curve.getData()[0]) for curve in panel.plot.curves]
    assert drawn == [6, 6, 9, 9]
    table.doubleClicked.emit(model.index(0, 0))
    assert document.current_run_id == first


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
