"""`SplitsFigure`: the candidates of a node, a gain curve each, and the node's own gain as arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.tree.inspect import format_threshold
from engine.tree.structure import IS_MISSING, MULTIWAY, THRESHOLD
from workbench.figures.words import MINUS, count, counted, number

if TYPE_CHECKING:
    from engine.features import FeatureSpec
    from engine.tree.candidates import Candidate, GainCurve
    from engine.tree.structure import Tree
    from workbench.runs import RunResult
    from workbench.splits import NodeStudy

MAX_LEVELS = 3  # named in a candidate's question
MAX_SHARES = 6  # of classes in an impurity that is written out
LETTERS = {
    "gini": "G", "entropy": "H", "misclassification": "M", "squared_error": "V", "absolute_error": "A",
    "poisson": "D",
}  # fmt: skip
MEANINGS = {
    "gini": "Gini impurity", "entropy": "entropy in bits", "misclassification": "share of wrong rows",
    "squared_error": "variance", "absolute_error": "mean distance from the median",
    "poisson": "mean Poisson deviance",
}  # fmt: skip
UNITS = {"entropy": " bits"}


class SplitRow(NamedTuple):
    """One candidate in words.

    Attributes
    ----------
    feature : int
    column, question, gain, validation : str
        The question without the side of missing values.
    is_taken : bool
        The node asks this column.
    is_tied : bool
        It is as good as the best one.
    ratio : str
        Gain ratio of a C4.5 tree's candidate; else empty.
    is_eligible : bool
        False where C4.5 passes it over, as it gains less than the average.
    side : str
        Where missing values go; empty where no row of the node misses the column.
    """

    feature: int
    column: str
    question: str
    gain: str
    validation: str
    is_taken: bool
    is_tied: bool
    ratio: str = ""
    is_eligible: bool = True
    side: str = ""

    @property
    def full_question(self) -> str:
        """The question and where missing values go."""
        return f"{self.question}, missing: {self.side}" if self.side else self.question


@dataclass(frozen=True, eq=False)
class SplitsFigure:
    """The candidates of one node.

    Attributes
    ----------
    title, subtitle : str
    arithmetic : str
        The gain of the node's own question, written out; empty at a leaf.
    rows : tuple of SplitRow
        The largest gain first.
    curves : dict of int to GainCurve
    thresholds : dict of int to float
        Where the best split of each number column lies.
    """

    title: str
    subtitle: str
    arithmetic: str
    rows: tuple[SplitRow, ...]
    curves: dict[int, GainCurve]
    thresholds: dict[int, float]

    @property
    def ties(self) -> str:
        """Which other columns are an equally good choice at this node; empty where none is (C14)."""
        others = [row.column for row in self.rows if row.is_tied and not row.is_taken]
        taken = next((row.column for row in self.rows if row.is_tied and row.is_taken), None)
        if taken is None or not others:
            return ""
        named = ", ".join(others[:MAX_LEVELS])
        more = f" and {len(others) - MAX_LEVELS} more" if len(others) > MAX_LEVELS else ""
        return f"Equally good: {named}{more}; of columns that gain as much the first in the table is asked."


def make_splits(name: str, result: RunResult, study: NodeStudy) -> SplitsFigure:
    """Make the figure of a node's candidates.

    Parameters
    ----------
    name : str
        The run's name.
    """
    tree, node = study.tree, study.tree.node_at(study.path)
    taken = int(tree.feature[node])
    rows = tuple(_row(candidate, study.rows.features, taken) for candidate in study.found)
    n_rows = counted(int(tree.n_node_samples[node]), "training row")
    place = "the root" if not study.path else f"a node at depth {len(study.path)}"
    thresholds = {c.feature: c.split.threshold for c in study.found if c.split.kind == THRESHOLD}
    told = arithmetic_of(result, tree, node)
    return SplitsFigure(name, f"{place}, {n_rows}", told, rows, study.curves, thresholds)


def criterion_of(result: RunResult) -> str:
    """Return what a single tree was grown by; information gain for ID3 and C4.5."""
    from engine.tree.regrow import criterion_of

    return criterion_of(result.estimator)


def arithmetic_of(result: RunResult, tree: Tree, node: int) -> str:
    """Write the gain of a node's question out, and for C4.5 the ratio that it was chosen by."""
    event = result.classes.index(result.event_class) if result.event_class in result.classes else 0
    has_ratio = getattr(result.estimator, "algorithm", "cart") == "c4.5"
    return arithmetic(tree, node, criterion_of(result), result.classes, event=event, has_ratio=has_ratio)


def meaning_of_letter(result: RunResult) -> str:
    """Say what the letter before the brackets of `arithmetic_of` stands for."""
    criterion = criterion_of(result)
    return f"{LETTERS[criterion]} is the {MEANINGS[criterion]} of a branch"


def arithmetic(
    tree: Tree,
    node: int,
    criterion: str,
    classes: Sequence[str],
    *,
    event: int = 0,
    has_ratio: bool = False,
) -> str:
    """Write the gain of a node's question out: "1 − [2/12 H(0,1) + 4/12 H(1,0) + ...] = 0.541 bits".

    Class shares stand in class order, of two classes the `event` first, as fractions where rows are not
    weighted; of numbers the impurities of the branches stand themselves. Branches of two-way questions stand
    yes before no, more of them the smallest first. Of more than `MAX_SHARES` classes the impurities of the
    branches stand themselves, too. The ratio divides the gain by the bits that the branch
    sizes hold: "; ratio 0.541/1.46 = 0.371".
    """
    if tree.is_leaf[node]:
        return ""
    letter, unit = LETTERS[criterion], UNITS.get(criterion, "")
    weights = tree.weighted_n_node_samples
    branches = [k for k in tree.children(node) if weights[k] > 0]
    if tree.kind[node] == MULTIWAY:
        branches.sort(key=lambda k: float(weights[k]))
    order = [event, 1 - event] if len(classes) == 2 else list(range(len(classes)))
    terms = [f"{_share(weights[k], weights[node])} {_impurity_of(tree, k, letter, order)}" for k in branches]
    total, gain = float(tree.impurity[node]), float(tree.gain[node])
    told = f"{number(total)} {MINUS} [{' + '.join(terms)}] = {number(gain)}{unit}"
    if not has_ratio:
        return told
    shares = weights[branches] / weights[branches].sum()
    information = float(-(shares * np.log2(shares)).sum())
    if information <= 0:
        return told
    return f"{told}; ratio {number(gain)}/{number(information)} = {number(gain / information)}"


def _share(part: float, whole: float) -> str:
    if float(part).is_integer() and float(whole).is_integer():
        return f"{count(part)}/{count(whole)}"
    return number(part / whole)


def _impurity_of(tree: Tree, node: int, letter: str, order: Sequence[int]) -> str:
    """Write an impurity with the shares of the classes in `order`; of many, or of numbers, its value."""
    if not order or len(order) > MAX_SHARES:
        return f"{letter}({number(float(tree.impurity[node]))})"
    weight = float(tree.weighted_n_node_samples[node])
    counts = tree.value[node] * weight
    is_counted = weight.is_integer() and np.allclose(counts, np.rint(counts), atol=1e-9)
    shares = []
    for value, found in zip(tree.value[node][order], counts[order], strict=True):
        if value in (0.0, 1.0):
            shares.append(count(value))
        else:
            shares.append(f"{count(round(found))}/{count(weight)}" if is_counted else number(float(value)))
    return f"{letter}({','.join(shares)})"


def _row(candidate: Candidate, features: Sequence[FeatureSpec], taken: int) -> SplitRow:
    spec = features[candidate.feature]
    validation = candidate.validation_gain
    question, side = _question(candidate, spec)
    return SplitRow(
        candidate.feature,
        spec.name,
        question,
        number(candidate.gain),
        "" if np.isnan(validation) else number(validation),
        candidate.feature == taken,
        candidate.is_tied,
        "" if np.isnan(candidate.gain_ratio) else number(candidate.gain_ratio),
        candidate.is_eligible,
        side,
    )


def _question(candidate: Candidate, spec: FeatureSpec) -> tuple[str, str]:
    """Write a candidate's question, and where it sends missing values."""
    split = candidate.split
    if split.kind == IS_MISSING:
        return "is missing", ""
    levels: Any = spec.levels or ()
    if split.kind == MULTIWAY:
        n_levels, at = len(split.levels), split.missing_child
        if at == n_levels:  # missing is a level of its own
            return f"{n_levels + 1} branches", "its own"
        side = "" if at < 0 else str(levels[split.levels[at, 0]])
        return counted(n_levels, "branch", "branches"), side
    side = "" if split.missing_child < 0 else ("yes" if split.missing_child == 0 else "no")
    if split.kind == THRESHOLD:
        return f"≤ {format_threshold(split.threshold).replace('-', MINUS)}", side
    names = [str(levels[code]) for code in split.levels[split.levels[:, 1] == 0, 0]]
    more = len(names) - MAX_LEVELS
    return ", ".join(names[:MAX_LEVELS]) + (f" + {more}" if more > 0 else ""), side


def curve_range(curve: GainCurve) -> tuple[NDArray[np.float64], float]:
    """Return the thresholds, and the top of the axis of gains: the largest gain and a margin."""
    return curve.thresholds, 1.1 * float(curve.gains.max(initial=0.0)) or 1.0
