"""The whole road by mouse and keyboard, on widgets found by objectName; only file dialogs are answered."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLabel, QPlainTextEdit, QWidget

from tests.ui.person import ALT, CTRL, LEFT, SHIFT, Person
from workbench.datasets import feature_frame, make_table
from workbench.figures.surface import SurfaceFigure

ROOT = Path(__file__).resolve().parents[2]
NEW_COLUMNS = "sex,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,year,ring"


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def at_penguins(person) -> Person:
    person.open_sample("penguins")
    return person


def shown(label) -> str:
    return label.full_text() if hasattr(label, "full_text") else label.text()


def drawn_points(person, role: str = "training") -> int:
    """How many points a curve on screen has."""
    curve = person.find("training.plot").curve_of(role)
    x = None if curve is None else curve.getData()[0]
    return 0 if x is None else len(x)


# ---- opening and columns -----------------------------------------------------------------------


def test_every_column_shows_its_kind_and_why_and_the_target_is_chosen(at_penguins, document):
    person = at_penguins
    names = [column.name for column in document.table.columns]
    reasons = {}
    for row, name in enumerate(names):
        person.click_row("data.columns", row)
        reasons[name] = shown(person.find("data.reason", QLabel))
        kind = person.find("data.kind", QComboBox).currentData()
        assert kind == ("category" if name in ("species", "island", "sex") else "number"), name
        assert reasons[name] == document.table.column(name).reason
    assert len(set(reasons.values())) > 2, "the reasons are about the columns"
    assert document.target == "species"
    person.choose("data.target", "island")
    assert document.target == "island"
    assert document.classes == ("Biscoe", "Dream", "Torgersen")
    person.press(Qt.Key.Key_Z, CTRL)
    assert document.target == "species"


# ---- training live -----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "n_models"), [("tree", 1), ("forest", 20), ("boosting", 20)])
def test_each_kind_is_trained_and_scored(at_penguins, document, kind, n_models):
    person = at_penguins
    person.add(kind, **({} if kind == "tree" else {"n_estimators": str(n_models)}))
    person.train()
    run = document.current_run
    assert (run.state, run.spec.kind, len(run.result.trees)) in [
        ("done", kind, n_models), ("done", kind, 3 * n_models),
    ]  # fmt: skip
    person.press(Qt.Key.Key_5, ALT)
    person.choose("scores.part", "held-out test rows")
    assert person.find("scores.key_figures.accuracy", QLabel).text() == (
        f"{run.result.scores['test'].accuracy.value:.3f}"
    )
    assert run.result.scores["test"].accuracy.value > 0.9


def test_the_curve_is_live_and_stop_keeps_exactly_the_rounds_shown(at_penguins, document, session):
    person = at_penguins
    person.add("boosting", n_estimators="10000")
    person.click("settings.train")
    person.wait(lambda: drawn_points(person) >= 5, 120_000)
    assert session.trainer.current_job is not None
    assert document.current_run.state == "training"
    assert "of 10,000" in session.trainer.current_job.progress.text
    n_seen = drawn_points(person)
    assert drawn_points(person, "validation") == n_seen
    QTest.mouseClick(person.find("settings.train"), LEFT)  # it says Stop now
    person.wait_for_training()
    result = document.current_run.result
    assert document.current_run.state == "stopped"
    assert n_seen <= drawn_points(person) == result.n_rounds + 1 < 10_001
    assert drawn_points(person, "validation") == result.n_rounds + 1
    assert len(result.estimator.estimators_) == result.n_rounds
    y = person.find("training.plot").curve_of("training").getData()[1]
    np.testing.assert_allclose(y[1:], result.estimator.train_loss_[-result.n_rounds :], rtol=1e-12)
    stages = list(result.estimator.staged_predict_proba(feature_frame(document.table, result.features)))
    assert len(stages) == result.n_rounds


# ---- pruning by hand ---------------------------------------------------------------------------


def test_prune_undo_redo_by_keyboard_change_everything_and_bring_it_back(
    at_penguins, document, tmp_path, dialogs
):
    person = at_penguins
    person.add("tree")
    person.train()
    canvas, surface = person.find("tree.canvas"), person.find("panel.surface")
    frame = feature_frame(document.table, document.current_run.result.features)
    person.wait(lambda: surface.figure is not None)

    def state(name: str, asked=None):
        result = document.current_run.result
        person.wait(lambda: surface.figure is not None and surface.figure is not asked)
        dialogs.answers = [tmp_path / f"{name}.tree.json"]
        person.press(Qt.Key.Key_E, CTRL)
        return {
            "predictions": result.estimator.predict_proba(frame).tobytes(),
            "training score": result.scores["train"].accuracy.value,
            "test score": result.scores["test"].log_loss.value,
            "surface": surface.figure.answer.tobytes(),
            "file": (tmp_path / f"{name}.tree.json").read_bytes(),
            "cards": canvas.figure.n_nodes,
        }

    before = state("before")
    canvas.setFocus()
    person.press(Qt.Key.Key_Down)  # the root, for nothing was selected
    person.press(Qt.Key.Key_Down)
    drawn = surface.figure
    assert canvas.selected_path == (0,)
    person.press(Qt.Key.Key_Delete)
    pruned = state("pruned", drawn)
    assert {name for name in before if before[name] == pruned[name]} == set()
    drawn = surface.figure
    person.press(Qt.Key.Key_Z, CTRL)
    assert state("undone", drawn) == before
    drawn = surface.figure
    person.press(Qt.Key.Key_Z, CTRL | SHIFT)
    assert state("redone", drawn) == pruned


# ---- surface -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_the_surface_chosen_by_hand_is_predict_proba_with_the_values_it_states(at_penguins, document, kind):
    import pandas as pd

    person = at_penguins
    person.add(kind, **({} if kind == "tree" else {"n_estimators": "10"}))
    person.train()
    panel = person.find("panel.surface")
    person.wait(lambda: panel.figure is not None)
    person.choose("surface.x_column", "bill_depth_mm")
    person.choose("surface.y_column", "sex")

    def is_drawn():
        figure = panel.figure
        return isinstance(figure, SurfaceFigure) and (figure.x.name, figure.y.name) == (
            "bill_depth_mm",
            "sex",
        )

    person.wait(is_drawn)
    figure, result = panel.figure, document.current_run.result
    assert "missing" in figure.y.labels
    rng = np.random.default_rng(1)
    across, up = rng.integers(len(figure.x.values), size=1000), rng.integers(len(figure.y.values), size=1000)
    asked = {"bill_depth_mm": figure.x.values[across]}
    asked["sex"] = np.array([*figure.y.labels], object)[up]
    asked["sex"][asked["sex"] == "missing"] = None
    for part in figure.held_text.removeprefix("held: ").split(", "):  # what the picture states, read back
        name, text = next(
            (n, part.removeprefix(f"{n} ")) for n in result.features if part.startswith(f"{n} ")
        )
        is_number = document.table.column(name).kind == "number"
        asked[name] = np.full(
            1000, float(text.replace(",", "")) if is_number else text, float if is_number else object
        )
    assert set(asked) == set(result.features)
    for name in ("sex", "island"):
        levels = document.table.column(name).levels
        asked[name] = pd.Categorical(asked[name], categories=list(levels))
    expected = result.estimator.predict_proba(pd.DataFrame(asked)[list(result.features)])
    np.testing.assert_allclose(figure.answer[:, up, across].T, expected, atol=1e-9)


# ---- honest scores -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("tree", {"max_depth": "", "min_samples_leaf": "1"}),
        ("forest", {"n_estimators": "200", "min_samples_leaf": "1"}),
        ("boosting", {"n_estimators": "200", "learning_rate": "0.5", "min_samples_leaf": "1"}),
    ],
)
def test_coin_flips_are_learned_by_heart_and_shown_as_worthless(person, document, kind, fields):
    rng = np.random.default_rng(11)
    columns = {f"x{k}": rng.normal(size=1000) for k in range(4)}
    document.open_table(make_table("coins", {**columns, "coin": rng.choice(["heads", "tails"], 1000)}))
    person.choose("data.target", "coin")
    person.add(kind, **fields)
    person.train()
    person.press(Qt.Key.Key_5, ALT)
    assert document.current_run.result.scores["train"].accuracy.value == 1.0
    person.choose("scores.part", "held-out test rows")
    assert 0.4 <= float(person.find("scores.key_figures.accuracy", QLabel).text()) <= 0.6


# ---- several models ----------------------------------------------------------------------------


def test_rename_duplicate_retrain_compare_and_delete(at_penguins, document, qtbot):
    person = at_penguins
    person.add("boosting", n_estimators="6")
    person.train()
    person.rename("models.list", "Short")
    person.press(Qt.Key.Key_D, CTRL)
    assert person.rows("models.list") == ["Short", "Short 1"]
    assert document.current_run.state == "new"
    person.type_in("settings.n_estimators", "9")
    person.train()
    person.rename("models.list", "Long")
    first, second = document.runs.values()
    assert (first.name, first.result.n_rounds, second.name, second.result.n_rounds) == ("Short", 6, "Long", 9)
    person.click_row("models.list", 0)
    person.train()  # again, and the same
    assert document.runs[first.run_id].result is not first.result
    assert document.runs[first.run_id].result.curve.train.tolist() == first.result.curve.train.tolist()

    person.press(Qt.Key.Key_6, ALT)
    table = person.find("compare.table", QAbstractItemView)
    heads = [
        table.model().headerData(k, Qt.Orientation.Horizontal) for k in range(table.model().columnCount())
    ]
    texts = [[table.model().index(r, c).data() for c in range(len(heads))] for r in range(2)]
    assert heads[:3] == ["Model", "Kind", "State"]
    differing = [c for c in range(3, len(heads)) if texts[0][c] != texts[1][c]]
    assert [texts[0][-1], texts[1][-1]] == ["6", "9"], "the only setting shown is the one that differs"
    assert len(heads) - 1 in differing
    person.click_row("compare.table", 0)
    person.click_row("compare.table", 1, CTRL)
    plot = person.find("compare.plot")
    assert [line.name for line in plot.figure.lines] == [
        "Short, training", "Short, validation", "Long, training", "Long, validation",
    ]  # fmt: skip
    assert [len(curve.getData()[0]) for curve in plot.curves[:4]] == [7, 7, 10, 10]

    person.find("models.list").setFocus()
    person.press(Qt.Key.Key_Delete)
    assert person.rows("models.list") == ["Long"]
    person.press(Qt.Key.Key_Z, CTRL)
    assert person.rows("models.list") == ["Short", "Long"]
    assert document.runs[first.run_id].result.n_rounds == 6


# ---- applying, saving, taking away -------------------------------------------------------------


def new_file(path: Path) -> Path:
    """Three penguins: columns in another order, one more, and an island that no training row has."""
    path.write_text(
        f"{NEW_COLUMNS}\n"
        "male,Biscoe,47.0,15.0,220,5200,2008,a1\n"
        "female,Torgersen,38.0,18.0,185,3500,2007,a2\n"
        ",Atlantis,49.0,19.0,200,3900,2009,a3\n",
        encoding="utf-8",
    )
    return path


def test_a_new_file_is_predicted_with_a_report_and_saved(at_penguins, document, tmp_path, dialogs):
    person = at_penguins
    person.add("forest", n_estimators="30")
    person.train()
    dialogs.answers = [new_file(tmp_path / "neu 数据.csv"), tmp_path / "out.csv"]
    person.press(Qt.Key.Key_P, CTRL)
    person.wait(lambda: person.window.findChild(QWidget, "apply.save") is not None)
    assert "3 rows" in person.find("apply.title", QLabel).text()
    report = person.find("apply.report", QPlainTextEdit).toPlainText()
    assert "'island': 1 row holds levels unknown to the model: 'Atlantis' (1)" in report
    assert "1 column was not used: ring" in report.replace("'", "")
    person.click("apply.save")
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()
    head = lines[0].split(",")
    assert lines[0].startswith(f"{NEW_COLUMNS},predicted species,")
    labels = [line.split(",")[head.index("predicted species")] for line in lines[1:]]
    assert labels == ["Gentoo", "Adelie", "Chinstrap"]

    lacking = tmp_path / "lacking.csv"
    lacking.write_text("sex,island\nmale,Biscoe\nfemale,Dream\n", encoding="utf-8")
    dialogs.answers = [lacking]
    person.press(Qt.Key.Key_P, CTRL)
    notice = person.find("notice.text", QLabel)
    person.wait(lambda: notice.isVisible() and "lacking" in notice.text())
    for name in ("bill_length_mm", "flipper_length_mm"):
        assert name in notice.text()
    assert person.window.findChild(QWidget, "apply.save") is None


def test_a_project_opens_again_where_it_was_left(at_penguins, document, qtbot, tmp_path, dialogs):
    person = at_penguins
    person.add("tree")
    person.train()
    person.add("boosting", n_estimators="8")
    person.train()
    person.click_row("models.list", 0)
    panel = person.find("panel.surface")
    person.wait(lambda: panel.figure is not None)
    person.choose("surface.x_column", "body_mass_g")
    person.choose("surface.y_column", "bill_depth_mm")
    path = tmp_path / "pinguine.treewright"
    person.press(Qt.Key.Key_5, ALT)
    assert in_front(person, "scores")
    dialogs.answers = [path]
    person.press(Qt.Key.Key_S, CTRL)
    person.wait(lambda: not person.window.files.is_saving)
    assert path.exists()
    frame = feature_frame(document.table, document.current_run.result.features)
    before = [
        (run.name, run.state, run.spec, run.result.estimator.predict_proba(frame).tobytes())
        for run in document.runs.values()
    ]
    tree, scores = document.current_run.result.tree(0), document.current_run.result.scores
    with qtbot.waitSignal(document.table_changed):
        document.open_table(make_table("other", {"a": [1, 2, 3]}))
    person.press(Qt.Key.Key_1, ALT)
    assert not in_front(person, "scores")
    dialogs.answers = [path]
    person.press(Qt.Key.Key_O, CTRL)
    person.wait(lambda: document.path == path)
    assert [
        (run.name, run.state, run.spec, run.result.estimator.predict_proba(frame).tobytes())
        for run in document.runs.values()
    ] == before
    assert document.target == "species"
    assert person.find("models.list", QAbstractItemView).currentIndex().row() == 0
    assert person.find("tree.canvas").figure.tree == tree
    assert document.current_run.result.scores["test"].accuracy == scores["test"].accuracy
    person.wait(lambda: panel.figure is not None)
    assert (panel.figure.x.name, panel.figure.y.name) == ("body_mass_g", "bill_depth_mm")
    assert in_front(person, "scores")
    assert not in_front(person, "tree")
    assert not person.window.isWindowModified()


def in_front(person, name: str) -> bool:
    """Whether a view is what one sees at its place."""
    QGuiApplication.processEvents()
    panel = person.find(f"panel.{name}")
    seen = person.window.childAt(panel.mapTo(person.window, panel.rect().center()))
    return seen is not None and panel.isAncestorOf(seen)


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_the_copied_script_runs_and_prints_the_same_held_out_score(at_penguins, document, tmp_path, kind):
    person = at_penguins
    person.add(kind, **({} if kind == "tree" else {"n_estimators": "15"}))
    person.train()
    person.press(Qt.Key.Key_C, CTRL | SHIFT)
    script = tmp_path / "model.py"
    script.write_text(QGuiApplication.clipboard().text(), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    accuracy = document.current_run.result.scores["test"].accuracy.value
    n_rows = document.current_run.result.scores["test"].n_rows
    assert f"test accuracy {accuracy!r} ({n_rows} rows)" in done.stdout.splitlines()


def assert_is_picture(path: Path) -> None:
    """A PNG with several colours, an SVG that parses, a whole PDF."""
    if path.suffix == ".png":
        image = QImage(str(path))
        assert min(image.width(), image.height()) > 100
        places = [(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)]
        assert len({image.pixel(x, y) for x, y in places}) > 3
    elif path.suffix == ".svg":
        assert ET.parse(path).getroot().tag.endswith("svg")
    else:
        content = path.read_bytes()
        assert content.startswith(b"%PDF")
        assert content.rstrip().endswith(b"%%EOF")


def test_model_and_pictures_are_exported(at_penguins, document, tmp_path, dialogs):
    from engine.export.json import from_json

    person = at_penguins
    person.add("boosting", n_estimators="8")
    person.train()
    dialogs.answers = [tmp_path / "boosted.tree.json"]
    person.press(Qt.Key.Key_E, CTRL)
    result = document.current_run.result
    frame = feature_frame(document.table, result.features)
    again = from_json((tmp_path / "boosted.tree.json").read_text(encoding="utf-8"))
    assert again.predict_proba(frame).tobytes() == result.estimator.predict_proba(frame).tobytes()

    panel = person.find("panel.surface")
    person.wait(lambda: panel.figure is not None)
    keys = {
        "tree": Qt.Key.Key_1,
        "training": None,
        "surface": None,
        "scores": Qt.Key.Key_5,
        "compare": Qt.Key.Key_6,
    }
    for view, key in keys.items():
        if key is not None:
            person.press(key, ALT)
        for ending in ("png", "svg", "pdf"):
            path = tmp_path / f"{view}.{ending}"
            dialogs.answers = [path]
            person.click(f"{view}.export")
            assert_is_picture(path)
    assert dialogs.asked[1:] == ["Export Picture"] * 15


# ---- a model file ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "boosting"])
def test_a_model_file_opens_without_a_table_and_predicts(at_penguins, document, tmp_path, dialogs, kind):
    person, model = at_penguins, tmp_path / "pinguine.tree.json"
    person.add(kind, **({} if kind == "tree" else {"n_estimators": "5"}))
    person.train()
    tree = document.current_run.result.tree(0)
    new = new_file(tmp_path / "new.csv")
    expected = tmp_path / "with table.csv"
    dialogs.answers = [model, new, expected]
    person.press(Qt.Key.Key_E, CTRL)
    apply_and_save(person)
    document.open_table(make_table("other", {"a": [1, 2, 3]}))

    dialogs.answers = [model]
    person.press(Qt.Key.Key_O, CTRL)
    person.wait(lambda: person.rows("models.list") == ["pinguine"])
    assert document.table is None
    assert person.find("tree.canvas").isVisible()
    assert person.find("tree.canvas").figure.tree == tree
    assert person.find("panel.surface").figure is None
    dialogs.answers = [new, tmp_path / "without table.csv"]
    apply_and_save(person)
    head, *lines = (tmp_path / "without table.csv").read_text(encoding="utf-8-sig").splitlines()
    head_before, *lines_before = expected.read_text(encoding="utf-8-sig").splitlines()
    assert lines == lines_before
    assert head == head_before  # the file knows its target's name

    project = tmp_path / "kept.treewright"
    dialogs.answers = [project]
    person.press(Qt.Key.Key_S, CTRL | SHIFT)
    person.wait(lambda: not person.window.files.is_saving)
    document.open_table(make_table("other", {"a": [1, 2, 3]}))
    dialogs.answers = [project]
    person.press(Qt.Key.Key_O, CTRL)
    person.wait(lambda: person.rows("models.list") == ["pinguine"])
    assert document.table is None
    assert person.find("tree.canvas").figure.tree == tree


def apply_and_save(person) -> None:
    person.press(Qt.Key.Key_P, CTRL)
    person.wait(lambda: person.window.findChild(QWidget, "apply.save") is not None)
    person.click("apply.save")
    person.wait(lambda: person.window.findChild(QWidget, "apply.save") is None)


def test_a_tree_changed_by_hand_is_not_copied_as_a_script(at_penguins, document):
    person = at_penguins
    person.add("tree")
    person.train()
    person.find("tree.canvas").setFocus()
    person.press(Qt.Key.Key_Down)
    person.press(Qt.Key.Key_Delete)
    QGuiApplication.clipboard().setText("what was there")
    person.press(Qt.Key.Key_C, CTRL | SHIFT)
    assert "Decision tree 1 was changed by hand" in person.find("notice.text", QLabel).text()
    assert QGuiApplication.clipboard().text() == "what was there"
