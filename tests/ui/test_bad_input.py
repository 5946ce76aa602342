"""What cannot be opened or trained is said with file or column and the cure; the window stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from tests.ui.person import CTRL, Person
from workbench.datasets import make_table
from workbench.readers import memory


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def at_work(person, document):
    """Penguins with a trained tree, and the state that must not change."""
    person.open_sample("penguins")
    person.add("tree")
    person.train()
    return person


def state_of(window, document):
    return (
        document.table,
        document.roles,
        [(run.run_id, run.name, run.result) for run in document.runs.values()],
        document.current_run_id,
        document.undo_stack.count(),
        window.windowTitle(),
        window.isWindowModified(),
    )


BAD_FILES = {
    "empty.csv": (b"", ("is empty", "choose")),
    "blank lines.csv": (b"\n\n   \n", ("blank lines.csv",)),
    "only header.csv": (b"height,weight\n", ("no row", "header")),
    "binary.csv": (bytes(range(256)) * 64, ("binary.csv", "not")),
    "gone.csv": (None, ("gone.csv", "choose")),
    "broken.xlsx": (b"PK\x03\x04 nothing", ("broken.xlsx",)),
    "broken.parquet": (b"PAR1 nothing PAR1", ("broken.parquet",)),
    "broken.tree.json": (b'{"format": "other"}', ("broken.tree.json",)),
    "broken.treewright": (b"PK\x03\x04 nothing", ("broken.treewright",)),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_opened(at_work, window, document, tmp_path, dialogs, name):
    person, (content, words) = at_work, BAD_FILES[name]
    document.mark_saved(tmp_path / "saved.treewright")  # so that opening does not ask about changes
    before = state_of(window, document)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    dialogs.answers = [tmp_path / name]
    person.press(Qt.Key.Key_O, CTRL)
    notice = person.find("notice.text", QLabel)
    person.wait(notice.isVisible)
    for word in (name, *words):
        assert word in notice.text()
    assert person.find("notice.mend").text() == "Open Another"
    assert state_of(window, document) == before
    assert person.find("tree.canvas").figure is not None
    dialogs.answers = [None]
    person.click("notice.mend")
    assert dialogs.asked == ["Open", "Open"]


def test_a_table_too_large_for_memory_is_refused_with_its_estimate(
    at_work, window, document, tmp_path, dialogs, monkeypatch
):
    person = at_work
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    document.mark_saved(tmp_path / "saved.treewright")
    before = state_of(window, document)
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "1.25,red\n" * 50_000, encoding="utf-8")
    dialogs.answers = [path]
    person.press(Qt.Key.Key_O, CTRL)
    notice = person.find("notice.text", QLabel)
    person.wait(notice.isVisible)
    assert "large.csv holds about 50,000 rows and 2 columns and needs about" in notice.text()
    assert "GB of memory, but only 0.0 GB are free" in notice.text()
    assert "save fewer rows or columns" in notice.text()
    assert state_of(window, document) == before


N = 40
UNTRAINABLE = {
    "one value": (
        {"x": np.arange(N) % 7, "y": ["same"] * N},
        ("'y'", "the same value everywhere", "choose a target"),
    ),
    "all missing": ({"x": np.arange(N) % 7, "y": [None] * N}, ("'y'", "no value", "choose a target")),
    "as many classes as rows": (
        {"x": np.arange(N) % 7, "y": [f"class {k}" for k in range(N)]},
        ("'y'", "40 classes in as many rows", "choose another target"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
@pytest.mark.parametrize("case", UNTRAINABLE)
def test_a_target_that_cannot_be_learned(person, window, document, case, kind):
    columns, words = UNTRAINABLE[case]
    document.open_table(make_table("bad", columns, {"y": "category"}))
    person.choose("data.target", "y")
    document.set_roles(["x"], "feature")
    person.add(kind)
    refused(person, window, document, words)


def test_a_table_without_a_feature(person, window, document):
    document.open_table(make_table("bad", {"x": np.arange(N) % 7, "y": ["a", "b"] * (N // 2)}))
    person.choose("data.target", "y")
    person.add("tree")
    person.click_row("data.columns", 0)
    person.choose("data.role", "Ignored")
    refused(person, window, document, ("feature", "give at least one column that role"))


def refused(person, window, document, words):
    """Train says why not, in the status line, and changes nothing."""
    before = state_of(window, document)
    person.click("settings.train")
    said = document.messages[-1]
    for word in words:
        assert word in said
    assert window.status.message == said
    assert state_of(window, document) == before
    assert document.current_run.state == "new"
    assert not window.actions_["action.model.stop"].isEnabled()
