"""Edits by hand as plain data, and replaying them on a tree (contracts D5, D20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from engine.errors import DataError, ParameterError
from engine.tree.best_first import with_splits
from engine.tree.cost_complexity import prune_at
from engine.tree.prune import prune
from engine.tree.structure import Path, Tree

if TYPE_CHECKING:
    from engine.base import TrainingData

KINDS = ("prune", "cost_complexity", "splits", "force_split", "set_missing", "regrow")
OF_WHOLE_TREE = ("cost_complexity", "splits")
OF_TRAINING_ROWS = ("force_split", "set_missing", "regrow")
"""Kinds that look at the rows the tree was grown on."""


@dataclass(frozen=True)
class Edit:
    """One change by hand.

    Attributes
    ----------
    kind : "prune", "cost_complexity", "splits", "force_split", "set_missing" or "regrow"
        The node becomes a leaf; the whole tree is pruned to the smallest that is best for `alpha`; it has so
        many splits, in best-first order; the node asks a given question; missing values take another side
        there; all below it is grown anew.
    path : tuple of int
        Which node: the child taken at each node from the root. The root where it is about the whole tree.
    alpha : float
        Price of a leaf, see `engine.tree.cost_complexity`.
    feature : str
        Column that a forced split asks about.
    threshold : float or None
        Of a forced split on a number.
    levels : tuple
        Of a forced split on a category: the levels that take the first side.
    is_missing : bool
        A forced split asks whether the value is missing.
    each_level : bool
        A forced split on a category has a branch for every level.
    missing_child : 0, 1 or None
        Of a forced split: the side that missing values take, None where they help most.
    child : int
        Child that missing values take, 0, 1, ...
    n_splits : int
        How many splits the whole tree has, see `engine.tree.best_first.with_splits`.

    Raises
    ------
    ParameterError
        There is no such kind, the price of a leaf is negative or not a number, the number of splits is
        negative, or a forced split names no column.
    """

    kind: Literal["prune", "cost_complexity", "splits", "force_split", "set_missing", "regrow"]
    path: Path = ()
    alpha: float = 0.0
    feature: str = ""
    threshold: float | None = None
    levels: tuple[Any, ...] = ()
    child: int = 0
    is_missing: bool = False
    n_splits: int = 0
    each_level: bool = False
    missing_child: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"the edit's kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        if not self.alpha >= 0:
            raise ParameterError(f"alpha is {self.alpha!r}; the price of a leaf is 0 or more")
        if self.n_splits < 0:
            raise ParameterError(f"n_splits is {self.n_splits!r}; a tree has 0 splits or more")
        if self.kind == "force_split" and not self.feature:
            raise ParameterError("a forced split needs a column; give its name as feature")
        object.__setattr__(self, "path", tuple(int(child) for child in self.path))
        object.__setattr__(self, "levels", tuple(self.levels))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Edit:
        """Return the edit that `to_plain` wrote; what it lacks has its default."""
        return cls(**{item.name: plain[item.name] for item in fields(cls) if item.name in plain})

    def to_plain(self) -> dict[str, Any]:
        """Return the edit as a mapping of texts, numbers and lists, as JSON has them."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return plain | {"path": list(self.path), "levels": list(self.levels)}

    @property
    def needs_training_rows(self) -> bool:
        return self.kind in OF_TRAINING_ROWS

    @property
    def is_of_whole_tree(self) -> bool:
        """True when it is about no single node."""
        return self.kind in OF_WHOLE_TREE

    @property
    def is_cut(self) -> bool:
        """True when it only takes splits away, or puts those back that were taken away."""
        return self.is_of_whole_tree or self.kind == "prune"

    def apply(
        self,
        tree: Tree,
        data: TrainingData | None = None,
        estimator: Any = None,
        uncut: Tree | None = None,
    ) -> Tree:
        """Return the edited tree.

        Parameters
        ----------
        data : TrainingData, optional
            What the tree was grown on, see `engine.tree.regrow.training_data`; pruning needs none.
        estimator : fitted single tree, optional
            Its hyperparameters; pruning needs none.
        uncut : Tree, optional
            What was cut to `tree` before: splits that are missing come from there.

        Raises
        ------
        DataError
            The tree or the data do not allow the edit any more: there is no such node, column or level, or
            the split would break a column's direction.
        ParameterError
            The training rows are needed and not given.
        """
        if self.kind == "prune":
            return prune(tree, self.path)
        if self.kind == "cost_complexity":
            return prune_at(tree, self.alpha)
        if self.kind == "splits":
            return with_splits(tree, tree if uncut is None else uncut, self.n_splits)
        if data is None or estimator is None:
            raise ParameterError(f"the edit {self.kind!r} needs data and estimator; give both")
        from engine.tree.by_hand import force_split, set_missing_direction  # a view needs no compiler
        from engine.tree.directions import directions_of
        from engine.tree.regrow import criterion_of, regrow

        if self.kind == "regrow":
            return regrow(tree, self.path, estimator, data)
        criterion, directions = criterion_of(estimator), directions_of(estimator, data.features)
        missing = str(estimator.missing)
        if self.kind == "set_missing":
            change = (self.path, self.child, data, criterion)
            return set_missing_direction(tree, *change, directions=directions, missing=missing)
        return force_split(
            tree,
            self.path,
            self.feature,
            data,
            criterion,
            threshold=self.threshold,
            levels=self.levels or None,
            is_missing=self.is_missing,
            each_level=self.each_level,
            missing_child=self.missing_child,
            directions=directions,
            missing=missing,
        )


def replay(
    edits: Iterable[Edit], tree: Tree, data: TrainingData | None = None, estimator: Any = None
) -> tuple[Tree, list[Edit]]:
    """Apply edits in order, for example to a tree trained anew; without edits it is the same tree.

    Parameters
    ----------
    data, estimator
        See `Edit.apply`.

    Returns
    -------
    Tree
        With every edit that still holds.
    list of Edit
        Those that no longer hold: the tree has no such node, it is a leaf, or the column, a level or the
        rows on one side are gone. One whose node was cut holds where later splits grow again.
    """
    edits = tuple(edits)
    done = _replay(edits, tree, data, estimator, any(edit.kind == "splits" for edit in edits))
    return done.tree, done.lost


class Replayed(NamedTuple):
    """What `replay_beside_uncut` returns.

    Attributes
    ----------
    tree : Tree
        With every edit that still holds.
    uncut : Tree
        With those that do more than cut, also where a cut has taken their node away: where splits come from
        that grow again.
    lost : list of Edit
        Those that `tree` does not have.
    """

    tree: Tree
    uncut: Tree
    lost: list[Edit]


def replay_beside_uncut(
    edits: Iterable[Edit], tree: Tree, data: TrainingData | None = None, estimator: Any = None
) -> Replayed:
    """Return what `replay` does, and the tree with all changes but cuts."""
    return _replay(edits, tree, data, estimator, wants_uncut=True)


def _replay(
    edits: Iterable[Edit], tree: Tree, data: TrainingData | None, estimator: Any, wants_uncut: bool
) -> Replayed:
    uncut, missed, last_steps = tree, [], -1
    for at, edit in enumerate(edits):
        was_cut, before = tree is not uncut, uncut
        edited = _apply_where_it_holds(edit, tree, data, estimator, uncut)
        is_missed, tree = edited is None, edited or tree
        if wants_uncut and not edit.is_cut:
            uncut = (_apply_where_it_holds(edit, uncut, data, estimator) or uncut) if was_cut else tree
        if is_missed:
            missed.append((at, edit, uncut is not before))
        elif edit.kind == "splits":
            last_steps = at
    # steps through the splits bring back what was cut, and the changes there
    lost = [edit for at, edit, is_in_uncut in missed if not (is_in_uncut and at < last_steps)]
    return Replayed(tree, uncut, lost)


def _apply_where_it_holds(
    edit: Edit, tree: Tree, data: TrainingData | None, estimator: Any, uncut: Tree | None = None
) -> Tree | None:
    try:
        return edit.apply(tree, data, estimator, uncut)
    except DataError:
        return None
