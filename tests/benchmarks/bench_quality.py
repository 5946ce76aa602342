"""How well boosting and forests predict real tables beside their peers, at equal settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.report import Report
from tests.benchmarks.tables import RealTable, real_tables

N_FOLDS, N_ROUNDS, N_TREES = 5, 100, 100
SHUFFLES = range(3)  # one partition into folds decides by luck which of two equal learners is ahead
MOST_ERRORS, MOST_LOSS = -1.0, -0.02  # in standard errors, and as a share of the peer's figure
WANTED_TABLES = 10
Fold = tuple[Any, Any, Any, Any]


def run(report: Report) -> None:
    """Print a line for every table and model, and how many of them reach what is wanted."""
    for kind, ours, peer in (
        ("boosting, LightGBM", our_boosting, lightgbm_boosting),
        ("forest, scikit-learn", our_forest, scikit_learn_forest),
    ):
        n_near = n_tables = 0
        worst = 0.0
        for table in real_tables():
            folds = list(_folds(table))
            scores = np.array([[score(table, fit, fold) for fold in folds] for fit in (ours, peer)])
            gain, in_errors, share = differences(scores)
            n_tables += 1
            n_near += in_errors >= MOST_ERRORS
            worst = min(worst, share)
            unit = "accuracy" if table.is_classes else "RMSE"
            words = f"{unit}, better by {gain:.4f} = {in_errors:+.1f} standard errors"
            mean = np.abs(scores.mean(axis=1))
            report.line(f"quality, {kind}, {table.name}", mean[0], "", peer=mean[1], quality=words)
        missed = float(n_tables - n_near)
        words = f"{n_near} of {n_tables} not below -1 standard error"
        report.line(f"quality, {kind}: tables below", missed, "", n_tables - WANTED_TABLES, quality=words)
        report.line(f"quality, {kind}: worst table", -100 * worst, "%", -100 * MOST_LOSS)


def differences(scores: np.ndarray) -> tuple[float, float, float]:
    """Return the mean difference over folds: itself, in standard errors, and as a share of the peer's mean.

    Parameters
    ----------
    scores : float64 (2, n_folds)
        Ours and the peer's; larger is better.
    """
    by_fold = scores[0] - scores[1]
    mean, error = by_fold.mean(), by_fold.std(ddof=1) / np.sqrt(len(by_fold))
    in_errors = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    return float(mean), float(in_errors), float(mean / abs(scores[1].mean()))


def score(table: RealTable, fit: Callable[[RealTable, Fold], np.ndarray], fold: Fold) -> float:
    """Return the accuracy, or the negative root of the mean squared error, on the fold's test rows."""
    predicted, y = fit(table, fold), fold[3]
    if table.is_classes:
        return float(np.mean(predicted == y))
    return -float(np.sqrt(np.mean((predicted - y) ** 2)))


def _folds(table: RealTable):
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if table.is_classes else KFold
    for seed in SHUFFLES:
        for train, test in kind(N_FOLDS, shuffle=True, random_state=seed).split(table.X, table.y):
            yield table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test]


def our_boosting(table: RealTable, fold: Fold) -> np.ndarray:
    import engine

    name = "GradientBoostingClassifier" if table.is_classes else "GradientBoostingRegressor"
    model = getattr(engine, name)(
        n_estimators=N_ROUNDS, order=2, min_child_weight=1e-3, random_state=0
    )  # fmt: skip
    return model.fit(fold[0], fold[1]).predict(fold[2])


def lightgbm_boosting(table: RealTable, fold: Fold) -> np.ndarray:
    """LightGBM by its defaults, but what it does beyond our settings: smoothing and limits of categories.

    It bins from all rows, and lets a bin be one row.
    """
    import lightgbm

    kind = lightgbm.LGBMClassifier if table.is_classes else lightgbm.LGBMRegressor
    model = kind(
        n_estimators=N_ROUNDS, verbose=-1, n_jobs=1, min_data_in_bin=1, cat_smooth=0, cat_l2=0,
        min_data_per_group=1, max_cat_threshold=255,
    )  # fmt: skip
    return model.fit(fold[0], fold[1]).predict(fold[2])


def our_forest(table: RealTable, fold: Fold) -> np.ndarray:
    import engine

    return _forest(engine, table, fold)


def scikit_learn_forest(table: RealTable, fold: Fold) -> np.ndarray:
    import sklearn.ensemble

    return _forest(sklearn.ensemble, table, fold)


def _forest(module: Any, table: RealTable, fold: Fold) -> np.ndarray:
    """Predictions from a table of codes, as scikit-learn's forests know no categories."""
    name = "RandomForestClassifier" if table.is_classes else "RandomForestRegressor"
    train, test = _coded(fold[0]), _coded(fold[2])
    model = getattr(module, name)(n_estimators=N_TREES, random_state=0)
    return np.asarray(model.fit(train, fold[1]).predict(test))


def _coded(frame: Any) -> np.ndarray:
    columns = [frame[name].cat.codes if frame[name].dtype == "category" else frame[name] for name in frame]
    return np.column_stack(columns).astype(np.float32)
