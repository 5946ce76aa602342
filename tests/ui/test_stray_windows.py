"""No part of the window is ever shown as a window of its own; the fixture `session` looks for such."""

import pytest
from PySide6.QtCore import QMetaObject
from PySide6.QtWidgets import QLabel, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui import theme


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_forms_scores_and_empty_views_come_and_go_inside_the_window(qtbot, session, target, every_show):
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


def test_a_part_without_a_place_is_noticed(qtbot, session, strays):
    stray = QLabel("stray")
    for show in (stray.show, lambda: stray.setVisible(True)):
        show()
        assert strays.found == {("QLabel", "")}
        strays.found.clear()
        stray.hide()
    inside = QWidget(session.window)
    inside.setVisible(True)
    assert strays.found == set()
    stray.deleteLater()


def test_what_qt_shows_is_noticed_where_every_event_is_looked_at(session, every_show):
    stray = QWidget()
    QMetaObject.invokeMethod(stray, "show")  # no method of Python's is called
    assert every_show.found == {("QWidget", "")}
    every_show.found.clear()
    stray.deleteLater()
