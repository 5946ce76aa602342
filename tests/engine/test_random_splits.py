"""splitter="random": what is drawn, that the best of it is taken, and that a seed repeats it."""

import numpy as np
import pytest
from scipy import stats

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.base import begin_fit, member_seed
from engine.errors import ParameterError
from engine.tree import grow
from engine.tree.cost_complexity import pruning_path
from engine.tree.cross_validation import cross_validate_path
from engine.tree.growth_rules import make_rules
from engine.tree.presort import presort
from engine.tree.regrow import regrow, training_data
from engine.tree.structure import IS_MISSING, LEVEL_SET, THRESHOLD
from tests.engine import naive
from tests.engine.test_tree_stop import StopAfter

N_SEEDS = 400


def stump(X, y, seed, **settings):
    return (
        DecisionTreeRegressor(splitter="random", max_depth=1, random_state=seed, **settings).fit(X, y).tree_
    )


def table(n_rows=150):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 5, n_rows)
    X[::6, 1] = X[::7, 3] = np.nan
    return X, X[:, 0] + np.nan_to_num(X[:, 3]) + rng.normal(size=n_rows)


def test_thresholds_are_uniform_between_the_smallest_and_the_largest_value():
    x = np.array([-1.0, 0.0, 0.1, 0.2, 0.3, 9.0])  # most of the range holds few rows
    drawn = [stump(x[:, None], x, seed).threshold[0] for seed in range(N_SEEDS)]
    assert len(set(drawn)) == N_SEEDS
    assert stats.kstest(drawn, stats.uniform(-1.0, 10.0).cdf).pvalue > 0.05


def test_below_the_root_the_range_is_the_nodes():
    X, y = table()
    tree = DecisionTreeRegressor(splitter="random", random_state=0, categorical_features=[3]).fit(X, y).tree_
    shares = []
    for node, rows in enumerate(naive.rows_by_node(tree, X)):
        x = X[rows, tree.feature[node]]
        if tree.kind[node] == THRESHOLD:
            below, above = x[x <= tree.threshold[node]], x[x > tree.threshold[node]]
            assert below.max() <= tree.threshold[node] < above.min()
            shares.append((tree.threshold[node] - np.nanmin(x)) / (np.nanmax(x) - np.nanmin(x)))
        elif tree.kind[node] == LEVEL_SET:
            assert set(x[~np.isnan(x)]) == set(tree.levels(node)[:, 0])
    assert 0 <= min(shares) < 0.05
    assert 0.95 < max(shares) < 1


def test_every_proper_partition_is_as_likely():
    x = np.repeat(np.arange(4.0), 3)
    sets = [
        tuple(stump(x[:, None], x, seed, categorical_features=[0]).levels(0)[:, 1]) for seed in range(700)
    ]
    found, counts = np.unique(sets, axis=0, return_counts=True)
    assert len(found) == 7
    assert stats.chisquare(counts).pvalue > 0.05


def test_missing_values_take_either_side():
    x = np.array([0.0, 1.0, 2.0, 3.0, np.nan, np.nan])
    sides = [stump(x[:, None], np.arange(6.0), seed).missing_child[0] for seed in range(N_SEEDS)]
    assert stats.binomtest(sum(sides), N_SEEDS).pvalue > 0.05


def test_where_all_others_are_the_same_missing_values_are_split_off():
    x = np.array([1.0, 1.0, 1.0, np.nan, np.nan])
    tree = stump(x[:, None], np.arange(5.0), 0)
    assert tree.kind[0] == IS_MISSING
    assert tree.n_node_samples.tolist() == [5, 2, 3]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_the_best_of_the_columns_splits_is_taken(criterion):
    """Each column alone draws its own; in one table the generator runs on from column to column."""
    X, y = table()
    X, w = X[:, [0, 1, 2]], np.random.default_rng(3).uniform(0.5, 2, len(X))
    for seed in range(20):
        state = np.array([member_seed(seed, 0)], np.uint64)
        gains = []
        for feature in range(3):
            drawn = naive_unit(state)
            x = X[:, feature]
            threshold = np.nanmin(x) * (1 - drawn) + np.nanmax(x) * drawn
            is_left = x <= threshold
            if np.isnan(x).any() and naive_bits(state) % 2 == 0:
                is_left |= np.isnan(x)
            gains.append(naive.gain(criterion, is_left, y, w, 0))
        model = DecisionTreeRegressor(splitter="random", max_depth=1, random_state=seed, criterion=criterion)
        tree = model.fit(X, y, w).tree_
        assert tree.feature[0] == np.argmax(gains)
        assert tree.gain[0] == pytest.approx(max(gains), abs=1e-12)


@pytest.mark.parametrize("missing", ["learned", "level"])
@pytest.mark.parametrize("signs", [None, [1, -1, 0, 0]])
def test_drawn_by_absolute_error_every_node_is_described_by_its_rows(missing, signs):
    X, y = table()
    w, n_kinds = np.random.default_rng(4).integers(1, 4, len(y)).astype(float), set()
    for seed in range(5):
        model = DecisionTreeRegressor(
            splitter="random", criterion="absolute_error", random_state=seed, categorical_features=[3],
            missing=missing, monotonic_cst=signs,
        )  # fmt: skip
        tree = model.fit(X, y, w).tree_
        inside = naive.rows_by_node(tree, X)
        n_kinds |= set(tree.kind)
        for node, rows in enumerate(inside):
            answer = naive.answer("absolute_error", y[rows], w[rows])
            assert tree.impurity[node] == pytest.approx(naive.impurity("absolute_error", y[rows], w[rows], 0))
            if signs is None:
                assert tree.value[node, 0] == pytest.approx(answer, abs=1e-12)
            if tree.is_leaf[node]:
                continue
            is_first = np.isin(rows, inside[tree.children(node)[0]])
            gain = naive.gain("absolute_error", is_first, y[rows], w[rows], 0)
            assert tree.gain[node] == pytest.approx(gain, abs=1e-12)
            if signs is not None and tree.kind[node] == THRESHOLD and (sign := signs[tree.feature[node]]):
                bounds = (-np.inf, np.inf)
                assert naive.keeps_direction("absolute_error", sign, is_first, y[rows], w[rows], bounds)
    assert n_kinds >= {THRESHOLD, LEVEL_SET}


def naive_unit(state):
    """A double from 0 and below 1."""
    return (naive_bits(state) >> 11) * 2.0**-53


def naive_bits(state):
    """Splitmix64 in whole numbers of any size."""
    mask = 2**64 - 1
    state[0] = (int(state[0]) + 0x9E3779B97F4A7C15) & mask
    z = int(state[0])
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@pytest.mark.parametrize("limits", [{"min_samples_leaf": 9}, {"min_weight_fraction_leaf": 0.1}])
def test_limits_on_leaves_hold(limits):
    X, y = table()
    for seed in range(5):
        model = DecisionTreeRegressor(
            splitter="random", random_state=seed, categorical_features=[3], **limits
        )
        tree = model.fit(X, y).tree_
        assert tree.n_leaves > 2
        assert tree.n_node_samples.min() >= limits.get("min_samples_leaf", 15)


@pytest.mark.parametrize("width", [np.float32, np.float64])
def test_the_range_may_be_as_wide_as_doubles_and_as_narrow(width):
    largest = np.finfo(width).max
    for x in (np.array([-largest, largest], width), np.array([1, np.nextafter(width(1), width(2))], width)):
        for seed in range(20):
            threshold = stump(x[:, None], np.array([0.0, 1.0]), seed).threshold[0]
            assert x[0] <= threshold < x[1]


def test_a_seed_gives_the_same_bits_and_another_other_ones(monkeypatch):
    X, y = table()

    def grown(seed):
        model = DecisionTreeClassifier(splitter="random", random_state=seed, categorical_features=[3])
        return model.fit(X, y > y.mean()).tree_

    first = grown(1)
    assert grown(1) == first != grown(2)
    monkeypatch.setattr(grow, "WORK_BUDGET", 1)
    assert grown(1) == first


@pytest.mark.parametrize(
    "settings", [{}, {"max_leaf_nodes": 20}, {"criterion": "absolute_error", "min_samples_leaf": 3}]
)
def test_a_stop_at_any_moment_leaves_a_valid_tree(monkeypatch, settings):
    X, y = table(80)
    monkeypatch.setattr(grow, "WORK_BUDGET", 1)
    settings = settings | {"splitter": "random", "random_state": 0, "categorical_features": [3]}
    whole = StopAfter(10**9)
    DecisionTreeRegressor(**settings).fit(X, y, monitor=whole)
    for n_allowed in range(0, len(whole.events) - 2, 5):  # the last but one finds the tree grown
        monitor = StopAfter(n_allowed)
        model = DecisionTreeRegressor(**settings).fit(X, y, monitor=monitor)
        model.tree_.validate()
        # how often it is asked depends on the clock too: a slow machine asks more often
        assert model.stopped_ == (len(monitor.events) > n_allowed)
        inside = naive.rows_by_node(model.tree_, X)
        assert model.tree_.n_node_samples.tolist() == [len(rows) for rows in inside]


def test_many_trees_grow_on_one_sorting():
    """What a forest of such trees does: a table is sorted once, and every tree has its own seed and order."""
    X, y = table()
    model = DecisionTreeRegressor(splitter="random", categorical_features=[3], max_features=2)
    data = begin_fit(model, X, y, None, is_classifier=False)
    presorted = presort(data.X, data.features, lambda *_: False, keeps_values=True)
    rules = make_rules(model, data, float(len(y)))
    trees = []
    for member in range(20):
        order = presorted.order.copy()
        seed = member_seed(7, member)
        grower = grow.Grower(presorted, order, data.y, data.sample_weight, rules, seed)
        trees.append(grower.grow(lambda *_: False).tree)
    assert len({tree.threshold.tobytes() for tree in trees}) == 20
    assert trees[0] == model.set_params(random_state=7).fit(X, y).tree_
    told = np.mean([naive.tree_values([tree], X)[:, 0] for tree in trees], axis=0)
    assert np.corrcoef(told, y)[0, 1] > 0.95


def test_it_cross_validates_and_grows_anew_below_a_node():
    X, y = table()
    model = DecisionTreeRegressor(splitter="random", random_state=0, min_samples_leaf=5).fit(X, y)
    losses = cross_validate_path(model, pruning_path(model.tree_), X, y, np.arange(len(y)) % 3)
    assert np.isfinite(losses.mean).all()
    regrown = regrow(model.tree_, (0,), model, training_data(model, X, y))
    regrown.validate()
    assert regrown.n_node_samples.tolist() == [len(rows) for rows in naive.rows_by_node(regrown, X)]


@pytest.mark.parametrize("algorithm", ["id3", "c4.5"])
def test_multiway_trees_draw_no_splits(algorithm):
    X, y = table()
    model = DecisionTreeClassifier(algorithm=algorithm, splitter="random")
    with pytest.raises(ParameterError, match=r"splitter is 'random'.*set algorithm to 'cart'"):
        model.fit(X, y > 0)
