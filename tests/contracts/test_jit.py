"""One kernel decorator; a cache that notices edits, damage and folders it cannot write (case C38)."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from engine import jit

ROOT = Path(jit.__file__).parent.parent
REPORT = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
"""
ONE_KERNEL = """
from engine.kernels.numeric import midpoint
print("folder", midpoint.stats.cache_path)
print("value", midpoint(1.0, 2.0))
print("hits", sum(midpoint.stats.cache_hits.values()))
"""
NO_HOME = """
import os, pwd
def unknown(uid):
    raise KeyError(uid)
pwd.getpwuid = unknown
del os.environ["HOME"]
"""
HUNDRED_ROWS = """
import numpy as np
import engine
X = np.arange(200.0).reshape(100, 2)
y = X[:, 0] > 60
model = engine.DecisionTreeClassifier().fit(X, y)
print("score", model.score(X, y))
print("engine", engine.__file__)
import os
print("blocked", not os.access(os.path.dirname(engine.__file__), os.W_OK))
import gc
from numba.core.registry import CPUDispatcher
kernels = [item for item in gc.get_objects() if isinstance(item, CPUDispatcher)]
print("compiled", sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels))
"""

NOBODY = 65534

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is switched off")


class Places:
    """Where a child process may keep its kernels: each named below a file, where no folder can be made."""

    def __init__(self, tmp_path):
        self.folder = tmp_path
        (tmp_path / "a-file").write_text("")
        blocked = tmp_path / "a-file" / "below"
        self.named, self.home, self.temporary = blocked, blocked, blocked

    def allow(self, *names):
        for name in names:
            folder = self.folder / name
            folder.mkdir(exist_ok=True)
            setattr(self, name, folder)

    def run(self, program, cwd=None, path=ROOT, as_someone=()):
        """What the program printed, by first word, and the log lines of the cache.

        `as_someone` is a command that runs another command, as another user.
        """
        environment = {name: of for name, of in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))}
        environment |= {"HOME": str(self.home), "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop(jit.CACHE_VARIABLE, None)
        if self.named is not None:
            environment[jit.CACHE_VARIABLE] = str(self.named)
        set_temporary = f"import tempfile; tempfile.tempdir = {str(self.temporary)!r}\n"
        done = subprocess.run(
            [*as_someone, sys.executable, "-c", set_temporary + REPORT + program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=cwd or self.folder,
        )
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        told = dict(line.split(" ", 1) for line in lines if not line.startswith("engine.jit: "))
        return told, [line.removeprefix("engine.jit: ") for line in lines if line.startswith("engine.jit: ")]


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path)


@needs_compiler
@pytest.mark.parametrize(
    ("allowed", "used"),
    [
        (["named", "home", "temporary"], "named"),
        (["home", "temporary"], "home"),
        (["temporary"], "temporary"),
    ],
)
def test_kernels_are_kept_in_the_first_folder_that_can_be_written(places, allowed, used):
    """The named folder, the user's cache, the temporary folder; one line of log says which."""
    places.allow(*allowed)
    told, log = places.run(ONE_KERNEL)
    assert told["value"] == "1.5"
    assert told["folder"].startswith(str(getattr(places, used)))
    (line,) = log
    chosen = Path(line.removeprefix("compiled kernels are kept in "))
    assert chosen.name == f"kernels-{jit.source_hash()}"
    assert chosen.is_relative_to(getattr(places, used))
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o700
    for other in {"named", "home", "temporary"} - {used}:
        assert not getattr(places, other).exists() or not any(getattr(places, other).iterdir())


@needs_compiler
def test_with_no_folder_kernels_run_uncached_with_one_line(places):
    told, log = places.run(ONE_KERNEL.replace("midpoint.stats.cache_path", "None"))
    assert told["value"] == "1.5"
    assert log == ["no folder can be written: kernels are compiled anew at every start"]


@needs_compiler
def test_no_home_folder_at_all(places):
    """A container's user without an entry in the password database, and no HOME."""
    places.allow("temporary")
    told, log = places.run(NO_HOME + ONE_KERNEL)
    assert told["folder"].startswith(str(places.temporary))
    assert len(log) == 1
    assert {item.name for item in places.folder.iterdir()} == {"a-file", "temporary"}


@needs_compiler
def test_the_second_start_loads_from_the_cache(places):
    places.allow("named")
    first, second = (places.run(ONE_KERNEL)[0] for _ in range(2))
    assert (first["hits"], second["hits"]) == ("0", "1")


@needs_compiler
def test_a_damaged_cache_is_compiled_anew(places):
    places.allow("named")
    places.run(ONE_KERNEL)
    for data in places.named.rglob("*.nbc"):
        data.write_bytes(data.read_bytes()[:100])
    told, log = places.run(ONE_KERNEL)
    assert told["value"] == "1.5"
    assert log[1:] == ["a damaged cache entry of midpoint is compiled anew"]
    told, log = places.run(ONE_KERNEL)
    assert told["hits"] == "1", "the damaged entry was replaced"
    assert len(log) == 1


def command_of_a_plain_user(*owned):
    """A command before a command that takes root's rights to write from it; nothing for other users.

    Root may write whatever the permissions say, so that a read-only folder would block nothing. The plain
    user may read all that root may, since the interpreter's own folder is often closed to others.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    for folder in owned:
        os.chown(folder, NOBODY, NOBODY)
    rights = "-all,+dac_read_search"
    user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    command = ["setpriv", *user, "--inh-caps", rights, "--ambient-caps", rights, "--"]
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    # a container whose root lacks that right: the interpreter has to be open to all there
    return command if tried.returncode == 0 else ["setpriv", *user, "--"]


@needs_compiler
def test_read_only_install_without_a_home(places):
    """Case C38, all but the frozen build: the second start, from another folder, compiles nothing."""
    install = places.folder / "install"
    shutil.copytree(ROOT / "engine", install / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(install.rglob("*"))
    for path in [install, *before]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    places.allow("temporary")
    places.named = None
    elsewhere = places.folder / "elsewhere"
    elsewhere.mkdir()
    places.home = places.folder / "no-such-home"
    places.folder.chmod(0o555)
    someone = command_of_a_plain_user(places.temporary)
    first, log = places.run(HUNDRED_ROWS, path=install, as_someone=someone)
    second, second_log = places.run(HUNDRED_ROWS, path=install, cwd=elsewhere, as_someone=someone)
    places.folder.chmod(0o755)
    for path in [install, *before]:
        path.chmod(0o755)  # so that the folder can be cleaned up
    assert first["engine"] == second["engine"] == str(install / "engine" / "__init__.py")
    assert first["score"] == second["score"] == "1.0"
    assert first["blocked"] == second["blocked"] == "True"
    assert int(first["compiled"]) > 10
    assert second["compiled"] == "0"
    assert log == second_log
    assert len(log) == 1
    kept = Path(log[0].removeprefix("compiled kernels are kept in "))
    assert kept.is_relative_to(places.temporary)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert not places.home.exists()
    assert sorted(install.rglob("*")) == before
    assert not any(elsewhere.iterdir())


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


@needs_compiler
def test_a_constant_argument_makes_no_variant_of_its_own():
    @jit.kernel
    def twice(number):
        return 2 * number

    @jit.kernel
    def sum_of_calls(number):
        return twice(number) + twice(0) + twice(1)

    assert sum_of_calls(5) == 12
    assert twice.signatures == [(numba.types.int64,)]


@pytest.fixture
def without_a_cache(monkeypatch):
    """What comes from a cache has no code to be read, and was compiled already."""
    monkeypatch.setattr(jit, "cache_folder", lambda: None)


@needs_compiler
def test_kernels_count_no_references_to_their_arrays(without_a_cache):
    @jit.kernel
    def from_row_on(values, row):
        return values[row:].size

    @jit.kernel
    def sum_of_sizes(values):
        return from_row_on(values, 0) + from_row_on(values, 1)

    counting = jit.counting_kernel(sum_of_sizes.py_func)
    assert sum_of_sizes(np.ones(3)) == counting(np.ones(3)) == 5
    (uncounted,), (counted,) = (kernel.inspect_llvm().values() for kernel in (sum_of_sizes, counting))
    assert "@NRT_incref" not in uncounted
    assert "@NRT_incref" in counted


@needs_compiler
def test_a_kernel_that_makes_an_array_has_to_count(without_a_cache):
    def doubles(values):
        made = np.empty(values.size)
        made[:] = 2 * values
        return made

    with pytest.raises(numba.NumbaError):
        jit.kernel(doubles)(np.ones(2))
    assert jit.counting_kernel(doubles)(np.ones(2)).tolist() == [2, 2]


@needs_compiler
def test_a_kernel_takes_no_array_that_only_who_counts_would_release(without_a_cache):
    @jit.counting_kernel
    def halves(values):
        return values[: values.size // 2], values[values.size // 2 :]

    def sum_of_first(values):
        return halves(values)[0].sum()

    with pytest.raises(numba.NumbaError, match="make its caller a counting_kernel"):
        jit.kernel(sum_of_first)(np.ones(4))
    values = np.ones(4)
    n_users = sys.getrefcount(values)
    assert jit.counting_kernel(sum_of_first)(values) == 2
    assert sys.getrefcount(values) == n_users


TOTAL = """
from engine.jit import kernel

@kernel
def total(values):
    result = values[0]
    for i in range(1, values.size):
        result += values[i]
    return result
"""


@needs_compiler
def test_code_of_another_variant_under_the_name_of_this_one_is_not_run(tmp_path):
    (tmp_path / "one_kernel.py").write_text(TOTAL)

    def add_up(cache, dtype):
        program = f"import numpy as np, one_kernel; print(one_kernel.total(np.arange(8, dtype='{dtype}')))"
        environment = os.environ | {
            jit.CACHE_VARIABLE: str(tmp_path / cache),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        }
        run = [sys.executable, "-c", program]
        return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert add_up("here", "int64") == "28"
    assert add_up("there", "float64") == "28.0"
    (ours,), (theirs,) = ((tmp_path / name).rglob("*.nbc") for name in ("here", "there"))
    shutil.copy(theirs, ours)  # what two processes that save at the same moment may leave
    assert add_up("here", "int64") == "28"
    assert add_up("here", "int64") == "28"
