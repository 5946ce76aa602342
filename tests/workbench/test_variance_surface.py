"""The spread of many fits over two columns: cells, truth, memory, rows, files, undo, stop, the picture."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.errors import DataError
from engine.monitor import NULL_MONITOR
from engine.resampling.draws import TableDraws
from tests.workbench.making import StopsAfter, opened
from workbench import variance_surface
from workbench.catalog import entry_of
from workbench.datasets import make_table
from workbench.document import Document
from workbench.figures import surface_inputs
from workbench.figures.variance_surface import make_variance_surface
from workbench.many_fits import (
    ManyFitsSettings,
    how_it_ended,
    inputs_of,
    run_many_fits,
    settings_for,
    what_changed,
)
from workbench.project import load_project, save_project
from workbench.project.many_fits import settings_from_json, settings_to_json
from workbench.project.variance_surface import surface_arrays, surface_from_json, surface_to_json
from workbench.training_sets import FRESH
from workbench.training_work import training_inputs
from workbench.variance_surface import run_variance_surface

BILL_AND_ISLAND = ManyFitsSettings("bill_length_mm", "Gentoo", n_sets=4, second_column="island")
MOONS = ManyFitsSettings("x1", "upper", FRESH, n_sets=5, second_column="x2")


@pytest.fixture
def penguins(qapp):
    return opened("penguins")


@pytest.fixture
def moons(qapp):
    return opened("moons")


def find(document, settings, monitor=NULL_MONITOR):
    return run_variance_surface(inputs_of(document, settings), monitor)


def test_every_cell_is_what_fits_on_the_training_sets_say_there(penguins):
    found = find(penguins, BILL_AND_ISLAND)
    fit = training_inputs(penguins, penguins.current_run_id)
    rows = fit.learnable().take(fit.rows_of("train"))
    sets, n_x = TableDraws(rows.X, rows.labels, n_sets=4), len(found.x.values)
    assert found.y.labels == ("Biscoe", "Dream", "Torgersen")
    assert (n_x, found.answers.shape) == (60, (4, 180))
    held = rows.X.iloc[:1].assign(
        bill_depth_mm=17.55, flipper_length_mm=197.0, body_mass_g=4050.0, year=2008.0,
        sex=pd.Categorical(["male"], categories=rows.X["sex"].cat.categories),
    )  # fmt: skip
    for number in range(4):
        table = sets.table(number)
        plain = entry_of("tree").make("classes", fit.spec.parameters, 3).fit(table.X, table.y)
        gentoo = plain.classes_.tolist().index("Gentoo")
        for row, island in enumerate(found.y.labels):
            levels = pd.Categorical([island] * n_x, categories=rows.X["island"].cat.categories)
            grid = pd.concat([held] * n_x).assign(bill_length_mm=found.x.values, island=levels)
            said = found.answers[number, row * n_x : (row + 1) * n_x]
            np.testing.assert_array_equal(said, plain.predict_proba(grid)[:, gentoo])
    np.testing.assert_allclose(found.deviation, found.answers.std(axis=0), atol=1e-12)
    assert found.deviation.max() > 0
    assert found.held_text.startswith("held: bill_depth_mm 17.55, ")
    assert "island" not in found.held_text
    assert found.rows_text == "4 bootstraps of 206 training rows, 60 x 3 cells"
    assert found.quantity == "probability of Gentoo"
    assert found.deviation_name == "probability of Gentoo (standard deviation)"


def test_rows_stand_where_their_values_are_with_their_classes(penguins, monkeypatch):
    points = find(penguins, BILL_AND_ISLAND).points
    fit = training_inputs(penguins, penguins.current_run_id)
    rows = fit.rows_of("train")
    np.testing.assert_array_equal(points.rows, rows)
    np.testing.assert_array_equal(points.x, fit.table.column("bill_length_mm").values[rows])
    np.testing.assert_array_equal(np.round(points.y), fit.table.column("island").values[rows])
    species = fit.table.column("species").values[rows]
    assert [fit.classes[code] for code in points.codes] == [
        fit.table.column("species").levels[code] for code in species
    ]
    monkeypatch.setattr(surface_inputs, "MAX_POINTS", 100)
    thinned = find(penguins, BILL_AND_ISLAND)
    np.testing.assert_array_equal(thinned.points.rows, rows[::3])
    np.testing.assert_array_equal(thinned.points.y, points.y[::3])
    assert thinned.rows_text.endswith("(69 drawn), 60 x 3 cells")


def test_the_truth_is_drawn_where_it_is_known(moons):
    found = find(moons, MOONS)
    assert found.rows_text == "5 fresh tables of 180 rows, 60 x 60 cells"
    assert found.truth.shape == (3600,)
    figure = make_variance_surface(found)
    assert figure.truth[-10, 25] > 0.9  # the upper moon, above
    assert figure.truth[5, 35] < 0.1
    assert "truth" in figure.text_at(0.5, 0.5)
    assert "truth" in figure.to_csv().splitlines()[0]
    assert "bias" in figure.answers.subtitle


def test_of_dates_the_deviation_is_in_days(qapp):
    days = [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(60)]
    columns = {"a": [k * 5 % 31 for k in range(60)], "b": [k * 7 % 11 for k in range(60)], "day": days}
    document = Document()
    document.open_table(make_table("days", columns))
    document.set_target("day")
    document.add_run("tree")
    found = find(document, ManyFitsSettings("a", n_sets=3, second_column="b"))
    assert found.quantity == "day (days since 1970-01-01)"
    assert found.deviation_name == "day (standard deviation, days)"
    told = make_variance_surface(found).text_at(15.0, 5.0).splitlines()
    assert told[2].startswith("standard deviation ")
    assert told[2].endswith(" days")
    assert told[3].startswith("mean 2024-")


def test_the_picture_is_coarser_where_memory_asks_and_says_so(moons, penguins, monkeypatch):
    monkeypatch.setattr(variance_surface, "MAX_BYTES", 8 * 5 * 30 * 30)
    assert "30 x 30 cells" in find(moons, MOONS).rows_text
    monkeypatch.setattr(variance_surface, "MAX_BYTES", 8 * 8 * 4 * 25)  # four levels, one for missing
    assert "25 x 3 cells" in find(penguins, replace(BILL_AND_ISLAND, n_sets=8)).rows_text
    monkeypatch.setattr(variance_surface, "MAX_BYTES", 8 * 8 * 4 * 19)
    with pytest.raises(DataError, match=r"too many cells for 8 training sets; choose fewer of these, or"):
        find(penguins, replace(BILL_AND_ISLAND, n_sets=8))


def test_only_another_column_of_the_model_is_a_second_one(penguins):
    with pytest.raises(DataError, match="first column too"):
        inputs_of(penguins, replace(BILL_AND_ISLAND, second_column="bill_length_mm"))
    with pytest.raises(DataError, match="no column that the model is given"):
        inputs_of(penguins, replace(BILL_AND_ISLAND, second_column="species"))
    penguins.set_studies("Fit", many_fits=BILL_AND_ISLAND)
    assert settings_for(penguins).second_column == "island"
    penguins.set_roles(["island"], "ignored")
    assert settings_for(penguins) == replace(BILL_AND_ISLAND, second_column="")
    penguins.set_roles(["bill_length_mm"], "ignored")
    penguins.undo_stack.undo()
    penguins.undo_stack.undo()
    assert settings_for(penguins) == BILL_AND_ISLAND


def test_a_stop_keeps_what_is_done_and_it_is_told_meanwhile(moons, monkeypatch):
    monkeypatch.setattr("workbench.told_so_far.TELL_S", 0.0)
    monitor = StopsAfter(4)
    found = find(moons, replace(MOONS, n_sets=70), monitor)
    assert found.stopped
    assert 4 <= found.n_fits < 70
    assert {(id(each.points), id(each.x), id(each.y)) for each in monitor.told} == {
        (id(found.points), id(found.x), id(found.y))  # so that only colours are drawn anew
    }
    assert how_it_ended(found).endswith(f"stopped after {found.n_fits} fits over x1 and x2")
    assert "stopped after" in make_variance_surface(found).subtitle
    assert f"{found.n_fits} done" in make_variance_surface(found, is_running=True).subtitle


@pytest.mark.parametrize(("sample", "settings"), [("moons", MOONS), ("penguins", BILL_AND_ISLAND)])
def test_it_is_kept_in_projects_and_undone(qapp, tmp_path, sample, settings):
    document = opened(sample)
    document.set_studies("Fit", many_fits=settings)
    found = find(document, settings)
    document.attach_found(curves=found)
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    again = Document()
    again.restore(load_project(tmp_path / "p.treewright"))
    assert again.studies.many_fits == settings
    back = again.studies.curves
    one, other = (make_variance_surface(each, 7, 90) for each in (found, back))
    assert one.to_csv() == other.to_csv()
    assert (one.title, one.subtitle, one.held_text) == (other.title, other.subtitle, other.held_text)
    assert one.darts.subtitle == other.darts.subtitle
    for name in ("rows", "x", "y", "codes", "values", "parts"):
        np.testing.assert_array_equal(getattr(back.points, name), getattr(found.points, name))
    assert what_changed(back, again, settings) == ""
    assert what_changed(back, again, replace(settings, second_column="")) == "fitted with other settings"
    document.undo_stack.undo()
    assert document.studies.many_fits is None
    assert document.studies.curves is found


def test_a_project_without_rows_has_no_points_either(moons, tmp_path):
    moons.attach_found(curves=find(moons, MOONS))
    save_project(moons, tmp_path / "p.treewright", include_rows=False)
    back = load_project(tmp_path / "p.treewright").studies.curves
    assert len(back.points.rows) == len(back.points.x) == 0
    assert make_variance_surface(back).n_fits == 5
    document = opened("cosine")
    along = run_many_fits(inputs_of(document, ManyFitsSettings("x", n_sets=2)), NULL_MONITOR)
    assert len(along.points_x) > 0
    document.attach_found(curves=along)
    save_project(document, tmp_path / "q.treewright", include_rows=False)
    back = load_project(tmp_path / "q.treewright").studies.curves
    assert len(back.points_x) == len(back.points_y) == 0


def test_damaged_files_are_refused_and_older_settings_are_read(moons):
    found = find(moons, MOONS)
    written, arrays = surface_to_json(found), surface_arrays(found)
    surface_from_json(written, arrays)
    for name, wrong in (
        ("answers", np.zeros((5, 7))), ("answers", np.zeros(3600)), ("mean", np.zeros(5)),
        ("truth", np.zeros(5)), ("x_edges", np.zeros(5)), ("point_x", np.zeros(1)),
        ("point_codes", np.full(len(found.points.rows), 2)),
    ):  # fmt: skip
        with pytest.raises(DataError, match="damaged"):
            surface_from_json(written, {**arrays, name: wrong})
    older = settings_to_json(MOONS)
    del older["second_column"]
    assert settings_from_json(older) == replace(MOONS, second_column="")


def test_the_figure_tells_of_every_place(penguins):
    found = find(penguins, BILL_AND_ISLAND)
    figure = make_variance_surface(found, 70, remark="fitted with other settings")
    assert figure.range == (0.0, found.deviation.max())
    assert figure.subtitle.endswith("fitted with other settings")
    np.testing.assert_array_equal(figure.mapped[1], found.deviation[60:120])
    assert figure.cell_at(*figure.position(70)) == 70
    assert figure.cell_at(figure.x.low - 1, 0.0) is None
    assert figure.position(70)[1] == 1.0
    moves = [(1, 0), (0, 1), (-100, 0), (0, -9), (100, 9)]
    assert [figure.step(*move) for move in moves] == [71, 130, 60, 10, 179]
    assert figure.answers.counts.sum() == 4
    assert figure.answers.title == f"At bill_length_mm {found.x.text(10)}, island Dream"
    assert figure.darts is None
    told = figure.text_at(*figure.position(70)).splitlines()
    assert told[:2] == [f"bill_length_mm: {found.x.text(10)}", "island: Dream"]
    assert told[-1] == "4 fits"
    lines = figure.to_csv().splitlines()
    assert lines[0] == "bill_length_mm,island,mean,standard deviation,fits"
    assert lines[71] == ",".join(
        [repr(float(found.x.values[10])), "Dream", repr(float(found.mean[70])),
         repr(float(found.deviation[70])), "4"]
    )  # fmt: skip
    two = make_variance_surface(found, 70, 5)
    np.testing.assert_array_equal(two.darts.throws, found.answers[:, [70, 5]])
    assert two.darts.x_name == f"probability of Gentoo at {found.x.text(10)} and Dream"
    assert two.step(1, 0, of_second=True) == 6
    agreed = make_variance_surface(replace(found, deviation=np.zeros(180)))
    assert agreed.range == (0.0, 1.0)
