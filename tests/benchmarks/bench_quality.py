"""How well boosting and forests predict real tables beside their peers, at equal settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.report import Report
from tests.benchmarks.tables import RealTable, real_tables

N_FOLDS, N_ROUNDS, N_TREES = 5, 100, 100
SHUFFLES = range(3)  # one partition into folds decides by luck which of two equal learners is ahead
# and so does what a learner chooses by chance: a forest its seed, boosting where gains are nearly alike
N_SEEDS, N_DIRECTIONS = 4, 2
MOST_ERRORS, MOST_LOSS = -1.0, -0.02  # in standard errors, and as a share of the peer's figure
WANTED_TABLES = 10
Fold = tuple[Any, Any, Any, Any]
Fit = Callable[[RealTable, Fold, int], np.ndarray]


def run(report: Report) -> None:
    """Print a line for every table and model, and how many of them reach what is wanted."""
    for kind, ours, peer, n_ways in (
        ("boosting, LightGBM", our_boosting, lightgbm_boosting, N_DIRECTIONS),
        ("forest, scikit-learn", our_forest, scikit_learn_forest, N_SEEDS),
    ):
        n_near = n_tables = 0
        worst = 0.0
        for table in real_tables():
            folds = list(_folds(table))
            scores = np.array([[score(table, fit, fold, n_ways) for fold in folds] for fit in (ours, peer)])
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


def score(table: RealTable, fit: Fit, fold: Fold, n_ways: int) -> float:
    """Return the accuracy, or the negative root of the mean squared error, on the fold's test rows.

    It is the mean over several ways of fitting, between which there is nothing to choose: seeds of a forest,
    or the table as it is and mirrored.
    """
    scores = []
    for way in range(n_ways):
        predicted, y = fit(table, fold, way), fold[3]
        if table.is_classes:
            scores.append(np.mean(predicted == y))
        else:
            scores.append(-np.sqrt(np.mean((predicted - y) ** 2)))
    return float(np.mean(scores))


def _folds(table: RealTable):
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if table.is_classes else KFold
    for seed in SHUFFLES:
        for train, test in kind(N_FOLDS, shuffle=True, random_state=seed).split(table.X, table.y):
            yield table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test]


def _directed(frame: Any, way: int) -> Any:
    """Return a table as it is, or mirrored: its numbers negated, its columns in reverse."""
    if way == 0:
        return frame
    turned = {name: frame[name] if frame[name].dtype == "category" else -frame[name] for name in frame}
    return frame.assign(**turned)[list(frame)[::-1]]


def our_boosting(table: RealTable, fold: Fold, way: int) -> np.ndarray:
    import engine

    name = "GradientBoostingClassifier" if table.is_classes else "GradientBoostingRegressor"
    model = getattr(engine, name)(
        n_estimators=N_ROUNDS, order=2, min_child_weight=1e-3, random_state=0
    )  # fmt: skip
    return model.fit(_directed(fold[0], way), fold[1]).predict(_directed(fold[2], way))


def lightgbm_boosting(table: RealTable, fold: Fold, way: int) -> np.ndarray:
    """LightGBM by its defaults, but what it does beyond our settings: smoothing and limits of categories.

    It bins from all rows, and lets a bin be one row.
    """
    import lightgbm

    kind = lightgbm.LGBMClassifier if table.is_classes else lightgbm.LGBMRegressor
    model = kind(
        n_estimators=N_ROUNDS, verbose=-1, n_jobs=1, min_data_in_bin=1, cat_smooth=0, cat_l2=0,
        min_data_per_group=1, max_cat_threshold=255,
    )  # fmt: skip
    return model.fit(_directed(fold[0], way), fold[1]).predict(_directed(fold[2], way))


def our_forest(table: RealTable, fold: Fold, seed: int) -> np.ndarray:
    import engine

    return _forest(engine, table, fold, seed)


def scikit_learn_forest(table: RealTable, fold: Fold, seed: int) -> np.ndarray:
    import sklearn.ensemble

    return _forest(sklearn.ensemble, table, fold, seed)


def _forest(module: Any, table: RealTable, fold: Fold, seed: int) -> np.ndarray:
    """Predictions from a table of codes, as scikit-learn's forests know no categories."""
    name = "RandomForestClassifier" if table.is_classes else "RandomForestRegressor"
    train, test = _coded(fold[0]), _coded(fold[2])
    model = getattr(module, name)(n_estimators=N_TREES, random_state=seed)
    return np.asarray(model.fit(train, fold[1]).predict(test))


def _coded(frame: Any) -> np.ndarray:
    columns = [frame[name].cat.codes if frame[name].dtype == "category" else frame[name] for name in frame]
    return np.column_stack(columns).astype(np.float32)
