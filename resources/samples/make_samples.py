"""Write the sample tables and their index anew: ``python resources/samples/make_samples.py``.

Generated tables are drawn from fixed seeds; penguins.csv is kept as its authors publish it; iris,
wine, breast_cancer and diabetes are written out from scikit-learn, so that opening them does not
load it. A test compares what this script writes with what the folder holds.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
RESTAURANT = """\
Alternate Bar Fri Hungry Patrons Price Rain Reservation Type Estimate WillWait
Yes No No Yes Some $$$ No Yes French 0-10 Yes
Yes No No Yes Full $ No No Thai 30-60 No
No Yes No No Some $ No No Burger 0-10 Yes
Yes No Yes Yes Full $ Yes No Thai 10-30 Yes
Yes No Yes No Full $$$ No Yes French >60 No
No Yes No Yes Some $$ Yes Yes Italian 0-10 Yes
No Yes No No None $ Yes No Burger 0-10 No
No No No Yes Some $$ Yes Yes Thai 0-10 Yes
No Yes Yes No Full $ Yes No Burger >60 No
Yes Yes Yes Yes Full $$$ No Yes Italian 10-30 No
No No No No None $ No No Thai 0-10 No
Yes Yes Yes Yes Full $ No No Burger 30-60 Yes
"""
GENERATED = "Generated for Treewright by resources/samples/make_samples.py"
UCI = "UCI Machine Learning Repository, as distributed with scikit-learn"


def write(folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write one table; floats by their shortest exact text."""
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_points(
    folder: Path, name: str, x: np.ndarray, labels: Sequence[str], columns: Sequence[str]
) -> None:
    """Write points with a label, coordinates rounded to four decimals."""
    rows = [[*np.round(point, 4).tolist(), label] for point, label in zip(x, labels, strict=True)]
    write(folder, name, columns, rows)


def write_classics(folder: Path) -> None:
    """Tables of textbooks, row by row."""
    restaurant = [line.split() for line in RESTAURANT.splitlines()]
    write(folder, "restaurant", restaurant[0], restaurant[1:])
    weather = [("yes", "yes")] * 24 + [("yes", "no")] + [("no", "yes")] * 25 + [("no", "no")] * 50
    order = np.random.default_rng(1).permutation(len(weather))
    write(folder, "rain_and_clouds", ["raining", "cloudy"], [weather[i] for i in order])
    ten = [("left", "right", "plus")] + [("right", "right", "plus")] * 2  # 1+4- | 2+3- and 0+5- | 3+2-
    ten += [("left", "left", "minus")] * 3 + [("left", "right", "minus")]
    ten += [("right", "left", "minus")] * 2 + [("right", "right", "minus")]
    write(folder, "ten_gini_rows", ["first_split", "second_split", "class"], ten)
    pairs = [("no", "no", "no"), ("no", "yes", "yes"), ("yes", "no", "yes"), ("yes", "yes", "no")]
    write(folder, "xor", ["a", "b", "a_xor_b"], pairs * 25)


def write_fruits(folder: Path) -> None:
    """49 lemons, 100 oranges: half of the oranges are wider than any lemon (gain 0.249376 bits)."""
    rng = np.random.default_rng(2)
    lemon_width, lemon_height = np.append(rng.uniform(5.2, 7.4, 48), 7.5), rng.normal(8.6, 0.7, 49)
    orange_width = np.concatenate([rng.uniform(5.4, 7.4, 50), rng.uniform(7.6, 9.6, 50)])
    orange_height = orange_width + rng.normal(0.2, 0.35, 100)
    points = np.round(
        np.column_stack([np.append(lemon_width, orange_width), np.append(lemon_height, orange_height)]), 2
    )
    labels = ["lemon"] * 49 + ["orange"] * 100
    order = rng.permutation(149)
    write_points(
        folder, "lemons_and_oranges", points[order], [labels[i] for i in order], ["width", "height", "fruit"]
    )


def write_shapes(folder: Path) -> None:
    """Point clouds in the plane whose borders are no line."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, np.pi, 150)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    _two(folder, "moons", upper, lower, rng, 0.15, ("upper", "lower"))
    turn = rng.uniform(0, 2 * np.pi, 150)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    _two(folder, "circles", ring, 0.5 * ring[::-1], rng, 0.1, ("outer", "inner"))
    along = np.sqrt(rng.uniform(0.03, 1, 200)) * 3 * np.pi
    arm = np.column_stack([along * np.cos(along), along * np.sin(along)]) / (3 * np.pi)
    _two(folder, "spiral", arm, -arm, rng, 0.02, ("first arm", "second arm"))
    square = rng.uniform(-2, 2, (400, 2))
    above = ["above" if x + y > 0 else "below" for x, y in square]
    write_points(folder, "linear_border", square, above, ["x1", "x2", "side"])
    inside = ["inside" if -1 < x < 0.75 and -0.5 < y < 1.25 else "outside" for x, y in square]
    write_points(folder, "box", square, inside, ["x1", "x2", "place"])
    along = np.repeat([-2.5, 0.0, 2.5], 60) + rng.normal(0, 0.5, 180)  # the middle has two borders
    across = rng.normal(0, 1.5, 180)
    points = np.column_stack([along - across, along + across]) / np.sqrt(2)
    labels = [name for name in ("left", "middle", "right") for _ in range(60)]
    order = rng.permutation(180)
    write_points(folder, "three_in_a_row", points[order], [labels[i] for i in order], ["x1", "x2", "class"])


def _two(
    folder: Path,
    name: str,
    first: np.ndarray,
    second: np.ndarray,
    rng: Any,
    noise: float,
    words: tuple[str, str],
) -> None:
    points = np.concatenate([first, second]) + rng.normal(0, noise, (2 * len(first), 2))
    labels = [words[0]] * len(first) + [words[1]] * len(second)
    order = rng.permutation(len(points))
    write_points(folder, name, points[order], [labels[i] for i in order], ["x1", "x2", "class"])


def write_cosine(folder: Path) -> None:
    """The teaching set of boosting: every digit kept, the worked training errors depend on it."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 300)
    y = np.cos(x) + rng.normal(0, 0.2, 300)
    write(folder, "cosine", ["x", "y"], [[repr(float(a)), repr(float(b))] for a, b in zip(x, y, strict=True)])


def write_two_assets(folder: Path) -> None:
    """Returns of two assets as in figure 5.10 of ISLR: variances 1 and 1.25, covariance 0.5."""
    first, second = np.random.default_rng(5).standard_normal((2, 100))
    returns = np.round(np.column_stack([first, 0.5 * first + second]), 4)
    write(folder, "two_assets", ["x", "y"], returns.tolist())


def write_darts(folder: Path) -> None:
    """Where stacking helps: Ada and Ben hit neighbouring beds in turn, Cleo and Dan throw wide.

    The beds are finer than a support vector machine's kernel sees by default and plain to the nearest
    neighbours; the wide throws overlap, where five neighbours are too few and the kernel's width is right.
    """
    rng = np.random.default_rng(4)
    throws = {
        "Ada": _throws_at_beds([144, 108, 72, 36], rng),
        "Ben": _throws_at_beds([126, 90, 54], rng),
        "Cleo": rng.normal((-0.2, -0.35), 0.3, (100, 2)),
        "Dan": rng.normal((0.2, -0.35), 0.3, (100, 2)),
    }
    points = np.concatenate(list(throws.values()))
    labels = [player for player in throws for _ in range(100)]
    order = rng.permutation(400)
    write_points(folder, "darts", points[order], [labels[i] for i in order], ["x", "y", "player"])


def _throws_at_beds(degrees: list[int], rng: Any) -> np.ndarray:
    """Return 100 throws at beds of a dartboard's treble ring, one bed after the other."""
    turn = np.deg2rad(np.resize(degrees, 100))
    return 0.55 * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.normal(0, 0.028, (100, 2))


def write_clouds(folder: Path) -> None:
    """Two classes, each of ten small clouds that lie among those of the other (as in Hastie et al. 2009)."""
    rng = np.random.default_rng(24)
    centres = np.concatenate([rng.normal((1, 0), 1, (10, 2)), rng.normal((0, 1), 1, (10, 2))])
    drawn = np.concatenate([rng.integers(0, 10, 200), rng.integers(10, 20, 200)])
    points = centres[drawn] + rng.normal(0, np.sqrt(0.2), (400, 2))
    order = rng.permutation(400)
    labels = ["low" if drawn[i] < 10 else "high" for i in order]
    write_points(folder, "clouds", points[order], labels, ["x1", "x2", "class"])


def write_few_points(folder: Path) -> None:
    """Thirty points around one turn of a sine: what a polynomial of high degree bends to."""
    rng = np.random.default_rng(35)
    x = np.round(np.sort(rng.uniform(0, 1, 30)), 4)
    y = np.round(np.sin(2 * np.pi * x) + rng.normal(0, 0.3, 30), 4)
    order = np.random.default_rng(1035).permutation(30)
    write(folder, "few_points", ["x", "y"], np.column_stack([x, y])[order].tolist())


def write_gap(folder: Path) -> None:
    """A curve with no row in the middle, where nobody can know how it goes on."""
    rng = np.random.default_rng(7)
    x = rng.uniform(1, 4, 200) * np.where(rng.random(200) < 0.5, -1, 1)
    y = np.sin(2 * x) + rng.normal(0, 0.15, 200)
    write(folder, "gap", ["x", "y"], np.round(np.column_stack([x, y]), 4).tolist())


def write_scikit_learn(folder: Path) -> None:
    """The tables that scikit-learn distributes, in natural units."""
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

    loaders = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
    targets = {"iris": "species", "wine": "cultivar", "breast_cancer": "diagnosis"}
    for name, loader in loaders.items():
        data = loader()
        header = [_plain(str(column)) for column in data.feature_names]
        words = [str(word).replace("class_", "cultivar ") for word in data.target_names]
        rows = [[*_short(row), words[k]] for row, k in zip(data.data, data.target, strict=True)]
        write(folder, name, [*header, targets[name]], rows)
    data = load_diabetes(scaled=False)
    rows = [_short([*row, answer]) for row, answer in zip(data.data, data.target, strict=True)]
    write(folder, "diabetes", [*map(str, data.feature_names), "progression"], rows)


def _plain(name: str) -> str:
    return name.replace(" (cm)", "_cm").replace(" ", "_").replace("/", "_per_")


def _short(row: Iterable[float]) -> list[Any]:
    return [int(value) if value == int(value) else float(value) for value in row]


def entry(
    key: str, title: str, description: str, target: str, view: str,
    *, source: str = GENERATED, licence: str = "MIT", **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Describe one table; its size is read from the file afterwards."""
    return {
        "key": key, "title": title, "description": description, "source": source, "licence": licence,
        "target": target, "task": more.pop("task", "classes"), "opens_view": view, "file": f"{key}.csv",
        **more,
    }  # fmt: skip


ENTRIES = (
    entry(
        "penguins",
        "Penguins",
        "Three species by bill, flipper and body mass; some cells are missing",
        "species",
        "tree",
        licence="CC0 1.0",
        source="Gorman, Williams, Fraser 2014, PLOS ONE 9(3); Horst, Hill, Gorman 2020, palmerpenguins",
    ),
    entry(
        "restaurant",
        "Restaurant",
        "Wait for a table or not: twelve evenings, all answers are categories",
        "WillWait",
        "tree",
        source="Russell, Norvig, Artificial Intelligence: A Modern Approach (example table)",
        licence="Facts of twelve rows, typed in by us",
        column_tokens={"Patrons": [""]},
    ),
    entry(
        "rain_and_clouds",
        "Rain and clouds",
        "A hundred days: how much does rain tell about clouds?",
        "cloudy",
        "tree",
    ),
    entry(
        "ten_gini_rows",
        "Ten Gini rows",
        "Ten rows and two candidate splits to work out by hand",
        "class",
        "tree",
    ),
    entry(
        "xor", "XOR", "Two yes-no columns that tell nothing alone and everything together", "a_xor_b", "tree"
    ),
    entry(
        "lemons_and_oranges",
        "Lemons and oranges",
        "149 fruits by width and height in centimetres",
        "fruit",
        "surface",
    ),
    entry("moons", "Moons", "Two half moons that reach into one another", "class", "surface"),
    entry("circles", "Circles", "A ring around a ring", "class", "surface"),
    entry("spiral", "Spiral", "Two arms wound around one another", "class", "surface"),
    entry(
        "cosine",
        "Cosine with noise",
        "300 points around cos(x): watch boosting fit a curve",
        "y",
        "curve",
        task="numbers",
    ),
    entry(
        "two_assets",
        "Two assets",
        "Returns of two assets: bootstrap how to share money between them, beside the known truth",
        "y",
        "curve",
        task="numbers",
    ),
    entry(
        "linear_border",
        "Linear border",
        "A slanted border, which a single tree can only climb in steps",
        "side",
        "surface",
    ),
    entry("box", "Box", "A box, which a tree finds with four cuts and a line never", "place", "surface"),
    entry(
        "three_in_a_row",
        "Three in a row",
        "No line parts the middle class from the rest: one-vs-all fails",
        "class",
        "surface",
    ),
    entry("darts", "Darts", "Where four players' darts landed: who threw?", "player", "surface"),
    entry("clouds", "Clouds", "Two classes that overlap: no model gets all rows right", "class", "surface"),
    entry(
        "few_points",
        "Few points",
        "30 points around one turn of a sine: how far should a curve bend?",
        "y",
        "curve",
        task="numbers",
    ),
    entry(
        "gap",
        "Gap",
        "A curve with no row in the middle: who says that they do not know?",
        "y",
        "curve",
        task="numbers",
    ),
    entry(
        "iris",
        "Iris",
        "Three species by the measures of their flowers",
        "species",
        "tree",
        source=f"R. A. Fisher 1936; {UCI}",
        licence="CC BY 4.0 (UCI), BSD-3-Clause (scikit-learn)",
    ),
    entry(
        "wine",
        "Wine",
        "Three cultivars by the chemistry of their wines",
        "cultivar",
        "tree",
        source=f"M. Forina and others 1991; {UCI}",
        licence="CC BY 4.0 (UCI), BSD-3-Clause (scikit-learn)",
    ),
    entry(
        "breast_cancer",
        "Breast cancer",
        "Benign or malignant by 30 measures of cell nuclei",
        "diagnosis",
        "tree",
        source=f"W. Wolberg, W. Street, O. Mangasarian 1995; {UCI}",
        licence="CC BY 4.0 (UCI), BSD-3-Clause (scikit-learn)",
    ),
    entry(
        "diabetes",
        "Diabetes",
        "Progression of the disease a year on, a number, by ten measures",
        "progression",
        "tree",
        task="numbers",
        source="Efron, Hastie, Johnstone, Tibshirani 2004, Annals of Statistics; from scikit-learn",
        licence="BSD-3-Clause (scikit-learn)",
    ),
)


def write_index(folder: Path) -> None:
    """Write index.json with each table's size."""
    described = []
    for each in ENTRIES:
        with (HERE / each["file"] if each["key"] == "penguins" else folder / each["file"]).open(
            newline="", encoding="utf-8"
        ) as file:
            rows = list(csv.reader(file))
        described.append({**each, "n_rows_text": f"{len(rows) - 1} rows, {len(rows[0])} columns"})
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    (folder / "index.json").write_text(text, encoding="utf-8")


def main(folder: Path = HERE) -> None:
    """Write everything but penguins.csv into `folder`."""
    write_classics(folder)
    write_fruits(folder)
    write_shapes(folder)
    write_cosine(folder)
    write_two_assets(folder)
    write_darts(folder)
    write_clouds(folder)
    write_few_points(folder)
    write_gap(folder)
    write_scikit_learn(folder)
    write_index(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
