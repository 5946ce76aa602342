"""The kernel of ordered target statistics; see `engine.boosting.ordered`."""

from engine.jit import kernel


@kernel
def tell_in_order(order, start, stop, codes, y, weights, prior, prior_weight, sums, sum_weights, statistics):
    """Tell each row what the rows of its level before it had as target, then add its own.

    order        int64 (n_samples,)      in          rows, in the order of a permutation
    codes        int64 (n_samples,)      in          level of every row
    y            float64 (n_samples,)    in
    weights      float64 (n_samples,)    in
    sums         float64 (n_levels,)     in and out  weighted targets so far
    sum_weights  float64 (n_levels,)     in and out
    statistics   float64 (n_samples,)    out         of the rows at places `start` to `stop`
    """
    for i in range(start, stop):
        row = order[i]
        level = codes[row]
        told = sums[level] + prior_weight * prior
        statistics[row] = told / (sum_weights[level] + prior_weight)
        sums[level] += weights[row] * y[row]
        sum_weights[level] += weights[row]
