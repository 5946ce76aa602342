"""What a model in the document is: its settings, its state, and what training made of it. All values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ParameterError
from workbench.catalog import entry_of

if TYPE_CHECKING:
    from engine.tree.structure import Tree
    from workbench.crossvalidation import CrossValidation
    from workbench.scoring import ScoreSet
    from workbench.tuning import Tuning

PARTS = ("train", "validation", "test")
NO_PART = 255


@dataclass(frozen=True)
class SplitSettings:
    """How rows are dealt into parts (D13): shares of the rows with a target, and the seed."""

    seed: int = 0
    train: float = 0.6
    validation: float = 0.2
    test: float = 0.2

    def __post_init__(self) -> None:
        shares = (self.train, self.validation, self.test)
        if self.train <= 0 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise ParameterError(
                f"the parts are {self.train:g}, {self.validation:g} and {self.test:g} of the rows; enter "
                "shares that add up to 1, with training above 0"
            )


@dataclass(frozen=True)
class ModelSpec:
    """Kind of model (a key of the catalog) and all its parameter values."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # what files bring as lists is no other value than the tuple it was
        values = {name: tuple(of) if isinstance(of, list) else of for name, of in self.parameters.items()}
        object.__setattr__(self, "parameters", values)

    def with_parameter(self, name: str, value: Any) -> ModelSpec:
        return replace(self, parameters={**self.parameters, name: value})


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss after every step; index 0 is before the first.

    Attributes
    ----------
    train, validation : float64 (n_steps + 1,)
        `validation` is empty without a validation part.
    unit : str
        What the loss is called.
    best_round : int or None
        Round with the lowest validation loss, counted from 1.
    """

    train: NDArray[np.float64]
    validation: NDArray[np.float64]
    unit: str
    best_round: int | None


@dataclass(frozen=True, eq=False)
class RunResult:
    """What one training made.

    Attributes
    ----------
    estimator : fitted estimator of the engine
    spec : ModelSpec
        As trained.
    features : tuple of str
    target : str
    classes : tuple of str
        In the order of the probabilities' columns; empty for a number target.
    parts : uint8 (n_rows,)
        0 training, 1 validation, 2 test, 255 none.
    scores : dict of part name to ScoreSet
        Parts without rows are absent.
    importances : float64 (n_features,)
        Shares of the total gain; of a model without trees how much its score falls when a column is shuffled.
    seconds : float
    n_rounds : int
        Trees of a forest, rounds of boosting, epochs of networks and perceptrons, 1 for a tree.
    stopped : bool
        Training was stopped before its end.
    table_fingerprint : str
    curve : Curve or None
    event_class : str or None
    edits : tuple of engine.tree.edit.Edit
        Changes by hand, in order; only of single trees.
    grown_tree : Tree or None
        A single tree as it was grown, before any edit.
    cv : CrossValidation or None
        Arrives after training (D31).
    n_test_looks : int
        Edits made while the test score was in sight (D20).
    split : SplitSettings
        What dealt the rows into `parts`.
    weight, group : str or None
        Columns that had these roles.
    """

    estimator: Any
    spec: ModelSpec
    features: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    parts: NDArray[np.uint8]
    scores: dict[str, ScoreSet]
    importances: NDArray[np.float64]
    seconds: float
    n_rounds: int
    stopped: bool
    table_fingerprint: str
    curve: Curve | None = None
    event_class: str | None = None
    edits: tuple[Any, ...] = ()
    grown_tree: Tree | None = None
    cv: CrossValidation | None = None
    n_test_looks: int = 0
    split: SplitSettings = field(default_factory=SplitSettings)
    weight: str | None = None
    group: str | None = None

    @property
    def is_classification(self) -> bool:
        return bool(self.classes)

    @property
    def has_trees(self) -> bool:
        """It is a model made of trees, though it may have been stopped before the first."""
        return entry_of(self.spec.kind).has_trees

    @property
    def has_probabilities(self) -> bool:
        """It tells how probable the classes are, and does not only name one."""
        return bool(self.classes) and bool(self.estimator.has_probabilities)

    @property
    def has_model_file(self) -> bool:
        """A model file can hold it: trees, networks or a perceptron."""
        entry = entry_of(self.spec.kind)
        return not (entry.fits_whole or entry.is_of_models)

    @property
    def trees(self) -> list[Tree]:
        """All trees in the order they were grown; boosting of K > 2 classes has K a round.

        None of a model that is not made of trees.
        """
        estimator = self.estimator
        if not self.has_trees:
            return []
        if hasattr(estimator, "tree_"):
            return [estimator.tree_]
        return [
            tree
            for member in estimator.estimators_
            for tree in (member if isinstance(member, tuple) else (member,))
        ]

    def tree(self, index: int) -> Tree:
        return self.trees[index]

    @property
    def feature_specs(self) -> tuple[Any, ...]:
        """The engine's description of the columns (`engine.features.FeatureSpec`)."""
        specs: tuple[Any, ...] = self.estimator.features_
        return specs


def training_of(result: RunResult) -> object:
    """What tells one training from another, whatever is known of its model or changed by hand since."""
    return result.estimator if result.grown_tree is None else result.grown_tree


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One model in the list.

    Attributes
    ----------
    state : str
        "new", "queued", "training", "done", "stopped" or "failed".
    result : RunResult or None
        Of the last training that made a model; kept while the next one runs.
    error : str or None
        Why it failed.
    tuning : Tuning or None
        The last search for good settings that tried some.
    """

    run_id: str
    name: str
    spec: ModelSpec
    state: str = "new"
    result: RunResult | None = None
    error: str | None = None
    tuning: Tuning | None = None

    @property
    def is_training(self) -> bool:
        """True from being queued until there is a result or a failure."""
        return self.state in ("queued", "training")

    @property
    def is_outdated(self) -> bool:
        """True when the settings were changed after the training."""
        return self.result is not None and self.result.spec != self.spec

    def settled(self) -> RunRecord:
        """Return the record with no training under way."""
        if not self.is_training:
            return self
        if self.result is None:
            return replace(self, state="new")
        return replace(self, state="stopped" if self.result.stopped else "done")
