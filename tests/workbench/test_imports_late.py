"""Opening a window must not wait for pandas, pyarrow, numba or scikit-learn."""

import subprocess
import sys

LIGHT = (
    "workbench.datasets", "workbench.columns", "workbench.kinds", "workbench.samples", "workbench.readers",
    "workbench.apply", "workbench.problems", "workbench.resources",
)  # fmt: skip


def test_the_modules_of_tables_import_nothing_heavy():
    code = (
        f"import sys, {', '.join(LIGHT)}\n"
        "heavy = {'pandas', 'pyarrow', 'numba', 'sklearn', 'python_calamine', 'PySide6'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
