"""No part of the window is ever shown as a window of its own, for which a desktop would make a frame."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui import theme

OWN = (Qt.WindowType.Popup, Qt.WindowType.ToolTip, Qt.WindowType.Dialog, Qt.WindowType.Sheet)


class Strays(QObject):
    """Notes every part that is shown without a parent."""

    def __init__(self, window):
        super().__init__()
        self._window, self.found = window, set()

    def eventFilter(self, watched, event):
        is_shown = event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow()
        if is_shown and watched is not self._window and watched.windowType() not in OWN:
            self.found.add((type(watched).__name__, watched.objectName()))
        return False


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_forms_scores_and_empty_views_come_and_go_inside_the_window(qtbot, session, target):
    strays = Strays(session.window)
    QApplication.instance().installEventFilter(strays)
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target(target)
    session.trainer.cross_validates = True  # its figures come after those of the model
    for kind in ("tree", "boosting", "forest", "adaboost"):
        train(qtbot, session, kind)
        for view in session.window.centre.docks:
            session.window.centre.show_view(view)
            qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=120_000)
        theme.set_appearance("dark" if theme.appearance() == "light" else "light")
    qtbot.waitUntil(lambda: not session.trainer.cross_validation_job, timeout=120_000)
    QApplication.instance().removeEventFilter(strays)
    assert strays.found == set()
