"""Weighted medians of many rows: what AdaBoost.R2's learners say together."""

from engine.jit import kernel


@kernel
def median_of(values, weights):
    """Return the smallest value that half of the weight does not exceed; both arrays are rearranged.

    values   float64 (n,)  i/o  at least one
    weights  float64 (n,)  i/o  positive
    """
    half, below, low, high = 0.0, 0.0, 0, values.size - 1
    for i in range(weights.size):
        half += weights[i]
    half /= 2
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:  # Hoare 1961: [low, j] are at most the pivot, [i, high] at least, between them equal
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                weights[i], weights[j] = weights[j], weights[i]
                i, j = i + 1, j - 1
        reached = below
        for k in range(low, j + 1):
            reached += weights[k]
        if reached >= half:
            high = j
            continue
        for k in range(j + 1, i):
            reached += weights[k]
        if reached >= half:
            return pivot
        below, low = reached, i
    return values[low]


@kernel
def write_medians(codes, offsets, values, weights, start, stop, some_values, some_weights, medians):
    """Write the weighted median of the learners' answers for rows `start` to `stop`.

    codes         int32 (n_learners, n_rows)  in   answer of each learner, counted from its own first
    offsets       int64 (n_learners,)         in   where a learner's answers begin in `values`
    values        float64 (n_values,)         in
    weights       float64 (n_learners,)       in   of the learners, positive
    some_values   float64 (n_learners,)       scratch
    some_weights  float64 (n_learners,)       scratch
    medians       float64 (n_rows,)           out
    """
    for row in range(start, stop):
        for k in range(weights.size):
            some_values[k] = values[offsets[k] + codes[k, row]]
            some_weights[k] = weights[k]
        medians[row] = median_of(some_values, some_weights)
