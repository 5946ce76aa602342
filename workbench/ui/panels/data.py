"""The table's columns: how they were read, what they mean, what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QSizePolicy, QWidget

from workbench.columns import KIND_WORDS
from workbench.jobs import Job
from workbench.ui import icons, theme
from workbench.ui.context import Context
from workbench.ui.forms.import_form import ImportForm
from workbench.ui.forms.target_form import SplitForm, TargetForm
from workbench.ui.forms.tokens_form import TokensForm
from workbench.ui.inputs import ComboBox, SearchEdit
from workbench.ui.item_models.column_model import ORDERS, ColumnModel
from workbench.ui.item_models.delegates import ColumnDelegate
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, IconLabel, Label, button, column, indented, literal, row

if TYPE_CHECKING:
    from workbench.datasets import Table

KIND_TITLES = {kind: words.capitalize() for kind, words in KIND_WORDS.items()}
ROLE_WORDS = {
    "feature": "Feature",
    "target": "Target",
    "weight": "Weight",
    "group": "Group",
    "id": "Identifier",
    "ignored": "Ignored",
}
MAX_CELLS_AT_ONCE = 50_000  # read anew in the window's thread; more would be a pause
PROBLEM_WORDS = {
    "constant": "constant",
    "identifier": "identifier-like",
    "leaks": "leaking",
    "stray": "broken by texts",
}


Change = Callable[["Table"], "Table"]


class DataPanel(QWidget):
    """Edits kinds and roles through the document; strengths and problems are found on `lanes.views`."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.data")
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._document = context, context.document
        self._problems: tuple = ()
        self.model = ColumnModel(self)
        self._import, self._target = ImportForm(), TargetForm(context.document)
        self._split, self._tokens = SplitForm(context.document), TokensForm()
        self.list = self._make_list()
        content, rest = QWidget(), QWidget()
        target, search, editors, split = (
            indented(part) for part in (self._target, self._make_search(), self._make_editors(), self._split)
        )
        rest.setLayout(column(target, self._make_banner(), search, self.list, editors, split, spacing=8))
        self._import.unfolded.connect(rest.setHidden)
        content.setLayout(column(self._import, rest, margins=theme.GROUND_MARGIN, spacing=8))
        open_action = context.actions.get("action.file.open")
        self._switch = Switch(
            EmptyState("file", "No table yet", "Open a file or a sample.", open_action), content
        )
        self.setLayout(column(self._switch))
        self._study_timer = QTimer(self, singleShot=True, interval=0, timeout=self._study)
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        self._import.requested.connect(self._on_reread)
        self._tokens.requested.connect(self._on_tokens)
        self._document.table_changed.connect(self._on_table_changed)
        self._document.columns_changed.connect(self.refresh)
        self.list.selectionModel().selectionChanged.connect(self._refresh_editors)
        self.model.modelReset.connect(self._refresh_editors)

    def _make_list(self) -> QListView:
        view = QListView()
        view.setObjectName("data.columns")
        view.setAccessibleName("Columns")
        view.setModel(self.model)
        view.setItemDelegate(ColumnDelegate(view))
        view.setUniformItemSizes(True)  # 300 columns: one size is asked, not 300
        view.setMouseTracking(True)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setMinimumHeight(56)  # two rows: a low window has to hold what is said of the selected one, too
        return view

    def _make_banner(self) -> QFrame:
        self._banner = QFrame()
        self._banner.setObjectName("data.problems")
        self._banner.setProperty("look", "banner")
        self._banner_text = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._ignore = button("Ignore", "quiet", self._on_ignore, "data.ignore_problems")
        self._cure = button("Set Missing", "quiet", self._on_cure, "data.cure_problems")
        self._cure.setToolTip("Count the texts as missing; the columns become numbers or dates")
        self._banner.setLayout(
            row(
                8, IconLabel("warning", 16, "warning"), self._banner_text, self._cure, self._ignore, spacing=4
            )
        )
        self._banner.hide()
        return self._banner

    def _make_search(self) -> QWidget:
        self.search = SearchEdit("Search", "data.search")
        self.search.setAccessibleName("Search columns")
        self.search.textChanged.connect(self.model.set_search)
        self.order = ComboBox()
        self.order.setObjectName("data.order")
        self.order.setAccessibleName("Order of columns")
        for key, words in ORDERS.items():
            self.order.addItem(words, key)
        self.order.setToolTip("Order of columns: as in the file, by name, or the largest first")
        self.order.activated.connect(lambda idx: self.model.set_order(self.order.itemData(idx)))
        holder = QWidget()
        layout = row(self.search, self.order, spacing=6)
        layout.setStretch(0, 5)
        layout.setStretch(1, 3)
        self.order.setIconSize(QSize(0, 0))  # its items have none; the search needs the room
        self.order.view().setMinimumWidth(200)
        holder.setLayout(layout)
        return holder

    def _make_editors(self) -> QWidget:
        self.kind, self.role = ComboBox(), ComboBox()
        for combo, name, words in ((self.kind, "kind", KIND_TITLES), (self.role, "role", ROLE_WORDS)):
            combo.setObjectName(f"data.{name}")
            combo.setAccessibleName(name.capitalize())
            combo.setPlaceholderText(name.capitalize())
            for key, text in words.items():
                combo.addItem(icons.icon(key), text, key)
        self.kind.activated.connect(self._on_kind)
        self.role.activated.connect(self._on_role)
        self._reason = Label("", "caption", wrap=True)
        self._reason.setObjectName("data.reason")
        policy = self._reason.sizePolicy()  # has height for width
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)  # a long word is no reason to widen the panel
        self._reason.setSizePolicy(policy)
        self._count_missing = button(
            "Count as Missing", "quiet", self._on_count_missing, "data.count_missing"
        )
        self._count_missing.hide()
        self._editors = QWidget()
        both = row(self.kind, self.role, spacing=6)
        self._editors.setLayout(column(both, self._tokens, self._reason, self._count_missing, spacing=4))
        return self._editors

    def selected_names(self) -> list[str]:
        """Names of the selected columns, in the order shown."""
        rows = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        return [self.model.name(at) for at in rows]

    def select(self, names: list[str]) -> None:
        """Select columns by name; hidden ones are passed over."""
        selection = self.list.selectionModel()
        selection.clearSelection()
        for name in names:
            if (at := self.model.row_of(name)) >= 0:
                selection.select(self.model.index(at), QItemSelectionModel.SelectionFlag.Select)

    def _on_table_changed(self) -> None:
        self._problems = ()
        self.model.set_strengths({})
        self.search.clear()
        self.refresh()

    def refresh(self) -> None:
        """Show the document's columns, target and split."""
        table = self._document.table
        self._switch.show_content(table is not None)
        self.model.set_table(table, self._document.roles)
        if table is not None:
            self._import.set_table(table)
            self._target.refresh()
            self._split.refresh()
            self._study_timer.start()
        self._refresh_editors()
        self._refresh_banner()

    def _refresh_editors(self, *_: object) -> None:
        table, names = self._document.table, self.selected_names()
        self.kind.setEnabled(bool(names))
        self.role.setEnabled(bool(names))
        self._tokens.show_columns(table, names)
        stray = [] if table is None else [name for name in names if table.column(name).stray_texts]
        self._count_missing.setVisible(bool(stray))
        if table is None or not names:
            self.kind.setCurrentIndex(-1)
            self.role.setCurrentIndex(-1)
            self._reason.setText("Select columns to change what they are.")
            return
        columns = [table.column(name) for name in names]
        kinds = {column_.kind for column_ in columns}
        roles = {self._document.roles.get(name, "feature") for name in names}
        self.kind.setCurrentIndex(self.kind.findData(kinds.pop()) if len(kinds) == 1 else -1)
        self.role.setCurrentIndex(self.role.findData(roles.pop()) if len(roles) == 1 else -1)
        words = columns[0].reason if len(columns) == 1 else f"{len(columns)} columns selected"
        self._reason.setText(words)
        self._reason.setToolTip(literal(words))  # a word longer than the panel is cut
        told = ", ".join(
            dict.fromkeys(f"'{text}'" for name in stray for text in table.column(name).stray_texts)
        )
        self._count_missing.setToolTip(literal(f"Count {told} as missing"))

    def _on_kind(self, idx: int) -> None:
        names, kind, document = self.selected_names(), self.kind.itemData(idx), self._document
        self._change_table(
            names,
            lambda table: table.with_kind(names, kind),
            lambda made: document.set_kind(names, kind, made),
        )

    def _on_role(self, idx: int) -> None:
        names = self.selected_names()
        if names:
            self._change(lambda: self._document.set_roles(names, self.role.itemData(idx)))

    def _on_tokens(self, tokens: tuple[str, ...] | None) -> None:
        names, document = self.selected_names(), self._document
        self._change_table(
            names,
            lambda table: table.with_column_tokens(names, tokens),
            lambda made: document.set_column_tokens(names, tokens, made),
        )

    def _on_count_missing(self) -> None:
        self._count_stray_missing(self.selected_names())

    def _on_cure(self) -> None:
        features = set(self._document.features)
        self._count_stray_missing(
            [p.column for p in self._problems if p.kind == "stray" and p.column in features]
        )

    def _count_stray_missing(self, names: list[str]) -> None:
        """Let each column's stray texts mean "missing" in it, all in one step to undo."""
        table, document = self._document.table, self._document
        names = [name for name in names if table is not None and table.column(name).stray_texts]
        self._change_table(
            names,
            lambda table: _without_stray_texts(table, names),
            lambda made: document.set_column_tokens(names, None, made),
        )

    def _change_table(self, names: list[str], make: Change, take: Callable[[Table], object]) -> None:
        """Let `take` have the table that `make` makes: at once, or from a worker where it is much work."""
        table = self._document.table
        if table is None or not names:
            return
        if len(names) * table.n_rows <= MAX_CELLS_AT_ONCE:
            self._change(lambda: take(make(table)))
            return
        self._document.post_message(f"Reading {len(names):,} columns anew" if names[1:] else "Reading anew")
        job = Job(lambda _monitor: make(table), self, title="Reading columns anew")

        def on_made(future) -> None:
            job.deleteLater()
            now = self._document.table
            if future.cancelled() or now is None or now.fingerprint != table.fingerprint:
                return  # another file was opened
            if now is table:
                self._change(lambda: take(future.result()))
            elif all(name in now.names for name in names):
                self._change_table(names, make, take)  # another change came first

        job.ended.connect(on_made)
        job.start(self._context.lanes.views)

    def _change(self, mutate) -> None:
        """Change the document; what it refuses is said in the status line and the fields go back."""
        from engine.errors import DataError, ParameterError

        try:
            mutate()
        except (DataError, ParameterError) as error:
            self._document.post_message(str(error))
            self._refresh_editors()
            self._reason.setText(str(error))

    def _on_reread(self, options) -> None:
        """Read the file in the background; the table in sight stays until the new one is there."""
        table = self._document.table
        if table is None or table.path is None:
            return
        path = table.path
        self._import.set_busy(True, table)
        self._document.post_message(f"Reading {path.name} again")
        job = self._context.lanes.views.submit_latest(
            "data.reread", lambda _monitor: _read(table, options), f"Reading {path.name} again"
        )
        job.ended.connect(lambda future: self._on_read_again(path, future))

    def _on_read_again(self, path: Path, future) -> None:
        table = self._document.table
        if future.cancelled() or table is None:
            return  # a newer request is under way, or the table was closed
        self._import.set_busy(False, table)
        if table.path != path:
            return
        error = future.exception()
        if error is None:
            self._document.take_reread(future.result())
            self._document.post_message(f"Read {path.name} again: {self._document.table.n_rows:,} rows")
            return
        self._import.show_fields(table)
        if not isinstance(error, OSError | ValueError):  # what a file can do wrong; DataError is a ValueError
            raise error
        text = str(error) if path.name in str(error) else f"{path.name}: {error}"
        self._document.post_message(f"{text}; the table stays as it was")
        self._import.say(text)

    def _study(self) -> None:
        """Find strengths and problems in the background; only the latest question's answer is shown."""
        table, roles, target = self._document.table, dict(self._document.roles), self._document.target
        if table is None:
            return
        job = self._context.lanes.views.submit_latest(
            "data.study", lambda _monitor: _study(table, roles, target), "Looking at the columns"
        )
        job.ended.connect(self._on_studied)

    def _on_studied(self, future) -> None:
        if future.cancelled() or self._document.table is None:
            return
        strengths, self._problems = future.result()
        self.model.set_strengths(strengths)
        words = {p.column: f"Looks {PROBLEM_WORDS[p.kind]}: {p.message}" for p in self._problems}
        self.model.set_problems(words)
        self._refresh_banner()

    def _refresh_banner(self) -> None:
        names = set(self._document.features)
        present = [problem for problem in self._problems if problem.column in names]
        self._banner.setVisible(bool(present))
        self._cure.setVisible(any(p.kind == "stray" for p in present))
        self._ignore.setVisible(any(p.kind != "stray" for p in present))
        counts = {kind: sum(p.kind == kind for p in present) for kind in PROBLEM_WORDS}
        parts = [f"{count} {PROBLEM_WORDS[kind]}" for kind, count in counts.items() if count]
        self._banner_text.setText(", ".join(parts))
        details = "\n".join(f"{problem.column}: {problem.message}" for problem in present)
        self._banner.setToolTip(literal(details))

    def _on_ignore(self) -> None:
        names = set(self._document.features)
        if columns := [p.column for p in self._problems if p.column in names and p.kind != "stray"]:
            self._document.set_roles(columns, "ignored")


def _without_stray_texts(table: Table, names: list[str]) -> Table:
    for name in names:
        tokens = table.options.tokens_of(name) + table.column(name).stray_texts
        table = table.with_column_tokens(name, tokens)
    return table


def _read(table, options):
    from workbench.readers import read_again

    return read_again(table, options)


def _study(table, roles, target) -> tuple:
    """Strength of every other column against the target, and the problems; runs on a worker."""
    from workbench.problems import column_strengths, find_problems

    strengths = column_strengths(table, target) if target else {}
    return strengths, find_problems(table, roles, strengths)
