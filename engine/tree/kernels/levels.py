"""The best partition of a categorical column's levels at one node; missing is one more level.

Two classes and squared error: in the order of the levels' means some cut is optimal (Fisher 1958;
Breiman et al. 1984, theorem 4.5). More classes: all partitions of up to ten levels, beyond that the
order by the first principal component of the class fractions (Coppersmith, Hong, Hosking 1999).
"""

import numpy as np

from engine.jit import counting_kernel, kernel
from engine.kernels.routing import IS_MISSING
from engine.tree.kernels.impurity import add_row, clear, split_score
from engine.tree.kernels.layout import (
    BEST_ENTRIES,
    LEFT,
    MAX_EXHAUSTIVE_LEVELS,
    MISSING_RANK,
    ROW_MASK,
    SQUARED_ERROR,
    TOTAL,
)
from engine.tree.kernels.thresholds import is_allowed, is_better, keep

LEVEL_SET = 3
N_POWER_ITERATIONS = 100
KEY_ROUNDING = 1e-11  # keys closer than this share of their range are equal: their sums were rounded


@kernel
def add_sums(sums, total):
    """Add `sums` to `total`."""
    for k in range(sums.size):
        total[k] += sums[k]


@kernel
def collect_levels(sample, rules, feature, nodes, node, scratch):
    """Sum the rows of each level that the node holds, by code; returns how many, missing (last) included."""
    order, mean, n_levels = sample.order[feature], nodes.value[node, 0], 0
    for i in range(nodes.records.start[node], nodes.records.stop[node]):
        code, row = order[i] >> 32, order[i] & ROW_MASK
        if n_levels == 0 or scratch.levels.code[n_levels - 1] != code:
            scratch.levels.code[n_levels] = code
            scratch.levels.weight[n_levels] = 0.0
            scratch.levels.count[n_levels] = 0
            clear(scratch.level_sums[n_levels])
            n_levels += 1
        at = n_levels - 1
        y, w = sample.target[row, 0], sample.target[row, 1]
        scratch.levels.weight[at] += w
        scratch.levels.count[at] += 1
        add_row(rules.criterion, scratch.level_sums[at], y, w, mean)
    return n_levels


@kernel
def sort_levels(key, rank, spare, n_levels):
    """Write into `rank` the levels by ascending key, equal keys by code: a bottom-up merge sort."""
    for i in range(n_levels):
        rank[i] = i
    width = 1
    while width < n_levels:
        for start in range(0, n_levels, 2 * width):
            middle, stop = min(start + width, n_levels), min(start + 2 * width, n_levels)
            i, j = start, middle
            for at in range(start, stop):
                if i < middle and (j >= stop or key[rank[i]] <= key[rank[j]]):
                    spare[at] = rank[i]
                    i += 1
                else:
                    spare[at] = rank[j]
                    j += 1
        for i in range(n_levels):
            rank[i] = spare[i]
        width *= 2


@kernel
def even_out(key, rank, n_levels):
    """Make keys equal that differ by rounding alone; returns whether any did."""
    slack = KEY_ROUNDING * (key[rank[n_levels - 1]] - key[rank[0]])
    first, has_changed = key[rank[0]], False
    for i in range(1, n_levels):
        level = rank[i]
        if key[level] - first > slack:
            first = key[level]
        elif key[level] != first:
            key[level] = first
            has_changed = True
    return has_changed


@counting_kernel
def turn_to_first_component(matrix, direction):
    """Turn `direction` towards the eigenvector of the largest eigenvalue: power iteration."""
    for _ in range(N_POWER_ITERATIONS):
        turned = np.zeros(direction.size)
        size = 0.0
        for a in range(direction.size):
            for b in range(direction.size):
                turned[a] += matrix[a, b] * direction[b]
            size += turned[a] * turned[a]
        if size == 0.0:
            break
        for k in range(direction.size):
            direction[k] = turned[k] / np.sqrt(size)


@counting_kernel
def principal_keys(sums, weights, key, n_levels):
    """Write each level's score on the first principal component of the class fractions."""
    n_classes = sums.shape[1]
    centre, direction = np.zeros(n_classes), np.zeros(n_classes)
    covariance = np.zeros((n_classes, n_classes))
    total = 0.0
    for level in range(n_levels):
        total += weights[level]
        for k in range(n_classes):
            centre[k] += sums[level, k]
    for k in range(n_classes):
        centre[k] /= total
    for level in range(n_levels):
        for a in range(n_classes):
            from_centre = sums[level, a] / weights[level] - centre[a]
            for b in range(n_classes):
                covariance[a, b] += from_centre * (sums[level, b] - weights[level] * centre[b])
    widest = 0
    for k in range(n_classes):
        if covariance[k, k] > covariance[widest, widest]:
            widest = k
    for k in range(n_classes):
        direction[k] = covariance[widest, k]  # not orthogonal to the first component
    turn_to_first_component(covariance, direction)
    for level in range(n_levels):
        key[level] = 0.0
        for k in range(n_classes):
            key[level] += direction[k] * sums[level, k] / weights[level]


@kernel
def keep_partition(best, scratch, feature, n_levels, gain):
    """Write down the partition in `level_spare` (1: chosen side) as the best so far.

    Child 0 ("yes") is the side with fewer levels, on a tie the one with the lowest code, so equal
    splits look alike. A side that holds missing alone becomes the split "is missing".
    """
    chosen = scratch.levels.spare
    has_missing = scratch.levels.code[n_levels - 1] == MISSING_RANK
    n_known = n_levels - 1 if has_missing else n_levels
    n_chosen = 0
    for level in range(n_known):
        n_chosen += chosen[level]
    if has_missing and n_chosen in (0, n_known):
        keep(best, gain, feature, IS_MISSING, 0)
        return
    is_yes = n_chosen < n_known - n_chosen or (n_chosen == n_known - n_chosen and chosen[0] == 1)
    missing_child = -1
    if has_missing:
        missing_child = 0 if (chosen[n_levels - 1] == 1) == is_yes else 1
    keep(best, gain, feature, LEVEL_SET, missing_child)
    best.ints[BEST_ENTRIES] = n_known
    for level in range(n_known):
        best.sets[level, 0] = scratch.levels.code[level]
        best.sets[level, 1] = 0 if (chosen[level] == 1) == is_yes else 1


@kernel
def keep_cut(best, scratch, feature, n_levels, best_cut):
    """Write down which levels come up to a cut of `level_rank`, the best so far; nothing if it is -1.

    Once a column: where every cut beats the one before, as with levels of one class each, writing at every
    cut would take the square of the levels' number.
    """
    if best_cut < 0:
        return
    for i in range(n_levels):
        scratch.levels.spare[scratch.levels.rank[i]] = 1 if i <= best_cut else 0
    keep_partition(best, scratch, feature, n_levels, best.gain[0])


@kernel
def scan_ordered(rules, feature, n_rows, nodes, node, node_purity, n_levels, best, scratch):
    """Try every cut in the order of `level_rank`."""
    left, weight = scratch.sums[LEFT], nodes.records.weight[node]
    clear(left)
    left_weight, n_left, best_cut = 0.0, 0, -1
    for cut in range(n_levels - 1):
        level = scratch.levels.rank[cut]
        add_sums(scratch.level_sums[level], left)
        left_weight += scratch.levels.weight[level]
        n_left += scratch.levels.count[level]
        if not is_allowed(rules, n_left, left_weight, n_rows, weight):
            continue
        gain = (
            split_score(rules.criterion, left, left_weight, scratch.sums[TOTAL], weight) - node_purity
        ) / weight
        if is_better(best, gain, nodes.records.impurity[node]):
            best_cut = cut
            keep(best, gain, feature, LEVEL_SET, -1)
    keep_cut(best, scratch, feature, n_levels, best_cut)


@kernel
def scan_all_partitions(rules, feature, n_rows, nodes, node, node_purity, n_levels, best, scratch):
    """Try every partition; the first level is never chosen, so each is seen once."""
    left, weight = scratch.sums[LEFT], nodes.records.weight[node]
    for code in range(1, 2 ** (n_levels - 1)):
        clear(left)
        left_weight, n_left = 0.0, 0
        for level in range(1, n_levels):
            if (code >> (level - 1)) & 1:
                add_sums(scratch.level_sums[level], left)
                left_weight += scratch.levels.weight[level]
                n_left += scratch.levels.count[level]
        if not is_allowed(rules, n_left, left_weight, n_rows, weight):
            continue
        score = split_score(rules.criterion, left, left_weight, scratch.sums[TOTAL], weight)
        gain = (score - node_purity) / weight
        if is_better(best, gain, nodes.records.impurity[node]):
            scratch.levels.spare[0] = 0
            for level in range(1, n_levels):
                scratch.levels.spare[level] = (code >> (level - 1)) & 1
            keep_partition(best, scratch, feature, n_levels, gain)


@kernel
def scan_levels(sample, rules, feature, nodes, node, node_purity, best, scratch):
    """Try the partitions of a categorical column; returns False when it has one level here."""
    n_levels, n_rows = (
        collect_levels(sample, rules, feature, nodes, node, scratch),
        nodes.records.n_rows[node],
    )
    if n_levels < 2:
        return False
    many_classes = rules.criterion != SQUARED_ERROR and rules.n_sums > 2
    if many_classes and n_levels <= MAX_EXHAUSTIVE_LEVELS:
        scan_all_partitions(rules, feature, n_rows, nodes, node, node_purity, n_levels, best, scratch)
        return True
    if many_classes:
        principal_keys(scratch.level_sums, scratch.levels.weight, scratch.levels.key, n_levels)
    else:
        last = rules.n_sums - 1  # the second class, or the one sum
        for level in range(n_levels):
            scratch.levels.key[level] = scratch.level_sums[level, last] / scratch.levels.weight[level]
    key, rank = scratch.levels.key, scratch.levels.rank
    sort_levels(key, rank, scratch.levels.spare, n_levels)
    if even_out(key, rank, n_levels):  # equal levels by code, however their sums came about
        sort_levels(key, rank, scratch.levels.spare, n_levels)
    scan_ordered(rules, feature, n_rows, nodes, node, node_purity, n_levels, best, scratch)
    return True
