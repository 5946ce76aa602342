"""`StackingClassifier` and `StackingRegressor`: a meta-model on base models' out-of-fold answers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from engine import parallel, pieces
from engine.base import ProbabilityClassifier, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.composition import Composition, Tasks, constant_of, mean_importances, target_of
from engine.errors import FitStopped, ParameterError
from engine.folds import deal_folds, group_numbers
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.notes import notes_of
from engine.other_learners import Rows, StopOnly, check_learner, fit_learner, seeded
from engine.parameters import check_parameters
from engine.said import said_of_classes, said_of_numbers
from engine.stacking.defaults import default_bases, default_meta_model
from engine.stacking.meta import base_weights, meta_columns, meta_names, meta_rows
from engine.stacking.out_of_fold import OF_FOLDS, BaseFits, FoldFit, OutOfFold
from engine.stacking.parameters import STACKING_CLASSIFIER, STACKING_REGRESSOR
from engine.stacking.tuned import BaseFitter, Part, score_of

Floats = NDArray[np.float64]
BASES_SHARE = 0.95  # of the whole fit's progress; the meta-model is the rest

_DOC = """Stacking (Wolpert 1992, Breiman 1996): a meta-model on the out-of-fold answers of base models.

    The training rows are dealt into folds. For each fold every base model is fitted on the others and asked
    about the fold: these answers are what the meta-model learns from. For prediction every base model is
    fitted on all rows.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default None
        The base models with a name each; None is k nearest neighbours and a support vector machine. Copies
        are fitted; seeds that are set stay. A frame goes to them as it is.
    final_estimator : estimator or None, default None
        The meta-model; None is {final}.
    cv : int, default 5
        Number of folds.
    folds : {folds}
        How rows are dealt; grouped needs `groups` in `fit`.
    n_repeats : int, default 1
        Deal the rows anew so many times; the answers are averaged.
    passthrough : bool, default False
        Give the meta-model the table's columns too.
    grids : dict of str to dict, or None, default None
        By base model's name, a dict of parameter names to values: the best combination is chosen by `cv`
        folds inside the rows of each fit.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    random_state : None, int or generator

    Attributes
    ----------
    estimators_ : list of fitted estimators
        The base models on all rows; they know classes by number.
    final_estimator_ : fitted estimator or None
        None where a stop came before it: the base models' answers are then averaged.
    oof_predictions_ : float64 (n_samples, n_models, n_classes or 1)
        What base models said of rows they did not see, mean over the repeats; NaN in rows of weight 0.
    oof_repeats_ : float64 (n_repeats, n_samples, n_models, n_classes or 1)
        The same for each repeat.
    oof_fold_ : int64 (n_samples, n_repeats)
        Fold of every row; -1 in rows of weight 0.
    oof_scores_ : float64 (n_models,)
        Each base model's share of right rows, or R squared, out of fold.
    oof_score_ : float
        The stack's own: of each fold by a meta-model fitted on the out-of-fold answers of the others.
    fold_rows_ : tuple of FoldFit
        The rows that each fit outside a fold was given, see `engine.stacking.leakage.check_leakage`.
    meta_names_ : tuple of str
        Names of the meta-model's columns; of two classes the second's share stands for both.
    base_weights_ : float64 (n_models,)
        Share of each base model in a linear meta-model, see `engine.stacking.meta.base_weights`.
    settings_ : tuple of dict
        Settings chosen for each base model on all rows.
    notes_ : tuple of str
        What one should know of the folds: classes with fewer rows than folds, and what base models noted that
        were fitted without a fold; see `engine.notes.notes_of` for those in use.
    baseline_ : float64 (n_classes,) or (1,)
        Class shares or mean: what is answered where a stop came before any model was there.
    feature_importances_ : float64 (n_features,)
        Mean over the base models; only where all have importances.
    features_ : tuple of FeatureSpec{classes}
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early.
    """


class _Stacking(Composition):
    _table: tuple[Any, ...]
    final_estimator: Any
    cv: int
    folds: str
    n_repeats: int
    passthrough: bool
    grids: Any
    n_jobs: Any
    random_state: Any

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None, groups: Any = None,
    ) -> Self:  # fmt: skip
        """Fit base models and meta-model; it may end early and is usable all the same.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight; checked and otherwise not used.
        monitor : FitMonitor, optional
            Told of every fit of a base model, and every 30 ms in between; True stops.
        groups : array-like (n_samples,), optional
            Rows of one group are in the same fold, with ``folds="grouped"``; a row without one (a missing
            label, or a number below 0) is a group of its own.

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit, see `engine.base.begin_fit`; or there are fewer rows than folds.
        """
        check_parameters(self, [parameter for parameter in self._table if parameter.name != "random_state"])
        named, meta_model = self._named(), self._meta_model()
        self._check_grids(named)
        data = begin_fit(self, X, y, sample_weight, is_classifier=self._is_classifier)
        begin_validation(self, X_val, y_val, sample_weight_val, data)
        part = self._part_of(X, data, groups)
        self.seed_, self.baseline_ = draw_seed(self.random_state), constant_of(data)
        self.stopped_ = False
        fold_of = self._deal(part)
        fitter = BaseFitter(self.features_, data.n_classes, self.folds, self.cv)
        fits = BaseFits(named, self.grids or {}, part, fold_of, fitter, self.seed_)
        tasks = fits.tell_of(monitor or NULL_MONITOR, BASES_SHARE)
        said = self._fit_bases(fits, tasks, part, data)
        self._keep_out_of_fold(said, fold_of, data)
        self.meta_names_ = tuple(meta_names([name for name, _ in named], getattr(self, "classes_", None)))
        self._fit_meta_model(meta_model, said, part, fold_of, tasks)
        self._keep_importances()
        return self

    def _meta_model(self) -> Any:
        if self.final_estimator is None:
            return default_meta_model(is_classification=self._is_classifier)
        check_learner("final_estimator", self.final_estimator, is_classification=self._is_classifier)
        return self.final_estimator

    def _check_grids(self, named: list[tuple[str, Any]]) -> None:
        known = dict(named)
        for name, grid in (self.grids or {}).items():
            if name not in known:
                raise ParameterError(f"grids names {name!r}, but the base models are {list(known)}")
            for parameter in grid:
                if parameter not in known[name].get_params():
                    raise ParameterError(f"grids of {name!r} names {parameter!r}, which it has not")

    def _part_of(self, X: Any, data: TrainingData, groups: Any) -> Part:
        codes = None if groups is None else group_numbers(groups, data.n_samples)[data.rows]
        rows = Rows.of(X, data.X, data.rows)
        return Part(rows, target_of(data), data.sample_weight, data.is_weighted, codes)

    def _deal(self, part: Part) -> NDArray[np.int64]:
        """Return a fold of every row for every repeat, and note the classes that are not in every fold."""
        dealt = [
            deal_folds(
                part.y.astype(np.float64), self.cv, self.folds,
                np.random.SeedSequence(self.seed_, spawn_key=(repeat, OF_FOLDS)), part.groups,
            )
            for repeat in range(self.n_repeats)
        ]  # fmt: skip
        self.notes_: tuple[str, ...] = ()
        if self._is_classifier:
            counts = np.bincount(part.y, minlength=len(self.classes_))
            self.notes_ = tuple(
                f"class {label!s} has {n} row{'s' * (n != 1)}, fewer than {self.cv} folds"
                for label, n in zip(self.classes_.tolist(), counts.tolist(), strict=True)
                if 0 < n < self.cv
            )
        return np.column_stack(dealt)

    def _fit_bases(self, fits: BaseFits, tasks: Tasks, part: Part, data: TrainingData) -> OutOfFold:
        n_models = sum(task.fold is None for task in fits.tasks)
        said = OutOfFold(part, n_models, max(data.n_classes, 1), self.n_repeats)
        of_all_rows, fold_rows, noted = [], [], dict[int, list[str]]()
        for done in tasks.run(fits.fit, self.n_jobs, "; ".join(self.notes_)):
            if done.task.fold is None:
                of_all_rows.append(done.fitted)
            else:
                said.add(done)
                noted.setdefault(done.task.member, []).extend(notes_of(done.fitted.model)[:1])
                known = (data.rows[done.rows], data.rows[done.asked], done.fitted.settings)
                fold_rows.append(FoldFit(done.task.member, done.task.repeat, done.task.fold, *known))
        self._note_of_folds(noted)
        whole = [fitted for fitted in of_all_rows if not getattr(fitted.model, "stopped_", False)]
        kept = of_all_rows if len(whole) == n_models or not whole else whole
        self.estimators_ = [fitted.model for fitted in kept]
        self.settings_ = tuple(fitted.settings for fitted in kept)
        self.fold_rows_ = tuple(fold_rows) if not tasks.is_stopped else ()
        return said

    def _note_of_folds(self, noted: dict[int, list[str]]) -> None:
        """Add the first note of each base model that was fitted without a fold, which nobody keeps."""
        names = self.names_of_models
        self.notes_ += tuple(
            f"{names[member]}, in {len(notes)} of its fits without a fold: {notes[0]}"
            for member, notes in noted.items()
            if notes
        )

    def _keep_out_of_fold(self, said: OutOfFold, fold_of: NDArray[np.int64], data: TrainingData) -> None:
        n_repeats, _, n_models, n_outputs = said.values.shape
        self.oof_fold_ = np.full((data.n_samples, n_repeats), -1, np.int64)
        self.oof_fold_[data.rows] = fold_of
        self.oof_repeats_ = np.full((n_repeats, data.n_samples, n_models, n_outputs), np.nan)
        self.oof_repeats_[:, data.rows] = said.values
        self.oof_predictions_ = self.oof_repeats_.mean(axis=0)
        self.oof_scores_ = said.scores()

    def _fit_meta_model(
        self, meta_model: Any, said: OutOfFold, part: Part, fold_of: NDArray[np.int64], tasks: Tasks
    ) -> None:
        self.final_estimator_, self.oof_score_ = None, float("nan")
        self.__dict__.pop("base_weights_", None)
        self.stopped_ = tasks.is_stopped or bool(np.isnan(said.values).any())
        if self.stopped_:
            return
        columns = meta_columns(said.means())
        whole = part._replace(
            rows=meta_rows(columns, self.meta_names_, part.rows if self.passthrough else None)
        )
        n_seeds = len(tasks.names)
        copies = [seeded(meta_model, self.seed_, n_seeds + i, only_open=True) for i in range(self.cv + 1)]
        score = self._score_out_of_fold(copies[1:], whole, fold_of[:, 0], tasks)
        if tasks.is_stopped:
            self.stopped_ = True
            return
        self.oof_score_, self.final_estimator_ = score, _fit_on(copies[0], whole, tasks)
        weights = base_weights(self.final_estimator_, columns, said.values.shape[2])
        if weights is not None:
            self.base_weights_ = weights
        self.stopped_ = any(getattr(m, "stopped_", False) for m in (*self.estimators_, self.final_estimator_))
        tasks.tell_end()

    def _score_out_of_fold(
        self, copies: list[Any], part: Part, fold_of: NDArray[np.int64], tasks: Tasks
    ) -> float:
        """Return the score of meta-models on folds that they were not fitted on."""
        answers = np.empty((len(part.y), len(self.baseline_)))
        for fold, copy in enumerate(copies):
            outside = np.flatnonzero(fold_of == fold)
            fitted = _fit_on(copy, part.take(np.flatnonzero(fold_of != fold)), tasks)
            with suppress(FitStopped), pieces.asking(lambda _work: tasks.ask()):
                answers[outside] = self._said_by_meta_model(fitted, part.take(outside).rows)
            if tasks.is_stopped:
                return float("nan")
        return score_of(answers, part.y, part.weights)

    def _said_by_meta_model(self, meta_model: Any, rows: Rows) -> Floats:
        features = getattr(meta_model, "features_", ())
        if not self._is_classifier:
            return said_of_numbers(meta_model, rows, features)[:, np.newaxis]
        places = np.asarray(meta_model.classes_, np.intp)
        return said_of_classes(meta_model, rows, features, places, len(self.classes_))

    def _keep_importances(self) -> None:
        self.__dict__.pop("feature_importances_", None)
        found = mean_importances(self.estimators_, self.n_features_in_)
        if found is not None:
            self.feature_importances_ = found

    def _said_by_bases(self, rows: Rows) -> Floats:
        """Return what the base models say: float64 (n_rows, n_models, n_classes or 1)."""
        n_classes = len(self.classes_) if self._is_classifier else 0
        fitter = BaseFitter(self.features_, n_classes, self.folds, self.cv)
        found = parallel.map_tasks(lambda model: fitter.answer(model, rows), self.estimators_, self.n_jobs)
        return np.stack(list(found), axis=1)

    def _answer_rows(self, rows: Rows) -> Floats:
        if not self.estimators_:
            return np.tile(self.baseline_, (len(rows.encoded), 1))
        said = self._said_by_bases(rows)
        if self.final_estimator_ is None:
            return np.asarray(said.mean(axis=1))
        table = rows if self.passthrough else None
        return self._said_by_meta_model(
            self.final_estimator_, meta_rows(meta_columns(said), self.meta_names_, table)
        )

    def _answer(self, X: Any) -> Floats:
        check_is_fitted(self, "estimators_")
        return self._answer_rows(Rows.of(X, check_X(self, X)))

    def base_answers(self, X: Any) -> Floats:
        """Return what the base models say, as the meta-model reads it: float64 (n_samples, n_columns)."""
        check_is_fitted(self, "estimators_")
        return meta_columns(self._said_by_bases(Rows.of(X, check_X(self, X))))

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return probabilities or predictions of an encoded table: float64 (n_rows, n_classes or 1).

        Raises
        ------
        DataError
            A model that is not of this package was fitted on a frame.
        """
        return self._answer_rows(Rows(table, None if hasattr(self, "feature_names_in_") else table))

    def _default_estimators(self) -> list[tuple[str, Any]]:
        return default_bases(is_classification=self._is_classifier)


def _fit_on(meta_model: Any, part: Part, tasks: Tasks) -> Any:
    weights = part.weights if part.is_weighted else None
    return fit_learner(meta_model, part.rows.given, part.y, weights, StopOnly(tasks.ask))


class StackingClassifier(ProbabilityClassifier, _Stacking):  # noqa: D101 - set below
    _is_classifier = True
    _table = STACKING_CLASSIFIER
    __doc__ = _DOC.format(
        final="logistic regression",
        folds='"stratified", "plain" or "grouped", default "stratified"',
        classes="\n    classes_ : ndarray (n_classes,)",
    )

    def __init__(
        self, estimators: Any = None, final_estimator: Any = None, *, cv: int = 5, folds: str = "stratified",
        n_repeats: int = 1, passthrough: bool = False, grids: Any = None, n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.folds = folds
        self.n_repeats = n_repeats
        self.passthrough = passthrough
        self.grids = grids
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> Floats:
        """Return the meta-model's probabilities: float64 (n_samples, n_classes)."""
        return self._answer(X)


class StackingRegressor(RegressorMixin, _Stacking):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = STACKING_REGRESSOR
    __doc__ = _DOC.format(final="ridge regression", folds='"plain" or "grouped", default "plain"', classes="")

    def __init__(
        self, estimators: Any = None, final_estimator: Any = None, *, cv: int = 5, folds: str = "plain",
        n_repeats: int = 1, passthrough: bool = False, grids: Any = None, n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.folds = folds
        self.n_repeats = n_repeats
        self.passthrough = passthrough
        self.grids = grids
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """Return the meta-model's prediction: float64 (n_samples,)."""
        return self._answer(X)[:, 0]
