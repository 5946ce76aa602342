"""The arithmetic of two columns written out, its bars, and the file that it is saved as."""

import csv

import numpy as np
import pytest

from engine.information import JointCounts
from workbench.figures.information import make_information
from workbench.information import InformationSettings, Joint, Side, count_jointly
from workbench.samples import load_sample


@pytest.fixture
def figure():
    found = count_jointly(load_sample("rain_and_clouds"), InformationSettings("raining", "cloudy"))
    return make_information(found)


def test_the_arithmetic_is_written_out(figure):
    lines = figure.arithmetic
    assert lines[0] == "H(X) = − 75/100 log₂ 75/100 − 25/100 log₂ 25/100 = 0.811278 bits"
    assert "H(Y|X = yes) = − 1/25 log₂ 1/25 − 24/25 log₂ 24/25 = 0.242292 bits" in lines
    assert "H(Y|X) = 75/100 × 0.918296 + 25/100 × 0.242292 = 0.749295 bits" in lines
    assert "I(X;Y) = H(Y) − H(Y|X) = 0.999711 − 0.749295 = 0.250417 bits" in lines
    assert lines[-1] == "Chain rule: H(X,Y) = H(Y) + H(X|Y) = 0.999711 + 0.560862 = 1.560573 bits"


def test_bars_of_a_line_add_up_to_the_whole(figure):
    for line in range(4):
        bars = [bar for bar in figure.bars if bar.line == line]
        assert sum(bar.bits for bar in bars) == pytest.approx(figure.total_bits)
    assert figure.bar_at(0.7, 3).name == "I(X;Y)"
    assert figure.bar_at(9.0, 3) is None


def test_long_sums_say_how_much_more_there_is():
    side = Side("a", tuple(f"v{k}" for k in range(32)), "")
    figure = make_information(Joint(side, side, JointCounts(np.eye(32, dtype=np.int64)), 3), "w")
    assert figure.arithmetic[0].endswith("− … (8 more) = 5.000000 bits")
    assert "… and 20 more values of X" in figure.arithmetic
    assert figure.subtitle == "32 rows; 3 left out, as a value is missing; each counted once, whatever its w"


def test_ranges_are_written_as_such():
    found = count_jointly(load_sample("cosine"), InformationSettings("x", "y"))
    lines = make_information(found).arithmetic
    assert [line for line in lines if line.startswith("H(Y|X ≤ ")]
    assert not [line for line in lines if "= >" in line or "= ≤" in line]


def test_no_rows_have_no_bits():
    side = Side("a", ("x", "y"), "")
    figure = make_information(Joint(side, side, JointCounts(np.zeros((2, 2), np.int64)), 5))
    assert figure.total_bits == 0
    assert figure.arithmetic[0] == "H(X) = 0 = 0.000000 bits"


def test_the_file_holds_counts_with_sums_bits_and_cuts():
    found = count_jointly(load_sample("penguins"), InformationSettings("bill_length_mm", "species"))
    lines = list(csv.reader(make_information(found).to_csv().splitlines()))
    assert lines[0] == ["bill_length_mm \\ species", "Adelie", "Chinstrap", "Gentoo", "sum"]
    assert lines[5] == ["sum", "151", "68", "123", "342"]
    bits = {line[0]: float(line[1]) for line in lines[8:14]}
    assert bits["H(Y|X)"] == found.joint.y_given_x
    assert lines[14][0] == "bill_length_mm"
    assert "ranges of equal counts" in lines[14][1]
