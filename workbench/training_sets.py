"""Training sets that models are fitted on again and again: which a table allows, how they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from workbench.catalog import check_parameter_values, entry_of
from workbench.figures.words import as_typed, counted
from workbench.numerals import whole_number
from workbench.readiness import check_ready

if TYPE_CHECKING:
    from engine.resampling.draws import TrainingSets
    from workbench.document import Document
    from workbench.fitting import FitInputs
    from workbench.runs import RunRecord

BOOTSTRAP, SUBSAMPLE, FRESH = "bootstrap", "subsample", "fresh"
TITLES = {BOOTSTRAP: "Bootstraps", SUBSAMPLE: "Halves", FRESH: "Fresh tables"}
ONE_LINES = {
    BOOTSTRAP: "As many training rows as there are, drawn with replacement",
    SUBSAMPLE: "Half of the training rows, drawn without replacement",
    FRESH: "New rows from the source of this sample, as many as it has training rows",
}
FEWEST_SETS, MOST_SETS = 2, 10_000


def knows_truth(document: Document) -> bool:
    """Tell whether fresh rows can be drawn: a sample as it was opened, whose source is known."""
    from engine.resampling.truths import TRUTHS
    from workbench.samples import find_sample

    table = document.table
    if table is None or table.sample not in TRUTHS:
        return False
    truth, sample = TRUTHS[table.sample], find_sample(table.sample)
    is_same = (document.target, document.task) == (sample.target, sample.task)
    return is_same and sorted(document.features) == sorted(truth.columns)


def draws_for(document: Document, chosen: str | None) -> str:
    """Return how training sets are drawn: as was chosen where the table allows it, else what is best."""
    is_known = knows_truth(document)
    if chosen is None:
        return FRESH if is_known else BOOTSTRAP
    return BOOTSTRAP if chosen == FRESH and not is_known else chosen


def current_model(document: Document) -> RunRecord:
    """Return the model that is looked at; raises DataError where there is none, or no target."""
    if problems := check_ready(document):
        raise DataError(" ".join(problems))
    if document.current_run is None:
        raise DataError("there is no model; add one")
    return document.current_run


def model_to_refit(document: Document, how: str, n_sets: int) -> RunRecord:
    """Return the model that is looked at, where it can be fitted on training sets that are drawn so.

    Raises
    ------
    DataError, ParameterError
        It cannot be; says why and what to do.
    """
    run = current_model(document)
    if why := entry_of(run.spec.kind).why_not(document.task):
        raise ParameterError(why)
    check_parameter_values(run.spec.kind, document.task, run.spec.parameters)
    check_draws(document, how, n_sets)
    return run


def check_held_out(fit: FitInputs, how: str) -> None:
    """Raise DataError where models can be asked about no rows."""
    if how != FRESH and not len(held_out_rows(fit)[1]):
        of_weight = "" if fit.weight is None else f" with a {fit.weight} above 0"
        raise DataError(f"no row is held out{of_weight}; give the validation or the test part rows")


def check_draws(document: Document, how: str, n_sets: int) -> None:
    """Raise ParameterError or DataError where training sets cannot be drawn so."""
    if how not in TITLES:
        raise ParameterError(f"training sets are {how!r}; choose {', '.join(TITLES)}")
    if how == FRESH and not knows_truth(document):
        raise DataError("it is not known how this table was made; choose bootstraps or halves")
    if not FEWEST_SETS <= n_sets <= MOST_SETS:
        raise ParameterError(
            f"the number of training sets is {n_sets:,}; enter one from {FEWEST_SETS} to {MOST_SETS:,}"
        )


def read_n_sets(text: str) -> int:
    """Return how many training sets somebody typed.

    Raises
    ------
    ParameterError
        It is no such number; says what to enter.
    """
    n_sets = whole_number(text)
    if n_sets is None or not FEWEST_SETS <= n_sets <= MOST_SETS:
        raise ParameterError(
            f"{as_typed(text)} is no number of training sets; enter one from {FEWEST_SETS} to {MOST_SETS:,}"
        )
    return n_sets


def held_out_rows(fit: FitInputs) -> tuple[str, NDArray[np.int64]]:
    """Return the part that models are asked about, the first of validation and test that has rows.

    Rows that count: a part whose rows all have weight 0 has no error.
    """
    weights = None if fit.weight is None else fit.table.column(fit.weight).values
    for part in ("validation", "test"):
        rows = fit.rows_of(part)
        if len(rows) and (weights is None or np.any(weights[rows] > 0)):
            return part, rows
    return "", np.empty(0, np.int64)


def training_sets(fit: FitInputs, how: str, n_sets: int, seed: int) -> tuple[TrainingSets, str]:
    """Return training sets like the training rows of a fit, and in words what they are."""
    from engine.resampling.draws import FreshDraws, TableDraws
    from engine.resampling.truths import truth_of

    rows = fit.rows_of("train")
    if how == FRESH:
        assert fit.table.sample is not None
        fresh = FreshDraws(truth_of(fit.table.sample), len(rows), n_sets=n_sets, seed=seed)
        return fresh, f"{n_sets:,} fresh tables of {counted(len(rows), 'row')}"
    training = fit.learnable().take(rows)
    sets = TableDraws(
        training.X, training.labels, training.weights, how=how, groups=training.groups, n_sets=n_sets,
        seed=seed,
    )  # fmt: skip
    drawn = "bootstraps" if how == BOOTSTRAP else "halves"
    text = f"{n_sets:,} {drawn} of {counted(len(rows), 'training row')}"
    if fit.group is not None:
        text += f", column {fit.group} kept whole"
    return sets, text + (f", weighted by column {fit.weight}" if fit.weight is not None else "")
