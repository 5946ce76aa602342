"""Bootstraps of a table's statistics: rows, refusals, models' scores, known truth, stop, files, undo."""

from dataclasses import replace

import numpy as np
import pytest

from engine.bootstrap import intervals
from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR
from workbench.bootstrap import (
    AUC,
    CORRELATION,
    EXPRESSION,
    MEAN,
    MEDIAN,
    QUANTILE,
    SCORE,
    SHARE,
    BootstrapSettings,
    first_bootstrap,
    inputs_of,
    metrics_of,
    with_fitting_column,
)
from workbench.bootstrap_work import run_bootstrap, what_changed
from workbench.datasets import make_table
from workbench.document import Document
from workbench.project import load_project, save_project
from workbench.project.studies import studies_from_json, studies_to_json
from workbench.resampler import how_it_ended
from workbench.samples import load_sample
from workbench.scoring import score_classes, score_numbers
from workbench.studies import Studies

TABLE = make_table(
    "t",
    {
        "a": [1, 2, 3, 4, None, 6, 7, 8.5],
        "b b": [2, 1, 4, 3, 6, 5, None, 8],
        "kind": ["u", "v"] * 4,
        "w": [1, 2] * 4,
    },
)


@pytest.fixture
def document(qapp):
    document = Document()
    document.open_table(TABLE)
    return document


def found(document, **settings):
    settings = BootstrapSettings(n_replicates=settings.pop("n_replicates", 50), **settings)
    return run_bootstrap(inputs_of(document, settings), NULL_MONITOR)


A = np.array([1, 2, 3, 4, 6, 7, 8.5])
V_ABOVE_U = np.mean([v > u for v in (2, 4, 6, 8.5) for u in (1, 3, 7)])
BOTH = np.array([[1, 2, 3, 4, 6, 8.5], [2, 1, 4, 3, 5, 8]])


@pytest.mark.parametrize(
    ("settings", "value", "rows"),
    [
        ({"statistic": MEAN, "first": "a"}, A.mean(), "7 rows, 1 left out"),
        ({"statistic": MEDIAN, "first": "a"}, 4, "7 rows"),
        ({"statistic": QUANTILE, "first": "a", "share": 0.25}, np.quantile(A, 0.25), "7 rows"),
        (
            {"statistic": CORRELATION, "first": "a", "second": "b b"},
            np.corrcoef(*BOTH)[0, 1],
            "6 rows, 2 left out",
        ),
        (
            {"statistic": EXPRESSION, "expression": "mean(`b b`) / mean(a)"},
            np.divide(*BOTH.mean(1)[::-1]),
            "6",
        ),
        ({"statistic": AUC, "first": "a", "second": "kind"}, V_ABOVE_U, "7 rows"),
    ],
)
def test_statistics_are_taken_of_rows_that_have_all_values(document, settings, value, rows):
    made = found(document, **settings)
    assert made.bootstrap.value == pytest.approx(value)
    assert made.rows_text.startswith(rows)
    assert len(made.bootstrap.replicates) == 50
    assert np.isnan(made.truth)
    assert not len(made.repeated)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"statistic": MEAN}, "choose a column"),
        ({"statistic": MEAN, "first": "c"}, "no column 'c'"),
        ({"statistic": MEAN, "first": "kind"}, "holds categories; choose one of numbers"),
        ({"statistic": EXPRESSION, "expression": "mean(kind)"}, "holds categories"),
        ({"statistic": EXPRESSION, "expression": "mean(b b)"}, "back ticks"),
        ({"statistic": AUC, "first": "a", "second": "a"}, "has 7 values; choose one that has two"),
        ({"statistic": AUC, "first": "a"}, "choose a column of two classes"),
        ({"statistic": SCORE}, "choose a model"),
        ({"first": "a", "n_replicates": 1}, "enter one from 2"),
        ({"first": "a", "level": 1.0}, "between 0 and 100"),
        ({"first": "a", "share": 2.0}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_worked_out_is_said(document, settings, why):
    with pytest.raises((DataError, ParameterError), match=why):
        inputs_of(document, BootstrapSettings(**settings))


def test_dates_and_yes_or_no_are_told_as_what_they_count(document):
    days = ["2020-01-01", "2020-01-03"] * 3
    document.open_table(make_table("t", {"day": days, "answer": ["yes", "no", "no"] * 2, "y": [1, 2] * 3}))
    made = found(document, statistic=CORRELATION, first="day", second="answer")
    assert made.rows_text == "6 rows, day in days since 1970, answer 1 where yes, else 0"
    assert found(document, statistic=MEAN, first="answer").bootstrap.value == pytest.approx(1 / 3)
    assert found(document, statistic=MEAN, first="day").bootstrap.value == 18262 + 1


def test_too_few_rows_are_said_before_anything_is_drawn(document):
    document.open_table(make_table("t", {"a": [1, None, None], "b": [None, 2, None], "c": [None] * 3}))
    for settings, why in (
        (BootstrapSettings(MEAN, "a"), "1 row of 3 have all values"),
        (BootstrapSettings(CORRELATION, "a", "b"), "0 rows of 3"),
    ):
        with pytest.raises(DataError, match=f"{why}.*at least 2 are needed"):
            inputs_of(document, settings)


def test_infinite_values_are_left_out_and_told(document):
    document.open_table(make_table("t", {"a": [1.0, 2.0, 3.0, np.inf, None]}))
    made = found(document, first="a")
    assert made.rows_text == "3 rows, 2 left out as a value is missing or infinite"
    assert made.bootstrap.value == 2.0


def test_a_weight_column_is_told_to_have_no_effect(document):
    document.set_roles(["w"], "weight")
    assert found(document, first="a").rows_text.endswith("each counted once, whatever its w")


@pytest.fixture(scope="module")
def trained(qapp):
    """A tree on Penguins, trained here and now."""
    from workbench.fitting import fit_run
    from workbench.training_work import training_inputs

    document = Document()
    document.open_table(load_sample("penguins"))
    run_id = document.add_run("tree")
    document.apply_result(run_id, fit_run(training_inputs(document, run_id), NULL_MONITOR))
    return document


@pytest.mark.parametrize("metric", ["accuracy", "auc", "log_loss"])
def test_a_models_score_is_the_one_in_scores(trained, metric):
    run_id = trained.current_run_id
    made = found(trained, statistic=SCORE, run_id=run_id, metric=metric)
    scores = trained.run(run_id).result.scores["test"]
    assert made.bootstrap.value == pytest.approx(scores.metrics[metric].value)
    assert made.rows_text.startswith(f"{scores.n_rows} test rows")
    low, high, _ = made.bootstrap.interval(intervals.PERCENTILE, 0.95)
    assert low <= made.bootstrap.value <= high


def test_resamples_of_rows_without_weight_have_no_score():
    weights = np.array([1.0, 0.0, 0.0])
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    of_classes = score_classes("test", np.array([0, 1, 1]), proba, ("no", "yes"), weights)
    of_numbers = score_numbers("test", np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.0, 0.0]), weights)
    nothing = np.array([1, 2, 2])
    for scores in (of_classes, of_numbers):
        assert all(np.isnan(score(nothing)) for score in metrics_of(scores).values())
    assert metrics_of(of_classes)["accuracy"](np.array([0, 1, 1])) == 1.0
    assert metrics_of(of_numbers)["mae"](np.array([0, 2, 2])) == pytest.approx(0.5)


def test_a_metric_of_another_task_is_refused(trained):
    settings = BootstrapSettings(SCORE, run_id=trained.current_run_id, metric="rmse")
    with pytest.raises(
        DataError, match="choose what Decision tree 1 is scored by: Accuracy, ROC area, Log loss"
    ):
        inputs_of(trained, settings)


def test_a_model_that_was_not_trained_has_no_score(document):
    document.set_target("kind")
    run_id = document.add_run("tree")
    with pytest.raises(DataError, match="has no score on test rows"):
        inputs_of(document, BootstrapSettings(SCORE, run_id=run_id, metric="auc"))


# ---- where the truth is known ------------------------------------------------------------------


@pytest.fixture
def two_assets(qapp):
    document = Document()
    document.open_table(load_sample("two_assets"))
    return document


def test_a_second_column_is_chosen_that_the_statistic_can_take():
    settings = BootstrapSettings(CORRELATION, "a", "b b")
    assert with_fitting_column(settings, TABLE, None) is settings
    area = with_fitting_column(replace(settings, statistic=AUC), TABLE, None)
    assert area.second == "kind"
    assert with_fitting_column(replace(area, statistic=SHARE), TABLE, None).second == "b b"
    assert with_fitting_column(replace(area, statistic=MEAN), TABLE, None).second == "kind"


def test_two_assets_begin_with_the_share_of_least_risk(two_assets):
    settings = first_bootstrap(two_assets.table, two_assets.target)
    assert settings == BootstrapSettings(SHARE, "x", "y")
    made = run_bootstrap(inputs_of(two_assets, settings), NULL_MONITOR)
    assert made.truth == pytest.approx(0.6)
    assert len(made.repeated) == len(made.bootstrap.replicates) == 1000
    assert abs(made.repeated.mean() - 0.6) < 0.02
    assert made.bootstrap.standard_error == pytest.approx(made.repeated.std(), rel=0.3)


@pytest.mark.parametrize(
    ("settings", "truth"),
    [
        ({"statistic": SHARE, "first": "y", "second": "x"}, 0.4),
        ({"statistic": MEAN, "first": "y"}, 0.0),
        ({"statistic": CORRELATION, "first": "y", "second": "x"}, 0.5 / np.sqrt(1.25)),
        ({"statistic": QUANTILE, "first": "y", "share": 0.9}, np.sqrt(1.25) * 1.2815515655446004),
        ({"statistic": EXPRESSION, "expression": "sd(y)"}, np.nan),
    ],
)
def test_fresh_samples_are_around_the_truth(two_assets, settings, truth):
    made = found(two_assets, n_replicates=2000, **settings)
    assert made.truth == pytest.approx(truth, nan_ok=True)
    right = np.sqrt(1.25) if np.isnan(truth) else truth
    # the mean of 2,000 has an error of their spread by the root of 2,000; 0.03 is a bias of order 1 / n
    error = made.repeated.std() / np.sqrt(2000)
    assert abs(made.repeated.mean() - right) < 5 * error + 0.03


class Watch:
    def __init__(self, stop_at=1.0):
        self.events, self._stop_at = [], stop_at

    def on_iteration(self, event):
        self.events.append(event)
        return event.fraction >= self._stop_at


def test_progress_goes_on_over_both_parts_and_shows_both(two_assets):
    watch = Watch()
    run_bootstrap(inputs_of(two_assets, BootstrapSettings(SHARE, "x", "y")), watch)
    fractions = [event.fraction for event in watch.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(watch.events[-1].so_far().repeated) == 1000
    assert len(watch.events[0].so_far().repeated) == 0


def test_a_stop_in_the_second_part_keeps_the_first(two_assets):
    settings = BootstrapSettings(SHARE, "x", "y", n_replicates=50_000)
    made = run_bootstrap(inputs_of(two_assets, settings), Watch(stop_at=0.501))
    assert made.bootstrap.stopped
    assert len(made.bootstrap.replicates) == 50_000
    assert 0 < len(made.repeated) < 50_000
    assert "stopped after 50,000 resamples" in how_it_ended(made)


# ---- the document ------------------------------------------------------------------------------


def test_settings_are_undone_and_what_was_found_stays_and_is_saved(document, tmp_path):
    settings = BootstrapSettings(EXPRESSION, expression="mean(a)", n_replicates=50)
    document.set_studies("Set the expression", bootstrap=settings)
    made = found(document, statistic=EXPRESSION, expression="mean(a)")
    document.attach_found(found=made)
    assert what_changed(made, document, settings, None) == ""
    assert what_changed(made, document, BootstrapSettings(MEAN, "a"), None) == "found with other settings"
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    document.undo_stack.undo()
    assert document.studies == Studies(found=made)
    document.restore(load_project(tmp_path / "p.treewright"))
    assert document.studies.bootstrap == settings
    again = document.studies.found
    np.testing.assert_array_equal(again.bootstrap.replicates, made.bootstrap.replicates)
    assert again.bootstrap.interval(intervals.BCA, 0.9) == made.bootstrap.interval(intervals.BCA, 0.9)
    assert (again.name, again.rows_text, again.settings) == (made.name, made.rows_text, made.settings)
    document.open_table(load_sample("xor"))
    assert document.studies.found is None
    assert what_changed(made, document, settings, None) == "found on another table"


def test_other_classes_and_trainings_since_are_said(document, trained):
    document.set_target("kind")
    settings = BootstrapSettings(AUC, "a", "kind", n_replicates=50)
    made = run_bootstrap(inputs_of(document, settings), NULL_MONITOR)
    assert what_changed(made, document, settings, inputs_of(document, settings)) == ""
    document.set_event_class("u")
    now = inputs_of(document, settings)
    assert what_changed(made, document, settings, now) == "found for other rows or classes"
    settings = BootstrapSettings(SCORE, run_id=trained.current_run_id, metric="log_loss", n_replicates=50)
    now = inputs_of(trained, settings)
    made = run_bootstrap(now, NULL_MONITOR)
    assert what_changed(made, trained, settings, now) == ""
    other = replace(made, bootstrap=replace(made.bootstrap, value=made.bootstrap.value + 0.01))
    assert what_changed(other, trained, settings, now) == "found before it was trained again"


@pytest.mark.parametrize(
    ("where", "damage"),
    [
        ("bootstrap", {"statistic": "mode"}),
        ("bootstrap", {"n_replicates": 1}),
        ("bootstrap", {"level": 2}),
        ("found", {"n_wanted": 3}),
    ],
)
def test_damaged_studies_are_refused(document, where, damage):
    from workbench.project.studies import found_arrays

    made = found(document, first="a")
    content = studies_to_json(Studies(bootstrap=made.settings, found=made))
    content[where] |= damage
    with pytest.raises(DataError, match="damaged"):
        studies_from_json(content, lambda _member: found_arrays(made))
