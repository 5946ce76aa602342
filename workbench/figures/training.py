"""`TrainingFigure`: loss by round, robust against values that are not finite (case C31)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.catalog import entry_of
from workbench.catalog_entry import TASKS
from workbench.figures.words import count, counted, number

OUT_OF_BAG, TREES = "out_of_bag", "trees"
EPOCH = "epoch"
LEAST_TREES = 10  # with fewer, more than 1 % of the rows may still be in all samples: no error to compare
SHARE = "share of wrong rows"
EACH_TREE = "each tree alone"
EACH_TREE_COLOUR = 2  # among the line colours, whether there is a validation line or not
MAX_NAMED = 4  # lines with their names at their ends; more have a legend


ORDERED = "training loss by ordered statistics: each row by those before it, unlike in Scores"


def words_of_training_loss(parameters: Mapping[str, Any], has_categories: bool) -> str:
    """Say by what the training loss goes where that is not what the model says of the rows; else ""."""
    return ORDERED if has_categories and parameters.get("categorical") == "ordered" else ""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve.

    Attributes
    ----------
    role : str
        "training", "validation" or "out_of_bag": colour, width and dash.
    name : str
        What stands at its end.
    x : float64 (n,)
        Rounds.
    y : float64 (n,)
        Loss; what is not finite is NaN here, a gap in the drawing.
    n_odd : int
        How many values were not finite.
    is_dashed : bool
        Set apart from a line of the same colour.
    colour : int or None
        Position among the line colours, where the role does not say it.
    """

    role: str
    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    n_odd: int = 0
    is_dashed: bool = False
    colour: int | None = None

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Points without a finite neighbour, which a line cannot show: bool (n,)."""
        finite = np.isfinite(self.y)
        before = np.concatenate([[False], finite[:-1]])
        after = np.concatenate([finite[1:], [False]])
        return np.asarray(finite & ~before & ~after)

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Points drawn as dots: those alone, and where a forest stands with all its trees: bool (n,)."""
        marked, finite = self.alone, np.flatnonzero(np.isfinite(self.y))
        if self.role == OUT_OF_BAG and len(finite):
            marked[finite[-1]] = True
        return marked


@dataclass(frozen=True, eq=False)
class TrainingFigure:
    """Curves of one or more runs.

    Attributes
    ----------
    title, subtitle : str
    y_label : str
        The loss and its unit.
    lines : tuple of Line
    best_round : int or None
        Round with the lowest validation loss.
    note : str
        Such as "2 values not finite"; empty most of the time.
    y_range : tuple of float or None
        Robust range; None when nothing is finite.
    full_range : tuple of float or None
        Range of all finite values.
    x_label : str
    step_errors : float64 (n_rounds,) or None
        Weighted error of each round's own learner, where it is of another unit than the lines.
    is_of_members : bool
        The lines are those of an ensemble's members, a pair each.
    """

    title: str
    subtitle: str
    y_label: str
    lines: tuple[Line, ...]
    best_round: int | None = None
    note: str = ""
    y_range: tuple[float, float] | None = None
    full_range: tuple[float, float] | None = None
    x_label: str = "round"
    step_errors: NDArray[np.float64] | None = None
    is_of_members: bool = False

    @property
    def sentence(self) -> str:
        """The lowest loss and its round, of the validation rows where there are any."""
        line = next((line for line in self.lines if line.role == "validation"), None) or self.lines[0]
        if self.is_of_members:
            return self._members_sentence()
        finite = np.flatnonzero(np.isfinite(line.y))
        if line.role == OUT_OF_BAG:
            return self._out_of_bag_sentence(line)
        if not len(finite) or not line.x[-1]:
            return ""  # nothing yet, or the start alone
        lowest = finite[np.argmin(line.y[finite])]
        best, value = int(line.x[lowest]), number(float(line.y[lowest]))
        what = f"share of wrong {line.role} rows" if self.y_label == SHARE else f"{line.role} loss"
        if not best:
            return f"no {self.x_label} is better than none: {what} {value} before the first"
        return f"lowest {what} {value} in {self.x_label} {count(best)} of {count(int(line.x[-1]))}"

    def _members_sentence(self) -> str:
        """Where networks' losses are lowest, from the best network to the worst."""
        shown = [line for line in self.lines if not line.is_dashed and np.isfinite(line.y).any()]
        if not shown:
            return ""
        what = shown[0].name.rpartition(", ")[2]
        lowest = sorted(float(np.nanmin(line.y)) for line in shown)
        if len(lowest) == 1:
            return f"lowest {what} loss {number(lowest[0])}"
        return f"lowest {what} losses of the networks {number(lowest[0])} to {number(lowest[-1])}"

    def _out_of_bag_sentence(self, line: Line) -> str:
        finite = np.flatnonzero(np.isfinite(line.y))
        if not len(finite):
            return ""
        last = finite[-1]
        error, n_trees = f"out-of-bag error {number(float(line.y[last]))}", counted(int(line.x[last]), "tree")
        if self.best_round is None:
            return f"{error} with {n_trees}"
        if self.best_round == line.x[last]:
            return f"{error} with {n_trees}, the lowest"
        lowest = float(line.y[line.x == self.best_round][0])
        return f"{error}, lowest {number(lowest)} at {counted(self.best_round, 'tree')}"

    @property
    def names_at_ends(self) -> bool:
        """Tell whether names stand at the lines' ends: of a few, none of which runs on below a name."""
        return len(self.lines) <= MAX_NAMED and len({line.x[-1] for line in self.lines if len(line.x)}) <= 1

    @property
    def is_cut(self) -> bool:
        """Tell whether values lie outside of the robust range, so that "show all" has a meaning."""
        return self.y_range != self.full_range

    def values_at(self, x: float) -> tuple[int, tuple[tuple[Line, float], ...]] | None:
        """Return the nearest round and every line's value there; None without points."""
        rounds = [line.x for line in self.lines if len(line.x)]
        if not rounds:
            return None
        known = np.unique(np.concatenate(rounds))
        nearest = float(known[np.argmin(np.abs(known - x))])
        found = []
        for line in self.lines:
            at = np.flatnonzero(line.x == nearest)
            if len(at):
                found.append((line, float(line.y[at[0]])))
        return int(nearest), tuple(found)

    def hairline_text(self, x: float) -> str:
        """What is written beside the pointer: "round 37", then a line a curve."""
        found = self.values_at(x)
        if found is None:
            return ""
        values = [
            f"{line.name} {number(value, 4) if np.isfinite(value) else 'not finite'}"
            for line, value in found[1]
        ]
        if self.step_errors is not None and 1 <= found[0] <= len(self.step_errors):
            values.append(f"its weighted error {number(float(self.step_errors[found[0] - 1]), 4)}")
        is_trees = self.x_label == TREES
        place = counted(found[0], "tree") if is_trees else f"{self.x_label} {count(found[0])}"
        return "\n".join([place, *values])


def spread_names(
    ends: Sequence[tuple[float, float]], step: float, low: float, high: float, reach: float
) -> list[float]:
    """Return where the names of curves stand: at their ends, whole, and none over another.

    Parameters
    ----------
    ends : sequence of (x, y)
        Last points of the curves.
    step : float
        Height of a name, in units of y.
    low, high : float
        What is shown of y; no name leaves it unless all have no room in it.
    reach : float
        Names that begin nearer than this to one another, in units of x, must differ in height.

    Returns
    -------
    list of float
        Height of the middle of each name.
    """
    places = [min(max(y, low + step / 2), high - step / 2) for _, y in ends]
    order = sorted(range(len(ends)), key=lambda k: (ends[k][1], k))
    for i, k in enumerate(order):
        for below in order[:i]:
            if abs(ends[k][0] - ends[below][0]) < reach:
                places[k] = max(places[k], places[below] + step)
    ceiling = [max(high - step / 2, low + step / 2)] * len(ends)
    for i, k in reversed(list(enumerate(order))):
        places[k] = min(places[k], ceiling[k])
        for below in order[:i]:
            if abs(ends[k][0] - ends[below][0]) < reach:
                ceiling[below] = min(ceiling[below], places[k] - step)
    return places


def make_line(role: str, name: str, y: Any, first: int = 0) -> Line:
    """Make a line of losses by round, the first of them round `first`."""
    values = np.array(y, dtype=np.float64).reshape(-1)
    odd = ~np.isfinite(values)
    values[odd] = np.nan
    return Line(role, name, np.arange(first, first + len(values), dtype=np.float64), values, int(odd.sum()))


def robust_range(
    lines: Iterable[Line],
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Return the vertical range to show and the range of all finite values.

    The robust range spans the 2nd to the 98th percentile, ends included, with a margin of 5 %. It is
    taken only where it leaves out more than a third of the full height: a tail worth cutting.
    """
    values = np.concatenate([line.y for line in lines] or [np.empty(0)])
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None, None
    low = float(np.percentile(values, 2, method="lower"))
    high = float(np.percentile(values, 98, method="higher"))
    full = _widened(float(values.min()), float(values.max()))
    robust = _widened(low, high)
    is_tail = (robust[1] - robust[0]) * 1.5 < full[1] - full[0]
    return (robust if is_tail else full), full


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin


def make_training_figure(
    lines: Sequence[Line],
    y_label: str,
    *,
    title: str = "",
    subtitle: str = "",
    best_round: int | None = None,
    x_label: str = "round",
    is_of_members: bool = False,
) -> TrainingFigure:
    """Make a figure of finished or growing curves."""
    shown, full = robust_range(lines)
    n_odd = sum(line.n_odd for line in lines)
    note = f"{counted(n_odd, 'value')} not finite" if n_odd else ""
    if full is None and n_odd:
        note = "no finite values"
    return TrainingFigure(
        title, subtitle, y_label, tuple(lines), best_round, note, shown, full, x_label,
        is_of_members=is_of_members,
    )  # fmt: skip


def with_step_errors(figure: TrainingFigure, errors: Any) -> TrainingFigure:
    """Add each round's own weighted error: a line beside shares of wrong rows, else words at the pointer."""
    errors = np.asarray(errors, np.float64)
    if not len(errors):
        return figure
    if figure.y_label != SHARE:
        return replace(figure, step_errors=errors)
    line = replace(make_line("each_tree", EACH_TREE, errors, 1), colour=EACH_TREE_COLOUR)
    lines = (*figure.lines, line)
    shown, full = robust_range(lines)
    subtitle = f"{figure.subtitle}; {EACH_TREE}: its error on the rows as they weighed"
    return replace(figure, lines=lines, y_range=shown, full_range=full, subtitle=subtitle)


def curve_of_run(name: str, result: Any) -> TrainingFigure | None:
    """Make the figure of a trained run; None where its kind of model has no curve.

    Parameters
    ----------
    result : RunResult
    """
    curve = result.curve
    if hasattr(result.estimator, "members_"):
        from workbench.figures.members import curves_of_members

        label = entry_of(result.spec.kind).curve_name(
            TASKS[0 if result.classes else 1], result.spec.parameters
        )
        return curves_of_members(name, result, label)
    if curve is None:
        return out_of_bag_curve(name, result)
    lines = [make_line("training", "training", curve.train)]
    has_validation = len(curve.validation) > 0
    if has_validation:
        lines.append(make_line("validation", "validation", curve.validation))
    parts = np.asarray(result.parts)
    rows = counted(int(np.count_nonzero(parts == 0)), "training row")
    if len(parts) == 0:
        rows = "from a model file"
    elif has_validation:
        rows += f", {counted(int(np.count_nonzero(parts == 1)), 'validation row')}"
    else:
        rows += ", no validation part"
    step = entry_of(result.spec.kind).step_name
    if result.stopped:
        n = result.n_rounds
        rows += f", stopped after {counted(n, step)}" if n else f", stopped before the first {step}"
    has_categories = any(spec.is_categorical for spec in result.feature_specs)
    if words := words_of_training_loss(result.spec.parameters, has_categories):
        rows += f"; {words}"
    if why_ended := getattr(result.estimator, "why_ended_", ""):
        rows += f", {why_ended}"
    best = curve.best_round if has_validation else None
    figure = make_training_figure(lines, curve.unit, title=name, subtitle=rows, best_round=best, x_label=step)
    return with_step_errors(figure, getattr(result.estimator, "estimator_errors_", ()))


def out_of_bag_curve(name: str, result: Any) -> TrainingFigure | None:
    """Make the figure of a forest's or bag's error on rows that its trees left out, by number of trees.

    None where it was not asked for. What a file brought back has it too.
    """
    label = entry_of(result.spec.kind).out_of_bag_name(TASKS[0 if result.classes else 1])
    losses = np.asarray(getattr(result.estimator, "oob_loss_", ()), np.float64)
    if not label or not len(losses):
        return None
    n_rows = int(np.count_nonzero(np.asarray(result.parts) == 0))
    told = counted(n_rows, "training row") if n_rows else "training rows"
    told += ", each asked of the trees that did not draw it"
    if n_never := getattr(result.estimator, "n_rows_never_out_", 0):
        them = "it" if n_never == 1 else "them"
        told += f"; {counted(n_never, 'row')} not counted, as every tree drew {them}"
    if result.stopped:
        told += f"; stopped after {counted(result.n_rounds, 'tree')}"
    return _out_of_bag_figure(losses, 1, label, name, told)


def _out_of_bag_figure(losses: Any, first: int, label: str, name: str, told: str) -> TrainingFigure:
    line = make_line(OUT_OF_BAG, "out of bag", losses, first)
    counts = np.isfinite(line.y) & (line.x >= LEAST_TREES)
    best = int(line.x[np.argmin(np.where(counts, line.y, np.inf))]) if counts.any() else None
    return make_training_figure([line], label, title=name, subtitle=told, best_round=best, x_label=TREES)


def _best_of(line: Line) -> int | None:
    """Return the round of the lowest loss, as the engine names it: not the start; None without any."""
    is_round = np.isfinite(line.y) & (line.x > 0)
    return int(line.x[np.argmin(np.where(is_round, line.y, np.inf))]) if is_round.any() else None


class LiveCurve:
    """Losses of a fit that is still going on, collected from its events."""

    def __init__(self, name: str, y_label: str, subtitle: str = "", step_name: str = "round") -> None:
        self._name, self._y_label, self._subtitle, self._step_name = name, y_label, subtitle, step_name
        self._first: int | None = None
        self._last = -1
        self._train: list[float] = []
        self._val: list[float] = []
        self._out_of_bag: list[float] = []
        self._step_errors: list[float] = []

    @property
    def n_points(self) -> int:
        return len(self._train) or len(self._out_of_bag)

    def extend(self, events: Iterable[Any]) -> bool:
        """Take the losses of a batch of events; True if there were any."""
        n_before = self.n_points
        for event in events:
            if event.iteration <= self._last:
                continue  # told again, to ask whether to stop
            if event.train_loss is None and event.oob_loss is None:
                continue
            self._first = event.iteration if self._first is None else self._first
            self._last = event.iteration
            if event.train_loss is None:
                self._out_of_bag.append(event.oob_loss)
                continue
            self._train.append(event.train_loss)
            if event.val_loss is not None:
                self._val.append(event.val_loss)
            if event.step_error is not None:
                self._step_errors.append(event.step_error)
        return self.n_points > n_before

    def figure(self) -> TrainingFigure:
        """Return what is known so far."""
        first = self._first or 0
        if self._out_of_bag:
            told = f"{counted(self._last, 'tree')} so far"
            return _out_of_bag_figure(self._out_of_bag, first, self._y_label, self._name, told)
        lines = [make_line("training", "training", self._train, first)]
        best = None
        if self._val:
            line = make_line("validation", "validation", self._val, first)
            lines.append(line)
            best = _best_of(line)
        n = self.n_points - (1 if first == 0 and self.n_points else 0)
        told = "; ".join(part for part in (f"{counted(n, self._step_name)} so far", self._subtitle) if part)
        figure = make_training_figure(
            lines, self._y_label, title=self._name, subtitle=told, best_round=best, x_label=self._step_name
        )
        return with_step_errors(figure, self._step_errors)
