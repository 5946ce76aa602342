"""What the tree kernels share: arrays grouped by purpose, so that a signature can be read.

Rows of a node lie together in every column's order, stably partitioned at each split::

    order[f]   | .. node A .. | .. node B ........ | .. node C .. |
                 start   stop   ascending x, NaN last
"""

from typing import Any, NamedTuple

GINI, ENTROPY, SQUARED_ERROR = 0, 1, 2
DEPTH_FIRST_LIMIT = -1  # of max_leaf_nodes and max_depth: no limit
TIE_SHARE = 1e-10  # gains closer than this share of the node's impurity are ties
DECREASE_SLACK = 1e-12  # min_impurity_decrease is met within this (D15)
MAX_EXHAUSTIVE_LEVELS = 10  # of more classes than two: all partitions of up to so many levels

# phases of the growing kernel, kept in State between calls
NEXT_NODE, EVALUATE, PARTITION, DONE = 0, 1, 2, 3


class Sample(NamedTuple):
    """The rows a tree grows on.

    columns  float64 (n_features, n_samples)  in   encoded table by column, NaN missing
    order    int32   (n_features, n_rows)     i/o  rows by ascending value within each node
    y        float64 (n_samples,)             in   target or class index
    w        float64 (n_samples,)             in   weight, positive for the rows in order
    is_level uint8   (n_features,)            in   1 where the column is categorical
    """

    columns: Any
    order: Any
    y: Any
    w: Any
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
    is_open      uint8  best-first: evaluated and may be split
    """

    feature: Any
    kind: Any
    threshold: Any
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
    is_open: Any
    level_sets: Any


class Best(NamedTuple):
    """The best split of the node under evaluation.

    numbers  float64 (2,)            gain, threshold
    ints     int64   (4,)            feature (-1: none), kind, child of missing (-1: saw none), n of sets
    sets     int32   (n_levels, 2)   level and child, by level
    """

    numbers: Any
    ints: Any
    sets: Any


class Scratch(NamedTuple):
    """Room to work in; nothing in it outlives a kernel call except side, features and n_drawn.

    total, left, missing, trial  float64 (n_sums,)
    side      uint8 (n_samples,)     child of each row of the node being partitioned
    buffer    int32 (n_rows,)
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


BEST_GAIN, BEST_THRESHOLD = 0, 1
BEST_FEATURE, BEST_KIND, BEST_MISSING, BEST_ENTRIES = 0, 1, 2, 3

# entries of the int64 state array
STATE_PHASE, STATE_NODE, STATE_VISITED, STATE_COUNTED, STATE_NODES, STATE_LEAVES = range(6)
STATE_STACK, STATE_SETS = 6, 7
N_STATE = 8
