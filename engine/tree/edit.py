"""Edits by hand as plain data, and replaying them on a tree (contracts D5, D20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from engine.errors import DataError, ParameterError
from engine.tree.cost_complexity import prune_at
from engine.tree.prune import prune
from engine.tree.structure import Path, Tree

KINDS = ("prune", "cost_complexity")


@dataclass(frozen=True)
class Edit:
    """One change by hand.

    Attributes
    ----------
    kind : "prune" or "cost_complexity"
        The node becomes a leaf; or the whole tree is pruned to the smallest that is best for `alpha`.
    path : tuple of int
        Which node: the child taken at each node from the root. Of a cost-complexity pruning always the root.
    alpha : float
        Price of a leaf, see `engine.tree.cost_complexity`.

    Raises
    ------
    ParameterError
        There is no such kind, or the price of a leaf is negative or not a number.
    """

    kind: Literal["prune", "cost_complexity"]
    path: Path = ()
    alpha: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"the edit's kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        if not self.alpha >= 0:
            raise ParameterError(f"alpha is {self.alpha!r}; the price of a leaf is 0 or more")
        object.__setattr__(self, "path", tuple(int(child) for child in self.path))

    def apply(self, tree: Tree) -> Tree:
        """Return the edited tree; raise DataError where the tree has no such inner node."""
        return prune(tree, self.path) if self.kind == "prune" else prune_at(tree, self.alpha)


def replay(edits: Iterable[Edit], tree: Tree) -> tuple[Tree, list[Edit]]:
    """Apply edits in order, for example to a tree trained anew.

    Returns
    -------
    Tree
        With every edit that still holds.
    list of Edit
        Those that no longer hold: the tree has no such node, or it is a leaf.
    """
    lost = []
    for edit in edits:
        try:
            tree = edit.apply(tree)
        except DataError:
            lost.append(edit)
    return tree, lost
