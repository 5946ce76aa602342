"""The Stack view and the settings that are models: by mouse, by keyboard, with undo."""

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QScrollArea,
    QTableView,
    QWidget,
)

from tests.ui.person import LEFT
from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.scripts import make_script
from workbench.ui import theme
from workbench.ui.exporting import export_picture

TREE = {"name": "Tree", "kind": "tree", "parameters": {"max_depth": 3}}
DEEP = {"name": "Deep", "kind": "tree", "parameters": {}}


def panel_of(session):
    return session.window.findChild(QWidget, "panel.stack")


def field_of(session, name):
    return session.window.findChild(QWidget, "panel.settings").form.row(name).field


def texts_of(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


@pytest.fixture
def document(session):
    session.document.open_table(load_sample("darts"))
    return session.document


@pytest.fixture
def _stacked(qtbot, session, document):
    """A trained stack, its out-of-fold answers listed."""
    train(qtbot, session, "stacking", estimators=[TREE, DEEP], final_estimator=TREE, cv=3)
    session.window.centre.show_view("stack")
    qtbot.waitUntil(lambda: panel_of(session).figure is not None, timeout=60_000)


def test_it_says_what_is_missing(qtbot, session, document):
    session.window.centre.show_view("stack")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: any("No model yet" in text for text in texts_of(panel)))
    document.add_run("tree")
    qtbot.waitUntil(lambda: "This model is no stack." in texts_of(panel))
    QTest.mouseClick(next(b for b in panel.findChildren(QPushButton) if b.isVisibleTo(panel)), LEFT)
    assert document.current_run.spec.kind == "stacking"
    qtbot.waitUntil(lambda: panel.flow.figure is not None)
    assert panel.flow.figure.stages[2][0].title == "Nearest neighbours"
    assert "Train it" in panel.findChild(QLabel, "stack.why").text()


@pytest.mark.usefixtures("_stacked")
def test_the_drawing_follows_the_settings(session, document):
    panel = panel_of(session)
    run_id = document.current_run_id
    document.set_parameter(run_id, "cv", 4)
    assert panel.flow.figure.stages[1][0].title == "4 folds"
    document.set_parameter(run_id, "passthrough", True)
    assert [box.title for box in panel.flow.figure.stages[3]] == ["8 columns", "Table's columns"]
    document.undo_stack.undo()
    assert [box.title for box in panel.flow.figure.stages[3]] == ["8 columns"]


@pytest.mark.usefixtures("_stacked")
def test_a_click_on_a_box_goes_to_its_setting(qtbot, session):
    panel = panel_of(session)
    box = panel.flow.boxes()[2][0]
    place = panel.flow.mapFromScene(panel.flow.drawing.mapToScene(box.center()))
    QTest.mouseClick(panel.flow.viewport(), LEFT, pos=place)
    field = field_of(session, "estimators")
    assert field.isAncestorOf(session.window.focusWidget())


@pytest.mark.usefixtures("_stacked")
def test_rows_of_a_case_are_selected_everywhere_and_rows_selected_elsewhere_here(session):
    panel = panel_of(session)
    selection, figure = session.window.context.selection, panel.figure
    QTest.mouseClick(panel.findChild(QPushButton, "stack.case.1"), LEFT)
    np.testing.assert_array_equal(selection.rows, figure.cases[1].rows)
    table = panel.findChild(QTableView, "stack.table")
    places = [index.row() for index in table.selectionModel().selectedRows()]
    np.testing.assert_array_equal(panel.model.table_rows(places), figure.cases[1].rows)
    panel.model.sort(3, Qt.SortOrder.DescendingOrder)
    places = [index.row() for index in table.selectionModel().selectedRows()]
    np.testing.assert_array_equal(panel.model.table_rows(places), figure.cases[1].rows)
    selection.select_rows(figure.rows[:3].astype(np.intp))
    assert len(table.selectionModel().selectedRows()) == 3
    QTest.mouseClick(panel.findChild(QPushButton, "stack.none"), LEFT)
    assert selection.rows is None
    assert table.selectionModel().selectedRows() == []


@pytest.mark.usefixtures("_stacked")
def test_a_row_of_the_list_is_selected_by_mouse_and_keyboard(session):
    panel = panel_of(session)
    selection, table = session.window.context.selection, panel.findChild(QTableView, "stack.table")
    QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(panel.model.index(2, 1)).center())
    assert selection.rows.tolist() == panel.model.table_rows([2]).tolist()
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert selection.rows.tolist() == panel.model.table_rows([2, 3]).tolist()
    assert len(session.window.context.selection.rows) == 2


@pytest.mark.usefixtures("_stacked")
def test_the_figures_are_those_of_the_model(session, document):
    panel = panel_of(session)
    stack, figure = document.current_run.result.estimator, panel.figure
    assert len(figure.rows) == np.count_nonzero(document.current_run.result.parts == 0)
    columns = stack.oof_predictions_.reshape(len(figure.rows), -1)
    np.testing.assert_array_equal(figure.columns, columns)
    np.testing.assert_allclose(figure.correlation, np.corrcoef(columns, rowvar=False))
    assert sum(len(case.rows) for case in figure.cases) == len(figure.rows)
    n_right = (figure.is_right.mean(axis=0) * len(figure.rows)).round()
    np.testing.assert_allclose(n_right / len(figure.rows), stack.oof_scores_)
    assert panel.findChild(QLabel, "stack.leakage").text().startswith("No leak: ")
    assert f"Stack: accuracy {stack.oof_score_:.3f}" in panel.findChild(QLabel, "stack.scores").text()


@pytest.mark.parametrize("size", [(1440, 900), (1024, 700)])
@pytest.mark.usefixtures("_stacked")
def test_it_is_drawn_in_both_themes_and_written(session, tmp_path, size):
    panel = panel_of(session)
    session.window.resize(*size)
    for appearance in ("light", "dark"):
        theme.set_appearance(appearance)
        for plot in (panel.flow, panel.correlation):
            assert not plot.grab().isNull()
    export_picture(panel.picture(), tmp_path / "flow.svg")
    assert (tmp_path / "flow.svg").stat().st_size > 1000
    for stage in panel.flow.boxes():
        assert all(box.width() > 24 for box in stage)
    box = panel.flow.boxes()[2][0].center()
    assert panel.flow.tip_at(box) == "Tree: Decision tree\nClick to change it in Settings"
    assert "Tree: Ada and Tree: Ada: 1.00" in panel.correlation.tip_at(_cell(panel.correlation))


def _cell(plot):
    names, wide = plot._measures(plot.drawing.rect())
    return QPoint(int(names + wide / 2), theme.scaled(28) + 4)


@pytest.mark.usefixtures("_stacked")
def test_another_table_forgets_the_answers(session, document):
    panel = panel_of(session)
    document.open_table(load_sample("iris"))
    assert panel.figure is None


@pytest.mark.parametrize("size", [(1440, 900), (1024, 700)])
def test_the_boxes_have_room_for_their_words(qtbot, session, document, size):
    session.window.resize(*size)
    document.select_run(document.add_run("stacking"))
    session.window.centre.show_view("stack")
    flow = panel_of(session).flow
    qtbot.waitUntil(lambda: flow.figure is not None and flow.drawing.rect().width() > 300)
    bold = QFontMetricsF(theme.font(12, 600))
    for stage, boxes in zip(flow.figure.stages, flow.boxes(), strict=True):
        for box, place in zip(stage, boxes, strict=True):
            assert bold.horizontalAdvance(box.title) <= place.width() - 16, box.title


def test_where_room_is_short_the_wide_boxes_give(qtbot, session, document):
    session.window.resize(1024, 700)
    document.select_run(document.add_run("stacking"))
    long = {"name": "A model " * 12, "kind": "tree", "parameters": {}}
    document.set_parameter(document.current_run_id, "estimators", [TREE, long])
    session.window.centre.show_view("stack")
    flow = panel_of(session).flow
    qtbot.waitUntil(lambda: flow.figure is not None and flow.drawing.rect().width() > 300)
    bold, boxes = QFontMetricsF(theme.font(12, 600)), flow.boxes()
    assert bold.horizontalAdvance(long["name"]) > boxes[2][0].width()
    for place in (0, 1, 3, 4):
        assert bold.horizontalAdvance(flow.figure.stages[place][0].title) <= boxes[place][0].width() - 16
    assert boxes[-1][-1].right() <= flow.drawing.rect().width() + 1


def test_names_too_long_for_their_button_end_in_dots(qtbot, session, document):
    document.select_run(document.add_run("stacking"))
    field = field_of(session, "estimators")
    button = field.findChild(QPushButton)
    button.resize(90, button.height())
    assert button.text().startswith("nearest")
    assert button.text().endswith("…")
    assert field.value_text() == "nearest neighbours and SVM"


def test_models_are_chosen_and_removed_and_their_settings_changed(qtbot, session, document):
    run_id = document.add_run("stacking")
    document.select_run(run_id)
    field = field_of(session, "estimators")
    assert field.value_text() == "nearest neighbours and SVM"
    form = field.form
    box = form.offer_box()
    titles = [box.itemText(at) for at in range(box.count())]
    for title in ("Decision tree", "Random forest"):
        box.activated.emit(titles.index(title))
    chosen = document.run(run_id).spec.parameters["estimators"]
    assert [model["name"] for model in chosen] == ["Decision tree", "Random forest"]
    assert field.value_text() == "2 models"
    form._settings.edited.emit("n_estimators", 7)
    assert document.run(run_id).spec.parameters["estimators"][1]["parameters"]["n_estimators"] == 7
    QTest.mouseClick(form.findChild(QWidget, "settings.estimators.0.remove"), LEFT)
    assert [model["name"] for model in document.run(run_id).spec.parameters["estimators"]] == [
        "Random forest"
    ]
    document.undo_stack.undo()
    assert document.run(run_id).spec.parameters["estimators"] is None, "changes in a row are one step"
    assert field.value_text() == "nearest neighbours and SVM"
    document.undo_stack.redo()
    QTest.mouseClick(form.findChild(QWidget, "settings.estimators.none"), LEFT)
    assert document.run(run_id).spec.parameters["estimators"] is None


def test_the_choices_open_within_the_window_and_whole(qtbot, session, document):
    """They were as wide as their words, and lay beyond the right end of the screen."""
    document.select_run(document.add_run("stacking"))
    field, window = field_of(session, "estimators"), session.window
    button = field.findChild(QPushButton, "settings.estimators.button")
    assert button.text().startswith("nearest neigh")
    assert button.text().endswith("…"), "the field is narrower than its words"
    QTest.mouseClick(button, LEFT)
    form = field.form
    assert form.width() >= form.minimumSizeHint().width()
    assert form.frameGeometry().right() <= window.frameGeometry().right()
    box, none = form.offer_box(), form.findChild(QPushButton, "settings.estimators.none")
    assert none.text() == "Nearest neighbours and SVM"
    for part in (box, none):
        assert form.rect().contains(part.geometry())
    assert box.y() < form.height() / 4, "what there is stands above, not spread over the height"
    document.set_parameter(document.current_run_id, "estimators", [TREE])
    area = form.findChild(QScrollArea)
    qtbot.waitUntil(lambda: area.height() > form.height() / 3)
    form.close()


def test_a_setting_of_a_base_model_is_chosen_inside_each_fit(qtbot, session, document):
    run_id = document.add_run("stacking")
    document.select_run(run_id)
    form = field_of(session, "estimators").form
    box = form.offer_box()
    titles = [box.itemText(at) for at in range(box.count())]
    for title in ("Nearest neighbours", "Decision tree"):
        box.activated.emit(titles.index(title))
    form.findChild(QPushButton, "settings.estimators.0").click()
    lists = [form.findChild(QComboBox, f"settings.estimators.grid.parameter{k}") for k in "12"]
    texts = [form.findChild(QLineEdit, f"settings.estimators.grid.values{k}") for k in "12"]
    assert lists[0].currentText() == "nothing"
    assert lists[1].parentWidget().isHidden()

    def bases():
        return document.run(run_id).spec.parameters["estimators"]

    lists[0].setCurrentText("Neighbours (k)")
    lists[0].activated.emit(lists[0].currentIndex())
    assert bases()[0]["grid"] == {"n_neighbors": [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]}
    texts[0].clear()
    QTest.keyClicks(texts[0], "3, 40")
    assert bases()[0]["grid"] == {"n_neighbors": [3, 40]}
    assert texts[0].text() == "3, 40", "what is typed stays as it is"
    QTest.keyClicks(texts[0], ", none")
    assert texts[0].property("invalid")
    assert bases()[0]["grid"] == {"n_neighbors": [3, 40]}
    form.findChild(QPushButton, "settings.estimators.1").click()
    assert lists[0].currentText() == "nothing"
    form.findChild(QPushButton, "settings.estimators.0").click()
    assert (lists[0].currentText(), texts[0].text()) == ("Neighbours (k)", "3, 40")
    session.window.centre.show_view("stack")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.flow.figure is not None)
    assert panel.flow.figure.stages[2][0].detail == "Nearest neighbours, tunes neighbours (k)"

    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        assert session.trainer.train(run_id)
    stack = document.run(run_id).result.estimator
    assert stack.grids == {"Nearest neighbours": {"n_neighbors": [3, 40]}}
    assert stack.settings_ == ({"n_neighbors": 3}, {}), "the beds are finer than 40 throws"
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    assert panel.figure.scores[0][1].endswith("; neighbours (k) 3 chosen on all rows")
    assert "grids={'Nearest neighbours': {'n_neighbors': [3, 40]}}" in make_script(document, run_id)
    assert lists[0].findText("nothing") == 0
    lists[0].setCurrentIndex(0)
    lists[0].activated.emit(0)
    assert "grid" not in bases()[0]


def test_only_base_models_of_a_stack_are_tuned_inside(session, document):
    document.select_run(document.add_run("averaging"))
    form = field_of(session, "estimators").form
    box = form.offer_box()
    box.activated.emit(1)
    assert form.findChild(QComboBox, "settings.estimators.grid.parameter1") is None


def test_a_trained_models_settings_are_offered(qtbot, session, document):
    train(qtbot, session, "tree", max_depth=2)
    name = document.current_run.name
    run_id = document.add_run("stacking")
    document.select_run(run_id)
    field = field_of(session, "final_estimator")
    box = field.form.offer_box()
    titles = [box.itemText(at) for at in range(box.count())]
    box.activated.emit(titles.index(f"As trained: {name}"))
    assert document.run(run_id).spec.parameters["final_estimator"]["parameters"]["max_depth"] == 2
    assert field.value_text() == name


def test_selected_models_are_averaged(qtbot, session, document):
    for kind in ("tree", "forest"):
        train(qtbot, session, kind)
    models = session.window.findChild(QListView, "models.list")
    action = session.window.context.actions["action.model.average"]
    assert not action.isEnabled()
    models.selectionModel().select(models.model().index(0), QItemSelectionModel.SelectionFlag.Select)
    assert action.isEnabled()
    action.trigger()
    qtbot.waitUntil(lambda: len(document.runs) == 3, timeout=60_000)
    made = list(document.runs.values())[2]
    assert made.result.estimator.prefit
    assert made.state == "done"
    document.undo_stack.undo()
    assert len(document.runs) == 2


def test_weights_of_an_average_are_typed(qtbot, session, document):
    run_id = document.add_run("averaging")
    document.select_run(run_id)
    field = field_of(session, "weights")
    edit = field.focusProxy()
    edit.setFocus()
    QTest.keyClicks(edit, "1, 3x")
    assert "Enter" in session.window.findChild(QWidget, "panel.settings").form.row("weights").error()
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert document.run(run_id).spec.parameters["weights"] == (1.0, 3.0)
    document.undo_stack.undo()
    assert document.run(run_id).spec.parameters["weights"] is None
    assert field.value_text() == "all the same"


@pytest.mark.parametrize(("target", "has_scheme"), [("sex", False), ("species", True)])
def test_for_two_classes_a_part_is_offered_no_scheme_for_more(session, target, has_scheme):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target(target)
    run_id = document.add_run("averaging")
    document.set_parameter(run_id, "estimators", [{"name": "SVM", "kind": "svm", "parameters": {}}])
    form = field_of(session, "estimators").form
    offered = {widget.objectName() for widget in form.findChildren(QWidget) if widget.isVisibleTo(form)}
    assert "settings.estimators.settings.C" in offered
    assert ("settings.estimators.settings.multiclass" in offered) is has_scheme
