"""What a model does not know: as a layer over two columns, as a band along one (contracts D23)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.figures.words import number

if TYPE_CHECKING:
    from engine.monitor import FitMonitor
    from engine.uncertainty import Uncertainty
    from workbench.figures.axis import Axis

Floats = NDArray[np.float64]
PREDICTION, TOTAL, ALEATORIC, EPISTEMIC = "prediction", "total", "aleatoric", "epistemic"
LAYERS = (PREDICTION, TOTAL, ALEATORIC, EPISTEMIC)
NAMES = {
    PREDICTION: "Prediction",
    TOTAL: "All Uncertainty",
    ALEATORIC: "Noise (Aleatoric)",
    EPISTEMIC: "Disagreement (Epistemic)",
}
COVERAGE, Z_OF_COVERAGE = 0.9, 1.6448536269514722  # of a band; a Gaussian has so much within z deviations
BY_DISAGREEMENT = "disagreement alone"  # legends have no room for more
ENTROPIES = {TOTAL: "entropy", ALEATORIC: "expected entropy", EPISTEMIC: "mutual information"}


@dataclass(frozen=True, eq=False)
class Spread:
    """How uncertain a model is, everywhere in a picture.

    Of numbers all three are standard deviations, in the target's unit: the square of `total` is the sum of
    the other squares. Of classes they are entropy, expected entropy and mutual information in nats, of which
    the first is the sum of the others. NaN where the model does not know its noise.

    Attributes
    ----------
    total, aleatoric, epistemic : float64 (n_y, n_x) or (n_x,)
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats

    def of(self, layer: str) -> Floats:
        """One of the three by its name."""
        return {TOTAL: self.total, ALEATORIC: self.aleatoric, EPISTEMIC: self.epistemic}[layer]

    def largest(self) -> float:
        """The largest of all three anywhere: the end of the one scale that pictures of any of them have."""
        return max(float(np.max(part[np.isfinite(part)], initial=0.0)) for part in self._parts)

    @property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        return self.total, self.aleatoric, self.epistemic

    def lines(self, at: Any, is_classes: bool) -> list[str]:
        """What is told at a point, a line each; nothing of what is not known."""
        if is_classes:
            told = (("entropy", "nats"), ("noise", "nats"), ("disagreement", "nats"))
        else:
            told = (("in all ±", ""), ("noise ±", ""), ("disagreement ±", ""))
        values = [float(part[at]) for part in self._parts]
        return [
            f"{name} {number(value)} {unit}".rstrip()
            for (name, unit), value in zip(told, values, strict=True)
            if np.isfinite(value)
        ]


@dataclass(frozen=True, eq=False)
class Band:
    """What lies around a fit along one column.

    Attributes
    ----------
    outer, inner : (lower, upper) or None
        float64 (n_classes or 1, n_x) each: of everything that is not known, and of disagreement alone.
    outer_text, inner_text : str
        What they are, for the legend.
    spread : Spread
    """

    outer: tuple[Floats, Floats] | None
    inner: tuple[Floats, Floats] | None
    outer_text: str
    inner_text: str
    spread: Spread

    def ends(self) -> Floats:
        """All ends of both, for the range of a picture."""
        pairs = [pair for pair in (self.outer, self.inner) if pair is not None]
        return np.concatenate([end.ravel() for pair in pairs for end in pair])


def layers_of(estimator: Any) -> tuple[str, ...]:
    """Return the layers that there are of a fitted model; the prediction alone of most."""
    from engine.uncertainty_surface import knows_noise, tells_uncertainty

    if not tells_uncertainty(estimator):
        return (PREDICTION,)
    return LAYERS if knows_noise(estimator) else (PREDICTION, EPISTEMIC)


def name_of(layer: str) -> str:
    """A layer's name as menus write it."""
    return NAMES[layer]


def why_no_layer(estimator: Any, layer: str) -> str:
    """Say why a model has no such layer; empty where it has."""
    has = layers_of(estimator)
    if layer in has:
        return ""
    if EPISTEMIC in has:
        return "Trees that are grown by absolute error do not know their noise"
    return "Only forests, bags of trees and deep ensembles tell how uncertain they are"


def quantity_text(target: str, layer: str, is_classes: bool, is_date: bool) -> str:
    """Name what the colours of a layer stand for, with its unit."""
    if is_classes:
        return f"{ENTROPIES[layer]} (nats)"
    return f"{target} (standard deviation{', days' if is_date else ''})"


def title_with(name: str, layer: str) -> str:
    """Name a model and what is drawn of it; its prediction is not named."""
    return name if layer == PREDICTION else f"{name}, {NAMES[layer].lower()}"


def spread_over(estimator: Any, x: Axis, y: Axis, held: Floats, monitor: FitMonitor) -> Spread:
    """Ask a model how uncertain it is on a grid of two columns."""
    from engine.uncertainty_surface import uncertainty_surface

    found = uncertainty_surface(estimator, x.feature, y.feature, x.values, y.values, held, monitor)
    return _spread_of(found, hasattr(estimator, "classes_"))


def band_along(estimator: Any, x: Axis, answer: Floats, held: Floats) -> Band | None:
    """Return what lies around a model's answer along one column; None where it does not tell."""
    from engine.uncertainty_surface import knows_noise, tells_uncertainty, uncertainty_curve

    if not tells_uncertainty(estimator):
        return None
    found = uncertainty_curve(estimator, x.feature, x.values, held, COVERAGE)
    if hasattr(estimator, "classes_"):
        spread, std = _spread_of(found.uncertainty, True), found.uncertainty.std.T
        outer = np.clip(answer - std, 0.0, 1.0), np.clip(answer + std, 0.0, 1.0)
        return Band(outer, None, "± 1 standard deviation", "", spread)
    spread = _spread_of(found.uncertainty, False)
    if found.lower is not None and found.upper is not None:
        share, z = f"{100 * COVERAGE:.0f} %", Z_OF_COVERAGE
        whole = found.lower[np.newaxis], found.upper[np.newaxis]
        inner = _around(answer, z * spread.epistemic)
        return Band(whole, inner, f"{share} interval", f"by {BY_DISAGREEMENT}", spread)
    inner = _around(answer, spread.epistemic)
    if not knows_noise(estimator):
        return Band(None, inner, "", f"± 1 sd, {BY_DISAGREEMENT}", spread)
    outer = _around(answer, spread.total)
    return Band(outer, inner, "± 1 standard deviation", f"by {BY_DISAGREEMENT}", spread)


def _around(answer: Floats, reach: Floats) -> tuple[Floats, Floats]:
    return answer - reach, answer + reach


def _spread_of(found: Uncertainty, is_classes: bool) -> Spread:
    if is_classes:
        return Spread(found.aleatoric + found.epistemic, found.aleatoric, found.epistemic)
    return Spread(found.std, np.sqrt(found.aleatoric), np.sqrt(found.epistemic))
