"""Commands of the File and Edit menus: open, save, the save prompt, undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QMessageBox

from workbench.document import PROJECT_SUFFIX
from workbench.experiments import is_untouched
from workbench.exports import MODEL_SUFFIXES
from workbench.figures.words import counted
from workbench.jobs import Job
from workbench.readers.encodings import EncodingUnknown
from workbench.tree_editor import is_small
from workbench.ui import file_dialogs, file_work, qt_types
from workbench.ui.centre import VIEWS
from workbench.ui.prompts import ask_encoding, save_prompt
from workbench.ui.recent import RecentMenu

if TYPE_CHECKING:
    from workbench.state import Snapshot
    from workbench.ui.main_window import MainWindow

FRONT_VIEWS = "front_views"  # of a document's view state: the names of the views that are not behind a tab
PROJECT_FILTER = "Treewright project (*.treewright)"
Keys = QKeySequence.StandardKey


def open_filter() -> str:
    """What Open shows: tables, projects and models."""
    from workbench.readers import SUFFIXES

    tables = " ".join(f"*{suffix}" for suffix in SUFFIXES)
    project, model = f"*{PROJECT_SUFFIX}", " ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
    kinds = f"Tables ({tables});;Projects ({project});;Models ({model});;All files (*)"
    return f"Tables, projects and models ({tables} {project} {model});;{kinds}"


def table_filter() -> str:
    """What is shown where only a table will do."""
    from workbench.readers import SUFFIXES

    return f"Tables ({' '.join(f'*{suffix}' for suffix in SUFFIXES)});;All files (*)"


class _Cure(NamedTuple):
    """What a person can do about an error: the words of a button, and what it asks."""

    error: type[BaseException]
    words: str
    ask: Callable[[], object]


class _Reading(NamedTuple):
    """A file or sample that a worker reads: its name, how, who takes what was found, and the cure."""

    name: str
    read: Callable[[], Any]
    take: Callable[[Any], object]
    cure: _Cure | None = None


class FileCommands(QObject):
    """Adds its actions to the window's set when it is made."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._document, self._settings = window.context.document, window.context.settings
        self._saving: Job | None = None
        self._waiting: list[Callable[[], object]] = []  # for the save that is being written
        self._queued: list[tuple[Path, Callable[[], object] | None]] = []
        self._prompt: QMessageBox | None = None
        self.recent = RecentMenu(self._settings, window)
        self.recent.chosen.connect(self.open_path)
        self._add_actions()
        self._document.table_changed.connect(self._refresh)
        for signal in (self._document.dirty_changed, self._document.run_added, self._document.run_removed):
            signal.connect(self._refresh)
        self._refresh()

    def _add_actions(self) -> None:
        add, stack = self._window.actions_.add, self._document.undo_stack
        add("action.file.open", "Open…", Keys.Open, self.ask_open, "open")
        add("action.file.save", "Save", Keys.Save, self.save, "save")
        add("action.file.save_as", "Save As…", "Ctrl+Shift+S", self.save_as)
        include = add(
            "action.file.include_rows",
            "Save Rows in the Project",
            None,
            lambda is_on: self._settings.setValue("file/include_rows", is_on),
            checkable=True,
        )
        include.setChecked(self._settings.value("file/include_rows", True) in (True, "true"))
        add("action.file.close", "Close Window", Keys.Close, self._window.close)
        add("action.file.quit", "Quit", "Ctrl+Q", self._window.close)
        add("action.edit.undo", "Undo", Keys.Undo, self._undo, "undo")
        add("action.edit.redo", "Redo", "Ctrl+Shift+Z", self._redo, "redo")
        self._refresh_undo()
        for signal in (stack.canUndoChanged, stack.canRedoChanged, self._window.context.editor.changed):
            signal.connect(self._refresh_undo)
        stack.undoTextChanged.connect(self._on_undo_text)
        stack.redoTextChanged.connect(self._on_redo_text)

    def _undo(self) -> None:
        """Take the last step back: one that is still being made is not made."""
        if self._window.context.editor.is_busy:
            self._window.context.editor.take_back_last()
        else:
            self._step(self._document.undo_stack.undo)

    def _redo(self) -> None:
        self._step(self._document.undo_stack.redo)

    def _step(self, step: Callable[[], object]) -> None:
        run, table = self._document.current_run, self._document.table
        if run is None or run.result is None or table is None or is_small(run.result, table):
            step()
        else:
            self._window.context.trainer.hand_over(step)

    def _refresh_undo(self, *_: object) -> None:
        stack, is_busy = self._document.undo_stack, self._window.context.editor.is_busy
        self._window.actions_.enable("action.edit.undo", is_busy or stack.canUndo())
        self._window.actions_.enable("action.edit.redo", stack.canRedo() and not is_busy)

    def _on_undo_text(self, text: str) -> None:
        self._window.actions_["action.edit.undo"].setText(_step_text("Undo", text))

    def _on_redo_text(self, text: str) -> None:
        self._window.actions_["action.edit.redo"].setText(_step_text("Redo", text))

    def _refresh(self, *_: object) -> None:
        for verb in ("save", "save_as", "include_rows"):
            self._window.actions_.enable(f"action.file.{verb}", not self._document.is_empty)

    def submenu(self, name: str) -> QMenu:
        """The submenu "menu.samples" or "menu.recent"."""
        if name == "menu.recent":
            return self.recent
        from workbench.samples import SAMPLES

        menu = QMenu("Open Sample", self._window)
        for sample in SAMPLES:
            menu.addAction(sample.title).triggered.connect(
                lambda _checked=False, key=sample.key: self.open_sample(key)
            )
        return menu

    # -- opening

    def ask_open(self) -> None:
        """Ask for a file and open it."""
        file_dialogs.ask_open(self._window, "Open", open_filter(), self.recent.folder, self.open_path)

    def open_path(self, path_text: str) -> None:
        """Open a table, project or model; a document with changes asks to be saved first."""
        self._when_saved("Save before opening another file?", lambda: self._load(Path(path_text)))

    def open_sample(self, key: str, then: Callable[[], object] | None = None) -> None:
        """Open a sample table; `then` follows, in place of showing the sample's own view."""
        from workbench.samples import find_sample

        sample = find_sample(key)
        self._when_saved("Save before opening a sample?", lambda: self._load_sample(sample, then))

    def _load(self, path: Path) -> None:
        if path.suffix == PROJECT_SUFFIX or path.name.endswith(MODEL_SUFFIXES):
            self._load_project(path, None)
        else:
            self._load_table(path, None)

    def _load_project(self, path: Path, data_path: Path | None) -> None:
        from workbench.project import DataFileMissing

        cure = _Cure(DataFileMissing, "Find the Data File", lambda: self._ask_data(path))
        read = lambda: file_work.read_project(path, data_path)  # noqa: E731 - bound to this file
        self._start(_Reading(path.name, read, lambda found: self._take_project(path, found), cure))

    def _load_table(self, path: Path, encoding: str | None) -> None:
        ask = lambda: ask_encoding(  # noqa: E731 - bound to this file
            self._window, path.name, lambda chosen: self._load_table(path, chosen)
        )
        read = lambda: file_work.read_table(path, encoding)  # noqa: E731 - as above
        cure = _Cure(EncodingUnknown, "Choose the Encoding", ask)
        self._start(_Reading(path.name, read, lambda table: self._take_table(path, table), cure))

    def _load_sample(self, sample, then: Callable[[], object] | None) -> None:
        read = lambda: file_work.read_sample(sample.key)  # noqa: E731 - bound to this sample
        self._start(_Reading(sample.title, read, lambda table: self._take_sample(sample, table, then)))

    def _start(self, reading: _Reading) -> None:
        title = f"Opening {reading.name}"
        self._document.post_message(title)
        before = self._document.snapshot()
        qt_types.make_all()  # before the worker imports the views
        job = self._window.context.lanes.views.submit_latest(
            "file.open", lambda _monitor: file_work.read_and_prepare(reading.read), title
        )
        job.ended.connect(lambda future: self._on_read(reading, future, before))

    def _on_read(self, reading: _Reading, future, before: Snapshot) -> None:
        if future.cancelled():
            return
        error, name, cure = future.exception(), reading.name, reading.cure
        if isinstance(error, OSError | ValueError):  # what a file can do wrong; DataError is a ValueError
            text = str(error) if name in str(error) else f"{name}: {error}"
            if cure is None or not isinstance(error, cure.error):
                cure = _Cure(type(error), "Open Another", self.ask_open)
            self._window.notice.say(text, cure.words, cure.ask)
            self._document.post_message(f"{name} was not opened")
            return
        found = future.result()
        show = lambda: self._window.prepare_centre(  # noqa: E731 - bound to what was read
            lambda: reading.take(found)
        )
        if before.holds_work_of(self._document.snapshot()):
            show()  # changes from before the reading were asked about then
        else:
            self._when_saved(f"Save what was changed while {name} was read?", show)

    def _ask_data(self, project: Path) -> None:
        file_dialogs.ask_open(
            self._window,
            "Find the Data File",
            table_filter(),
            str(project.parent),
            lambda found: self._load_project(project, Path(found)),
        )

    def _take_table(self, path: Path, table) -> None:
        self._window.notice.hide()
        self._document.open_table(table)
        self.recent.remember(path)
        self._document.post_message(_opened_text(table))

    def _take_sample(self, sample, table, then: Callable[[], object] | None) -> None:
        self._window.notice.hide()
        self._document.open_table(table)
        self._document.post_message(_opened_text(table))
        if then is not None:
            then()
            return
        view = {"curve": "surface"}.get(sample.opens_view, sample.opens_view)
        self._window.views.show_view(view)

    def _take_project(self, path: Path, description) -> None:
        self._window.notice.hide()
        self._document.restore(description)
        for view in self._document.view_state.get(FRONT_VIEWS, ()):
            if view in VIEWS:
                self._window.views.show_view(view)
        self.recent.remember(path)
        what = "" if self._document.table is not None else ": a model without a table, to look at and apply"
        self._document.post_message(f"Opened {path.name}{what}")
        notes = getattr(description, "notes", ())
        if notes:
            self._window.notice.say("\n".join(notes))

    # -- saving

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Save where the project came from, or ask where to; `then` follows a save that went well."""
        path = self._document.path
        if path is not None and path.suffix == PROJECT_SUFFIX:
            self._write(path, then)
        else:
            self.save_as(then)

    def save_as(self, then: Callable[[], object] | None = None) -> None:
        """Ask where to save."""
        if self._document.is_empty:
            return
        proposal = str(Path(self.recent.folder) / f"{Path(self._document.name).stem}{PROJECT_SUFFIX}")
        file_dialogs.ask_save(
            self._window,
            "Save Project",
            PROJECT_FILTER,
            proposal,
            PROJECT_SUFFIX[1:],
            lambda path_text: self._save_to(Path(path_text), then),
        )

    def _save_to(self, path: Path, then: Callable[[], object] | None) -> None:
        has_suffix = path.suffix == PROJECT_SUFFIX
        self._write(path if has_suffix else path.with_name(path.name + PROJECT_SUFFIX), then)

    @property
    def is_saving(self) -> bool:
        """True while a worker writes the project."""
        return self._saving is not None

    def when_saved(self, then: Callable[[], object]) -> None:
        """Call `then` once nothing is being written; never, if what is being written fails."""
        if self._saving is None:
            then()
        else:
            self._waiting.append(then)

    def _write(self, path: Path, then: Callable[[], object] | None) -> None:
        """Let a worker write the document as it is now; one save follows the other."""
        if self._saving is not None:
            self._queued.append((path, then))
            return
        include_rows = self._window.actions_["action.file.include_rows"].isChecked()
        if self._window.centre is not None:
            self._document.set_view_state(FRONT_VIEWS, self._window.centre.names_in_front())
        snapshot = self._document.snapshot()
        if then is not None:
            self._waiting.append(then)
        self._document.post_message(f"Saving {path.name}")
        job = Job(
            lambda _monitor: file_work.save(snapshot, path, include_rows), self, title=f"Saving {path.name}"
        )
        self._saving = job
        job.ended.connect(lambda future: self._on_written(path, snapshot, include_rows, future))
        job.start(self._window.context.lanes.files)

    def _on_written(self, path: Path, snapshot: Snapshot, include_rows: bool, future) -> None:
        assert self._saving is not None
        self._saving.deleteLater()
        self._saving = None
        waiting, self._waiting = self._waiting, []
        error = future.exception()
        if error is None:
            self._document.mark_saved(path, snapshot)
            self.recent.remember(path)
            rows = " with the rows" if include_rows else " without rows; it needs the data file beside it"
            self._document.post_message(f"Saved {path.name}{rows if snapshot.data.table is not None else ''}")
        else:
            text = str(error) if path.name in str(error) else f"{path.name} was not saved: {error}"
            self._window.notice.say(text, "Save As", self.save_as)
            self._document.post_message(f"{path.name} was not saved")
        if self._queued:
            self._write(*self._queued.pop(0))
        for call in waiting if error is None else ():
            call()
        if error is not None and not isinstance(error, OSError | ValueError):
            raise error  # nothing that a disk or a value does: shown with its details, and logged

    # -- the save prompt

    @property
    def has_unsaved_work(self) -> bool:
        """Tell whether leaving the document would lose anything that a person did."""
        return self._document.is_dirty and not is_untouched(self._document)

    def _when_saved(self, question: str, then: Callable[[], object]) -> None:
        if self._saving is not None:
            self.when_saved(lambda: self._when_saved(question, then))
        elif self.has_unsaved_work:
            self.ask_save(question, then)
        else:
            then()

    def ask_save(self, question: str, then: Callable[[], object]) -> None:
        """Ask to save, discard or cancel, modal to this window only; `then` follows save and discard."""
        if self._prompt is not None:
            self._prompt.raise_()
            return
        box = save_prompt(self._window, question, self._document.name)
        box.finished.connect(lambda answer: self._on_answered(answer, question, then))
        self._prompt = box
        box.open()

    def _on_answered(self, answer: int, question: str, then: Callable[[], object]) -> None:
        self._prompt = None
        if answer == QMessageBox.StandardButton.Save:
            self.save(lambda: self._when_saved(question, then))  # asks again if it was changed meanwhile
        elif answer == QMessageBox.StandardButton.Discard:
            then()


def _step_text(verb: str, step: str) -> str:
    return f"{verb} {step}".strip().replace("&", "&&")


def _opened_text(table) -> str:
    notes = f", {counted(len(table.notes), 'note')} on the import" if table.notes else ""
    rows, columns = counted(table.n_rows, "row"), counted(len(table.columns), "column")
    return f"Opened {table.name}: {rows}, {columns}{notes}"
