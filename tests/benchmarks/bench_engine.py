"""How fast the engine trains beside its peers, measured alternating in one run."""

from __future__ import annotations

import time
from statistics import median

from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report

N_RUNS = 3


def seconds(work) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run(report: Report) -> None:
    """Boosting at 100,000 rows against LightGBM; a fit of ten rounds on a tiny table."""
    import lightgbm
    from sklearn.metrics import roc_auc_score

    import engine

    X, y = speed_table(150_000)
    train, test = slice(0, 100_000), slice(100_000, None)
    ours = engine.GradientBoostingClassifier(n_estimators=100, order=2, random_state=0)
    engine.GradientBoostingClassifier(n_estimators=2, order=2, random_state=0).fit(X[:2000], y[:2000])
    peers = [lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=n_jobs) for n_jobs in (1, 2)]
    times: list[list[float]] = [[], [], []]
    for _ in range(N_RUNS):
        for model, kept in zip([ours, *peers], times, strict=True):
            kept.append(seconds(lambda model=model: model.fit(X[train], y[train])))
    peer_s = min(median(times[1]), median(times[2]))
    aucs = [roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]) for model in (ours, peers[0])]
    report.line(
        "boosting, 100,000 x 28, 100 rounds, LightGBM", median(times[0]), "s", peer=peer_s,
        quality=f"AUC {aucs[0]:.4f}, peer {aucs[1]:.4f}",
    )  # fmt: skip
    small = engine.GradientBoostingClassifier(n_estimators=10, min_samples_leaf=5, random_state=0)
    small.fit(X[:150], y[:150])
    took = median(seconds(lambda: small.fit(X[:150], y[:150])) for _ in range(15))
    report.line("boosting, 10 rounds on 150 rows", took * 1000, "ms", 30)
