"""Split search over one node's histogram: thresholds, missing values on either side, level sets."""

from typing import NamedTuple

from engine.jit import kernel

# the kinds of engine.tree.structure; kernels import no further than engine.kernels
THRESHOLD, IS_MISSING, LEVEL_SET = 1, 2, 3
TIE_SHARE = 1e-10  # gains that differ by this share are ties
ROUNDING = 1e-14  # share of the parent's score that rounding may turn into gain
GAIN, FEATURE, BIN, KIND, N_MISSING, NOISE, N_BEST = range(7)  # places in `best`, and how many
FREE, RISES, FALLS = range(3)  # as in engine.tree.kernels.layout


class SplitRules(NamedTuple):
    """What a split has to keep to; gradients are in the histogram's unit.

    Attributes
    ----------
    hessian_unit : float
        Hessians per unit of the histogram.
    reg_lambda, reg_alpha : float
        Added to the hessians; taken off the size of a sum of gradients.
    min_child_weight : float
        Sum of hessians on either side at least.
    min_samples_leaf : int
    least_gain : float
        What a gain must exceed.
    lower, upper : float
        Between what both sides' values must lie, on columns with a direction.
    """

    hessian_unit: float
    reg_lambda: float
    reg_alpha: float
    min_child_weight: float
    min_samples_leaf: int
    least_gain: float
    lower: float
    upper: float


@kernel
def shrunken(sum_gradients, reg_alpha):
    """Return a sum of gradients, nearer to 0 by alpha (Chen, Guestrin 2016, as in XGBoost)."""
    if sum_gradients > reg_alpha:
        return sum_gradients - reg_alpha
    return sum_gradients + reg_alpha if sum_gradients < -reg_alpha else 0.0


@kernel
def score(sum_gradients, sum_hessians, reg_lambda, reg_alpha):
    """Return G^2 / (H + lambda), twice the loss that a leaf's best value takes away; 0 without curvature."""
    denominator = sum_hessians + reg_lambda
    shrunk = shrunken(sum_gradients, reg_alpha)
    return shrunk * shrunk / denominator if denominator > 0.0 else 0.0


@kernel
def leaf_value(sum_gradients, sum_hessians, reg_lambda, reg_alpha):
    """Return -G / (H + lambda); 0 without curvature."""
    denominator = sum_hessians + reg_lambda
    return -shrunken(sum_gradients, reg_alpha) / denominator if denominator > 0.0 else 0.0


@kernel
def gain_of(gl, hl, gr, hr, parent, direction, rules):
    """Return the gain of two sides; -1 where they are too light or break the column's direction."""
    if hl < rules.min_child_weight or hr < rules.min_child_weight:
        return -1.0
    if direction != FREE:
        low = leaf_value(gl, hl, rules.reg_lambda, rules.reg_alpha)
        high = leaf_value(gr, hr, rules.reg_lambda, rules.reg_alpha)
        if direction == FALLS:
            low, high = high, low
        if low > high or low < rules.lower or high > rules.upper:
            return -1.0
    left = score(gl, hl, rules.reg_lambda, rules.reg_alpha)
    return left + score(gr, hr, rules.reg_lambda, rules.reg_alpha) - parent


@kernel
def varies(histogram, at, n_bins):
    """Tell whether a column has rows in two bins or more, missing being one."""
    n_filled = 0
    for cell in range(at, at + n_bins + 1):
        n_filled += histogram[cell, histogram.shape[1] - 1] > 0
        if n_filled == 2:
            return True
    return False


@kernel
def curvature(sum_hessians, count, n_channels, hessian_unit):
    """Return the sum of hessians (or weights) of some rows; their count where rows weigh 1."""
    return float(count) if n_channels == 1 else float(sum_hessians) * hessian_unit


@kernel
def sort_by_key(keys, items, n):
    """Sort the first `n` items by ascending key, then item (Shell 1959, gaps of Knuth)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, item, j = keys[i], items[i], i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and items[j - gap] > item)):
                keys[j], items[j] = keys[j - gap], items[j - gap]
                j -= gap
            keys[j], items[j] = key, item
        gap //= 3


@kernel
def mark_threshold(bin_idx, n_bins, missing_goes_left, goes_left):
    """Mark codes up to `bin_idx`; missing as told. Return the kind of the split."""
    if bin_idx == n_bins - 1:  # all values against missing: shown as "is missing", yes first
        goes_left[:n_bins] = 0
        goes_left[n_bins] = 1
        return IS_MISSING
    goes_left[: bin_idx + 1] = 1
    goes_left[bin_idx + 1 : n_bins] = 0
    goes_left[n_bins] = missing_goes_left
    return THRESHOLD


@kernel
def mark_levels(items, n_items, n_first, n_bins, goes_left):
    """Mark the side that holds fewer levels, on a tie the lowest one. Return the kind of the split.

    items  int64 (n_items,)  in  codes in split order, the missing code among them; the first
                                 `n_first` of them are one side
    """
    n_levels_first, n_levels_last, lowest, first_has_lowest = 0, 0, n_bins, False
    for i in range(n_items):
        if items[i] == n_bins:
            continue
        if i < n_first:
            n_levels_first += 1
        else:
            n_levels_last += 1
        if items[i] < lowest:
            lowest, first_has_lowest = items[i], i < n_first
    if n_levels_first == 0 or n_levels_last == 0:
        return mark_threshold(n_bins - 1, n_bins, 0, goes_left)
    first_is_yes = n_levels_first < n_levels_last or (n_levels_first == n_levels_last and first_has_lowest)
    goes_left[: n_bins + 1] = 0
    for i in range(n_items):
        if (i < n_first) == first_is_yes:
            goes_left[items[i]] = 1
    return LEVEL_SET


@kernel
def search_levels(histogram, at, n_bins, total, parent, noise, rules, keys, items, best_gain):
    """Order the node's levels by mean gradient and scan; return (gain, how many come first, n_items).

    Exact for squared error and for any gradients without regularisation (Fisher 1958; Breiman et
    al. 1984, section 4.2.2). Missing is one more level.
    """
    last = histogram.shape[1] - 1
    n_items = 0
    for code in range(n_bins + 1):
        cell = at + code
        if histogram[cell, last] > 0:
            h = curvature(histogram[cell, 1], histogram[cell, last], last, rules.hessian_unit)
            h += rules.reg_lambda
            keys[n_items] = float(histogram[cell, 0]) / h if h > 0.0 else 0.0
            items[n_items] = code
            n_items += 1
    sort_by_key(keys, items, n_items)
    gain, n_first = best_gain, 0
    g, h, count = 0, 0, 0
    for i in range(n_items - 1):
        cell = at + items[i]
        g += histogram[cell, 0]
        h += histogram[cell, 1]
        count += histogram[cell, last]
        if count < rules.min_samples_leaf or total[2] - count < rules.min_samples_leaf:
            continue
        left = curvature(h, count, last, rules.hessian_unit)
        rest = curvature(total[1] - h, total[2] - count, last, rules.hessian_unit)
        new = gain_of(float(g), left, float(total[0] - g), rest, parent, FREE, rules)
        if new > gain * (1.0 + TIE_SHARE) + noise:
            gain, n_first = new, i + 1
    return gain, n_first, n_items


@kernel
def search_thresholds(histogram, at, n_bins, total, parent, noise, direction, rules, best_gain):
    """Scan all thresholds, missing right before missing left, then all values against missing.

    Returns (gain, bin, whether missing goes left); bin is -1 where nothing beats `best_gain`.
    """
    last = histogram.shape[1] - 1
    missing = at + n_bins
    n_missing = histogram[missing, last]
    gain, bin_idx, missing_goes_left = best_gain, -1, 0
    g, h, count = 0, 0, 0
    for b in range(n_bins):
        g += histogram[at + b, 0]
        h += histogram[at + b, 1]
        count += histogram[at + b, last]
        if count == 0 or histogram[at + b, last] == 0:
            continue  # an empty bin: the same rows as one threshold lower
        for side in range(2 if n_missing > 0 and b < n_bins - 1 else 1):
            n_left = count + side * n_missing
            if n_left < rules.min_samples_leaf or total[2] - n_left < rules.min_samples_leaf:
                continue
            gl = g + side * histogram[missing, 0]
            hl = h + side * histogram[missing, 1]
            left = curvature(hl, n_left, last, rules.hessian_unit)
            rest = curvature(total[1] - hl, total[2] - n_left, last, rules.hessian_unit)
            # "is missing" is no question about the order of values
            kept = direction if count < total[2] - n_missing else FREE
            new = gain_of(float(gl), left, float(total[0] - gl), rest, parent, kept, rules)
            if new > gain * (1.0 + TIE_SHARE) + noise:
                gain, bin_idx, missing_goes_left = new, b, side
        if count == total[2] - n_missing:
            if bin_idx == b:  # no value is right of it: all values against missing
                bin_idx = n_bins - 1
            break
    return gain, bin_idx, missing_goes_left


@kernel
def find_best_split(
    histogram, offsets, n_bins, is_categorical, features, n_wanted, directions, rules, keys, items,
    goes_left, best,
):  # fmt: skip
    """Find a node's best split; on a tie the first column's, then the lowest threshold.

    histogram     int64 (n_cells, n_channels + 1)  in   see `histogram.add_to_histogram`
    features      int64 (n_allowed,)               in   columns in the order in which they are looked at
    n_wanted      int                              in   so many are, and on while all were constant here
    directions    uint8 (n_features,)              in   FREE, RISES or FALLS
    rules         SplitRules                       in
    keys, items   float64, int64 (n_codes,)        scratch of the widest column
    goes_left     uint8 (n_codes,)                 out  1 for codes of the chosen column that go left
    best          float64 (6,)                     out  gain (in the histogram's unit of gradients,
                                                        squared), column, bin, kind (0 if there is no
                                                        split), missing rows, and by how much another
                                                        gain has to exceed this one to be better
    """
    last = histogram.shape[1] - 1
    g, h, count = 0, 0, 0
    first = features[0]
    for cell in range(offsets[first], offsets[first] + n_bins[first] + 1):  # every column holds all rows
        g += histogram[cell, 0]
        h += histogram[cell, 1]
        count += histogram[cell, last]
    total = (g, h, count)
    whole = curvature(h, count, last, rules.hessian_unit)
    parent = score(float(g), whole, rules.reg_lambda, rules.reg_alpha)
    # what rounding of numbers, and of each row's gradient to half a unit, may turn into gain
    noise = ROUNDING * parent + (float(count) * float(count) / whole if whole > 0.0 else 0.0)
    best[:] = 0.0
    best[GAIN], best[NOISE] = rules.least_gain, noise
    n_varying = 0
    for i in range(features.size):
        if i >= n_wanted and n_varying > 0:
            break
        feature_idx = features[i]
        at, n = offsets[feature_idx], n_bins[feature_idx]
        if n_wanted < features.size:
            n_varying += varies(histogram, at, n)
        kind, bin_idx = 0, -1
        if is_categorical[feature_idx]:
            gain, n_first, n_items = search_levels(
                histogram, at, n, total, parent, noise, rules, keys, items, best[GAIN]
            )
            if n_first > 0:
                kind = mark_levels(items, n_items, n_first, n, goes_left)
        else:
            gain, bin_idx, side = search_thresholds(
                histogram, at, n, total, parent, noise, directions[feature_idx], rules, best[GAIN]
            )
            if bin_idx >= 0:
                kind = mark_threshold(bin_idx, n, side, goes_left)
        if kind > 0:
            best[GAIN], best[FEATURE], best[BIN], best[KIND] = gain, feature_idx, bin_idx, kind
            best[N_MISSING] = histogram[at + n, last]
