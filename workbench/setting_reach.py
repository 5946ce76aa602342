"""How far the ends of a curve along a setting can be moved: the values within, and those that come next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from engine.parameters import Parameter
from workbench.bias_variance import BiasVarianceFound, BiasVarianceSettings
from workbench.bias_variance_choice import first_values, offered_parameters
from workbench.runs import PARTS
from workbench.training_sets import SUBSAMPLE
from workbench.tuning_grids import MAX_VALUES, OF_COLUMNS, value_words

if TYPE_CHECKING:
    from workbench.document import Document

OF_ROWS = ("n_neighbors",)  # a number of them is at most that of the training rows
FEWEST_MORE = 2  # values beyond an end, where there are so many
SHARE_MORE = 4  # of so many values one more beyond an end
LADDERS = ((1, 2, 5), (1, 3))  # first figures of values that grow by their ratio
WIDE = 1.5  # neighbours further apart than by this factor grow by their ratio
WIDEST_RUNG = 2.5  # from one rung of 1, 2, 5 to the next
Number = int | float


@dataclass(frozen=True)
class Reach:
    """Values of a setting at equal distances, those of a curve from place 0 on.

    Attributes
    ----------
    parameter : Parameter
    values : tuple
        By size, no limit last.
    n_before : int
        Values before the curve's first.
    n_drawn : int
        Values of the curve.
    first, last : int
        Places of the ends as they are set.
    """

    parameter: Parameter
    values: tuple[Any, ...]
    n_before: int
    n_drawn: int
    first: int
    last: int

    def between(self, first: int, last: int) -> tuple[Any, ...]:
        """Return the values from one place to another, both among them."""
        return self.values[first + self.n_before : last + self.n_before + 1]

    @property
    def lowest(self) -> int:
        return -self.n_before

    @property
    def highest(self) -> int:
        return len(self.values) - self.n_before - 1

    def word(self, place: int) -> str:
        return value_words(self.parameter, self.values[place + self.n_before])


def reach_of(document: Document, found: BiasVarianceFound, settings: BiasVarianceSettings) -> Reach | None:
    """Return how far the ends of a curve can be moved; None where it has none, or is of something else."""
    parameter = next((p for p in offered_parameters(document) if p.name == settings.parameter), None)
    if parameter is None or found.settings.parameter != parameter.name or not found.axis.is_ordered:
        return None
    drawn = sorted(found.settings.values, key=_size)
    known = () if found.known is None else found.known.values
    tried = [*first_values(document, parameter), *known, *settings.values]
    n_more = min(max(FEWEST_MORE, len(drawn) // SHARE_MORE), (MAX_VALUES - len(drawn)) // 2)
    limits = _limits(document, parameter, settings.how)
    before = _beyond(parameter, drawn, tried, limits[0], n_more, is_up=False)
    after = _beyond(parameter, drawn, tried, limits[1], n_more, is_up=True)
    values = (*before[::-1], *drawn, *after)
    places = [place - len(before) for value in settings.values for place in _places(values, value)]
    ends = (min(places), max(places)) if len(places) == len(settings.values) else (0, len(drawn) - 1)
    return Reach(parameter, values, len(before), len(drawn), *ends)


def _size(value: Any) -> float:
    return float("inf") if value is None else value


def _places(values: Sequence[Any], value: Any) -> list[int]:
    return [place for place, other in enumerate(values) if type(other) is type(value) and other == value]


def _limits(document: Document, parameter: Parameter, how: str) -> tuple[Number | None, Number | None]:
    """Return the smallest and the largest value that there is on this table."""
    least = None if parameter.open_minimum else parameter.minimum
    most = None if parameter.open_maximum else parameter.maximum
    if parameter.name in OF_COLUMNS:
        least, most = 1, len(document.features)
    if parameter.name in OF_ROWS:
        assert document.parts is not None
        n_rows = int((document.parts == PARTS.index("train")).sum())
        most = n_rows // 2 if how == SUBSAMPLE else n_rows
    return least, most


def _beyond(
    parameter: Parameter, drawn: Sequence[Any], tried: Sequence[Any], limit: Number | None, n: int, *,
    is_up: bool,
) -> list[Any]:  # fmt: skip
    """Return the values beyond an end, the nearest first: those tried already, then at steps like theirs."""
    if is_up and drawn[-1] is None:
        return []  # nothing is above no limit
    numbers = [value for value in drawn if value is not None]
    is_share = any(isinstance(value, float) for value in numbers or tried)
    others = sorted({value for value in tried if _is_number(value) and isinstance(value, float) == is_share})
    if is_share and parameter.name in OF_COLUMNS:
        limit = 1.0 if is_up else None
    found = _tried_beyond(numbers, others, limit, is_up=is_up)
    line = [*numbers, *found] if is_up else [*found[::-1], *numbers]
    while len(found) < n and (value := _next(parameter, line, limit, is_up=is_up)) is not None:
        found.append(value)
        line = [*line, value] if is_up else [value, *line]
    return found[:n] + ([None] if is_up and None in tried else [])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _tried_beyond(
    numbers: Sequence[Number], others: Sequence[Number], limit: Number | None, *, is_up: bool
) -> list[Number]:
    if is_up:
        after = [value for value in others if not numbers or value > numbers[-1]]
        return list(takewhile(lambda value: limit is None or value <= limit, after))
    before = [value for value in reversed(others) if not numbers or value < numbers[0]]
    return list(takewhile(lambda value: limit is None or value >= limit, before))


def _next(
    parameter: Parameter, line: Sequence[Number], limit: Number | None, *, is_up: bool
) -> Number | None:
    """Return the value that goes on with a line of them, at most the limit; None at the limit."""
    if not line:
        return None
    end = line[-1] if is_up else line[0]
    value = _step_on(line[-3:] if is_up else line[2::-1], is_up=is_up)
    if limit is not None and (value > limit if is_up else value < limit):
        value = type(end)(limit)
    is_further = value > end if is_up else value < end
    return value if is_further and parameter.is_legal(value) else None


def _step_on(line: Sequence[Number], *, is_up: bool) -> Number:
    """Return what follows the last of up to three values: by their step, their ratio, or a ladder."""
    end, before = line[-1], line[-2] if len(line) > 1 else None
    if before is None:
        found = _rung(end, end, is_up=is_up) if end > 0 else end + (1 if is_up else -1)
    elif len(line) == 3 and abs((before - line[0]) - (end - before)) <= 1e-9 * abs(end):
        found = end + (end - before)
    elif min(end, before) > 0 and max(end, before) >= WIDE * min(end, before):
        found = end * end / before if _is_geometric(line) else _rung(end, before, is_up=is_up)
    else:
        found = end + (end - before)
    return round(found) if isinstance(end, int) else float(f"{found:.12g}")


def _is_geometric(line: Sequence[Number]) -> bool:
    """Tell whether three values grow by one ratio; 50, 100, 200 are rungs of a ladder instead."""
    if len(line) < 3 or abs(line[1] ** 2 - line[0] * line[2]) > 1e-9 * line[1] ** 2:
        return False
    is_ladder = all(f"{float(value):.6e}".startswith(("1.000", "2.000", "5.000")) for value in line)
    return not is_ladder or max(line[1], line[2]) > WIDEST_RUNG * min(line[1], line[2])


def _rung(end: Number, before: Number, *, is_up: bool) -> Number:
    """Return the next value of 1, 2, 5 or of 1, 3 times powers of ten."""
    has_three = any(f"{float(value):.6e}".startswith("3.000") for value in (end, before))
    power = int(f"{float(end):e}".partition("e")[2])
    rungs = [float(f"{step}e{power + at}") for at in (-1, 0, 1) for step in LADDERS[has_three]]
    if is_up:
        return min(rung for rung in rungs if rung > end * (1 + 1e-9))
    return max(rung for rung in rungs if rung < end * (1 - 1e-9))
