import os
import re
import subprocess
import sys

import pytest
from PySide6.QtCore import qInstallMessageHandler, qWarning

from engine import warmup
from engine.errors import FitStopped
from engine.monitor import NULL_MONITOR
from engine.tree import subtrees
from workbench import cli, demo
from workbench.catalog import CATALOG
from workbench.catalog_entry import LARGE_ROWS
from workbench.samples import load_sample
from workbench.warmup import WarmUp, step_of


@pytest.fixture
def penguins(tmp_path):
    from workbench import resources

    path = tmp_path / "penguins.csv"
    path.write_bytes(resources.path("samples", "penguins.csv").read_bytes())
    return path


def test_fit_predict_evaluate(penguins, tmp_path, capsys):
    model, out = tmp_path / "m.tree.json", tmp_path / "out.csv"
    fit = ["fit", str(penguins), "--target", "species", "--model", "tree", "--ignore", "year"]
    assert cli.main([*fit, "--set", "max_depth=3", "--out", str(model)]) == 0
    told = capsys.readouterr().out
    assert "species: predicted as classes" in told
    assert re.search(r"test, 69 rows: accuracy 0\.9", told)
    assert cli.main(["predict", str(model), str(penguins), "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 345
    assert lines[0].endswith("probability of Gentoo")
    capsys.readouterr()
    assert cli.main(["evaluate", str(model), str(penguins), "--target", "species"]) == 0
    shown = float(re.search(r"344 rows: accuracy (\S+) ", capsys.readouterr().out)[1])
    names = lines[0].split(",")
    told, true = (
        [line.split(",")[names.index(name)] for line in lines[1:]]
        for name in (next(n for n in names if n.startswith("predicted")), "species")
    )
    assert shown == pytest.approx(sum(a == b for a, b in zip(told, true, strict=True)) / 344, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "nothing.csv", "--target", "y"], "nothing.csv is not there"),
        (["fit", "{penguins}", "--target", "kind"], "no column 'kind'"),
        (["fit", "{penguins}", "--target", "species", "--set", "max_depth=0"], "max_depth is 0"),
        (["fit", "{penguins}", "--target", "species", "--set", "depth"], "NAME=VALUE"),
        (["fit", "{penguins}", "--target", "species", "--seed", "-1"], "random_state is -1; enter a whole"),
        (["fit", "{penguins}", "--target", "species", "--set", "depth=3"], "no parameter 'depth'"),
        (["predict", "none.tree.json", "{penguins}", "--out", "x.csv"], "none.tree.json is not there"),
        (["export", "none.treewright", "--out", "x.py"], "none.treewright is not there"),
    ],
)
def test_mistakes_are_told_in_a_sentence(penguins, capsys, arguments, words):
    assert cli.main([text.replace("{penguins}", str(penguins)) for text in arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.usefixtures("qapp")
def test_the_demo_leaves_out_only_the_remark_on_size_hints(capsys):
    before = qInstallMessageHandler(demo.say_qt_message)
    try:
        qWarning("This plugin does not support propagateSizeHints()")
        qWarning("This plugin does not support raise()")
    finally:
        qInstallMessageHandler(before)
    assert capsys.readouterr().err == "This plugin does not support raise()\n"


def test_the_demos_road_writes_its_files_and_export_reads_its_project(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "forest_figures", list)
    monkeypatch.setattr(demo, "boosting_figures", list)
    assert demo.main([str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "0.489054, 0.124514, 0.092417, 0.076913\n" in told.split("rounds 0-3: ")[1]
    assert "cross-validated" in told
    project = str(tmp_path / "penguins.treewright")
    model, script = tmp_path / "again.tree.json", tmp_path / "again.py"
    assert cli.main(["export", project, "--model", "Decision tree 1", "--out", str(model)]) == 0
    assert model.read_bytes() == (tmp_path / "penguins-tree.tree.json").read_bytes()
    assert cli.main(["export", project, "--model", "Decision tree 1", "--out", str(script)]) == 0
    assert script.read_text() == (tmp_path / "penguins-tree.py").read_text()
    assert (tmp_path / "predictions.csv").read_text().count("\n") == load_sample("penguins").n_rows + 1


def test_a_training_waits_for_the_kernels_of_its_kind_alone(qtbot):
    warm_up = WarmUp()
    lines = "1/3 decision tree for classes\n2/3 decision tree for numbers\n3/3 boosting for numbers"
    endless = f"import sys; print({lines!r}, flush=True); sys.stdin.read()"
    try:
        with qtbot.waitSignals([warm_up.advanced] * 3, timeout=20_000):
            warm_up.start(arguments=("-c", endless))
        warm_up.wait_until_warm("decision tree", NULL_MONITOR)  # returns: a later kind is under way
        assert warm_up.is_running
        with pytest.raises(FitStopped):
            warm_up.wait_until_warm("boosting", AlwaysStop())
    finally:
        warm_up.stop()


def test_every_kind_of_model_names_its_steps_of_the_warm_up():
    assert LARGE_ROWS == subtrees.FEWEST_ROWS
    named = set()
    large, compiled = "large tables", [entry for entry in CATALOG.values() if entry.warm_up_step]
    of_large = (
        large, large, "extra trees", large, "boosting", large, "networks", "perceptron", large, large
    )  # fmt: skip
    for entry, of_many in zip(compiled, of_large, strict=True):
        steps = entry.warm_up_of(LARGE_ROWS - 1), entry.warm_up_of(LARGE_ROWS)
        assert steps == (entry.warm_up_step, of_many)
        named |= set(steps)
    assert named == {step_of(f"1/1 {step.name}") for step in warmup.steps()}


class AlwaysStop:
    """A monitor that stops at once."""

    def on_iteration(self, event):
        return True


def test_a_warm_up_tells_its_steps_and_its_end(qtbot):
    warm_up, told = WarmUp(), []
    warm_up.advanced.connect(told.append)
    with qtbot.waitSignal(warm_up.ended, timeout=20_000) as ended:
        warm_up.start(arguments=("-c", "print('1/2 tree', flush=True); print('2/2 forest')"))
        assert warm_up.is_running
    assert ended.args == [True]
    assert told == ["1/2 tree", "2/2 forest"]
    with qtbot.waitSignal(warm_up.ended, timeout=20_000) as ended:
        warm_up.start("/no/such/program")
    assert ended.args == [False]
    assert not warm_up.is_running


def test_the_window_s_warm_up_runs_to_its_end_and_gives_way(qtbot):
    warm_up, told = WarmUp(), []
    warm_up.advanced.connect(told.append)
    with qtbot.waitSignal(warm_up.ended, timeout=300_000) as ended:
        warm_up.start()
    assert ended.args == [True]
    assert told[-1] == "done"
    report = "import os; from workbench.platform import lower_priority; lower_priority(); print(os.nice(0))"
    if hasattr(os, "nice"):
        run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
        assert int(run.stdout) == min(os.nice(0) + 10, 19)
