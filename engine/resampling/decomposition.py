"""Where errors come from: noise, bias and variance, of numbers (squared error) and of classes (0-1 loss)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.resampling.draws import QueryRows
from engine.resampling.refits import Refits

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """What both decompositions share. All parts are of each query row: float64 (n_query,).

    Attributes
    ----------
    bias : squared, or 0 and 1; where the truth is not known the noise is in it
    variance
    noise : None where the truth is not known
    error : what is decomposed, averaged over the fits
    weights : of the query rows; None: all alike
    n_fits : int
    """

    bias: Floats
    variance: Floats
    noise: Floats | None
    error: Floats
    weights: Floats | None
    n_fits: int

    @property
    def is_truth_known(self) -> bool:
        """False: bias is measured against what was observed, and holds the noise too."""
        return self.noise is not None

    def mean(self, part: Floats | None) -> float:
        """Return the mean of a part over the query rows, by weight; NaN of None."""
        return float("nan") if part is None else float(np.average(part, weights=self.weights))

    def means(self) -> dict[str, float]:
        """Return the mean of every part by name; noise is NaN where the truth is not known."""
        parts = {"noise": self.noise, "bias": self.bias, "variance": self.variance, "error": self.error}
        return {name: self.mean(part) for name, part in parts.items()}


@dataclass(frozen=True, eq=False)
class SquaredErrorParts(Parts):
    """E (y - f)^2 = noise + (E f - f*)^2 + Var f, the mean squared error (not half of it).

    The expectations are means over the fits there are: of few, bias is too large by the variance divided by
    their number, and variance too small by as much, so that the sum is right. Noise is (y - f*)^2 at the
    query rows; the parts add up to the error but for the mean of 2 (y - f*) (f* - E f), which is 0 on
    average. Where f* is not known, bias is (y - E f)^2, with the noise in it, and the sum is exact.
    """


@dataclass(frozen=True, eq=False)
class ZeroOneParts(Parts):
    """The share of wrong rows by Domingos 2000, "A unified bias-variance decomposition", theorem 2.

    The main prediction is the class that most fits say, the first of equals; the best one the most probable
    class, or what was observed where the probabilities are not known. Bias is 1 where they differ. Variance
    is the share of fits that say another class than the main one: where the main prediction is right it
    adds to the error (`unbiased`), where it is wrong those fits that happen to be right take from it
    (`biased`). Noise is the probability that a row is not of its best class; it adds `net_noise`, which is
    less, as a wrong fit may meet a noisy row. error = net_noise + bias + unbiased - biased, at each row;
    where the probabilities are known it is the expected share of wrong answers, whatever was observed.

    Attributes
    ----------
    unbiased, biased : float64 (n_query,)
    net_noise : float64 (n_query,) or None
    """

    unbiased: Floats
    biased: Floats
    net_noise: Floats | None

    def means(self) -> dict[str, float]:
        more = {"unbiased": self.unbiased, "biased": self.biased, "net_noise": self.net_noise}
        return {**super().means(), **{name: self.mean(part) for name, part in more.items()}}


def decompose(refits: Refits, query: QueryRows) -> SquaredErrorParts | ZeroOneParts:
    """Return noise, bias and variance of the fits at each query row.

    Parameters
    ----------
    refits : Refits
        Of `query.X`; at least one fit.
    query : QueryRows

    Raises
    ------
    DataError
        There is no fit, the query rows are not those of the fits, or hold a class that training never saw.
    """
    moments = Moments.none(refits.predictions.shape[1], refits.classes)
    for prediction in refits.done:
        moments = moments.plus(prediction)
    return moments.parts(query)


@dataclass(frozen=True, eq=False)
class Moments:
    """What a decomposition needs of predictions, added one fit after the other; a value.

    Attributes
    ----------
    n : int
        Fits.
    first : float64 (n_query,), or (n_query, n_classes) of classes
        Mean of the predictions; of classes how many fits say each.
    second : float64 (n_query,)
        Sum of the squared distances from the mean; of classes not used.
    classes : ndarray or None
    """

    n: int
    first: Floats
    second: Floats
    classes: NDArray[Any] | None

    @classmethod
    def none(cls, n_query: int, classes: NDArray[Any] | None) -> Moments:
        shape = (n_query,) if classes is None else (n_query, len(classes))
        return cls(0, np.zeros(shape), np.zeros(n_query), classes)

    def plus(self, prediction: Floats) -> Moments:
        """Return the moments with one fit more (numbers: Welford 1962)."""
        n = self.n + 1
        if self.classes is not None:
            counts = self.first.copy()
            counts[np.arange(len(counts)), np.argmax(prediction, axis=1)] += 1
            return Moments(n, counts, self.second, self.classes)
        distance = prediction - self.first
        mean = self.first + distance / n
        return Moments(n, mean, self.second + distance * (prediction - mean), None)

    def parts(self, query: QueryRows) -> SquaredErrorParts | ZeroOneParts:
        """Return the decomposition; raises DataError where there is no fit or rows do not match."""
        if self.n == 0:
            raise DataError("no fit is done, so there is nothing to decompose")
        if len(query.y) != len(self.first):
            raise DataError(f"the fits answered {len(self.first)} rows, but y has {len(query.y)}; give those")
        if self.classes is None:
            return _of_numbers(self, query)
        return _of_classes(self, query)


def _of_numbers(moments: Moments, query: QueryRows) -> SquaredErrorParts:
    y, mean, variance = np.asarray(query.y, np.float64), moments.first, moments.second / moments.n
    against_y = (y - mean) ** 2
    error = against_y + variance  # the mean over the fits of (y - f)^2
    if query.truth is None:
        return SquaredErrorParts(against_y, variance, None, error, query.weights, moments.n)
    bias, noise = (mean - query.truth) ** 2, (y - query.truth) ** 2
    return SquaredErrorParts(bias, variance, noise, error, query.weights, moments.n)


def _of_classes(moments: Moments, query: QueryRows) -> ZeroOneParts:
    says = moments.first / moments.n
    observed = codes_of(query.y, moments.classes)
    known = query.truth
    best = observed if known is None else np.argmax(known, axis=1)
    main, rows = np.argmax(says, axis=1), np.arange(len(says))
    variance, is_wrong = 1.0 - says[rows, main], main != best
    says_best = says[rows, best]
    unbiased, biased = np.where(is_wrong, 0.0, variance), np.where(is_wrong, says_best, 0.0)
    noise = net_noise = None
    error = 1.0 - says_best
    if known is not None:
        noise = 1.0 - known[rows, best]
        error = 1.0 - (says * known).sum(axis=1)
        net_noise = error - (1.0 - says_best)
    return ZeroOneParts(
        is_wrong.astype(np.float64), variance, noise, error, query.weights, moments.n, unbiased, biased,
        net_noise,
    )  # fmt: skip


def codes_of(y: Any, classes: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the place of every label among the classes; raises DataError of one that is not among them."""
    assert classes is not None
    place_of, labels = {label: place for place, label in enumerate(classes.tolist())}, np.asarray(y).tolist()
    unknown = next((label for label in labels if label not in place_of), None)
    if unknown is not None:
        raise DataError(f"the query rows hold the class {unknown!r}, which training never saw; leave it out")
    return np.array([place_of[label] for label in labels], np.intp)
