"""What the README shows runs as it stands there."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_engine_runs(tmp_path, monkeypatch, capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL).group(1)
    shutil.copy(ROOT / "resources" / "samples" / "penguins.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    first, *sql = capsys.readouterr().out.splitlines()
    n_leaves, accuracy = first.split()
    assert (n_leaves, float(accuracy) > 0.95) == ("4", True)
    assert (sql[0], sql[-1], len(sql)) == ("CASE", 'END AS "prediction"', int(n_leaves) + 2)
