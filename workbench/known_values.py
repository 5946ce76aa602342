"""What is known of the values of a varied setting, so that more of them need no fit twice."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from engine.resampling.along import Begun, SettingCurve
    from workbench.bias_variance import BiasVarianceSettings
    from workbench.fitting import FitInputs


class KnownValue(NamedTuple):
    """What is known of one value.

    Attributes
    ----------
    value : object
    means : mapping of str to float
        Of the parts of its error; empty where fewer than two fits are done.
    n_fits : int
    error : str
        Why its first fit that failed did; "" where none did.
    begun : Begun or None
        How far it is; None where all its training sets are over.
    """

    value: Any
    means: Mapping[str, float]
    n_fits: int
    error: str
    begun: Begun | None

    @property
    def is_over(self) -> bool:
        return self.begun is None


@dataclass(frozen=True, eq=False)
class KnownValues:
    """Values of one setting of one model, on the same training sets.

    Attributes
    ----------
    fit : FitInputs
    settings : BiasVarianceSettings
        Of these the values do not matter.
    of : mapping
        From `key_of` a value to what is known of it.
    is_staged : bool
        The values are stages of one fit a training set.
    rows_text : str
    """

    fit: FitInputs
    settings: BiasVarianceSettings
    of: Mapping[Hashable, KnownValue]
    is_staged: bool
    rows_text: str

    def get(self, value: Any) -> KnownValue | None:
        return self.of.get(key_of(value))

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(each.value for each in self.of.values())

    def hold_for(self, fit: FitInputs, settings: BiasVarianceSettings) -> bool:
        """Tell whether they are what would be found with other inputs."""
        return _basis(self.settings) == _basis(settings) and _is_same_fit(self.fit, fit, settings.parameter)


def key_of(value: Any) -> Hashable:
    """Return what a value is found by: of columns 1 is one, and 1.0 are all of them."""
    return type(value), value


def with_curve(
    before: Mapping[Hashable, KnownValue], curve: SettingCurve, parts: Sequence[str]
) -> dict[Hashable, KnownValue]:
    """Return what is known with the values of a curve."""
    found = dict(before)
    means, n_fits = {part: curve.means(part) for part in parts}, curve.n_fits
    for at, (value, begun) in enumerate(zip(curve.values, curve.begun, strict=True)):
        of = {part: float(means[part][at]) for part in parts} if n_fits[at] else {}
        is_over = begun.n_over == curve.n_sets
        found[key_of(value)] = KnownValue(value, of, int(n_fits[at]), begun.error, None if is_over else begun)
    return found


def _basis(settings: BiasVarianceSettings) -> tuple[Any, ...]:
    return settings.parameter, settings.how, settings.n_sets, settings.seed


def _is_same_fit(one: FitInputs, other: FitInputs, varied: str) -> bool:
    """Tell whether two models would be the same but for what is varied, on the same rows."""
    of = [
        (fit.features, fit.target, fit.classes, fit.weight, fit.group, fit.spec.kind, _kept(fit, varied))
        for fit in (one, other)
    ]
    return one.table is other.table and of[0] == of[1] and np.array_equal(one.parts, other.parts)


def _kept(fit: FitInputs, varied: str) -> dict[str, tuple[type, Any]]:
    return {name: (type(value), value) for name, value in fit.spec.parameters.items() if name != varied}
