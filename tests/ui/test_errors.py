"""Unexpected exceptions are shown and logged, never end the program, and never hold cell values."""

from __future__ import annotations

import logging
import sys
import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from engine.errors import DataError
from workbench.log import describe
from workbench.ui import error_dialog
from workbench.ui.error_dialog import ExceptionHook, show_error


@pytest.fixture(autouse=True)
def no_dialog_stays():
    yield
    for dialog in list(error_dialog._open_dialogs):
        dialog.close()


@pytest.fixture
def hook(qapp):
    made = ExceptionHook()
    yield made
    made.remove()


def raised(error: Exception) -> tuple:
    try:
        raise error
    except type(error):
        return sys.exc_info()


def test_an_exception_is_logged_and_shown_with_details_to_copy(hook, caplog):
    with caplog.at_level(logging.ERROR, "workbench"):
        hook.handle(*raised(KeyError("secret cell")))
    (dialog,) = error_dialog._open_dialogs
    assert dialog.isVisible()
    assert not dialog.isModal()
    details = dialog.findChild(QPlainTextEdit, "error.details").toPlainText()
    assert "KeyError" in details
    assert "test_errors.py" in details
    assert "secret cell" not in details + caplog.text
    assert "KeyError" in caplog.text
    QTest.mouseClick(dialog.findChild(QPushButton, "error.copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == details


def test_our_own_errors_keep_their_words():
    assert "column 'x'" in describe(raised(DataError("column 'x' has no values"))[1])


def test_a_hundred_faults_open_one_dialog(hook):
    for _ in range(100):
        hook.handle(*raised(RuntimeError("again")))
    assert len(error_dialog._open_dialogs) == 1
    error_dialog._open_dialogs[0].close()
    assert show_error("Once more", "details") is not None


def test_a_worker_thread_is_heard_too(hook, qtbot):
    hook.install()
    thread = threading.Thread(target=lambda: 1 / 0)
    with qtbot.waitSignal(hook.caught) as caught:
        thread.start()
        thread.join()
    assert "ZeroDivisionError" in caught.args[0]
    qtbot.waitUntil(lambda: len(error_dialog._open_dialogs) == 1)


def test_text_is_literal(hook):
    dialog = show_error("<b>bold</b> & more", "<i>details</i>")
    assert dialog.findChild(QPlainTextEdit).toPlainText() == "<i>details</i>"
    title = dialog.findChild(error_dialog.Label, "error.title")
    assert title.text() == "<b>bold</b> & more"
    assert title.textFormat() == Qt.TextFormat.PlainText
