"""Compile every kernel into the cache, before anybody waits for it: ``python -m engine.warmup``.

Tiny models of all kinds are fitted on the dtypes that the window uses, float64 tables. The window runs
this as a child process and reads its standard output: one line before each step, such as
"3/8 random forest for classes", and "done" at the end; "done" alone where all is compiled already.

Compiling is serial within a process, so a second one (`AHEAD`) works ahead on parts that the first one
then finds in the cache: the search through levels, boosting, and subtrees of few rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

AHEAD = "--ahead"
# what the process ahead tells as done, in this order
LEVEL_SEARCH, FEW_ROWS, BOOSTING = "level search", "subtrees of few rows", "boosting"
COMPLETE = "complete"  # a file in the cache folder once all steps are done
N_ROWS = 60
N_LEVELS = 12  # more than the levels that are searched exhaustively, so both ways are compiled


def tiny_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers, a category and missing values: float64 (n_rows, 3), and a target (n_rows,)."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=N_ROWS), rng.integers(0, N_LEVELS, N_ROWS), rng.normal(size=N_ROWS)])
    y = X[:, 0] + X[:, 1] % 3 + rng.normal(size=N_ROWS)
    X[::7, 0] = np.nan
    X[::9, 1] = np.nan
    return X, y


class Step(NamedTuple):
    """A piece of the warm-up.

    Attributes
    ----------
    name : str
    compile : callable
    awaits : str
        What the process ahead must have done first, or "".
    """

    name: str
    compile: Callable[[], None]
    awaits: str = ""


def steps() -> list[Step]:
    """Return the steps in their order; the tree comes first, as people train it first."""
    return [
        Step("decision tree for thresholds", lambda: _tiny_grower().compile_rest()),
        Step("decision tree for classes", _tree_for_classes, LEVEL_SEARCH),
        Step("decision tree for numbers", _tree_for_numbers),
        Step("random forest for classes", _forest_for_classes),
        Step("random forest for numbers", _forest_for_numbers),
        Step("boosting for numbers", _boosting_for_numbers, BOOSTING),
        Step("boosting for two classes", _boosting_for_two_classes),
        Step("boosting for more classes", _boosting_for_more_classes),
        Step("AdaBoost for classes", _adaboost_for_classes),
        Step("AdaBoost for numbers", _adaboost_for_numbers),
        Step("networks", _networks),
        Step("perceptron", _perceptron),
        Step("large tables for subtrees", _grow_numeric, FEW_ROWS),
        Step("large tables for trees", lambda: _grow_numeric(N_ROWS // 4)),
        Step("large tables for predictions", _many_answers_of_a_leaf),
        Step("large tables for bins", _binned_forest),
        Step("extra trees for drawn splits", _extra_trees),
        Step("decision tree for medians", _tree_for_medians),
        Step("boosting for ordered statistics", _ordered_boosting),
    ]


def main(arguments: Sequence[str] = ()) -> int:
    """Run all steps, printing one line before each; return 0."""
    if AHEAD in arguments:
        return _work_ahead()
    mark = _complete_mark()
    if mark is None or not mark.exists():
        todo = steps()
        with _ProcessAhead() as ahead:
            for number, step in enumerate(todo, start=1):
                print(f"{number}/{len(todo)} {step.name}", flush=True)
                ahead.wait_for(step.awaits)
                step.compile()
        if mark is not None:
            mark.touch()
    print("done", flush=True)
    return 0


def _complete_mark() -> Path | None:
    from engine.jit import cache_folder

    folder = cache_folder()
    return None if folder is None else folder / COMPLETE


class _ProcessAhead(AbstractContextManager["_ProcessAhead"]):
    """The second process; where it cannot be started or dies, the first does all the work."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "engine.warmup", AHEAD]
        self._told: set[str] = set()
        self._process: subprocess.Popen[str] | None = None
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        except OSError:
            self._process = None

    def wait_for(self, part: str) -> None:
        """Wait until a part is done, or no hope of it is left."""
        if self._process is None or self._process.stdout is None:
            return
        while part and part not in self._told:
            line = self._process.stdout.readline()
            if not line:
                return
            self._told.add(line.strip())

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()  # closes its input, which ends it


def _work_ahead() -> int:
    """Do the parts in the other order than the first process, and tell each; end when that one is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _tiny_grower().compile_levels()
    print(LEVEL_SEARCH, flush=True)
    _answers_of_a_leaf()
    for step in steps():
        if step.name.startswith(BOOSTING):
            step.compile()
    print(BOOSTING, flush=True)
    _grow_numeric()
    print(FEW_ROWS, flush=True)
    return 0


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def _tiny_grower() -> Any:
    """Return what would grow a tree on the tiny table: its kernels are compiled in parts, not called."""
    from engine import DecisionTreeRegressor
    from engine.base import begin_fit
    from engine.tree.grow import Grower
    from engine.tree.growth_rules import make_rules
    from engine.tree.presort import Presorted

    X, y = tiny_table()
    model = DecisionTreeRegressor(categorical_features=[1])
    data = begin_fit(model, X, y, None, is_classifier=False)
    is_level = np.array([spec.is_categorical for spec in data.features], np.uint8)
    unsorted = Presorted(data.X, np.zeros(X.T.shape, np.int64), is_level)
    rules = make_rules(model, data, float(N_ROWS))
    return Grower(unsorted, unsorted.order, data.y, data.sample_weight, rules, np.uint64(0))


def _grow_numeric(most_rows: int = N_ROWS) -> None:
    """Grow a tree on numeric columns, whose nodes of up to `most_rows` rows have kernels of their own."""
    from engine import DecisionTreeRegressor
    from engine.base import begin_fit
    from engine.tree.grow import Grower
    from engine.tree.growth_rules import make_rules
    from engine.tree.presort import never, presort

    X, y = tiny_table()
    model = DecisionTreeRegressor()
    data = begin_fit(model, X, y, None, is_classifier=False)
    presorted = presort(data.X, data.features, never)
    if presorted is not None:
        rules = make_rules(model, data, float(N_ROWS))
        grower = Grower(presorted, presorted.order, data.y, data.sample_weight, rules, np.uint64(0))
        grower.rows_aside = most_rows
        grower.grow(never)


def _answers_of_a_leaf() -> None:
    """Compile predictions and surfaces, which need no grown tree."""
    from engine.predict import tree_values
    from engine.surface import tree_surface
    from engine.tree.structure import single_leaf

    X, _ = tiny_table()
    trees = [single_leaf([0.0], 0.0, 1, 1.0)] * 3
    for some in (trees[:1], trees):
        tree_values(some, X)
        tree_surface(some, 0, 1, [0.0, 1.0], [0.0, 1.0], X[1])


def _many_answers_of_a_leaf() -> None:
    from engine.predict import MANY_VISITS, tree_values
    from engine.tree.structure import single_leaf

    X, _ = tiny_table()
    tree_values([single_leaf([0.0], 0.0, 1, 1.0)] * (MANY_VISITS // N_ROWS + 1), X)


def _use(model: Any, y: NDArray[Any], **validation: Any) -> None:
    """Fit with and without weights, predict, and draw both surfaces."""
    from engine import surface

    X, _ = tiny_table()
    model.set_params(categorical_features=[1], random_state=0)
    model.fit(X, y, np.linspace(0.5, 1.5, len(y)))
    model.fit(X, y, **validation)
    model.predict(X)
    surface.model_surface(model, 0, 1, [0.0, 1.0, np.nan], [0.0, 1.0, np.nan], X[1])
    surface.model_curve(model, 0, [0.0, 1.0, np.nan], X[1])


def _classes(n_classes: int) -> NDArray[np.int64]:
    _, y = tiny_table()
    return np.argsort(np.argsort(y)) * n_classes // N_ROWS


def _tree_for_classes() -> None:
    from engine import DecisionTreeClassifier

    for n_classes in (2, 3):
        _use(DecisionTreeClassifier(criterion="gini"), _classes(n_classes))
    _use(DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=5), _classes(3))


def _tree_for_numbers() -> None:
    from engine import DecisionTreeRegressor

    _use(DecisionTreeRegressor(), tiny_table()[1])
    _use(DecisionTreeRegressor(max_leaf_nodes=5), tiny_table()[1])


def _extra_trees() -> None:
    from engine import ExtraTreesRegressor

    _use(ExtraTreesRegressor(n_estimators=3), tiny_table()[1])


def _tree_for_medians() -> None:
    from engine import DecisionTreeRegressor

    for splitter in ("best", "random"):
        _use(DecisionTreeRegressor(criterion="absolute_error", splitter=splitter), tiny_table()[1])


def _forest_for_classes() -> None:
    from engine import RandomForestClassifier

    _use(RandomForestClassifier(n_estimators=3, oob_score=True), _classes(3))


def _binned_forest() -> None:
    from engine import RandomForestClassifier

    RandomForestClassifier(n_estimators=1, max_bins=16).fit(tiny_table()[0], _classes(2))


def _forest_for_numbers() -> None:
    from engine import RandomForestRegressor

    _use(RandomForestRegressor(n_estimators=3, max_features=0.5, oob_score=True), tiny_table()[1])


def _boosting(y: NDArray[Any], name: str) -> None:
    import engine

    X, _ = tiny_table()
    for settings in ({"growth": "leaf"}, {"growth": "depth", "max_depth": 2, "order": 2, "subsample": 0.5}):
        model = getattr(engine, name)(n_estimators=2, min_samples_leaf=2, **settings)
        _use(model, y, X_val=X, y_val=y)


def _boosting_for_numbers() -> None:
    _boosting(tiny_table()[1], "GradientBoostingRegressor")


def _boosting_for_two_classes() -> None:
    _boosting(_classes(2), "GradientBoostingClassifier")


def _boosting_for_more_classes() -> None:
    _boosting(_classes(3), "GradientBoostingClassifier")


def _ordered_boosting() -> None:
    from engine import GradientBoostingRegressor

    X, y = tiny_table()
    settings: dict[str, Any] = {"categorical_features": [1], "categorical": "ordered", "min_samples_leaf": 2}
    GradientBoostingRegressor(n_estimators=1, **settings).fit(X, y)


def _adaboost_for_classes() -> None:
    from engine import AdaBoostClassifier

    _use(AdaBoostClassifier(n_estimators=3), _classes(3))


def _adaboost_for_numbers() -> None:
    from engine import AdaBoostRegressor

    _use(AdaBoostRegressor(n_estimators=3), tiny_table()[1])


def _networks() -> None:
    """Compile training in single and answers in double precision; classes and numbers share all kernels."""
    from engine import DeepEnsembleRegressor

    X, y = tiny_table()
    model = DeepEnsembleRegressor(n_estimators=1, max_epochs=1, random_state=0)
    model.fit(X, y, X_val=X, y_val=y)
    model.predict(X)


def _perceptron() -> None:
    from engine import PerceptronClassifier

    PerceptronClassifier(max_epochs=2, random_state=0).fit(tiny_table()[0], _classes(3))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
