"""The sample tables: what they hold, where they come from, and that the script still makes them."""

import importlib.util

import numpy as np
import pytest

from engine import NearestNeighborsClassifier, StackingClassifier, SVMClassifier
from engine.bootstrap import two_assets
from engine.errors import DataError
from tests.benchmarks.bench_stacking import darts, right_rows
from workbench import resources
from workbench.datasets import default_roles, proposes_classes
from workbench.problems import find_problems
from workbench.samples import SAMPLES, find_sample, load_sample

KEYS = [sample.key for sample in SAMPLES]
WANTED = {
    "penguins", "restaurant", "rain_and_clouds", "ten_gini_rows", "xor", "lemons_and_oranges", "moons",
    "circles", "spiral", "cosine", "linear_border", "box", "three_in_a_row", "darts", "clouds",
    "few_points", "gap", "iris", "wine", "breast_cancer", "diabetes", "two_assets",
}  # fmt: skip


def labels(table, name):
    codes, levels = table.column(name).label_codes()
    return np.array(levels, object)[codes]


def entropy(values):
    _, counts = np.unique(values.astype(str), return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def gain(values, y):
    return entropy(y) - sum(np.mean(values == v) * entropy(y[values == v]) for v in set(values))


def test_the_samples_that_were_promised_are_there():
    assert set(KEYS) == WANTED
    with pytest.raises(DataError, match="no sample 'mice'; there are penguins"):
        find_sample("mice")


@pytest.mark.parametrize("key", KEYS)
def test_sample_is_ready_to_train(key):
    sample, table = find_sample(key), load_sample(key)
    assert sample.n_rows_text == f"{table.n_rows} rows, {len(table.columns)} columns"
    assert table.sample == key
    assert table.path is None
    assert table.fingerprint == f"sample:{key}"
    assert sample.source
    assert sample.licence
    assert proposes_classes(table.column(sample.target))[0] == (sample.task == "classes")
    roles = default_roles(table)
    assert set(roles.values()) == {"feature"}
    assert find_problems(table, {**roles, sample.target: "target"}) == ()


def test_penguins_have_344_rows_three_species_and_missing_cells():
    table = load_sample("penguins")
    assert table.n_rows == 344
    counts = np.bincount(table.column("species").values)
    assert dict(zip(table.column("species").levels, counts.tolist(), strict=True)) == {
        "Adelie": 152,
        "Chinstrap": 68,
        "Gentoo": 124,
    }
    assert [table.column(n).n_missing for n in ("bill_length_mm", "body_mass_g", "sex", "year")] == [
        2,
        2,
        11,
        0,
    ]
    assert np.nanmean(table.column("bill_length_mm").values) == pytest.approx(43.92193, abs=5e-6)


def test_none_is_a_level_of_patrons():
    table = load_sample("restaurant")
    patrons = table.column("Patrons")
    assert patrons.levels == ("Full", "None", "Some")
    assert patrons.n_missing == 0
    y = labels(table, "WillWait")
    expected = {"Patrons": 0.540852, "Estimate": 0.207519, "Hungry": 0.195710, "Price": 0.195710, "Type": 0.0}
    for name, value in expected.items():
        assert gain(labels(table, name), y) == pytest.approx(value, abs=5e-7)


def test_worked_gains_of_the_small_tables():
    weather = load_sample("rain_and_clouds")
    assert gain(labels(weather, "raining"), labels(weather, "cloudy")) == pytest.approx(0.250417, abs=5e-7)
    xor = load_sample("xor")
    assert gain(labels(xor, "a"), labels(xor, "a_xor_b")) == pytest.approx(0, abs=1e-12)
    ten = load_sample("ten_gini_rows")
    y = labels(ten, "class") == "plus"
    for name, impurities in {"first_split": [0.32, 0.48], "second_split": [0.0, 0.48]}.items():
        side = labels(ten, name)
        shares = [y[side == s].mean() for s in ("left", "right")]
        np.testing.assert_allclose([2 * p * (1 - p) for p in shares], impurities, atol=1e-12)


def test_half_of_the_oranges_are_wider_than_any_lemon():
    table = load_sample("lemons_and_oranges")
    width, fruit = table.column("width").values, labels(table, "fruit")
    wide = width > width[fruit == "lemon"].max()
    assert (int(wide.sum()), int((fruit == "lemon").sum()), table.n_rows) == (50, 49, 149)
    assert gain(wide, fruit) == pytest.approx(0.249376, abs=5e-7)


def test_cosine_keeps_every_digit_of_its_recipe():
    table = load_sample("cosine")
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 300)
    y = np.cos(x) + rng.normal(0, 0.2, 300)
    np.testing.assert_array_equal(table.column("x").values, x)
    np.testing.assert_array_equal(table.column("y").values, y)
    assert find_sample("cosine").opens_view == "curve"


def test_two_assets_are_drawn_from_the_law_that_the_engine_knows():
    x, y = two_assets.draw(np.random.default_rng(5), 1, 100)
    table = load_sample("two_assets")
    np.testing.assert_allclose(table.column("x").values, x[0], atol=5.1e-5)
    np.testing.assert_allclose(table.column("y").values, y[0], atol=5.1e-5)


def test_scikit_learn_tables_hold_its_numbers():
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

    for key, data in {
        "iris": load_iris(),
        "wine": load_wine(),
        "breast_cancer": load_breast_cancer(),
        "diabetes": load_diabetes(scaled=False),
    }.items():
        table = load_sample(key)
        read = np.column_stack([column.values for column in table.columns[:-1]])
        np.testing.assert_array_equal(read, data.data)


def test_the_script_makes_the_same_files(tmp_path):
    path = resources.path("samples", "make_samples.py")
    spec = importlib.util.spec_from_file_location("make_samples", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    made = sorted(file.name for file in tmp_path.iterdir())
    kept = sorted(f.name for f in path.parent.iterdir() if f.suffix in (".csv", ".json"))
    assert made == [name for name in kept if name != "penguins.csv"]
    for name in made:
        # sine and cosine may differ in the last bit between systems: compare what is stored, not bytes
        ours, theirs = (tmp_path / name).read_text("utf-8"), (path.parent / name).read_text("utf-8")
        if name != "cosine.csv":
            assert ours == theirs, name


def test_neighbours_and_the_svm_are_strong_in_different_regions_of_darts_and_their_stack_beats_both():
    X, y = darts()
    wide = np.isin(y, ["Cleo", "Dan"])
    neighbours = right_rows(NearestNeighborsClassifier(), X, y, n_repeats=1)
    machine = right_rows(SVMClassifier(random_state=0), X, y, n_repeats=1)
    stack = right_rows(StackingClassifier(random_state=0), X, y, n_repeats=1)
    assert neighbours[~wide].mean() > machine[~wide].mean() + 0.2
    assert machine[wide].mean() > neighbours[wide].mean() + 0.03
    assert stack.mean() > max(neighbours.mean(), machine.mean()) + 0.01
