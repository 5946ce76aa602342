"""The window's pauses while the studies of the Laboratory run; inside the child process of `window`."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.benchmarks.window import SETTLE_S, TRAIN_S, Heartbeat, open_session, wait_until

LOADING_S = 0.3  # of a study: libraries and kernels are loaded, and the first picture is made
N_FEATURES = 10


def measure_studies(n_samples: int) -> dict[str, float]:
    """Of each study of a tree: the longest pause at first and after that, and until a stop is answered."""
    import numpy as np

    from workbench.datasets import make_table

    session = open_session()
    document, context, window = session.document, session.window.context, session.window
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, N_FEATURES))
    columns = {f"x{k}": X[:, k] for k in range(N_FEATURES)}
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + rng.normal(size=n_samples)
    document.open_table(make_table("studies", columns | {"y": y}))
    document.set_target("y")
    run_id = document.add_run("tree")
    session.trainer.train(run_id)
    wait_until(lambda: document.run(run_id).result is not None and not session.lanes.live_jobs)
    told: dict[str, float] = {}

    def measure(name: str, runner, second: str | None = None) -> None:
        window.actions_[f"action.study.{name}"].trigger()
        dialog, opened = window.studies.window_of(name), time.perf_counter()
        if second is not None:
            along = replace(dialog.settings, column="x0", second_column=second)
            document.set_studies("Choose Columns", many_fits=along)
        wait_until(lambda: time.perf_counter() - opened > SETTLE_S and not session.lanes.live_jobs)
        what = f"{name} over two columns" if second else name
        heartbeat, began = Heartbeat(), time.perf_counter()
        dialog.start.click()
        assert runner.current_job is not None, f"{what} did not begin: {document.messages[-1]}"
        wait_until(lambda: time.perf_counter() - began > LOADING_S)
        told[f"{what}, first"] = heartbeat.longest_s
        heartbeat.reset()
        wait_until(lambda: runner.current_job is None or time.perf_counter() - began > TRAIN_S)
        told[f"{what}, pause"] = heartbeat.longest_s
        asked = time.perf_counter()
        runner.stop()
        wait_until(lambda: runner.current_job is None)
        told[f"{what}, stop"] = time.perf_counter() - asked
        dialog.close()

    measure("bias_variance", context.laboratory)
    measure("many_fits", context.many_fits, "")
    measure("many_fits", context.many_fits, "x1")
    measure("bootstrap", context.resampler)
    measure("instability", context.tree_study)
    session.shut_down()
    return told
