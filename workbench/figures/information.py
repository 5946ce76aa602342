"""`InformationFigure`: two columns counted together, the arithmetic written out, the chain rule."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.information import JointCounts
from workbench.figures.words import MINUS, count, counted, fixed

if TYPE_CHECKING:
    from workbench.information import Joint, Side

DECIMALS = 6
MAX_TERMS = 24  # of a sum, written out
MAX_GIVEN = 12  # values whose entropies are written out
TIMES = "\N{MULTIPLICATION SIGN}"


class Bar(NamedTuple):
    """A stretch of bits: what it is, where it begins and ends, and in which line of the picture."""

    name: str
    start: float
    end: float
    line: int
    role: str  # "x", "y", "both" or "whole"

    @property
    def bits(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class InformationFigure:
    """What two columns tell of each other.

    Attributes
    ----------
    title, subtitle : str
    x, y : Side
    joint : JointCounts
    arithmetic : tuple of str
        One quantity a line, with the sum it comes from.
    bars : tuple of Bar
        H(X, Y) whole; H(X) and what Y adds; what X adds and H(Y); and what is shared.
    """

    title: str
    subtitle: str
    x: Side
    y: Side
    joint: JointCounts
    arithmetic: tuple[str, ...]
    bars: tuple[Bar, ...]

    @property
    def total_bits(self) -> float:
        return self.joint.joint_entropy

    def bar_at(self, bits: float, line: int) -> Bar | None:
        """Return the bar at a place of the picture; None beside them."""
        here = (bar for bar in self.bars if bar.line == line and bar.start <= bits <= bar.end)
        return next(here, None)

    def cell_text(self, row: int, column: int) -> str:
        """Write a count of the table; the last row and column are the sums."""
        return count(self.count_at(row, column))

    def count_at(self, row: int, column: int) -> int:
        """Return a count; of the row or column after the last value the sum."""
        n_x, n_y = self.joint.counts.shape
        counts: NDArray[np.int64] = self.joint.counts
        rows = slice(None) if row == n_x else slice(row, row + 1)
        columns = slice(None) if column == n_y else slice(column, column + 1)
        return int(counts[rows, columns].sum())

    def to_csv(self) -> str:
        """Return the table of counts, and below it every quantity in bits and how columns were cut."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([f"{self.x.name} \\ {self.y.name}", *self.y.labels, "sum"])
        counts, of_x = self.joint.counts.tolist(), self.joint.of_x.tolist()
        writer.writerows([label, *row, n] for label, row, n in zip(self.x.labels, counts, of_x, strict=True))
        writer.writerow(["sum", *self.joint.of_y.tolist(), self.joint.n_rows])
        writer.writerow([])
        writer.writerow(["quantity", "bits"])
        writer.writerows([[name, repr(bits)] for name, bits in quantities(self.joint)])
        for side in (self.x, self.y):
            if side.how:
                writer.writerow([side.name, side.how])
        return text.getvalue()


def quantities(joint: JointCounts) -> tuple[tuple[str, float], ...]:
    """Return the entropies and the mutual information by name."""
    return (
        ("H(X)", joint.entropy_x),
        ("H(Y)", joint.entropy_y),
        ("H(X,Y)", joint.joint_entropy),
        ("H(X|Y)", joint.x_given_y),
        ("H(Y|X)", joint.y_given_x),
        ("I(X;Y)", joint.mutual_information),
    )


def make_information(found: Joint, weight: str | None = None) -> InformationFigure:
    """Make the figure; `weight` names a weight column, which is told to have no effect here."""
    return InformationFigure(
        title=f"{found.x.name} (X) and {found.y.name} (Y)",
        subtitle=_subtitle(found, weight),
        x=found.x,
        y=found.y,
        joint=found.joint,
        arithmetic=tuple(_arithmetic(found)),
        bars=_bars(found.joint),
    )


def _subtitle(found: Joint, weight: str | None) -> str:
    told = [counted(found.joint.n_rows, "row")]
    if found.n_left_out:
        told.append(f"{count(found.n_left_out)} left out, as a value is missing")
    if weight is not None:
        told.append(f"each counted once, whatever its {weight}")
    told += [f"{side.name} {side.how}" for side in (found.x, found.y) if side.how]
    return "; ".join(told)


def _bars(joint: JointCounts) -> tuple[Bar, ...]:
    whole, shared = joint.joint_entropy, joint.mutual_information
    x, y = joint.entropy_x, joint.entropy_y
    return (
        Bar("H(X,Y)", 0.0, whole, 0, "whole"),
        Bar("H(X)", 0.0, x, 1, "x"),
        Bar("H(Y|X)", x, whole, 1, "y"),
        Bar("H(X|Y)", 0.0, whole - y, 2, "x"),
        Bar("H(Y)", whole - y, whole, 2, "y"),
        Bar("H(X|Y)", 0.0, whole - y, 3, "x"),
        Bar("I(X;Y)", whole - y, whole - y + shared, 3, "both"),
        Bar("H(Y|X)", x, whole, 3, "y"),
    )


def _arithmetic(found: Joint) -> list[str]:
    joint, n = found.joint, found.joint.n_rows
    x, y, both = joint.entropy_x, joint.entropy_y, joint.joint_entropy
    lines = [
        f"H(X) = {_entropy(joint.of_x)} = {_bits(x)}",
        f"H(Y) = {_entropy(joint.of_y)} = {_bits(y)}",
        f"H(X,Y) = {_entropy(joint.counts)} = {_bits(both)}",
        *_given("Y", "X", found.x.labels, joint.counts, joint.y_given_each_x),
        f"H(Y|X) = {_mean(joint.of_x, joint.y_given_each_x, n)} = {_bits(joint.y_given_x)}",
        *_given("X", "Y", found.y.labels, joint.counts.T, joint.x_given_each_y),
        f"H(X|Y) = {_mean(joint.of_y, joint.x_given_each_y, n)} = {_bits(joint.x_given_y)}",
    ]
    shared = _bits(joint.mutual_information)
    return [
        *lines,
        f"I(X;Y) = H(Y) {MINUS} H(Y|X) = {_six(y)} {MINUS} {_six(joint.y_given_x)} = {shared}",
        f"I(X;Y) = H(X) {MINUS} H(X|Y) = {_six(x)} {MINUS} {_six(joint.x_given_y)} = {shared}",
        f"Chain rule: H(X,Y) = H(X) + H(Y|X) = {_six(x)} + {_six(joint.y_given_x)} = {_bits(both)}",
        f"Chain rule: H(X,Y) = H(Y) + H(X|Y) = {_six(y)} + {_six(joint.x_given_y)} = {_bits(both)}",
    ]


def _given(
    what: str, by: str, labels: Sequence[str], counts: NDArray[np.int64], entropies: NDArray[np.float64]
) -> list[str]:
    lines = [
        f"H({what}|{_is(by, label)}) = {_entropy(row)} = {_bits(bits)}"
        for label, row, bits in zip(labels[:MAX_GIVEN], counts, entropies, strict=False)
    ]
    if len(labels) > MAX_GIVEN:
        lines.append(f"… and {count(len(labels) - MAX_GIVEN)} more values of {by}")
    return lines


def _is(name: str, label: str) -> str:
    """Write "X = yes", and of a range at an end "X ≤ 3"."""
    return f"{name} {label}" if label.startswith(("≤ ", "> ")) else f"{name} = {label}"


def _entropy(counts: NDArray[np.int64]) -> str:
    """Write a sum of shares times their logarithms; values without a row add nothing."""
    n, present = int(counts.sum()), counts[counts > 0].ravel()
    terms = [f"{MINUS} {count(k)}/{count(n)} log₂ {count(k)}/{count(n)}" for k in present[:MAX_TERMS]]
    if len(present) > MAX_TERMS:
        terms.append(f"{MINUS} … ({count(len(present) - MAX_TERMS)} more)")
    return " ".join(terms) or "0"


def _mean(counts: NDArray[np.int64], entropies: NDArray[np.float64], n: int) -> str:
    present = np.flatnonzero(counts)
    terms = [f"{count(counts[k])}/{count(n)} {TIMES} {_six(entropies[k])}" for k in present[:MAX_TERMS]]
    if len(present) > MAX_TERMS:
        terms.append(f"… ({count(len(present) - MAX_TERMS)} more)")
    return " + ".join(terms) or "0"


def _six(bits: float) -> str:
    return fixed(bits, DECIMALS)


def _bits(bits: float) -> str:
    return f"{_six(bits)} bits"
