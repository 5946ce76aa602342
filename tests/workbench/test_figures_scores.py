from dataclasses import replace

import numpy as np
import pytest

from engine.tree.structure import single_leaf
from workbench.figures import compare, scores
from workbench.importances import shuffled_text
from workbench.runs import Curve, ModelSpec, RunRecord, RunResult
from workbench.scoring import score_classes, score_numbers

PROBA = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.45, 0.55]])
CODES = np.array([0, 1, 1, 1, 0])


def result_of(score_set, classes=("no", "yes"), curve=None, kind="tree", **parameters):
    return RunResult(
        estimator=None,
        spec=ModelSpec(kind, parameters),
        features=("a", "b", "c"),
        target="y",
        classes=classes,
        parts=np.zeros(5, np.uint8),
        scores={score_set.part: score_set},
        importances=np.array([0.2, 0.7, 0.1]),
        seconds=0.0,
        n_rounds=1,
        stopped=False,
        table_fingerprint="t",
        event_class="yes" if classes else None,
        curve=curve,
    )


@pytest.fixture
def result():
    return result_of(score_classes("test", CODES, PROBA, ("no", "yes")))


def test_key_figures_name_model_rows_and_interval(result):
    block = scores.part_block("tree 1", result, "test")
    assert (block.title, block.rows_text) == ("tree 1", "5 held-out test rows")
    first = block.key_figures[0]
    assert (first.name, first.value) == ("accuracy", "0.600")
    assert first.interval == "95 %: 0.231 to 0.882"  # Wilson, 3 of 5
    expected = "base rate of yes: 60 %, 3 of 5; always answering yes: accuracy 0.600"
    assert block.notes == (expected, scores.PART_NOTES["test"])
    assert "validation rows" in scores.PART_NOTES["test"]  # why the list of models says another figure


def test_a_score_that_was_looked_at_while_editing_says_so(result):
    from dataclasses import replace

    tree = replace(result, grown_tree=single_leaf([0.5, 0.5], 0.5, 5, 5.0), n_test_looks=2)
    assert "changed by hand 2 times" in scores.part_block("tree 1", tree, "test").notes[1]
    forest = replace(result, n_test_looks=1)
    assert "rounds kept were chosen 1 time " in scores.part_block("forest 1", forest, "test").notes[1]


@pytest.mark.parametrize(
    ("cut", "counts"),
    [(0.5, [[1, 1], [1, 2]]), (0.4, [[1, 1], [0, 3]]), (0.75, [[2, 0], [2, 1]]), (0.99, [[2, 0], [3, 0]])],
)
def test_the_cut_off_moves_the_confusion(result, cut, counts):
    figure = scores.make_confusion("m", result, "test", cut)
    assert figure.counts.tolist() == counts
    assert figure.accuracy == (counts[0][0] + counts[1][1]) / 5


def test_the_cut_off_is_told_in_words(result):
    figure = scores.make_confusion("m", result, "test", 0.4)
    assert figure.sentence() == "finds 3 of 3 yes; 1 of 4 named so are not"


def test_importances_are_ranked(result):
    figure = scores.make_importances("m", result)
    assert figure.names == ("b", "a", "c")
    assert figure.values.tolist() == [0.7, 0.2, 0.1]


def test_errors_of_numbers_are_in_the_targets_unit():
    y = np.array([100.0, 200.0, 300.0])
    result = result_of(score_numbers("test", y, y + 10), classes=())
    block = scores.part_block("m", result, "test")
    assert {key.name: key.value for key in block.key_figures} == {
        "R²": "0.985",
        "RMSE": "10.0",
        "mean absolute error": "10.0",
    }
    assert block.notes == ("always answering the mean: RMSE 81.6", scores.PART_NOTES["test"])


def test_weighted_scores_name_the_column_and_what_counts_rows():
    from dataclasses import replace

    w = np.array([4.0, 1, 1, 1, 1])
    weighted = result_of(score_classes("test", CODES, PROBA, ("no", "yes"), w))
    weighted = replace(weighted, weight="w")
    block = scores.part_block("m", weighted, "test")
    assert block.key_figures[0].value == "0.750"  # 6 of the weight 8
    assert block.notes == (
        "weighted by column w; confusion and class table count rows",
        "base rate of yes: 38 % by weight; always answering no: accuracy 0.625",
        scores.PART_NOTES["test"],
    )
    figure = scores.make_confusion("m", weighted, "test", 0.4)
    assert figure.counts.tolist() == [[1, 1], [0, 3]]
    assert figure.subtitle == "5 held-out test rows, not weighted"
    assert figure.accuracy == 7 / 8


def test_of_a_thousand_classes_the_largest_have_rows_and_the_others_are_summed_up():
    classes = tuple(f"c{k:03}" for k in range(1000))
    codes = np.concatenate([np.repeat(np.arange(900, 1000), 3), np.arange(900)])  # 100 classes of 3, 900 of 1
    told = codes.copy()
    told[0] = 5  # a row of c900 is taken for a rare class
    told[-1] = 898  # a rare one for another
    score_set = score_classes("test", codes, np.eye(1000)[told], classes)
    figure = scores.make_confusion("m", result_of(score_set, classes), "test")
    assert figure.classes == (*(f"c{k}" for k in range(900, 929)), "971 others")
    assert figure.counts.shape == (30, 30)
    assert figure.counts.sum() == 1200
    assert figure.counts[0].tolist() == [2, *[0] * 28, 1]
    assert figure.counts[29, 29] == 1200 - 29 * 3
    assert figure.accuracy == 1198 / 1200, "errors among the others count too"
    assert figure.subtitle == "1,200 held-out test rows, the 29 classes with most rows"
    rows = scores.class_rows(figure)
    assert len(rows) == 29
    assert rows[0][:4] == ("c900", "3", "1.000", "0.667")


def test_compare_heads_models_by_their_own_task(result):
    """Whatever the open table says, or no table."""
    y = np.array([100.0, 200.0, 300.0])
    number = result_of(score_numbers("test", y, y + 10), classes=())
    records = {
        "1": RunRecord("1", "one", ModelSpec("tree"), "done", number),
        "2": RunRecord("2", "two", ModelSpec("tree"), "done", result),
    }
    alone = compare.make_compare({"1": records["1"]}, "classes", "test")
    assert alone.columns == ("R², test", "RMSE, test", "mean absolute error, test")
    assert alone.rows[0].cells == ("0.985", "10.0", "10.0")
    both = compare.make_compare(records, "classes", "test")
    assert both.columns[:4] == ("accuracy, test", "AUC, test", "log loss, test", "R², test")
    assert both.rows[0].cells == ("–", "–", "–", "0.985", "10.0", "10.0")
    assert both.rows[1].cells[3:] == ("–", "–", "–")


def test_compare_shows_only_settings_that_differ(result):
    def record(name, value, **parameters):
        spec = ModelSpec("tree", {"max_depth": 5, "criterion": "gini", **parameters})
        return RunRecord(name, name, spec, "done", value)

    better = result_of(score_classes("test", CODES, np.eye(2)[CODES], ("no", "yes")))
    runs = {"1": record("one", None), "2": record("two", None, max_depth=None)}
    figure = compare.make_compare(runs, "classes", "test")
    assert len(figure.columns) == 4
    assert [row.cells[-1] for row in figure.rows] == ["5", "none"]
    assert [row.cells[0] for row in figure.rows] == ["–", "–"]
    same = {"1": record("one", result), "2": record("two", better)}
    figure = compare.make_compare(same, "classes", "test")
    assert figure.columns[0] == "accuracy, test"
    assert [row.cells[0] for row in figure.rows] == ["0.600", "1.000"]
    assert figure.best == ({1}, {1}, {1})
    equal = {**same, "3": record("three", better)}
    assert compare.make_compare(equal, "classes", "test").best[0] == {1, 2}
    assert compare.make_compare({"1": record("one", result)}, "classes", "test").best[0] == set()


def test_compare_names_settings_that_only_the_other_task_has():
    """They are left over from a target of classes; the table says numbers by now."""
    runs = {
        way: RunRecord(way, way, ModelSpec("svm", {"multiclass": way}), "new", None)
        for way in ("direct", "one_vs_all")
    }
    figure = compare.make_compare(runs, "numbers", "test")
    assert figure.columns[-1] == "Multiclass"
    assert [row.cells[-1] for row in figure.rows] == ["direct", "one_vs_all"]


def test_compare_tells_a_setting_only_of_models_that_have_it(result):
    """A model trained on classes has no loss to choose; its settings may now be for numbers."""
    for_classes = ModelSpec("boosting", {"learning_rate": 0.1})
    for_numbers = [
        ModelSpec("boosting", {"loss": loss, "learning_rate": 0.1}) for loss in ("huber", "poisson")
    ]
    runs = {
        "1": RunRecord("1", "one", for_numbers[0], "done", replace(result, spec=for_classes)),
        "2": RunRecord("2", "two", for_numbers[0]),
        "3": RunRecord("3", "three", for_numbers[1]),
    }
    figure = compare.make_compare(runs, "numbers", "test")
    assert [row.cells[figure.n_scores :] for row in figure.rows] == [("",), ("huber",), ("poisson",)]
    del runs["3"]
    figure = compare.make_compare(runs, "numbers", "test")
    assert [row.cells[figure.n_scores :] for row in figure.rows] == [(), ()], "nothing to compare it with"


def test_two_runs_curves_are_overlaid_in_two_colours(result):
    curve = Curve(np.array([1.0, 0.5]), np.array([1.0, 0.6]), "log loss", 1)
    record = RunRecord(
        "1", "one", ModelSpec("boosting"), "done", result_of(result.scores["test"], curve=curve)
    )
    other = RunRecord(
        "2", "two", ModelSpec("boosting"), "done", result_of(result.scores["test"], curve=curve)
    )
    figure = compare.overlaid_curves([record, other])
    assert [line.name for line in figure.lines] == [
        "one, training", "one, validation", "two, training", "two, validation",
    ]  # fmt: skip
    assert [line.colour for line in figure.lines] == [0, 0, 1, 1]
    assert compare.overlaid_curves([RunRecord("3", "three", ModelSpec("tree"))]) is None


def test_the_caption_of_shuffled_columns_says_which_rows_and_how_many_of_them():
    def part(n, weights=None):
        y = np.arange(n, dtype=float)
        return score_numbers("part", y, y + 1, weights)

    several = {"train": part(9), "validation": part(8)}
    assert shuffled_text(several) == "validation rows"
    assert shuffled_text({**several, "validation": part(1)}) == "training rows"
    assert shuffled_text({**several, "validation": part(2, np.array([0.0, 1.0]))}) == "training rows"
    assert shuffled_text({"validation": part(1000)}) == "validation rows"
    assert shuffled_text({"train": part(2500)}) == "834 of 2,500 training rows"
