"""The variance of averages of trees in the workbench: what is measured, refused, stored and drawn."""

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR
from engine.resampling.averages import average_variance
from engine.resampling.draws import TableDraws
from tests.workbench.making import StopsAfter, opened
from workbench.catalog import entry_of
from workbench.document import Document
from workbench.figures.tree_averages import make_averages
from workbench.project import load_project, save_project
from workbench.project.tree_averages import found_from_json, found_to_json, settings_from_json
from workbench.runs import SplitSettings
from workbench.samples import load_sample
from workbench.training_sets import BOOTSTRAP, FRESH
from workbench.training_work import training_inputs
from workbench.tree_averages import (
    AveragesSettings,
    how_it_ended,
    inputs_of,
    read_counts,
    run_averages,
    settings_for,
    what_changed,
)

FEW = AveragesSettings((1, 2, 4), BOOTSTRAP, 5)


@pytest.fixture
def document(qapp):
    return opened(kind="forest")


def find(document, settings=FEW, monitor=NULL_MONITOR):
    return run_averages(inputs_of(document, settings), monitor)


@pytest.mark.parametrize(
    ("sample", "kind"), [("cosine", "forest"), ("moons", "bagging"), ("moons", "extra_trees")]
)
def test_it_is_what_the_engine_measures(qapp, sample, kind):
    document = opened(sample, kind)
    found = find(document)
    fit = training_inputs(document, document.current_run_id)
    everything = fit.learnable()
    rows, asked = (everything.take(fit.rows_of(part)) for part in ("train", "validation"))
    forest = entry_of(kind).make(fit.task, fit.spec.parameters, len(fit.classes))
    plain = average_variance(forest, TableDraws(rows.X, rows.labels, n_sets=5), asked.X, FEW.n_trees)
    np.testing.assert_array_equal(found.measured, plain.measured)
    assert (found.variance, found.correlation) == (plain.variance, plain.correlation)
    np.testing.assert_allclose(found.line(FEW.n_trees), plain.line(FEW.n_trees))
    assert found.is_classes == (sample == "moons")
    assert "asked about 60 validation rows" in found.rows_text
    assert "two trees correlate by" in how_it_ended(found)


def test_what_is_offered_first(document):
    settings = settings_for(document)
    assert settings.n_trees == (1, 2, 5, 10, 20, 50, 100)
    assert settings.how == FRESH
    fresh = find(document, replace(settings, n_trees=(1, 3), n_sets=3))
    assert "1,000 fresh rows" in fresh.rows_text
    document.open_table(load_sample("iris"))
    document.set_studies("Average", averages=replace(FEW, how=FRESH))
    assert settings_for(document) == FEW


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1, many", "'many' is no number"),
        ("5", "two numbers"),
        ("0 5", "from 1"),
        ("1, 5000", "to 1,000"),
        ("1 " + "9" * 5000, "99…' is no number"),
    ],
)
def test_numbers_of_trees_that_are_none_are_refused(text, words):
    with pytest.raises(ParameterError, match=words):
        read_counts(text)


def test_numbers_of_trees_are_read_in_any_order():
    assert read_counts("10, 1 5,5") == (1, 5, 10)


def test_what_cannot_be_done_is_refused(document):
    with pytest.raises(ParameterError, match="training sets"):
        inputs_of(document, replace(FEW, n_sets=1))
    with pytest.raises(ParameterError, match="two numbers"):
        inputs_of(document, replace(FEW, n_trees=()))
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    with pytest.raises(DataError, match="held out"):
        inputs_of(document, FEW)
    document.add_run("boosting")
    with pytest.raises(DataError, match="averages of trees"):
        inputs_of(document, FEW)


def test_a_stop_keeps_what_is_done_and_it_is_told_meanwhile(document, monkeypatch):
    monkeypatch.setattr("workbench.told_so_far.TELL_S", 0.0)
    monitor = StopsAfter(3)
    found = find(document, replace(FEW, n_sets=60), monitor)
    assert found.stopped
    assert 3 <= found.n_fits < 60
    counts = [each.n_fits for each in monitor.told]
    assert counts == sorted(counts)
    assert "stopped after" in how_it_ended(found)
    assert "stopped after" in make_averages(found).subtitle
    assert find(document, FEW, StopsAfter(0)) is None


def test_it_is_kept_in_projects_and_undone(document, tmp_path):
    document.set_studies("Average", averages=FEW)
    found = find(document)
    document.attach_found(variances=found)
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    again = Document()
    again.restore(load_project(tmp_path / "p.treewright"))
    assert again.studies.averages == FEW
    assert make_averages(again.studies.variances).to_csv() == make_averages(found).to_csv()
    assert what_changed(again.studies.variances, again, FEW) == ""
    document.undo_stack.undo()
    assert document.studies.averages is None
    assert document.studies.variances is found
    assert what_changed(found, document, replace(FEW, n_sets=9)) == "found with other settings"
    document.open_table(load_sample("iris"))
    assert what_changed(found, document, FEW) == "found on another table"


def test_damaged_files_are_refused(document):
    written = found_to_json(find(document))
    assert found_to_json(found_from_json(written)) == written
    with pytest.raises(DataError, match="damaged"):
        found_from_json({**written, "measured": [1.0]})
    for changes in ({"n_trees": [2, 1]}, {"how": "x"}, {"n_sets": 0}):
        with pytest.raises(DataError, match="damaged"):
            settings_from_json({**written["settings"], **changes})


def test_the_figure_has_points_and_the_line(document):
    found = find(document)
    figure = make_averages(found, remark="found with other settings")
    np.testing.assert_allclose(figure.at_points[-1], found.measured[-1])
    assert figure.limit == found.correlation * found.variance
    assert "r = " in figure.remark
    assert figure.subtitle.endswith("found with other settings")
    assert figure.point_at(1.3) == 0
    assert figure.point_at(100) == 2
    assert figure.story(1).startswith("2 trees\nmeasured ")
    assert figure.to_csv().splitlines()[0] == "trees,measured variance,by the line,limit"
    assert len(figure.to_csv().splitlines()) == 4
    unknown = make_averages(replace(found, correlation=float("nan")))
    assert len(unknown.line_x) == 0
    assert "by the line" not in unknown.story(0)
    assert unknown.to_csv().splitlines()[1].endswith(",,")
