"""All of Qt's types are there before a worker imports the views: two threads that make some at once crash."""

from PySide6.QtCore import QObject

from tests.ui.person import Person
from workbench.turns import Turns
from workbench.ui import qt_types


def test_a_module_s_names_are_asked_for_once(qtbot, monkeypatch):
    asked = []

    class Module:
        def __dir__(self):
            return ["Late"]

        def __getattr__(self, name):
            asked.append(name)
            return name

    modules = (Module(), Module())
    monkeypatch.setattr(qt_types, "MODULES", modules)
    owner = QObject()
    qt_types.make_in(Turns(owner))
    assert not asked
    qtbot.waitUntil(lambda: asked == ["Late", "Late"])
    qt_types.make_all()
    assert asked == ["Late", "Late"]


def test_they_are_made_before_the_worker_reads(qtbot, window, monkeypatch):
    steps = []
    monkeypatch.setattr(qt_types, "make_all", lambda: steps.append("types"))
    lane = window.context.lanes.views
    submit = lane.submit_latest
    monkeypatch.setattr(
        lane, "submit_latest", lambda *what: (steps.append("worker"), submit(*what))[1], raising=True
    )
    Person(qtbot, window).open_sample("penguins")
    assert steps[:2] == ["types", "worker"]
