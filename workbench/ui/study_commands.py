"""Commands that open the windows of studies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.ui.context import Context

if TYPE_CHECKING:
    from workbench.ui.study_dialog import StudyDialog


ACTION = "action.study"


class StudyCommands(QObject):
    """Adds its actions to the window's set when it is made; windows of studies are made on first need."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        add = context.actions.add
        tip = "Entropies and mutual information of any two columns, written out"
        add(
            f"{ACTION}.information",
            "Information…",
            "Ctrl+Shift+I",
            self.open_information,
            "information",
            tip=tip,
        )
        add(
            f"{ACTION}.instability", "Instability of the Tree…", "Ctrl+Shift+Y", self.open_instability,
            "instability", tip="What resampled rows would ask at every node of the tree",
        )  # fmt: skip
        tip = "Fit a model on many training sets, and see where its errors come from"
        name = "Bias and Variance…"
        add(
            f"{ACTION}.bias_variance", name, "Ctrl+Shift+D", self.open_bias_variance, "bias_variance", tip=tip
        )
        add(
            f"{ACTION}.many_fits", "Many Fits…", "Ctrl+Shift+M", self.open_many_fits, "many_fits",
            tip="Draw a model fitted on many training sets along a column",
        )  # fmt: skip
        add(
            f"{ACTION}.averages", "Variance of a Forest…", "Ctrl+Shift+O", self.open_averages, "averages",
            tip="How the variance of a forest falls with its number of trees, and where that ends",
        )  # fmt: skip
        tip = "Draw the rows again and again to see how sure a statistic of them is"
        add(f"{ACTION}.bootstrap", "Bootstrap…", "Ctrl+Shift+R", self.open_bootstrap, "bootstrap", tip=tip)
        context.document.table_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        has_table = self._context.document.table is not None
        for name in ("bias_variance", "many_fits", "averages", "bootstrap", "information", "instability"):
            self._context.actions.enable(f"{ACTION}.{name}", has_table, "Open a table first")

    def open_bootstrap(self) -> None:
        """Show how sure a statistic of the table is."""
        from workbench.ui.bootstrap_dialog import BootstrapDialog

        self._show("bootstrap", BootstrapDialog)

    def open_bias_variance(self) -> None:
        """Show where errors of models come from."""
        from workbench.ui.bias_variance_dialog import BiasVarianceDialog

        self._show("bias_variance", BiasVarianceDialog)

    def open_many_fits(self) -> None:
        """Show one model fitted on many training sets."""
        from workbench.ui.many_fits_dialog import ManyFitsDialog

        self._show("many_fits", ManyFitsDialog)

    def open_averages(self) -> None:
        """Show how much averaging more trees helps."""
        from workbench.ui.averages_dialog import AveragesDialog

        self._show("averages", AveragesDialog)

    def open_information(self) -> None:
        """Show two columns counted against each other."""
        from workbench.ui.information_dialog import InformationDialog

        self._show("information", InformationDialog)

    def open_instability(self) -> None:
        """Show how firmly the rows stand behind the current tree."""
        from workbench.ui.instability_dialog import InstabilityDialog

        self._show("instability", InstabilityDialog)

    def window_of(self, name: str) -> StudyDialog | None:
        """Return the window of a study; None before it was opened. Only Qt keeps it, as it does panels."""
        from workbench.ui.study_dialog import StudyDialog

        found = self._window.findChild(StudyDialog, f"study.{name}")
        return found if isinstance(found, StudyDialog) else None

    def _show(self, name: str, make: Callable[[Context, QWidget], StudyDialog]) -> None:
        dialog = self.window_of(name) or make(self._context, self._window)
        dialog.open_it()
