"""What is looked at apart from models: the settings of each study, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.bias_variance import BiasVarianceFound, BiasVarianceSettings
from workbench.bootstrap import BootstrapSettings
from workbench.information import InformationSettings
from workbench.instability import InstabilityFound, InstabilitySettings
from workbench.many_fits import ManyFitsFound, ManyFitsSettings
from workbench.tree_averages import AveragesFound, AveragesSettings
from workbench.variance_surface import VarianceSurfaceFound

if TYPE_CHECKING:
    from workbench.bootstrap_work import BootstrapFound


@dataclass(frozen=True)
class Studies:
    """Settings of the studies of a table; None before one was looked at.

    Attributes
    ----------
    information : InformationSettings or None
    bootstrap : BootstrapSettings or None
    found : BootstrapFound or None
        The last bootstrap; settings are undone without it.
    bias_variance : BiasVarianceSettings or None
    parts : BiasVarianceFound or None
        The parts of errors found last; likewise.
    instability : InstabilitySettings or None
    firmness : InstabilityFound or None
        What was found last of a tree; likewise.
    many_fits : ManyFitsSettings or None
    curves : ManyFitsFound, VarianceSurfaceFound or None
        The fits that were drawn last; likewise.
    averages : AveragesSettings or None
    variances : AveragesFound or None
        The variance of a forest found last; likewise.
    """

    information: InformationSettings | None = None
    bootstrap: BootstrapSettings | None = None
    found: BootstrapFound | None = None
    bias_variance: BiasVarianceSettings | None = None
    parts: BiasVarianceFound | None = None
    instability: InstabilitySettings | None = None
    many_fits: ManyFitsSettings | None = None
    curves: ManyFitsFound | VarianceSurfaceFound | None = None
    averages: AveragesSettings | None = None
    variances: AveragesFound | None = None
    firmness: InstabilityFound | None = None
