"""What is looked at apart from models: the settings of each study, and what was found."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.information import InformationSettings


@dataclass(frozen=True)
class Studies:
    """Settings of the studies of a table; None before one was looked at.

    Attributes
    ----------
    information : InformationSettings or None
    """

    information: InformationSettings | None = None
