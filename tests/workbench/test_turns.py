"""One piece of work a turn of the event loop; a training's end is told when all views have had theirs."""

from PySide6.QtCore import QTimer

from tests.workbench.making import Session, open_flowers
from workbench.turns import Turns


class Panel:
    def __init__(self, told, name):
        self.told, self.name = told, name

    def refresh(self):
        self.told.append(self.name)


def test_one_piece_a_turn_in_order_and_each_once(qtbot):
    turns, told = Turns(), []
    tree, scores = Panel(told, "tree"), Panel(told, "scores")
    turns.add(tree.refresh)
    turns.add(scores.refresh)
    turns.add(tree.refresh)  # it waits already
    seen = []
    between = QTimer(interval=0)
    between.timeout.connect(lambda: seen.append(tuple(told)))
    between.start()
    qtbot.waitUntil(lambda: len(told) == 2)
    between.stop()
    assert told == ["tree", "scores"]
    assert ("tree",) in seen, "the event loop was reached between the two"
    turns.add(tree.refresh)
    qtbot.waitUntil(lambda: told == ["tree", "scores", "tree"])


def test_views_refresh_in_turns_before_the_end_of_a_training_is_told(qtbot):
    document = open_flowers()
    session, told = Session(document), []
    first, second = Panel(told, "first"), Panel(told, "second")
    for panel in (first, second):
        document.run_changed.connect(
            lambda run_id, panel=panel: document.run(run_id).result and session.trainer.in_turn(panel.refresh)
        )
    session.trainer.ended.connect(lambda _run_id: told.append("ended"))
    run_id = session.train("tree")
    assert told == ["first", "second", "ended"]
    document.rename_run(run_id, "by hand")
    assert told[3:] == ["first", "second"], "a change by hand is seen at once"
    session.close()


def test_what_waits_is_forgotten_at_the_end(qtbot):
    turns, done = Turns(), []
    turns.add(lambda: done.append(1))
    turns.clear()
    turns.add(lambda: done.append(2))
    qtbot.waitUntil(lambda: done == [2])
