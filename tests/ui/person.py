"""A person at the window: widgets are found by objectName, and clicked or typed into as a hand would."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QLineEdit, QMessageBox, QWidget

LEFT = Qt.MouseButton.LeftButton
NONE, ALT, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)
TRAINING_MS = 120_000


def prompt_of(window) -> QMessageBox | None:
    """The question that is open over a window."""
    return next((box for box in window.findChildren(QMessageBox) if box.isVisible()), None)


class Person:
    """Acts on one window."""

    def __init__(self, qtbot, window) -> None:
        self._qtbot, self.window = qtbot, window

    def find(self, object_name: str, of: type = QWidget):
        """The one widget of a name."""
        found = self.window.findChildren(of, object_name)
        assert len(found) == 1, f"{len(found)} widgets are called {object_name}"
        return found[0]

    def wait(self, is_so, timeout: int = 30_000) -> None:
        self._qtbot.waitUntil(is_so, timeout=timeout)

    def click(self, object_name: str) -> None:
        widget = self.find(object_name)
        assert widget.isVisible(), f"{object_name} is not visible"
        assert widget.isEnabled(), f"{object_name} is not enabled"
        QTest.mouseClick(widget, LEFT)

    def press(self, key: Qt.Key, modifiers=NONE) -> None:
        """Press a key where the focus is."""
        if not self.window.isActiveWindow():  # a tip or a popup has had the keyboard
            self.wait(self._is_active)
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)

    def _is_active(self) -> bool:
        if QApplication.activeWindow() is not self.window:
            self.window.activateWindow()  # once is not enough: a popup that is closing takes it away again
        return QApplication.activeWindow() is self.window  # what shortcuts ask

    def choose(self, object_name: str, text: str) -> None:
        """Open a combo box, go to a text with the arrow keys and take it."""
        combo = self.find(object_name, QComboBox)
        wanted = combo.findText(text)
        assert wanted >= 0, f"{object_name} does not offer {text}"
        combo.setFocus()
        popup = combo.view()
        for _ in range(2 * combo.count()):
            if not popup.isVisible():  # not yet open, or a view that came to the front has closed it
                combo.showPopup()
            at = popup.currentIndex().row()
            if at == wanted:
                break
            QTest.keyClick(popup, Qt.Key.Key_Down if at < wanted else Qt.Key.Key_Up)
        assert popup.currentIndex().row() == wanted, f"{object_name}: the keys do not reach {text}"
        QTest.keyClick(popup, Qt.Key.Key_Return)
        assert combo.currentText() == text

    def type_in(self, object_name: str, text: str) -> None:
        """Replace what a field holds."""
        field = self.find(object_name)
        edit = field if isinstance(field, QLineEdit) else field.focusProxy()
        edit.setFocus()
        edit.selectAll()
        if text:
            QTest.keyClicks(edit, text)
        else:
            QTest.keyClick(edit, Qt.Key.Key_Backspace)
        QTest.keyClick(edit, Qt.Key.Key_Return)

    def click_row(self, object_name: str, row: int, modifiers=NONE) -> None:
        """Click a row of a list or a table."""
        view = self.find(object_name, QAbstractItemView)
        index = view.model().index(row, 0)
        view.scrollTo(index)
        QTest.mouseClick(view.viewport(), LEFT, modifiers, view.visualRect(index).center())
        assert view.selectionModel().isSelected(index)

    def rename(self, object_name: str, text: str) -> None:
        """Rename the current row of a list with F2."""
        view = self.find(object_name, QAbstractItemView)
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_F2)
        editor = view.findChildren(QLineEdit)[-1]  # those of earlier renames may wait for their deletion
        editor.selectAll()
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        self.wait(lambda: view.currentIndex().data() == text)

    def rows(self, object_name: str) -> list[str]:
        """The texts of a list."""
        model = self.find(object_name, QAbstractItemView).model()
        return [model.index(row, 0).data() for row in range(model.rowCount())]

    # -- steps of the road

    def open_sample(self, key: str) -> None:
        self.click(f"welcome.sample.{key}")
        self.wait(lambda: self.window.findChild(QWidget, "panel.surface") is not None)
        self.wait(self.find("data.columns").isVisible)

    def train(self) -> None:
        """Press Train and wait for the end."""
        self.click("settings.train")
        self.wait_for_training()

    def wait_for_training(self) -> None:
        actions = self.window.actions_
        self.wait(lambda: not actions["action.model.stop"].isEnabled(), TRAINING_MS)

    def add(self, kind: str, **settings: str) -> None:
        """Add a model by its button and set fields of its form."""
        self.click(f"models.add_{kind}")
        for name, text in settings.items():
            self.type_in(f"settings.{name}", text)
