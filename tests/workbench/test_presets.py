"""Presets: each sets at least three legal settings, in one undo step; and it trains."""

import pytest

from tests.workbench.making import Session, open_flowers
from workbench.catalog import CATALOG, check_parameter_values, start_parameters
from workbench.catalog_entry import TASKS
from workbench.presets import PRESETS, presets_of, taking_back

OFFERED = [(key, task, *one) for key in CATALOG for task in TASKS for one in presets_of(key, task)]


@pytest.mark.parametrize(("key", "task", "preset", "values"), OFFERED)
def test_each_preset_changes_at_least_three_settings_to_legal_values(key, task, preset, values):
    check_parameter_values(key, task, values)
    start = start_parameters(key, task, 344)
    changed = [name for name, value in values.items() if start[name] != value]
    assert len(changed) >= 3, preset.title
    applied = CATALOG[key].applying(task, {**start, **values})
    assert set(preset.needs) <= set(applied)  # none of them is without effect beside the others


def test_every_kind_that_can_be_added_has_a_quick_and_a_careful_one_or_says_why():
    titles = {key: [preset.title for preset, _ in presets_of(key, "classes")] for key in CATALOG}
    for key in ("tree", "forest", "extra_trees", "bagging", "boosting"):
        assert titles[key][:2] == ["Quick Look", "Careful"]
    assert "XGBoost-like" in titles["boosting"]


def test_a_preset_is_absent_where_what_it_is_named_for_is():
    for preset in PRESETS:
        if preset.kind not in CATALOG:
            continue
        for task in TASKS:
            table = {p.name: p for p in CATALOG[preset.kind].parameters(task)}
            is_whole = all(n in table and table[n].is_legal(v) for n, v in preset.needs.items())
            assert (preset.values(task) is not None) == is_whole


def test_xgboost_s_defaults_are_those_it_documents():
    """XGBoost 2: eta 0.3, max_depth 6, lambda 1, depthwise, max_bin 256."""
    values = dict(next(v for p, v in presets_of("boosting", "numbers") if p.key == "xgboost"))
    expected = {"learning_rate": 0.3, "max_depth": 6, "reg_lambda": 1.0, "growth": "depth", "max_bins": 256}
    assert expected.items() <= values.items()
    assert values["order"] == 2


@pytest.mark.parametrize("task", TASKS)
def test_catboost_s_way_with_categories(task):
    values = next(v for p, v in presets_of("boosting", task) if p.key == "catboost")
    assert values["categorical"] == "ordered"
    assert values["growth"] == "oblivious"


def test_several_settings_are_one_undo_step(qapp):
    document = open_flowers()
    run_id = document.add_run("boosting")
    before, n_steps = document.run(run_id).spec, document.undo_stack.count()
    told = []
    document.parameter_changed.connect(lambda _run_id, name: told.append(name))
    preset, values = presets_of("boosting", "classes")[0]
    assert document.set_parameters(run_id, values, f"Use {preset.title}")
    assert document.undo_stack.count() == n_steps + 1
    assert document.undo_stack.undoText() == "Use Quick Look"
    assert values.items() <= document.run(run_id).spec.parameters.items()
    assert set(told) == {name for name, value in values.items() if before.parameters[name] != value}
    assert not document.set_parameters(run_id, values, "again")  # nothing to change, no step
    assert document.undo_stack.count() == n_steps + 1
    document.undo_stack.undo()
    assert document.run(run_id).spec == before
    document.undo_stack.redo()
    assert values.items() <= document.run(run_id).spec.parameters.items()


def test_a_wrong_value_changes_none_of_them(qapp):
    document = open_flowers()
    run_id = document.add_run("boosting")
    before = document.run(run_id).spec
    with pytest.raises(ValueError, match="learning_rate"):
        document.set_parameters(run_id, {"max_depth": 3, "learning_rate": -1.0}, "x")
    assert document.run(run_id).spec == before


def test_presets_train(qapp):
    session = Session(open_flowers())
    small = {"n_estimators": 3}
    for key, task, _preset, values in OFFERED:
        if task == "classes":
            session.train(key, **{**values, **(small if "n_estimators" in values else {})})
    assert all(record.state == "done" for record in session.document.runs.values())
    session.close()


def test_a_preset_takes_back_the_one_in_force_and_leaves_what_was_set_by_hand():
    """Case: "XGBoost-like" after "Careful" kept its early stopping and its samples of rows."""
    start = start_parameters("boosting", "classes", 344)
    offered = presets_of("boosting", "classes")
    careful, like_xgboost = (dict(v) for p, v in offered if p.key in ("careful", "xgboost"))
    current = start | careful
    chosen = {preset.key: values for preset, values in taking_back(offered, current, start)}
    after = current | chosen["xgboost"]
    assert after == start | like_xgboost
    by_hand = current | {"subsample": 0.5}  # not "Careful" any more
    chosen = {preset.key: values for preset, values in taking_back(offered, by_hand, start)}
    assert chosen["xgboost"] == like_xgboost
    unchanged = {preset.key: values for preset, values in taking_back(offered, start, start)}
    assert unchanged == {preset.key: values for preset, values in offered}
