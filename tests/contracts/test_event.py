"""The event and its monitors (contracts D6)."""

import dataclasses
import inspect

import pytest

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, SubMonitor


class Recorder:
    """Keeps the events and asks to stop once `n_allowed` have come."""

    def __init__(self, n_allowed=10**9):
        self.events, self.n_allowed = [], n_allowed

    def on_iteration(self, event):
        self.events.append(event)
        return len(self.events) >= self.n_allowed


def test_the_event_has_exactly_the_agreed_fields():
    names = [item.name for item in dataclasses.fields(IterationEvent)]
    assert names == [
        "phase", "iteration", "n_iterations", "fraction", "elapsed_s",
        "train_loss", "val_loss", "oob_loss", "new_trees", "member", "message", "step_error",
        "so_far",
    ]  # fmt: skip


def test_events_are_frozen():
    event = IterationEvent("growing", 3, 10)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.iteration = 4


def test_on_iteration_is_the_only_public_method_of_a_monitor():
    methods = [name for name, _ in inspect.getmembers(FitMonitor, inspect.isfunction) if name[0] != "_"]
    assert methods == ["on_iteration"]
    assert isinstance(Recorder(), FitMonitor)


def test_the_null_monitor_never_stops():
    assert NULL_MONITOR.on_iteration(IterationEvent("growing")) is False


def test_a_sub_monitor_scales_fractions_stamps_members_and_passes_the_answer_on():
    parent = Recorder(n_allowed=3)
    monitor = SubMonitor(parent, 0.5, 0.75, member=2)
    answers = [monitor.on_iteration(IterationEvent("growing", i, fraction=i / 2)) for i in range(3)]
    assert answers == [False, False, True]
    assert monitor.stopped
    assert [event.fraction for event in parent.events] == [0.5, 0.625, 0.75]
    assert {event.member for event in parent.events} == {2}
    assert all(event.elapsed_s >= 0 for event in parent.events)


def test_nested_sub_monitors_keep_the_inner_member():
    parent = Recorder()
    outer = SubMonitor(parent, 0.0, 0.5, member=1)
    SubMonitor(outer, 0.5, 1.0, member=7).on_iteration(IterationEvent("boosting", fraction=0.5))
    assert (parent.events[0].fraction, parent.events[0].member) == (0.375, 7)
