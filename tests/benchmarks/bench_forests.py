"""How fast forests grow beside scikit-learn's, and Intel's where it is installed, alternating in one run."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report
from tests.benchmarks.timing import in_turns

N_TRAIN, N_TEST, N_TREES = 100_000, 50_000, 100
TIME = 1.0  # times the fastest peer's, at most
PEERS = {  # threads: Intel's spin, and lose on a busy machine; scikit-learn's own do not
    "scikit-learn-intelex": ("sklearnex.ensemble", (1, 2)),
    "scikit-learn": ("sklearn.ensemble", (2,)),
}
OURS = {"255 bins": 255, "every threshold": None}
THREADS = (1, 2, 8)
N_BITS, BIT_TREES = 20_000, 10


def run(report: Report) -> None:
    """Grow full trees of two classes, with bins and without, and the peers."""
    from sklearn.metrics import roc_auc_score

    import engine

    n_train = report.at_most(N_TRAIN)
    X, y = speed_table(n_train + N_TEST)
    train, test = (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])
    makers: dict[tuple[str, int], Any] = {}
    for name, max_bins in OURS.items():
        makers[name, 2] = partial(engine.RandomForestClassifier, max_bins=max_bins)
        engine.RandomForestClassifier(n_estimators=2, max_bins=max_bins).fit(X[:20_000], y[:20_000])
    for name, (module, threads) in _installed().items():
        makers |= {(name, n_jobs): module.RandomForestClassifier for n_jobs in threads}
    models: dict[str, Any] = {}

    def grow(name: str, n_jobs: int) -> None:
        make = makers[name, n_jobs]
        models[name] = make(n_estimators=N_TREES, random_state=0, n_jobs=n_jobs).fit(*train)

    took = in_turns({key: partial(grow, *key) for key in makers})
    best = {name: min(of for key, of in took.items() if key[0] == name) for name in models}
    aucs = {
        name: roc_auc_score(test[1], model.predict_proba(test[0])[:, 1]) for name, model in models.items()
    }
    of_peers = {name: best[name] for name in PEERS if name in best}
    for kind in OURS:
        for name, of_peer in of_peers.items():
            is_asked = kind == "255 bins" and of_peer == min(of_peers.values())
            report.line(
                f"forest, {n_train:,} x 28, {N_TREES} full trees, {kind}, {name}", best[kind], "s",
                TIME * of_peer if is_asked else None, of_peer, f"AUC {aucs[kind]:.4f}, peer {aucs[name]:.4f}",
            )  # fmt: skip
    _same_bits(report, X[:N_BITS], y[:N_BITS])


def _installed() -> dict[str, tuple[Any, tuple[int, ...]]]:
    found = {}
    for name, (module, threads) in PEERS.items():
        try:
            found[name] = import_module(module), threads
        except ImportError:  # Intel's is made for some processors alone
            print(f"{name} is not installed: left out")
    return found


def _same_bits(report: Report, X: np.ndarray, y: np.ndarray) -> None:
    import engine

    for kind, max_bins in OURS.items():
        make = partial(
            engine.RandomForestClassifier, n_estimators=BIT_TREES, max_bins=max_bins, random_state=0
        )
        trees = [make(n_jobs=n_jobs).fit(X, y).estimators_ for n_jobs in THREADS]
        n_unlike = sum(each != trees[0] for each in trees)
        report.line(f"forest, {kind}: numbers of threads that change a bit", n_unlike, "", 0)
        assert n_unlike == 0
