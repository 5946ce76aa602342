"""Is a deep ensemble that was read from a file whole? Its kernels do not check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.inputs import InputScaling
from engine.neural.layout import Layout

Require = Callable[[Any, str], None]


def check_networks(estimator: Any, n_classes: int, require: Require) -> None:
    """Check that all parts of a loaded deep ensemble fit together.

    Parameters
    ----------
    n_classes : int
        0 for numbers.
    require : callable
        Given whether something holds and what is wrong else; raises.
    """
    check_inputs(estimator, require)
    n_outputs = _check_target(estimator, n_classes, require)
    sizes = estimator.layer_sizes_
    require(_is_array(sizes, np.int64, (len(sizes),)), "its layers are missing")
    scaling = InputScaling(estimator.features_)
    scaling.has_missing = estimator.has_missing_
    wanted = [scaling.n_inputs, *estimator.hidden_layer_sizes, n_outputs]
    require(sizes.tolist() == wanted, "its layers are not those of its settings")
    n_kept = len(estimator.parameters_)
    shape = (n_kept, Layout.of(sizes).n_parameters)
    require(n_kept > 0 and _is_array(estimator.parameters_, np.float32, shape), "its networks are not whole")
    require(np.all(np.isfinite(estimator.parameters_)), "a network has a number that is none")
    for name in ("members_", "n_epochs_"):
        require(_is_array(getattr(estimator, name), np.int64, (n_kept,)), f"its {name} are missing")


def check_inputs(estimator: Any, require: Require) -> None:
    """Check the scaling of a loaded model that reads standardised inputs."""
    shape = (len(estimator.features_),)
    for name in ("input_units_", "input_means_", "input_scales_"):
        numbers = getattr(estimator, name)
        require(_is_array(numbers, np.float64, shape), f"its {name} are missing")
        require(np.all(np.isfinite(numbers)), f"its {name} are no numbers")
    require(np.all(estimator.input_units_ > 0), "a column has no unit")
    require(np.all(estimator.input_scales_ > 0), "a column has no scale")
    require(_is_array(estimator.has_missing_, np.bool_, shape), "its columns with gaps are missing")


def _check_target(estimator: Any, n_classes: int, require: Require) -> int:
    """Check what turns outputs into answers; return how many outputs there have to be."""
    if n_classes:
        present = estimator.present_classes_
        require(_is_array(present, np.int64, (len(present),)), "its classes with rows are missing")
        is_rising = len(present) > 0 and np.all(np.diff(present) > 0)
        require(is_rising and 0 <= present[0] <= present[-1] < n_classes, "a class is unknown")
        require(_is_positive(estimator.temperature_), "its temperature is none")
        return 1 if len(present) == 2 else len(present)
    require(_is_positive(estimator.variance_factor_), "its factor of variances is none")
    require(_is_positive(estimator.target_unit_), "its target has no unit")
    scale, mean = estimator.target_scale_, estimator.target_mean_
    require(type(scale) is float and scale >= 0 and np.isfinite(scale), "its target has no scale")
    require(type(mean) is float and np.isfinite(mean), "its target has no mean")
    shape = (len(estimator.parameters_),)
    require(_is_array(estimator.noise_variance_, np.float64, shape), "its noise is missing")
    return 2 if estimator.loss == "gaussian" else 1


def _is_array(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape


def _is_positive(value: Any) -> bool:
    return type(value) is float and bool(np.isfinite(value)) and value > 0
