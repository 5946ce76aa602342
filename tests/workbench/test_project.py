import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from tests.workbench.making import Session, open_flowers
from workbench.apply import apply_model
from workbench.datasets import ReadOptions, make_table
from workbench.document import Document
from workbench.project import DataFileMissing, load_project, save_project
from workbench.project.atomic import write_atomically
from workbench.readers import read_table
from workbench.runs import SplitSettings
from workbench.scripts import make_script

pytestmark = pytest.mark.usefixtures("qapp")

GERMAN = "ziel;id;länge;farbe\n" + "".join(
    f"{'ja' if i % 3 else 'nein'};{i + 1};{i % 7},{i % 10};{('rot', 'blau')[i % 2]}\n" for i in range(60)
)


@pytest.fixture(scope="module")
def trained(qapp):
    """A document with a trained model, one that is not, and a view state."""
    session = Session(open_flowers(), cross_validates=True)
    run_id = session.document.add_run("boosting")
    session.document.set_parameter(run_id, "n_estimators", 5)
    session.document.set_parameter(run_id, "min_samples_leaf", 3)
    from tests.workbench.making import wait_for

    wait_for(session.trainer.cross_validation_ended, lambda: session.trainer.train(run_id))
    session.document.duplicate_run(run_id)
    session.document.select_run(run_id)
    session.document.set_view_state("surface", {"x": "length", "y": "width", "open": True})
    yield session.document
    session.close()


def reopened(path, **options):
    document = Document()
    document.restore(load_project(path, **options))
    return document


def test_a_project_comes_back_as_it_was(trained, tmp_path):
    path = tmp_path / "p.treewright"
    save_project(trained, path, include_rows=True)
    found = reopened(path)
    assert found.roles == trained.roles
    assert found.split == trained.split
    assert found.classes == trained.classes
    assert np.array_equal(found.parts, trained.parts)
    assert found.view_state == {"surface": {"x": "length", "y": "width", "open": True}}
    assert found.path == path
    assert not found.is_dirty
    assert found.current_run_id == trained.current_run_id
    for old, new in zip(trained.runs.values(), found.runs.values(), strict=True):
        assert (new.run_id, new.name, new.spec, new.state) == (old.run_id, old.name, old.spec, old.state)
    for old, new in zip(trained.table.columns, found.table.columns, strict=True):
        assert (new.name, new.kind, new.reason, new.levels) == (old.name, old.kind, old.reason, old.levels)
        assert np.array_equal(new.values, old.values, equal_nan=old.values.dtype.kind == "f")
        assert [new.text(row) for row in range(5)] == [old.text(row) for row in range(5)]


def test_results_come_back_to_the_last_bit(trained, tmp_path):
    path = tmp_path / "p.treewright"
    save_project(trained, path, include_rows=True)
    old = trained.runs["run1"].result
    new = reopened(path).runs["run1"].result
    for (name, told), (new_name, new_told) in zip(
        apply_model(old, trained.table).predictions, apply_model(new, trained.table).predictions, strict=True
    ):
        assert name == new_name
        assert np.array_equal(told, new_told)
    assert np.array_equal(new.curve.train, old.curve.train)
    assert np.array_equal(new.curve.validation, old.curve.validation)
    assert new.curve.best_round == old.curve.best_round
    assert np.array_equal(new.importances, old.importances)
    assert new.trees == old.trees
    for part, scores in old.scores.items():
        assert new.scores[part].metrics == scores.metrics
        assert np.array_equal(new.scores[part].proba, scores.proba)
        assert np.array_equal(new.scores[part].confusion, scores.confusion)
    assert new.cv.metrics == old.cv.metrics
    assert (new.split, new.spec, new.classes) == (old.split, old.spec, old.classes)


def test_saving_twice_gives_the_same_project(trained, tmp_path):
    save_project(trained, tmp_path / "a.treewright", include_rows=True)
    save_project(reopened(tmp_path / "a.treewright"), tmp_path / "b.treewright", include_rows=True)
    with zipfile.ZipFile(tmp_path / "a.treewright") as a, zipfile.ZipFile(tmp_path / "b.treewright") as b:
        assert a.namelist() == b.namelist()
        for name in a.namelist():
            if name.endswith(".json"):
                assert json.loads(a.read(name)) == json.loads(b.read(name))


def write_german(folder):
    (folder / "daten").mkdir(parents=True)
    (folder / "daten" / "t.csv").write_text(GERMAN, encoding="utf-8")
    document = Document()
    document.open_table(read_table(folder / "daten" / "t.csv"))
    document.set_target("ziel")
    document.set_roles(["id"], "ignored")
    document.set_kind(["länge"], "category")
    document.set_split(SplitSettings(seed=3))
    save_project(document, folder / "p.treewright", include_rows=False)
    return document


def test_a_moved_folder_still_finds_its_data(tmp_path):
    write_german(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    found = reopened(tmp_path / "b" / "p.treewright")
    assert found.table.path == tmp_path / "b" / "daten" / "t.csv"
    assert (found.table.options.separator, found.table.options.decimal) == (";", ",")
    assert found.roles["id"] == "ignored"
    assert found.target == "ziel"
    assert found.table.column("länge").kind == "category"
    assert found.split.seed == 3
    assert found.messages == []
    with zipfile.ZipFile(tmp_path / "b" / "p.treewright") as archive:
        assert archive.namelist() == ["project.json"]  # no rows went in
        text = archive.read("project.json").decode()
    assert str(tmp_path) not in text


def test_a_missing_data_file_is_asked_for_once(tmp_path):
    write_german(tmp_path / "a")
    moved = tmp_path / "elsewhere.csv"
    (tmp_path / "a" / "daten" / "t.csv").rename(moved)
    with pytest.raises(DataFileMissing, match=r"p.treewright: the data file t.csv is not beside"):
        load_project(tmp_path / "a" / "p.treewright")
    found = reopened(tmp_path / "a" / "p.treewright", data_path=moved)
    assert found.table.options.separator == ";"
    assert found.roles["id"] == "ignored"


def test_a_changed_data_file_is_told_with_its_differences(tmp_path):
    write_german(tmp_path / "a")
    data = tmp_path / "a" / "daten" / "t.csv"
    data.write_text(GERMAN.replace("farbe", "color") + "ja;61;1,0;rot\n", encoding="utf-8")
    found = reopened(tmp_path / "a" / "p.treewright")
    assert found.messages[0] == (
        "The data file t changed since the project was saved (60 rows then, 61 now; gone: farbe; new: color)."
    )
    assert found.target == "ziel"


def test_rows_saved_with_the_project_stay_though_the_file_changed(tmp_path):
    document = write_german(tmp_path / "a")
    save_project(document, tmp_path / "a" / "q.treewright", include_rows=True)
    data = tmp_path / "a" / "daten" / "t.csv"
    os.utime(data, ns=(1, 1))
    assert reopened(tmp_path / "a" / "q.treewright").messages == []  # touched, not changed
    data.write_text("x\n1\n", encoding="utf-8")
    found = reopened(tmp_path / "a" / "q.treewright")
    assert found.table.n_rows == 60
    assert "t.csv changed since" in found.messages[0]


def test_options_of_single_columns_are_kept(tmp_path):
    data = tmp_path / "n.csv"
    data.write_text("land,wert\nNA,1\nDE,2\n" * 5)
    document = Document()
    document.open_table(read_table(data, ReadOptions(column_tokens={"land": ("",)})))
    save_project(document, tmp_path / "n.treewright", include_rows=False)
    table = reopened(tmp_path / "n.treewright").table
    assert "NA" in table.column("land").levels
    assert table.options == document.table.options


# ---- damaged and hostile files -----------------------------------------------------------------


CHANGED_READINGS = {
    "header": (lambda d: d.reread(replace(d.table.options, has_header=False)), "it had 60 rows, now 61"),
    "decimal": (
        lambda d: d.reread(replace(d.table.options, decimal=".")),
        "'länge' holds no numbers",
    ),
    "kind": (lambda d: d.set_kind(["länge"], "category"), "'länge' holds no numbers"),
    "level": (lambda d: d.set_column_tokens(["farbe"], ("rot",)), "'farbe' is read with other levels"),
    "class": (lambda d: d.set_column_tokens(["ziel"], ("ja",)), "'ziel' has other classes"),
    "weight": (lambda d: d.set_column_tokens(["id"], ("7",)), "'id' has missing cells now"),
}


@pytest.mark.parametrize("change", CHANGED_READINGS)
def test_a_table_read_differently_after_training_can_still_be_saved_and_opened(tmp_path, change):
    """Its models keep their scores; what needs the rows says what differs until that is undone."""
    file = tmp_path / "t.csv"
    file.write_text(GERMAN, encoding="utf-8")
    document = Document()
    document.open_table(read_table(file))
    document.set_target("ziel")
    document.set_roles(["id"], "weight")
    session = Session(document)
    run_id = session.train("tree", min_samples_leaf=2)
    session.close()
    found = {part: scores.metrics for part, scores in document.run(run_id).result.scores.items()}
    read_differently, words = CHANGED_READINGS[change]
    read_differently(document)
    with pytest.raises(DataError, match=words):
        document.prune(run_id, ())
    with pytest.raises(DataError, match=words):
        make_script(document, run_id)
    for has_rows in (True, False):
        save_project(document, tmp_path / "p.treewright", include_rows=has_rows)
        again = load_project(tmp_path / "p.treewright").runs[0].result
        assert {part: scores.metrics for part, scores in again.scores.items()} == found
        assert again.trees == document.run(run_id).result.trees
    document.undo_stack.undo()
    document.prune(run_id, ())
    assert document.run(run_id).result.trees[0].n_nodes == 1


def test_a_tree_pruned_to_a_price_opens_as_it_was(tmp_path):
    document = open_flowers()
    session = Session(document)
    run_id = session.train("tree", max_depth=None, min_samples_leaf=1)
    session.close()
    document.prune(run_id, (1,))
    document.prune_to(run_id, 0.015)
    result = document.run(run_id).result
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    again = load_project(tmp_path / "p.treewright").runs[0].result
    assert [(e.kind, e.path, e.alpha) for e in again.edits] == [
        ("cost_complexity", (), 0.015),
        ("prune", (1,), 0.0),
    ]
    assert again.trees == result.trees
    assert again.grown_tree == result.grown_tree


def test_a_tree_changed_by_hand_opens_as_it_was_and_can_be_changed_on(tmp_path):
    document = open_flowers()
    session = Session(document)
    run_id = session.train("tree", max_depth=None, min_samples_leaf=1)
    session.close()
    document.force_split(run_id, (), "length", 0.1 + 0.2)
    document.grow_below(run_id, (1,))
    document.flip_missing(run_id, (1,))
    result = document.run(run_id).result
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    opened = Document()
    opened.restore(load_project(tmp_path / "p.treewright"))
    again = opened.run(run_id).result
    assert again.edits == result.edits
    assert again.trees == result.trees
    for each in (opened, document):
        each.prune(run_id, (1,))
        each.grow_below(run_id, (1,))
    assert opened.run(run_id).result.trees == document.run(run_id).result.trees
    opened.expand(run_id, ())
    assert opened.run(run_id).result.trees[0] == result.grown_tree


@pytest.mark.parametrize("includes_rows", [True, False])
def test_c11_levels_are_matched_by_name_after_a_project_was_opened_again(tmp_path, includes_rows):
    answers = {"Belgium": "no", "France": "yes", "Germany": "no", "Italy": "yes", "Spain": "no"}
    file = tmp_path / "lands.csv"
    file.write_text("land,joins\n" + "".join(f"{land},{answer}\n" for land, answer in answers.items()) * 4)
    document = Document()
    document.open_table(read_table(file))
    document.set_target("joins")
    document.set_split(SplitSettings(train=1.0, validation=0.0, test=0.0))
    session = Session(document)
    run_id = session.train("tree", min_samples_leaf=1, min_samples_split=2)
    session.close()
    save_project(document, tmp_path / "p.treewright", include_rows=includes_rows)

    result = reopened(tmp_path / "p.treewright").runs[run_id].result
    for lands in (["France", "Germany", "Italy", "Spain"], ["Spain", "Italy", "France", "Germany"]):
        applied = apply_model(result, make_table("new", {"land": lands}))
        assert applied.predictions[0][1].tolist() == [answers[land] for land in lands]
        assert applied.report == ()


def rewrite(source, target, change):
    """Copy a project, passing its members as a dict through `change`."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def edit_json(**values):
    def change(members):
        members["project.json"] = json.dumps(json.loads(members["project.json"]) | values).encode()

    return change


class Bomb:
    def __reduce__(self):
        return (os.system, ("echo never",))


def pickled_arrays(members):
    buffer = io.BytesIO()
    np.savez(buffer, parts=np.array([Bomb()], dtype=object), importances=np.zeros(2))
    members["models/run1.npz"] = buffer.getvalue()


def foreign_estimator(members):
    content = json.loads(members["models/run1.tree.json"])
    content["estimator"] = "os.system"
    members["models/run1.tree.json"] = json.dumps(content).encode()


def bad_role(members):
    content = json.loads(members["project.json"])
    content["roles"]["length"] = "boss"
    members["project.json"] = json.dumps(content).encode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda members: members.pop("project.json"), "('project.json' is missing)"),
        (lambda members: members.pop("rows.parquet"), "rows.parquet"),
        (lambda members: members.pop("models/run1.npz"), "models/run1.npz"),
        (lambda members: members.pop("models/run1.npz"), "open a copy of it, or another file"),
        (lambda members: members.update({"../../evil.py": b"x"}), "outside of it"),
        (lambda members: members.update({"/etc/evil": b"x"}), "outside of it"),
        (lambda members: members.update({"zeros": bytes(200_000_000)}), "do not trust it"),
        (lambda members: members.update({"project.json": b"[1, 2"}), "project file holds"),
        (lambda members: members.update({"project.json": b"[1, 2]"}), "(an entry is of another kind than it"),
        (lambda members: members.update({"project.json": b"[" * 100_000}), "project file holds"),
        (lambda members: members.update({"rows.parquet": b"PAR1"}), "rows are damaged"),
        (edit_json(format="zip"), "not 'treewright-project'"),
        (edit_json(version=99), "later version"),
        (edit_json(split={"seed": 0, "train": 9}), "add up to 1"),
        (pickled_arrays, "allow_pickle"),
        (lambda members: members.update({"models/run1.npz": b"PK\x03\x04"}), "numbers are damaged"),
        (lambda members: members.update({"models/run1.npz": b"\x93NUMPY"}), "numbers are damaged"),
        (foreign_estimator, "os.system"),
        (bad_role, "unknown role"),
    ],
)
def test_damaged_and_hostile_files_are_refused_by_name(trained, tmp_path, change, words):
    save_project(trained, tmp_path / "good.treewright", include_rows=True)
    rewrite(tmp_path / "good.treewright", tmp_path / "bad.treewright", change)
    with pytest.raises(DataError, match=r"bad\.treewright") as caught:
        load_project(tmp_path / "bad.treewright")
    assert words in str(caught.value)


@pytest.mark.parametrize("seed", range(12))
def test_bytes_changed_anywhere_are_refused_by_name_or_harmless(trained, tmp_path, seed):
    path = tmp_path / "p.treewright"
    save_project(trained, path, include_rows=True)
    content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 8):
        content[place] ^= int(rng.integers(1, 256))
    path.write_bytes(content)
    refusal = path.name
    try:
        load_project(path)
    except DataError as error:
        refusal = str(error)
    assert path.name in refusal


def member_at(path, name):
    """Where the packed bytes of a member begin and end in the file."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(name)
    begin = info.header_offset + 30 + len(info.filename.encode())
    return begin, begin + info.compress_size


@pytest.mark.parametrize("name", ["project.json", "rows.parquet", "models/run1.npz", "models/run1.tree.json"])
def test_damaged_bytes_inside_a_member_are_told_as_damage(trained, tmp_path, name):
    """A wrong checksum, a packed stream that breaks off or leads nowhere, an unknown way of packing."""
    good, bad = tmp_path / "good.treewright", tmp_path / "bad.treewright"
    save_project(trained, good, include_rows=True)
    whole = good.read_bytes()
    begin, end = member_at(good, name)
    entry = whole.rindex(b"PK\x01\x02", 0, whole.rindex(name.encode()))  # of the central directory
    changes = {
        "flipped": (begin + (end - begin) // 2, bytes([whole[begin + (end - begin) // 2] ^ 0xFF])),
        "junk": (begin, b"\xff" * (end - begin)),
        "unknown packing": (entry + 10, b"\x63\x00"),
        "encrypted": (entry + 8, b"\x01\x00"),
    }
    for at, put in changes.values():
        bad.write_bytes(whole[:at] + put + whole[at + len(put) :])
        with pytest.raises(
            DataError, match=r"^bad\.treewright is no project file, or it is damaged \(.*; open a"
        ):
            load_project(bad)


def test_truncated_files_and_other_files_are_refused_by_name(trained, tmp_path):
    save_project(trained, tmp_path / "good.treewright", include_rows=True)
    whole = (tmp_path / "good.treewright").read_bytes()
    bad = tmp_path / "bad.treewright"
    for content in (
        b"",
        whole[: len(whole) // 2],
        whole[:-10],
        b"PK\x03\x04",
        pickle.dumps([1]),
        b"a,b\n1,2\n",
    ):
        bad.write_bytes(content)
        with pytest.raises(DataError, match=r"bad\.treewright"):
            load_project(bad)
    with pytest.raises(DataError, match="not there any more"):
        load_project(tmp_path / "none.treewright")


# ---- atomic writing ----------------------------------------------------------------------------


def test_a_failing_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "p.treewright"
    path.write_bytes(b"old")
    path.chmod(0o640)

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    told = r"^p\.treewright cannot be written \(disk full\); choose another folder or name$"
    with pytest.raises(DataError, match=told):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


SAVER = """
import json, os, signal, sys
from pathlib import Path
from select import select
import numpy as np
from PySide6.QtCore import QCoreApplication
from workbench.document import Document
from workbench.project import load_project, save_project
from workbench.samples import load_sample

app, path, rng = QCoreApplication([]), Path(sys.argv[1]), np.random.default_rng(0)
texts = {name: rng.bytes(200_000).hex() for name in ("old", "new")}  # too random to shrink: a slow save
document = Document()
document.open_table(load_sample("penguins"))
document.add_run("tree")

def save(name):
    document.set_view_state("name", name)
    document.set_view_state("text", texts[name])
    save_project(document, path, include_rows=False)

found = []
for _ in range(50):
    save("old")
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(telling, b"x")
        while True:
            save("new")
    os.read(told, 1)
    select([], [], [], rng.uniform(0, 0.06))  # the random moment
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(told), os.close(telling)
    description = load_project(path)
    name = description.view_state["name"]
    assert description.view_state["text"] == texts[name]
    assert [record.name for record in description.runs] == ["Decision tree 1"]
    found.append(name)
print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked savers")
def test_kill_at_any_moment_of_a_save_leaves_a_whole_project(tmp_path):
    """Kill -9 at 50 random moments of saving over and over: there is always one whole project."""
    done = subprocess.run(
        [sys.executable, "-c", SAVER, str(tmp_path / "p.treewright")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 50
    assert set(found) == {"old", "new"}, "the moments were all before or all after the first save"
