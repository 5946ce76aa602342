"""The program as a process: what it imports before its first paint, and how it ends (case C35)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numba", "pandas", "pyarrow", "sklearn", "scipy", "pyqtgraph", "qtawesome")
PROBE = """
import sys
from PySide6.QtWidgets import QApplication
from workbench.ui import application, main_window

class Window(main_window.MainWindow):
    def when_painted(self, then):
        pass

    def event(self, event):
        done = super().event(event)
        if event.type() == event.Type.Paint:
            heavy = [name for name in {heavy!r} if name in sys.modules]
            print("painted", ",".join(heavy) or "light")
            self._may_close = True
            QApplication.instance().quit()
        return done

application.MainWindow = Window
sys.exit(application.run())
"""
CLOSING = """
import os, sys, threading
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.ui import application

how, file = sys.argv[1], sys.argv[2]
make = application.make_session

def watched(settings=None):
    session = make(settings)
    # the prompt answered with Discard
    session.window.files.ask_save = lambda question, then: QTimer.singleShot(0, then)
    document = session.document

    def close():
        left = [t.name for t in threading.enumerate()]
        print("closing", len(left))
        guard = threading.Timer(5, os._exit, (9,))  # C35: over within 5 s
        guard.daemon = True
        guard.start()
        if how == "quit":
            QApplication.exit(0)  # without a close event
        else:
            session.window.close()

    def train():
        columns = [column.name for column in document.table.columns]
        document.set_target(columns[-1])
        run = document.add_run("forest")
        document.set_parameter(run, "n_estimators", 500)
        assert session.trainer.train(run)
        QTimer.singleShot({"early": 20}.get(how, 1000), close)

    if how == "import":
        session.window.when_painted(lambda: QTimer.singleShot(5, close))
    else:
        document.table_changed.connect(lambda: QTimer.singleShot(0, train))
    QTimer.singleShot(40_000, lambda: os._exit(9))  # rather than hang
    return session

application.make_session = watched
sys.exit(application.run(file))
"""


def run(code: str, *arguments: str, home: Path, timeout: float = 60) -> subprocess.CompletedProcess:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PYTHONWARNINGS": "error::ResourceWarning",
        **{name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")},
    }
    # a process group of its own, which the processes that it starts belong to
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert not has_processes(process.pid), "a process of the program was left"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def has_processes(group: int) -> bool:
    """Whether any process of a group is left; that of an ended program is free once its children are gone."""
    if not hasattr(os, "killpg"):
        return False  # where processes have no groups
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def complaints(stderr: str) -> list[str]:
    """What was written to standard error, without the offscreen plugin's remark on size hints."""
    return [line for line in stderr.splitlines() if line.strip() and "propagateSizeHints" not in line]


def test_nothing_heavy_is_imported_before_the_first_paint(tmp_path):
    done = run(PROBE.format(heavy=HEAVY), home=tmp_path)
    assert done.stdout.splitlines()[0] == "painted light", done.stdout + done.stderr
    assert done.returncode == 0


@pytest.fixture(scope="module")
def table_file(tmp_path_factory) -> Path:
    """50,000 x 20 numbers and a class."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 20)).round(4)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    path = tmp_path_factory.mktemp("table") / "numbers.csv"
    header = ",".join([*(f"x{i}" for i in range(20)), "y"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.5g")
    return path


@pytest.fixture(scope="module")
def project(qapp, table_file) -> Path:
    """A project of that table."""
    from workbench.document import Document
    from workbench.project import save_project
    from workbench.readers import read_table

    document = Document()
    document.open_table(read_table(table_file))
    path = table_file.with_name("numbers.treewright")
    save_project(document, path, include_rows=False)
    return path


@pytest.mark.parametrize("how", ["after", "early", "import", "quit"])
def test_closing_while_work_runs_ends_cleanly(table_file, project, tmp_path, how):
    """Case C35: while an existing project is trained on, or its table imported; no process is left."""
    before = project.read_bytes()
    done = run(CLOSING, how, str(project), home=tmp_path)
    assert project.read_bytes() == before
    assert sorted(path.name for path in project.parent.iterdir()) == [table_file.name, project.name]
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("closing"), done.stdout
    assert complaints(done.stderr) == []
