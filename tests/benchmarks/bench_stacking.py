"""A stack of nearest neighbours and a support vector machine beside its own base models, on Darts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from tests.benchmarks.report import Report

N_FOLDS, N_REPEATS = 5, 4
NEAR = {"Ada": "beds", "Ben": "beds", "Cleo": "wide", "Dan": "wide"}  # the sample's two regions


def run(report: Report) -> None:
    """Print the share of wrong rows out of fold, and of right ones by region, at default settings."""
    import engine

    X, y = darts()
    right = {
        "nearest neighbours": right_rows(engine.NearestNeighborsClassifier(), X, y),
        "SVM": right_rows(engine.SVMClassifier(random_state=0), X, y),
        "stack": right_rows(engine.StackingClassifier(random_state=0), X, y),
    }
    words = "; ".join(f"{name} {_by_region(of, y)}" for name, of in right.items())
    wrong = {name: 1.0 - float(of.mean()) for name, of in right.items()}
    for base in ("nearest neighbours", "SVM"):
        name = f"darts, wrong out of fold, stack beside {base}"
        report.line(name, wrong["stack"], "", wrong[base], wrong[base], words)


def darts() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return where the sample's darts landed, and who threw."""
    from workbench.samples import load_sample

    table = load_sample("darts")
    codes, levels = table.column("player").label_codes()
    return np.column_stack([table.column(name).values for name in ("x", "y")]), np.array(levels)[codes]


def right_rows(
    model: Any, X: NDArray[Any], y: NDArray[Any], n_repeats: int = N_REPEATS
) -> NDArray[np.float64]:
    """Return how often each row was right when it was left out: float64 (n_rows,), 0 to 1."""
    right = np.zeros(len(y))
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=n_repeats, random_state=0)
    for train, test in folds.split(X, y):
        right[test] += clone(model).fit(X[train], y[train]).predict(X[test]) == y[test]
    return right / n_repeats


def _by_region(right: NDArray[np.float64], y: NDArray[Any]) -> str:
    region = np.array([NEAR[player] for player in y.tolist()])
    return ", ".join(f"{name} {right[region == name].mean():.3f}" for name in ("beds", "wide"))
