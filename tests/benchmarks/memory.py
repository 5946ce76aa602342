"""How much memory one fit takes at its peak above the loaded data, in a process of its own (Linux)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.benchmarks import peers

MIB = 2**20
N_WARM = 50_000  # rows of a first fit, which loads the kernels of all sizes


def peak(X: np.ndarray, y: np.ndarray, fit: Callable[..., Any], number: int) -> float:
    """Return MiB beside the data that ``fit(X, y, number)``, of `tests.benchmarks.peers`, needs."""
    with TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        setting = f"import sys; sys.path[:] = {sys.path!r}; "
        call = f"from tests.benchmarks.memory import main; main({folder!r}, {fit.__name__!r}, {number})"
        command = [sys.executable, "-c", setting + call]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(told.split()[-1]) / MIB


def _resident(name: str) -> int:
    """Return bytes of memory, VmRSS now or VmHWM at most: `getrusage` would count the parent's peak too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def main(folder: str, name: str, number: int) -> None:
    """Print the bytes of the peak above what is loaded."""
    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    fit = getattr(peers, name)
    fit(X[:N_WARM], y[:N_WARM], number)
    loaded = _resident("VmRSS")
    fit(X, y, number)
    print(_resident("VmHWM") - loaded)
