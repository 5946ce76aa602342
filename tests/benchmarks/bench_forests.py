"""How fast forests grow beside scikit-learn's, and Intel's where it is installed, alternating in one run."""

from __future__ import annotations

from importlib import import_module
from statistics import median

from tests.benchmarks.bench_engine import N_RUNS, seconds
from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report

N_TRAIN, N_TREES = 100_000, 100
PEERS = {"scikit-learn-intelex": "sklearnex.ensemble", "scikit-learn": "sklearn.ensemble"}


def run(report: Report) -> None:
    """Grow full trees of two classes, with bins and without, and the fastest peer."""
    from sklearn.metrics import roc_auc_score

    import engine

    X, y = speed_table(N_TRAIN + 50_000)
    train, test = (X[:N_TRAIN], y[:N_TRAIN]), (X[N_TRAIN:], y[N_TRAIN:])
    name, of_peer = _fastest_peer()
    for max_bins in (255, None):
        ours = engine.RandomForestClassifier(n_estimators=N_TREES, max_bins=max_bins, random_state=0)
        engine.RandomForestClassifier(n_estimators=2, max_bins=max_bins).fit(X[:20_000], y[:20_000])
        peers = [of_peer(n_estimators=N_TREES, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2)]
        times: list[list[float]] = [[], [], []]
        for _ in range(N_RUNS):
            for model, kept in zip([ours, *peers], times, strict=True):
                kept.append(seconds(lambda model=model: model.fit(*train)))
        peer_s = min(median(times[1]), median(times[2]))
        aucs = [roc_auc_score(test[1], model.predict_proba(test[0])[:, 1]) for model in (ours, peers[0])]
        kind = "every threshold" if max_bins is None else f"{max_bins} bins"
        wanted = None if max_bins is None else 0.5 * peer_s
        report.line(
            f"forest, {N_TRAIN:,} x 28, {N_TREES} full trees, {kind}, {name}", median(times[0]), "s",
            wanted, peer_s, f"AUC {aucs[0]:.4f}, peer {aucs[1]:.4f}",
        )  # fmt: skip


def _fastest_peer():
    for name, module in PEERS.items():
        try:
            return name, import_module(module).RandomForestClassifier
        except ImportError:
            continue
    raise ImportError("scikit-learn is missing; install it")
