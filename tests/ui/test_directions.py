"""The setting of columns with which the prediction rises or falls: by mouse, by keyboard, undone, saved."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from engine.tree.directions import bounds_of, directions_of
from tests.ui.training_help import train
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.scripts import make_script
from workbench.ui import theme


@pytest.fixture
def run_id(session):
    session.document.open_table(load_sample("diabetes"))
    run_id = session.document.add_run("tree")
    session.document.select_run(run_id)
    session.document.undo_stack.clear()
    return run_id


def panel_of(session):
    return session.window.findChild(QWidget, "panel.settings")


def row_of(session):
    form = panel_of(session).form
    form.open_group("More")
    return form.row("monotonic_cst")


def value_of(session, run_id):
    return session.document.run(run_id).spec.parameters["monotonic_cst"]


def choose(session, column, text):
    field = row_of(session).field
    box = field.form.box(column)
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def test_columns_are_chosen_by_mouse_and_undone(session, run_id):
    field = row_of(session).field
    assert field.value_text() == "no column"
    QTest.mouseClick(field.findChild(QPushButton, "settings.directions"), Qt.MouseButton.LeftButton)
    assert field.form.isVisible()
    box = field.form.box("bmi")
    assert box.visibleRegion().boundingRect() == box.rect()
    assert [box.itemText(i) for i in range(box.count())] == ["free", "rises", "falls"]
    choose(session, "bmi", "rises")
    choose(session, "s3", "falls")
    assert value_of(session, run_id) == {"bmi": 1, "s3": -1}
    assert field.value_text() == "2 columns"
    assert "bmi rises, s3 falls" in field.findChild(QPushButton, "settings.directions").toolTip()
    field.form.close()
    session.document.undo_stack.undo()
    assert value_of(session, run_id) is None
    assert field.value_text() == "no column"
    assert field.form.box("bmi").currentText() == "free"
    session.document.undo_stack.redo()
    QTest.mouseClick(field.form.findChild(QPushButton, "settings.directions.none"), Qt.MouseButton.LeftButton)
    assert value_of(session, run_id) is None


def test_columns_are_chosen_with_the_keyboard(qtbot, session, run_id):
    panel_of(session).go_to("monotonic_cst")
    button = row_of(session).field.findChild(QPushButton, "settings.directions")
    assert button.visibleRegion().boundingRect() == button.rect()  # its group was folded before
    QTest.keyClick(button, Qt.Key.Key_Space)
    form = row_of(session).field.form
    assert form.isVisible()
    box = form.box("age")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert value_of(session, run_id) == {"age": 1}
    QTest.keyClick(form, Qt.Key.Key_Escape)
    assert not form.isVisible()


def test_a_tree_keeps_them_in_scripts_and_projects(qtbot, session, tmp_path):
    document = session.document
    document.open_table(load_sample("diabetes"))
    signs = {"bmi": 1, "s3": -1}
    run_id = train(qtbot, session, "tree", monotonic_cst=signs, splitter="random")
    estimator = document.run(run_id).result.estimator
    directions = directions_of(estimator, estimator.features_)
    lower, upper = bounds_of(estimator.tree_, directions)
    assert np.isfinite(lower).any()
    assert ((lower <= estimator.tree_.value[:, 0]) & (estimator.tree_.value[:, 0] <= upper)).all()
    assert "monotonic_cst={'bmi': 1, 's3': -1}," in make_script(document, run_id)
    assert "splitter='random'," in make_script(document, run_id)
    path = tmp_path / "kept.treewright"
    save_project(document, path, include_rows=True)
    (record,) = load_project(path).runs
    assert record.spec.parameters["monotonic_cst"] == signs
    assert record.result.estimator.tree_ == estimator.tree_


def test_they_are_absent_where_they_do_not_apply(session):
    document = session.document
    document.open_table(load_sample("penguins"))  # three species
    document.add_run("tree")
    form = panel_of(session).form
    assert "monotonic_cst" not in form.names
    document.set_target("sex")  # two classes
    assert "monotonic_cst" in form.names
    row = form.row("monotonic_cst")
    field = row.field
    assert "share of 'male'" in field.form.findChild(QLabel, "settings.directions.note").text()
    assert "island" not in field.form._boxes  # a category has no order
    document.set_parameter(document.current_run_id, "algorithm", "c4.5")
    assert "monotonic_cst" not in form.names
    document.set_parameter(document.current_run_id, "algorithm", "cart")
    document.set_roles(
        ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"], "ignored"
    )
    assert "monotonic_cst" not in form.names


def test_a_column_that_is_gone_is_named_and_freed(session, run_id):
    document = session.document
    document.set_parameter(run_id, "monotonic_cst", {"bmi": 1, "s3": -1})
    document.set_roles(["bmi"], "ignored")
    form = row_of(session).field.form
    assert form.findChild(QLabel, "settings.directions.note").text().startswith("Free 'bmi'")
    choose(session, "bmi", "free")
    assert value_of(session, run_id) == {"s3": -1}
    assert not form.findChild(QLabel, "settings.directions.note").text()


def test_the_words_stand_whole(session, run_id):
    """At the width that Settings have."""
    row = row_of(session)
    document = session.document
    document.set_parameter(run_id, "monotonic_cst", dict.fromkeys(("age", "bmi", "bp", "s1"), 1))
    button = row.field.findChild(QPushButton, "settings.directions")
    assert button.width() >= button.sizeHint().width()
    assert button.height() >= theme.scaled(24)
