"""Newton steps and scores of many nodes (Chen, Guestrin 2016, equations 5 and 6, with XGBoost's alpha).

`kernels.splitting` has the same for one node inside a search.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def shrunken(gradients: Any, reg_alpha: float) -> Any:
    """Return sums of gradients, nearer to 0 by alpha."""
    return np.sign(gradients) * np.maximum(np.abs(gradients.astype(float)) - reg_alpha, 0.0)


def leaf_values(gradients: Any, hessians: Any, reg_lambda: float, reg_alpha: float) -> Any:
    """Return -G / (H + lambda); 0 without curvature."""
    return _over_curvature(-shrunken(gradients, reg_alpha), hessians + reg_lambda)


def scores(gradients: Any, hessians: Any, reg_lambda: float, reg_alpha: float) -> Any:
    """Return G^2 / (H + lambda), twice the loss that leaves' best values take away; 0 without curvature."""
    shrunk = shrunken(gradients, reg_alpha)
    return _over_curvature(shrunk * shrunk, hessians + reg_lambda)


def _over_curvature(sums: Any, curvature: Any) -> Any:
    is_flat = curvature <= 0
    with np.errstate(over="ignore", invalid="ignore"):  # a step that is not finite is no step: see the caller
        return np.where(is_flat, 0.0, sums / np.where(is_flat, 1.0, curvature))
