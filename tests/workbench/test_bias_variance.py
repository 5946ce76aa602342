"""Bias and variance in the workbench: what is asked, what is refused, what is found, files, undo, stop."""

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR
from engine.resampling.along import decompose_along
from engine.resampling.draws import QueryRows, TableDraws
from workbench.bias_variance import (
    BiasVarianceSettings,
    found_before,
    how_it_ended,
    inputs_of,
    run_bias_variance,
    what_changed,
)
from workbench.bias_variance_choice import (
    first_values,
    offered_draws,
    offered_parameters,
    settings_for,
)
from workbench.catalog import entry_of
from workbench.datasets import make_table
from workbench.document import Document
from workbench.figures.bias_variance import make_bias_variance
from workbench.project import load_project, save_project
from workbench.project.bias_variance import found_from_json, found_to_json, settings_from_json
from workbench.runs import SplitSettings
from workbench.samples import load_sample
from workbench.training_sets import BOOTSTRAP, FRESH, SUBSAMPLE, knows_truth, read_n_sets
from workbench.training_work import training_inputs

DEPTHS = BiasVarianceSettings("max_depth", (2, 5), BOOTSTRAP, 4)


def opened(sample="cosine", kind="tree", **parameters):
    document = Document()
    document.open_table(load_sample(sample))
    run_id = document.add_run(kind)
    if parameters:
        document.set_parameters(run_id, parameters, "Set")
    return document


@pytest.fixture
def document(qapp):
    return opened()


def find(document, settings, monitor=NULL_MONITOR):
    return run_bias_variance(inputs_of(document, settings), monitor)


class StopsAfter:
    def __init__(self, n_done):
        self.n_done, self.told = n_done, []

    def on_iteration(self, event):
        if event.so_far is not None:
            self.told.append(event.so_far())
        return event.iteration >= self.n_done


def test_training_rows_are_drawn_and_held_out_rows_asked(document):
    found = find(document, DEPTHS)
    fit = training_inputs(document, document.current_run_id)
    rows, asked = fit.rows_of("train"), fit.rows_of("validation")
    everything = fit.learnable()
    inside, outside = everything.take(rows), everything.take(asked)
    entry, parameters = entry_of("tree"), document.current_run.spec.parameters
    plain = decompose_along(
        entry.make("numbers", parameters), TableDraws(inside.X, inside.y, n_sets=4),
        QueryRows(outside.X, outside.y), "max_depth", (2, 5),
    )  # fmt: skip
    for part in ("error", "bias", "variance"):
        np.testing.assert_array_equal(found.means[part], plain.means(part))
    assert found.n_fits.tolist() == [4, 4]
    assert not found.is_truth_known
    assert found.rows_text == "4 bootstraps of 180 training rows, asked about 60 validation rows"
    assert found.name == "Depth of Decision tree 1"


def test_of_a_sample_whose_source_is_known_fresh_tables_are_drawn(document):
    assert knows_truth(document)
    assert offered_draws(document) == (FRESH, BOOTSTRAP, SUBSAMPLE)
    found = find(document, replace(DEPTHS, how=FRESH))
    assert found.is_truth_known
    assert found.means["noise"][0] == pytest.approx(0.04, rel=0.1)
    sums = found.means["noise"] + found.means["bias"] + found.means["variance"]
    np.testing.assert_allclose(sums, found.means["error"], rtol=0.05)
    document.set_roles(["x"], "ignored")
    assert not knows_truth(document)


def test_models_of_the_list_are_compared_as_they_are_set(qapp):
    document = opened("moons", max_depth=1)
    document.add_run("tree")
    settings = BiasVarianceSettings("", (), BOOTSTRAP, 3)
    found = find(document, settings)
    assert found.axis.words == ("Decision tree 1", "Decision tree 2")
    assert found.settings.values == tuple(document.runs)
    assert not found.axis.is_ordered
    assert found.name == "2 models"
    alone = find(document, replace(settings, parameter="max_depth", values=(1,)))
    document.select_run(next(iter(document.runs)))
    alone = find(document, replace(settings, parameter="max_depth", values=(1,)))
    assert found.means["error"][0] == alone.means["error"][0]
    assert what_changed(found, document, settings) == ""


def test_numbers_of_trees_are_stages_of_one_fit(qapp):
    document = opened(kind="forest")
    settings = settings_for(document)
    assert settings.parameter == "n_estimators"
    assert settings.values == (1, 2, 5, 10, 20, 50, 100)
    assert settings.how == FRESH
    assert find(document, replace(settings, values=(1, 3), n_sets=2)).is_staged


def test_what_is_offered_first_fits_the_model(qapp):
    document = opened("penguins")
    assert settings_for(document).parameter == "max_depth"
    assert settings_for(document).how == BOOTSTRAP
    document.set_studies("Vary", bias_variance=replace(DEPTHS, how=FRESH, n_sets=7))
    assert settings_for(document) == replace(DEPTHS, n_sets=7)
    document.add_run("neighbors")
    settings = settings_for(document)
    assert settings.parameter == offered_parameters(document)[0].name != "max_depth"
    assert settings.values == first_values(document, offered_parameters(document)[0])
    assert settings.n_sets == 7
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.studies.bias_variance is None


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [({"n_sets": 1}, ParameterError, "from 2 to 10,000"), ({"values": ()}, ParameterError, "no value"),
     ({"values": (0,)}, ParameterError, "max_depth is 0"), ({"how": "jackknife"}, ParameterError, "choose"),
     ({"parameter": "depth"}, ParameterError, "no parameter")],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(document, changes, error, words):
    with pytest.raises(error, match=words):
        inputs_of(document, replace(DEPTHS, **changes))


@pytest.mark.parametrize("text", ["", "1", "10,001", "-3", "2.5", "²", "x" * 300, "9" * 5000])
def test_what_is_no_number_of_training_sets_is_quoted_in_short(text):
    with pytest.raises(
        ParameterError, match="is no number of training sets; enter one from 2 to 10,000"
    ) as told:
        read_n_sets(text)
    assert len(str(told.value)) < 120
    assert read_n_sets(" 1,000 ") == 1000


def test_documents_that_cannot_be_studied_say_why(document):
    document.set_split(SplitSettings(0, 1.0, 0.0, 0.0))
    with pytest.raises(DataError, match="no row is held out"):
        inputs_of(document, DEPTHS)
    inputs_of(document, replace(DEPTHS, how=FRESH))
    document.open_table(make_table("t", {"a": [1, 2, 3, 4] * 5, "b": [1.5, 2, 3.5, 9] * 5}))
    with pytest.raises(DataError, match="target"):
        inputs_of(document, DEPTHS)
    document.set_roles(["b"], "target")
    with pytest.raises(DataError, match="no model"):
        inputs_of(document, DEPTHS)
    document.add_run("tree")
    with pytest.raises(DataError, match="not known how this table was made"):
        inputs_of(document, replace(DEPTHS, how=FRESH))


def test_groups_stay_whole_and_weights_count(qapp):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=60).tolist(), "y": rng.normal(size=60).tolist(),
               "w": (np.arange(60) % 3).tolist(), "g": [f"g{k // 4}" for k in range(60)]}  # fmt: skip
    document = Document()
    document.open_table(make_table("t", columns))
    for name, role in (("y", "target"), ("w", "weight"), ("g", "group")):
        document.set_roles([name], role)
    document.add_run("tree")
    found = find(document, DEPTHS)
    assert "column g kept whole" in found.rows_text
    assert "weighted by column w" in found.rows_text
    document.set_roles(["w"], "ignored")
    assert find(document, DEPTHS).means["error"][0] != found.means["error"][0]


def test_a_part_without_weight_is_not_asked(qapp):
    x, y = np.random.default_rng(0).normal(size=(2, 60)).tolist()
    document = Document()

    def open_with_weights(weights):
        document.open_table(make_table("t", {"x": x, "y": y, "w": weights}))
        document.set_roles(["y"], "target")
        document.set_roles(["w"], "weight")
        return training_inputs(document, document.add_run("tree"))

    weights = np.ones(60)
    fit = open_with_weights(weights.tolist())
    weights[fit.rows_of("validation")] = 0.0
    open_with_weights(weights.tolist())
    assert "12 test rows" in find(document, DEPTHS).rows_text
    weights[fit.rows_of("test")] = 0.0
    open_with_weights(weights.tolist())
    with pytest.raises(DataError, match="no row is held out with a w above 0"):
        inputs_of(document, DEPTHS)


def test_a_stop_keeps_what_is_done_and_it_is_told_meanwhile(document, monkeypatch):
    monkeypatch.setattr("workbench.told_so_far.TELL_S", 0.0)
    monitor = StopsAfter(6)
    found = find(document, replace(DEPTHS, n_sets=40), monitor)
    assert found.stopped
    assert found.is_any_done
    assert 2 <= found.n_fits.min() <= found.n_fits.max() < 40
    fits = [each.n_fits.sum() for each in monitor.told]
    assert fits == sorted(fits)
    assert "stopped after" in how_it_ended(found)
    assert "stopped after" in make_bias_variance(found).subtitle


class Notes:
    """Lists what was done."""

    def __init__(self):
        self.done = []

    def on_iteration(self, event):
        self.done.append(event.message)
        return False

    def fits_of(self, value):
        return sum(message.endswith(f"max_depth = {value}") for message in self.done)


def assert_same_parts(found, other):
    assert found.n_fits.tolist() == other.n_fits.tolist()
    for part, values in other.means.items():
        np.testing.assert_array_equal(found.means[part], values)


@pytest.mark.parametrize(
    ("sample", "kind", "name", "values"),
    [("cosine", "tree", "max_depth", (1, 2, 5)), ("moons", "tree", "max_depth", (1, 2, 5)),
     ("cosine", "forest", "n_estimators", (2, 5, 9)), ("moons", "boosting", "n_estimators", (2, 5, 9))],
)  # fmt: skip
def test_values_that_are_added_are_found_as_if_all_were_asked_at_once(qapp, sample, kind, name, values):
    document = opened(sample, kind)
    settings = BiasVarianceSettings(name, values, FRESH, 3)
    whole = find(document, settings)
    first = find(document, replace(settings, values=values[:2]))
    document.attach_found(parts=first)
    assert_same_parts(find(document, settings), whole)
    alone = find(document, replace(settings, values=values[1:]))
    np.testing.assert_array_equal(alone.means["error"], whole.means["error"][1:])
    assert alone.is_staged == whole.is_staged


def test_only_what_is_missing_is_fitted(document):
    find_with = lambda settings, notes: run_bias_variance(inputs_of(document, settings), notes)  # noqa: E731
    document.attach_found(parts=find(document, DEPTHS))
    notes = Notes()
    document.attach_found(parts=find_with(replace(DEPTHS, values=(2, 5, 7)), notes))
    assert (notes.fits_of(2), notes.fits_of(5), notes.fits_of(7)) == (0, 0, 4)
    document.attach_found(parts=find_with(replace(DEPTHS, values=(5,)), notes))
    back = replace(DEPTHS, values=(2, 5, 7))
    notes = Notes()
    document.attach_found(parts=find_with(back, notes))
    assert notes.done == [], "what was left out is known still"
    document.set_parameter(document.current_run_id, "max_depth", 3)
    assert inputs_of(document, back).known is not None, "the model's own depth is not used"
    for changed in (replace(back, seed=1), replace(back, how=SUBSAMPLE), replace(back, n_sets=5)):
        assert inputs_of(document, changed).known is None
    document.set_parameter(document.current_run_id, "min_samples_leaf", 9)
    assert inputs_of(document, back).known is None
    document.undo_stack.undo()
    assert inputs_of(document, back).known is not None
    document.set_split(SplitSettings(1))
    assert inputs_of(document, back).known is None


def test_a_study_that_was_stopped_goes_on_where_it_was(document):
    settings = replace(DEPTHS, n_sets=6)
    half = find(document, settings, StopsAfter(5))
    assert half.stopped
    document.attach_found(parts=half)
    more = replace(settings, values=(2, 5, 9))
    inputs = inputs_of(document, more)
    assert found_before(inputs).n_fits.tolist() == [*half.n_fits, 0]
    notes = Notes()
    found = run_bias_variance(inputs, notes)
    assert notes.fits_of(2) < 6
    assert notes.fits_of(9) == 6
    assert_same_parts(found, run_bias_variance(replace(inputs, known=None), NULL_MONITOR))
    document.attach_found(parts=found)
    longer = find(document, replace(more, values=(2, 5, 9, 10)), StopsAfter(4))
    assert longer.n_done < 6, "of the value that was added"
    assert f"stopped after {longer.n_done} training sets of 6" in how_it_ended(longer)


def test_a_value_whose_fits_all_fail_leaves_the_others_in_the_picture(qapp):
    document = opened("cosine", "neighbors")
    settings = BiasVarianceSettings("n_neighbors", (5,), SUBSAMPLE, 2)
    document.attach_found(parts=find(document, settings))
    found = find(document, replace(settings, values=(5, 500)))
    assert found.n_fits.tolist() == [2, 0]
    assert "n_neighbors is 500" in found.errors[1]
    document.attach_found(parts=found)
    notes = Notes()
    again = run_bias_variance(inputs_of(document, found.settings), notes)
    assert len([message for message in notes.done if message.endswith("n_neighbors = 500")]) == 2
    assert not any(message.endswith("n_neighbors = 5") for message in notes.done)
    assert_same_parts(again, found)
    with pytest.raises(DataError, match="no fit succeeded"):
        find(document, replace(settings, values=(500,)))


def test_it_is_kept_in_projects(document, tmp_path):
    document.set_studies("Vary", bias_variance=DEPTHS)
    found = find(document, replace(DEPTHS, how=FRESH))
    document.attach_found(parts=found)
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    again = Document()
    again.restore(load_project(tmp_path / "p.treewright"))
    assert again.studies.bias_variance == DEPTHS
    back = again.studies.parts
    assert back.settings == found.settings
    assert make_bias_variance(back).to_csv() == make_bias_variance(found).to_csv()
    assert (back.axis.words, back.rows_text, back.name) == (found.axis.words, found.rows_text, found.name)
    assert document.is_dirty
    document.set_studies("Vary", bias_variance=replace(DEPTHS, n_sets=9))
    document.undo_stack.undo()
    assert document.studies.parts is found  # undo of settings leaves what was found


def test_damaged_files_are_refused(document):
    written = found_to_json(find(document, DEPTHS))
    assert found_to_json(found_from_json(written)) == written
    for name, wrong in (
        ("task", "poems"), ("n_fits", [1]), ("errors", {"5": "no"}),
        ("axis", {**written["axis"], "place": [0, 0]}), ("settings", {**written["settings"], "how": "x"}),
        ("settings", {**written["settings"], "n_sets": 0}),
    ):  # fmt: skip
        with pytest.raises(DataError, match="damaged"):
            found_from_json({**written, name: wrong})
    assert settings_from_json({**written["settings"], "values": [[64, 64], 3]}).values == ((64, 64), 3)


# the picture


def test_the_figure_tells_the_parts_of_each_value(document):
    found = find(document, replace(DEPTHS, how=FRESH))
    figure = make_bias_variance(found, now=1)
    assert [each.name for each in figure.series] == ["squared error", "bias²", "variance", "noise"]
    assert figure.score_name == "mean squared error"
    story = figure.story(1)
    assert story.startswith("Depth 5\nsquared error ")
    assert "over 4 fits" in story
    assert "as the model is set now" in story
    assert "which is known" in figure.subtitle
    lines = figure.to_csv().splitlines()
    assert lines[0] == "Depth,squared error,bias²,variance,noise,fits,failed"
    assert [line.split(",")[0] for line in lines[1:]] == ["2", "5"]
    assert float(lines[1].split(",")[1]) == found.means["error"][0]
    assert figure.step(0, 1, 0) == 1
    assert figure.step(1, 5, 0) == 1


def test_parts_of_wrong_rows_add_up_in_the_figure(qapp):
    document = opened("moons")
    for how in (FRESH, BOOTSTRAP):
        found = find(document, replace(DEPTHS, values=(1, 3), how=how))
        figure = make_bias_variance(found, remark="found with other settings")
        error, *parts = [each.values for each in figure.series]
        np.testing.assert_allclose(sum(parts), error, atol=1e-12)
        assert len(parts) == (3 if how == FRESH else 2)
        assert figure.is_share
        assert figure.part_text(0.125) == "12.5 %"
        assert figure.subtitle.endswith("found with other settings")


def test_values_without_a_fit_say_so(document):
    found = find(document, DEPTHS)
    nan = {part: np.array([values[0], np.nan]) for part, values in found.means.items()}
    half = replace(found, means=nan, n_fits=np.array([4, 0]), errors={1: "it failed"})
    figure = make_bias_variance(half)
    assert "failed: it failed" in figure.story(1)
    assert figure.to_csv().splitlines()[2].startswith("5,,,")
    assert "not done yet" in make_bias_variance(replace(half, errors={}), is_running=True).story(1)
    assert half.best == 0
    assert "1 value failed" in how_it_ended(half)
