"""What is kept of a long run: every state or, where that would take too much memory, every few."""

from __future__ import annotations

from typing import Generic, TypeVar

State = TypeVar("State")


class Thinned(Generic[State]):
    """States by the number of steps that led to them, thinned out to every 2nd, 4th, ... as they grow.

    Parameters
    ----------
    n_bytes : int
        Which they may take together; the first state (of 0 steps) and one other stay beyond it.
    """

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes, self._step = n_bytes, 1
        self._kept: dict[int, State] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def wants(self, n_steps: int) -> bool:
        """Tell whether the state after some steps is to be kept, and is not yet."""
        return n_steps % self._step == 0 and n_steps not in self._kept

    def keep(self, n_steps: int, state: State, n_bytes_each: int) -> None:
        """Keep a state that is wanted."""
        self._kept[n_steps] = state
        if len(self._kept) * n_bytes_each > self._n_bytes and len(self._kept) - (0 in self._kept) > 1:
            self._step *= 2
            self._kept = {n: state for n, state in self._kept.items() if n % self._step == 0}

    def last(self, n_steps: int) -> tuple[int, State] | None:
        """Return the last state kept after at most so many steps, and after how many; None without one."""
        n_known = max((n for n in self._kept if n <= n_steps), default=None)
        return None if n_known is None else (n_known, self._kept[n_known])
