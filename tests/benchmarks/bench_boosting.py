"""Boosting beside LightGBM, XGBoost and scikit-learn: time, memory, prediction and threads."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks import peers
from tests.benchmarks.data import speed_table
from tests.benchmarks.memory import peak
from tests.benchmarks.report import Report
from tests.benchmarks.timing import in_turns, seconds

N_TRAIN, N_TEST = 1_000_000, 100_000
N_BITS = 200_000  # rows, and rounds, of the model that is trained with several numbers of threads
THREADS, BIT_ROUNDS = (1, 2, 8), 20
TIME, PREDICTION, MEMORY = 1.3, 1.0, 3.0  # times the peer's, at most
N_DRAWS = 6  # of the data: on one alone, a bin more or less moves anybody's AUC by up to 0.003
WORSE = 0.001  # than the peer's AUC, at most
SHORT_MS = 30
Table = tuple[np.ndarray, np.ndarray]


def run(report: Report) -> None:
    """Print every figure; all learners are trained in turns, with one thread and with two."""
    n_train = report.at_most(N_TRAIN)
    X, y = speed_table(n_train + N_TEST)
    train, test = (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])
    for fit in (peers.ours, *peers.PEERS.values()):
        fit(X[:2000], y[:2000], 2, 2)  # loads kernels and libraries
    models = _train(report, train, test)
    _predict(report, models, test[0])
    del models
    _draws(report, n_train)
    _memory(report, train)
    _same_bits(report, train)
    _short(report, train)


def _train(report: Report, train: Table, test: Table) -> dict[str, Any]:
    """Time to train, and how well the models predict fresh rows; return them."""
    from sklearn.metrics import roc_auc_score

    fits = {"ours": peers.ours, **peers.PEERS}
    models: dict[str, Any] = {}

    def keep(name: str, n_jobs: int) -> None:
        models[name] = fits[name](*train, n_jobs)

    took = in_turns({(name, n_jobs): partial(keep, name, n_jobs) for name in fits for n_jobs in (1, 2)})
    fastest = {name: min(took[name, 1], took[name, 2]) for name in peers.PEERS}
    aucs = {
        name: roc_auc_score(test[1], model.predict_proba(test[0])[:, 1]) for name, model in models.items()
    }
    work = f"boosting, {len(train[0]):,} x 28, {peers.N_ROUNDS} rounds"
    for name, of_peer in fastest.items():
        quality = f"AUC {aucs['ours']:.4f}, peer {aucs[name]:.4f}"
        wanted = TIME * of_peer if of_peer == min(fastest.values()) else None
        report.line(f"{work}, {name}", took["ours", 2], "s", wanted, of_peer, quality)
    ours, theirs = (took[name, 2] / took[name, 1] for name in ("ours", "LightGBM"))
    report.line("boosting, time of 2 threads / of 1, LightGBM", ours, "", theirs, theirs)
    return models


def _draws(report: Report, n_train: int) -> None:
    """How much larger LightGBM's AUC is, on the mean of several draws of the data."""
    from sklearn.metrics import roc_auc_score

    aucs = []
    for seed in range(N_DRAWS):
        X, y = speed_table(n_train + N_TEST, seed)
        fitted = [fit(X[:n_train], y[:n_train], 2) for fit in (peers.PEERS["LightGBM"], peers.ours)]
        aucs.append([roc_auc_score(y[n_train:], one.predict_proba(X[n_train:])[:, 1]) for one in fitted])
    more = np.subtract(*np.transpose(aucs))
    words = f"largest {more.max():+.4f}, smallest {more.min():+.4f}"
    report.line(
        f"boosting: AUC of LightGBM less ours, {N_DRAWS} draws", more.mean(), "", WORSE, quality=words
    )


def _predict(report: Report, models: dict[str, Any], X: np.ndarray) -> None:
    """Time of class probabilities with two threads; XGBoost's by the faster of its two ways."""
    booster = models["XGBoost"].set_params(n_jobs=2).get_booster()
    works = {
        "ours": partial(models["ours"].set_params(n_jobs=2).predict_proba, X),
        "LightGBM": partial(models["LightGBM"].predict_proba, X, num_threads=2),
        "XGBoost": partial(models["XGBoost"].predict_proba, X),
        "XGBoost in place": partial(booster.inplace_predict, X),
    }
    for work in works.values():
        work()
    took = {name: 1000 * each for name, each in in_turns(works, 7).items()}
    best = min(took["XGBoost"], took["XGBoost in place"])
    name = f"predict_proba, {len(X):,} x 28, {peers.N_ROUNDS} rounds"
    report.line(f"{name}, LightGBM", took["ours"], "ms", peer=took["LightGBM"])
    report.line(f"{name}, XGBoost", took["ours"], "ms", PREDICTION * best, best)


def _memory(report: Report, train: Table) -> None:
    ours = peak(*train, peers.ours, 2)
    for name in ("LightGBM", "XGBoost"):
        of_peer = peak(*train, peers.PEERS[name], 2)
        wanted = MEMORY * of_peer if name == "LightGBM" else None
        report.line(f"boosting's memory above the data, {name}", ours, "MiB", wanted, of_peer)


def _same_bits(report: Report, train: Table) -> None:
    X, y = train[0][:N_BITS], train[1][:N_BITS]
    rounds = [peers.ours(X, y, n_jobs, BIT_ROUNDS).estimators_ for n_jobs in THREADS]
    n_unlike = sum(each != rounds[0] for each in rounds)
    words = f"{len(X):,} rows, {', '.join(map(str, THREADS))} threads"
    report.line("boosting: numbers of threads that change a bit", n_unlike, "", 0, quality=words)
    assert n_unlike == 0


def _short(report: Report, train: Table) -> None:
    import engine

    X, y = train[0][:150], train[1][:150]
    model = engine.GradientBoostingClassifier(n_estimators=10, min_samples_leaf=5, random_state=0)
    model.fit(X, y)
    took = median(seconds(lambda: model.fit(X, y)) for _ in range(15))
    report.line("boosting, 10 rounds on 150 rows", took * 1000, "ms", SHORT_MS)
