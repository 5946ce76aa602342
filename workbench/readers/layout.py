"""How a text file is laid out: what separates the cells, and what stands above the header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from workbench.readers.assembly import holds_values

SEPARATORS = ("\t", ";", "|", ",", ":", " ")  # the first among equals wins
_LOOSE_SEPARATORS = (":", " ")  # occur inside cells so often that every row must agree
_SAMPLE_RECORDS = 200
_MAX_PREAMBLE = 30
_MIN_SHARE = 0.5


@dataclass(frozen=True)
class Layout:
    """Separator, and the number of lines above the first record (titles, comments, "sep=;")."""

    separator: str
    n_skipped: int = 0


def find_layout(sample: str, separator: str | None = None) -> Layout:
    """Find how a file is laid out from its beginning.

    Parameters
    ----------
    sample : str
        The beginning of the file, whole lines.
    separator : str or None
        Given: only what stands above the header is looked for.
    """
    hint = re.match(r'"?sep=(.)"?\r?\n', sample)  # spreadsheet programs write and read this line
    if hint:
        return Layout(separator or hint[1], 1)
    found = separator or find_separator(sample)
    wanted = (found,) if found else tuple(s for s in SEPARATORS if s not in _LOOSE_SEPARATORS)
    n_skipped = {each: _preamble(sample, each) for each in wanted}
    for each, n_lines in n_skipped.items():
        if n_lines:
            return Layout(each, n_lines)
    found = found or _ragged_separator(sample)
    # one column: any sign that its cells do not hold
    return Layout(found or next((s for s in (",", ";", "\t", "|") if s not in sample), "\x1f"))


def find_separator(sample: str) -> str:
    """Return the sign that cuts most rows into as many cells as the first; "" where none does."""
    best, best_share = "", _MIN_SHARE
    for separator in SEPARATORS:
        counts = [len(record) for _, record in records(sample, separator)]
        if not counts or counts[0] < 2:
            continue
        share = counts.count(counts[0]) / len(counts)
        if len(counts) > 1 and counts.count(counts[0] + 1) == len(counts) - 1:
            share = 1.0  # rows begin with a name that the header lacks, as R writes them
        if share > best_share and (share == 1.0 or separator not in _LOOSE_SEPARATORS):
            best, best_share = separator, share
    return best


def _ragged_separator(sample: str) -> str:
    """Return the sign of a table whose rows differ in length; "" where there is none.

    The first row has cells, no other length is more frequent than its, and most rows have cells.
    """
    best, best_count = "", 0
    for separator in (each for each in SEPARATORS if each not in _LOOSE_SEPARATORS):
        counts = [len(record) for _, record in records(sample, separator)]
        if len(counts) < 3 or counts[0] < 2 or 2 * sum(count > 1 for count in counts) <= len(counts):
            continue
        alike = counts.count(counts[0])
        if alike > max(1, best_count) and alike == Counter(counts).most_common(1)[0][1]:
            best, best_count = separator, alike
    return best


def records(sample: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return the first records that are not empty, each with its line counted from 1."""
    reader = csv.reader(
        io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=separator == " "
    )
    found: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for record in reader:
            if record:
                cells = [cell for cell in record if cell] if separator == " " else record
                found.append((line, cells))
            line = reader.line_num + 1
            if len(found) == _SAMPLE_RECORDS:
                break
    except csv.Error:  # a cell longer than csv takes: judge by what came before
        pass
    return found


def _preamble(sample: str, separator: str) -> int:
    """Count the lines before a header of as many words as most rows have cells; 0 where there is none."""
    rows = records(sample, separator)
    if len(rows) < 3:
        return 0
    width, n_alike = Counter(len(cells) for _, cells in rows).most_common(1)[0]
    start = next(i for i, (_, cells) in enumerate(rows) if len(cells) == width)
    above = rows[:start]
    if width < 2 or not 0 < start <= _MAX_PREAMBLE or n_alike < 2:
        return 0
    if n_alike < 0.8 * (len(rows) - start) or any(len(cells) >= width for _, cells in above):
        return 0
    line, header = rows[start]
    is_row_names = start == 1 and len(above[0][1]) == width - 1 and len(rows) - 1 == n_alike and width > 2
    if is_row_names or not all(cell.strip() for cell in header) or holds_values(header).any():
        return 0
    return line - 1
