"""Whole numbers that no kernel can count with are refused by name, not by an overflow inside the engine."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, RandomForestRegressor
from engine.errors import ParameterError

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
