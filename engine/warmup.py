"""Compile every kernel into the cache, before anybody waits for it: ``python -m engine.warmup``.

Tiny models of all kinds are fitted on the dtypes that the window uses, float64 tables. The window runs
this as a child process and reads its standard output: one line before each step, such as
"3/8 random forest for classes", and "done" at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_ROWS = 60
LEVELS = 12  # more than the levels that are searched exhaustively, so both ways are compiled


def tiny_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers, a category and missing values: float64 (n_rows, 3), and a target (n_rows,)."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=N_ROWS), rng.integers(0, LEVELS, N_ROWS), rng.normal(size=N_ROWS)])
    y = X[:, 0] + X[:, 1] % 3 + rng.normal(size=N_ROWS)
    X[::7, 0] = np.nan
    X[::9, 1] = np.nan
    return X, y


def steps() -> list[tuple[str, Callable[[], None]]]:
    """Return the name of every step and the function that compiles its kernels."""
    return [
        ("decision tree for classes", _tree_for_classes),
        ("decision tree for numbers", _tree_for_numbers),
        ("random forest for classes", _forest_for_classes),
        ("random forest for numbers", _forest_for_numbers),
        ("boosting for numbers", _boosting_for_numbers),
        ("boosting for two classes", _boosting_for_two_classes),
        ("boosting for more classes", _boosting_for_more_classes),
    ]


def main() -> int:
    """Run all steps, printing one line before each; return 0."""
    todo = steps()
    for number, (name, step) in enumerate(todo, start=1):
        print(f"{number}/{len(todo)} {name}", flush=True)
        step()
    print("done", flush=True)
    return 0


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


def _forest_for_classes() -> None:
    from engine import RandomForestClassifier

    _use(RandomForestClassifier(n_estimators=3, oob_score=True), _classes(3))


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


if __name__ == "__main__":
    sys.exit(main())
