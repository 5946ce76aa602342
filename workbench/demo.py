"""The whole road without a person: open, train, prune, predict, save, take away; prints the scores.

``python -m workbench.demo [FOLDER]`` writes model, project, script, predictions and pictures to
``demo-output/`` (or FOLDER).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QEventLoop,
    QMessageLogContext,
    QSettings,
    QTimer,
    QtMsgType,
    qFormatLogMessage,
    qInstallMessageHandler,
)

from workbench.cli import scores_line
from workbench.document import Document
from workbench.samples import load_sample
from workbench.training import Trainer
from workbench.ui import theme
from workbench.ui.application import Session, make_application, make_session
from workbench.ui.exporting import export_picture

KINDS = ("tree", "forest", "boosting")
COS_ROUNDS = 3
SIZE_HINTS_REMARK = "This plugin does not support propagateSizeHints()"
PICTURE_MS = 600  # a layout, and a surface on its lane


def main(arguments: list[str] | None = None) -> int:
    """Walk the road; 0 if every step worked."""
    arguments = sys.argv[1:] if arguments is None else arguments
    folder = Path(arguments[0] if arguments else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    before = qInstallMessageHandler(say_qt_message)
    try:
        return _run(folder)
    finally:
        qInstallMessageHandler(before)


def say_qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Write a message of Qt to standard error, but for the offscreen plugin's remark on every window."""
    if text != SIZE_HINTS_REMARK:
        print(qFormatLogMessage(kind, context, text), file=sys.stderr)


def _run(folder: Path) -> int:
    theme.apply(make_application())
    with TemporaryDirectory() as place:  # the demo leaves a person's settings alone
        settings = QSettings(str(Path(place) / "settings.ini"), QSettings.Format.IniFormat)
        session = make_session(settings)
        session.document.message_posted.connect(lambda text: print(f"  {text}"))
        try:
            walk(session, folder)
        finally:
            session.shut_down()
            session.dispose()
    for line in (*forest_figures(), *boosting_figures(), *cosine_figures()):
        print(line)
    print(f"\nWritten to {folder}/: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return 0


def walk(session: Session, folder: Path) -> None:
    """Open Penguins, train every kind, prune and undo, and write all files."""
    document, trainer = session.document, session.trainer
    print("Penguins: open the sample and train")
    open_sample(document, "penguins")
    for kind in KINDS:
        run_id = train(document, trainer, kind)
        print_scores(document, run_id)
    print("\nPrune the tree by hand, and undo it")
    prune_and_undo(document, "run1")
    print("\nPredict, save, take away")
    predict(document, "run2", folder / "predictions.csv")
    export(document, "run1", folder / "penguins-tree.tree.json", folder / "penguins-tree.py")
    draw(session, folder)
    save(document, folder / "penguins.treewright")


def draw(session: Session, folder: Path) -> None:
    """Draw the tree, the surface and the curve in the real window's views, and write them."""
    window, document = session.window, session.document
    window.resize(1440, 900)
    window.show()
    panels: dict[str, Any] = {name: dock.widget() for name, dock in window.ensure_centre().docks.items()}
    document.select_run("run1")
    let_run(PICTURE_MS)
    export_picture(panels["tree"].canvas, folder / "penguins-tree.svg")
    document.select_run("run3")
    let_run(PICTURE_MS)
    export_picture(panels["training"].plot, folder / "penguins-curve.svg")
    surface = panels["surface"]
    while surface.picture() is None:
        let_run(PICTURE_MS)
    export_picture(surface.picture(), folder / "penguins-surface.png")
    window.hide()


def let_run(ms: int) -> None:
    """Let the event loop run for a while."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def open_sample(document: Document, key: str) -> None:
    """Open a sample table."""
    document.open_table(load_sample(key))
    table = document.table
    assert table is not None
    print(f"  {table.name}: {table.n_rows} rows, {len(table.columns)} columns, target {document.target}")


def train(document: Document, trainer: Trainer, kind: str) -> str:
    """Add a model, train it and wait for its cross-validation; return its id."""
    run_id = document.add_run(kind)
    wait_for(trainer.cross_validation_ended, lambda: trainer.train(run_id))
    return run_id


def wait_for(signal: Any, act: Callable[[], object]) -> None:
    """Call `act` and let the event loop run until `signal`."""
    loop = QEventLoop()
    signal.connect(loop.quit)
    if act() is not False:
        loop.exec()
    signal.disconnect(loop.quit)


def print_scores(document: Document, run_id: str) -> None:
    """Print a model's scores on every part, and its cross-validation."""
    record = document.run(run_id)
    if record.result is None:
        raise RuntimeError(f"{record.name} was not trained: {record.error}")
    for scores in record.result.scores.values():
        print(f"    {scores_line(scores)}")
    if (cv := record.result.cv) is not None and "accuracy" in cv.metrics:
        found = cv.metrics["accuracy"]
        print(
            f"    cross-validated, {cv.rows_text}: accuracy {found.value:.4g} "
            f"({found.low:.4g} to {found.high:.4g})"
        )


def prune_and_undo(document: Document, run_id: str) -> None:
    """Make a node below the root a leaf, look at the score, and take it back."""
    result = document.run(run_id).result
    assert result is not None
    tree = result.tree(0)
    inner = [tree.path_to(node) for node in range(1, tree.n_nodes) if not tree.is_leaf[node]]
    document.prune(run_id, inner[0] if inner else ())
    pruned = document.run(run_id).result
    assert pruned is not None
    print(
        f"    leaves {tree.n_leaves} to {pruned.tree(0).n_leaves}; {scores_line(pruned.scores['validation'])}"
    )
    document.undo_stack.undo()
    restored = document.run(run_id).result
    if restored is None or restored.tree(0) != tree:
        raise RuntimeError("undo did not bring the tree back")


def predict(document: Document, run_id: str, path: Path) -> None:
    """Apply a model to its own table and write the predictions."""
    from workbench.apply import apply_model, save_predictions

    result, table = document.run(run_id).result, document.table
    assert result is not None
    assert table is not None
    applied = apply_model(result, table)
    save_predictions(applied, table, path)
    for line in applied.report:
        print(f"  {line}")


def export(document: Document, run_id: str, model: Path, script: Path) -> None:
    """Write a model as a file and as a script."""
    from workbench.exports import export_model
    from workbench.scripts import make_script

    result = document.run(run_id).result
    assert result is not None
    export_model(result, model)
    script.write_text(make_script(document, run_id), encoding="utf-8")


def save(document: Document, path: Path) -> None:
    """Save the project, and open it again to see that it is whole."""
    from workbench.project import load_project, save_project

    save_project(document, path, include_rows=True)
    document.mark_saved(path)
    again = load_project(path)
    print(f"  {path.name} holds {len(again.runs)} models")


# ---- figures that can be compared ---------------------------------------------------------------


def forest_figures() -> list[str]:
    """Mean test accuracy on Penguins over seeds 0-9 (25 % stratified test), beside scikit-learn's.

    Scikit-learn's forest takes numbers alone: once a 0/1 column for each level, which makes ten columns
    of seven, and once the levels' codes, which leaves the seven.
    """
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    import engine
    from workbench.datasets import feature_frame, target_values

    table = load_sample("penguins")
    X = feature_frame(table, [name for name in table.names if name != "species"])
    y, is_valid = target_values(table, "species", as_classes=True)
    X, y = X[is_valid], y[is_valid].astype(str)
    dummies = pd.get_dummies(X, dtype=float)
    is_category = [hasattr(X[name], "cat") for name in X]
    codes = X.copy()
    for name in X.columns[is_category]:
        codes[name] = X[name].cat.codes.where(X[name].notna()).astype(float)
    makers: list[tuple[str, Any, pd.DataFrame]] = [
        ("ours on the 7 columns as they are", engine.RandomForestClassifier, X),
        ("scikit-learn on the 7 with codes for levels", RandomForestClassifier, codes),
        ("ours on 10 with 0/1 columns for levels", engine.RandomForestClassifier, dummies),
        ("scikit-learn on these 10", RandomForestClassifier, dummies),
    ]
    told = []
    for name, make, table_of in makers:
        accuracies = []
        for seed in range(10):
            rows = np.arange(len(y))
            train_rows, test_rows = train_test_split(rows, test_size=0.25, stratify=y, random_state=seed)
            forest = make(random_state=seed).fit(table_of.iloc[train_rows], y[train_rows])
            accuracies.append(np.mean(forest.predict(table_of.iloc[test_rows]) == y[test_rows]))
        told.append(f"{name} {np.mean(accuracies):.4f}")
    head = "  forest on Penguins, mean test accuracy of seeds 0-9:"
    return ["\nFigures", head, *(f"    {line}" for line in told)]


def boosting_figures() -> list[str]:
    """Mean squared test error on diabetes over 10 splits, beside scikit-learn's at the same settings."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import train_test_split

    import engine

    X, y = load_diabetes(return_X_y=True)
    ours, theirs = [], []
    for seed in range(10):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        model = engine.GradientBoostingRegressor(
            growth="depth", max_depth=3, max_leaf_nodes=None, min_samples_leaf=1, random_state=seed
        ).fit(X_train, y_train)
        peer = GradientBoostingRegressor(max_depth=3, random_state=seed).fit(X_train, y_train)
        ours.append(np.mean((model.predict(X_test) - y_test) ** 2))
        theirs.append(np.mean((peer.predict(X_test) - y_test) ** 2))
    ratio = np.mean(ours) / np.mean(theirs)
    return [
        f"  boosting on diabetes, mean squared test error of 10 splits: {np.mean(ours):.1f} "
        f"(scikit-learn {np.mean(theirs):.1f}, ratio {ratio:.4f})"
    ]


def cosine_figures() -> list[str]:
    """Training errors of the first rounds on cos(x) with noise."""
    import engine

    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 300)
    y = np.cos(x) + rng.normal(0, 0.2, 300)
    model = engine.GradientBoostingRegressor(
        n_estimators=COS_ROUNDS, learning_rate=1.0, growth="depth", max_depth=2, max_leaf_nodes=None,
        min_samples_leaf=1, max_bins=300, random_state=0,
    ).fit(x[:, np.newaxis], y)  # fmt: skip
    stages = [np.full(300, y.mean()), *model.staged_predict(x[:, np.newaxis])]
    errors = ", ".join(f"{np.mean((stage - y) ** 2):.6f}" for stage in stages)
    return [
        f"  cos(x), training error of rounds 0-{COS_ROUNDS}: {errors}",
        "    (by exact thresholds: 0.489054, 0.124514, 0.092417, 0.076913)",
    ]


if __name__ == "__main__":
    sys.exit(main())
