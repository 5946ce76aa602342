"""All members trained side by side: epochs in turn, progress, stop."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from engine import parallel
from engine.monitor import IterationEvent, Stopwatch, StopWatcher
from engine.neural.member import Epoch, Member

PREPARING_SHARE = 0.02  # of the whole fit's progress: the table is standardised


class Ensemble:
    """Members in training.

    They take turns, an epoch each, so that a stop at any time leaves all of them about equally far. A
    member's epochs follow one another in whichever thread comes by: its numbers know nothing of others.

    Parameters
    ----------
    members : sequence of Member
    max_epochs : int
    watcher : StopWatcher
        Of the thread that fits.
    clock : Stopwatch
    in_units : callable
        Turns a loss of the standardised target into one of the target.
    so_far : callable
        Returns the model as the members are by then.
    """

    def __init__(
        self, members: Sequence[Member], max_epochs: int, watcher: StopWatcher, clock: Stopwatch,
        in_units: Callable[[float], float], so_far: Callable[[], Any],
    ) -> None:  # fmt: skip
        self._members, self._max_epochs, self._watcher, self._clock = members, max_epochs, watcher, clock
        self._in_units, self._so_far = in_units, so_far
        self._locks = [Lock() for _ in members]
        self._done: deque[Epoch] = deque()
        self._fraction = PREPARING_SHARE

    def train(self, n_jobs: int | None) -> None:
        """Train until all is done or a stop came."""
        n_members = len(self._members)
        n_threads = min(parallel.resolve_jobs(n_jobs), n_members)
        parallel.limit_blas()
        self._watcher.event = IterationEvent(
            "training", 0, self._max_epochs, PREPARING_SHARE, self._clock.elapsed_s
        )
        parallel.for_chunks(
            self._advance, n_members * self._max_epochs, 1, n_threads, while_waiting=self._look
        )
        self._tell()
        if self._fraction < 1 and not self._watcher.is_stopped:  # members that stopped early, or diverged
            self._watcher.tell(
                IterationEvent("training", self._max_epochs, self._max_epochs, 1.0, self._clock.elapsed_s)
            )

    def _advance(self, _chunk_idx: int, start: int, _stop: int) -> None:
        member = self._members[start % len(self._members)]
        with self._locks[member.number]:
            epoch = member.advance(self._ask)
        if epoch is not None:
            self._done.append(epoch)
        if self._watcher.is_owner:
            self._tell()

    def _ask(self) -> bool:
        return self._watcher.ask(0, 0.0)

    def _look(self) -> None:
        if not self._tell():
            self._watcher.poll()

    def _tell(self) -> bool:
        """Tell the monitor of the epochs done since; False where there were none."""
        has_told = bool(self._done)
        while self._done:
            epoch = self._done.popleft()
            left = [0 if m.is_over else self._max_epochs - m.n_epochs for m in self._members]
            if not any(left) and not self._done:
                self._fraction = 1.0
            else:
                n_all = self._max_epochs * len(self._members)
                reached = 1 - (1 - PREPARING_SHARE) * (sum(left) + len(self._done) + 1) / (n_all + 1)
                self._fraction = max(self._fraction, reached)
            val_loss = None if math.isnan(epoch.val_loss) else self._in_units(epoch.val_loss)
            self._watcher.tell(
                IterationEvent(
                    "training", epoch.number, self._max_epochs, self._fraction, self._clock.elapsed_s,
                    train_loss=self._in_units(epoch.train_loss), val_loss=val_loss, member=epoch.member,
                    so_far=self._so_far,
                )
            )  # fmt: skip
        return has_told
