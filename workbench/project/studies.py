"""The studies of a project in its file: settings as JSON, values of resamples as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.bootstrap import TITLES, BootstrapSettings
from workbench.information import ALL_WAYS, MAX_RANGES, Cutting, InformationSettings
from workbench.many_fits import ManyFitsFound
from workbench.project import bias_variance, instability, many_fits, tree_averages, variance_surface
from workbench.project.format import number, plain
from workbench.studies import Studies
from workbench.variance_surface import VarianceSurfaceFound

if TYPE_CHECKING:
    from workbench.bootstrap_work import BootstrapFound

FOUND_MEMBER = "studies/bootstrap.npz"
Arrays = Callable[[str], Mapping[str, NDArray[Any]]]


def studies_to_json(studies: Studies) -> dict[str, Any]:
    """Return the settings of every study."""
    information, bootstrap, found = studies.information, studies.bootstrap, studies.found
    varied, parts = studies.bias_variance, studies.parts
    fits, curves = studies.many_fits, studies.curves
    averages, variances = studies.averages, studies.variances
    firm, firmness = studies.instability, studies.firmness
    return {
        "information": None if information is None else _information_to_json(information),
        "bootstrap": None if bootstrap is None else plain(vars(bootstrap)),
        "found": None if found is None else _found_to_json(found),
        "bias_variance": None if varied is None else bias_variance.settings_to_json(varied),
        "parts": None if parts is None else bias_variance.found_to_json(parts),
        "instability": None if firm is None else instability.settings_to_json(firm),
        "firmness": None if firmness is None else instability.found_to_json(firmness),
        "averages": None if averages is None else tree_averages.settings_to_json(averages),
        "variances": None if variances is None else tree_averages.found_to_json(variances),
        "many_fits": None if fits is None else many_fits.settings_to_json(fits),
        **_fits_to_json(curves),
    }


def found_arrays(found: BootstrapFound) -> dict[str, NDArray[np.float64]]:
    """Return the values of a bootstrap that its file keeps as arrays."""
    made = found.bootstrap
    return {"replicates": made.replicates, "left_out": made.left_out, "repeated": found.repeated}


def studies_from_json(content: Mapping[str, Any] | None, arrays: Arrays) -> Studies:
    """Return what `studies_to_json` wrote; none of files that were written before there were studies.

    Parameters
    ----------
    arrays : callable
        Returns the arrays of a member of the file by its name.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    if content is None:
        return Studies()
    information, bootstrap, found = (content.get(name) for name in ("information", "bootstrap", "found"))
    fits = content.get("many_fits")
    averages, variances = content.get("averages"), content.get("variances")
    varied, parts = content.get("bias_variance"), content.get("parts")
    firm, firmness = content.get("instability"), content.get("firmness")
    return Studies(
        None if information is None else _information_from_json(information),
        None if bootstrap is None else _settings_from_json(bootstrap),
        None if found is None else _found_from_json(found, arrays(FOUND_MEMBER)),
        None if varied is None else bias_variance.settings_from_json(varied),
        None if parts is None else bias_variance.found_from_json(parts),
        None if firm is None else instability.settings_from_json(firm),
        None if fits is None else many_fits.settings_from_json(fits),
        _fits_from_json(content, arrays),
        None if averages is None else tree_averages.settings_from_json(averages),
        None if variances is None else tree_averages.found_from_json(variances),
        None
        if firmness is None
        else instability.found_from_json(firmness, arrays(instability.FIRMNESS_MEMBER)),
    )


def _fits_to_json(found: ManyFitsFound | VarianceSurfaceFound | None) -> dict[str, Any]:
    """Return fits along a column, or over two, each under a name of its own."""
    if isinstance(found, VarianceSurfaceFound):
        return {"curves": None, "variance_surface": variance_surface.surface_to_json(found)}
    return {"curves": None if found is None else many_fits.found_to_json(found), "variance_surface": None}


def _fits_from_json(
    content: Mapping[str, Any], arrays: Arrays
) -> ManyFitsFound | VarianceSurfaceFound | None:
    curves, surface = content.get("curves"), content.get("variance_surface")
    if surface is not None:
        return variance_surface.surface_from_json(surface, arrays(many_fits.CURVES_MEMBER))
    return None if curves is None else many_fits.found_from_json(curves, arrays(many_fits.CURVES_MEMBER))


def fits_arrays(found: ManyFitsFound | VarianceSurfaceFound, include_rows: bool) -> dict[str, NDArray[Any]]:
    """Return the arrays that a file keeps of fits along a column, or over two.

    Parameters
    ----------
    include_rows : bool
        False: the training rows that are drawn with the fits are left out, as all rows are (D33).
    """
    if isinstance(found, VarianceSurfaceFound):
        return variance_surface.surface_arrays(found, include_rows)
    return many_fits.curve_arrays(found, include_rows)


def _settings_from_json(content: Mapping[str, Any]) -> BootstrapSettings:
    texts = ("statistic", "first", "second", "expression", "run_id", "metric")
    found = BootstrapSettings(
        **{name: str(content[name]) for name in texts}, share=number(content["share"]),
        n_replicates=int(content["n_replicates"]), level=number(content["level"]), seed=int(content["seed"]),
    )  # fmt: skip
    is_sound = found.statistic in TITLES and found.n_replicates >= 2 and found.seed >= 0
    if not is_sound or not 0 < found.level < 1 or not 0 <= found.share <= 1:
        raise DataError("a bootstrap has settings that there are not; the file is damaged")
    return found


def _found_to_json(found: BootstrapFound) -> dict[str, Any]:
    made = found.bootstrap
    numbers = {name: getattr(made, name) for name in ("value", "n_rows", "n_wanted", "seed", "stopped")}
    texts = {name: getattr(found, name) for name in ("name", "rows_text", "table_fingerprint")}
    others = {"truth": found.truth, "seconds": found.seconds, "settings": vars(found.settings)}
    written: dict[str, Any] = plain({**numbers, **texts, **others})
    return written


def _found_from_json(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> BootstrapFound:
    from engine.bootstrap.replicates import Bootstrap
    from workbench.bootstrap_work import BootstrapFound

    replicates, left_out, repeated = (
        arrays[name].astype(np.float64) for name in ("replicates", "left_out", "repeated")
    )
    n_wanted = int(content["n_wanted"])
    if any(values.ndim != 1 for values in (replicates, left_out, repeated)) or len(replicates) > n_wanted:
        raise DataError("a bootstrap has other values than resamples; the file is damaged")
    made = Bootstrap(
        number(content["value"]), replicates, left_out, int(content["n_rows"]), n_wanted,
        int(content["seed"]), bool(content["stopped"]),
    )  # fmt: skip
    return BootstrapFound(
        _settings_from_json(content["settings"]), made, str(content["name"]), str(content["rows_text"]),
        str(content["table_fingerprint"]), number(content["truth"]), repeated, number(content["seconds"]),
    )  # fmt: skip


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
