import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import engine
from engine.errors import DataError
from engine.export import json as export
from engine.export.json import ESTIMATORS, LEFT_OUT, from_json, read_json, to_json

SETTINGS = {
    "DecisionTree": {"max_depth": 4},
    "RandomForest": {"n_estimators": 5, "max_depth": 4},
    "ExtraTrees": {"n_estimators": 5, "max_depth": 4},
    "Bagging": {"n_estimators": 5, "max_features": 3},
    "GradientBoosting": {"n_estimators": 5, "max_leaf_nodes": 6, "min_samples_leaf": 3},
    "AdaBoost": {"n_estimators": 5, "max_depth": 2},
    "Perceptron": {"max_epochs": 4},
    "DeepEnsemble": {"n_estimators": 2, "hidden_layer_sizes": (5, 4), "max_epochs": 3},
}


def frame(n=120):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "Größe, cm": rng.normal(size=n),
            "tab\tinside": rng.normal(size=n) * 1e-9,
            "island": pd.Categorical(rng.choice(["Biscoe", "Dream", "数据"], n)),
            "code": pd.Categorical(rng.integers(5, 9, n)),
            "size": pd.Categorical(rng.choice(["small", "large"], n), ["small", "large"], ordered=True),
        }
    )
    table.loc[::7, "Größe, cm"] = np.nan
    table.loc[::11, "island"] = np.nan
    y = (
        (table["Größe, cm"].fillna(2.0) > 0).astype(int)
        + (table["island"] == "Dream")
        + rng.integers(0, 2, n)
    )
    return table, y.to_numpy()


def settings_of(name):
    """Settings for a small model; one made of others is made of a tree and a forest."""
    if not name.startswith(("Averaging", "Stacking")):
        return next(of for start, of in SETTINGS.items() if name.startswith(start))
    kind = "Classifier" if name.endswith("Classifier") else "Regressor"
    tree = getattr(engine, f"DecisionTree{kind}")(max_depth=3)
    forest = getattr(engine, f"RandomForest{kind}")(n_estimators=3)
    settings = {"estimators": [("tree", tree), ("forest", forest)]}
    return settings | ({"final_estimator": tree, "cv": 3} if name.startswith("Stacking") else {})


def fitted(name, y_kind="text", **extra):
    X, y = frame()
    settings = settings_of(name)
    if name.endswith("Regressor"):
        y = y + np.linspace(0, 1, len(y)) / 3
    else:
        text = y.astype(str)
        kinds = {"text": text, "int": y, "float": y * 1.0, "bool": y > 1, "object": text.astype(object)}
        kinds["category"] = pd.Series(pd.Categorical(text, ["9", "0", "1", "2", "3"]))
        y = kinds[y_kind]
    return getattr(engine, name)(**settings, random_state=3, **extra).fit(X, y)


def answers(model, X):
    yield model.predict(X)
    if hasattr(model, "predict_proba"):
        yield model.predict_proba(X)
    if hasattr(model, "decision_function"):
        yield model.decision_function(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_loaded_model_predicts_the_same_bits(name):
    model, (X, _) = fitted(name), frame()
    loaded = from_json(to_json(model))
    assert type(loaded) is type(model)
    assert repr(loaded.get_params()) == repr(model.get_params())
    for ours, theirs in zip(answers(model, X), answers(loaded, X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    public = {name for name in vars(model) if not name.startswith("_")}
    assert set(vars(loaded)) == public - set(LEFT_OUT)
    assert loaded.features_ == model.features_
    assert to_json(loaded) == to_json(model)


@pytest.mark.parametrize("piece", [1, 3, 10_000])
def test_written_in_pieces_the_text_is_the_same(monkeypatch, piece):
    """One `json.dumps` of a large forest would stop the window for seconds."""
    monkeypatch.setattr(export, "_PIECE", piece)
    text = to_json(fitted("RandomForestClassifier"), {"empty": [], "nested": [[], {}, [1, [2]]], "ü": None})
    assert text == json.dumps(json.loads(text), ensure_ascii=False)


@pytest.mark.parametrize("y_kind", ["int", "float", "bool", "object", "category"])
def test_classes_keep_their_type(y_kind):
    model, (X, _) = fitted("GradientBoostingClassifier", y_kind), frame()
    loaded = from_json(to_json(model))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in loaded.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_another_process_predicts_the_same_bits_from_reordered_columns(tmp_path):
    # case C44, the part of the engine
    model, (X, _) = fitted("GradientBoostingClassifier"), frame()
    (tmp_path / "m.tree.json").write_text(to_json(model), encoding="utf-8")
    X.to_pickle(tmp_path / "X.pkl")
    code = (
        "import sys, pandas as pd, pathlib; from engine.export.json import from_json;"
        "f = pathlib.Path(sys.argv[1]);"
        "m = from_json((f / 'm.tree.json').read_text(encoding='utf-8')); X = pd.read_pickle(f / 'X.pkl');"
        "print(m.predict_proba(X[[s.name for s in m.features_]]).tobytes().hex())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert out.stdout.strip() == model.predict_proba(X).tobytes().hex()


def test_numbers_that_json_lacks():
    model = fitted("GradientBoostingRegressor")
    model.val_loss_ = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 0.1])
    text = to_json(model)
    assert '"Infinity"' in text
    loaded = from_json(text).val_loss_
    assert loaded.tobytes() == model.val_loss_.tobytes()


def test_generator_is_written_as_the_seed_drawn_from_it():
    model = fitted("GradientBoostingRegressor")
    model.random_state = np.random.default_rng(1)
    assert from_json(to_json(model)).random_state == model.seed_


def test_what_cannot_be_written_is_named():
    with pytest.raises(DataError, match="not fitted"):
        to_json(engine.GradientBoostingRegressor())
    with pytest.raises(DataError, match="str cannot be written"):
        to_json("model")
    X, y = frame()
    X["when"] = pd.Categorical(pd.interval_range(0, len(X)))
    model = engine.GradientBoostingRegressor(n_estimators=1).fit(X, y)
    with pytest.raises(DataError, match="when is a Interval"):
        to_json(model)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "null", "[" * 100_000, '{"format": "treewright-model"}', "\x00\x01", '{"a": NaN}',
     '{"format": "treewright-model", "version": 1, "estimator": "os", "parameters": {}, "fitted": {}}'],
)  # fmt: skip
def test_foreign_text_is_refused(text):
    with pytest.raises(DataError):
        from_json(text)


DELETED = object()


def tampered(place, value):
    """The text of a good model with one entry replaced; `place` is the way to it."""
    document = json.loads(to_json(fitted("GradientBoostingClassifier")))
    holder = document
    for step in place[:-1]:
        holder = holder[step]
    assert place[-1] in holder or isinstance(holder, list) or place[-1].startswith("new"), (
        "nothing to tamper with"
    )
    if value is DELETED:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return json.dumps(document)


ROOT = ("fitted", "estimators_", "list", 0, "tuple", 0, "tree")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("version",), "1"),
        (("estimator",), "BaseEstimator"),
        (("estimator",), "DataError"),
        (("parameters",), []),
        (("parameters", "learning_rate"), -1.0),
        (("parameters", "new_one"), 1),
        (("parameters", "n_jobs"), {"tree": {}}),
        (("fitted", "newpredict"), 1),
        (("fitted", "new__dict__"), 1),
        (("fitted", "features_"), {"features": []}),
        (("fitted", "features_"), 3),
        (("fitted", "n_classes_"), DELETED),
        (("fitted", "n_classes_"), 2.0),
        (("fitted", "classes_"), 3),
        (("fitted", "classes_"), {"array": ["a"], "dtype": "V8", "shape": [1]}),
        (("fitted", "baseline_prediction_"), {"array": [0.0], "dtype": "float64", "shape": [1]}),
        (("fitted", "baseline_prediction_"), {"array": [0.0] * 4, "dtype": "float64", "shape": [10**9]}),
        (("fitted", "estimators_", "list", 0), {"tuple": []}),
        (("fitted", "n_estimators_"), 99),
        ((*ROOT, "first_child"), [0] * 11),
        ((*ROOT, "first_child", 0), 10**6),
        ((*ROOT, "first_child", 0), 10**30),
        ((*ROOT, "first_child", 0), 1.5),
        ((*ROOT, "first_child", 0), True),
        ((*ROOT, "first_child", 0), "1"),
        ((*ROOT, "feature", 0), 5),
        ((*ROOT, "kind", 0), 9),
        ((*ROOT, "kind", 0), -1),
        ((*ROOT, "n_children", 0), 1),
        ((*ROOT, "missing_child", 0), 2),
        ((*ROOT, "threshold"), None),
        ((*ROOT, "threshold"), ["NaN"] * 11),
        ((*ROOT, "value"), []),
        ((*ROOT, "level_sets"), [99, 0]),
    ],
)
def test_tampered_models_are_refused(place, value):
    with pytest.raises(DataError):
        from_json(tampered(place, value))


NAMES = ["Größe, cm", "tab\tinside", "island", "code", "size"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        "x",
        {"list": NAMES},
        {"array": [], "dtype": "object", "shape": [0]},
        {"array": [1.0] * 5, "dtype": "float64", "shape": [5]},
        {"array": [*NAMES[:4], 4], "dtype": "object", "shape": [5]},
        {"array": [*NAMES[:4], "weight"], "dtype": "object", "shape": [5]},
        {"array": NAMES[::-1], "dtype": "object", "shape": [5]},
        {"array": NAMES, "dtype": "object", "shape": [5, 1]},
    ],
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_column_names_that_are_not_the_columns_are_refused(name, value):
    document = json.loads(to_json(fitted(name)))
    assert document["fitted"]["feature_names_in_"]["array"] == NAMES
    document["fitted"]["feature_names_in_"] = value
    with pytest.raises(DataError, match="the model file is damaged: its column names differ; export"):
        from_json(json.dumps(document))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_trained_on_an_array_has_no_column_names(name):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    settings = settings_of(name) if name.startswith(("Averaging", "Stacking")) else {}
    model = getattr(engine, name)(**settings, random_state=0).fit(X, y)
    loaded = from_json(to_json(model))
    assert not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_truncated_text_is_refused():
    text = to_json(fitted("GradientBoostingRegressor"))
    for end in range(0, len(text) - 1, len(text) // 50):
        with pytest.raises(DataError):
            from_json(text[:end])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_metadata_comes_back_and_files_without_it_open(name):
    model = fitted(name)
    about = {"target": "Größe", "event_class": None}
    loaded, read = read_json(to_json(model, about))
    assert read == about
    assert type(loaded) is type(model)
    assert read_json(to_json(model))[1] == {}
    assert to_json(from_json(to_json(model, about))) == to_json(model)
    damaged = json.loads(to_json(model)) | {"metadata": ["target"]}
    with pytest.raises(DataError, match="metadata is damaged; export the model again"):
        read_json(json.dumps(damaged))


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        ("estimator_weights_", "estimator_weights_ is missing"),
        ("baseline_", "baseline_ is missing"),
        ("n_estimators_", "number of rounds"),
    ],
)
def test_adaboost_that_lost_a_part_is_refused(attribute, told):
    document = json.loads(to_json(fitted("AdaBoostClassifier")))
    document["fitted"][attribute] = 3
    with pytest.raises(DataError, match=told):
        from_json(json.dumps(document))


def test_adaboost_without_a_round_is_read_back():
    model, (X, _) = fitted("AdaBoostClassifier").truncate(0), frame()
    loaded = from_json(to_json(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("parameters_", {"array": [0.5, 0.5], "dtype": "float32", "shape": [2, 1]}, "networks are not whole"),
        ("layer_sizes_", {"array": [9, 4, 5, 2], "dtype": "int64", "shape": [4]}, "layers are not those"),
        ("layer_sizes_", {"array": [], "dtype": "int64", "shape": [0]}, "layers are not those"),
        ("has_missing_", {"array": [True], "dtype": "bool", "shape": [1]}, "columns with gaps"),
        ("input_scales_", {"array": [0.0] * 5, "dtype": "float64", "shape": [5]}, "no scale"),
        ("target_scale_", -1.0, "target has no scale"),
        ("target_mean_", "x", "target has no mean"),
        ("variance_factor_", 0.0, "factor of variances"),
        ("noise_variance_", None, "noise is missing"),
        ("members_", None, "members_ are missing"),
    ],
)
def test_networks_that_lost_a_part_are_refused(attribute, value, told):
    document = json.loads(to_json(fitted("DeepEnsembleRegressor")))
    document["fitted"][attribute] = value
    with pytest.raises(DataError, match=told):
        from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("weights_", {"array": [0.5] * 3, "dtype": "float64", "shape": [1, 3]}, "weights are not whole"),
        ("weights_", None, "has no weights"),
        ("present_classes_", {"array": [1, 0], "dtype": "int64", "shape": [2]}, "a class is unknown"),
        ("present_classes_", {"array": [0, 9], "dtype": "int64", "shape": [2]}, "a class is unknown"),
        ("present_classes_", None, "classes have no rows"),
        ("input_units_", {"array": [0.0] * 5, "dtype": "float64", "shape": [5]}, "no unit"),
    ],
)
def test_a_perceptron_that_lost_a_part_is_refused(attribute, value, told):
    document = json.loads(to_json(fitted("PerceptronClassifier")))
    document["fitted"][attribute] = value
    with pytest.raises(DataError, match=told):
        from_json(json.dumps(document))


def test_an_ensemble_of_networks_keeps_what_it_says_of_itself():
    X, y = frame()
    model = engine.DeepEnsembleRegressor(
        n_estimators=3, max_epochs=4, loss="squared_error", calibrate=True, random_state=1
    ).fit(X, y, X_val=X, y_val=y)
    loaded = from_json(to_json(model))
    for ours, theirs in zip(model.predict_uncertainty(X), loaded.predict_uncertainty(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.predict_interval(X), loaded.predict_interval(X))
    np.testing.assert_array_equal(model.val_loss_, loaded.val_loss_)
    classes = engine.DeepEnsembleClassifier(n_estimators=2, max_epochs=2, random_state=1)
    classes.fit(X, pd.Categorical(y, [7, 0, 1, 2, 3]))
    document = json.loads(to_json(classes))
    np.testing.assert_array_equal(from_json(json.dumps(document)).predict_proba(X), classes.predict_proba(X))
    document["fitted"]["present_classes_"]["array"][0] = 5
    with pytest.raises(DataError, match="a class is unknown"):
        from_json(json.dumps(document))
