"""Commands of the Model menu: train, stop, apply to a file, export, copy as script."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QMessageBox

from engine.errors import DataError
from workbench.ui import file_dialogs
from workbench.ui.prompts import question

if TYPE_CHECKING:
    from workbench.ui.main_window import MainWindow

MODEL_FILTER = "Treewright model (*.tree.json)"
NO_FILE = "Model files hold trees, networks and perceptrons; a saved project keeps this model."
ONLY_SINGLE = "Only for a single decision tree."
TREE_FILES = {"rules": ("Rules", "Rules (*.rules.txt)", "rules.txt"), "sql": ("SQL", "SQL (*.sql)", "sql")}
"""What single trees are written as: title, filter and ending."""


class ModelCommands(QObject):
    """Adds its actions to the window's set when it is made."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._document, self._trainer = window.context.document, window.context.trainer
        self._retrain_prompt: QMessageBox | None = None
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), window, self.stop)  # while a tree changes
        add = window.actions_.add
        add("action.model.train", "Train", "Ctrl+R", self.train, "train")
        add("action.model.stop", "Stop", "Ctrl+.", self.stop, "stop")
        add("action.model.apply", "Apply to a File…", "Ctrl+P", self.ask_apply, "apply")
        add("action.model.export", "Export Model…", "Ctrl+E", self.ask_export, "export")
        add("action.model.copy_script", "Copy as Python Script", "Ctrl+Shift+C", self.copy_script, "script")
        self._add_tree_actions()
        document, trainer = self._document, self._trainer
        for signal in (
            document.table_changed,
            document.columns_changed,
            document.run_added,
            document.run_removed,
            document.run_changed,
            document.current_run_changed,
            trainer.started,
            trainer.ended,
            trainer.cross_validation_started,
            trainer.cross_validation_ended,
            window.context.editor.changed,
            window.context.tuner.started,
            window.context.tuner.ended,
            *(study.advanced for study in window.context.studies),
        ):
            signal.connect(self._refresh)
        self._refresh()

    def _add_tree_actions(self) -> None:
        add = self._window.actions_.add
        add(
            "action.model.export_rules",
            "Export Rules…",
            None,
            partial(self.ask_export_tree, "rules"),
            "text",
            tip="Write a single tree as rules to read, which Open reads back as the same model",
        )
        add(
            "action.model.export_sql",
            "Export SQL…",
            None,
            partial(self.ask_export_tree, "sql"),
            "table",
            tip="Write a single tree as SQL: its prediction, and the share of every class",
        )
        add(
            "action.model.copy_sql",
            "Copy as SQL",
            None,
            self.copy_sql,
            "duplicate",
            tip="Copy the prediction of a single tree as one SQL expression",
        )

    def _refresh(self, *_: object) -> None:
        run, enable = self._document.current_run, self._window.actions_.enable
        is_ready = self._document.table is not None and self._document.target is not None
        # another model's training is no hindrance: this one waits for it
        enable("action.model.train", is_ready and not self._trainer.trains(self._document.current_run_id))
        is_editing = self._window.context.editor.is_busy
        self._escape.setEnabled(is_editing)
        enable(
            "action.model.stop",
            is_editing or self._window.context.current_job is not None,  # until the views have its result
        )
        has_result = run is not None and run.result is not None
        for verb in ("apply", "copy_script"):
            enable(f"action.model.{verb}", has_result)
        has_trees = has_result and run.result.has_trees
        has_file = has_result and run.result.has_model_file
        enable("action.model.export", has_file, NO_FILE if has_result else "")
        is_single = has_trees and run.result.grown_tree is not None
        for verb in ("export_rules", "export_sql", "copy_sql"):
            enable(f"action.model.{verb}", is_single, ONLY_SINGLE if has_result else "")

    # -- training

    def train(self) -> None:
        """Train the current model; with none yet, a decision tree is added first."""
        run_id = self._document.current_run_id or self._document.add_run("tree")
        if self._document.would_lose_edits(run_id):
            self._ask_retrain(run_id)
        else:
            self._trainer.train(run_id)

    def stop(self) -> None:
        """Stop a change by hand that is under way, or else the training, or else a search or study."""
        context = self._window.context
        if context.editor.is_busy:
            context.editor.stop()
        elif self._trainer.current_job is None and context.busy_worker is not None:
            context.busy_worker.stop()
        else:
            self._trainer.stop()

    def _ask_retrain(self, run_id: str) -> None:
        if self._retrain_prompt is not None:
            self._retrain_prompt.raise_()
            return
        run = self._document.run(run_id)
        more = (
            "It was changed by hand, and training makes a new tree. The changes can be made again on it, "
            "as far as it still has their nodes; without that they are gone."
        )
        box = question(self._window, "prompt.retrain", f"Train {run.name} again?", more)
        again = box.addButton("Train Again", QMessageBox.ButtonRole.AcceptRole)
        keep = box.addButton("Train and Change Again", QMessageBox.ButtonRole.AcceptRole)
        copy = box.addButton("Train a Copy", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(copy)

        def answer() -> None:
            self._retrain_prompt = None
            if box.clickedButton() is again:
                self._trainer.train(run_id)
            elif box.clickedButton() is keep:
                self._trainer.train(run_id, keeps_edits=True)
            elif box.clickedButton() is copy:
                self._trainer.train(self._document.duplicate_run(run_id))

        box.finished.connect(answer)
        self._retrain_prompt = box
        box.open()

    # -- taking away

    def ask_export(self) -> None:
        """Ask where to write the current model."""
        run = self._document.current_run
        if run is not None and run.result is not None:
            name = f"{run.name}.tree.json"
            file_dialogs.ask_save(
                self._window, "Export Model", MODEL_FILTER, name, "tree.json", self.export_to
            )

    def export_to(self, path_text: str) -> None:
        """Write the current model."""
        from workbench.exports import export_model

        run = self._document.current_run
        if run is None or run.result is None:
            return
        path = Path(path_text)
        try:
            export_model(run.result, path)
        except DataError as error:
            self._window.notice.say(f"The model was not written: {error}", "Export Again", self.ask_export)
            return
        self._document.post_message(f"Exported {run.name} to {path.name}")

    def ask_export_tree(self, kind: str) -> None:
        """Ask where to write the current single tree, as "rules" or "sql"."""
        run, (title, filters, suffix) = self._document.current_run, TREE_FILES[kind]
        if run is not None and run.result is not None:
            then = partial(self.export_tree_to, kind)
            file_dialogs.ask_save(
                self._window, f"Export {title}", filters, f"{run.name}.{suffix}", suffix, then
            )

    def export_tree_to(self, kind: str, path_text: str) -> None:
        """Write the current single tree."""
        from workbench.exports import export_rules, export_sql

        run = self._document.current_run
        if run is None or run.result is None:
            return
        path, write = Path(path_text), export_rules if kind == "rules" else export_sql
        try:
            write(run.result, path, self._document.table)
        except DataError as error:
            again = partial(self.ask_export_tree, kind)
            self._window.notice.say(f"The tree was not written: {error}", "Export Again", again)
            return
        self._document.post_message(f"Exported {run.name} to {path.name}")

    def copy_sql(self) -> None:
        """Put the current single tree on the clipboard as an SQL expression."""
        from workbench.exports import sql_of

        run = self._document.current_run
        if run is None or run.result is None:
            return
        try:
            sql = sql_of(run.result, self._document.table)
        except DataError as error:
            self._window.notice.say(f"No SQL was copied: {error}")
            return
        QGuiApplication.clipboard().setText(sql)
        self._document.post_message(f"Copied {run.name} as SQL")

    def copy_script(self) -> None:
        """Put a Python script that makes the current model on the clipboard."""
        from workbench.scripts import make_script

        run = self._document.current_run
        if run is None or run.result is None:
            return
        try:
            script = make_script(self._document, run.run_id)
        except DataError as error:
            self._window.notice.say(f"No script was copied: {error}")
            return
        QGuiApplication.clipboard().setText(script)
        self._document.post_message(f"Copied {run.name} as a Python script")

    # -- applying

    def ask_apply(self) -> None:
        """Ask for a file to predict."""
        from workbench.ui.file_commands import table_filter

        file_dialogs.ask_open(self._window, "Apply Model to a File", table_filter(), "", self.apply_to)

    def apply_to(self, path_text: str) -> None:
        """Predict the rows of a file in the background, then show the report."""
        run, table = self._document.current_run, self._document.table
        if run is None or run.result is None:
            return
        path, result = Path(path_text), run.result
        job = self._window.context.lanes.views.submit_latest(
            "file.apply",
            lambda _monitor: _predict(path, table, result),
            f"Applying {run.name} to {path.name}",
        )
        job.ended.connect(lambda future: self._on_applied(path, run.name, future))

    def _on_applied(self, path: Path, name: str, future) -> None:
        from workbench.ui.apply_dialog import ApplyDialog

        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, OSError | ValueError):
            text = f"{name} does not fit {path.name}: {error}"
            self._window.notice.say(text, "Choose Another", self.ask_apply)
            return
        table, applied = future.result()
        ApplyDialog(self._window, name, table, applied).open()


def _predict(path: Path, table, result):
    """Read a file as the training table, if there is one, was read, and predict it; runs on a worker."""
    from workbench.apply import apply_model, read_like
    from workbench.readers import read_table

    if table is None:
        found = read_table(path)
    else:
        kinds = {column.name: column.kind for column in table.columns}
        found = read_like(path, table.options, kinds)
    return found, apply_model(result, found)
