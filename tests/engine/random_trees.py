"""Random trees of every node kind, and prediction written the slow and plain way."""

import math

import numpy as np

from engine.tree.structure import (
    IS_MISSING,
    LEAF,
    LEVEL_SET,
    MULTIWAY,
    NO_CHILD,
    THRESHOLD,
    Tree,
    compact,
)


def random_tree(rng, n_leaves=31, n_features=4, n_outputs=1, categorical=(), n_levels=5, is_binary=False):
    """A tree of about `n_leaves` leaves; thresholds are halves between 0 and 10."""
    kind, feature, threshold, levels = [LEAF], [-1], [math.nan], [[]]
    first, n_children, missing, unseen = [NO_CHILD], [0], [NO_CHILD], [NO_CHILD]
    while kind.count(LEAF) < n_leaves:
        node = int(rng.choice([i for i, k in enumerate(kind) if k == LEAF]))
        column = int(rng.integers(n_features))
        feature[node], first[node], n_children[node] = column, len(kind), 2
        kind[node] = IS_MISSING if rng.random() < 0.1 else THRESHOLD
        if kind[node] == THRESHOLD:
            threshold[node] = rng.integers(0, 20) / 2
        if column in categorical and kind[node] == THRESHOLD:
            kind[node] = LEVEL_SET if is_binary or rng.random() < 0.7 else MULTIWAY
            threshold[node] = math.nan
            seen = np.sort(rng.choice(n_levels, int(rng.integers(2, n_levels + 1)), replace=False))
            if kind[node] == LEVEL_SET:
                levels[node] = [(int(code), int(rng.integers(2))) for code in seen]
            else:
                levels[node] = [(int(code), child) for child, code in enumerate(seen)]
                n_children[node] = len(seen)
        missing[node] = 0 if kind[node] == IS_MISSING else int(rng.integers(n_children[node]))
        unseen[node] = int(rng.integers(n_children[node]))
        for _ in range(n_children[node]):
            for column_of, value in (
                (kind, LEAF), (feature, -1), (threshold, math.nan), (levels, []), (first, NO_CHILD),
                (n_children, 0), (missing, NO_CHILD), (unseen, NO_CHILD),
            ):  # fmt: skip
                column_of.append(value)
    n = len(kind)
    value = rng.random((n, n_outputs)) if n_outputs == 1 else rng.dirichlet(np.ones(n_outputs), n)
    tree = compact(
        {
            "kind": kind, "feature": feature, "threshold": threshold, "first_child": first,
            "n_children": n_children, "missing_child": missing, "unseen_child": unseen, "value": value,
            "level_offsets": np.concatenate([[0], np.cumsum([len(entry) for entry in levels])]),
            "level_sets": np.array([pair for entry in levels for pair in entry], int).reshape(-1, 2),
            "impurity": rng.random(n), "gain": rng.random(n), "n_node_samples": rng.integers(1, 99, n),
            "weighted_n_node_samples": 1 + rng.random(n), "n_missing": rng.integers(0, 2, n),
        }
    )  # fmt: skip
    tree.validate()
    return tree


def naive_leaf(tree: Tree, row) -> int:
    """The leaf that one encoded row reaches, by the words of contracts D7."""
    node = 0
    while tree.kind[node] != LEAF:
        x = row[tree.feature[node]]
        if tree.kind[node] == IS_MISSING:
            child = 0 if math.isnan(x) else 1
        elif math.isnan(x):
            child = tree.missing_child[node]
        elif tree.kind[node] == THRESHOLD:
            child = 0 if x <= tree.threshold[node] else 1
        else:
            child = dict(tree.levels(node).tolist()).get(int(x), tree.unseen_child[node])
        node = int(tree.first_child[node] + child)
    return node


def naive_sum(trees, rows):
    """Sum of leaf values: (n_rows, n_outputs)."""
    return np.array([sum(tree.value[naive_leaf(tree, row)] for tree in trees) for row in rows])
