"""Deep ensembles beside scikit-learn's networks, how soon they stop, and what they know of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.bench_stop import STOP_AFTER_S, WANTED_S, time_to_stop
from tests.benchmarks.data import speed_table
from tests.benchmarks.report import Report
from tests.benchmarks.tables import RealTable, number_tables
from tests.benchmarks.timing import in_turns

N_TRAIN, N_TEST, N_MEMBERS, N_EPOCHS, BATCH = 50_000, 50_000, 5, 20, 200
HIDDEN, RATE = (64, 64), 0.001
TIME, LOG_LOSS = 0.5, 0.002  # times the peer's, and above the peer's, at most
WANTED_TABLES, COVERAGE, NEAR = 6, 0.9, (0.85, 0.95)
N_FOLDS = 5


def run(report: Report) -> None:
    """Print the ratio of times and log losses, stops, and likelihoods and coverage on real tables."""
    _beside_scikit_learn(report)
    _stops(report)
    _real_tables(report)


def _beside_scikit_learn(report: Report) -> None:
    """Train as many networks of one shape, by the same batches, epochs and rate; BLAS has one thread."""
    from sklearn.metrics import log_loss
    from threadpoolctl import threadpool_limits

    import engine

    n_train = report.at_most(N_TRAIN)
    X, y = speed_table(n_train + N_TEST)
    X = ((X - X[:n_train].mean(axis=0)) / X[:n_train].std(axis=0)).astype(np.float32)
    train, test = (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])
    ours = engine.DeepEnsembleClassifier(
        n_estimators=N_MEMBERS, hidden_layer_sizes=HIDDEN, max_epochs=N_EPOCHS, batch_size=BATCH,
        learning_rate=RATE, random_state=0,
    )  # fmt: skip
    ours.fit(X[:1000], y[:1000])
    proba: dict[str, Any] = {}

    def train_ours() -> None:
        proba["ours"] = ours.fit(*train).predict_proba(test[0])

    def train_peers() -> None:
        members = [_scikit_learn_network(seed).fit(*train) for seed in range(N_MEMBERS)]
        proba["peer"] = np.mean([member.predict_proba(test[0]) for member in members], axis=0)

    with threadpool_limits(limits=1, user_api="blas"):
        took = in_turns({"ours": train_ours, "peer": train_peers})
    losses = {name: float(log_loss(test[1], of)) for name, of in proba.items()}
    name = f"deep ensemble, {n_train:,} x 28, 5 networks of 64-64"
    words = f"log loss {losses['ours']:.4f}, peer {losses['peer']:.4f}"
    report.line(f"{name}, scikit-learn", took["ours"], "s", TIME * took["peer"], took["peer"], words)
    report.line(f"{name}, log loss", losses["ours"], "", losses["peer"] + LOG_LOSS, losses["peer"])


def _scikit_learn_network(seed: int) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    class OfAllEpochs(MLPClassifier):
        """Ends after the epochs, without the warning that it might have gone on."""

        def fit(self, X, y):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return super().fit(X, y)

    return OfAllEpochs(
        hidden_layer_sizes=HIDDEN, max_iter=N_EPOCHS, batch_size=BATCH, learning_rate_init=RATE, alpha=0.0,
        tol=0.0, n_iter_no_change=N_EPOCHS, random_state=seed,
    )  # fmt: skip


def _stops(report: Report) -> None:
    import engine

    X, y = speed_table(report.at_most(1_000_000))
    for name, settings in (("64-64", {}), ("1024-1024", {"hidden_layer_sizes": (1024, 1024)})):
        answers = [
            time_to_stop(lambda: engine.DeepEnsembleClassifier(random_state=0, **settings), X, y, delay_s)  # noqa: B023
            for delay_s in STOP_AFTER_S
        ]
        known = [answer for answer in answers if answer is not None]
        shown = ", ".join(f"{answer * 1000:.0f}" for answer in known)
        what = f"stop, deep ensemble {name}, {len(X):,} x 28"
        report.line(what, max(known) * 1000, "ms", WANTED_S * 1000, quality=shown)


def _real_tables(report: Report) -> None:
    """Five networks against the first of them alone, and how many test rows 90 % intervals hold."""
    n_better = n_near = n_tables = 0
    for table in number_tables():
        ours, alone, coverage = _on_folds(table)
        n_tables += 1
        n_better += ours < alone
        n_near += NEAR[0] <= coverage <= NEAR[1]
        words = f"90 % intervals hold {coverage:.1%}"
        report.line(f"deep ensemble, {table.name}: -log p", ours, "", peer=alone, quality=words)
    for what, n_reached in (("likelier than one network", n_better), ("90 % intervals hold 85-95 %", n_near)):
        missed, allowed = float(n_tables - n_reached), n_tables - WANTED_TABLES
        report.line(f"deep ensemble, real tables not {what}", missed, "", allowed)


def _on_folds(table: RealTable) -> tuple[float, float, float]:
    """Return the mean negative log-likelihood of test rows by five networks and by one, and the coverage."""
    from sklearn.model_selection import KFold, train_test_split

    import engine
    from engine.uncertainty import mixture_log_density

    found = []
    for seed, (train, test) in enumerate(KFold(N_FOLDS, shuffle=True, random_state=0).split(table.X)):
        kept, aside = train_test_split(train, test_size=0.2, random_state=seed)
        y, X_test, y_test = table.y, table.X.iloc[test], table.y[test]
        likelihoods = []
        for n_members in (N_MEMBERS, 1):
            model = engine.DeepEnsembleRegressor(
                n_estimators=n_members, max_epochs=300, early_stopping=True, calibrate=True, random_state=seed
            )  # fmt: skip
            model.fit(table.X.iloc[kept], y[kept], X_val=table.X.iloc[aside], y_val=y[aside])
            means, variances = model.predict_members(X_test)
            likelihoods.append(-float(mixture_log_density(y_test, means, variances).mean()))
            if n_members > 1:
                lower, upper = model.predict_interval(X_test, COVERAGE).T
                covered = float(np.mean((lower <= y_test) & (y_test <= upper)))
        found.append((*likelihoods, covered))
    ours, alone, coverage = np.mean(found, axis=0)
    return float(ours), float(alone), float(coverage)
