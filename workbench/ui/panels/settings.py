"""The settings of the selected model, written from its parameter table; the split; the Train button."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QDockWidget, QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.forms.parameter_form import Context as FormContext
from workbench.ui.forms.parameter_form import ParameterForm
from workbench.ui.item_models.run_model import STATE_WORDS
from workbench.ui.several_settings import SeveralSettings
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, Label, button, column, line, repolish, row

OF_PARTS = {  # what other views send a person here for: the setting, the command, its words
    "estimators": ("base_models", "Choose Models…"),
    "final_estimator": ("meta_model", "Choose Meta-Model…"),
    "cv": ("folds", "Choose Folds"),
    "passthrough": ("passthrough", "Give the Meta-Model the Table"),
}


class SettingsPanel(QWidget):
    """Shows `document.current_run`'s parameters and changes them through the document."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.settings")
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._document = context, context.document
        self._name = ElidedLabel("", "heading")
        self._state = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._note = Label("", "warning", wrap=True)
        self._note.setObjectName("settings.note")
        self.form = ParameterForm("settings")
        self._train = button("Train", "primary", self._on_train, "settings.train")
        self._switch = Switch(self._make_empty(), self._make_content())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._switch)
        self.form.edited.connect(self._on_edited)
        for name, (verb, text) in OF_PARTS.items():
            context.actions.add(f"action.settings.{verb}", text, None, partial(self.go_to, name), "settings")
        self._connect()
        self.refresh()

    def _make_empty(self) -> QWidget:
        action = self._context.actions.get("action.model.add_tree")
        return EmptyState("settings", "Settings of the model", "Add a model to change how it learns.", action)

    def _make_content(self) -> QWidget:
        page = QWidget()
        page.setProperty("look", "page")
        page.setLayout(column(self.form, -1, margins=theme.PANEL_PADDING, spacing=0))
        area = QScrollArea()
        area.setObjectName("settings.scroll")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the fields in it have it, and bring it along
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        self._area = area
        head, foot = QWidget(), QWidget()
        self._several = SeveralSettings(self._context, self)
        buttons = row(*self._several.make_buttons(), -1, spacing=4)
        head.setLayout(column(self._name, self._state, buttons, margins=theme.PANEL_PADDING, spacing=2))
        foot.setLayout(column(self._note, self._train, margins=theme.PANEL_PADDING, spacing=8))
        content = QWidget()
        content.setLayout(column(head, line(), area, line(), foot, spacing=0))
        return content

    def _connect(self) -> None:
        document, trainer = self._document, self._context.trainer
        document.current_run_changed.connect(self.refresh)
        document.run_changed.connect(self._on_run_changed)
        document.parameter_changed.connect(self._on_run_changed)
        document.columns_changed.connect(self.refresh)
        document.table_changed.connect(self.refresh)
        trainer.started.connect(self.refresh)
        trainer.ended.connect(self.refresh)
        theme.changed.connect(self.refresh)

    def _on_run_changed(self, run_id: str, *_: object) -> None:
        if run_id == self._document.current_run_id:
            self.refresh()

    def refresh(self, *_: object) -> None:
        """Show what the document holds."""
        from workbench.catalog import CATALOG, start_parameters

        run = self._document.current_run
        self._switch.show_content(run is not None)
        if run is None:
            self._enable_parts(())
            return
        entry = CATALOG[run.spec.kind]
        task = self._document.task
        if self._document.table is None and run.result is not None:  # a model file: its own task
            task = "classes" if run.result.classes else "numbers"
        n_rows = self._document.table.n_rows if self._document.table is not None else 0
        self._name.setText(run.name)
        self._state.setText(f"{entry.title}, {STATE_WORDS[run.state]}")
        self.form.set_parameters(entry.parameters(task))
        last = self.form.row(self.form.names[-1]).field
        QWidget.setTabOrder(last.focusProxy() or last, self._train)  # which was made before the fields
        starts = start_parameters(run.spec.kind, task, n_rows)
        self.form.set_values(run.spec.parameters, starts, self._context_of(run))
        self._enable_parts(self.form.names)
        self._note.setText(self._note_of(run))
        self._note.setVisible(bool(self._note.text()))
        self._refresh_button()

    def _enable_parts(self, names: tuple[str, ...]) -> None:
        for name, (verb, _text) in OF_PARTS.items():
            self._context.actions.enable(f"action.settings.{verb}", name in names)

    def _context_of(self, run) -> FormContext:
        document, result = self._document, run.result
        table = document.table
        if table is not None:
            names = [name for name, role in document.roles.items() if role == "feature"]
            columns = tuple((name, table.column(name).kind in ("number", "date")) for name in names)
            others = tuple(other for other in document.runs.values() if other is not run)
            return FormContext(columns, tuple(document.classes), table.n_rows, others)
        if result is None:
            return FormContext()
        specs = result.feature_specs
        return FormContext(tuple((spec.name, not spec.is_categorical) for spec in specs), result.classes)

    @property
    def shows_model(self) -> bool:
        """There is a model whose settings can be changed."""
        return self._document.current_run is not None

    def go_to(self, name: str) -> None:
        """Bring a setting into view, its group unfolded, with the keyboard in its field."""
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None:
            dock.show()
            dock.raise_()
        at = self.form.row(name)
        self.form.open_group(at.parameter.group)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)  # an unfolded group has its place
        at.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._area.ensureWidgetVisible(at)

    @staticmethod
    def _note_of(run) -> str:
        if run.state == "failed" and run.error:
            return run.error
        return "Changed since training: the pictures show the old settings." if run.is_outdated else ""

    def _refresh_button(self) -> None:
        is_busy = self._is_training()
        self._train.setText("Stop" if is_busy else "Train")
        look = "" if is_busy else "primary"
        if self._train.property("look") != look:
            self._train.setProperty("look", look)
            repolish(self._train)

    def _is_training(self) -> bool:
        run = self._document.current_run
        return run is not None and run.is_training

    def _on_train(self) -> None:
        if self._is_training():
            self._context.trainer.stop(self._document.current_run_id)  # this one, not the one it waits for
        else:
            self._context.actions["action.model.train"].trigger()

    def _on_edited(self, name: str, value: object) -> None:
        if self._document.current_run_id:
            self._document.set_parameter(self._document.current_run_id, name, value)
