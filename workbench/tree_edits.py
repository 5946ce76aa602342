"""Changes by hand of single trees: each is one undo step, and the scores are computed anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import DataError
from workbench import commands, editing, rounds
from workbench.document_state import DocumentState
from workbench.figures.words import counted
from workbench.runs import RunRecord, RunResult

GROW_BELOW, PRUNE_TO = "Grow below", "Prune to a price"
KEEP_ROUNDS, ADD_ROUNDS = "Keep the first rounds", "Add rounds"


class TreeEdits(DocumentState):
    """The part of the document that changes the trees of trained models."""

    def prune(self, run_id: str, path: Sequence[int]) -> None:
        """Make the node at `path` of a single tree a leaf; scores are computed anew.

        Raises
        ------
        DataError
            The model is not a trained single tree, or has no inner node there.
        """
        self._edit(run_id, "Prune", editing.prune, tuple(path))

    def expand(self, run_id: str, path: Sequence[int]) -> None:
        """Put back what was pruned, split, grown or sent elsewhere by hand at the node at `path`.

        Raises
        ------
        DataError
            Nothing was changed there.
        """
        self._edit(run_id, "Put back", editing.expand, tuple(path))

    def flip_missing(self, run_id: str, path: Sequence[int]) -> None:
        """Send missing values to the other side at the node at `path` of a single tree.

        Raises
        ------
        DataError
            The model is not a trained single tree, or no such choice is made there.
        """
        self._edit(run_id, "Send missing to the other side", editing.flip_missing, tuple(path))
        result = self.run(run_id).result
        assert result is not None
        self.post_message(f"{editing.missing_sentence(result, tuple(path))}; Undo takes it back.")

    def grow_below(self, run_id: str, path: Sequence[int]) -> None:
        """Grow all below the node at `path` of a single tree anew, with the settings of its training.

        Raises
        ------
        DataError
            The model is not a trained single tree, or nothing else grows there.
        """
        self._edit(run_id, GROW_BELOW, editing.grow_below, tuple(path))

    def take_edited(
        self,
        run_id: str,
        before: RunResult,
        after: RunResult,
        text: str,
        merges: commands.CommandId | None = None,
    ) -> None:
        """Put `before`, changed by hand in a worker, in place as one undo step; see `tree_editor`.

        Raises
        ------
        DataError
            The model has another result by now, is being trained or is gone.
        """
        record = self.untrained(run_id)
        if record.result is not before:
            raise DataError(f"{record.name} was changed in the meantime; make the change again")
        if after.grown_tree is None:
            self._push_rounds(record, text, after)
        else:
            self._push_edit(record, text, after, merges=merges)

    def keep_rounds(self, run_id: str, n_rounds: int) -> None:
        """Keep the first rounds or trees of an ensemble alone; scores are computed anew.

        Raises
        ------
        DataError
            The model has no rounds, or not so many.
        """
        record = self.untrained(run_id)
        if record.result is None:
            raise DataError("this model is not trained yet; train it first")
        self._push_rounds(record, KEEP_ROUNDS, rounds.keep_rounds(record.result, self._table(), n_rounds))

    def take_more_rounds(self, run_id: str, before: RunResult, after: RunResult) -> None:
        """Put a training that went on in place of what it began with, as one undo step if it added any."""
        record = self.run(run_id).settled()
        self._write_record(replace(record, error=None))
        if record.result is before and after.n_rounds > before.n_rounds:
            self._push_rounds(record, ADD_ROUNDS, after)

    def _push_rounds(self, record: RunRecord, text: str, result: RunResult) -> None:
        self.undo_stack.push(commands.SetRounds(self, text, record.run_id, result, rounds.COUNT))
        n = counted(result.n_rounds, rounds.unit_of(result))
        self.post_message(f"{record.name} has {n} now; Undo takes it back.")

    def force_split(
        self, run_id: str, path: Sequence[int], feature: str, answer: float | Sequence[str] | None
    ) -> None:
        """Let the node at `path` of a single tree ask about `feature`.

        Parameters
        ----------
        answer : float, sequence of str, or None
            Threshold, the levels of the first side, `editing.EACH_LEVEL`, or None to ask whether the value is
            missing.

        Raises
        ------
        DataError
            The model is not a trained single tree, or all rows would go to one side.
        ParameterError
            The answer is none to a question about this column.
        """
        self._edit(run_id, "Force a split", editing.force_split, tuple(path), feature, answer)

    def prune_to(self, run_id: str, alpha: float | None) -> None:
        """Prune a single tree to a price of a leaf (cost-complexity), None: not so any more.

        Prices in a row are one undo step, as a slider sets them.

        Raises
        ------
        DataError
            The model is not a trained single tree.
        """
        self._edit(run_id, PRUNE_TO, editing.prune_to, alpha, merges=commands.CommandId.PRUNE_TO)

    def prune_by_rule(self, run_id: str, rule: str) -> None:
        """Prune a single tree by "reduced_error", "pessimistic" or "merge"; one undo step.

        Raises
        ------
        DataError
            The model is not a trained single tree, or the rule cuts nothing or cannot be used.
        """
        text = editing.RULES[rule]
        self._edit(run_id, text[0].upper() + text[1:], editing.prune_by_rule, rule)

    def _edit(
        self,
        run_id: str,
        text: str,
        edit: Callable[..., RunResult],
        *how: Any,
        merges: commands.CommandId | None = None,
    ) -> None:
        record = self.untrained(run_id)
        self._push_edit(record, text, edit(record.result, self._table(), *how), merges=merges)

    def untrained(self, run_id: str) -> RunRecord:
        """Return a model whose tree can be changed now; raises DataError while it is being trained."""
        record = self.run(run_id)
        if record.is_training:
            raise DataError(f"{record.name} is being trained; stop it before changing its tree by hand")
        return record

    def _push_edit(
        self, record: RunRecord, text: str, result: RunResult, *, merges: commands.CommandId | None = None
    ) -> None:
        self.undo_stack.push(commands.EditTree(self, text, record.run_id, result, merges))
        leaves = counted(result.trees[0].n_leaves, "leaf", "leaves")
        self.post_message(f"{record.name} was changed by hand and has {leaves} now; Undo takes it back.")
