"""Reading a tree: rules in words, thresholds that mean what they say, paths of rows, merged rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.features import FeatureSpec
from engine.kernels.routing import child_of
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, MULTIWAY, THRESHOLD, Path, Tree

MIN_DIGITS = 4  # significant digits of a threshold at least
MAX_DIGITS = 17  # these always give the same double back
MAX_NAMED_LEVELS = 2
MINUS = "\N{MINUS SIGN}"
_PLAIN_EXPONENTS = range(-5, 16)  # written without a power of ten


@dataclass(frozen=True, eq=False)
class TreeDescription:
    """What a view shows of every node. Words are made when asked for: most of a large tree is never seen.

    Attributes
    ----------
    tree : Tree
        Rows, values, impurities, gains and missing counts of every node are its own.
    features : sequence of FeatureSpec
    columns : sequence of float64 (n_rows,) arrays or None
        The table's values by feature number; None where thresholds are to be exact.
    sd : float64 (n_nodes,)
        Standard deviation of a numeric target (root of the squared error); NaN for classes and steps.
    gaps : dict
        What was found in the columns, by their identity and the threshold; trees of one table share it.
    """

    tree: Tree
    features: Sequence[FeatureSpec]
    columns: Sequence[NDArray[Any] | None]
    sd: NDArray[np.float64]
    gaps: dict[tuple[int, float], tuple[float, float]] = field(default_factory=dict)

    def rule(self, node: int) -> str:
        """Return a node's question, such as "bill_length_mm ≤ 43.35", "island: Biscoe, Dream + 2" or
        "A is missing"; empty at a leaf."""
        if self.tree.kind[node] == LEAF:
            return ""
        values = self.columns[int(self.tree.feature[node])] if self.columns else None
        if values is None or self.tree.kind[node] != THRESHOLD:
            return _rule(self.tree, node, self.features, None)
        key = id(values), float(self.tree.threshold[node])
        if key not in self.gaps:
            self.gaps[key] = threshold_gap(values, key[1])
        return _rule(self.tree, node, self.features, self.gaps[key])

    def full_rule(self, node: int) -> str:
        """Return the question with every level and the threshold's exact digits, for tool tips."""
        is_leaf = self.tree.kind[node] == LEAF
        return "" if is_leaf else _rule(self.tree, node, self.features, None, is_full=True)

    def edge(self, node: int, parent: int) -> str:
        """Return what is written on the edge that leads from `parent` to `node`."""
        return edge_label(self.tree, parent, node - int(self.tree.first_child[parent]), self.features)


def describe(
    tree: Tree,
    features: Sequence[FeatureSpec],
    classes: Sequence[Any] | None = None,
    *,
    is_step: bool = False,
    columns: Sequence[NDArray[Any] | None] = (),
    gaps: dict[tuple[int, float], tuple[float, float]] | None = None,
) -> TreeDescription:
    """Return what a view shows of every node.

    Parameters
    ----------
    tree : Tree
    features : sequence of FeatureSpec
        The model's `features_`.
    classes : sequence, optional
        Class labels; None for a numeric target.
    is_step : bool
        The values are steps of boosting: their impurity says nothing about the spread of a target.
    columns : sequence of float64 (n_rows,) arrays or None, optional
        The table's values by feature number, of rows that must not change side: thresholds on these
        columns are then as short as the rows allow, exact on the others. A word costs a look at a column.
    gaps : dict, optional
        Of an earlier description with columns that are still alive: what they were asked for is known.
    """
    has_spread = classes is None and not is_step
    sd = np.sqrt(np.maximum(tree.impurity, 0.0)) if has_spread else np.full(tree.n_nodes, np.nan)
    return TreeDescription(tree, features, columns, sd, {} if gaps is None else gaps)


def edge_label(tree: Tree, node: int, child_idx: int, features: Sequence[FeatureSpec]) -> str:
    """Return what is written on the edge to one child: "yes", "no", or the names of its levels."""
    if tree.kind[node] != MULTIWAY:
        return "yes" if child_idx == 0 else "no"
    return _first_few(_level_names(tree, node, child_idx, features)) or "missing"  # has a branch of its own


def format_threshold(value: float, gap: tuple[float, float] | None = None) -> str:
    """Write a threshold in at least four significant digits such that no row changes side.

    Parameters
    ----------
    value : float
    gap : (lower, upper), optional
        The neighbouring values of the table, ``lower <= value < upper``: the text is the shortest
        decimal in the gap. Without it the text is the shortest that reads back as the same double,
        save that the last rounding of a midpoint is undone: 43.349999999999994 is written 43.35,
        two steps between doubles at most.

    Returns
    -------
    str
        A number that `float` reads.
    """
    if not math.isfinite(value):
        return repr(value)
    for digits in range(MIN_DIGITS, MAX_DIGITS + 1):
        if gap is None and digits > 15:
            break
        text = _decimal(value, digits)
        if gap is None:
            is_same = abs(float(text) - value) <= 2 * math.ulp(value)
        else:
            is_same = gap[0] <= float(text) < gap[1]
        if is_same:
            return text
    return repr(value)


def threshold_gap(values: NDArray[Any], threshold: float) -> tuple[float, float]:
    """Return the neighbours ``lower <= threshold < upper`` among a column's values, infinite at its ends.

    Parameters
    ----------
    values : float32 or float64 (n_rows,)
        NaN is passed over.
    """
    lower = np.max(values, initial=-np.inf, where=values <= threshold)
    upper = np.min(values, initial=np.inf, where=values > threshold)
    return float(lower), float(upper)


def decision_path(tree: Tree, x_row: Any) -> list[int]:
    """Return the node numbers that one encoded row (n_features,) passes, root to leaf."""
    row, path = np.asarray(x_row, dtype=np.float64), [0]
    while tree.kind[path[-1]] != LEAF:
        node = path[-1]
        child = child_at(tree, node, float(row[tree.feature[node]]))
        path.append(int(tree.first_child[node]) + child)
    return path


def values_on_path(tree: Tree, path: Path, feature: int, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values of one column, NaN being missing, go the whole way to a node: bool (n_values,).

    Questions about other columns are passed over: a node's region is the product of these over its columns.

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    tree.node_at(path)
    stays, node = np.ones(len(values), bool), 0
    for child_idx in path:
        if int(tree.feature[node]) == feature:
            stays &= np.array([child_at(tree, node, float(value)) == child_idx for value in values], bool)
        node = int(tree.first_child[node]) + child_idx
    return stays


def merged_rule(tree: Tree, path: Path, features: Sequence[FeatureSpec]) -> list[str]:
    """Return the conditions of the way to a node, one text a column in order of first use.

    Thresholds on one column become one interval ("43.35 < bill_length_mm ≤ 50.1"), level sets one set
    of the levels that come this far. "or missing" is added where training rows with a missing value
    came this way.

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    tree.node_at(path)
    passed: dict[int, _Condition] = {}
    node = 0
    for child_idx in path:
        feature = int(tree.feature[node])
        passed.setdefault(feature, _Condition(features[feature])).narrow(tree, node, child_idx)
        node = int(tree.first_child[node]) + child_idx
    return [condition.text() for condition in passed.values()]


class _Condition:
    """What a path says about one column so far."""

    def __init__(self, spec: FeatureSpec) -> None:
        self.spec = spec
        self.lower, self.upper = -math.inf, math.inf
        self.codes: list[int] | None = None
        self.takes_known, self.takes_missing, self.saw_missing = True, True, False

    def narrow(self, tree: Tree, node: int, child_idx: int) -> None:
        kind = tree.kind[node]
        if kind == IS_MISSING:
            self.takes_known &= child_idx == 1
        elif kind == THRESHOLD:
            threshold = float(tree.threshold[node])
            if child_idx == 0:
                self.upper = min(self.upper, threshold)
            else:
                self.lower = max(self.lower, threshold)
        else:
            codes = self.codes if self.codes is not None else tree.levels(node)[:, 0].tolist()
            self.codes = [code for code in codes if child_at(tree, node, float(code)) == child_idx]
            self.takes_known &= (
                kind != MULTIWAY or child_idx in tree.levels(node)[:, 1]
            )  # else of missing alone
        self.takes_missing &= child_at(tree, node, math.nan) == child_idx
        self.saw_missing |= bool(tree.n_missing[node] > 0)

    def text(self) -> str:
        name = self.spec.name
        if not self.takes_known:
            return f"{name} is missing"
        known = self._known_text()
        has_missing = self.takes_missing and self.saw_missing
        if not known:
            return f"{name} is anything or missing" if has_missing else f"{name} is not missing"
        return known + (" or missing" if has_missing else "")

    def _known_text(self) -> str:
        name, levels = self.spec.name, self.spec.levels
        if self.codes is not None:
            named = [str(levels[code]) if levels is not None else str(code) for code in self.codes]
            return f"{name}: {', '.join(named)}" if named else f"{name}: no level"
        lower, upper = (_bound(self.spec, bound, None) for bound in (self.lower, self.upper))
        if math.isinf(self.lower):
            return "" if math.isinf(self.upper) else f"{name} ≤ {upper}"
        return f"{name} > {lower}" if math.isinf(self.upper) else f"{lower} < {name} ≤ {upper}"


def child_at(tree: Tree, node: int, x: float) -> int:
    """Return the child (0, 1, ...) that an encoded value, NaN being missing, takes at an inner node."""
    return int(
        child_of(
            x,
            node,
            tree.kind,
            tree.threshold,
            tree.level_offsets,
            tree.level_sets,
            tree.missing_child,
            tree.unseen_child,
        )
    )


def _decimal(value: float, digits: int) -> str:
    text = f"{value:.{digits - 1}e}"
    mantissa, exponent = text.split("e")
    if int(exponent) not in _PLAIN_EXPONENTS:
        mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{exponent}"
    plain = format(Decimal(text), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _bound(
    spec: FeatureSpec, threshold: float, gap: tuple[float, float] | None, is_full: bool = False
) -> str:
    if spec.ordered_levels is not None and math.isfinite(threshold):
        code = min(max(math.floor(threshold), 0), len(spec.ordered_levels) - 1)
        return str(spec.ordered_levels[code])
    text = repr(threshold) if is_full else format_threshold(threshold, gap)
    return text.replace("-", MINUS)


def _rule(
    tree: Tree,
    node: int,
    features: Sequence[FeatureSpec],
    gap: tuple[float, float] | None,
    is_full: bool = False,
) -> str:
    spec, kind = features[int(tree.feature[node])], tree.kind[node]
    if kind == IS_MISSING:
        return f"{spec.name} is missing"
    if kind == THRESHOLD:
        return f"{spec.name} ≤ {_bound(spec, float(tree.threshold[node]), gap, is_full)}"
    if kind == LEVEL_SET:
        names = _level_names(tree, node, 0, features)
        return f"{spec.name}: {', '.join(names) if is_full else _first_few(names)}"
    return spec.name


def _level_names(tree: Tree, node: int, child_idx: int, features: Sequence[FeatureSpec]) -> list[str]:
    levels = features[int(tree.feature[node])].levels
    entries = tree.levels(node)
    codes = entries[entries[:, 1] == child_idx, 0].tolist()
    return [str(code) if levels is None else str(levels[code]) for code in codes]


def _first_few(names: Sequence[str]) -> str:
    rest = len(names) - MAX_NAMED_LEVELS
    return ", ".join(names[:MAX_NAMED_LEVELS]) + (f" + {rest}" if rest > 0 else "")
