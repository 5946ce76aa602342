"""Case C42 in a document: a tree of more than 1,000 levels is trained, edited, saved and opened."""

import numpy as np
import pytest

from tests.workbench.making import Session
from workbench.datasets import make_table
from workbench.document import Document
from workbench.exports import export_model, export_rules, load_model, sql_of
from workbench.figures.tree import tree_of_run
from workbench.node_rows import rule_of_node
from workbench.project import load_project, save_project
from workbench.pruning import cut_prices_of, pruning_curve
from workbench.runs import SplitSettings
from workbench.splits import study_node

N = 1050


@pytest.mark.usefixtures("qapp")
def test_c42_a_deep_tree_goes_through_a_document(tmp_path):
    columns = {f"c{i}": column for i, column in enumerate(np.eye(N))}
    table = make_table("deep", columns | {"y": np.arange(N) + 0.5})
    document = Document()
    document.open_table(table)
    document.set_target("y")
    document.set_roles(list(columns), "feature")
    document.set_split(SplitSettings(train=1.0, validation=0.0, test=0.0))
    session = Session(document)
    run_id = session.train("tree", max_depth=None, min_samples_leaf=1)
    session.close()
    result = document.run(run_id).result
    tree = result.trees[0]
    assert (tree.max_depth, tree.n_leaves) == (N - 1, N)
    assert tree_of_run("deep", result, table=table).n_leaves[0] == N
    assert pruning_curve(result, table).path.n_leaves[0] == N
    assert cut_prices_of(result, table).sentence(0).startswith("Cut here: −1,049 leaves;")
    export_model(result, tmp_path / "deep.tree.json")
    assert load_model(tmp_path / "deep.tree.json").trees[0] == tree
    export_rules(result, tmp_path / "deep.rules.txt", table)
    assert load_model(tmp_path / "deep.rules.txt").trees[0] == tree
    assert sql_of(result, table).count("WHEN") == N - 1
    assert study_node(result, table, tree.path_to(tree.n_nodes - 1)[:-1]).found
    assert rule_of_node(result, tree.path_to(tree.n_nodes - 1)).count(" and ") == N - 2

    deep_node = tree.path_to(tree.n_nodes - 1)[:1020]
    document.prune(run_id, deep_node)
    assert document.run(run_id).result.trees[0].max_depth == 1020
    save_project(document, tmp_path / "deep.treewright", include_rows=True)
    again = load_project(tmp_path / "deep.treewright").runs[0].result
    assert again.trees == document.run(run_id).result.trees
    assert again.edits[0].path == deep_node
    document.undo_stack.undo()
    assert document.run(run_id).result.trees[0] == tree
