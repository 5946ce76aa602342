"""What deep ensembles of classes and of numbers share: fitting and answering."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.boosting.early_stopping import set_aside
from engine.errors import DataError, FitStopped, ParameterError
from engine.inputs import InputScaling, standardise, tell_preparing
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch, StopWatcher
from engine.neural.kernels.forward import answer_rows
from engine.neural.kernels.training import Recipe
from engine.neural.layout import Layout, constant_parameters
from engine.neural.member import Member, Rows, Training
from engine.neural.training import PREPARING_SHARE, Ensemble
from engine.notes import take_note
from engine.parameters import Parameter, check_before_fit

BLOCK_ROWS = 256  # rows that are computed together
ANSWER_ROWS = 4096  # rows answered by a task
ROWS_PER_STOP = 32_768  # rows answered between two looks at the stop
LARGEST_TARGET = 1e15  # of a standardised target, whose square is finite in single precision
SMALLEST_BATCH, LARGEST_BATCH, STEPS_PER_EPOCH = 16, 200, 20  # of a batch size that is not given

Floats = NDArray[np.float64]


class DeepEnsemble(Learner):
    """Networks that differ by their starts, averaged; a subclass says what their outputs mean."""

    combination = "rows"
    _is_classifier: bool
    _table: tuple[Parameter, ...]
    _n_learned_at_once: int
    n_estimators: int
    hidden_layer_sizes: Any
    activation: str
    learning_rate: float
    schedule: str
    max_epochs: int
    batch_size: int | None
    bootstrap: bool
    weight_decay: float
    dropout: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    calibrate: bool
    n_jobs: int | None
    random_state: Any
    class_weight: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Train the networks; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread after every epoch of a network and about
        every 30 ms in between; True ends the fit. Epochs done so far are kept, of networks that have not
        done one what there is of it.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
            What a row counts in its batch; batches themselves are drawn without regard to weights.
        X_val, y_val, sample_weight_val
            As X, y and sample_weight; for the validation loss, early stopping and scaling.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit; too few rows are there to set some aside; all networks diverged.
        """
        self._check_parameters()
        training = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier, class_weight=self.class_weight
        )
        validation = begin_validation(self, X_val, y_val, sample_weight_val, training)
        self.seed_ = draw_seed(self.random_state)
        if validation is None and self.early_stopping:
            training, validation = _set_aside(training, self.validation_fraction, self.seed_)
        if validation is None and self.calibrate:
            raise ParameterError(
                "calibrate is True but there is no validation part; pass one (X_val and y_val), or set "
                "early_stopping=True, which sets rows aside"
            )
        self._fit(training, validation, monitor or NULL_MONITOR)
        return self

    def _check_parameters(self) -> None:
        check_before_fit(self, self._table)

    def _fit(self, training: TrainingData, validation: TrainingData | None, monitor: FitMonitor) -> None:
        clock = Stopwatch()
        watcher = StopWatcher(monitor, IterationEvent("preparing", 0, training.n_features))
        self._learn_target(training, validation)
        inputs = self._learn_inputs(training, validation, watcher, clock)
        shared = self._shared(training, validation, inputs)
        members = [Member(number, shared) for number in range(int(self.n_estimators))]
        is_constant = self._is_constant
        if is_constant:
            watcher.tell(IterationEvent("training", 0, self.max_epochs, 1.0, clock.elapsed_s))
        elif not watcher.is_stopped:
            so_far = _SoFar(self, members)
            Ensemble(members, self.max_epochs, watcher, clock, self._in_units, so_far).train(self.n_jobs)
            so_far.let_go()
        is_done = is_constant or all(member.is_over for member in members)
        self.stopped_ = watcher.is_stopped and not is_done
        self._keep(members)
        self._keep_losses(members)
        self._be_uncalibrated()
        if self.calibrate and validation is not None and is_done and not is_constant:
            self._calibrate_unless_stopped(validation, watcher)

    def _calibrate_unless_stopped(self, validation: TrainingData, watcher: StopWatcher) -> None:
        """Choose the scaling on the validation part; a stop leaves the model without it."""

        def check() -> None:
            watcher.poll()
            if watcher.is_stopped:
                raise FitStopped

        try:
            pieces = []
            for start in range(0, validation.n_rows, ROWS_PER_STOP):
                check()
                pieces.append(self._encoded_outputs(validation.X[start : start + ROWS_PER_STOP]))
            self._calibrate(np.concatenate(pieces, axis=1), validation, check)
        except FitStopped:
            self.stopped_ = True

    def _learn_inputs(
        self, training: TrainingData, validation: TrainingData | None, watcher: StopWatcher, clock: Stopwatch
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """Standardise the table as the first share of the fit; what a stop leaves undone stays 0."""
        tell = partial(tell_preparing, watcher, clock, PREPARING_SHARE)
        inputs = standardise(training, validation, np.float32, tell)
        inputs.scaling.keep_in(self)
        return inputs.training, inputs.validation

    def _shared(
        self, training: TrainingData, validation: TrainingData | None,
        inputs: tuple[NDArray[np.float32], NDArray[np.float32] | None],
    ) -> Training:  # fmt: skip
        """Return what all members are trained with."""
        outputs = self._output_biases(training)
        layout = Layout.of([inputs[0].shape[1], *map(int, self.hidden_layer_sizes), len(outputs)])
        self.layer_sizes_ = layout.sizes
        self.batch_size_ = self._batch_size_for(training.n_rows)
        n_steps = -(-training.n_rows // self.batch_size_) * int(self.max_epochs)
        recipe = Recipe(
            loss=self._loss_code, is_tanh=self.activation == "tanh", batch_size=self.batch_size_,
            block_rows=min(BLOCK_ROWS, self.batch_size_), learning_rate=float(self.learning_rate),
            weight_decay=float(self.weight_decay), dropout=float(self.dropout),
            n_steps_planned=n_steps if self.schedule == "cosine" else 0,
            variance_floor=float(getattr(self, "variance_floor", 1.0)),
        )  # fmt: skip
        mean_weight = float(training.sample_weight.mean())
        parts = [
            None if part is None or table is None else self._rows_of(part, table, mean_weight)
            for part, table in zip((training, validation), inputs, strict=True)
        ]
        assert parts[0] is not None
        return Training(
            rows=parts[0], validation=parts[1], layout=layout, recipe=recipe, output_biases=outputs,
            n_learned_at_once=self._n_learned_at_once or len(outputs),
            warm_up=self._warm_up, max_epochs=int(self.max_epochs),
            patience=int(self.n_iter_no_change) if self.early_stopping else 0, tol=float(self.tol),
            bootstrap=bool(self.bootstrap), seed=self.seed_,
        )  # fmt: skip

    def _rows_of(self, data: TrainingData, inputs: NDArray[np.float32], mean_weight: float) -> Rows:
        standardised = np.clip(self._standardised(data.y), -LARGEST_TARGET, LARGEST_TARGET)
        targets = dtypes.as_input(standardised, np.float32)
        return Rows(inputs, targets, dtypes.as_input(data.sample_weight / mean_weight, np.float32))

    def _batch_size_for(self, n_rows: int) -> int:
        if self.batch_size is None:
            wanted = min(max(n_rows // STEPS_PER_EPOCH, SMALLEST_BATCH), LARGEST_BATCH)
            return min(wanted, n_rows)
        if self.batch_size > n_rows:
            take_note(
                self,
                f"batch_size is {self.batch_size} but there are {n_rows} training rows; trained with a batch "
                f"size of {n_rows}",
            )
        return min(int(self.batch_size), n_rows)

    def _keep(self, members: list[Member]) -> None:
        """Keep what the members have learned; say which diverged, and refuse where all did."""
        diverged = [(member.number, member.diverged_in) for member in members if member.diverged_in]
        usable = [
            member
            for member in members
            if member.kept is not None and (member.best_epoch > 0 or not member.diverged_in)
        ]
        has_trained = [member for member in usable if member.best_epoch > 0]
        kept = has_trained or usable  # epochs cut short only where there is nothing else
        if not kept and diverged:
            raise DataError(
                f"all {len(diverged)} networks diverged (infinite numbers) in their first epoch; set a "
                f"smaller learning_rate than {self.learning_rate:g}, or look for extreme values"
            )
        layout = Layout.of(self.layer_sizes_)
        self.is_constant_ = not kept
        self._take([_kept_of(member) for member in kept] or [_Kept(0, 0, self._constant(layout), math.nan)])
        self.diverged_ = diverged
        if diverged:
            self._warn_of_divergence(diverged)

    def _constant(self, layout: Layout) -> NDArray[np.float32]:
        return constant_parameters(layout, self._start_biases)

    def _take(self, kept: list[_Kept]) -> None:
        """Set what is fitted of the members that are kept."""
        self.parameters_ = np.stack([member.parameters for member in kept])
        self.members_ = np.array([member.number for member in kept], np.int64)
        self.n_epochs_ = np.array([member.epoch for member in kept], np.int64)
        self._learn_noise([member.loss for member in kept])

    def _warn_of_divergence(self, diverged: list[tuple[int, int]]) -> None:
        told = ", ".join(f"network {number + 1} in epoch {epoch}" for number, epoch in diverged)
        lost = len([number for number, _ in diverged if number not in self.members_])
        n_back = len(diverged) - lost
        fates = ((lost, "left out"), (n_back, "put back to an earlier epoch"))
        fate = ", ".join(f"{count} {words}" for count, words in fates if count)
        take_note(
            self,
            f"numbers became infinite: {told}; {fate}; a smaller learning_rate than {self.learning_rate:g} "
            "keeps them",
        )

    def _keep_losses(self, members: list[Member]) -> None:
        n_epochs = max(member.n_epochs for member in members)
        for name in ("train", "val"):
            losses = np.full((len(members), n_epochs), np.nan)
            for row, member in zip(losses, members, strict=True):
                of_member = getattr(member, f"{name}_losses")
                row[: len(of_member)] = [self._in_units(loss) for loss in of_member]
            setattr(self, f"{name}_loss_", losses)

    def _encoded_outputs(self, encoded: NDArray[Any]) -> Floats:
        """Return all members' outputs for an encoded table: float64 (n_members, n_rows, n_outputs).

        A row's numbers have the same bits whatever rows are beside it.
        """
        layout = Layout.of(self.layer_sizes_)
        scaling = InputScaling.kept_in(self)
        parameters = dtypes.as_input(self.parameters_, np.float64)
        outputs = np.empty((len(parameters), len(encoded), int(layout.sizes[-1])))
        is_tanh = self.activation == "tanh"
        parallel.limit_blas()

        def answer(_chunk_idx: int, start: int, stop: int) -> None:
            n_rows = stop - start
            inputs = np.zeros((-(-n_rows // BLOCK_ROWS) * BLOCK_ROWS, scaling.n_inputs))
            scaling.fill(encoded[start:stop], inputs[:n_rows])
            units = np.empty(BLOCK_ROWS * layout.n_units)
            answers = np.empty((len(inputs), outputs.shape[2]))
            for member, of_member in enumerate(parameters):
                answer_rows(
                    inputs, of_member, layout.sizes, layout.starts, is_tanh, BLOCK_ROWS, units, answers
                )
                outputs[member, start:stop] = answers[:n_rows]

        parallel.for_chunks(answer, len(encoded), ANSWER_ROWS, self.n_jobs)
        return outputs

    def _outputs(self, X: Any) -> Floats:
        return self._encoded_outputs(check_X(self, X))

    def member_layers(self, member: int) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return the weights (n_below, n_here) and biases (n_here,) of each layer of a member that was kept.

        They work on standardised inputs.
        """
        return Layout.of(self.layer_sizes_).split(self.parameters_[member])

    @property
    def _is_constant(self) -> bool:
        raise NotImplementedError

    @property
    def _loss_code(self) -> int:
        raise NotImplementedError

    @property
    def _warm_up(self) -> int:
        """Epochs before all outputs are learned."""
        return 0

    def _learn_target(self, training: TrainingData, validation: TrainingData | None) -> None:
        """Learn what targets are standardised by, or which classes have rows."""
        raise NotImplementedError

    def _standardised(self, y: Floats) -> Floats:
        raise NotImplementedError

    def _in_units(self, loss: float) -> float:
        """Return a loss of the standardised target as one of the target."""
        raise NotImplementedError

    def _output_biases(self, training: TrainingData) -> NDArray[np.float32]:
        self._start_biases = self._biases_for(training)
        return self._start_biases

    def _biases_for(self, training: TrainingData) -> NDArray[np.float32]:
        """Return what a network answers before it is trained."""
        raise NotImplementedError

    def _learn_noise(self, member_losses: list[float]) -> None:
        """Learn what no network says of itself, from the loss of each; NaN before its first epoch is done."""

    def _be_uncalibrated(self) -> None:
        raise NotImplementedError

    def _calibrate(self, outputs: Floats, validation: TrainingData, check: Callable[[], None]) -> None:
        """Choose the scaling by the outputs for the validation part; `check` raises FitStopped."""
        raise NotImplementedError


class _Kept(NamedTuple):
    """What a member leaves behind; its loss is the validation loss where there is one."""

    number: int
    epoch: int
    parameters: NDArray[np.float32]
    loss: float


def _kept_of(member: Member) -> _Kept:
    assert member.kept is not None
    loss = math.nan
    if member.best_epoch > 0:
        on_validation = member.val_losses[member.best_epoch - 1]
        loss = member.train_losses[member.best_epoch - 1] if math.isnan(on_validation) else on_validation
    return _Kept(member.number, member.best_epoch, member.kept, loss)


class _SoFar:
    """Makes the model of what the members have learned by the time it is called, in any thread."""

    def __init__(self, model: DeepEnsemble, members: list[Member]) -> None:
        self._model, self._members = copy.copy(model), members
        self._kept: list[_Kept] | None = None

    def __call__(self) -> Any:
        made = copy.copy(self._model)
        made._take(self._kept or self._look())
        made.diverged_, made.stopped_, made.is_constant_ = [], True, False
        made._be_uncalibrated()
        return made

    def _look(self) -> list[_Kept]:
        return [_kept_of(member) for member in self._members if member.best_epoch > 0]

    def let_go(self) -> None:
        """Forget the members and the tables they were trained on: training is over."""
        self._kept, self._members = self._look(), []


def _set_aside(
    training: TrainingData, validation_fraction: float, seed: int
) -> tuple[TrainingData, TrainingData]:
    """Set rows aside for early stopping, two or more: one row's loss says nothing (case C30)."""
    trained, validation = set_aside(training, validation_fraction, seed)
    if validation.n_rows >= 2 and trained.n_rows >= 1:
        return trained, validation
    n_rows = training.n_rows
    cure = (
        f"set validation_fraction to {math.ceil(150 / n_rows) / 100:g} or more"
        if n_rows >= 3
        else f"give at least 3 rows (there are {n_rows})"
    )
    raise DataError(
        f"the validation part would have {validation.n_rows} of {n_rows} rows, fewer than 2: {cure}, add a "
        "validation part (X_val and y_val), or set early_stopping=False"
    )
