"""One kernel decorator; a cache that notices edits, damage and folders it cannot write (case C38)."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from engine import jit

PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(message)s")
import numpy as np
from engine.kernels.numeric import midpoint
print("folder", midpoint.stats.cache_path if hasattr(midpoint, "stats") else None)
print("value", midpoint(1.0, 2.0))
print("hits", sum(midpoint.stats.cache_hits.values()) if hasattr(midpoint, "stats") else 0)
"""

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is switched off")


def run_kernel(cache, **environment):
    settings = os.environ | {jit.CACHE_VARIABLE: str(cache)} | environment
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=settings,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(jit.__file__).parent.parent,
    )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line), done.stdout


@needs_compiler
def test_the_second_start_loads_from_the_cache(tmp_path):
    first, _ = run_kernel(tmp_path)
    second, _ = run_kernel(tmp_path)
    assert (first["hits"], second["hits"]) == ("0", "1")
    assert first["folder"].startswith(str(tmp_path))
    assert jit.source_hash() in first["folder"]


@needs_compiler
def test_a_damaged_cache_is_compiled_anew(tmp_path):
    run_kernel(tmp_path)
    for data in tmp_path.rglob("*.nbc"):
        data.write_bytes(data.read_bytes()[:100])
    second, said = run_kernel(tmp_path)
    assert second["value"] == "1.5"
    assert "compiled anew" in said


@needs_compiler
def test_an_unwritable_named_folder_falls_back_to_another(tmp_path):
    blocked = tmp_path / "a-file"
    blocked.write_text("no folder can be made below a file")
    found, _ = run_kernel(blocked / "below", XDG_CACHE_HOME=str(tmp_path / "user"))
    assert found["value"] == "1.5"
    assert found["folder"].startswith(str(tmp_path / "user"))


@needs_compiler
def test_with_no_writable_folder_kernels_run_uncached_with_one_line(tmp_path):
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    nowhere = str(blocked / "below")
    program = PROGRAM.replace("import numpy", f"import engine.jit; engine.jit._candidates = lambda: [__import__('pathlib').Path({nowhere!r})]\nimport numpy")  # fmt: skip  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(jit.__file__).parent.parent,
    )
    assert "value 1.5" in done.stdout
    assert done.stdout.count("no folder can be written") == 1


def test_the_hash_covers_every_engine_source(tmp_path, monkeypatch):
    package = tmp_path / "engine"
    (package / "kernels").mkdir(parents=True)
    (package / "jit.py").write_text("")
    callee = package / "kernels" / "numeric.py"
    callee.write_text("a = 1\n")
    monkeypatch.setattr(jit, "__file__", str(package / "jit.py"))
    before = jit.source_hash.__wrapped__()
    callee.write_text("a = 2\n")
    assert jit.source_hash.__wrapped__() != before


def test_old_cache_folders_are_dropped_but_the_newest(tmp_path):
    for age in range(6):
        folder = tmp_path / f"kernels-{age}"
        folder.mkdir()
        os.utime(folder, (1000 - age, 1000 - age))
    current = tmp_path / "kernels-5"
    jit._drop_old_folders(current)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kernels-0", "kernels-1", "kernels-2", "kernels-5"]


def doubled(x):
    return x + x


def test_specialisations_count_variants():
    kernel = jit.kernel(doubled)
    seen = []
    for x in (1.5, 2.5, 1):
        kernel(x)
        seen.append(jit.specialisations(kernel))
    assert seen == ([1, 1, 1] if numba.config.DISABLE_JIT else [1, 1, 2])
    assert jit.specialisations(abs) == 1
