"""`TreeFigure`: one tree made ready to be drawn: sizes, ranges and the words on every card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.features import FeatureSpec
from engine.tree.structure import IS_MISSING, THRESHOLD, Path, Tree
from workbench.dates import days_to_text
from workbench.figures.words import count, counted, number, percent, signed

if TYPE_CHECKING:
    from engine.tree.inspect import TreeDescription
    from workbench.datasets import Table
    from workbench.runs import RunResult

MAX_ROWS_LOOKED_AT = 200_000
Gaps = dict[tuple[int, float], tuple[float, float]]
_GAPS: WeakKeyDictionary[Table, Gaps] = WeakKeyDictionary()  # a table's columns live as long as it does
_NUMBER_KINDS = {"poisson": "rate", "absolute_error": "median"}  # by criterion; all others tell a mean
_VALUE_WORDS = {"step": "Step", "median": "Median"}


class Rule(NamedTuple):
    """A node's question in two parts: `name` may be shortened in the middle, `rest` never is."""

    name: str
    rest: str
    full: str

    @property
    def text(self) -> str:
        return self.name + self.rest


class Card(NamedTuple):
    """The words and shares of one node, top to bottom.

    Attributes
    ----------
    rows, share : str
        "162 rows", "47 %" of the root's.
    rule : Rule
        Empty at a leaf.
    shares : float64 (n_classes,)
        Class shares in class order; empty for numbers.
    prediction, aside : str
        "Adelie 70 %", and the gain or, at a leaf, the count "108 of 111".
    """

    rows: str
    share: str
    rule: Rule
    shares: NDArray[np.float64]
    prediction: str
    aside: str

    @property
    def answer(self) -> Rule:
        """The prediction in two parts: the class's name may be shortened, its share never is."""
        if not len(self.shares):
            return Rule("", self.prediction, self.prediction)
        at = self.prediction.rindex(" ", 0, -2)  # before "70 %"
        return Rule(self.prediction[:at], self.prediction[at:], self.prediction)


@dataclass(frozen=True, eq=False)
class TreeFigure:
    """One tree to draw.

    Attributes
    ----------
    title, subtitle : str
        The model's name, and what the tree is and which rows grew it.
    tree : Tree
    description : TreeDescription
        What every node asks, in words.
    features : tuple of FeatureSpec
    classes : tuple of str
        In class order; empty for numbers.
    kind : str
        "classes" (values are class shares), "mean", "median", "rate" (a mean of counts, whose impurity tells
        no spread) or "step" (what a boosting round adds).
    event_idx : int or None
        Of two classes the one that bears the event's colour.
    parent, depth, n_leaves : int arrays (n_nodes,)
        `n_leaves` counts the leaves at or below a node.
    low, high : float
        Range that the bars of numbers span.
    edited : frozenset of Path
        Nodes changed by hand.
    dates : mapping of str to bool
        Columns that are dates; True where none of their values has a time of day.
    is_date : bool
        The target is a date: means are days since 1970-01-01.
    """

    title: str
    subtitle: str
    tree: Tree
    description: TreeDescription
    features: tuple[FeatureSpec, ...]
    classes: tuple[str, ...]
    kind: str
    event_idx: int | None
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    n_leaves: NDArray[np.int64]
    low: float
    high: float
    edited: frozenset[Path]
    dates: Mapping[str, bool] = field(default_factory=dict)
    is_date: bool = False

    @property
    def n_nodes(self) -> int:
        return self.tree.n_nodes

    def is_leaf(self, node: int) -> bool:
        """Tell whether the tree itself ends here, whatever is open on screen."""
        return int(self.tree.n_children[node]) == 0

    def chooses_missing(self, node: int) -> bool:
        """Tell whether the side of missing values is a choice of its own: not where it is the question."""
        return not self.is_leaf(node) and int(self.tree.kind[node]) != IS_MISSING

    def share_of_rows(self, node: int) -> float:
        """The node's part of the root's rows, 0 to 1."""
        return float(self.tree.n_node_samples[node]) / max(float(self.tree.n_node_samples[0]), 1.0)

    def majority(self, node: int) -> int:
        """Code of the node's most frequent class, the first of equals."""
        return int(np.argmax(self.tree.value[node]))

    def mean(self, node: int) -> float:
        return float(self.tree.value[node, 0])

    def deviation(self, node: int) -> float:
        """Standard deviation in the node, or mean distance from its median; 0 for rates and steps."""
        return float(_spreads(self.tree.impurity[node], self.kind))

    def card(self, node: int) -> Card:
        """Return the words of one card; made when asked for, as most of a large tree is never seen."""
        tree, n = self.tree, int(self.tree.n_node_samples[node])
        shares = tree.value[node] if self.kind == "classes" else np.empty(0)
        return Card(
            counted(n, "row"),
            percent(n, int(tree.n_node_samples[0])),
            self.rule(node),
            shares,
            self.prediction(node),
            self._aside(node),
        )

    def rule(self, node: int) -> Rule:
        """The question of an inner node; three empty texts at a leaf."""
        text = self.description.rule(node)
        if not text:
            return Rule("", "", "")
        name = self.features[int(self.tree.feature[node])].name
        if name in self.dates and int(self.tree.kind[node]) == THRESHOLD:
            day = float(self.tree.threshold[node])
            # between whole days a threshold at noon asks what its day asks
            rest = f" ≤ {days_to_text(float(np.floor(day)) if self.dates[name] else day)}"
            return Rule(name, rest, name + rest)
        return Rule(name, text[len(name) :], self.description.full_rule(node))

    def prediction(self, node: int) -> str:
        """What the node answers: "Adelie 70 %", "5.11 ± 0.8"."""
        if self.kind == "classes":
            top = self.majority(node)
            return f"{self.classes[top]} {percent(float(self.tree.value[node, top]), 1.0)}"
        if self.kind == "rate":
            return number(self.mean(node))
        if self.kind == "step":
            mean = self.mean(node)
            is_zero = abs(mean) <= 1e-9 * max(abs(self.low), abs(self.high))  # a root's rest of rounding
            return f"step {signed(0.0 if is_zero else mean)}"
        spread = number(self.deviation(node), 2)
        if self.is_date:
            return f"{self._day(node)} ± {spread} {'day' if spread == '1' else 'days'}"
        return f"{number(self.mean(node))} ± {spread}"

    def _day(self, node: int) -> str:
        return days_to_text(float(np.floor(self.mean(node) + 0.5)))

    def _aside(self, node: int) -> str:
        if not self.is_leaf(node):
            return f"gain {number(float(self.tree.gain[node]))}"
        if self.kind == "classes" and self.counts_rows(node):
            counts = self.class_counts(node)
            return f"{count(counts.max())} of {count(counts.sum())}"
        return ""

    def counts_rows(self, node: int) -> bool:
        """Tell whether class shares are shares of rows (all weights 1), so that counts can be named."""
        n = float(self.tree.n_node_samples[node])
        return abs(float(self.tree.weighted_n_node_samples[node]) - n) <= 1e-9 * n

    def class_counts(self, node: int) -> NDArray[np.int64]:
        """Rows of every class in an unweighted node: int64 (n_classes,)."""
        counts = self.tree.value[node] * float(self.tree.n_node_samples[node])
        return np.asarray(np.rint(counts), np.int64)

    def edge_text(self, node: int) -> str:
        """What stands on the edge from the parent: "yes, 162 (1 missing)"."""
        parent = int(self.parent[node])
        child_idx = node - int(self.tree.first_child[parent])
        text = f"{self.branch(node)}, {count(self.tree.n_node_samples[node])}"
        n_missing = int(self.tree.n_missing[parent])
        if n_missing and child_idx == int(self.tree.missing_child[parent]):
            text += f" ({count(n_missing)} missing)"
        return text

    def branch(self, node: int) -> str:
        """Return "yes", "no" or the level's name of the edge that leads to `node`."""
        parent = int(self.parent[node])
        return "" if parent < 0 else self.description.edge(node, parent)

    def hidden_text(self, node: int) -> str:
        """What the pill under a closed branch says."""
        return f"+ {counted(int(self.n_leaves[node]), 'leaf', 'leaves')}"

    def story(self, node: int) -> str:
        """All there is to say of a node, as plain text of several lines: the tool tip."""
        tree, card = self.tree, self.card(node)
        lines = [card.rule.full] if card.rule.full else ["Leaf"]
        lines.append(f"{card.rows}, {card.share} of {count(tree.n_node_samples[0])}")
        if self.kind != "step" and not self.counts_rows(node):
            lines.append(f"Weight {number(float(tree.weighted_n_node_samples[node]), 6)}")
        if self.kind == "classes":
            is_counted = self.counts_rows(node)
            counts = self.class_counts(node) if is_counted else np.empty(0, np.int64)
            for class_idx, share in enumerate(tree.value[node]):
                if share > 0:
                    rows = f", {counted(int(counts[class_idx]), 'row')}" if is_counted else ""
                    lines.append(f"{self.classes[class_idx]}: {percent(float(share), 1.0)}{rows}")
        else:
            mean = self._day(node) if self.is_date else number(self.mean(node), 6)
            lines.append(f"{_VALUE_WORDS.get(self.kind, 'Mean')} {mean}")
        if self.kind != "step":
            lines.append(f"Impurity {number(float(tree.impurity[node]), 4)}")
        if not self.is_leaf(node):
            lines.append(f"Gain {number(float(tree.gain[node]), 4)}")
            if tree.n_missing[node]:
                way = self.branch(int(tree.first_child[node]) + int(tree.missing_child[node]))
                lines.append(f"{counted(int(tree.n_missing[node]), 'row')} missing, sent to {way}")
        return "\n".join(lines)

    def open_to(self, depth: int) -> NDArray[np.bool_]:
        """Return which nodes are open when cards show down to a depth: bool (n_nodes,)."""
        return np.asarray((self.depth < depth) & (self.tree.n_children > 0))

    def readable_depth(self, n_cards: int = 63) -> int:
        """Return the deepest level down to which at most `n_cards` show, 1 at least."""
        shown = np.cumsum(np.bincount(self.depth))
        return max(int(np.searchsorted(shown, n_cards, side="right")) - 1, 1)


def make_tree_figure(
    tree: Tree,
    features: Sequence[FeatureSpec],
    classes: Sequence[str] = (),
    *,
    kind: str = "",
    title: str = "",
    subtitle: str = "",
    event_idx: int | None = None,
    edited: frozenset[Path] = frozenset(),
    dates: Mapping[str, bool] | None = None,
    columns: Sequence[NDArray[Any] | None] = (),
    gaps: Gaps | None = None,
    is_date: bool = False,
) -> TreeFigure:
    """Make a figure of one tree.

    Parameters
    ----------
    kind : str, optional
        "classes", "mean", "median", "rate" or "step"; found from `classes` when omitted.
    is_date : bool
        The target is a date.
    columns : sequence of float64 (n_rows,) arrays or None, optional
        Values whose rows shorten thresholds, by feature number (`engine.tree.inspect.describe`).
    gaps : dict, optional
        What was found in these columns before.
    """
    from engine.tree.inspect import describe

    kind = kind or ("classes" if classes else "mean")
    low, high = _value_range(tree, kind)
    is_step = kind in ("median", "rate", "step")
    description = describe(tree, features, classes or None, is_step=is_step, columns=columns, gaps=gaps)
    return TreeFigure(
        title, subtitle, tree, description, tuple(features), tuple(classes), kind, event_idx,
        tree.parent, tree.depths, leaves_below(tree), low, high, edited, dates or {},
        is_date and kind in ("mean", "median"),
    )  # fmt: skip


def leaves_below(tree: Tree) -> NDArray[np.int64]:
    """Count the leaves at or below every node, level by level from the deepest."""
    parent, depth, n_leaves = tree.parent, tree.depths, tree.is_leaf.astype(np.int64)
    levels = np.split(np.argsort(depth, kind="stable"), np.cumsum(np.bincount(depth))[:-1])
    for nodes in reversed(levels[1:]):
        np.add.at(n_leaves, parent[nodes], n_leaves[nodes])
    return n_leaves


def _spreads(impurity: Any, kind: str) -> Any:
    """Return how far rows are from what a node answers, in the target's unit; 0 where impurity tells none."""
    impurity = np.maximum(impurity, 0.0)
    if kind == "mean":
        return np.sqrt(impurity)
    return impurity if kind == "median" else np.zeros_like(impurity)


def _value_range(tree: Tree, kind: str) -> tuple[float, float]:
    if kind == "classes":
        return 0.0, 1.0
    values = tree.value[:, 0]
    spread = _spreads(tree.impurity, kind)
    low, high = float(np.min(values - spread)), float(np.max(values + spread))
    if kind in ("rate", "step"):
        low, high = min(low, 0.0), max(high, 0.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def date_columns(table: Table | None) -> dict[str, bool]:
    """Return the columns that are dates, and whether all their values are whole days."""
    dates = [column for column in table.columns if column.kind == "date"] if table is not None else []
    return {column.name: bool(np.all(np.nan_to_num(column.values) % 1 == 0)) for column in dates}


def number_columns(
    table: Table | None, result: RunResult, max_rows: int = MAX_ROWS_LOOKED_AT
) -> Sequence[NDArray[np.float64] | None]:
    """Return the values of a run's number features, in its order, for `tree_of_run`.

    Empty where the table is another one than the run was trained on, or has more than `max_rows` rows:
    a card's words then cost more than a screenful may, and thresholds are written exactly.
    """
    if table is None or table.fingerprint != result.table_fingerprint or table.n_rows > max_rows:
        return ()
    columns = {column.name: column.values for column in table.columns if column.kind == "number"}
    return [columns.get(name) for name in result.features]


def tree_of_run(
    name: str, result: RunResult, tree_idx: int = 0, table: Table | None = None,
    rows: NDArray[np.int64] | None = None,
) -> TreeFigure:  # fmt: skip
    """Make the figure of one tree of a trained run.

    Parameters
    ----------
    name : str
        The run's name.
    result : RunResult
    tree_idx : int
        Which tree of a forest or of boosting, in the order they were grown.
    table : Table, optional
        The document's: its dates are written as dates, its numbers shorten thresholds.
    rows : int64 (n_rows,), optional
        Rows of the table that grew the tree, where it was not all that the model was trained on.
    """
    trees = result.trees
    tree = trees[tree_idx]
    is_boosting = result.spec.kind == "boosting"
    of_numbers = _NUMBER_KINDS.get(str(result.spec.parameters.get("criterion")), "mean")
    kind = "step" if is_boosting else "classes" if result.classes else of_numbers
    event = result.event_class
    event_idx = result.classes.index(event) if event in result.classes and len(result.classes) == 2 else None
    which = "" if len(trees) == 1 else f"tree {count(tree_idx + 1)} of {count(len(trees))}, "
    n_rows = int(tree.n_node_samples[0])
    subtitle = f"{which}{counted(tree.n_leaves, 'leaf', 'leaves')}, {counted(n_rows, 'training row')}"
    if is_boosting and len(result.classes) > 2:
        subtitle += f", adds to {result.classes[tree_idx % len(result.classes)]}"
    if result.spec.kind == "adaboost":
        subtitle += f", learner weight {number(float(result.estimator.estimator_weights_[tree_idx]))}"
    edited = frozenset(edit.path for edit in result.edits if not edit.is_of_whole_tree)
    dates, columns = date_columns(table), number_columns(table, result)
    gaps = None if table is None else _GAPS.setdefault(table, {})
    if rows is not None:
        columns, gaps = [None if values is None else values[rows] for values in columns], None
    return make_tree_figure(
        tree, result.feature_specs, result.classes, kind=kind, title=name, subtitle=subtitle,
        event_idx=event_idx, edited=edited, dates=dates, columns=columns, gaps=gaps,
        is_date=result.target in dates,
    )  # fmt: skip
