"""What a view is when it is not a picture: empty with a sentence, switched to its content, or busy."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QProgressBar, QPushButton, QStackedLayout, QWidget

from workbench.catalog import entry_of
from workbench.rounds import unit_of
from workbench.runs import RunRecord
from workbench.ui.context import Context
from workbench.ui.veil import Veil
from workbench.ui.widgets import ActionButton, IconLabel, Label, column, row


class EmptyState(QWidget):
    """What stands where a picture will be: an icon, what will be here, how, and one button."""

    def __init__(
        self,
        icon: str,
        sentence: str,
        how: str = "",
        action: QAction | None = None,
        parent: QWidget | None = None,
    ):
        super().__init__(parent)
        self._icon = IconLabel(icon, 40, "text3")
        self._sentence = Label(sentence, "heading", wrap=True)
        self._how = Label(how, "secondary", wrap=True)
        for label in (self._sentence, self._how):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        items: list = [-1, row(-1, self._icon, -1), 4, self._sentence, self._how]
        self.button: QPushButton | None = None
        self._buttons: dict[QAction, QPushButton] = {}
        self._place = row(-1, -1)
        self.setLayout(column(*items, 4, self._place, -1, margins=16, spacing=8))
        self._how.setVisible(bool(how))
        self.offer(action)

    def say(self, sentence: str, how: str = "") -> None:
        """Change the words."""
        self._sentence.setText(sentence)
        self._how.setText(how)
        self._how.setVisible(bool(how))

    def offer(self, action: QAction | None) -> None:
        """Show the button of what helps here; none where nothing does."""
        for known, made in self._buttons.items():
            made.setVisible(known is action)
        if action is not None and action not in self._buttons:
            self._buttons[action] = ActionButton(action)
            self._place.insertWidget(1, self._buttons[action])
        self.button = None if action is None else self._buttons[action]

    def say_what_is_missing(self, context: Context, goal: str, add: str = "action.model.train") -> None:
        """Say what keeps the current model from being shown, and offer what helps.

        Parameters
        ----------
        context : Context
        goal : str
            Such as "its tree"; ends "Train it to see".
        add : str
            Name of the action that makes a model where there is none.
        """
        document, actions = context.document, context.actions
        run, training = document.current_run, training_words(context)
        if training:
            self.tell(training, "", None)
        elif document.table is None:
            self.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
        elif document.target is None:
            self.tell(
                "Nothing to predict yet.", f"Choose it in Data, then train a model to see {goal}.", None
            )
        elif run is None:
            self.tell(f"No model yet. Train one to see {goal}.", "", actions.get(add))
        elif run.state == "failed":
            self.tell(f"{run.name} could not be trained.", run.error or "", actions.get("action.model.train"))
        else:
            how = f"Press Train to see {goal}."
            self.tell(f"{run.name} is not trained yet.", how, actions.get("action.model.train"))

    def say_what_single_trees_lack(self, context: Context, goal: str, of_ensembles: str) -> None:
        """The same for a view of single trees; `of_ensembles` says why it shows none of an ensemble's."""
        run, add = context.document.current_run, "action.model.add_tree"
        if run is not None and entry_of(run.spec.kind).is_ensemble:
            how = f"Train a single decision tree to see {goal}."
            self.tell(of_ensembles, how, context.actions.get(add))
        elif run is not None and _is_without_trees(run):
            how = f"Train a single decision tree to see {goal}."
            self.tell(_has_no_trees(run), how, context.actions.get(add))
        else:
            self.say_what_is_missing(context, goal, add)

    def say_what_trees_lack(self, context: Context, goal: str, add: str = "action.model.train") -> None:
        """The same for a view of trees: why the current model has none to show, and what has some."""
        run = context.document.current_run
        if run is not None and _is_without_trees(run):
            view = view_of_its_own(run)
            how = f"{view.capitalize()} tells of this one; trees, forests and boosting are made of them."
            self.tell(_has_no_trees(run), how, context.actions.get(f"action.view.{view}"))
        elif run is not None and run.result is not None:
            how = f"It was stopped before its first {unit_of(run.result)}."
            self.tell("This model has no tree.", how, context.actions.get("action.model.train"))
        else:
            self.say_what_is_missing(context, goal, add)

    def tell(self, sentence: str, how: str, action: QAction | None) -> None:
        """Change the words and what is offered."""
        self.say(sentence, how)
        self.offer(action)


def _is_without_trees(run: RunRecord) -> bool:
    """Tell whether a model is not made of trees, trained or not."""
    return not (entry_of(run.spec.kind).has_trees if run.result is None else run.result.has_trees)


def view_of_its_own(run: RunRecord) -> str:
    """Return the view that tells most of a model without trees: of models, how they are put together."""
    return "stack" if entry_of(run.spec.kind).is_of_models else "scores"


def _has_no_trees(run: RunRecord) -> str:
    """Such as "K nearest neighbours has no trees."; of a model that is not made of any."""
    return f"{entry_of(run.spec.kind).subject} has no trees."


def training_words(context: Context) -> str:
    """Such as "forest 1 is training: tree 3 of 100"; empty unless the current model's first training runs."""
    run, job = context.document.current_run, context.trainer.current_job
    if run is None or run.result is not None or not run.is_training:
        return ""
    if run.state == "queued" or job is None:
        return f"{run.name} waits for its training."
    return f"{run.name} is training: {job.progress.text or 'it has just begun'}"


class Switch(QWidget):
    """Shows either the empty state or the content."""

    def __init__(self, empty: QWidget, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(content)
        self.empty, self.content = empty, content

    def show_content(self, is_there: bool) -> None:
        self._stack.setCurrentIndex(int(is_there))

    @property
    def shows_content(self) -> bool:
        return self._stack.currentIndex() == 1


class BusyBar(QProgressBar):
    """The 2 px bar on a panel's top edge; it comes after 300 ms and never for less.

    While it is there the picture below, which is out of date, stands at 60 %.

    Parameters
    ----------
    dims : QWidget, optional
        The picture.
    """

    DELAY_MS = 300
    DIMMED = 0.6

    def __init__(self, parent: QWidget | None = None, dims: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "edge")
        self.setRange(0, 0)
        self.setTextVisible(False)
        self.setFixedHeight(2)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.hide()
        self._veil = Veil(dims, 1 - self.DIMMED) if dims is not None else None
        self._timer = QTimer(self, singleShot=True, interval=self.DELAY_MS, timeout=self._come)

    def begin(self) -> None:
        if self.isHidden():
            self._timer.start()

    def _come(self) -> None:
        self.show()
        if self._veil is not None:
            self._veil.cover()

    def end(self) -> None:
        self._timer.stop()
        self.hide()
        if self._veil is not None:
            self._veil.hide()
