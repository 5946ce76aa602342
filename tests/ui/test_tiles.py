"""Up to four pictures share the room of one so that each is as large as can be."""

import pytest
from PySide6.QtWidgets import QWidget

from workbench.ui.tiles import ACROSS, DOWN, Tiles, directions


@pytest.mark.parametrize(
    ("n_shown", "width", "height", "expected"),
    [
        (1, 800, 700, (ACROSS, ACROSS)),
        (2, 800, 700, (ACROSS, ACROSS)),
        (2, 500, 700, (DOWN, DOWN)),
        (3, 800, 700, (DOWN, ACROSS)),
        (4, 800, 700, (DOWN, ACROSS)),
        (4, 500, 700, (ACROSS, DOWN)),
        (4, 1300, 300, (ACROSS, ACROSS)),
        (4, 300, 1300, (DOWN, DOWN)),
        (3, 1300, 700, (ACROSS, ACROSS)),
        (4, 0, 0, (DOWN, ACROSS)),  # before it is laid out
    ],
)
def test_pictures_are_as_near_to_squares_as_can_be(n_shown, width, height, expected):
    assert directions(n_shown, width, height) == expected


@pytest.mark.parametrize("size", [(820, 700), (500, 700), (1300, 300)])
@pytest.mark.parametrize("n_shown", [1, 2, 3, 4])
def test_all_have_the_same_room_and_hidden_ones_none(qtbot, size, n_shown):
    pictures = [QWidget() for _ in range(4)]
    tiles = Tiles(pictures)
    qtbot.addWidget(tiles)
    tiles.resize(*size)
    for picture in pictures[1:]:
        picture.hide()
    tiles.arrange()
    tiles.show()
    for picture in pictures[1:n_shown]:
        picture.show()
        tiles.arrange()
    places = [picture.geometry().translated(picture.parentWidget().pos()) for picture in pictures[:n_shown]]
    areas = [place.width() * place.height() for place in places]
    assert sum(areas) > 0.93 * size[0] * size[1]  # but borders
    smaller = [min(place.width(), place.height()) for place in places]
    if n_shown == 3 and size[0] < 1000:  # one has a row of its own
        assert areas[2] > 1.9 * areas[0]
    else:
        assert max(areas) <= 1.05 * min(areas)
    assert min(smaller) > min(size) / 2 - 15 or n_shown == 1
