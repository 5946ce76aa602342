"""`Tree`: one decision tree as a value, a struct of read-only arrays (contracts D4).

Growing, pruning and forcing a split return a new Tree, so undo is keeping the old one and a view may
read while a worker writes the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.errors import DataError

MAX_WORDS = 8  # answers that a message names on the way to a node
LEAF, THRESHOLD, IS_MISSING, LEVEL_SET, MULTIWAY = range(5)
"""Node kinds. THRESHOLD: x <= threshold goes to child 0. IS_MISSING: missing goes to child 0,
all else, unseen levels too, to child 1.
LEVEL_SET: levels listed with 0 go to child 0 ("yes"). MULTIWAY: each listed level has its own child."""

NO_CHILD = -1

_ARRAYS = {
    "feature": dtypes.NODE_DTYPE,
    "kind": dtypes.KIND_DTYPE,
    "threshold": dtypes.VALUE_DTYPE,
    "level_offsets": dtypes.COUNT_DTYPE,
    "level_sets": dtypes.LEVEL_DTYPE,
    "first_child": dtypes.NODE_DTYPE,
    "n_children": dtypes.NODE_DTYPE,
    "missing_child": dtypes.NODE_DTYPE,
    "unseen_child": dtypes.NODE_DTYPE,
    "value": dtypes.VALUE_DTYPE,
    "impurity": dtypes.VALUE_DTYPE,
    "gain": dtypes.VALUE_DTYPE,
    "n_node_samples": dtypes.COUNT_DTYPE,
    "weighted_n_node_samples": dtypes.VALUE_DTYPE,
    "n_missing": dtypes.COUNT_DTYPE,
}

Path = tuple[int, ...]
"""A node's identity: the child taken at each node on the way from the root; () is the root (D5)."""


@dataclass(frozen=True, eq=False)
class Tree:
    """One decision tree: arrays indexed by node, parents before children, children adjacent.

    The root is node 0. A node's children are ``first_child[i] + k`` for k in
    ``range(n_children[i])``. Node numbers are private to one Tree; a node is named to others by its
    path (see `node_at` and `path_to`).

    Attributes
    ----------
    feature : int32 (n_nodes,)
        Column asked about; -1 at leaves.
    kind : uint8 (n_nodes,)
        LEAF, THRESHOLD, IS_MISSING, LEVEL_SET or MULTIWAY.
    threshold : float64 (n_nodes,)
        ``x <= threshold`` goes to child 0; NaN where the kind is not THRESHOLD.
    level_offsets : int64 (n_nodes + 1,)
        Node i's rows of `level_sets` are ``level_offsets[i]:level_offsets[i + 1]``.
    level_sets : int32 (n_entries, 2)
        Level code and child taken, for every level that training rows of the node had or a split forced
        by hand names, by code.
    first_child, n_children : int32 (n_nodes,)
        Where the children are; -1 and 0 at leaves.
    missing_child, unseen_child : int32 (n_nodes,)
        Child (0, 1, ...) that missing values and unseen levels take (D7); -1 at leaves.
    value : float64 (n_nodes, n_outputs)
        Class fractions, mean, or the step a boosting round adds; at inner nodes too.
    impurity : float64 (n_nodes,)
        In the unit of the criterion.
    gain : float64 (n_nodes,)
        The node's impurity less its children's weighted mean; 0 at leaves. In boosting the
        decrease in the objective, in XGBoost's scale.
    n_node_samples : int64 (n_nodes,)
        Training rows of positive weight that reached the node.
    weighted_n_node_samples : float64 (n_nodes,)
    n_missing : int64 (n_nodes,)
        How many of its rows miss the feature asked about; 0 at leaves.
    """

    feature: NDArray[np.int32]
    kind: NDArray[np.uint8]
    threshold: NDArray[np.float64]
    level_offsets: NDArray[np.int64]
    level_sets: NDArray[np.int32]
    first_child: NDArray[np.int32]
    n_children: NDArray[np.int32]
    missing_child: NDArray[np.int32]
    unseen_child: NDArray[np.int32]
    value: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: NDArray[np.float64]
    n_missing: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name, dtype in _ARRAYS.items():
            object.__setattr__(self, name, dtypes.frozen(getattr(self, name), dtype))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # pickle and deepcopy drop numpy's read-only flag

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in _ARRAYS
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Tree:
        """Build from a mapping of all attributes, checking that it is a tree.

        Raises
        ------
        DataError
            An array is missing or has the wrong length, or the nodes do not form a tree.
        """
        missing = [name for name in _ARRAYS if name not in arrays]
        if missing:
            raise DataError(f"the tree lacks {', '.join(missing)}; the file is damaged, export it again")
        tree = cls(**{name: arrays[name] for name in _ARRAYS})
        tree.validate()
        return tree

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all attributes by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def n_nodes(self) -> int:
        return len(self.kind)

    @property
    def n_outputs(self) -> int:
        return int(self.value.shape[1])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        leaf: NDArray[np.bool_] = self.kind == LEAF
        return leaf

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    @property
    def left(self) -> NDArray[np.int32]:
        """First child of every node, -1 at leaves; for trees of two-way splits."""
        return self.first_child

    @property
    def right(self) -> NDArray[np.int32]:
        """Second child of every node, -1 at leaves; for trees of two-way splits."""
        if np.any(self.n_children > 2):
            raise AttributeError("right is defined for two-way trees; use first_child and n_children")
        return np.where(self.is_leaf, NO_CHILD, self.first_child + 1).astype(dtypes.NODE_DTYPE)

    @property
    def parent(self) -> NDArray[np.int32]:
        """Parent of every node, -1 at the root."""
        parent = np.full(self.n_nodes, NO_CHILD, dtypes.NODE_DTYPE)
        for child_idx in range(int(self.n_children.max(initial=0))):
            inner = np.flatnonzero(self.n_children > child_idx)
            parent[self.first_child[inner] + child_idx] = inner
        return parent

    @property
    def depths(self) -> NDArray[np.int32]:
        """Depth of every node, 0 at the root."""
        depths = np.zeros(self.n_nodes, dtypes.NODE_DTYPE)
        level, depth = np.zeros(1, np.int64), 0
        while len(level):  # a level of the tree at a time
            depths[level] = depth
            level, depth = _blocks(self.first_child[level], self.n_children[level]), depth + 1
        return depths

    @property
    def max_depth(self) -> int:
        return int(self.depths.max())

    def children(self, node: int) -> range:
        """Node numbers of the children; empty at a leaf."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def children_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Node numbers of the children of several nodes, one node's after another's."""
        return _blocks(self.first_child[nodes], self.n_children[nodes])

    def levels(self, node: int) -> NDArray[np.int32]:
        """The node's rows of `level_sets`: int32 (n_levels_seen, 2), code and child."""
        return self.level_sets[self.level_offsets[node] : self.level_offsets[node + 1]]

    def node_at(self, path: Path) -> int:
        """Node number at `path`.

        Raises
        ------
        DataError
            The tree has no such node.
        """
        node = 0
        for depth, child_idx in enumerate(path):
            if not 0 <= child_idx < self.n_children[node]:
                there = self.words_of(path[:depth])
                raise DataError(f"below {there} the tree has no such node; it was pruned or trained anew")
            node = int(self.first_child[node]) + child_idx
        return node

    def words_of(self, path: Path) -> str:
        """Return what messages call the node at `path`: 'the root', or 'the node at "no, yes"'.

        Answers stand from the root on; a branch of a question that has more than two has its number, from 1.
        """
        if not path:
            return "the root"
        if len(path) > MAX_WORDS:
            return f"a node at depth {len(path)}"
        answers, node = [], 0
        for child_idx in path:
            is_two_way = self.kind[node] != MULTIWAY
            answers.append(("yes", "no")[child_idx] if is_two_way else f"branch {child_idx + 1}")
            node = int(self.first_child[node]) + child_idx
        return f'the node at "{", ".join(answers)}"'

    def path_to(self, node: int) -> Path:
        """Path of a node from the root."""
        parent, path = self.parent, []
        while node != 0:
            path.append(node - int(self.first_child[parent[node]]))
            node = int(parent[node])
        return tuple(reversed(path))

    def walk(self, node: int = 0) -> Iterator[int]:
        """Yield `node` and all below it, each before its children, left to right; never recursive."""
        stack = [node]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(self.children(node)))

    def validate(self) -> None:
        """Check the invariants that every consumer relies on.

        Raises
        ------
        DataError
            They do not hold.
        """
        n_nodes = self.n_nodes
        lengths = {name: len(getattr(self, name)) for name in _ARRAYS}
        del lengths["level_sets"]
        lengths["level_offsets"] -= 1
        if n_nodes == 0 or set(lengths.values()) != {n_nodes}:
            raise DataError(f"the tree's arrays differ in length: {lengths}")
        if self.value.ndim != 2 or self.level_sets.ndim != 2 or self.level_sets.shape[1] != 2:
            raise DataError("the tree's values or level sets do not have two dimensions")
        offsets = self.level_offsets
        if offsets[0] != 0 or offsets[-1] != len(self.level_sets) or np.any(np.diff(offsets) < 0):
            raise DataError("the tree's level offsets do not match its level sets")
        self._validate_links()
        self._validate_questions()

    def _validate_links(self) -> None:
        inner = np.flatnonzero(~self.is_leaf)
        if np.any(self.kind > MULTIWAY) or np.any(self.n_children[self.is_leaf] != 0):
            raise DataError("the tree has a node of unknown kind, or a leaf with children")
        if np.any(self.n_children[inner] < 1) or np.any(self.feature[inner] < 0):
            raise DataError("the tree has an inner node without children or without a feature")
        first = self.first_child[inner].astype(np.int64)
        covered = np.sort(_blocks(first, self.n_children[inner]))
        if np.any(first <= inner) or not np.array_equal(covered, np.arange(1, self.n_nodes)):
            raise DataError("the tree's nodes do not form one tree with parents before children")
        for name in ("missing_child", "unseen_child"):
            child = getattr(self, name)[inner]
            if np.any(child < 0) or np.any(child >= self.n_children[inner]):
                raise DataError(f"the tree's {name} points outside the node's children")

    def _validate_questions(self) -> None:
        two_way = np.isin(self.kind, (THRESHOLD, IS_MISSING, LEVEL_SET))
        if np.any(self.n_children[two_way] != 2):
            raise DataError("the tree has a two-way node that has not two children")
        if not np.isfinite(self.threshold[self.kind == THRESHOLD]).all():
            raise DataError("the tree has a threshold that is no finite number")
        node = np.repeat(np.arange(self.n_nodes), np.diff(self.level_offsets))
        codes, children = self.level_sets.T
        if np.any(codes < 0) or np.any((np.diff(node) == 0) & (np.diff(codes) <= 0)):
            raise DataError("the tree has a level set that is not in order")
        if np.any(children < 0) or np.any(children >= self.n_children[node]):
            raise DataError("the tree has a level that goes to no child")


def single_leaf(value: Any, impurity: float, n_samples: int, weighted_n_samples: float) -> Tree:
    """Return a tree of one leaf that predicts `value`, an array of n_outputs numbers."""
    arrays: dict[str, Any] = {
        "feature": [-1],
        "kind": [LEAF],
        "threshold": [np.nan],
        "level_offsets": [0, 0],
        "level_sets": np.empty((0, 2)),
        "first_child": [NO_CHILD],
        "n_children": [0],
        "missing_child": [NO_CHILD],
        "unseen_child": [NO_CHILD],
        "value": np.atleast_2d(value),
        "impurity": [impurity],
        "gain": [0.0],
        "n_node_samples": [n_samples],
        "weighted_n_node_samples": [weighted_n_samples],
        "n_missing": [0],
    }
    return Tree(**arrays)


def compact(arrays: dict[str, Any]) -> Tree:
    """Return the tree reachable from node 0 of `arrays`, renumbered into the canonical order.

    The canonical order gives a node's children adjacent numbers when the node is visited, nodes
    being visited depth first, left to right. So equal trees have equal arrays, however they came
    about. Level sets are taken along; arrays may hold unreachable nodes.
    """
    from engine.tree.kernels.order import canonical_order  # on demand: a view of a tree needs no compiler

    first_child = dtypes.as_input(arrays["first_child"], dtypes.NODE_DTYPE)
    n_children = dtypes.as_input(arrays["n_children"], dtypes.NODE_DTYPE)
    kept = np.empty(len(first_child), dtypes.NODE_DTYPE)
    new_first = np.empty(len(first_child), dtypes.NODE_DTYPE)
    n_kept = canonical_order(first_child, n_children, kept, new_first, np.empty_like(kept))
    kept = kept[:n_kept]
    taken = {name: np.asarray(arrays[name])[kept] for name in _ARRAYS if not name.startswith("level_")}
    taken["first_child"] = new_first[:n_kept]
    offsets = np.asarray(arrays["level_offsets"], np.int64)
    sizes = offsets[kept + 1] - offsets[kept]
    taken["level_offsets"] = np.concatenate([[0], np.cumsum(sizes)])
    taken["level_sets"] = np.asarray(arrays["level_sets"]).reshape(-1, 2)[_blocks(offsets[kept], sizes)]
    return Tree(**taken)


def _blocks(starts: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return ``range(starts[i], starts[i] + sizes[i])`` for every i, one after another."""
    sizes = np.asarray(sizes, np.int64)
    before = np.cumsum(sizes) - sizes
    shifts = np.repeat(np.asarray(starts, np.int64) - before, sizes)
    return shifts + np.arange(len(shifts))
