"""Times of several things to do, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, TypeVar

N_RUNS = 3
Name = TypeVar("Name")


def seconds(work: Callable[[], Any]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turns(works: Mapping[Name, Callable[[], Any]], n_runs: int = N_RUNS) -> dict[Name, float]:
    """Median seconds of each, so that whatever else the machine does hits all of them alike."""
    times: dict[Name, list[float]] = {name: [] for name in works}
    for _ in range(n_runs):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: median(kept) for name, kept in times.items()}
