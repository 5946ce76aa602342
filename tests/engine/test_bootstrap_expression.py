"""Statistics that a person writes: what they mean, and how wrong texts are refused, by place and at once."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bootstrap.expression import FUNCTIONS, MAX_LENGTH, parse, quoted
from engine.errors import ParameterError

RNG = np.random.default_rng(0)
A, B = RNG.normal(3, 2, 17), RNG.normal(5, 1, 17)
COLUMNS = {"a": A[None], "b": B[None], "bill length (mm)": A[None], "class": B[None], "mean": A[None]}


def value(text):
    return parse(text, tuple(COLUMNS)).of(COLUMNS)[0]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("mean(a) / mean(b)", A.mean() / B.mean()),
        ("median(a)", statistics.median(A)),
        ("sd(a)", statistics.stdev(A)),
        ("var(a)", statistics.variance(A)),
        ("quantile(a, 0.9)", np.quantile(A, 0.9)),
        ("min(a) + max(b) - sum(a)", A.min() + B.max() - A.sum()),
        ("cov(a, b)", np.cov(A, B)[0, 1]),
        ("corr(a, b)", np.corrcoef(A, B)[0, 1]),
        ("sqrt(mean(exp(log(abs(a)))))", np.sqrt(np.abs(A).mean())),
        ("mean((a - mean(a)) ** 2)", A.var()),
        ("-mean(-a)", A.mean()),
        ("2 ** 3 ** 2 + 0 * mean(a)", 512.0),
        ("mean(`bill length (mm)`) - mean(`class`) * +1", A.mean() - B.mean()),
        ("mean(mean)", A.mean()),
        ("  mean(\n a )", A.mean()),
    ],
)
def test_an_expression_is_worked_out(text, right):
    assert value(text) == pytest.approx(right, rel=1e-12)


def test_it_is_worked_out_for_many_samples_at_once():
    samples = {"a": RNG.normal(size=(5, 9)), "b": RNG.normal(size=(5, 9))}
    expression = parse("mean(a * b) - corr(a, b)", ("a", "b"))
    alone = [expression.of({name: x[k : k + 1] for name, x in samples.items()})[0] for k in range(5)]
    np.testing.assert_array_equal(expression.of(samples), alone)


def test_columns_are_listed_once_in_their_order():
    assert parse("mean(b) - mean(a) + max(b)", ("a", "b")).columns == ("b", "a")


@pytest.mark.parametrize(
    ("text", "place", "cure"),
    [
        ("", None, "enter one such as"),
        ("mean(a", 5, "this bracket is not closed"),
        ("mean(a))", None, "check brackets"),
        ("mean(c)", 6, "columns are a, b"),
        ("mean(a) + c", 11, "there is no such column"),
        ("mean(bill length)", None, "back ticks"),
        ("mean(`a) + 1", 6, "back tick is not closed"),
        ("mean(`no such`)", 6, "there is no such column"),
        ("mean", 1, "it is a function; write mean( )"),
        ("a + 1", 1, "make one number"),
        ("1 + 2", 1, "asks for no column"),
        ("mean(5)", 6, "taken of a column"),
        ("mean(mean(a))", 6, "one number already"),
        ("mean(a, b)", 1, "mean is written as mean(a)"),
        ("corr(a)", 1, "corr is written as corr(a, b)"),
        ("quantile(a, 2)", 13, "from 0 to 1"),
        ("quantile(a, mean(b))", 13, "from 0 to 1"),
        ("mean(a) ^ 2", 1, "write ** for a power"),
        ("mean(a) ** 1000", 12, "larger than 100"),
        ("mean(a) < 2", 1, "this is not known"),
        ("mean(a) = 2", None, "cannot be read"),
        ("mean('a')", 6, "this is no number"),
        ("True * mean(a)", 1, "this is no number"),
        ("1j * mean(a)", 1, "this is no number"),
        ("9" * 400 + " * mean(a)", 1, "too large"),
        ("mean(*a)", 1, "mean is written as"),
        ("mean(x=a)", 1, "mean is written as"),
        ("(lambda: 0)()", 1, "no such function"),
        ("__import__('os').system('x')", 1, "no such function"),
        ("a.__class__", 1, "this is not known"),
        ("[x for x in a]", 1, "this is not known"),
        ("(a := 3)", None, "this is not known"),
        ("mean(a)\x00", None, "cannot be read"),
        ("-" * 100 + "mean(a)", None, "deep"),
        ("(" * 240 + "a" + ")" * 240, None, "expression"),
        ("ü" * 3 + " + mean(a)", 1, "there is no such column"),
        ("mean(ü)", 6, "there is no such column"),
        ("a" * (MAX_LENGTH + 1), None, "at most"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_a_cure(text, place, cure):
    with pytest.raises(ParameterError) as refusal:
        parse(text, ("a", "b"))
    assert cure in str(refusal.value)
    assert place is None or f"at character {place}," in str(refusal.value)


def test_places_are_those_of_the_text_with_its_quoted_names():
    with pytest.raises(ParameterError, match=r"at character 28, 'nothing'"):
        parse("  mean(`bill length`) + 1 *nothing", ("bill length",))


@given(st.text(st.sampled_from("ab`+-*/(),.0129 meanqutilsdvcorgx[]{}='\"\n:"), max_size=60))
def test_any_text_is_worked_out_or_refused(text):
    try:
        expression = parse(text, ("a", "b"))
    except ParameterError:
        return
    assert expression.of({"a": A[None], "b": B[None]}).shape == (1,)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_can_be_asked_for(name):
    arguments = {"quantile": "a, 0.5", "cov": "a, b", "corr": "a, b"}.get(name, "abs(a)")
    assert np.isfinite(value(f"0 * mean(a) + max(a + {name}({arguments}))"))


def test_a_column_correlates_with_itself_by_exactly_1():
    x = np.random.default_rng(0).normal(size=(200, 7)) ** 3
    assert (parse("corr(a, b)", ("a", "b")).of({"a": x, "b": x}) == 1).all()
    assert (parse("corr(a, b)", ("a", "b")).of({"a": x, "b": -x}) == -1).all()


def test_a_constant_has_no_correlation_and_no_spread():
    columns = {"a": np.full((1, 10), 0.1), "b": A[None, :10]}
    assert np.isnan(parse("corr(a, b)", ("a", "b")).of(columns)[0])
    assert parse("sd(a)", ("a", "b")).of(columns)[0] == 0.0


def test_names_that_are_no_plain_words_are_quoted():
    assert [quoted(name) for name in ("a_1", "1a", "class", "a b")] == ["a_1", "`1a`", "`class`", "`a b`"]
