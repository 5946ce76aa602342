"""Samples of which it is known how they were made: fresh tables from the same source, and the truth of rows.

They are the sources of the shipped samples of the same names. Coordinates are not rounded here, and rows
come in random order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import ParameterError

Floats = NDArray[np.float64]
CELLS_AT_ONCE = 2_000_000  # of distances from rows to centres: 16 MB


class Truth(Protocol):
    """A source of rows.

    Attributes
    ----------
    columns : tuple of str
        What X holds.
    classes : ndarray (n_classes,) or None
        None of numbers.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def classes(self) -> NDArray[Any] | None: ...
    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        """Return fresh rows and their targets: float64 (n_rows, n_features) and (n_rows,)."""
        ...

    def expected(self, X: Floats) -> Floats:
        """Return the mean target (n_rows,), or the probabilities of the classes (n_rows, n_classes)."""
        ...


@dataclass(frozen=True, eq=False)
class Curve:
    """A number that is a function of one column, with Gaussian noise of one standard deviation.

    Attributes
    ----------
    function : callable
    draw_x : callable
        ``draw_x(rng, n)`` returns values of the column.
    noise_std : float
    """

    function: Callable[[Floats], Floats]
    draw_x: Callable[[np.random.Generator, int], Floats]
    noise_std: float
    columns: tuple[str, ...] = ("x",)
    classes: None = None

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        x = self.draw_x(rng, n_rows)
        return x[:, np.newaxis], self.function(x) + rng.normal(0.0, self.noise_std, n_rows)

    def expected(self, X: Floats) -> Floats:
        return np.asarray(self.function(X[:, 0]))


@dataclass(frozen=True, eq=False)
class Cloud:
    """Rows of one class: Gaussian of one standard deviation about a point of a curve drawn evenly.

    Attributes
    ----------
    centre : callable
        Returns the points (n, 2) of places u (n,) from 0 to 1.
    std : float
    n_centres : int
        By so many the curve is replaced where densities are added up: the midpoints of equal parts of u.
    """

    centre: Callable[[Floats], Floats]
    std: float
    n_centres: int

    @property
    def centres(self) -> Floats:
        return self.centre((np.arange(self.n_centres) + 0.5) / self.n_centres)


@dataclass(frozen=True, eq=False)
class Clouds:
    """Classes of equally many rows on average, each a cloud about a curve or a point in the plane."""

    of_class: dict[str, Cloud]
    columns: tuple[str, ...] = ("x1", "x2")

    @property
    def classes(self) -> NDArray[Any]:
        return np.array(sorted(self.of_class))

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        codes, place = rng.integers(len(self.of_class), size=n_rows), rng.uniform(size=n_rows)
        noise, X = rng.normal(size=(n_rows, 2)), np.empty((n_rows, 2))
        for code, name in enumerate(self.classes.tolist()):
            of_it, cloud = codes == code, self.of_class[name]
            X[of_it] = cloud.centre(place[of_it]) + cloud.std * noise[of_it]
        return X, self.classes[codes]

    def expected(self, X: Floats) -> Floats:
        logs = np.column_stack([_log_density(self.of_class[name], X) for name in self.classes.tolist()])
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _log_density(cloud: Cloud, X: Floats) -> Floats:
    """Return the logarithm of a cloud's density, but for a factor that all clouds share."""
    centres, found = cloud.centres, np.empty(len(X))
    n_rows = max(CELLS_AT_ONCE // len(centres), 1)
    for at in range(0, len(X), n_rows):
        rows = X[at : at + n_rows]
        squares = (rows[:, [0]] - centres[:, 0]) ** 2 + (rows[:, [1]] - centres[:, 1]) ** 2
        logs = -0.5 * squares / cloud.std**2
        largest = logs.max(axis=1)
        found[at : at + n_rows] = largest + np.log(np.exp(logs - largest[:, np.newaxis]).mean(axis=1))
    return np.asarray(found - 2 * np.log(cloud.std))


@dataclass(frozen=True, eq=False)
class Region:
    """Rows uniform in the square from -2 to 2, of one class inside a region, of another outside: no noise."""

    inside: str
    outside: str
    is_inside: Callable[[Floats, Floats], NDArray[np.bool_]]
    columns: tuple[str, ...] = ("x1", "x2")

    @property
    def classes(self) -> NDArray[Any]:
        return np.array(sorted([self.inside, self.outside]))

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
        X = rng.uniform(-2, 2, (n_rows, 2))
        return X, self.classes[np.argmax(self.expected(X), axis=1)]

    def expected(self, X: Floats) -> Floats:
        names = np.where(self.is_inside(X[:, 0], X[:, 1]), self.inside, self.outside)
        return np.asarray(names[:, np.newaxis] == self.classes, np.float64)


def truth_of(name: str) -> Truth:
    """Return the source of a sample; raises ParameterError where none is known of it."""
    if name not in TRUTHS:
        raise ParameterError(
            f"it is not known how {name!r} was made; choose one of {', '.join(sorted(TRUTHS))}"
        )
    return TRUTHS[name]


def _uniform(lower: float, upper: float, rng: np.random.Generator, n_rows: int) -> Floats:
    return rng.uniform(lower, upper, n_rows)


def _on_either_side(rng: np.random.Generator, n_rows: int) -> Floats:
    return rng.uniform(1, 4, n_rows) * np.where(rng.random(n_rows) < 0.5, -1, 1)


def _clouds() -> Clouds:
    """Return ten centres a class, those of the sample (Hastie, Tibshirani, Friedman 2009, section 2.3)."""
    rng = np.random.default_rng(24)
    of_low, of_high = rng.normal((1, 0), 1, (10, 2)), rng.normal((0, 1), 1, (10, 2))
    std = float(np.sqrt(0.2))
    return Clouds(
        {"low": Cloud(partial(_one_of, of_low), std, 10), "high": Cloud(partial(_one_of, of_high), std, 10)}
    )


def _one_of(centres: Floats, u: Floats) -> Floats:
    return np.asarray(centres[np.minimum((u * len(centres)).astype(np.intp), len(centres) - 1)])


def _arc(u: Floats, shift: tuple[float, float], sign: float, scale: float, turn: float) -> Floats:
    angle = turn * u
    return np.column_stack([shift[0] + sign * scale * np.cos(angle), shift[1] + sign * scale * np.sin(angle)])


def _spiral(u: Floats, sign: float) -> Floats:
    along = np.sqrt(0.03 + 0.97 * u)  # as far out as many rows lie within
    angle = 3 * np.pi * along
    return np.asarray(sign * np.column_stack([along * np.cos(angle), along * np.sin(angle)]))


def _beds(u: Floats, degrees: Sequence[float]) -> Floats:
    turn = np.deg2rad(np.asarray(degrees, np.float64))
    return _one_of(0.55 * np.column_stack([np.cos(turn), np.sin(turn)]), u)


def _point(x: float, y: float) -> Callable[[Floats], Floats]:
    return lambda u: np.tile([x, y], (len(u), 1))


def _slanted(along: float, across_std: float, along_std: float) -> Cloud:
    """Return a cloud that is longer across a slanted line than along it."""
    from scipy.special import ndtri

    # the wider direction is the curve: quantiles of the rest of its variance, about which all is round
    rest = np.sqrt(across_std**2 - along_std**2)

    def centre(u: Floats) -> Floats:
        across = rest * ndtri(np.clip(u, 1e-12, 1 - 1e-12))
        return np.asarray(np.column_stack([along - across, along + across]) / np.sqrt(2))

    return Cloud(centre, along_std, 1000)


TRUTHS: dict[str, Truth] = {
    "cosine": Curve(np.cos, partial(_uniform, -5.0, 5.0), 0.2),
    "few_points": Curve(lambda x: np.sin(2 * np.pi * x), partial(_uniform, 0.0, 1.0), 0.3),
    "gap": Curve(lambda x: np.sin(2 * x), _on_either_side, 0.15),
    "clouds": _clouds(),
    "moons": Clouds(
        {
            "upper": Cloud(lambda u: _arc(u, (0.0, 0.0), 1.0, 1.0, np.pi), 0.15, 400),
            "lower": Cloud(lambda u: _arc(u, (1.0, 0.5), -1.0, 1.0, np.pi), 0.15, 400),
        }
    ),
    "circles": Clouds(
        {
            "outer": Cloud(lambda u: _arc(u, (0.0, 0.0), 1.0, 1.0, 2 * np.pi), 0.1, 600),
            "inner": Cloud(lambda u: _arc(u, (0.0, 0.0), 1.0, 0.5, 2 * np.pi), 0.1, 600),
        }
    ),
    "spiral": Clouds(
        {
            "first arm": Cloud(lambda u: _spiral(u, 1.0), 0.02, 2000),
            "second arm": Cloud(lambda u: _spiral(u, -1.0), 0.02, 2000),
        }
    ),
    "three_in_a_row": Clouds(
        {name: _slanted(along, 1.5, 0.5) for name, along in (("left", -2.5), ("middle", 0.0), ("right", 2.5))}
    ),
    "darts": Clouds(
        {
            "Ada": Cloud(lambda u: _beds(u, (144, 108, 72, 36)), 0.028, 4),
            "Ben": Cloud(lambda u: _beds(u, (126, 90, 54)), 0.028, 3),
            "Cleo": Cloud(_point(-0.2, -0.35), 0.3, 1),
            "Dan": Cloud(_point(0.2, -0.35), 0.3, 1),
        },
        ("x", "y"),
    ),
    "linear_border": Region("above", "below", lambda x, y: x + y > 0),
    "box": Region("inside", "outside", lambda x, y: (x > -1) & (x < 0.75) & (y > -0.5) & (y < 1.25)),
}
"""By key of the sample."""
