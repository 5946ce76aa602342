import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import engine
from engine.errors import ParameterError
from engine.export.script import ScriptColumn, ScriptSpec, to_script
from engine.split import split_rows

PARAMETERS = {"n_estimators": 12, "max_leaf_nodes": 5, "min_samples_leaf": 2, "random_state": 7}
FEATURES = (
    ScriptColumn("größe"),
    ScriptColumn('isl"and', "category", ("Biscoe", "Dream", "NA")),
    ScriptColumn("when", "date"),
)


def make_table(n=150):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "größe": rng.normal(0, 2000, n).round(2),
            'isl"and': rng.choice(["Biscoe", "Dream", "NA"], n),
            "id": np.arange(n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "h"),
            "w": rng.integers(0, 4, n),
            "g": rng.choice([f"g{i}" for i in range(30)], n),
        }
    )
    table.loc[::9, "größe"] = np.nan
    raw = table["größe"].fillna(-1e3) / 1000 + (table['isl"and'] == "Dream") + rng.normal(0, 0.5, n)
    table["art"] = np.where(raw > 0.5, "ja", "nein")
    table["zahl"] = raw.round(4)
    table.loc[5, ["art", "zahl"]] = None, np.nan
    return table


def run(script, folder):
    path = folder / "run.py"
    path.write_text(script, encoding="utf-8")
    out = subprocess.run(
        [sys.executable, "-W", "error", str(path)], capture_output=True, text=True,
        check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    return out.stdout.splitlines()


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("is_rich", [False, True], ids=["plain", "weights, groups, decimal comma"])
def test_script_prints_the_scores_of_the_model(tmp_path, is_classification, is_rich):
    table = make_table()
    path = tmp_path / "tabelle für 数据.csv"
    table.to_csv(
        path, index=False, sep=";" if is_rich else ",", decimal="," if is_rich else ".",
        encoding="utf-16" if is_rich else "utf-8", na_rep="?",
    )  # fmt: skip
    name = "GradientBoostingClassifier" if is_classification else "GradientBoostingRegressor"
    extra = (
        {"separator": ";", "decimal": ",", "encoding": "utf-16", "weight": "w", "group": "g"}
        if is_rich
        else {}
    )
    target = ScriptColumn("art", "category") if is_classification else ScriptColumn("zahl")
    spec = ScriptSpec(
        str(path), FEATURES, target, name,
        PARAMETERS, missing_tokens=("", "?"), classes=("ja", "nein") if is_classification else (), seed=11,
        uses_validation=True, **extra,
    )  # fmt: skip
    X = pd.DataFrame({"größe": table["größe"], 'isl"and': pd.Categorical(table['isl"and'])})
    X["when"] = (table["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    y = pd.Series(pd.Categorical(table["art"], ["ja", "nein"])) if is_classification else table["zahl"]
    codes = y.cat.codes if is_classification else y
    groups = pd.factorize(table["g"])[0] if is_rich else None
    parts, _ = split_rows(codes, is_classification, groups, seed=11)
    rows = [np.flatnonzero(parts == part) for part in range(3)]
    weight = table["w"].to_numpy(float) if is_rich else np.ones(len(table))
    model = getattr(engine, name)(**PARAMETERS)
    model.fit(
        X.iloc[rows[0]], y.iloc[rows[0]], weight[rows[0]], X_val=X.iloc[rows[1]], y_val=y.iloc[rows[1]],
        sample_weight_val=weight[rows[1]],
    )  # fmt: skip
    measure = "accuracy" if is_classification else "R squared"
    expected = [
        f"{part} {measure} {model.score(X.iloc[at], y.iloc[at], weight[at])!r} ({len(at)} rows)"
        for part, at in zip(("training", "validation", "test"), rows, strict=True)
    ]
    assert run(to_script(spec), tmp_path) == expected


def test_file_without_header_names_columns_by_position(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    pd.DataFrame({"0": X[:, 0], "1": y, "2": X[:, 1]}).to_csv(tmp_path / "t.csv", header=False, index=False)
    spec = ScriptSpec(
        str(tmp_path / "t.csv"), (ScriptColumn("0"), ScriptColumn("2")), ScriptColumn("1", "category"),
        "GradientBoostingClassifier", {"n_estimators": 5, "min_samples_leaf": 1}, has_header=False,
        classes=("a", "b"), fractions=(0.5, 0.25, 0.25), title='Run """ 1\n\\',
    )  # fmt: skip
    lines = run(to_script(spec), tmp_path)
    assert lines[0] == "training accuracy 1.0 (30 rows)" or lines[0].startswith("training accuracy 1.0")
    assert len(lines) == 3


def test_script_reads_every_double_exactly_as_written(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 3000) * 10.0 ** rng.integers(-18, 18, 3000)
    y = rng.normal(size=3000)
    for sign in ".,":
        path = tmp_path / "t.csv"
        rows = [f"{a!r};{b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        path.write_text("\n".join(["x;y", *rows]).replace(".", sign), encoding="utf-8")
        spec = ScriptSpec(
            str(path), (ScriptColumn("x"),), ScriptColumn("y"), "GradientBoostingRegressor",
            {"n_estimators": 1}, separator=";", decimal=sign,
        )  # fmt: skip
        reading = to_script(spec).split("\n\nX = ")[0]
        read = "print(*(float(v).hex() for v in table.to_numpy().ravel()), sep='\\n')"
        told = [float.fromhex(line) for line in run(f"{reading}\n{read}\n", tmp_path)]
        np.testing.assert_array_equal(np.reshape(told, (-1, 2)), np.column_stack([x, y]))


def test_numbers_that_are_classes_are_compared_as_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,k\n" + "".join(f"{i},{i % 2 + 3}\n" for i in range(40)) + "7,\n")
    spec = ScriptSpec(
        str(tmp_path / "t.csv"), (ScriptColumn("x"),), ScriptColumn("k"), "GradientBoostingClassifier",
        {"n_estimators": 1}, classes=("3", "4"),
    )  # fmt: skip
    assert [line.split("(")[1] for line in run(to_script(spec), tmp_path)] == [
        "24 rows)",
        "8 rows)",
        "8 rows)",
    ]


def test_unknown_kinds_are_refused():
    with pytest.raises(ParameterError, match="'color'"):
        ScriptColumn("x", "color")
