"""Rules as text: what they say, and that they read back to the same bits."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from engine.errors import DataError
from engine.export.rules import MAX_BARS, to_rules
from engine.export.rules_reader import read_rules
from engine.features import FeatureSpec
from engine.tree.by_hand import force_split, set_missing_direction
from engine.tree.prune import prune
from engine.tree.regrow import training_data
from engine.tree.structure import IS_MISSING, LEVEL_SET, MULTIWAY, Tree, single_leaf
from tests.engine.random_trees import naive_leaf, random_tree
from tests.engine.test_export_json import fitted, frame
from tests.engine.test_tree import restaurant
from tests.engine.test_tree_cases import chain_of_classes, chain_of_columns

ODD_NAMES = [
    'x"y', "a <= b", "line\nbreak", "or", "Größe, cm", "年齢", "tab\tinside", " ", "", "\u2028\u202e",
    "\ud800", "#", "# no comment", "a: b", "|", "0 all rows: 1", "\\", "C:\\n", "\x00", "🌡",
]  # fmt: skip


def model_of(tree, features, labels=None):
    """A fitted single tree without a training."""
    model = DecisionTreeRegressor() if labels is None else DecisionTreeClassifier()
    model.tree_, model.features_, model.n_features_in_ = tree, features, len(features)
    model.feature_names_in_ = np.array([spec.name for spec in features], object)
    if labels is not None:
        model.classes_ = np.empty(len(labels), object)
        model.classes_[:] = labels
    return model


def without_idle(tree):
    """The tree as the rules know it: where no level is asked, who takes unknown ones says nothing."""
    unseen = np.where(np.isin(tree.kind, (LEVEL_SET, MULTIWAY)), tree.unseen_child, tree.missing_child)
    unseen = np.where(tree.kind == IS_MISSING, 1, unseen)
    return Tree(**(tree.to_arrays() | {"unseen_child": unseen}))


def rows_of_all_kinds(rng, n_rows, n_features, categorical, n_levels):
    """Encoded rows with missing cells, unknown levels and values on the thresholds."""
    X = rng.integers(-1, 21, (n_rows, n_features)) / 2
    for column in categorical:
        X[:, column] = rng.integers(-1, n_levels, n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


texts = st.one_of(st.sampled_from(ODD_NAMES), st.text(max_size=6))
levels = st.one_of(texts, st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_any_tree_reads_back_whole_whatever_its_names_are(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    names = data.draw(st.lists(texts, min_size=4, max_size=4, unique=True))
    of = [tuple(data.draw(st.lists(levels, min_size=5, max_size=5, unique=True))) for _ in range(2)]
    features = (*(FeatureSpec(name) for name in names[:2]), *map(FeatureSpec, names[2:], of))
    labels = data.draw(st.one_of(st.none(), st.lists(levels, min_size=3, max_size=3, unique=True)))
    n_leaves = data.draw(st.integers(1, 40))
    n_outputs = 1 if labels is None else 3
    tree = random_tree(rng, n_leaves, 4, n_outputs, categorical=(2, 3))
    target = data.draw(texts)
    text = to_rules(model_of(tree, features, labels), target)
    assert text.isprintable() or set(re.findall(r"[^ -~]", text)) <= {"\n"} | {
        c for c in text if c.isprintable()
    }
    model, told = read_rules(text)
    assert told == target
    assert model.features_ == features
    assert [list(map(type, spec.levels)) for spec in model.features_[2:]] == [list(map(type, o)) for o in of]
    assert model.tree_ == without_idle(tree)
    if labels is not None:
        assert [(type(label), label) for label in model.classes_.tolist()] == [(type(x), x) for x in labels]
    rows = rows_of_all_kinds(rng, 60, 4, (2, 3), 5)
    assert [naive_leaf(model.tree_, row) for row in rows] == [naive_leaf(tree, row) for row in rows]
    assert to_rules(model, target) == text


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(threshold=st.floats(allow_nan=False, allow_infinity=False), value=st.floats())
def test_every_double_comes_back(threshold, value):
    arrays = random_tree(np.random.default_rng(0), 2).to_arrays()
    tree = Tree(**(arrays | {"threshold": [threshold, np.nan, np.nan], "value": [[0.0], [value], [-value]]}))
    assert tree.kind[0] != IS_MISSING
    back = read_rules(
        to_rules(
            model_of(
                tree,
                (FeatureSpec("x"),) * 1 + (FeatureSpec("y"),) * 1 + tuple(FeatureSpec(name) for name in "zw"),
            )
        )
    )[0].tree_
    assert back.threshold.tobytes() == tree.threshold.tobytes()
    np.testing.assert_array_equal(back.value, tree.value)


@pytest.mark.parametrize("y_kind", ["text", "int", "float", "bool", "object", "category"])
def test_a_trained_classifier_answers_the_same(y_kind):
    model, (X, _) = fitted("DecisionTreeClassifier", y_kind), frame()
    back, _ = read_rules(to_rules(model))
    assert back.tree_ == model.tree_
    assert [type(x) for x in back.classes_.tolist()] == [type(x) for x in model.classes_.tolist()]
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(back.feature_importances_, model.feature_importances_)


def test_a_trained_regressor_on_an_array_answers_the_same():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y, w = rng.normal(size=200) * 1e-9, rng.random(200)
    model = DecisionTreeRegressor(min_samples_leaf=3).fit(X, y, w)
    back, _ = read_rules(to_rules(model))
    assert back.tree_ == model.tree_
    assert not hasattr(back, "feature_names_in_")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


@pytest.mark.parametrize("algorithm", ["id3", "c4.5", "cart"])
def test_the_restaurant_trees_read_back_and_say_how_they_were_grown(algorithm):
    X, y = restaurant()
    model = DecisionTreeClassifier(algorithm=algorithm, confidence=None).fit(X, y)
    text = to_rules(model, "WillWait")
    back, target = read_rules(text)
    assert (target, back.tree_, back.algorithm) == ("WillWait", model.tree_, algorithm)
    if algorithm == "id3":
        assert text.splitlines()[:3] == [
            "Treewright rules 1", 'predicts "WillWait": "No", "Yes"', 'grown by "id3" with "entropy"',
        ]  # fmt: skip
        assert 'column Price: category "$", "$$", "$$$"' in text
        assert re.search(
            r'^1   Patrons = "Full" or missing or unknown: "No" \[0\.6+7?, 0\.3+\], 6 rows', text, re.M
        )
        assert '\n1   Patrons = "None": "No" [1.0, 0.0], 2 rows\n' in text
        assert '\n2   |   Hungry = "No": "No" [1.0, 0.0], 2 rows\n' in text


def test_changed_and_pruned_trees_read_back():
    model, (X, y) = fitted("DecisionTreeClassifier"), frame()
    data = training_data(model, X, y.astype(str))
    tree = model.tree_
    path = next(
        tree.path_to(n) for n in range(tree.n_nodes) if tree.n_missing[n] and tree.kind[n] != IS_MISSING
    )
    changed = [
        prune(tree, tree.path_to(int(np.flatnonzero(~tree.is_leaf)[-1]))),
        prune(tree, ()),
        force_split(tree, (0,), "island", data, levels=["数据"]),
        set_missing_direction(tree, path, 1 - int(tree.missing_child[tree.node_at(path)]), data),
    ]
    for other in changed:
        assert other != tree
        model.tree_ = other
        back, _ = read_rules(to_rules(model))
        assert back.tree_ == other
        np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_a_single_leaf_is_one_line():
    text = to_rules(model_of(single_leaf([2.5], 0.5, 4, 3.5), (FeatureSpec("x"),)), "y")
    assert text.splitlines()[-1] == "0 all rows: 2.5, 4 rows, weight 3.5, impurity 0.5"
    assert read_rules(text)[0].tree_ == single_leaf([2.5], 0.5, 4, 3.5)


@pytest.mark.parametrize(
    ("x", "y", "shown"),
    [
        ([1e-6, 2e-6, 3e-6, 4e-6], [0, 0, 1, 1], "x0 <= 2.4999999999999998e-06"),
        ([12345678.25, 12345678.75], [0, 1], "x0 <= 12345678.5"),
    ],
)
def test_c41_thresholds_are_never_rounded(x, y, shown):
    X = np.array(x)[:, None]
    model = DecisionTreeClassifier().fit(X, y)
    text = to_rules(model)
    assert shown in text
    back, _ = read_rules(text)
    at = model.tree_.threshold[0]
    points = np.r_[X[:, 0], at, np.nextafter(at, np.inf)][:, None]
    np.testing.assert_array_equal(back.predict(points), model.predict(points))
    assert back.predict(points[-2:]).tolist() == [0, 1]


def test_c42_the_rules_of_a_deep_tree_grow_with_its_nodes():
    tree = chain_of_classes()
    text = to_rules(model_of(tree, (FeatureSpec("x"),), ["no", "yes"]))
    longest = max(map(len, text.splitlines()))
    assert longest < 4 * MAX_BARS + 150
    assert len(text) < 2201 * 210
    assert read_rules(text)[0].tree_ == tree
    wide = model_of(chain_of_columns(), tuple(FeatureSpec(f"c{k}") for k in range(1100)))
    back, _ = read_rules(to_rules(wide))
    assert back.tree_ == wide.tree_
    rows = pd.DataFrame(np.tri(1101, 1100, -1), columns=[f"c{k}" for k in range(1100)])
    assert back.predict(rows).tolist() == list(range(1101))


def test_what_has_no_rules_is_told():
    with pytest.raises(DataError, match="RandomForestClassifier is not a fitted single tree"):
        to_rules(RandomForestClassifier())
    with pytest.raises(DataError, match="DecisionTreeRegressor is not a fitted single tree"):
        to_rules(DecisionTreeRegressor())
    dates = pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02"] * 5))
    model = DecisionTreeClassifier().fit(pd.DataFrame({"when": dates}), [0, 1] * 5)
    with pytest.raises(DataError, match=r"column 'when' has the value .*2020.* of type"):
        to_rules(model)


RULES = """\
Treewright rules 1
# a remark
predicts "z": "a", "b"
grown by "cart" with "gini"
column x: number
column c: category "u", "v", "w"

tree
0 all rows: "a" [0.5, 0.5], 4 rows
1   x <= 1.5 or missing: "a" [1.0, 0.0], 2 rows
1   x > 1.5: "b" [0.0, 1.0], 2 rows
2   |   c in "u" or missing: "b" [0.0, 1.0], 1 row
2   |   c in "v" or unknown: "b" [0.0, 1.0], 1 row
"""


def test_rules_written_by_hand_are_read():
    model, target = read_rules("\ufeff" + RULES.replace("\n", "\r\n").replace("|   ", ""))
    assert target == "z"
    X = pd.DataFrame({"x": [1.5, 2, np.nan, 3, 4], "c": pd.Categorical(["u", "v", None, "new", "w"])})
    assert model.predict(X).tolist() == ["a", "b", "a", "b", "b"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("Treewright rules 1", "rules", "first line is not 'Treewright rules 1'"),
        ("rules 1", "rules 2", "line 1 .* version 2, this program reads 1; update"),
        ("predicts", "tells", "line 3 of the rules: expected 'predicts', .* found 'tells "),
        ('"a", "b"\n', '"a", "a"\n', "line 3 .* the class 'a' is named twice"),
        ('"gini"', '"magic"', "'grown by' .*magic"),
        ("column x", "column c", "line 6 .* there is a column 'c' already"),
        ("x: number", "x: figure", "line 5 .* expected 'number', 'category' or 'ordered', found 'figure'"),
        ('"w"', '"u"', "line 6 .* the level 'u' is named twice"),
        ('"w"', '"w', "line 6 .* found '\"w'"),
        ("tree\n", "", "line 8 .* expected 'predicts'"),
        ("0 all rows", "1 all rows", "line 9 .* expected a column's name"),
        ("1   x > 1.5", "0   x > 1.5", "line 11 .* expected 'all', found 'x > 1.5"),
        ("1   x > 1.5", "3   x > 1.5", "line 11 .* depth goes from 1 to 3"),
        ("2   |   c in \"u\"", "-2  |   c in \"u\"", "line 12 .* -2 is no whole number"),
        ("x <= 1.5 or", "x <= inf or", "line 10 .* inf is no threshold"),
        ("x <= 1.5 or", "x <= 1,5 or", "line 10 .* expected ':', found ',5 or missing"),
        ("x <= 1.5 or", "x < 1.5 or", "line 10 .* expected '<=', '>'"),
        ("x > 1.5", "x > 1.25", "line 11 .* the threshold is 1.25, but in line 10 1.5"),
        ("x > 1.5", "x <= 1.5", "line 9 .* its 2 branches make no question; expected 'x <= 1.5' and"),
        ("x > 1.5", "y > 1.5", "line 11 .* no line above the tree describes a column 'y'"),
        ("x > 1.5", "c = \"u\"", "line 11 .* branches of line 9 ask about different columns"),
        ("x > 1.5", "c > 1.5", "line 11 .* column 'c' is a category"),
        ("x > 1.5", "x in 1.5", "line 11 .* column 'x' is no category"),
        ("x > 1.5", "x > 1.5 or missing", "line 9 .* 2 of its branches have 'or missing'"),
        ("1.5 or missing", "1.5", "line 9 .* 0 of its branches have 'or missing'"),
        ("1.5 or missing", "1.5 or unknown", "line 10 .* no unknown levels"),
        ("1.5 or missing", "1.5 or else", "line 10 .* expected 'missing' or 'unknown', found 'else"),
        ('"v" or unknown', '"v"', "line 11 .* 0 of its branches have 'or unknown'"),
        ('in "v"', 'in "u"', "line 13 .* the level 'u' is taken by another branch"),
        ('in "v"', 'in "q"', "line 13 .* column 'c' has no level 'q'"),
        ('c in "v"', 'c = "v"', "line 11 .* its 2 branches make no question"),
        ('c in "v" or unknown', 'c is missing', "line 11"),
        ("[0.5, 0.5]", "[0.5]", "line 9 .* 1 shares for 2 classes"),
        ("[0.5, 0.5]", "[0.5, nan]", "line 9 .* no finite number"),
        ("[0.5, 0.5]", "[0.4, 0.6]", "line 9 .* it says 'a', but by its shares the answer is 'b'"),
        ("4 rows", "4.5 rows", "line 9 .* 4.5 is no whole number"),
        ("4 rows", f"{'4' * 5000} rows", "line 9 .* is no whole number"),
        ("4 rows", "4 rows, heavy", "line 9 .* expected a number, found 'heavy'"),
        ("4 rows", "4 rows.", "line 9 .* expected the end of the line, found '.'"),
    ],
)  # fmt: skip
def test_wrong_rules_name_the_line_and_what_is_wrong(before, after, message):
    assert before in RULES
    with pytest.raises(DataError, match=message):
        read_rules(RULES.replace(before, after, 1))


def test_rules_that_end_early_are_told():
    with pytest.raises(DataError, match="end before their tree"):
        read_rules(RULES[: RULES.index("0 all")])
    with pytest.raises(DataError, match="the line 'tree' is missing"):
        read_rules(RULES[: RULES.index("tree\n0")])
    with pytest.raises(DataError, match="first line is not"):
        read_rules("")
    cut = RULES[: RULES.index('2   |   c in "v"')]
    with pytest.raises(DataError, match=r"line 11 .* 1 branch make"):
        read_rules(cut)
