"""The studies of a project in its file: settings as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.information import ALL_WAYS, MAX_RANGES, Cutting, InformationSettings
from workbench.project.format import number, plain
from workbench.studies import Studies


def studies_to_json(studies: Studies) -> dict[str, Any]:
    """Return the settings of every study."""
    information = studies.information
    return {"information": None if information is None else _information_to_json(information)}


def studies_from_json(content: Mapping[str, Any] | None) -> Studies:
    """Return what `studies_to_json` wrote; none of files that were written before there were studies.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    if content is None:
        return Studies()
    information = content.get("information")
    return Studies(None if information is None else _information_from_json(information))


def _information_to_json(settings: InformationSettings) -> dict[str, Any]:
    cuttings = {"x_cutting": settings.x_cutting, "y_cutting": settings.y_cutting}
    return {"x": settings.x, "y": settings.y, **{name: plain(vars(of)) for name, of in cuttings.items()}}


def _information_from_json(content: Mapping[str, Any]) -> InformationSettings:
    cuttings = [_cutting_from_json(content[name]) for name in ("x_cutting", "y_cutting")]
    return InformationSettings(str(content["x"]), str(content["y"]), *cuttings)


def _cutting_from_json(content: Mapping[str, Any]) -> Cutting:
    cuts = tuple(map(number, content["cuts"]))
    found = Cutting(str(content["way"]), int(content["n_ranges"]), cuts)
    is_sound = found.way in ALL_WAYS and 1 <= found.n_ranges <= MAX_RANGES and len(cuts) < MAX_RANGES
    if not is_sound or not np.isfinite(cuts).all() or any(np.diff(cuts) <= 0):
        raise DataError(f"a column is cut by {dict(content)!r}, which is no way; the file is damaged")
    return found
