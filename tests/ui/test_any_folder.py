"""Case C48: all that the program writes goes into a folder outside ASCII and is read from there again."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from engine import jit
from tests.ui.training_help import train
from workbench.apply import apply_model, read_like, save_predictions
from workbench.exports import export_model, load_model
from workbench.project import load_project, save_project
from workbench.readers import read_table
from workbench.samples import load_sample
from workbench.scripts import make_script
from workbench.ui.exporting import export_picture

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path("Jürgen Müß – Übung") / "数据 🌳"


@pytest.fixture(params=["NFC", "NFD"])
def folder(tmp_path, request):
    made = tmp_path / unicodedata.normalize(request.param, str(FOLDER))
    made.mkdir(parents=True)
    return made


def test_c48_everything_is_written_there_and_opens_again(qtbot, session, folder):
    document, form = session.document, "NFD" if "u\u0308" in str(folder) else "NFC"

    def path(ending):
        return folder / unicodedata.normalize(form, f"größe 🌳{ending}")

    iris = load_sample("iris")
    with path(".csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(iris.names)
        rows.writerows([column.text(row) for column in iris.columns] for row in range(iris.n_rows))
    document.open_table(read_table(path(".csv")))
    document.set_target(iris.names[-1])
    run_id = train(qtbot, session, "tree")
    result = document.run(run_id).result
    applied = apply_model(result, document.table)

    save_project(document, path(".treewright"), include_rows=False)
    again = load_project(path(".treewright"))
    assert again.data.table.fingerprint == document.table.fingerprint
    assert again.runs[0].result.trees == result.trees

    export_model(result, path(".tree.json"))
    assert load_model(path(".tree.json")).trees == result.trees

    save_predictions(applied, document.table, path(" predicted.csv"))
    told = read_like(path(" predicted.csv"), document.table.options)
    predicted = told.column(f"predicted {result.target}")
    assert [predicted.text(row) for row in range(told.n_rows)] == list(applied.predictions[0][1])

    session.window.centre.show_view("tree")
    canvas = session.window.centre.docks["tree"].widget().canvas
    for ending in (".svg", ".png", ".pdf"):
        export_picture(canvas, path(ending))
    assert any("rows" in (item.text or "") for item in ET.parse(path(".svg")).iter())
    assert not QImage(str(path(".png"))).isNull()
    assert path(".pdf").read_bytes().startswith(b"%PDF")

    path(".py").write_text(make_script(document, run_id), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path(".py"))],
        capture_output=True, check=False, cwd=folder, env=os.environ | {"PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert f"test accuracy {result.scores['test'].accuracy.value}" in done.stdout.decode()

    endings = (".csv", ".treewright", ".tree.json", " predicted.csv", ".svg", ".png", ".pdf", ".py")
    assert {item.name for item in folder.iterdir()} == {path(ending).name for ending in endings}


PROGRAM = """
import sys, tempfile
from PySide6.QtCore import QTimer
from engine import jit
from engine.kernels.numeric import midpoint
from workbench import log
from workbench.ui import application

make = application.make_session

def watched(settings=None):
    session = make(settings)
    session.warm_up.start = lambda *_: None  # it compiles every kernel; one is enough here
    session.document.table_changed.connect(lambda: QTimer.singleShot(0, session.window.close))
    return session

application.make_session = watched
code = application.run(sample="iris")
print("value", midpoint(1.0, 2.0))
print("hits", sum(midpoint.stats.cache_hits.values()))
print("cache", jit.cache_folder())
print("log", log.log_path())
print("temporary", tempfile.gettempdir())
sys.exit(code)
"""


@pytest.mark.parametrize("folder", ["NFC"], indirect=True)
def test_c48_home_temporary_folder_and_kernel_cache_there(folder):
    """Nothing named by a variable: settings, log and cache are found through the home folder."""
    home, temporary = folder / "Zuhause", folder / "Zwischenablage"
    for made in (home, temporary):
        made.mkdir()
    dropped = ("XDG_", "TREEWRIGHT_")
    environment = {name: of for name, of in os.environ.items() if not name.startswith(dropped)}
    environment |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TMPDIR": str(temporary),
        "TEMP": str(temporary),
    }
    environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    for hits in ("0", "1") if jit.is_compiling() else ("0",):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, check=False, cwd=folder, env=environment
        )
        assert done.returncode == 0, done.stderr.decode()
        told = dict(line.split(" ", 1) for line in done.stdout.decode().splitlines())
        assert (told["value"], told["hits"]) == ("1.5", hits)
        assert told["temporary"] == str(temporary)
        assert Path(told["cache"]).is_relative_to(home)
        assert Path(told["log"]).is_relative_to(home)
        assert Path(told["log"]).is_file()
