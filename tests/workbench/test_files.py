"""Places that cannot be read or written: told with file name and cure, and before the work."""

import errno
import os

import pytest

from engine.errors import DataError
from workbench import cli
from workbench.exports import load_model
from workbench.files import unreadable
from workbench.project import load_project
from workbench.project.atomic import require_writable, write_atomically
from workbench.readers import read_table

TABLE = "x,y\n" + "1,a\n2,b\n3,a\n4,b\n" * 10
READERS = {".csv": read_table, ".xlsx": read_table, ".parquet": read_table, ".tree.json": load_model,
           ".treewright": load_project}  # fmt: skip


def make_folder(path):
    path.mkdir()


def make_dangling_link(path):
    path.symlink_to(path.with_name("moved away"))


def make_circle(path):
    path.symlink_to(path.name)


UNREADABLE = {
    "folder": (make_folder, "is a folder; choose a file in it"),
    "nothing": (lambda path: None, "is not there any more (looked in {folder}); choose the file again"),
    "link to nothing": (
        make_dangling_link,
        "is not there any more (looked in {folder}); choose the file again",
    ),
    "circle of links": (
        make_circle,
        f"cannot be read ({os.strerror(errno.ELOOP)}); copy it to another place, or choose another",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
@pytest.mark.parametrize("suffix", READERS)
def test_what_cannot_be_read_is_told(tmp_path, suffix, case):
    make, told = UNREADABLE[case]
    path = tmp_path / f"it{suffix}"
    try:
        make(path)
    except OSError:
        assert os.name == "nt", "Windows lets no ordinary user make links"
        return
    with pytest.raises(DataError) as caught:
        READERS[suffix](path)
    assert str(caught.value) == f"{path.name} {told.replace('{folder}', str(tmp_path))}"


def test_a_file_without_permission_is_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE, encoding="utf-8")
    told = unreadable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    assert told == "t.csv may not be read; ask for the right to read it, or copy it"


@pytest.mark.parametrize("check", [require_writable, lambda path: write_atomically(path, lambda file: None)])
def test_a_place_that_cannot_be_written_is_told(tmp_path, check):
    (tmp_path / "file").write_bytes(b"")
    for place, number in (
        (tmp_path, errno.EISDIR),
        (tmp_path / "gone" / "m.tree.json", errno.ENOENT),
        (tmp_path / "file" / "m.tree.json", errno.ENOTDIR),
    ):
        with pytest.raises(DataError) as caught:
            check(place)
        told = f"{place.name} cannot be written ({os.strerror(number)}); choose another folder or name"
        assert str(caught.value) == told
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_asking_whether_a_file_can_be_written_changes_nothing(tmp_path):
    path = tmp_path / "m.tree.json"
    require_writable(path)
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"old")
    require_writable(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def files(tmp_path):
    """A table and a model of it, and the way to them for the command line."""
    table, model = tmp_path / "t.csv", tmp_path / "m.tree.json"
    table.write_text(TABLE, encoding="utf-8")
    assert cli.main(["fit", str(table), "--target", "y", "--out", str(model)]) == 0
    return {"table": str(table), "model": str(model), "folder": str(tmp_path)}


NO_FOLDER = f"cannot be written ({os.strerror(errno.ENOENT)}); choose another folder or name"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            "fit {table} --target y --out {folder}/no/m.tree.json",
            f"m.tree.json {NO_FOLDER}",
        ),
        ("fit gone.csv --target y --out {folder}", "cannot be written"),  # the place comes first
        ("predict {model} {table} --out {folder}/no/p.csv", f"p.csv {NO_FOLDER}"),
        ("predict {folder} {table} --out p.csv", "is a folder; choose a file in it"),
        ("evaluate {model} {folder} --target y", "is a folder; choose a file in it"),
        ("export {folder} --out {folder}/a.py", "is a folder; choose a file in it"),
        ("export gone.treewright --out {folder}/no/a.py", f"a.py {NO_FOLDER}"),
        (
            "export gone.treewright --out a.txt",
            "a.txt ends in none of .tree.json, .rules.txt, .sql, .py; choose one",
        ),
        ("fit {table} --target y --ignore y", "'y' is the target; do not ignore it"),
    ],
)
def test_the_command_line_tells_places_before_the_work(files, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(files["folder"])
    capsys.readouterr()
    assert cli.main([word.format(**files) for word in arguments.split(" ")]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert "Errno" not in told.err
    assert not told.out, "nothing was trained or predicted"
