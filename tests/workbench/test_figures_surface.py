"""Cases C33 and C34 at the level of figures; mixtures, borders, far cells."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.errors import DataError
from engine.features import FeatureSpec
from engine.tree.inspect import decision_path, values_on_path
from tests.engine.random_trees import random_tree
from tests.workbench.making import Session, open_flowers
from workbench.figures import regions
from workbench.figures import surface as s
from workbench.figures.axis import make_axis, number_axis
from workbench.figures.held import Held, held_sentence, held_values, hold
from workbench.figures.rounds import _KeptWeights
from workbench.figures.surface_inputs import surface_inputs

FEATURES = (FeatureSpec("f1"), FeatureSpec("f2"))


def c33_figure(n_x=200, n_y=50):
    """Class 1 exactly when f1 > 7."""
    x, y = number_axis("f1", 0, 0.0, 10.0, n_x), number_axis("f2", 1, 0.0, 1.0, n_y)
    is_one = np.broadcast_to(x.values > 7, (n_y, n_x)).astype(float)
    points = s.Points(*[np.empty(0, t) for t in (np.int64, float, float, np.int32, float, np.uint8, bool)])
    far = np.zeros((n_y, n_x), bool)
    answer = np.stack([1 - is_one, is_one])
    return s.SurfaceFigure("m", "", "", x, y, answer, ("a", "b"), None, (), points, "y", far, np.zeros(2))


@pytest.mark.parametrize(
    ("features", "importances", "columns"),
    [
        (("x", "y"), [0.2, 0.8], ("x", "y")),
        (("x", "y", "z"), [0.2, 0.3, 0.5], ("z", "y")),
        (("x",), [1.0], ("x", None)),
    ],
)
def test_a_surface_opens_on_what_matters_most_and_two_columns_keep_their_order(
    features, importances, columns
):
    result = SimpleNamespace(features=features, importances=np.array(importances), grown_tree=None, edits=())
    assert s.default_columns(result) == columns


def test_c33_reading_the_picture_gives_the_models_class():
    figure = c33_figure()
    for x, y, label in ((8, 0.05, 1), (8, 0.95, 1), (6, 0.05, 0), (6, 0.95, 0)):
        column, row = figure.x.cell_at(x), figure.y.cell_at(y)
        assert figure.labels[row, column] == label
        assert f"{'ba'[1 - label]} 100.0 %" in figure.text_at(x, y).splitlines()[2]


def test_c33_the_border_is_one_upright_line_at_seven():
    figure = c33_figure()
    x, y = regions.border_lines(figure.labels, figure.x.edges, figure.y.edges)
    assert x == pytest.approx([7.0, 7.0], abs=0.05)
    assert y.tolist() == [0.0, 1.0]


def test_c33_cell_centres():
    axis = number_axis("f1", 0, 0.0, 10.0, 5)
    assert axis.values.tolist() == [1, 3, 5, 7, 9]
    assert [axis.cell_at(v) for v in (-0.1, 0.0, 1.9, 2.0, 10.0, 10.1)] == [None, 0, 0, 1, 4, None]


def test_the_winners_colour_is_mixed_by_how_sure_it_is():
    # K = 2: p = 0.5 mixes 0.15 of black into white, p = 1 mixes 0.5, p = 0.75 mixes 0.325
    answer = np.array([[[0.5, 1.0, 0.75]], [[0.5, 0.0, 0.25]]])
    rgb = regions.class_mixture(answer, np.array([[0, 0, 0], [255, 0, 0]]), np.array([255, 255, 255]))
    assert rgb[0, :, 0].tolist() == [round(255 * 0.85), round(255 * 0.5), round(255 * 0.675)]


def test_colours_mixed_in_a_worker_are_those_of_the_palette_asked_for():
    figure = c33_figure()
    light = np.array([[0, 0, 0], [255, 0, 0]]), np.array([255, 255, 255])
    dark = np.array([[0, 0, 0], [255, 0, 0]]), np.array([20, 24, 27])
    assert s.prepared(figure, light) is figure
    known = figure.mixed(light)
    assert figure.mixed((light[0].copy(), light[1].copy())) is known  # nothing is left to the window
    for palette in (dark, light):  # another theme since
        np.testing.assert_array_equal(figure.mixed(palette), regions.class_mixture(figure.answer, *palette))


def test_borders_of_a_corner_are_joined():
    labels = np.array([[0, 0, 1], [0, 0, 1], [2, 2, 2]])
    x, y = regions.border_lines(labels, np.arange(4.0), np.arange(4.0))
    lines = {tuple(map(float, line)) for line in zip(x[::2], y[::2], x[1::2], y[1::2], strict=True)}
    assert lines == {(2, 0, 2, 2), (0, 2, 3, 2)}


def test_category_axes_have_a_cell_a_level_and_one_for_missing():
    spec = FeatureSpec("island", levels=("Biscoe", "Dream"))
    axis = make_axis(spec, 3, np.array([0.0, 1.0, np.nan]))
    assert axis.labels == ("Biscoe", "Dream", "missing")
    assert np.isnan(axis.values[2])
    assert axis.edges.tolist() == [-0.5, 0.5, 1.5, 2.5]
    drawn = axis.places(np.array([0.0, 1.0, np.nan]), np.array([4, 5, 6]))
    assert [axis.cell_at(v) for v in drawn] == [0, 1, 2]


@pytest.mark.parametrize("features", [(0, 1), (2, 5), (1, 7)])
def test_rows_of_two_categories_stand_apart_and_not_on_a_line(features):
    rows, codes = np.arange(400), np.zeros(400)
    x, y = (make_axis(FeatureSpec("of", levels=("a",)), at, codes).places(codes, rows) for at in features)
    cells = {(int(20 * (a + 0.5)), int(20 * (b + 0.5))) for a, b in zip(x, y, strict=True)}
    assert len(cells) > 100  # of 144 between -0.3 and 0.3
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.2


def test_held_values_are_the_median_and_the_most_frequent_level():
    specs = (FeatureSpec("a"), FeatureSpec("b", levels=("x", "y")), FeatureSpec("c"))
    encoded = np.array([[1.0, 1, np.nan], [2, 1, np.nan], [9, 0, np.nan], [np.nan, np.nan, np.nan]])
    held = held_values(specs, encoded)
    assert [(h.name, h.text) for h in held] == [("a", "2"), ("b", "y"), ("c", "missing")]
    assert held_sentence(held) == "held: a 2, b y, c missing"


def test_cells_far_from_every_training_row_are_told():
    x, y = number_axis("a", 0, 0, 100, 100), number_axis("b", 1, 0, 100, 100)
    one, parts = np.array([10.5, 90.5]), np.array([0, 1], np.uint8)  # the second is a validation row
    empty = np.empty(2)
    points = s.Points(np.arange(2), one, one, np.zeros(2, np.int32), empty, parts, np.zeros(2, bool))
    far = regions.far_cells(x, y, points, reach=0.05)
    rows, columns = np.nonzero(~far)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (5, 15, 5, 15)


def test_what_is_written_of_a_median_is_what_is_held():
    encoded = np.array([[19819.0, 0.123456], [19820.0, 0.123458]])
    held = held_values((FeatureSpec("day"), FeatureSpec("share")), encoded)
    assert [h.text for h in held] == ["19,820", "0.1235"]
    assert [h.encoded for h in held] == [19820.0, 0.1235]


HELD_SPECS = (FeatureSpec("a"), FeatureSpec("b", levels=("x", "missing")), FeatureSpec("c"))
TYPICAL = (Held("a", 2.0, "2"), Held("b", 0.0, "x"), Held("c", 5.0, "5"))


def test_chosen_values_are_held_and_named():
    held = hold(TYPICAL, HELD_SPECS, {"a": -1234.56, "b": "missing", "c": None, "gone": 3})
    assert [(h.name, h.text, h.is_typical) for h in held] == [
        ("a", "\N{MINUS SIGN}1,234.56", False),
        ("b", "missing", False),
        ("c", "missing", False),
    ]
    assert held[0].encoded == -1234.56
    assert held[1].encoded == 1.0  # the level of that name, not a missing value
    assert np.isnan(held[2].encoded)


@pytest.mark.parametrize("chosen", [{"b": "gone"}, {"b": 7}, {"a": "x"}, {"a": True}, {"c": float("inf")}])
def test_values_a_column_cannot_have_leave_the_typical_one(chosen):
    assert hold(TYPICAL, HELD_SPECS, chosen) == TYPICAL


def test_of_many_columns_those_chosen_by_hand_are_named():
    many = [Held(f"c{k}", 0.0, "0") for k in range(8)]
    many[7] = Held("c7", 9.0, "9", is_typical=False)
    assert held_sentence(many, 3) == "held: c7 9, c0 0, c1 0 and 5 others at typical values"


@pytest.mark.usefixtures("qapp")
def test_many_classes_get_fewer_cells_and_too_many_a_message_before_any_allocation(monkeypatch):
    document = open_flowers()
    session = Session(document)
    result = document.run(session.train("tree")).result
    session.close()
    inputs = surface_inputs("t", result, document.table)
    whole = s.make_surface(inputs, "length", "width")
    assert whole.answer.shape == (3, 320, 320)
    monkeypatch.setattr("workbench.figures.surface.MAX_BYTES", 8 * 3 * 90 * 90)
    coarse = s.make_surface(inputs, "length", "width")
    assert coarse.answer.shape == (3, 80, 80)
    assert coarse.subtitle == whole.subtitle + ", 80 x 80 cells for 3 classes"
    monkeypatch.setattr("workbench.figures.surface.MAX_BYTES", 8 * 3 * 30 * 30)
    with pytest.raises(
        DataError, match=r"length by width are 40 x 40 cells of 3 numbers, about 0.0 GB; choose a"
    ):
        s.make_surface(inputs, "length", "width")


@pytest.mark.usefixtures("qapp")
def test_a_nodes_outline_bounds_the_cells_that_go_its_way():
    document = open_flowers()
    session = Session(document)
    result = document.run(session.train("tree", max_depth=4, min_samples_leaf=2)).result
    session.close()
    tree = result.trees[0]
    inputs = surface_inputs("t", result, document.table)
    for names in (("length", "width"), ("colour", "length")):
        figure = s.make_surface(inputs, *names, n_cells=40)
        for node in range(1, tree.n_nodes):
            path = tree.path_to(node)
            on_way = [values_on_path(tree, path, axis.feature, axis.values) for axis in (figure.x, figure.y)]
            x, y = regions.node_outline(tree, path, figure.x, figure.y)
            is_inside = np.outer(on_way[1], on_way[0])
            if not is_inside.any():
                assert len(x) == 0
                continue
            columns, rows = np.flatnonzero(is_inside.any(0)), np.flatnonzero(is_inside.any(1))
            assert (x.min(), x.max()) == (figure.x.edges[columns[0]], figure.x.edges[columns[-1] + 1])
            assert (y.min(), y.max()) == (figure.y.edges[rows[0]], figure.y.edges[rows[-1] + 1])


def test_values_on_a_path_are_those_that_every_question_about_the_column_sends_along():
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = random_tree(rng, 30, 2, categorical=(1,))
        rows = np.column_stack([rng.uniform(0, 10, 60), rng.integers(-1, 5, 60)])
        rows[rng.random(rows.shape) < 0.2] = np.nan
        for node in range(1, tree.n_nodes):
            path = tree.path_to(node)
            goes = [values_on_path(tree, path, feature, rows[:, feature]) for feature in (0, 1)]
            reached = [node in decision_path(tree, row) for row in rows]
            np.testing.assert_array_equal(goes[0] & goes[1], reached)


@pytest.mark.parametrize("n_kept", [1, 2, 100])
def test_weights_of_rows_are_the_same_in_any_order_however_few_are_kept(monkeypatch, n_kept):
    rows = np.array([0, 2, 3])
    monkeypatch.setattr("workbench.figures.rounds.KEPT_WEIGHT_BYTES", n_kept * 8 * len(rows))
    after = np.random.default_rng(0).random((12, 5))
    kept = _KeptWeights(lambda: iter(after), rows)
    for n_rounds in (3, 12, 1, 2, 12, 11, 4, 8, 7, 5, 5):
        np.testing.assert_array_equal(kept.after(n_rounds), after[n_rounds - 1, rows])
        assert len(kept._kept) <= n_kept
