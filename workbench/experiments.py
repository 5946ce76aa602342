"""Ready experiments: a sample, models with their settings, a view, and two sentences of what to look at.

An experiment is data. `set_up` makes it in a document by the commands that a person would use, as one step
that can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.errors import ParameterError
from workbench.bias_variance import BiasVarianceSettings
from workbench.training_sets import FRESH

if TYPE_CHECKING:
    from workbench.document import Document

VIEW_STATE = "experiment"  # of a document's view state: the key of what was set up in it


@dataclass(frozen=True)
class ExperimentModel:
    """One model of an experiment.

    Attributes
    ----------
    name : str
        What differs from the others: "k = 1".
    kind : str
        Key in the catalog.
    parameters : mapping
        Those that are not the form's start values.
    """

    name: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One ready experiment.

    Attributes
    ----------
    key, title : str
    sample : str
        Key of the table.
    models : tuple of ExperimentModel
        The first one is looked at.
    view : str
        What is opened.
    look : tuple of str
        Two sentences of what to look at.
    columns : tuple of str or None, optional
        Over which the surface is drawn: two, or one and None.
    is_beside : bool
        The models' surfaces stand beside each other; curves along one column lie in one picture.
    tuned : mapping
        Values of settings of the first model that are tried.
    metric : str
        What these are compared by.
    study : BiasVarianceSettings or None, optional
        What the Bias and Variance window, which is opened, shows of the models.
    """

    key: str
    title: str
    sample: str
    models: tuple[ExperimentModel, ...]
    view: str
    look: tuple[str, str]
    columns: tuple[str | None, ...] = ()
    is_beside: bool = False
    tuned: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    metric: str = ""
    study: BiasVarianceSettings | None = None

    @property
    def text(self) -> str:
        """The sentences."""
        return " ".join(self.look)


_FULL = {"max_depth": None, "min_samples_leaf": 1}  # a tree of the forest's size
_BORDERS = (
    ExperimentModel("tree", "tree"),
    ExperimentModel("logistic regression", "linear"),
    ExperimentModel("SVM, linear kernel", "svm", {"kernel": "linear"}),
    ExperimentModel("SVM, rbf kernel", "svm", {"kernel": "rbf"}),
)
_BOOSTED = {"n_estimators": 200}

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "columns_per_node",
        "Columns per Node in a Forest",
        "wine",
        tuple(ExperimentModel(f"m = {m}", "forest", {"max_features": m}) for m in (3, 1, 13)),
        "tuning",
        (
            "The curve is the log loss of forests whose nodes may ask m of 13 columns: it falls steeply "
            "from m = 1, and is lowest between the ends.",
            "Alone, the trees of m = 1 err most and those of m = 13 least (see Trees), but these are alike, "
            "and averaging them mends less.",
        ),
        tuned={"max_features": (1, 2, 3, 5, 7, 9, 11, 13)},
        metric="log_loss",
    ),
    Experiment(
        "shrinkage",
        "Shrinkage, High and Low",
        "diabetes",
        tuple(
            ExperimentModel(f"rate {rate}", "boosting", {"learning_rate": rate, **_BOOSTED})
            for rate in (0.05, 0.3, 1.0)
        ),
        "compare",
        (
            "At a learning rate of 1 the training loss (dotted) is soon gone, but the validation loss "
            "(solid) is best at once and then rises.",
            "The smaller the rate, the later the lowest validation loss comes, and the lower it is.",
        ),
    ),
    Experiment(
        "boosting_depth",
        "Depth of Boosted Trees",
        "diabetes",
        tuple(
            ExperimentModel(
                f"depth {depth}",
                "boosting",
                {"max_depth": depth, "max_leaf_nodes": 256, "min_samples_leaf": 5, **_BOOSTED},
            )
            for depth in (1, 3, 8)
        ),
        "compare",
        (
            "Deeper trees learn the training rows faster (dotted): after 200 rounds depth 8 makes hardly an "
            "error there.",
            "On validation rows (solid) depths 1 and 3 come lower than depth 8 ever does: boosting wants "
            "weak trees.",
        ),
    ),
    Experiment(
        "neighbors",
        "Few and Many Neighbours",
        "clouds",
        tuple(ExperimentModel(f"k = {k}", "neighbors", {"n_neighbors": k}) for k in (1, 15, 100)),
        "surface",
        (
            "With k = 1 the border runs around every single row, and no training row is wrong; with k = 100 "
            "it is nearly straight.",
            "On rows that were not trained on k = 15 beats k = 1: the islands were noise.",
        ),
        columns=("x1", "x2"),
        is_beside=True,
    ),
    Experiment(
        "polynomials",
        "Polynomials of Degree 1, 3 and 9",
        "few_points",
        tuple(ExperimentModel(f"degree {degree}", "polynomial", {"degree": degree}) for degree in (9, 3, 1)),
        "surface",
        (
            "Degree 1 cannot bend, degree 3 follows the sine, degree 9 turns to single points near the ends.",
            "On the training rows degree 9 errs least, on all others degree 3; see Tuning.",
        ),
        columns=("x", None),
        is_beside=True,
        tuned={"degree": tuple(range(1, 10))},
        metric="rmse",
    ),
    Experiment(
        "averaging_trees",
        "Tree, Bagging, Forest",
        "wine",
        (
            ExperimentModel("tree", "tree", _FULL),
            ExperimentModel("bagging", "bagging"),
            ExperimentModel("forest", "forest"),
        ),
        "surface",
        (
            "A single tree is sure everywhere and changes its mind at a line; the mean of 100 trees changes "
            "by degrees.",
            "The scores at the left rise from tree over bagging to forest, whose trees differ more.",
        ),
        columns=("flavanoids", "proline"),
        is_beside=True,
    ),
    Experiment(
        "error_parts",
        "Bias, Variance and Noise",
        "cosine",
        (
            ExperimentModel("tree of depth 10", "tree", {"max_depth": 10, "min_samples_leaf": 1}),
            ExperimentModel("tree of depth 2", "tree", {"max_depth": 2, "min_samples_leaf": 1}),
            ExperimentModel("forest", "forest", {"n_estimators": 50, "min_samples_leaf": 5}),
            ExperimentModel(
                "boosting", "boosting", {"n_estimators": 60, "max_depth": 2, "min_samples_leaf": 5}
            ),
        ),
        "surface",
        (
            "The tree of depth 10 errs by variance, hardly by bias; that of depth 2 by bias, and its few "
            "cuts lie elsewhere in every table.",
            "Forest and boosting leave little of either; the noise, 0.04, stays.",
        ),
        columns=("x", None),
        is_beside=True,
        study=BiasVarianceSettings(how=FRESH, n_sets=20),
    ),
    Experiment(
        "slanted_border",
        "Trees and Lines: a Slanted Border",
        "linear_border",
        _BORDERS,
        "surface",
        (
            "The true border is one slanted line: the two linear models find it from 240 rows.",
            "The tree can only climb it in steps, and gets more of the new rows wrong than they do.",
        ),
        columns=("x1", "x2"),
        is_beside=True,
    ),
    Experiment(
        "box",
        "Trees and Lines: a Box",
        "box",
        _BORDERS,
        "surface",
        (
            "Four cuts are all that the tree needs for a box; a line has no inside, so the linear models "
            "call every row outside.",
            "The rbf kernel bends its border around the box, and rounds the corners off.",
        ),
        columns=("x1", "x2"),
        is_beside=True,
    ),
    Experiment(
        "networks_outside",
        "Networks Outside the Data",
        "gap",
        (
            ExperimentModel("ten networks", "networks", {"n_estimators": 10, "max_epochs": 300}),
            ExperimentModel("one network", "networks", {"n_estimators": 1, "max_epochs": 300}),
        ),
        "surface",
        (
            "Among rows the ten networks agree; in the gap the inner band, their disagreement, opens.",
            "Select the one network: it has nobody to disagree with, and is as sure there as elsewhere.",
        ),
        columns=("x", None),
    ),
)


def find_experiment(key: str) -> Experiment:
    """Return the experiment of a key.

    Raises
    ------
    ParameterError
        There is none; the message lists the keys.
    """
    for experiment in EXPERIMENTS:
        if experiment.key == key:
            return experiment
    keys = ", ".join(experiment.key for experiment in EXPERIMENTS)
    raise ParameterError(f"there is no experiment {key!r}; there are {keys}")


def experiment_of(document: Document) -> Experiment | None:
    """Return what was set up in a document; None where nothing was, or a later version's experiment."""
    key = document.view_state.get(VIEW_STATE)
    return next((experiment for experiment in EXPERIMENTS if experiment.key == key), None)


def is_untouched(document: Document) -> bool:
    """Tell whether nothing but an experiment was set up in a document: nobody's work is in it.

    What a study found is somebody's: it is no step that can be undone.
    """
    from workbench.studies import Studies

    stack = document.undo_stack
    has_one_step = stack.count() == stack.index() == 1
    is_as_set_up = has_one_step and document.studies == Studies()
    return is_as_set_up and document.path is None and experiment_of(document) is not None


def set_up(document: Document, experiment: Experiment) -> list[str]:
    """Add an experiment's models to a document that its sample is open in; return their ids.

    It is one step that can be undone. The first model is selected.
    """
    document.undo_stack.beginMacro(f"Set up {experiment.title}")
    try:
        run_ids = [_add(document, model) for model in experiment.models]
        if experiment.study is not None:
            document.set_studies("Vary the models", bias_variance=experiment.study)
    finally:
        document.undo_stack.endMacro()
    document.set_view_state(VIEW_STATE, experiment.key)
    document.select_run(run_ids[0])
    return run_ids


def _add(document: Document, model: ExperimentModel) -> str:
    run_id = document.add_run(model.kind)
    document.set_parameters(run_id, model.parameters, f"Set {model.name}")
    document.rename_run(run_id, model.name)
    return run_id
