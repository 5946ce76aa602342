"""What `estimators=None` and `final_estimator=None` stand for (D23)."""

from __future__ import annotations

from typing import Any


def default_bases(*, is_classification: bool) -> list[tuple[str, Any]]:
    """Return k nearest neighbours and a support vector machine."""
    import engine

    kind = "Classifier" if is_classification else "Regressor"
    return [
        ("nearest neighbours", getattr(engine, f"NearestNeighbors{kind}")()),
        ("SVM", getattr(engine, f"SVM{kind}")()),
    ]


def default_meta_model(*, is_classification: bool) -> Any:
    """Return logistic regression for classes, ridge regression for numbers."""
    import engine

    name = "LogisticClassifier" if is_classification else "RidgeRegressor"
    return getattr(engine, name)()
