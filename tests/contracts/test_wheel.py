"""The wheel alone, installed into an empty environment, is the whole program."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from workbench.samples import SAMPLES

ROOT = Path(__file__).parent.parent.parent

OPEN_A_TABLE = """
import sys
from PySide6.QtCore import QTimer
from workbench.ui import application

def look(session):
    if session.document.table is None:
        QTimer.singleShot(20, lambda: look(session))
        return
    print(session.document.table.n_rows, "rows")
    session.document.undo_stack.setClean()
    session.window.close()

made = application.make_session

def make_and_look(*arguments):
    session = made(*arguments)
    QTimer.singleShot(0, lambda: look(session))
    return session

application.make_session = make_and_look
sys.exit(application.run(sys.argv[1]))
"""

LOOK_AROUND = """
from pathlib import Path
import engine, workbench
from workbench.resources import path
from workbench.samples import SAMPLES, load_sample
assert "site-packages" in workbench.__file__ and "site-packages" in engine.__file__
assert path("icons").is_dir() and path("samples", "index.json").is_file()
print(sum(load_sample(sample.key).n_rows > 0 for sample in SAMPLES), "of", len(SAMPLES))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Python of an empty environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("treewright-*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return python


def run(installed, folder, *arguments):
    """Run the environment's Python in a folder of its own, without a display."""
    places = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "TREEWRIGHT_CACHE_DIR": str(folder / "cache"),
    }
    environment = {**os.environ, **places, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [installed, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_resources_are_found(installed, tmp_path):
    told = run(installed, tmp_path, "-c", LOOK_AROUND)
    n = len(SAMPLES)
    assert (told.returncode, told.stdout.strip()) == (0, f"{n} of {n}"), told.stderr


def test_the_command_opens_a_file(installed, tmp_path):
    (tmp_path / "small.csv").write_text("a,b\n1,x\n2,y\n3,x\n", encoding="utf-8")
    told = run(installed, tmp_path, "-c", OPEN_A_TABLE, "small.csv")
    assert (told.returncode, told.stdout.strip()) == (0, "3 rows"), told.stderr
    command = installed.parent / ("treewright.exe" if os.name == "nt" else "treewright")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == "0.1.0"
