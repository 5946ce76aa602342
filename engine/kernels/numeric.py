"""Small numeric rules that must be the same everywhere."""

import numpy as np

from engine.jit import counting_kernel, kernel


@kernel
def midpoint(lower, upper):
    """Return a threshold t between two adjacent distinct finite values: ``lower <= t < upper``, always.

    The mean is rounded correctly unless the sum overflows; then the halves are added, which at that
    size lose nothing. Where no double lies strictly between, rounding may land on the upper value:
    the lower value itself is then the threshold (case C12).
    """
    middle = (lower + upper) * 0.5
    if np.isinf(middle):
        middle = lower * 0.5 + upper * 0.5
    if not (lower <= middle < upper):
        middle = lower
    return np.float64(middle)


@counting_kernel
def midpoints(lower, upper):
    """Return the midpoint of every pair: float64 (n,)."""
    middles = np.empty(lower.size)
    for i in range(lower.size):
        middles[i] = midpoint(lower[i], upper[i])
    return middles


@kernel
def next_random(state):
    """Advance a splitmix64 generator and return 64 random bits (Steele, Lea, Flood 2014).

    state  uint64 (1,)  in and out
    """
    state[0] = state[0] + np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_unit(state):
    """Return a random double from 0 and below 1, a multiple of 2**-53.

    state  uint64 (1,)  in and out
    """
    return np.float64(next_random(state) >> np.uint64(11)) * 2.0**-53


@kernel
def random_below(state, bound):
    """Return a random integer in ``range(bound)``; the bias is below bound / 2**64.

    state  uint64 (1,)  in and out
    """
    return np.int64(next_random(state) % np.uint64(bound))
