"""What the tree kernels share: arrays grouped by purpose, so that a signature can be read.

A column's order holds one int64 a row, ``rank << 32 | row``. The rank counts the column's distinct
values upwards, or is the level's code, and MISSING_RANK for missing. So a scan reads memory in
sequence, equal values have equal ranks, and no kernel but the last needs the table itself.

Rows of a node lie together in every column's order, stably partitioned at each split::

    order[f]   | .. node A .. | .. node B ........ | .. node C .. |
                 start   stop   ascending rank, missing last
"""

from typing import Any, NamedTuple

import numpy as np

from engine import dtypes

FREE, RISES, FALLS = range(3)  # what a column does to the value
GINI, ENTROPY, SQUARED_ERROR, MISCLASSIFICATION, POISSON, ABSOLUTE_ERROR = range(6)
ROW_MASK = 0xFFFFFFFF  # the row in an entry of an order
MISSING_RANK = 2**31 - 1  # sorts behind every rank and level
TIE_SHARE = 1e-10  # gains closer than this share of the node's impurity are ties
DECREASE_SLACK = 1e-12  # min_impurity_decrease is met within this (D15)
MAX_EXHAUSTIVE_LEVELS = 10  # of more classes than two: all partitions of up to so many levels

# phases of the growing kernel, kept in State between calls
NEXT_NODE, EVALUATE, PARTITION, DONE = 0, 1, 2, 3


class Sample(NamedTuple):
    """The rows a tree grows on.

    order    int64   (n_features, n_rows)   i/o  rank << 32 | row, ascending within each node
    target   float64 (n_samples, 2)         in   target or class index, and weight, of every row
    is_level uint8   (n_features,)          in   1 where the column is categorical
    by_target int64  (n_rows,)              i/o  rows by ascending target within each node; none but for
                                                 absolute error
    """

    order: Any
    target: Any
    is_level: Any
    by_target: Any


class Values(NamedTuple):
    """What the ranks stand for; splits are drawn when the growing kernel is given this, and else it is None.

    values       float64 (n_values,)   in  distinct numbers, ascending, a column's after another's
    first_value  int64   (n_features,) in  where a column's begin
    """

    values: Any
    first_value: Any


class Rules(NamedTuple):
    """The hyperparameters as numbers; sums has n_classes entries, or one in regression.

    Directions are none, or uint8 (n_features,): FREE, RISES or FALLS. The root's values are kept between
    lower and upper, and directions broken by slack or less are not: sums are rounded.
    """

    criterion: int
    n_sums: int
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    min_relative_decrease: float
    max_features: int
    max_leaf_nodes: int
    total_weight: float
    is_random: bool = False
    directions: Any = dtypes.as_input([], np.uint8)
    lower: float = -np.inf
    upper: float = np.inf
    slack: float = 0.0
    missing_is_level: bool = False  # then no side of a threshold is learned: missing takes the larger


NODE_RECORD = np.dtype(
    [
        ("feature", dtypes.NODE_DTYPE),
        ("first_child", dtypes.NODE_DTYPE),
        ("missing_child", dtypes.NODE_DTYPE),
        ("unseen_child", dtypes.NODE_DTYPE),
        ("impurity", dtypes.VALUE_DTYPE),
        ("gain", dtypes.VALUE_DTYPE),
        ("weight", dtypes.VALUE_DTYPE),
        ("threshold", dtypes.VALUE_DTYPE),
        ("lower_bound", dtypes.VALUE_DTYPE),
        ("upper_bound", dtypes.VALUE_DTYPE),
        ("priority", dtypes.VALUE_DTYPE),
        ("n_rows", dtypes.COUNT_DTYPE),
        ("n_missing", dtypes.COUNT_DTYPE),
        ("start", dtypes.NODE_DTYPE),
        ("stop", dtypes.NODE_DTYPE),
        ("depth", dtypes.NODE_DTYPE),
        ("set_start", dtypes.COUNT_DTYPE),
        ("set_stop", dtypes.COUNT_DTYPE),
        ("cut", dtypes.NODE_DTYPE),
        ("lower", dtypes.NODE_DTYPE),
        ("upper", dtypes.NODE_DTYPE),
        ("heap", dtypes.NODE_DTYPE),
        ("kind", dtypes.KIND_DTYPE),
        ("is_pure", np.uint8),
    ],
    align=True,
)
"""A node in the making; names as in `Tree`.

start, stop          where the node's rows lie in order
set_start, set_stop  the node's rows of level_sets
cut                  kind THRESHOLD: the largest rank that goes to child 0
lower, upper         two rows: their values' midpoint is the threshold
threshold            the last one that was drawn and was the best so far
lower_bound,         between them the node's value is kept once the tree is grown; see `bounds`
upper_bound
priority             best-first: the node of the largest is split next
heap                 not of this node: best-first, the nodes that may be split, the one to split next first
"""

LEVEL_RECORD = np.dtype(
    [
        ("weight", np.float64),
        ("key", np.float64),
        ("count", np.int64),
        ("code", np.int32),
        ("rank", np.int32),
        ("spare", np.int32),
    ],
    align=True,
)
"""A level of the categorical column under evaluation; `rank` and `spare` are lists of levels beside it."""

MEDIAN_RECORD = np.dtype(
    [
        ("value", np.float64),
        ("weight", np.float64),
        ("total", np.float64),
        ("right", np.float64),
        ("left", np.float64),
        ("answer", np.float64),
        ("place", np.int32),
        ("level", np.int32),
        ("place_of_level", np.int32),
    ],
    align=True,
)
"""Lists beside each other for the search by absolute error.

place                        by row: its place in the order of the node's targets, from 1 on
value, level                 by place: target less the node's median, and level of its row
weight, total                by place: the Fenwick tree, at place 0 sums of all rows in it; or by row of a
                             level, summed up from its first
place_of_level               by row of a level
right, left                  by entry of a column's order: losses of a cut behind it, missing on that side
answer                       the same: median of the cut's first side, of a column that has a direction
"""


class Nodes(NamedTuple):
    """The growing tree; arrays longer than the nodes so far.

    records     NODE_RECORD (n_nodes,)     one array of records, as numba compiles each array that is
    value       float64 (n_nodes, n_sums)  handed on anew: twenty of them cost half a minute
    level_sets  int32 (n_entries, 2)
    """

    records: Any
    value: Any
    level_sets: Any


class Best(NamedTuple):
    """The best split of the node under evaluation.

    gain     float64 (1,)
    ints     int64   (7,)            feature (-1: none), kind, child of missing (-1: saw none), entries in
                                     sets, and the node's cut, lower and upper
    sets     int32   (n_levels, 2)   level and child, by level
    """

    gain: Any
    ints: Any
    sets: Any


class Scratch(NamedTuple):
    """Room to work in; nothing in it outlives a kernel call except side, features and the total.

    A search by absolute error is left and gone on with, so buffer, levels and medians outlive its calls.

    sums        float64 (4, n_sums)          rows TOTAL, LEFT, MISSING, TRIAL
    side        uint8 (n_samples,)           child of each row of the node being partitioned
    buffer      int64 (n_rows,)
    features    int32 (n_features,)          columns in drawing order
    levels      LEVEL_RECORD (n_levels + 1,)
    level_sums  float64 (n_levels + 1, n_sums)
    medians     MEDIAN_RECORD (n_samples + 1,)  (1,) where no split is searched by absolute error
    """

    sums: Any
    side: Any
    buffer: Any
    features: Any
    levels: Any
    level_sums: Any
    medians: Any


TOTAL, LEFT, MISSING, TRIAL = range(4)
BEST_FEATURE, BEST_KIND, BEST_MISSING, BEST_ENTRIES, BEST_CUT, BEST_LOWER, BEST_UPPER = range(7)
N_BEST = 7

# entries of the int64 state array
STATE_PHASE, STATE_NODE, STATE_VISITED, STATE_COUNTED, STATE_NODES, STATE_LEAVES = range(6)
STATE_STACK, STATE_SETS, STATE_HEAP, STATE_ASIDE = 6, 7, 8, 9  # ASIDE: nodes of so few rows are set aside
# of the search by absolute error, see `medians`: its pass (0: not begun), rows walked in it, levels found
STATE_PASS, STATE_WALKED, STATE_LEVELS = 10, 11, 12
N_STATE = 13
