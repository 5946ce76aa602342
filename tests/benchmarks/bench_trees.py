"""How fast a single tree is looked into and pruned; beside scikit-learn where it has the same."""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np

from tests.benchmarks import peers
from tests.benchmarks.data import speed_table
from tests.benchmarks.memory import MIB, peak
from tests.benchmarks.report import Report
from tests.benchmarks.timing import N_RUNS, in_turns, seconds

N_TRAIN, N_TEST = 1_000_000, 100_000


def run(report: Report) -> None:
    """Exact trees beside scikit-learn's; candidates, prices of cuts, a pruning curve and many levels."""
    _exact(report)
    X, y = speed_table(100_000)
    _regression(report, X)
    _inside(report, X, y)
    _folds(report, X, y)
    _levels(report)


def _exact(report: Report) -> None:
    """Classification at a million rows: time, likeness and memory beside scikit-learn's."""
    import sklearn.tree

    from engine import DecisionTreeClassifier

    X, y = speed_table(N_TRAIN + N_TEST)
    train, test = (X[:N_TRAIN], y[:N_TRAIN]), (X[N_TRAIN:], y[N_TRAIN:])
    DecisionTreeClassifier(max_depth=2).fit(X[:100_000], y[:100_000])  # loads the kernels of all sizes
    for max_depth in (8, None):
        ours = DecisionTreeClassifier(max_depth=max_depth)
        peer = sklearn.tree.DecisionTreeClassifier(max_depth=max_depth, random_state=0)
        took = in_turns({0: partial(ours.fit, *train), 1: partial(peer.fit, *train)})
        alike = np.mean(ours.predict(train[0]) == peer.predict(train[0]))
        nodes = ours.tree_.n_nodes, peer.tree_.node_count
        accuracy = ours.score(*test), peer.score(*test)
        quality = (
            f"{alike:.4%} of predictions alike; {nodes[0]:,} nodes, peer {nodes[1]:,}; "
            f"test accuracy {accuracy[0]:.4f}, peer {accuracy[1]:.4f}"
        )
        depth = "no limit" if max_depth is None else f"depth {max_depth}"
        name = f"exact tree, {N_TRAIN:,} x 28, {depth}, scikit-learn"
        report.line(name, took[0], "s", 0.1 * took[1], took[1], quality)
        needed, wanted = peak(*train, peers.exact_tree, max_depth or 0), 3 * X[:N_TRAIN].size * 8 / MIB
        report.line(f"its memory above the data, {depth}", needed, "MiB", wanted)


def _regression(report: Report, X: np.ndarray) -> None:
    import sklearn.tree

    from engine import DecisionTreeRegressor

    y = (X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=len(X))).astype(float)
    DecisionTreeRegressor(max_depth=2).fit(X, y)  # loads the kernels of all sizes
    peer = sklearn.tree.DecisionTreeRegressor(random_state=0)
    ours = DecisionTreeRegressor()
    took = in_turns({0: partial(ours.fit, X, y), 1: partial(peer.fit, X, y)})
    quality = f"{ours.tree_.n_nodes:,} nodes, peer {peer.tree_.node_count:,}"
    report.line(
        "full regression tree, 100,000 x 28, scikit-learn", took[0], "s", 0.1 * took[1], took[1], quality
    )


def _inside(report: Report, X: np.ndarray, y: np.ndarray) -> None:
    from engine import DecisionTreeClassifier
    from engine.base import begin_fit
    from engine.tree.candidates import NodeRows, candidates
    from engine.tree.cost_complexity import cut_prices
    from engine.tree.growth_rules import make_rules
    from engine.tree.presort import presort

    model = DecisionTreeClassifier(max_leaf_nodes=5000)
    data = begin_fit(model, X, y, None, is_classifier=True)
    tree = model.fit(X, y).tree_
    presorted = presort(data.X, data.features, lambda *_: False)
    rules = make_rules(model, data, float(len(y)))
    rows = NodeRows(presorted, data.y, data.sample_weight, data.features, rules)
    candidates(tree, (0, 0, 0), rows)  # loads the kernels
    root = median(seconds(lambda: candidates(tree, (), rows)) for _ in range(N_RUNS))
    near = median(seconds(lambda: candidates(tree, (0,), rows)) for _ in range(N_RUNS))
    report.line("candidates of the root, 100,000 x 28", root * 1000, "ms", 150)
    report.line("candidates of its first child", near * 1000, "ms", 50)
    target, weight = y.astype(float), np.ones(len(y))
    cut_prices(tree, X[:100], target[:100], weight[:100], loss="misclassification")
    prices = median(
        seconds(lambda: cut_prices(tree, X, target, weight, loss="misclassification")) for _ in range(N_RUNS)
    )
    report.line(f"price of every cut, {tree.n_nodes:,} nodes, 100,000 rows", prices * 1000, "ms", 200)


def _folds(report: Report, X: np.ndarray, y: np.ndarray) -> None:
    from engine import DecisionTreeClassifier
    from engine.tree.cost_complexity import pruning_path
    from engine.tree.cross_validation import cross_validate_path

    model = DecisionTreeClassifier()
    fit = median(seconds(lambda: model.fit(X, y)) for _ in range(N_RUNS))
    path, folds = pruning_path(model.tree_), np.arange(len(y)) % 5
    small = DecisionTreeClassifier().fit(X[:500], y[:500])
    cross_validate_path(small, pruning_path(small.tree_), X[:500], y[:500], folds[:500])
    curve = median(seconds(lambda: cross_validate_path(model, path, X, y, folds)) for _ in range(N_RUNS))
    words = f"{curve:.2f} s for {len(path.alphas):,} steps, one fit {fit:.2f} s"
    report.line("five-fold pruning curve of a full tree, in fits", curve / fit, "x", 7, quality=words)


def _levels(report: Report) -> None:
    from engine import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10_000, 100_000).astype(float)[:, None]
    y = (rng.random(100_000) < 0.2 + 0.6 * (codes[:, 0] % 7 / 7)).astype(int)
    model = DecisionTreeClassifier(categorical_features=[0], max_depth=6)
    model.fit(codes[:1000], y[:1000])
    took = median(seconds(lambda: model.fit(codes, y)) for _ in range(N_RUNS))
    report.line("10,000 levels, 100,000 rows, two classes", took, "s", 1)
