"""Settings for a purpose, several at once: plain data, offered where a kind of model has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.catalog import entry_of

LEAST_CHANGES = 3  # a preset that sets fewer is no preset


@dataclass(frozen=True)
class Preset:
    """Settings of one kind of model for one purpose.

    Attributes
    ----------
    key, title : str
    kind : str
        A key of the catalog.
    needs : mapping
        Settings without which it would not be what it is called: it is offered where all of them are legal.
    also : mapping
        Settings that it has besides, where there are such.
    """

    key: str
    title: str
    kind: str
    needs: Mapping[str, Any]
    also: Mapping[str, Any]

    def values(self, task: str) -> dict[str, Any] | None:
        """Return what it sets for a task, "classes" or "numbers"; None where it is not offered."""
        table = {parameter.name: parameter for parameter in entry_of(self.kind).parameters(task)}

        def is_legal(name: str, value: Any) -> bool:
            return name in table and table[name].is_legal(value)

        if not all(is_legal(name, value) for name, value in self.needs.items()):
            return None
        kept = {name: value for name, value in self.also.items() if is_legal(name, value)}
        values = {**self.needs, **kept}
        return values if len(values) >= LEAST_CHANGES else None


QUICK, CAREFUL = "Quick Look", "Careful"

PRESETS = (
    Preset("quick", QUICK, "tree", {"max_depth": 3, "min_samples_leaf": 20, "max_leaf_nodes": 8}, {}),
    Preset(
        "careful", CAREFUL, "tree",
        {"max_depth": 12, "min_samples_leaf": 10, "min_samples_split": 30, "ccp_alpha": 0.002}, {},
    ),
    Preset("quick", QUICK, "forest", {"n_estimators": 30, "max_depth": 12, "min_samples_leaf": 3}, {}),
    Preset(
        "careful", CAREFUL, "forest", {"n_estimators": 500, "min_samples_leaf": 2, "max_features": 0.4}, {}
    ),
    Preset("quick", QUICK, "extra_trees", {"n_estimators": 30, "max_depth": 12, "min_samples_leaf": 3}, {}),
    Preset(
        "careful", CAREFUL, "extra_trees",
        {"n_estimators": 500, "min_samples_leaf": 2, "max_features": 0.6}, {},
    ),
    Preset("quick", QUICK, "bagging", {"n_estimators": 20, "max_samples": 0.5, "max_features": 0.8}, {}),
    Preset("careful", CAREFUL, "bagging", {"n_estimators": 300, "max_samples": 0.8, "max_features": 0.6}, {}),
    Preset(
        "quick", QUICK, "boosting", {"n_estimators": 50, "learning_rate": 0.2, "max_leaf_nodes": 15},
        {"max_bins": 63},
    ),
    Preset(
        "careful", CAREFUL, "boosting",
        {"n_estimators": 2000, "learning_rate": 0.03, "early_stopping": True, "n_iter_no_change": 50},
        {"subsample": 0.8, "colsample_bytree": 0.8},
    ),
    Preset(
        "xgboost", "XGBoost-like", "boosting",
        {"order": 2, "reg_lambda": 1.0, "growth": "depth", "max_depth": 6, "max_leaf_nodes": None,
         "learning_rate": 0.3, "min_samples_leaf": 1, "max_bins": 256},
        {"min_child_weight": 1.0, "gamma": 0.0, "reg_alpha": 0.0},
    ),
    Preset(
        "catboost", "CatBoost-like", "boosting",
        {"growth": "oblivious", "max_depth": 6, "max_leaf_nodes": None, "n_estimators": 1000,
         "learning_rate": 0.03, "order": 2, "reg_lambda": 3.0, "min_samples_leaf": 1},
        {"categorical": "ordered", "ordered_boosting": True, "max_bins": 254},
    ),
    Preset(
        "stumps", "AdaBoost stumps", "adaboost", {"n_estimators": 200, "learning_rate": 0.5},
        {"max_depth": 1, "max_leaf_nodes": 2, "min_samples_leaf": 1},
    ),
)  # fmt: skip


Offered = list[tuple[Preset, dict[str, Any]]]


def presets_of(kind: str, task: str) -> Offered:
    """Return the presets that a kind of model has for a task, with what each sets."""
    offered = [(preset, preset.values(task)) for preset in PRESETS if preset.kind == kind]
    return [(preset, values) for preset, values in offered if values is not None]


def taking_back(offered: Offered, current: Mapping[str, Any], start: Mapping[str, Any]) -> Offered:
    """Return the presets with what each takes back of another one that is in force.

    One is in force while all its settings hold. What it set and the next one does not goes to where a new
    model starts: "XGBoost-like" after "Careful" would sample rows otherwise, which XGBoost does not.

    Parameters
    ----------
    current : mapping
        The model's settings.
    start : mapping
        What a new model of the kind starts with.
    """
    in_force = {name for _, values in offered if values.items() <= current.items() for name in values}
    backs = {name: start[name] for name in in_force if start[name] != current[name]}
    return [
        (preset, values | {name: backs[name] for name in start if name in backs and name not in values})
        for preset, values in offered
    ]
