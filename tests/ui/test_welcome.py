"""The welcome page offers samples, recent files and a drop target."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from workbench.samples import SAMPLES
from workbench.ui.welcome import Card, elided_name


def test_every_sample_has_a_card_with_its_source(window):
    cards = {
        card.objectName().removeprefix("welcome.sample."): card for card in window.welcome.findChildren(Card)
    }
    assert set(cards) == {sample.key for sample in SAMPLES}
    assert "CC0" in cards["penguins"].toolTip()


def test_a_card_opens_its_sample_by_mouse_and_keyboard(window, document, qtbot):
    card = window.welcome.findChild(Card, "welcome.sample.penguins")
    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: document.table is not None)
    assert (document.table.n_rows, document.target) == (344, "species")
    QTest.keyClick(window.welcome.findChild(Card, "welcome.sample.iris"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document.table.sample == "iris")


def test_recent_files_are_listed_latest_first_and_open(window, document, qtbot, tmp_path):
    for name in ("one.csv", "two & three.csv"):
        (tmp_path / name).write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
        window.files.open_path(str(tmp_path / name))
        qtbot.waitUntil(
            lambda name=name: document.table is not None and document.table.name.startswith(name[:3])
        )
    assert [path.split("/")[-1] for path in window.files.recent.paths()] == ["two & three.csv", "one.csv"]
    window.welcome.set_recent(window.files.recent.paths())
    entry = window.welcome.findChild(QPushButton, "welcome.recent.0")
    assert entry.text() == "two && three.csv"
    (tmp_path / "one.csv").unlink()
    assert len(window.files.recent.paths()) == 1, "a file that is gone is not offered"


def test_long_names_are_shortened_in_the_middle():
    name = elided_name("/folder/" + "a" * 40 + ".csv")
    assert len(name) <= 34
    assert name.startswith("aaa")
    assert name.endswith("a.csv")


def test_a_dropped_file_opens(window, document, qtbot, tmp_path):
    path = tmp_path / "Jürgen – 数据 🌳.csv"
    path.write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    none, action = Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(50, 50), action, mime, Qt.MouseButton.LeftButton, none)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    assert window.welcome.drop.property("over") == "true"
    QApplication.sendEvent(window, QDropEvent(QPointF(50, 50), action, mime, Qt.MouseButton.LeftButton, none))
    assert window.welcome.drop.property("over") == "false"
    qtbot.waitUntil(lambda: document.table is not None)
    assert document.table.path == path
