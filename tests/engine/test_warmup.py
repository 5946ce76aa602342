import os
import subprocess
import sys

import numpy as np
import pytest

import engine
from engine import surface, warmup
from engine.jit import cache_folder, is_compiling
from engine.tree.kernels import grow, levels, thresholds


def cached_files():
    return {path.name for path in cache_folder().rglob("*.nb[ci]")}


def warm_up(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "engine.warmup", *arguments], capture_output=True, text=True, check=True,
        cwd=os.path.dirname(os.path.dirname(engine.__file__)), **more,
    ).stdout.splitlines()  # fmt: skip


def test_child_process_tells_every_step_and_fills_the_cache():
    if cache_folder() is not None:
        (cache_folder() / warmup.COMPLETE).unlink(missing_ok=True)
    n = len(warmup.steps())
    expected = [f"{i}/{n} {step.name}" for i, step in enumerate(warmup.steps(), start=1)]
    assert warm_up() == [*expected, "done"]
    if cache_folder() is None or os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("no cache to look at")
    assert warm_up() == ["done"], "what is compiled already is not gone through again"
    before = cached_files()
    assert before
    train_everything()
    assert cached_files() == before, "a kernel or a dtype was compiled that the warm-up does not know"


def test_the_process_ahead_tells_its_parts_and_ends_with_its_parent(tmp_path):
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as parent:  # holds the input open
        told = warm_up(warmup.AHEAD, stdin=parent.stdout)
        parent.kill()
    assert told == [warmup.LEVEL_SEARCH, warmup.BOOSTING, warmup.FEW_ROWS]
    environment = os.environ | {"TREEWRIGHT_CACHE_DIR": str(tmp_path)}  # nothing compiled: it would take long
    assert warm_up(warmup.AHEAD, stdin=subprocess.DEVNULL, env=environment) == []


def test_without_a_second_process_the_first_does_all(monkeypatch):
    monkeypatch.setattr(warmup.sys, "executable", "/nowhere/python")
    with warmup._ProcessAhead() as ahead:
        ahead.wait_for(warmup.BOOSTING)  # returns


def test_parts_compiled_ahead_are_those_that_growing_calls():
    if not is_compiling():
        pytest.skip("the compiler is switched off")
    grower = warmup._tiny_grower()
    grower.compile_levels()
    grower.compile_rest()
    parts = (levels.scan_levels, thresholds.scan_thresholds, grow.partition, grow.choose_next)
    before = [part.signatures for part in parts]
    warmup._tree_for_classes()
    assert [part.signatures for part in parts] == before
    assert all(len(signatures) == 1 for signatures in before)


def train_everything():
    """What the window does: float64 frames with categories and missing values, all kinds of model."""
    import pandas as pd

    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": pd.Categorical(rng.choice(list("xyz"), 200)), "c": 1.0})
    X.loc[::5, "a"] = np.nan
    labels = rng.choice(["p", "q", "r"], 200)
    for name in engine.__all__:
        if not name.endswith(("Classifier", "Regressor")):
            continue
        model = getattr(engine, name)()
        if "random_state" in model.get_params():
            model.set_params(random_state=1)
        for y in (
            (labels, np.where(labels == "p", "p", "q"))
            if name.endswith("Classifier")
            else (rng.normal(size=200),)
        ):
            model.fit(X, y)
            model.predict(X)
            surface.model_surface(model, 0, 1, [0.0, 1.0], [0.0, 1.0], [0.0, 0.0, 1.0])
            surface.model_curve(model, 0, [0.0, 1.0], [0.0, 0.0, 1.0])
