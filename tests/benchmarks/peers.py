"""The boosted models that are measured beside each other, at the same settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

N_ROUNDS, N_LEAVES, RATE = 100, 31, 0.1
Fit = Callable[..., Any]


def ours(X: np.ndarray, y: np.ndarray, n_jobs: int, n_rounds: int = N_ROUNDS) -> Any:
    import engine

    return engine.GradientBoostingClassifier(
        n_estimators=n_rounds, max_leaf_nodes=N_LEAVES, learning_rate=RATE, order=2, max_bins=255,
        n_jobs=n_jobs, random_state=0,
    ).fit(X, y)  # fmt: skip


def lightgbm(X: np.ndarray, y: np.ndarray, n_jobs: int, n_rounds: int = N_ROUNDS) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=n_rounds, num_leaves=N_LEAVES, learning_rate=RATE, max_bin=255, n_jobs=n_jobs,
        verbose=-1,
    ).fit(X, y)  # fmt: skip


def xgboost(X: np.ndarray, y: np.ndarray, n_jobs: int, n_rounds: int = N_ROUNDS) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=n_rounds, max_leaves=N_LEAVES, max_depth=0, grow_policy="lossguide",
        learning_rate=RATE, tree_method="hist", max_bin=256, n_jobs=n_jobs,
    ).fit(X, y)  # fmt: skip


def scikit_learn(X: np.ndarray, y: np.ndarray, n_jobs: int, n_rounds: int = N_ROUNDS) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=n_rounds, max_leaf_nodes=N_LEAVES, learning_rate=RATE, max_bins=255, early_stopping=False
    )
    with threadpool_limits(n_jobs, user_api="openmp"):  # it has no n_jobs
        return model.fit(X, y)


def exact_tree(X: np.ndarray, y: np.ndarray, max_depth: int) -> Any:
    """One tree of every threshold; depth 0 means no limit."""
    import engine

    return engine.DecisionTreeClassifier(max_depth=max_depth or None).fit(X, y)


PEERS: dict[str, Fit] = {"LightGBM": lightgbm, "XGBoost": xgboost, "scikit-learn": scikit_learn}
