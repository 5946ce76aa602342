"""`InstabilityFigure`: the nodes of a tree with what resampled rows would ask there."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.resampling.instability import NO_COLUMN, Instability
from engine.resampling.questions import ENDS, MOVED, OTHER
from engine.tree.structure import Path
from workbench.figures.scores import BarsFigure
from workbench.figures.words import count, counted, percent, value_text

if TYPE_CHECKING:
    from workbench.figures.tree import TreeFigure

HEADS = ("Node asks", "Rows", "Same question", "Same column", "Runner-up", "No split")
TIPS = (
    "The node's question, with its depth in the tree",
    "Training rows of the node",
    "In how many resamples this question is the best: the same column, and at most a tenth of the node's "
    "rows would take another branch",
    "In how many resamples this column is the best, wherever it is divided",
    "The other column that is the best most often",
    "In how many resamples too few or too similar rows reach the node",
)
NOT_ASKED = "\N{EN DASH}"
MARK_TEXTS = {MOVED: "moved", OTHER: "other column", ENDS: "ends"}
"""What a node that two trees do not share is called on its card; what lies below it has no mark."""


@dataclass(frozen=True, eq=False)
class WinsFigure(BarsFigure):
    """In how many resamples each column wins at one node."""

    n_resamples: int = 0

    def text(self, k: int) -> str:
        """Such as "47 of 100"."""
        return f"{count(self.values[k])} of {count(self.n_resamples)}"


@dataclass(frozen=True, eq=False)
class InstabilityFigure:
    """A table of the inner nodes of a tree.

    Attributes
    ----------
    title, subtitle : str
    found : Instability
    tree : TreeFigure
        Of the tree as it is shown.
    places : int64 (n_nodes,)
        Where the node of each row is in `found`: every node comes before those below it.
    paths : tuple of Path
        Of the node of each row.
    """

    title: str
    subtitle: str
    found: Instability
    tree: TreeFigure
    places: NDArray[np.int64]
    paths: tuple[Path, ...]

    @property
    def n_nodes(self) -> int:
        return len(self.paths)

    def row_of(self, path: Path | None) -> int | None:
        """Return the row of a node; None of a leaf, or of no node."""
        return self.paths.index(path) if path in self.paths else None

    def question(self, row: int) -> str:
        """Return what the node asks, as its card says it."""
        return self.tree.rule(self._node(row)).text

    def _node(self, row: int) -> int:
        return int(self.found.nodes[self.places[row]])

    def n_rows(self, row: int) -> int:
        """Return the node's training rows."""
        return int(self.tree.tree.n_node_samples[self._node(row)])

    def depth(self, row: int) -> int:
        return len(self.paths[row])

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell, see `HEADS`."""
        found, at = self.found, self.places[row]
        if column == 0:
            return self.question(row)
        if column == 1:
            return count(self.n_rows(row))
        if column == 4:
            return self._runner_up_text(at)
        counts = {2: found.same_question, 3: found.same_column, 5: found.n_without}[column]
        return percent(int(counts[at]), found.n_resamples)

    def _runner_up_text(self, at: int) -> str:
        other = int(self.found.runner_up[at])
        if other == NO_COLUMN:
            return NOT_ASKED
        share = percent(int(self.found.wins[at, other]), self.found.n_resamples)
        return f"{self.found.features[other].name} {share}"

    def wins_at(self, row: int) -> WinsFigure:
        """Return the columns that win at a node, most often first."""
        at = self.places[row]
        wins = self.found.wins[at]
        order = np.argsort(-wins, kind="stable")[: np.count_nonzero(wins)]
        title = f"{'Node' if self.paths[row] else 'First split'}: {self.question(row)}"
        return WinsFigure(
            title, self._where(at), tuple(self.found.features[k].name for k in order),
            wins[order].astype(np.float64), n_resamples=self.found.n_resamples,
        )  # fmt: skip

    def _where(self, at: int) -> str:
        """Say which thresholds of its own column are the same question, and where those found lie."""
        thresholds = self._thresholds(at)
        lower, upper = self.found.bands[at]
        won = "resamples won by each column"
        if not len(thresholds) or not np.isfinite([lower, upper]).all():
            return won
        is_date = self.found.features[int(self.found.own[at])].name in self.tree.dates
        quarters = np.quantile(thresholds, [0.25, 0.75], method="closest_observation")
        ends = [value_text(float(end), 4, is_date) for end in (lower, upper, *quarters)]
        same, middle = (" to ".join(pair) for pair in (ends[:2], ends[2:]))
        return f"{won}; thresholds from {same} are the same question, half of all are from {middle}"

    def _thresholds(self, at: int) -> NDArray[np.float64]:
        is_own = self.found.columns[:, at] == self.found.own[at]
        values: NDArray[np.float64] = self.found.thresholds[is_own, at]
        return values[np.isfinite(values)]

    def to_csv(self) -> str:
        """Return a line a node: path, question, rows, and the wins of every column."""
        found, text = self.found, io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [f"wins of {spec.name}" for spec in found.features]
        writer.writerow(
            ["node", "question", "rows", "resamples", "same question", "same column", "no split", *names]
        )
        for row, (at, path) in enumerate(zip(self.places.tolist(), self.paths, strict=True)):
            same = (int(counts[at]) for counts in (found.same_question, found.same_column, found.n_without))
            place = "-".join(str(branch + 1) for branch in path) or "root"
            writer.writerow(
                [
                    place,
                    self.question(row),
                    self.n_rows(row),
                    found.n_resamples,
                    *same,
                    *found.wins[at].tolist(),
                ]
            )
        return text.getvalue()


def make_instability(name: str, tree: TreeFigure, found: Instability) -> InstabilityFigure:
    """Make the figure of a model called `name`."""
    words = counted(found.n_resamples, "resample")
    if found.n_resamples < found.n_wanted:
        words = f"{count(found.n_resamples)} of {counted(found.n_wanted, 'resample')}"
    if found.errors:
        words += f", {count(len(found.errors))} failed: {found.errors[min(found.errors)]}"
    n_rows = int(tree.tree.n_node_samples[0])
    known = ((node, found.place_of(node)) for node in tree.tree.walk())
    places = {node: at for node, at in known if at is not None}
    return InstabilityFigure(
        name, f"{words} of the {counted(n_rows, 'training row')}", found, tree,
        np.array(list(places.values()), np.int64), tuple(map(tree.tree.path_to, places)),
    )  # fmt: skip
