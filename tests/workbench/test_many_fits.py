"""Many fits along a column: what is drawn, held values, known truth, files, undo, stop, the picture."""

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR
from engine.resampling.draws import TableDraws
from workbench.catalog import CATALOG, entry_of
from workbench.datasets import make_table
from workbench.document import Document
from workbench.figures import surface_inputs
from workbench.figures.many_fits import MOST_CURVES, make_many_fits
from workbench.many_fits import (
    ManyFitsSettings,
    how_it_ended,
    inputs_of,
    run_many_fits,
    settings_for,
    what_changed,
)
from workbench.project import load_project, save_project
from workbench.project.many_fits import curve_arrays, found_from_json, found_to_json, settings_from_json
from workbench.samples import load_sample
from workbench.training_sets import FRESH, SUBSAMPLE
from workbench.training_work import training_inputs
from workbench.variance_surface import run_variance_surface

ALONG_X = ManyFitsSettings("x", "", n_sets=4)


def opened(sample, kind="tree"):
    document = Document()
    document.open_table(load_sample(sample))
    document.add_run(kind)
    return document


@pytest.fixture
def document(qapp):
    return opened("cosine")


def find(document, settings, monitor=NULL_MONITOR):
    return run_many_fits(inputs_of(document, settings), monitor)


class StopsAfter:
    def __init__(self, n_done):
        self.n_done, self.told = n_done, []

    def on_iteration(self, event):
        if event.so_far is not None:
            self.told.append(event.so_far())
        return event.iteration >= self.n_done


def test_every_curve_is_a_fit_on_its_training_set(document):
    found = find(document, ALONG_X)
    fit = training_inputs(document, document.current_run_id)
    rows = fit.learnable().take(fit.rows_of("train"))
    sets = TableDraws(rows.X, rows.y, n_sets=4)
    for number in range(4):
        table = sets.table(number)
        plain = entry_of("tree").make("numbers", fit.spec.parameters).fit(table.X, table.y)
        grid = rows.X.iloc[:1].reindex(range(len(found.x.values))).assign(x=found.x.values)
        np.testing.assert_array_equal(found.curves[number], plain.predict(grid))
    assert len(found.truth) == 0
    np.testing.assert_array_equal(found.points_x, rows.X["x"])
    np.testing.assert_array_equal(found.points_y, rows.y)
    assert found.rows_text == "4 bootstraps of 180 training rows"
    assert found.held_text == ""


@pytest.mark.parametrize("second", ["", "z"])
def test_of_many_training_rows_every_kth_is_drawn_and_it_is_told(monkeypatch, second):
    monkeypatch.setattr(surface_inputs, "MAX_POINTS", 50)
    document = Document()
    x = np.random.default_rng(0).normal(size=200)
    document.open_table(make_table("t", {"x": x, "z": x**2, "y": x}))
    document.set_target("y")
    document.add_run("tree")
    settings = replace(ALONG_X, second_column=second, n_sets=2)
    run = run_variance_surface if second else run_many_fits
    found = run(inputs_of(document, settings), NULL_MONITOR)
    rows = training_inputs(document, document.current_run_id).rows_of("train")
    drawn = found.points.x if second else found.points_x
    np.testing.assert_array_equal(drawn, x[rows][::3])
    assert found.rows_text.startswith("2 bootstraps of 120 training rows (40 drawn)")


def test_where_the_source_is_known_fresh_tables_and_the_truth_are_drawn(document):
    assert settings_for(document).how == FRESH
    found = find(document, replace(ALONG_X, how=FRESH))
    np.testing.assert_allclose(found.truth, np.cos(found.x.values))
    darts = opened("darts")
    found = find(darts, replace(settings_for(darts), column="y", label="Cleo", n_sets=3))
    assert found.quantity == "probability of Cleo"
    assert found.is_classes
    assert found.held_text.startswith("held: x ")
    assert ((found.truth >= 0) & (found.truth <= 1)).all()
    assert found.truth.max() > 0.3


def test_the_other_columns_are_held_and_categories_have_a_place_each(qapp):
    document = opened("penguins")
    settings = replace(settings_for(document), column="island", label="Gentoo", n_sets=3, how=SUBSAMPLE)
    found = find(document, settings)
    assert found.x.labels[:3] == ("Biscoe", "Dream", "Torgersen")
    assert found.curves.shape == (3, len(found.x.labels))
    assert "bill_length_mm" in found.held_text
    assert "island" not in found.held_text
    assert ((found.curves >= 0) & (found.curves <= 1)).all()
    assert len(found.points_x) == 0
    other = find(document, replace(settings, label="Adelie"))
    third = find(document, replace(settings, label="Chinstrap"))
    np.testing.assert_allclose(found.curves + other.curves + third.curves, 1.0)


def test_what_is_offered_fits_the_table(document):
    assert settings_for(document).column == "x"
    document.set_studies("Fit", many_fits=replace(ALONG_X, how=FRESH, n_sets=7))
    document.open_table(load_sample("penguins"))
    settings = settings_for(document)
    assert settings.column == document.features[0]
    assert settings.label in document.classes


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [({"n_sets": 1}, ParameterError, "from 2 to"), ({"column": "z"}, DataError, "no column"),
     ({"how": "no"}, ParameterError, "choose")],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(document, changes, error, words):
    with pytest.raises(error, match=words):
        inputs_of(document, replace(ALONG_X, **changes))


def test_classes_models_and_tables_are_needed(qapp):
    document = opened("moons")
    with pytest.raises(DataError, match="no class"):
        inputs_of(document, ManyFitsSettings("x1", "middle"))
    document.open_table(load_sample("moons"))
    with pytest.raises(DataError, match="no model"):
        inputs_of(document, ManyFitsSettings("x1", "upper"))
    document.add_run("polynomial")
    with pytest.raises(ParameterError, match="numbers only"):
        inputs_of(document, ManyFitsSettings("x1", "upper"))


def test_a_stop_keeps_what_is_done_and_it_is_told_meanwhile(document, monkeypatch):
    monkeypatch.setattr("workbench.told_so_far.TELL_S", 0.0)
    monitor = StopsAfter(5)
    found = find(document, replace(ALONG_X, n_sets=90), monitor)
    assert found.stopped
    assert 5 <= len(found.curves) < 90
    counts = [len(each.curves) for each in monitor.told]
    assert counts == sorted(counts)
    assert "stopped after" in how_it_ended(found)
    assert "stopped after" in make_many_fits(found).subtitle


@pytest.mark.parametrize("sample", ["cosine", "penguins"])
def test_it_is_kept_in_projects_and_undone(qapp, tmp_path, sample):
    document = opened(sample)
    settings = replace(settings_for(document), n_sets=3)
    document.set_studies("Fit", many_fits=settings)
    found = find(document, settings)
    document.attach_found(curves=found)
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    again = Document()
    again.restore(load_project(tmp_path / "p.treewright"))
    assert again.studies.many_fits == settings
    back = again.studies.curves
    figures = [make_many_fits(each) for each in (back, found)]
    assert figures[0].to_csv(back.curves) == figures[1].to_csv(found.curves)
    assert (figures[0].title, figures[0].subtitle) == (figures[1].title, figures[1].subtitle)
    assert what_changed(back, again, settings) == ""
    document.undo_stack.undo()
    assert document.studies.many_fits is None
    assert document.studies.curves is found
    assert what_changed(found, document, replace(settings, n_sets=9)) == "fitted with other settings"
    document.open_table(load_sample("iris"))
    assert what_changed(found, document, settings) == "fitted on another table"


def test_damaged_files_are_refused(document):
    found = find(document, ALONG_X)
    written, arrays = found_to_json(found), curve_arrays(found)
    found_from_json(written, arrays)
    for name, wrong in (
        ("curves", np.zeros((2, 3))), ("truth", np.zeros(5)), ("edges", np.zeros(5)),
        ("points_x", np.zeros(1)),
    ):  # fmt: skip
        with pytest.raises(DataError, match="damaged"):
            found_from_json(written, {**arrays, name: wrong})
    with pytest.raises(DataError, match="damaged"):
        found_from_json({**written, "axis": {**written["axis"], "labels": ["a"]}}, arrays)
    with pytest.raises(DataError, match="damaged"):
        settings_from_json({**written["settings"], "how": "x"})


def test_the_figure_has_mean_spread_and_the_answers_at_a_place(document):
    found = find(document, replace(ALONG_X, how=FRESH, n_sets=9))
    figure = make_many_fits(found, 30, remark="fitted with other settings")
    np.testing.assert_allclose(figure.mean, found.curves.mean(axis=0))
    np.testing.assert_allclose(figure.spread, found.curves.std(axis=0))
    assert figure.answers.counts.sum() == 9
    assert figure.answers.value == pytest.approx(figure.mean[30])
    assert figure.answers.truth == found.truth[30]
    assert "bias" in figure.answers.subtitle
    assert figure.subtitle.endswith("fitted with other settings")
    assert figure.curves_text == "9 fits"
    assert figure.text_at(30).splitlines()[0].startswith("x ")
    assert "truth" in figure.text_at(30)
    assert (figure.step(-100), figure.step(1)) == (0, 31)
    lines = figure.to_csv(found.curves).splitlines()
    assert len(lines) == len(found.x.values) + 1
    assert lines[0].split(",")[:5] == ["x", "mean", "standard deviation", "truth", "fit 1"]
    many = replace(found, curves=np.repeat(found.curves, 20, axis=0))
    thinned = make_many_fits(many)
    assert len(thinned.curves) <= MOST_CURVES
    assert thinned.curves_text == f"{len(thinned.curves)} of 180 fits"
    same = make_many_fits(replace(found, curves=np.ones((3, len(found.x.values))), truth=np.empty(0)))
    assert same.answers.counts.sum() == 3


def test_answers_at_two_places_are_throws_at_the_truth(document):
    found = find(document, replace(ALONG_X, how=FRESH, n_sets=7))
    assert make_many_fits(found, 30).darts is None
    figure = make_many_fits(found, 30, 200)
    darts = figure.darts
    np.testing.assert_array_equal(darts.throws, found.curves[:, [30, 200]])
    np.testing.assert_allclose(darts.mean, darts.throws.mean(axis=0))
    np.testing.assert_array_equal(darts.truth, found.truth[[30, 200]])
    np.testing.assert_array_equal(darts.centre, darts.truth)
    assert darts.spread == pytest.approx(np.sqrt(darts.throws.var(axis=0).mean()))
    assert "bias" in darts.subtitle
    assert darts.x_name.startswith("y at x ")
    assert (figure.step(1), figure.step(1, of_second=True), figure.step(99, of_second=True)) == (31, 201, 239)
    unknown = make_many_fits(replace(found, truth=np.empty(0)), 30, 999).darts
    assert unknown.truth is None
    np.testing.assert_array_equal(unknown.centre, unknown.mean)


@pytest.mark.parametrize("kind", CATALOG)
def test_every_kind_of_model_is_fitted_again(qapp, kind):
    document = opened("cosine" if "numbers" in CATALOG[kind].tasks else "moons", kind)
    settings = replace(settings_for(document), n_sets=2)
    found = find(document, settings)
    assert found.curves.shape == (2, len(found.x.values))
    assert np.isfinite(found.curves).all()
    assert found.n_failed == 0
