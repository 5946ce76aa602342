"""Whole numbers that no kernel can count with are refused by name, not by an overflow inside the engine."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, RandomForestRegressor
from engine.errors import ParameterError
from engine.parameters import Parameter
from engine.tree.parameters import TREE_CLASSIFIER

X, Y = np.arange(12.0).reshape(-1, 1), np.arange(12) % 2


@pytest.mark.parametrize("name", ["max_depth", "max_leaf_nodes", "min_samples_leaf", "min_samples_split"])
@pytest.mark.parametrize("value", [2**63, 10**30, 10**400])
def test_a_number_too_large_to_count_is_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name} is larger than 9223372036854775807; enter a smaller"):
        DecisionTreeClassifier(**{name: value}).fit(X, Y)


def test_so_many_trees_are_refused_instead_of_grown_for_ever():
    with pytest.raises(ParameterError, match="n_estimators is larger than"):
        RandomForestRegressor(n_estimators=10**30).fit(X, Y)


def test_the_largest_number_is_taken():
    assert DecisionTreeClassifier(max_depth=2**63 - 1, random_state=0).fit(X, Y).get_n_leaves() == 12


def test_a_seed_may_have_any_size_and_still_repeats():
    first, second = (DecisionTreeClassifier(random_state=10**30).fit(X, Y) for _ in range(2))
    assert first.seed_ == second.seed_ == 10**30


@pytest.mark.parametrize(
    ("value", "is_legal"), [(10, True), (1.0, True), (0.3, True), (10.0, False), (1.5, False)]
)
def test_a_fraction_above_one_is_no_share(value, is_legal):
    (parameter,) = (one for one in TREE_CLASSIFIER if one.name == "min_samples_leaf")
    assert parameter.is_legal(value) == is_legal
    if not is_legal:
        with pytest.raises(
            ParameterError, match=r"enter a whole number from 1, or a share above 0 and at most 1"
        ):
            parameter.check(value)


def test_limits_are_told_in_full():
    assert Parameter("n", 5, "int", 2, 1_000_000).legal_text == "a whole number from 2 to 1,000,000"
    assert Parameter("x", 0.5, "float", 0.25, 1e20).legal_text == "a number from 0.25 to 1e+20"
