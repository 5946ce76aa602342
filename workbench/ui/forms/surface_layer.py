"""What of a model a surface draws: what it predicts, or how uncertain it is about that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from workbench.figures.uncertainty import (
    ALEATORIC,
    EPISTEMIC,
    LAYERS,
    PREDICTION,
    TOTAL,
    layers_of,
    name_of,
    why_no_layer,
)
from workbench.ui.context import Context
from workbench.ui.widgets import action_icon

LAYER = "surface_layer"  # in the document's view state
ACTION = "action.surface.layer"
ALONG_ONE = "Along one column the band around the fit tells it"
WHILE_TRAINING = "While a model trains, what it predicts is drawn"
NO_PICTURE = "There is no surface yet"
TIPS = {
    PREDICTION: "What the model says",
    TOTAL: "Noise and disagreement together: standard deviation, or entropy of classes",
    ALEATORIC: "What the members agree that nobody can know: it stays with more rows",
    EPISTEMIC: "How far the members disagree: it is large where rows are few",
}


class SurfaceLayer(QObject):
    """A button with a menu of layers; `chosen` tells that another one is to be drawn.

    Parameters
    ----------
    panel : QWidget
        Owns the menu.
    """

    chosen = Signal()

    def __init__(self, context: Context, panel: QWidget) -> None:
        super().__init__(panel)
        self._context, self._panel = context, panel
        self._estimators: Sequence[Any] = ()
        action = context.actions.add(
            ACTION, "Show Uncertainty…", "Ctrl+Shift+U", self._open_menu, "uncertainty",
            tip="Draw how uncertain the model is instead of what it predicts",
        )  # fmt: skip
        self.button = action_icon(action, "surface.layer")
        self.offer((), NO_PICTURE)

    @property
    def layer(self) -> str:
        """What is to be drawn of models that have it."""
        wanted = self._context.document.view_state.get(LAYER)
        return wanted if wanted in LAYERS else PREDICTION

    def offer(self, estimators: Sequence[Any], why_none: str) -> None:
        """Offer the layers that any of the models in sight has.

        Parameters
        ----------
        estimators : sequence of fitted estimators
        why_none : str
            Why there are none of them.
        """
        self._estimators, why = estimators, ""
        if all(len(layers_of(estimator)) == 1 for estimator in estimators):
            why = why_no_layer(estimators[0], TOTAL) if estimators else why_none
        self._context.actions.enable(ACTION, not why, why)
        self.button.setVisible(not why)  # what does not apply is absent: the columns' names need the room

    def _open_menu(self) -> None:
        menu = QMenu(self._panel)
        menu.setObjectName("surface.layer_menu")
        menu.setToolTipsVisible(True)
        group = QActionGroup(menu)
        for layer in LAYERS:
            action = menu.addAction(name_of(layer), partial(self.choose, layer))
            action.setActionGroup(group)
            action.setCheckable(True)
            action.setChecked(layer == self.layer)
            reasons = [why_no_layer(estimator, layer) for estimator in self._estimators]
            action.setEnabled(not all(reasons))
            action.setToolTip(TIPS[layer] if action.isEnabled() else reasons[0])
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.button.mapToGlobal(QPoint(0, self.button.height())))

    def choose(self, layer: str) -> None:
        """Draw a layer from now on, of every model that has it."""
        if layer != self.layer:
            self._context.document.set_view_state(LAYER, layer)
            self.chosen.emit()
