"""The pruning figure: stops of a path, the price that makes each, and what is told of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.tree.cost_complexity import PathLosses, pruning_path
from tests.workbench.making import Session, make_table, open_flowers
from workbench.document import Document
from workbench.editing import prune_to
from workbench.figures.pruning import Stop, make_pruning
from workbench.figures.words import number
from workbench.pruning import PruningCurve, cut_prices_of, mean_loss, pruning_curve, with_cross_validation
from workbench.runs import ModelSpec


def losses(*means):
    return PathLosses(np.array(means), np.full(len(means), 0.05))


class Result:
    """What the figure looks at of a run's result."""

    def __init__(self, tree, classes=("a", "b"), **parameters):
        self.trees, self.classes, self.scores, self.edits = [tree], classes, {}, ()
        self.spec = ModelSpec("tree", parameters)
        labels = {"classes_": np.array(classes)} if classes else {}
        self.estimator = SimpleNamespace(criterion=parameters.get("criterion", "squared_error"), **labels)


def test_stops_ascend_and_end_in_the_grown_tree():
    X = np.array([[0], [0], [0], [1], [1], [2], [2], [2]], float)
    tree = DecisionTreeClassifier(min_samples_leaf=2).fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).tree_
    curve = PruningCurve(
        tree,
        pruning_path(tree),
        {"train": losses(0.125, 0.125, 0.5)},
        {"train": 8},
        losses(0.3, 0.31, 0.5),
        4,
    )
    figure = make_pruning("t", Result(tree), curve)
    assert figure.stops == (Stop(1, pytest.approx(0.3)), Stop(2, pytest.approx(0.075)), Stop(3, None))
    assert figure.lines[0].y.tolist() == [0.5, 0.125, 0.125]
    assert (figure.best, figure.one_se) == (2, 1)
    assert [figure.stop_of(alpha) for alpha in (None, 0.0, 0.074, 0.075, 0.2, 0.31, 9.0)] == [
        2,
        2,
        2,
        1,
        1,
        0,
        0,
    ]
    assert [figure.nearest(n) for n in (0.2, 1.3, 1.5, 2.4, 2.5, 99)] == [0, 0, 1, 1, 2, 2]
    assert figure.story(1) == "2 leaves\na leaf costs 0.075\ntraining 12.5 %\ncross-validated 31.0 % ± 5.0 %"
    assert figure.story(2).startswith("3 leaves, as grown")
    assert figure.subtitle == (
        "8 training rows, 4 folds of the training rows, band of one standard error, "
        "a leaf's price in Gini impurity"
    )


@pytest.mark.parametrize(
    ("criterion", "price", "unit"),
    [("gini", 0.25, "Gini impurity"), ("misclassification", 1 / 3, "shares of wrong rows")],
)
def test_c16_the_scale_of_the_price_is_named(criterion, price, unit):
    X, y = np.array([[1.0], [1], [2], [2], [2], [2]]), list("nnjjjn")
    tree = DecisionTreeClassifier(criterion=criterion).fit(X, y).tree_
    curve = PruningCurve(tree, pruning_path(tree), {"train": losses(1 / 6, 0.5)}, {"train": 6})
    figure = make_pruning("t", Result(tree, ("j", "n"), criterion=criterion), curve)
    assert figure.subtitle == f"6 training rows, a leaf's price in {unit}"
    assert figure.stops[0] == Stop(1, pytest.approx(price))
    assert figure.story(0) == f"1 leaf\na leaf costs {number(price)}\ntraining 50.0 %"
    assert figure.story(1) == "2 leaves, as grown\ntraining 16.7 %"


@pytest.mark.parametrize(
    ("classes", "parameters", "unit"),
    [
        (("a", "b"), {"algorithm": "c4.5", "criterion": "gini"}, "bits of entropy"),
        ((), {}, "squared error"),
        ((), {"criterion": "poisson"}, "Poisson deviance"),
        ((), {"criterion": "absolute_error"}, "absolute error"),
    ],
)
def test_every_criterion_has_its_unit(classes, parameters, unit):
    tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 3.0]).tree_
    curve = PruningCurve(tree, pruning_path(tree), {"train": losses(0.0, 2.25)}, {"train": 2})
    assert make_pruning("t", Result(tree, classes, **parameters), curve).subtitle.endswith(f"price in {unit}")


def test_a_split_that_gains_nothing_is_a_stop_of_its_own():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, float)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 1, 0] * 2).tree_
    figure = make_pruning(
        "t", Result(tree), PruningCurve(tree, pruning_path(tree), {"train": losses(0.5)}, {"train": 8})
    )
    assert figure.stops == (Stop(1, 0.0), Stop(2, None))
    assert figure.lines[0].y.tolist() == [0.5, 0.5]
    assert figure.band is None
    assert figure.stop_of(0.0) == 0


@pytest.mark.parametrize(
    ("criterion", "label"),
    [
        ("squared_error", "squared error"),
        ("absolute_error", "absolute error"),
        ("poisson", "Poisson deviance"),
    ],
)
def test_numbers_are_told_as_numbers(criterion, label):
    tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 3.0]).tree_
    figure = make_pruning(
        "t",
        Result(tree, (), criterion=criterion),
        PruningCurve(tree, pruning_path(tree), {"train": losses(0.0, 2.25)}, {"train": 2}),
    )
    assert figure.y_label == label
    assert figure.story(0) == "1 leaf\na leaf costs 2.25\ntraining 2.25"


@pytest.mark.usefixtures("qapp")
def test_counts_are_priced_by_their_deviance():
    rows = np.arange(60)
    events = [("none", "few", "many")[row % 3] for row in rows]
    n = np.where(rows % 3 == 0, 0, np.where(rows % 3 == 1, 1 + rows % 2, 5 + rows % 4)).astype(float)
    document = Document()
    document.open_table(make_table("events", {"events": events, "n": n, "noise": rows % 7.0}))
    document.set_target("n")
    document.set_as_classes(False)
    session = Session(document)
    run_id = session.train("tree", criterion="poisson", max_depth=3, min_samples_leaf=2)
    session.close()
    result = document.run(run_id).result
    curve = pruning_curve(result, document.table)
    without_idle = prune_to(result, document.table, 0.0)
    for part, found in curve.losses.items():
        assert mean_loss(without_idle, part) == pytest.approx(found.mean[0])
        assert np.isfinite(found.mean).all()
    said = cut_prices_of(result, document.table).sentence(0)
    assert "; Poisson deviance " in said


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("target", "criterion"), [("kind", "entropy"), ("size", "squared_error"), ("size", "absolute_error")]
)
def test_errors_of_the_whole_tree_are_the_scores_of_the_run(target, criterion):
    document = open_flowers(target)
    session = Session(document)
    run_id = session.train("tree", criterion=criterion, max_depth=None, min_samples_leaf=2)
    session.close()
    result = document.run(run_id).result
    curve = pruning_curve(result, document.table)
    without_idle = prune_to(result, document.table, 0.0)  # splits that gain nothing may move a median
    for part, found in curve.losses.items():
        metrics = {name: estimate.value for name, estimate in without_idle.scores[part].metrics.items()}
        if result.classes:
            expected = 1 - metrics["accuracy"]
        else:
            expected = metrics["mae"] if criterion == "absolute_error" else metrics["rmse"] ** 2
        assert found.mean[0] == pytest.approx(expected)
        assert mean_loss(without_idle, part) == pytest.approx(expected)
    assert curve.n_rows == {part: result.scores[part].n_rows for part in ("train", "validation")}

    class Watches:
        told = 0

        def on_iteration(self, event):
            self.told = max(self.told, event.iteration)
            return False

    watches = Watches()
    found = with_cross_validation(curve, result, document.table, watches)
    assert watches.told == found.n_folds == 5
    assert found.cross_validated.mean[-1] > found.cross_validated.mean.min()
