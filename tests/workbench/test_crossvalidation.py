"""Groups in cross-validation: kept whole, rows without one alone, too few of them said."""

import numpy as np
import pytest

from engine.errors import DataError
from engine.monitor import NULL_MONITOR
from workbench.crossvalidation import N_FOLDS, cross_validate, folds_of
from workbench.datasets import make_table
from workbench.document import Document
from workbench.training_work import training_inputs


def inputs_with(groups):
    document = Document()
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b"], len(groups))
    document.open_table(make_table("t", {"x": rng.normal(size=len(groups)), "g": groups, "y": labels}))
    document.set_target("y")
    document.set_roles(["g"], "group")
    return training_inputs(document, document.add_run("tree"))


def test_rows_without_a_group_are_in_several_folds(qapp):
    inputs = inputs_with([f"g{i // 5}" if i < 60 else None for i in range(120)])
    rows = np.arange(120)
    folds, codes = folds_of(inputs, rows, inputs.learnable()), np.arange(60) // 5
    assert all(len(set(folds[:60][codes == code])) == 1 for code in range(12))
    assert len(set(folds[60:])) == N_FOLDS
    assert cross_validate(inputs, NULL_MONITOR).rows_text.endswith(", column g kept whole")


def test_too_few_groups_are_said(qapp):
    inputs = inputs_with([f"g{i % 3}" for i in range(60)])
    with pytest.raises(DataError, match=r"of 3 groups .*too few for 5 folds; give that column another role"):
        folds_of(inputs, np.arange(60), inputs.learnable())
    told = cross_validate(inputs, NULL_MONITOR).rows_text
    assert told.endswith("column g not kept whole: its 3 groups are too few for 5 folds")
