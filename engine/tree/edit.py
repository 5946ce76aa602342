"""Edits by hand as plain data, and replaying them on a tree (contracts D5, D20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from engine.errors import DataError, ParameterError
from engine.tree.prune import prune
from engine.tree.structure import Path, Tree


@dataclass(frozen=True)
class Edit:
    """One change by hand.

    Attributes
    ----------
    kind : "prune"
        The node becomes a leaf.
    path : tuple of int
        Which node: the child taken at each node from the root.
    """

    kind: Literal["prune"]
    path: Path

    def __post_init__(self) -> None:
        if self.kind != "prune":
            raise ParameterError(f"the edit's kind is {self.kind!r}; it must be 'prune'")
        object.__setattr__(self, "path", tuple(int(child) for child in self.path))

    def apply(self, tree: Tree) -> Tree:
        """Return the edited tree; raise DataError where the tree has no such inner node."""
        return prune(tree, self.path)


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
