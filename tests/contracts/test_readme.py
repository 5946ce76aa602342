"""What the README shows runs as it stands there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_engine_runs(monkeypatch, capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL).group(1)
    monkeypatch.chdir(ROOT)  # where the README tells to run it; nothing is copied there first
    exec(compile(example, "README.md", "exec"), {})
    first, *sql = capsys.readouterr().out.splitlines()
    n_leaves, accuracy = first.split()
    assert (n_leaves, float(accuracy) > 0.95) == ("4", True)
    assert (sql[0], sql[-1], len(sql)) == ("CASE", 'END AS "prediction"', int(n_leaves) + 2)
