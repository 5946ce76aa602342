"""Models as files: the same bits after loading, and nothing but data of known types is read."""

import copy
import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import engine
from engine.errors import DataError
from engine.export.json import ESTIMATORS, STORED_BESIDE
from tests.contracts.test_estimators import answers, frame, make
from workbench.project.models import model_files, read_model
from workbench.project.objects import dump_object, load_object

WITHOUT_TREES = [
    name for name in engine.__all__ if getattr(getattr(engine, name), "combination", "") == "rows"
]


def stored(name="NearestNeighborsClassifier"):
    X, y = frame(name)
    model = make(name).fit(X, y)
    return model, X, model_files(model)


def changed(content, change):
    """The bytes of an object with its schema changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(made, "w") as after:
        for name in before.namelist():
            held = before.read(name)
            if name == "schema.json":
                held = json.dumps(change(json.loads(held))).encode()
            after.writestr(name, held)
    return made.getvalue()


@pytest.mark.parametrize("name", [n for n in WITHOUT_TREES if not n.startswith(("Averaging", "Stacking"))])
def test_the_same_bits_after_loading(name):
    model, X, files = stored(name)
    read = read_model(files)
    np.testing.assert_array_equal(answers(read, X), answers(model, X))
    assert read.get_params() == model.get_params()
    assert [spec.name for spec in read.features_] == list(X.columns)
    assert model_files(read).keys() == files.keys()
    constant = make(name).fit(np.arange(6.0)[:, None], np.ones(6, int))
    np.testing.assert_array_equal(read_model(model_files(constant)).predict([[3.0]]), [1])


@pytest.mark.parametrize(
    ("module", "kind", "loader"),
    [
        ("os", "system", "FunctionNode"),
        ("builtins", "eval", "TypeNode"),
        ("sklearn.preprocessing._function_transformer", "FunctionTransformer", "ObjectNode"),
        ("engine.classical.columns", "PreparedColumns", "MethodNode"),
        ("numpy", "ufunc", "ObjectNode"),
    ],
)
def test_a_file_that_names_another_type_is_refused(module, kind, loader):
    _, _, files = stored()

    def change(schema):
        schema["content"]["content"]["memory"] = {
            "__module__": module,
            "__class__": kind,
            "__loader__": loader,
        }
        return schema

    files["pipeline_.skops"] = changed(files["pipeline_.skops"], change)
    with pytest.raises(DataError, match=r"which models are not made of; do not trust this file"):
        read_model(files)


def test_what_could_not_be_read_is_not_written():
    pipeline = Pipeline([("columns", FunctionTransformer()), ("model", StandardScaler())])
    with pytest.raises(DataError, match=r"sklearn\.preprocessing.*, which no project file holds"):
        dump_object(pipeline)


@pytest.mark.parametrize("n_bytes", [0, 10, 4000])
def test_a_truncated_object_is_refused(n_bytes):
    _, _, files = stored()
    with pytest.raises(DataError, match="a part of a model is damaged"):
        load_object(files["pipeline_.skops"][:n_bytes])


def test_an_object_that_is_packed_twice_is_refused():
    _, _, files = stored()
    made = io.BytesIO()
    packed = zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(io.BytesIO(files["pipeline_.skops"])) as before, packed as after:
        for name in before.namelist():
            after.writestr(name, before.read(name))
    with pytest.raises(DataError, match="packed twice"):
        load_object(made.getvalue())


def test_a_missing_part_is_told():
    _, _, files = stored()
    del files["pipeline_.skops"]
    with pytest.raises(DataError, match="the model's part 'pipeline_' is missing"):
        read_model(files)


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: setattr(model.pipeline_[-1], "answers_", model.pipeline_[-1].answers_[:5]),
        lambda model: setattr(model.pipeline_[-1], "rows_", model.pipeline_[-1].rows_[:, :2]),
        lambda model: setattr(model.pipeline_[0], "n_levels", [0]),
        lambda model: setattr(model.pipeline_[0], "unit_", model.pipeline_[0].unit_ * np.nan),
        lambda model: setattr(model, "pipeline_", Pipeline([("model", model.pipeline_[0])])),
        lambda model: setattr(model, "pipeline_", model.pipeline_[-1]),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(damage):
    model, _, _ = stored()
    damage(model)
    with pytest.raises(DataError, match="damaged"):
        read_model(model_files(model))


CLASSICAL = {
    "calibrated machine": engine.SVMClassifier(random_state=0),
    "machines one against all": engine.SVMClassifier(multiclass="one_vs_all", answers="decision"),
    "machine of all": engine.SVMClassifier(kernel="linear", multiclass="direct", random_state=0),
    "machine of numbers": engine.SVMRegressor(),
    "neighbours": engine.NearestNeighborsClassifier(weights="distance"),
    "neighbours of numbers": engine.NearestNeighborsRegressor(metric="manhattan"),
    "logistic": engine.LogisticClassifier(),
    "logistic in pairs": engine.LogisticClassifier(multiclass="all_vs_all"),
    "ridge": engine.RidgeRegressor(),
    "polynomial": engine.PolynomialRegressor(degree=3),
    "polynomial with a penalty": engine.PolynomialRegressor(degree=3, terms="powers", alpha=0.1),
    "bayes": engine.NaiveBayesClassifier(),
}


def places_of(part, at=()):
    """Yield the way to every value in a fitted object: names of attributes and numbers in lists."""
    for key, value in enumerate(part) if isinstance(part, list) else vars(part).items():
        if isinstance(value, list | tuple) or hasattr(value, "__dict__"):
            yield from places_of(list(value) if isinstance(value, tuple) else value, (*at, key))
        yield (*at, key)


def put(part, at, change):
    """Change the value at a place."""
    *way, last = at
    for key in way:
        part = part[key] if isinstance(key, int) else getattr(part, key)
    if isinstance(last, int):
        part[last] = change(part[last])
    else:
        setattr(part, last, change(getattr(part, last)))


def of_array(change):
    """Change arrays, and put a number in the place of all else."""
    return lambda value: change(value) if isinstance(value, np.ndarray) and value.size else -7


def with_one(number):
    """Change the number in the middle of an array."""

    def change(value):
        changed = value.astype(np.float64) if np.isnan(number) else value.copy()
        changed.flat[value.size // 2] = number
        return changed

    return of_array(change)


DAMAGES = [
    *(lambda _value, put=put: put for put in (None, -1, 2**40, 1e308, float("nan"), "linear", [], {})),
    *map(with_one, (np.nan, -1, 120)),
    of_array(lambda value: value[:-1]),
    of_array(lambda value: value[:0]),
    of_array(lambda value: np.concatenate([value, value])),
    of_array(lambda value: value[..., np.newaxis]),
    of_array(lambda value: np.asfortranarray(value.T)),
    of_array(lambda value: value.astype(np.float32 if value.dtype == np.float64 else np.float64)),
]


def check_damaged(name, share):
    """Damage a share of all values of a model, in every way, and read it: refused, or it answers."""
    rng = np.random.default_rng(1)
    X, y = frame(type(CLASSICAL[name]).__name__)
    X, n_refused = X.iloc[:60], 0
    model = clone(CLASSICAL[name]).fit(X, y[:60])
    for at in places_of(model.pipeline_):
        for change in DAMAGES:
            damaged = copy.deepcopy(model)
            if rng.random() >= share:
                continue
            try:
                put(damaged.pipeline_, at, change)
                files = model_files(damaged)
            except Exception:  # what is no object, or in no file
                continue
            try:
                read = read_model(files)
            except DataError:
                n_refused += 1
                continue
            said = answers(read, X)
            assert said.shape == answers(model, X).shape, at
            assert said.dtype != np.float64 or np.isfinite(said).all(), at
    return n_refused


@pytest.mark.filterwarnings("ignore")  # numbers near the largest are multiplied
@pytest.mark.parametrize("name", CLASSICAL)
def test_a_damaged_part_of_a_classical_model_is_refused_or_answers(name):
    assert check_damaged(name, 0.05) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSICAL)
def test_no_damaged_part_of_a_classical_model_ends_the_program(name):
    assert check_damaged(name, 1.0) > 0


def test_what_models_inside_models_keep_is_numbered():
    X, y = frame("Classifier")
    tree = make("DecisionTreeClassifier").fit(X, y)
    near = make("NearestNeighborsClassifier").fit(X, y)
    both = engine.AveragingClassifier([("one", near), ("tree", tree), ("two", near)], prefit=True).fit(X, y)
    files = model_files(both)
    assert sorted(name for name in files if name != "tree.json") == ["1.pipeline_.skops", "pipeline_.skops"]
    np.testing.assert_array_equal(answers(read_model(files), X), answers(both, X))
    with pytest.raises(DataError, match=r"the model's part 'pipeline_' is missing"):
        read_model({"tree.json": files["tree.json"]})


def test_every_model_without_trees_is_written_whole_or_names_the_parts_it_is_stored_in():
    assert set(WITHOUT_TREES) <= set(STORED_BESIDE) | set(ESTIMATORS)
