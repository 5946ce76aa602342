"""`SVMClassifier` and `SVMRegressor`: support vector machines of scikit-learn on prepared columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC

from engine.base import TrainingData
from engine.classical.base import ClassicalClassifier, ClassicalRegressor
from engine.classical.multiclass import OneVsAll
from engine.classical.parameters import SVM_CLASSIFIER, SVM_REGRESSOR
from engine.errors import ParameterError
from engine.monitor import FitMonitor

Floats = NDArray[np.float64]
N_FOLDS = 5  # of the calibration
MAX_STEPS = 100_000  # of the linear solver of Crammer and Singer's machine

_DOC = """Support vector machine for {task} (Boser, Guyon, Vapnik 1992; {paper}).

    scikit-learn's, on columns prepared as in `engine.classical.columns`.

    Parameters
    ----------
    kernel : "rbf" or "linear", default "rbf"
        exp(-gamma |x - z|^2), or the product of the columns.
    C : float, default 1
        What a row on the wrong side costs: larger follows the training rows more closely.
    gamma : float or None, default None
        Of the rbf kernel; larger is narrower. None: 1 / number of prepared columns.{own}
    tol : float, default 0.001
        The solver ends where its conditions hold within this.
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.{seed}

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        Over the encoded table.
    features_ : tuple of FeatureSpec{fitted}
    stopped_ : bool
        A monitor ended the fit; the model is a constant.
    """


class SVMClassifier(ClassicalClassifier):  # noqa: D101 - see _DOC
    _table = SVM_CLASSIFIER
    __doc__ = _DOC.format(
        task="classes",
        paper="more classes: Crammer, Singer 2001",
        own="""
    multiclass : "all_vs_all", "one_vs_all" or "direct", default "all_vs_all"
        With three classes or more: a machine for every two classes, for every class against the others, or
        one for all (Crammer and Singer's, for the linear kernel only).
    answers : "calibrated" or "decision", default "calibrated"
        "calibrated": probabilities, by a logistic curve over decision values of folds (Platt 1999);
        `predict_proba` gives them. "decision": the decision values as they are, by `decision_function`.
        The only row of a class is in every fold; `notes_` says so.
    class_weight : dict, "balanced" or None, default None""",
        seed="""
    random_state : None, int or generator
        For the folds of the calibration, and the direct machine.""",
        fitted="\n    classes_ : ndarray (n_classes,)\n    seed_ : int",
    )

    def __init__(
        self, *, kernel: str = "rbf", C: float = 1.0, gamma: float | None = None,
        multiclass: str = "all_vs_all", answers: str = "calibrated", tol: float = 1e-3,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.multiclass = multiclass
        self.answers = answers
        self.tol = tol
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    @property
    def has_probabilities(self) -> bool:
        return self.answers == "calibrated"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.multiclass == "direct" and self.kernel != "linear":
            raise ParameterError(
                "multiclass is 'direct', the machine of Crammer and Singer, which has no kernel 'rbf'; enter "
                "kernel 'linear', or multiclass 'all_vs_all' or 'one_vs_all'"
            )

    def _make_model(self, data: TrainingData) -> Any:
        machine = self._make_machine()
        if not self.has_probabilities:
            return machine
        return CalibratedClassifierCV(machine, cv=_folds(data, self.seed_), ensemble=False)

    def _fitted(self, data: TrainingData, monitor: FitMonitor) -> Pipeline:
        if self.has_probabilities:
            data = self._calibrated_with(data)
        pipeline = super()._fitted(data, monitor)
        machine = pipeline[-1]
        if self.has_probabilities:
            machine.set_params(cv=None)  # the rows of its folds are no part of the model
            machine = machine.calibrated_classifiers_[0].estimator
        if isinstance(machine, LinearSVC) and np.max(machine.n_iter_) >= MAX_STEPS:
            self._note_early_end(MAX_STEPS, "set a smaller C, or a larger tol")
        return pipeline

    def _calibrated_with(self, data: TrainingData) -> TrainingData:
        """Return the rows to deal into folds, and note the classes whose curve is drawn by rows they saw."""
        dealt = _with_lone_rows_twice(data)
        if n_lone := dealt.n_rows - data.n_rows:
            # no label: a model of models gives its parts numbers for classes
            note = (
                f"{n_lone} class{'es have' if n_lone > 1 else ' has'} one training row, which the machine "
                "had seen when it was calibrated: such a class's probability is too sure"
            )
            self.notes_: tuple[str, ...] = (*self.notes_, note)
        return dealt

    def _make_machine(self) -> Any:
        if self.multiclass == "direct":
            seed = np.random.RandomState(self.seed_ % 2**32)
            return LinearSVC(
                C=self.C, multi_class="crammer_singer", tol=self.tol, max_iter=MAX_STEPS,
                random_state=seed.randint(2**31 - 1),
            )  # fmt: skip
        gamma = "auto" if self.gamma is None else self.gamma
        machine = SVC(C=self.C, kernel=self.kernel, gamma=gamma, tol=self.tol)
        return machine if self.multiclass == "all_vs_all" else OneVsAll(machine)


def _with_lone_rows_twice(data: TrainingData) -> TrainingData:
    """Give the only row of a class twice, of half its weight: it is in all folds, the machine is the same."""
    codes = data.y.astype(np.intp)
    lone = np.flatnonzero(np.bincount(codes)[codes] == 1)
    if not len(lone):
        return data
    rows = np.concatenate([np.arange(data.n_rows), lone])
    weights = data.sample_weight[rows]
    weights[lone] /= 2
    weights[data.n_rows :] /= 2
    return replace(
        data, X=data.X[rows], y=data.y[rows], sample_weight=weights, rows=data.rows[rows], is_weighted=True
    )


def _folds(data: TrainingData, seed: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Deal the rows into folds in which every class is; every class has two rows."""
    counts = np.bincount(data.y.astype(np.intp))
    state = np.random.RandomState(seed % 2**32)
    dealt = StratifiedKFold(min(N_FOLDS, int(counts[counts > 0].min())), shuffle=True, random_state=state)
    return list(dealt.split(data.X, data.y))


class SVMRegressor(ClassicalRegressor):  # noqa: D101 - see _DOC
    _table = SVM_REGRESSOR
    _scales_target = True
    __doc__ = _DOC.format(
        task="numbers",
        paper="Drucker et al. 1997",
        own="""
    epsilon : float, default 0.1
        Errors up to so many standard deviations of the target cost nothing.""",
        seed="",
        fitted="",
    )

    def __init__(
        self, *, kernel: str = "rbf", C: float = 1.0, gamma: float | None = None, epsilon: float = 0.1,
        tol: float = 1e-3, categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.epsilon = epsilon
        self.tol = tol
        self.categorical_features = categorical_features

    def _make_model(self, data: TrainingData) -> SVR:
        gamma = "auto" if self.gamma is None else self.gamma
        return SVR(kernel=self.kernel, C=self.C, gamma=gamma, epsilon=self.epsilon, tol=self.tol)
