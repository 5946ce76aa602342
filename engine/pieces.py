"""Slow answers by pieces of rows, between which whoever waits for them is asked whether to go on.

`predict` takes no monitor. Who has one says so with `asking`; models that answer slowly ask between pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engine.errors import FitStopped

Ask = Callable[[float], bool | None]

_ask: ContextVar[Ask | None] = ContextVar("ask", default=None)


@contextmanager
def asking(ask: Ask) -> Iterator[None]:
    """Let models that answer inside the block, and in tasks begun there, ask between pieces.

    Parameters
    ----------
    ask : callable
        Is told how much work the next piece is: about 1e9 in a second; 0 of models that answer quickly.
        True stops the answer by FitStopped; it may also raise. Called in whatever thread answers.
    """
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


def ask_whether_to_go_on(work: float) -> None:
    """Ask before a piece of so much work, where somebody wants to be asked.

    Raises
    ------
    FitStopped
        The answer is not wanted any more.
    """
    ask = _ask.get()
    if ask is not None and ask(work):
        raise FitStopped
