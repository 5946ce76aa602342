"""Movement ends where it belongs, and keeps nothing alive."""

import gc
import weakref

import pytest
from PySide6.QtCore import QObject

from workbench.ui import theme
from workbench.ui.motion import Glide


class Card(QObject):
    def __init__(self):
        super().__init__()
        self.shares = []
        self.glide = Glide(self.move_to, self)

    def move_to(self, share):
        self.shares.append(share)


def test_what_moves_can_be_collected(qapp):
    card = Card()
    card.glide.begin()
    seen = weakref.ref(card)
    del card
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("reduces", [False, True])
def test_a_movement_begins_at_0_unless_reduced_and_ends_at_1(qapp, qtbot, reduces):
    theme.set_reduces_motion(reduces)
    card = Card()
    card.glide.begin()
    assert card.shares[0] == (1.0 if reduces else 0.0)
    qtbot.waitUntil(lambda: card.shares[-1] == 1.0)
    assert card.shares == sorted(card.shares)
