"""`PruningFigure`: error by leaves along the weakest-link path, and where the shown tree lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.editing import alpha_of
from workbench.figures.training import Line
from workbench.figures.words import counted, number
from workbench.pruning import LOSS_WORDS, PART_WORDS, mean_loss

if TYPE_CHECKING:
    from workbench.pruning import PruningCurve
    from workbench.runs import RunResult

Floats = NDArray[np.float64]
CROSS_VALIDATED = "cross-validated"
PRICE_UNITS = {  # by criterion: other programs scale the price of a leaf by the root's error, or count rows
    "gini": "Gini impurity",
    "entropy": "bits of entropy",
    "misclassification": "shares of wrong rows",
    **{loss: words for loss, words in LOSS_WORDS.items() if loss != "misclassification"},
}


class Stop(NamedTuple):
    """A tree of the path: its leaves, and the price of a leaf that makes it; None: as it was grown."""

    n_leaves: int
    alpha: float | None


class Here(NamedTuple):
    """Where the shown tree lies: leaves, error, and whether it is a tree of the path."""

    n_leaves: int
    error: float
    is_on_path: bool


@dataclass(frozen=True, eq=False)
class PruningFigure:
    """Curves over the number of leaves.

    Attributes
    ----------
    title, subtitle, y_label : str
    stops : tuple of Stop
        By ascending number of leaves.
    lines : tuple of Line
        `x` is the number of leaves.
    band : tuple of float64 (n_stops,) or None
        One standard error below and above the cross-validated line.
    best, one_se : int or None
        Stops with the least cross-validated error, and the smallest tree within one standard error of it.
    here : Here or None
        The shown tree.
    is_share : bool
        Errors are shares of rows.
    """

    title: str
    subtitle: str
    y_label: str
    stops: tuple[Stop, ...]
    lines: tuple[Line, ...]
    band: tuple[Floats, Floats] | None
    best: int | None
    one_se: int | None
    here: Here | None
    is_share: bool

    def stop_of(self, alpha: float | None) -> int:
        """Return the stop of a price of a leaf: the tree that is best for it."""
        if alpha is None:
            return len(self.stops) - 1
        fitting = [i for i, stop in enumerate(self.stops) if stop.alpha is not None and stop.alpha <= alpha]
        return fitting[0] if fitting else len(self.stops) - 1

    def nearest(self, n_leaves: float) -> int:
        """Return the stop nearest to a number of leaves, by their ratio."""
        sizes = np.array([stop.n_leaves for stop in self.stops], np.float64)
        return int(np.argmin(np.abs(np.log(sizes) - np.log(max(n_leaves, 1.0)))))

    def error_text(self, error: float) -> str:
        """Write an error: a share in percent, or a number."""
        return f"{100 * error:.1f} %" if self.is_share else number(error)

    def story(self, stop_idx: int) -> str:
        """What is told of a stop: leaves, price, and the error of every line."""
        stop = self.stops[stop_idx]
        told = [counted(stop.n_leaves, "leaf", "leaves") + ("" if stop.alpha is not None else ", as grown")]
        if stop.alpha is not None:
            told.append(f"a leaf costs {number(stop.alpha)}")
        for line in self.lines:
            text = f"{line.name} {self.error_text(float(line.y[stop_idx]))}"
            if line.name == CROSS_VALIDATED and self.band is not None:
                text += f" ± {self.error_text(float(self.band[1][stop_idx] - line.y[stop_idx]))}"
            told.append(text)
        return "\n".join(told)


def make_pruning(name: str, result: RunResult, curve: PruningCurve) -> PruningFigure:
    """Make the figure of a single tree's path and of where the tree as it is now lies.

    Parameters
    ----------
    name : str
        The run's name.
    """
    from engine.tree.cost_complexity import loss_of

    steps, stops = _stops(curve)
    lines = [
        Line(PART_WORDS[part], PART_WORDS[part], _sizes(stops), losses.mean[steps])
        for part, losses in curve.losses.items()
    ]
    band, best, one_se = None, None, None
    found = curve.cross_validated
    if found is not None:
        mean, spread = found.mean[steps], found.standard_error[steps]
        lines.append(Line("out_of_bag", CROSS_VALIDATED, _sizes(stops), mean))
        band = (mean - spread, mean + spread)
        best = int(np.flatnonzero(steps == found.best_step())[0])
        one_se = int(np.flatnonzero(steps == found.one_standard_error_step())[0])
    rows = [counted(n, f"{PART_WORDS[part]} row") for part, n in curve.n_rows.items()]
    if found is not None:
        rows.append(f"{curve.n_folds} folds of the training rows, band of one standard error")
    rows.append(f"a leaf's price in {_price_unit(result)}")
    loss = loss_of(result.estimator)
    return PruningFigure(
        name, ", ".join(rows), LOSS_WORDS[loss], stops, tuple(lines), band, best, one_se, _here(result),
        loss == "misclassification",
    )  # fmt: skip


def _price_unit(result: RunResult) -> str:
    parameters = result.spec.parameters
    if parameters.get("algorithm", "cart") != "cart":
        return PRICE_UNITS["entropy"]  # the criterion of ID3 and C4.5
    return PRICE_UNITS[parameters.get("criterion", "gini" if result.classes else "squared_error")]


def _stops(curve: PruningCurve) -> tuple[NDArray[np.int64], tuple[Stop, ...]]:
    """Return the path's step of every stop, and the stops, by ascending leaves; last the grown tree."""
    n_steps = len(curve.path.alphas)
    steps = np.arange(n_steps)[::-1]
    stops = [Stop(int(curve.path.n_leaves[i]), float(curve.path.alphas[i])) for i in steps]
    grown = Stop(curve.tree.n_leaves, None)
    if stops[-1].n_leaves == grown.n_leaves:
        stops[-1] = grown
    else:  # splits that gain nothing: the path has lost them from its start
        steps, stops = np.append(steps, 0), [*stops, grown]
    return steps, tuple(stops)


def _sizes(stops: Sequence[Stop]) -> Floats:
    return np.array([stop.n_leaves for stop in stops], np.float64)


def _here(result: RunResult) -> Here | None:
    part = next((part for part in ("validation", "train") if part in result.scores), None)
    if part is None:
        return None
    is_on_path = all(edit.kind == "cost_complexity" for edit in result.edits)
    return Here(result.trees[0].n_leaves, mean_loss(result, part), is_on_path)


def stop_now(figure: PruningFigure, result: RunResult) -> int:
    """Return the stop that a run was pruned to by its price of a leaf."""
    return figure.stop_of(alpha_of(result))
