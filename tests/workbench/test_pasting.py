"""Settings of other libraries: how they are written, what they are called here, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DataError
from workbench.catalog import CATALOG
from workbench.catalog_entry import TASKS
from workbench.pasting import SYNONYMS, match_settings, read_pairs


@pytest.mark.parametrize(
    "text",
    [
        "{'num_leaves': 63, 'learning_rate': 0.05, 'verbose': -1}",
        '{"num_leaves": 63, "learning_rate": 0.05, "verbose": -1}',
        "num_leaves=63, learning_rate=0.05, verbose=-1",
        "num_leaves=63, learning_rate=0.05, verbose=-1,",
        "params = {'num_leaves': 63, 'learning_rate': 0.05, 'verbose': -1}",
        "LGBMClassifier(num_leaves=63, learning_rate=0.05, verbose=-1)",
        "model = lgb.LGBMClassifier(\n    num_leaves=63,\n    learning_rate=0.05,\n    verbose=-1,\n)",
        "dict(num_leaves=63, learning_rate=0.05, verbose=-1)",
        "lgb.train({'num_leaves': 63, 'learning_rate': 0.05, 'verbose': -1}, data)",
        "num_leaves: 63\nlearning_rate: 0.05  # slow\nverbose: -1\n",
        "num_leaves = 63\nlearning_rate = 0.05\nverbose = -1",
    ],
)
def test_all_the_ways_to_write_them_are_read(text):
    assert read_pairs(text) == {"num_leaves": 63, "learning_rate": 0.05, "verbose": -1}


@pytest.mark.parametrize("text", ["", "   ", "hello", "a sentence with words.", "[1, 2]", "3", "f()", "{}"])
def test_what_holds_no_names_is_refused_with_a_cure(text):
    with pytest.raises(DataError, match="paste a dict, JSON or keywords"):
        read_pairs(text)


def test_nothing_of_a_text_is_run(tmp_path):
    mark = tmp_path / "ran"
    found = read_pairs(f"num_leaves=__import__('pathlib').Path({str(mark)!r}).touch(), eta=0.2")
    assert not mark.exists()
    assert found["eta"] == 0.2
    assert match_settings("boosting", "classes", found).refused[0].startswith("num_leaves = ")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        pairs = read_pairs(text)
    except DataError:
        return
    match_settings("boosting", "classes", pairs)


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        ("eta=1" + "0" * 400, False),  # a whole number beyond the largest float
        ('{"eta": -1' + "0" * 400 + "}", False),
        ("n_estimators=1" + "0" * 5000, False),  # more digits than Python reads
        ("eta=" + "1+" * 3000 + "1", False),  # deeper than Python's reader goes
        ("eta=" + "x+" * 900 + "1", False),  # read, but too deep to be written again
        ("eta=" + "-" * 20000 + "1", False),
        ("eta = [{[]: 1}]\nmax_depth = 3", True),  # no value of Python's
        ("eta = " + "[" * 5000 + "\nmax_depth = 3", True),
        ("\ufeff" + '{"eta": "fast", "max_depth": 3}', True),  # as some editors begin a file
    ],
)
def test_a_value_that_cannot_be_is_refused_with_what_can(text, is_taken):
    pasted = match_settings("boosting", "classes", read_pairs(text))
    assert pasted.values == ({"max_depth": 3} if is_taken else {})
    assert len(pasted.refused) == 1
    assert ": enter a " in pasted.refused[0]
    assert len(pasted.refused[0]) < 200


def test_a_line_of_many_spaces_is_read_as_any_other():
    """All its spaces were tried as its end, one after another: a minute for what may be pasted."""
    assert read_pairs("a=x" + " " * 90_000 + "y\nb = 1 ,") == {"a": "x" + " " * 90_000 + "y", "b": 1}


def test_lightgbm_s_names():
    text = (
        "LGBMRegressor(num_leaves=63, n_estimators=500, learning_rate=0.05, min_child_samples=10, "
        "bagging_fraction=0.8, max_depth=-1, reg_lambda=2, device='gpu')"
    )
    pasted = match_settings("boosting", "numbers", read_pairs(text))
    assert pasted.values == {
        "max_leaf_nodes": 63, "n_estimators": 500, "learning_rate": 0.05, "min_samples_leaf": 10,
        "subsample": 0.8, "max_depth": None, "reg_lambda": 2.0, "order": 2,
    }  # fmt: skip
    assert pasted.unknown == ("device",)
    assert pasted.refused == ()
    assert pasted.told[0] == "num_leaves: Leaves per tree 63"
    assert "max_depth: Depth per tree no limit" in pasted.told
    assert "for reg_lambda: Order 2" in pasted.told


def test_what_a_setting_acts_beside_is_set_where_it_is_not_so_already():
    pairs = {"lambda": 3}
    assert match_settings("boosting", "numbers", pairs).values == {"reg_lambda": 3.0, "order": 2}
    assert match_settings("boosting", "numbers", pairs, {"order": 2}).values == {"reg_lambda": 3.0}
    found = match_settings("boosting", "numbers", pairs, {"loss": "absolute_error"})
    assert found.values == {"reg_lambda": 3.0, "order": 2, "loss": "squared_error"}
    assert match_settings("boosting", "classes", pairs, {"loss": "exponential"}).values["order"] == 2


def test_xgboost_s_names():
    text = (
        "{'eta': 0.3, 'max_depth': 6, 'lambda': 1, 'subsample': 1, "
        "'grow_policy': 'depthwise', 'max_bin': 256}"
    )
    pasted = match_settings("boosting", "classes", read_pairs(text))
    assert pasted.values == {
        "learning_rate": 0.3, "max_depth": 6, "reg_lambda": 1.0, "subsample": 1.0, "growth": "depth",
        "max_bins": 256, "order": 2,
    }  # fmt: skip


def test_catboost_s_names():
    text = (
        "iterations=1000, depth=8, l2_leaf_reg=3, border_count=254, random_seed=5, early_stopping_rounds=20"
    )
    pasted = match_settings("boosting", "classes", read_pairs(text))
    assert pasted.values == {
        "n_estimators": 1000, "max_depth": 8, "reg_lambda": 3.0, "max_bins": 254, "random_state": 5,
        "n_iter_no_change": 20, "order": 2, "early_stopping": True,
    }  # fmt: skip


def test_catboost_s_statistics_of_categories():
    """Both of its kinds that look at the target are ordered ones; counters are another thing."""
    for word in ("Borders", "BinarizedTargetMeanValue"):
        assert match_settings("boosting", "numbers", {"simple_ctr": word}).values == {
            "categorical": "ordered"
        }
    refused = match_settings("boosting", "numbers", {"simple_ctr": "Counter"}).refused
    assert refused == ("simple_ctr = 'Counter': enter one of 'partition', 'ordered'",)


def test_scikit_learn_s_names():
    text = "HistGradientBoostingClassifier(max_iter=50, l2_regularization=0.0, max_leaf_nodes=None)"
    pasted = match_settings("boosting", "classes", read_pairs(text))
    assert pasted.values == {"n_estimators": 50, "reg_lambda": 0.0, "max_leaf_nodes": None}
    forest = "RandomForestClassifier(n_estimators=300, max_features='sqrt', criterion='entropy', n_jobs=-1)"
    pasted = match_settings("forest", "classes", read_pairs(forest))
    assert pasted.values == {
        "n_estimators": 300, "max_features": "sqrt", "criterion": "entropy", "n_jobs": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("task", "name", "words", "ours"),
    [
        (
            "classes",
            "objective",
            "binary multiclass binary:logistic multi:softprob multi:softmax",
            "log_loss",
        ),
        ("classes", "loss_function", "Logloss MultiClass CrossEntropy", "log_loss"),
        ("classes", "loss", "log_loss deviance", "log_loss"),
        ("numbers", "objective", "regression regression_l2 l2 mse rmse reg:squarederror", "squared_error"),
        ("numbers", "loss_function", "RMSE", "squared_error"),
        ("numbers", "objective", "regression_l1 l1 mae reg:absoluteerror", "absolute_error"),
        ("numbers", "objective", "poisson count:poisson", "poisson"),
        ("numbers", "objective", "quantile reg:quantileerror", "quantile"),
        ("numbers", "objective", "huber", "huber"),
    ],
)
def test_losses_by_the_names_that_others_give_them(task, name, words, ours):
    for word in words.split():
        assert match_settings("boosting", task, {name: word}).values == {"loss": ours}, word


@pytest.mark.parametrize(
    ("task", "words", "ours"),
    [
        ("classes", "auc AUC roc_auc", "auc"),
        ("classes", "error binary_error merror Accuracy", "accuracy"),
        ("classes", "binary_logloss multi_logloss mlogloss logloss neg_log_loss", "log_loss"),
        ("numbers", "rmse l2 mse RMSE neg_root_mean_squared_error", "rmse"),
        ("numbers", "l1 mae MAE", "mae"),
    ],
)
def test_metrics_stop_a_training_only_where_something_does(task, words, ours):
    """LightGBM and XGBoost print a metric; without patience nothing stops by it."""
    for word in words.split():
        pairs = {"eval_metric": word, "early_stopping_rounds": 20}
        expected = {"scoring": ours, "n_iter_no_change": 20, "early_stopping": True}
        assert match_settings("boosting", task, pairs).values == expected
        alone = {"metric": word}
        pasted = match_settings("boosting", task, alone)
        assert pasted.values == {}
        assert "paste early_stopping_rounds with it" in pasted.refused[0]
        assert match_settings("boosting", task, alone, {"early_stopping": True}).values == {"scoring": ours}


def test_alpha_is_a_shrinkage_beside_xgboost_s_names_and_of_the_loss_elsewhere():
    """It set the loss to huber."""
    xgboost = {"eta": 0.1, "lambda": 1, "alpha": 0.5}
    values = match_settings("boosting", "numbers", xgboost).values
    assert (values["reg_alpha"], "alpha" in values, "loss" in values) == (0.5, False, False)
    lightgbm = {"objective": "quantile", "alpha": 0.5}
    assert match_settings("boosting", "numbers", lightgbm).values == {"loss": "quantile", "alpha": 0.5}
    both = {"eta": 0.1, "objective": "quantile", "alpha": 0.5}
    assert match_settings("boosting", "numbers", both).values["alpha"] == 0.5
    assert match_settings("boosting", "numbers", {"alpha": 0.9}).values == {"alpha": 0.9}  # as get_params()
    assert match_settings("boosting", "numbers", {"eta": 1, "alpha": 0.5}, {"loss": "huber"}).values["alpha"]


def test_entropy_by_scikit_learn_s_other_name():
    assert match_settings("tree", "classes", {"criterion": "log_loss"}).values == {"criterion": "entropy"}


def test_a_wrong_value_is_named_with_what_is_legal():
    pasted = match_settings("boosting", "classes", {"eta": -0.1, "n_estimators": 2.5})
    assert pasted.values == {}
    assert pasted.refused[0] == "eta = -0.1: enter a number above 0 and at most 1,000"
    assert pasted.refused[1].startswith("n_estimators = 2.5: enter a whole number from 1")


def test_a_name_of_our_own_comes_before_another_library_s():
    """XGBoost's gamma is a forest's smallest gain; boosting may have a gamma of its own."""
    for key in CATALOG:
        for task in TASKS:
            for parameter in CATALOG[key].parameters(task):
                if parameter.in_form and parameter.kind != "directions" and parameter.default is not None:
                    found = match_settings(key, task, {parameter.name: parameter.default})
                    assert parameter.name in found.values, (key, parameter.name)


def test_further_names_are_of_settings_that_some_kind_has_or_will_have():
    assert all(ours.isidentifier() and theirs for theirs, ours in SYNONYMS.items())
