import pytest

from workbench.figures import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (5.0, "5"),
        (0.12345, "0.123"),
        (-0.01234, "−0.0123"),
        (1234567.0, "1,230,000"),
        (99.96, "100"),
        (1.5e-9, "1.50e−09"),
        (float("nan"), "missing"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers_have_three_digits_and_a_true_minus(value, text):
    assert words.number(value) == text


def test_shares_that_are_not_quite_all_or_none_say_so():
    assert [words.percent(k, 1000) for k in (0, 1, 500, 999, 1000)] == [
        "0 %",
        "< 1 %",
        "50 %",
        "> 99 %",
        "100 %",
    ]


def test_counts_agree_with_their_noun():
    assert words.counted(1, "leaf", "leaves") == "1 leaf"
    assert words.counted(1234, "row") == "1,234 rows"


def test_scores_keep_their_places():
    assert words.fixed(0.9) == "0.900"
    assert words.fixed(-0.25, 2) == "−0.25"
