"""What the tree kernels share: arrays grouped by purpose, so that a signature can be read.

A column's order holds one int64 a row, ``rank << 32 | row``. The rank counts the column's distinct
values upwards, or is the level's code, and MISSING_RANK for missing. So a scan reads memory in
sequence, equal values have equal ranks, and no kernel but the last needs the table itself.

Rows of a node lie together in every column's order, stably partitioned at each split::

    order[f]   | .. node A .. | .. node B ........ | .. node C .. |
                 start   stop   ascending rank, missing last
"""

from typing import Any, NamedTuple

GINI, ENTROPY, SQUARED_ERROR = 0, 1, 2
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
    """

    order: Any
    target: Any
    is_level: Any


class Rules(NamedTuple):
    """The hyperparameters as numbers; sums has n_classes entries, or one in regression."""

    criterion: int
    n_sums: int
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    max_features: int
    max_leaf_nodes: int
    total_weight: float


class Nodes(NamedTuple):
    """The growing tree; arrays longer than the nodes so far, names as in `Tree`.

    start, stop  int32  where the node's rows lie in order
    depth        int32
    is_pure      uint8
    set_start, set_stop  int64  the node's rows of level_sets
    cut          int32  kind THRESHOLD: the largest rank that goes to child 0
    lower, upper int32  two rows: their values' midpoint is the threshold
    heap         int32  best-first: nodes that may be split, the one to split next first
    """

    feature: Any
    kind: Any
    first_child: Any
    missing_child: Any
    unseen_child: Any
    value: Any
    impurity: Any
    gain: Any
    n_rows: Any
    weight: Any
    n_missing: Any
    start: Any
    stop: Any
    depth: Any
    is_pure: Any
    set_start: Any
    set_stop: Any
    cut: Any
    lower: Any
    upper: Any
    heap: Any
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
    """Room to work in; nothing in it outlives a kernel call except side and features.

    total, left, missing, trial  float64 (n_sums,)
    side      uint8 (n_samples,)     child of each row of the node being partitioned
    buffer    int64 (n_rows,)
    features  int32 (n_features,)    columns in drawing order
    level_code int32, level_weight float64, level_count int64, level_key float64, level_rank int32,
    level_spare int32                (n_levels + 1,)
    level_sums float64               (n_levels + 1, n_sums)
    """

    total: Any
    left: Any
    missing: Any
    trial: Any
    side: Any
    buffer: Any
    features: Any
    level_code: Any
    level_weight: Any
    level_count: Any
    level_key: Any
    level_rank: Any
    level_spare: Any
    level_sums: Any


BEST_FEATURE, BEST_KIND, BEST_MISSING, BEST_ENTRIES, BEST_CUT, BEST_LOWER, BEST_UPPER = range(7)
N_BEST = 7

# entries of the int64 state array
STATE_PHASE, STATE_NODE, STATE_VISITED, STATE_COUNTED, STATE_NODES, STATE_LEAVES = range(6)
STATE_STACK, STATE_SETS, STATE_HEAP = 6, 7, 8
N_STATE = 9
