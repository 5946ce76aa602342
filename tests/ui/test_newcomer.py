"""What confused somebody who met the program for the first time, each as it is told now."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from tests.ui.person import Person
from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.figures.axis import date_ticks
from workbench.figures.scores import part_block
from workbench.figures.surface import SurfaceFigure
from workbench.ui.widgets import ElidedLabel, Label


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


def test_the_window_opens_and_returns_within_the_screen(session, window, settings):
    room = QGuiApplication.primaryScreen().availableGeometry()  # offscreen: 800 x 800
    assert room.width() < 1440, "the first size must not fit, or this tests nothing"
    window.hide()
    settings.remove("window/geometry")
    window._restore_size()
    assert (window.width(), window.height()) == (room.width() - 8, room.height() - 40)
    assert room.contains(QRect(window.pos(), window.size()))
    window.resize(1300, 1000)  # as remembered on a larger screen
    settings.setValue("window/geometry", window.saveGeometry())
    window._restore_size()
    assert room.contains(QRect(window.pos(), window.size()))


def test_notes_of_a_table_without_a_file_are_counted_and_can_be_read(person, window, document, small_table):
    from dataclasses import replace

    document.open_table(replace(small_table, notes=("size: 1 cell holds no number",)))
    strip = person.find("data.import.change", QPushButton)
    assert strip.text() == "Notes"
    person.click("data.import.change")
    assert person.find("data.import.notes", Label).text() == "size: 1 cell holds no number"
    assert person.find("data.import.notes").isVisible()
    assert not person.find("data.import.separator").isVisible(), "there is no file to read again"
    document.open_table(make_table("plain", {"a": [1, 2, 3]}))
    assert not strip.isVisible(), "nothing to read"


def test_one_note_is_singular(person, window, document, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "".join(f"0{1 + i % 9}/0{1 + i % 7}/2020,{i}\n" for i in range(60)))
    window.files.open_path(str(path))
    person.wait(lambda: document.table is not None)
    assert len(document.table.notes) == 1
    assert window.status.message == "Opened t: 60 rows, 2 columns, 1 note on the import"


def test_the_bar_names_the_project_beside_the_table(person, window, document, small_table, tmp_path, dialogs):
    document.open_table(small_table)
    name = person.find("toolbar.name", ElidedLabel)
    assert name.full_text() == "small"
    for file in ("work.treewright", "copy.treewright"):  # the second finds nothing changed
        dialogs.answers = [tmp_path / file]
        window.actions_["action.file.save_as"].trigger()
        person.wait(lambda: not window.files.is_saving)
        assert name.full_text() == f"small – {file}"
        assert window.windowTitle() == f"{file}[*] – Treewright"


def sales():
    """Sixty months of sales, high from 2021 on; both a date and a year."""
    months = [f"{2018 + k // 12}-{1 + k % 12:02d}-15" for k in range(60)]
    years = [2018 + k // 12 for k in range(60)]
    sold = ["high" if k >= 36 else "low" for k in range(60)]
    size = [float(k % 7) for k in range(60)]
    return make_table(
        "sales",
        {"when": months, "year": years, "size": size, "sold": sold},
        {"when": "date", "year": "number"},
    )


def trained_panel(qtbot, session, person):
    """The Surface view of a tree trained on the sales."""
    session.document.open_table(sales())
    session.document.set_target("sold")
    train(qtbot, session, "tree")
    return person.find("panel.surface")


def test_dates_and_years_are_written_as_such_under_on_and_beside_the_surface(qtbot, session, person):
    document, panel = session.document, trained_panel(qtbot, session, person)

    def show(x_name, y_name):
        document.set_view_state("surface_columns", [x_name, y_name])
        panel._refresh()
        figures = lambda: panel.figure  # noqa: E731 - read anew each time
        person.wait(lambda: figures() is not None and figures().x.name == x_name and (
            y_name is None or getattr(figures(), "y", figures().x).name == y_name
        ))  # fmt: skip
        return figures()

    figure = show("size", None)
    held = {h.name: h for h in figure.held}
    days = np.sort(document.table.column("when").values[document.current_run.result.parts == 0])
    middle = np.datetime64(int(np.floor(np.median(days))), "D")
    assert held["when"].text == str(middle)
    assert held["year"].text in ("2019", "2020", "2021")
    assert f"when {middle}" in figure.held_text
    figure = show("when", "size")
    at = np.searchsorted(
        figure.x.edges, (np.datetime64("2020-09-15") - np.datetime64("1970-01-01")).astype(int)
    )
    assert "when: 2020-09-" in figure.text_at(float(figure.x.values[at]), 3.0)
    ticks = panel.plot.plot.getAxis("bottom")._tickLevels[0]
    assert [text for _, text in ticks] == [str(year) for year in range(2018, 2024)]
    assert ticks[0][0] == 17532  # days from 1970 to 2018


def test_a_held_date_is_entered_as_a_date(qtbot, session, person):
    document, panel = session.document, trained_panel(qtbot, session, person)
    document.set_view_state("surface_columns", ["size", None])
    panel._refresh()
    person.wait(lambda: panel.figure is not None and panel.figure.x.name == "size")
    person.click("surface.hold")
    person.type_in("surface.held.when", "2020-09-15")
    person.wait(lambda: "when 2020-09-15" in panel.figure.held_text)
    assert {h.name: h.encoded for h in panel.figure.held}["when"] == 18520
    person.type_in("surface.held.when", "soon")
    told = person.find("surface.held_problem", Label).text()
    assert told == "when: 'soon' is no date such as 2020-09-15. Enter one, or leave it empty for missing."
    panel._held.close()


def test_rules_on_dates_name_the_day(qtbot, session, person):
    document = session.document
    document.open_table(sales())
    document.set_target("sold")
    document.set_roles(["year", "size"], "ignored")
    train(qtbot, session, "tree")
    figure = person.find("panel.tree").canvas.figure
    days = document.table.column("when").values
    threshold = float(figure.tree.threshold[0])
    day = str(np.datetime64(int(np.floor(threshold)), "D"))
    assert figure.rule(0).text == f"when ≤ {day}"
    assert figure.story(0).startswith(f"when ≤ {day}\n")
    shown = (np.datetime64(day) - np.datetime64("1970-01-01")).astype(int)
    assert np.array_equal(days <= threshold, days <= shown), "no row changes side"


def test_a_date_to_predict_is_written_as_dates_and_its_errors_in_days(qtbot, session, person):
    document = session.document
    document.open_table(sales())
    document.set_target("when")
    result = document.run(train(qtbot, session, "tree")).result
    figure = person.find("panel.tree").canvas.figure
    trained = document.table.column("when").values[result.parts == 0]
    mean = str(np.datetime64(round(float(trained.mean())), "D"))
    assert figure.prediction(0).startswith(f"{mean} ± ")
    assert figure.prediction(0).endswith(" days")
    assert f"Mean {mean}" in figure.story(0)
    panel = person.find("panel.scores")
    block = part_block("m", result, "test", panel._unit(result))
    assert [key.name for key in block.key_figures] == ["R²", "RMSE, days", "mean absolute error, days"]
    assert block.notes[0].endswith(" days")
    first = panel.scatter.figure.text_at(0).split("\n")[0]
    assert first == f"actual {np.datetime64(int(result.scores['test'].y_true[0]), 'D')}"
    ticks = panel.scatter.plot.getAxis("left")._tickLevels[0]
    assert all(re.fullmatch(r"\d{4}(-\d\d)?(-\d\d)?", words) for _, words in ticks)
    assert [np.datetime64(words, "D").astype(int) for _, words in ticks] == [at for at, _ in ticks]
    surface = person.find("panel.surface")
    document.set_view_state("surface_columns", ["size", "year"])
    surface._refresh()
    person.wait(lambda: isinstance(surface.figure, SurfaceFigure) and surface.figure.x.name == "size")
    assert re.search(
        r"\nwhen \d{4}-\d\d-\d\d$", surface.figure.text_at(float(surface.figure.x.values[5]), 2020)
    )
    assert surface.plot.bar.axis._tickLevels[0] == date_ticks(*surface.plot.bar.axis.range)


def test_empty_views_and_the_status_line_tell_the_training_that_runs(person, window, document):
    person.open_sample("penguins")
    person.add("boosting", n_estimators="2000")
    views = [person.find(f"panel.{name}") for name in ("tree", "surface", "scores")]
    name = document.current_run.name
    for view in views:
        assert view._empty._sentence.text() == f"{name} is not trained yet.", view.objectName()
        assert view._empty.button.text() == "Train"
    assert "decision tree" not in views[0]._empty._how.text()
    window.status.say("Ready")
    person.click("settings.train")
    told = f"{name} is training: "
    person.wait(
        lambda: all(
            view._empty._sentence.text().startswith(f"{told}round ")
            and "of 2,000" in view._empty._sentence.text()
            for view in views
        ),
        120_000,
    )
    assert window.status.message == ""
    window.status.say("Ready")  # the warm-up has ended meanwhile
    assert window.status.message == ""
    first = document.current_run
    person.add("tree")
    second = document.current_run
    person.click("settings.train")  # is no dead button: it waits
    person.wait(lambda: views[0]._empty._sentence.text() == f"{second.name} waits for its training.")
    person.click("settings.train")  # Stop
    person.wait(lambda: document.run(second.run_id).state == "new")
    assert document.run(first.run_id).state == "training", "the other goes on"
    document.select_run(first.run_id)
    person.click("settings.train")  # Stop
    person.wait_for_training()
    person.wait(lambda: not person.find("status.job").isVisible())
