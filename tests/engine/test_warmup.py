import os
import subprocess
import sys

import numpy as np
import pytest

import engine
from engine import surface, warmup
from engine.jit import cache_folder


def cached_files():
    return {path.name for path in cache_folder().rglob("*.nb[ci]")}


def test_child_process_tells_every_step_and_fills_the_cache():
    out = subprocess.run(
        [sys.executable, "-m", "engine.warmup"], capture_output=True, text=True, check=True, env=os.environ,
        cwd=os.path.dirname(os.path.dirname(engine.__file__)),
    )  # fmt: skip
    n = len(warmup.steps())
    expected = [f"{i}/{n} {name}" for i, (name, _) in enumerate(warmup.steps(), start=1)]
    assert out.stdout.splitlines() == [*expected, "done"]
    if cache_folder() is None or os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("no cache to look at")
    before = cached_files()
    assert before
    train_everything()
    assert cached_files() == before, "a kernel or a dtype was compiled that the warm-up does not know"


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
        model = getattr(engine, name)(random_state=1)
        for y in (
            (labels, np.where(labels == "p", "p", "q"))
            if name.endswith("Classifier")
            else (rng.normal(size=200),)
        ):
            model.fit(X, y)
            model.predict(X)
            surface.model_surface(model, 0, 1, [0.0, 1.0], [0.0, 1.0], [0.0, 0.0, 1.0])
            surface.model_curve(model, 0, [0.0, 1.0], [0.0, 0.0, 1.0])
