"""Weakest-link pruning, and what every cut of a tree costs on given rows (Breiman et al. 1984, 3.3-3.4)."""

import numpy as np

from engine.jit import kernel
from engine.kernels.routing import LEAF, child_of
from engine.tree.kernels.layout import ABSOLUTE_ERROR, MISCLASSIFICATION, POISSON, TIE_SHARE


@kernel
def link_strength(node, risk, branch_risk, branch_leaves):
    """Return what a leaf of the branch at `node` saves on average: Breiman's g(t)."""
    return max(risk[node] - branch_risk[node], 0.0) / max(branch_leaves[node] - 1, 1)


@kernel
def sift_down(strength, heap, place, size, at):
    """Move the node at position `at` of the heap to where it belongs; the weakest comes first."""
    node = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and strength[heap[child + 1]] < strength[heap[child]]:
            child += 1
        if strength[heap[child]] >= strength[node]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = node
    place[node] = at


@kernel
def sift_up(strength, heap, place, at):
    """Move the node at position `at` towards the top of the heap."""
    node = heap[at]
    while at > 0 and strength[heap[(at - 1) // 2]] > strength[node]:
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = node
    place[node] = at


@kernel
def sum_branches(first_child, n_children, risk, branch_risk, branch_leaves):
    """Sum the leaves below every node; children have higher numbers than their parents."""
    for node in range(risk.size - 1, -1, -1):
        is_leaf = n_children[node] == 0
        branch_risk[node], branch_leaves[node] = risk[node] if is_leaf else 0.0, 1 if is_leaf else 0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            branch_risk[node] += branch_risk[child]
            branch_leaves[node] += branch_leaves[child]


@kernel
def is_gone(node, parent, leaf_from):
    """Tell whether a node lies below one that was cut."""
    at = parent[node]
    while at >= 0 and leaf_from[at] == np.inf:
        at = parent[at]
    return at >= 0


@kernel
def cut_weakest_links(
    first_child, n_children, parent, risk, branch_risk, branch_leaves, strength, heap, place, leaf_from
):
    """Write the alpha from which on every node is a leaf or gone; 0 at leaves.

    Nodes whose strengths are equal but for rounding are cut at the same alpha.

    first_child, n_children, parent  int32 (n_nodes,)    in       a tree, parents before children
    risk                             float64 (n_nodes,)  in       share of the weight x impurity
    branch_risk, strength            float64 (n_nodes,)  scratch
    branch_leaves, heap, place       int64 (n_nodes,)    scratch
    leaf_from                        float64 (n_nodes,)  out      a parent's is at least its children's
    """
    sum_branches(first_child, n_children, risk, branch_risk, branch_leaves)
    size = 0
    for node in range(risk.size):
        leaf_from[node] = 0.0
        if n_children[node] > 0:
            leaf_from[node] = np.inf
            strength[node] = link_strength(node, risk, branch_risk, branch_leaves)
            heap[size], place[node] = node, size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sift_down(strength, heap, place, size, at)
    alpha, slack = 0.0, TIE_SHARE * risk[0]
    while size > 0:
        node = heap[0]
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            sift_down(strength, heap, place, size, 0)
        if is_gone(node, parent, leaf_from):
            continue
        if strength[node] > alpha + slack:
            alpha = strength[node]
        leaf_from[node] = alpha
        at, saved = parent[node], branch_leaves[node] - 1
        added = risk[node] - branch_risk[node]
        branch_risk[node], branch_leaves[node] = risk[node], 1
        while at >= 0:
            branch_risk[at] += added
            branch_leaves[at] -= saved
            strength[at] = link_strength(at, risk, branch_risk, branch_leaves)
            sift_up(strength, heap, place, place[at])
            sift_down(strength, heap, place, size, place[at])
            at = parent[at]
    for node in range(1, risk.size):
        leaf_from[node] = min(leaf_from[node], leaf_from[parent[node]])


@kernel
def row_loss(answer, y, loss):
    """Return 1 for a wrong class, or the absolute error, the Poisson deviance or the squared error."""
    if loss == MISCLASSIFICATION:
        return 1.0 if answer != y else 0.0
    if loss == ABSOLUTE_ERROR:
        return abs(answer - y)
    if loss == POISSON:
        return 2.0 * ((y * np.log(y / answer) if y > 0.0 else 0.0) - y + answer)
    return (answer - y) * (answer - y)


@kernel
def add_path_losses(
    X, y, w, start, stop, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, answer, loss, first_step, step_stop, losses,
):  # fmt: skip
    """Add every row's losses to the steps at which it ends in one and the same node.

    X                      float32 or float64 (n_samples, n_features)  in   encoded table
    y, w                   float64 (n_samples,)            in   target or class index, weight
    answer                 float64 (n_nodes,)              in   class index, mean or median
    loss                   int64                           in   see `row_loss`
    first_step, step_stop  int64 (n_nodes,)                in   steps at which a node is a leaf
    losses                 float64 (2, n_steps + 1)        i/o  changes from step to step of weighted sums: of
                                                                the losses and of their squares
    """
    for row in range(start, stop):
        node = 0
        while True:
            if first_step[node] < step_stop[node]:
                lost = row_loss(answer[node], y[row], loss)
                losses[0, first_step[node]] += w[row] * lost
                losses[0, step_stop[node]] -= w[row] * lost
                losses[1, first_step[node]] += w[row] * lost * lost
                losses[1, step_stop[node]] -= w[row] * lost * lost
            if kind[node] == LEAF or first_step[node] == 0:
                break
            x = np.float64(X[row, feature[node]])
            child = child_of(x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child)
            node = first_child[node] + child


@kernel
def add_cut_prices(
    X, y, w, start, stop, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, answer, loss, way, prices,
):  # fmt: skip
    """Add to every node what its rows' losses would rise by if it were a leaf.

    way     int32 (n_nodes,)    scratch  nodes that the row passes
    prices  float64 (n_nodes,)  i/o      others as in `add_path_losses`
    """
    for row in range(start, stop):
        node, n_passed = 0, 0
        while kind[node] != LEAF:
            way[n_passed] = node
            n_passed += 1
            x = np.float64(X[row, feature[node]])
            child = child_of(x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child)
            node = first_child[node] + child
        lost = row_loss(answer[node], y[row], loss)
        for i in range(n_passed):
            prices[way[i]] += w[row] * (row_loss(answer[way[i]], y[row], loss) - lost)
