"""How much memory one fit takes at its peak above the loaded data, in a process of its own (Linux)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

MIB = 2**20


def peak_of_tree(X: np.ndarray, y: np.ndarray, max_depth: int | None) -> float:
    """Return MiB that fitting an exact classification tree needs beside `X` and `y`."""
    with TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        command = [sys.executable, "-m", "tests.benchmarks.memory", folder, str(max_depth)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(told) / MIB


def _resident(name: str) -> int:
    """Return bytes of memory, VmRSS now or VmHWM at most: `getrusage` would count the parent's peak too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def main(folder: str, max_depth: str) -> None:
    """Print the bytes of the peak above what is loaded."""
    from engine import DecisionTreeClassifier

    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    DecisionTreeClassifier(max_depth=3).fit(X[:50_000], y[:50_000])  # loads the kernels of all sizes
    loaded = _resident("VmRSS")
    DecisionTreeClassifier(max_depth=None if max_depth == "None" else int(max_depth)).fit(X, y)
    print(_resident("VmHWM") - loaded)


if __name__ == "__main__":
    main(*sys.argv[1:])
