"""The kernels are plain Python too: their twin tests pass with the compiler switched off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
FILES = [
    "test_tree.py",
    "test_predict.py",
    "test_binning.py",
    "test_losses.py",
    "test_split.py",
    "test_prune.py",
]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="all tests run so already")
def test_twin_tests_pass_without_the_compiler():
    # medians by hand-written heaps take minutes as plain Python: their search is tried, not all their uses
    chosen = "not scikit_learn and not (absolute_error and (rows_add_up or best_first_growth))"
    files = [str(TESTS / "engine" / name) for name in FILES]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-k", chosen, *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS.parent,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    assert done.returncode == 0, done.stdout[-3000:]
