"""Models asked cell by cell are drawn coarse first; a newer request ends what is under way."""

from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from engine.surface import WATCHED_ROWS, model_surface
from tests.ui.training_help import train
from tests.workbench.test_figures_surface import c33_figure
from workbench.figures.axis import N_CELLS
from workbench.samples import load_sample
from workbench.ui.surface_request import COARSE_CELLS, SurfaceRequest, finer


def pictures_of(session, kind, qtbot, act=lambda panel: None, **parameters):
    """Train a model with the surface in sight; the panel, and every picture that was drawn."""
    session.document.open_table(load_sample("penguins"))
    session.document.set_roles(["species", "island", "sex"], "ignored")
    session.document.set_target("body_mass_g")
    panel = session.window.findChild(QWidget, "panel.surface")
    seen = []
    panel._request.drawn.connect(lambda made: seen.append(made[1]))
    train(qtbot, session, kind, **parameters)
    act(panel)
    qtbot.waitUntil(lambda: bool(seen) and panel._request.is_over, timeout=60_000)
    return panel, seen


@pytest.mark.parametrize("kind", ["neighbors", "linear", "networks"])
def test_coarse_comes_first_and_says_so_and_the_finest_last(qtbot, session, kind):
    panel, seen = pictures_of(session, kind, qtbot)
    sizes = [len(figure.x.values) for figure in seen]
    assert sizes[0] == COARSE_CELLS
    assert sizes[-1] == N_CELLS
    assert sizes == sorted(set(sizes))
    assert f"{COARSE_CELLS} x {COARSE_CELLS} cells so far" in seen[0].subtitle
    assert "cells" not in seen[-1].subtitle
    assert panel.figure is seen[-1]
    assert not panel._busy.isVisible()


def test_trees_are_drawn_at_once(qtbot, session):
    _panel, seen = pictures_of(session, "forest", qtbot, n_estimators=3)
    assert {len(figure.x.values) for figure in seen} == {N_CELLS}


def test_two_categories_have_no_finer_picture(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    session.document.set_view_state("surface_columns", ["island", "sex"])
    panel = session.window.findChild(QWidget, "panel.surface")
    seen = []
    panel._request.drawn.connect(lambda made: seen.append(made[1]))
    train(qtbot, session, "neighbors")
    qtbot.waitUntil(lambda: panel.figure is not None and session.lanes.are_quiet, timeout=60_000)
    assert len({figure.title for figure in seen}) == len(seen)  # one picture a request
    assert "cells" not in panel.figure.subtitle


def test_steps_are_skipped_that_would_not_be_seen():
    assert finer(40, 0.001) == 320  # 0.064 s
    assert finer(40, 0.02) == 160  # 0.32 s
    assert finer(40, 0.1) == 80
    assert finer(40, 60.0) == 80  # always twice as many, however long it takes
    assert finer(160, 60.0) == 320


class Slow:
    """Stands in for a fitted model whose answers take long: it says when it was asked."""

    combination = "rows"

    def __init__(self):
        self.n_asked, self.goes_on = 0, Event()

    def encoded_answer(self, table):
        self.n_asked += 1
        if self.n_asked > 1:
            assert self.goes_on.wait(60)
        return np.zeros((len(table), 1))


def test_a_newer_request_ends_the_one_under_way_between_two_pieces(qtbot, session):
    """The second is drawn whole; of the first no more is asked than the piece it was in."""
    session.window.ensure_centre()
    owner, slow, drawn = QObject(session.window), Slow(), []
    request = SurfaceRequest(session.window.context, "a test", owner)
    request.drawn.connect(drawn.append)
    side = np.arange(4.0 * WATCHED_ROWS)

    def work(_n_cells, monitor):
        return None, model_surface(slow, 0, 1, side, [0.0], np.zeros(2), monitor)

    request.ask(work, "slow", is_quick=True)
    qtbot.waitUntil(lambda: slow.n_asked == 2, timeout=60_000)
    request.ask(lambda _n_cells, _monitor: (None, "the newer one"), "quick", is_quick=True)
    slow.goes_on.set()
    qtbot.waitUntil(lambda: request.is_over and session.lanes.are_quiet, timeout=60_000)
    assert drawn == [(None, "the newer one")]
    assert slow.n_asked == 2


def test_no_other_picture_waits_for_a_finer_one(qtbot, session):
    """While the finer picture is under way a picture of another view is drawn."""
    session.window.ensure_centre()
    owner, goes_on, sizes, drawn = QObject(session.window), Event(), [], []
    request, other = (SurfaceRequest(session.window.context, key, owner) for key in ("one", "other"))
    request.drawn.connect(lambda made: sizes.append(len(made[1].x.values)))
    other.drawn.connect(drawn.append)

    def work(n_cells, _monitor):
        if n_cells > COARSE_CELLS:
            assert goes_on.wait(60)
        return None, c33_figure(n_cells, n_cells)

    request.ask(work, "slow", is_quick=False)
    qtbot.waitUntil(lambda: sizes == [COARSE_CELLS], timeout=60_000)
    other.ask(lambda _n_cells, _monitor: (None, "the other"), "quick", is_quick=True)
    qtbot.waitUntil(lambda: drawn == [(None, "the other")], timeout=60_000)
    assert not request.is_over
    goes_on.set()
    qtbot.waitUntil(lambda: request.is_over, timeout=60_000)
    assert (sizes[0], sizes[-1]) == (COARSE_CELLS, N_CELLS)  # steps between depend on the machine
