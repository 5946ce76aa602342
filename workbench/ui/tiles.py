"""Up to four pictures beside each other: in a row, below each other, or in two rows, whichever is widest."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class Tiles(QSplitter):
    """Two splitters of two pictures each; hidden pictures take no room.

    Parameters
    ----------
    pictures : sequence of QWidget
        At most four; the first is always shown.
    """

    def __init__(self, pictures: Sequence[QWidget]) -> None:
        super().__init__(ACROSS)
        self._pictures = pictures
        self._pairs = [QSplitter(ACROSS), QSplitter(ACROSS)]
        for i, picture in enumerate(pictures):
            self._pairs[i // 2].addWidget(picture)
        for pair in self._pairs:
            self.addWidget(pair)
        for splitter in (self, *self._pairs):
            splitter.setChildrenCollapsible(False)
            for place in range(splitter.count()):
                splitter.setStretchFactor(place, 1)
        self._arranged = (0, ACROSS, ACROSS)
        self.arrange()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Give all pictures in sight the same room; where a person moved a border it stays until then."""
        seen = [not picture.isHidden() for picture in self._pictures]
        in_pair = [sum(seen[:2]), sum(seen[2:])]
        self._pairs[1].setHidden(not in_pair[1])
        n_shown = sum(in_pair)
        arranged = n_shown, *directions(n_shown, self.width(), self.height())
        if arranged == self._arranged:
            return
        self._arranged = arranged
        self.setOrientation(arranged[1])
        is_line = arranged[1] == arranged[2]
        room = self.width() + self.height()  # more than there is: shared out in proportion
        self.setSizes([room * (n if is_line else 1) for n in in_pair])
        for pair in self._pairs:
            pair.setOrientation(arranged[2])
            pair.setSizes([room] * pair.count())


def directions(n_shown: int, width: int, height: int) -> tuple[Qt.Orientation, Qt.Orientation]:
    """Return in which direction two pairs of pictures follow each other, and the two of a pair.

    Of a line and two rows that is taken in which pictures are nearest to squares.
    """
    along = DOWN if height > width else ACROSS
    aspect = abs(log(max(width, 1) / max(height, 1)))
    if n_shown <= 2 or aspect > log(n_shown) / 2:
        return along, along
    return (ACROSS if along == DOWN else DOWN), along
