"""The one kernel decorator: nogil, cached where a cache folder can be written.

numba's cache notices an edit in a kernel's own file but not in a file it calls into, so the cache
folder's name holds a hash of all engine sources and of numba's version: an edit anywhere is a new
folder, and kernels may share code freely.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack
from numba.core.types.misc import unliteral
from numpy.typing import NDArray

LOG = logging.getLogger(__name__)
CACHE_VARIABLE = "TREEWRIGHT_CACHE_DIR"
KEPT_FOLDERS = 3  # caches of older versions of the engine beyond this many are removed


@cache
def source_hash() -> str:
    """Hash of every engine source file, numba's version and the Python version: 16 hex digits."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _candidates() -> list[Path]:
    wanted = os.environ.get(CACHE_VARIABLE)
    named = [Path(wanted)] if wanted else []
    return [*named, *_user_cache(), *_temporary_cache()]


def _user_cache() -> list[Path]:
    """Return the user's cache folder; none where no home folder is known."""
    try:
        folder = Path(platformdirs.user_cache_dir("treewright", appauthor=False))
    except RuntimeError:
        return []
    # older versions of platformdirs return "~/.cache", a folder of wherever the program was started
    return [folder] if folder.is_absolute() else []


def _temporary_cache() -> list[Path]:
    """Return this user's folder in the shared temporary place; none where nothing can be written."""
    try:
        folder = Path(tempfile.gettempdir())
        # a number, not a name: a machine without a home folder may lack the database of users too
        return [folder / f"treewright-cache-{_owner_of_new_files(folder)}"]
    except OSError:
        return []


def _owner_of_new_files(folder: Path) -> int:
    """Return our user's number as the file system tells it, which works on every system."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_uid


def _usable(folder: Path) -> bool:
    """Make `folder` for its owner alone; tell whether it belongs to us and can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # another user's folder in a shared temporary place: never load code from it
        return folder.stat().st_uid == _owner_of_new_files(folder)
    except OSError:
        return False


@cache
def cache_folder() -> Path | None:
    """Folder of the compiled kernels of exactly these sources, or None where none can be written."""
    for place in _candidates():
        folder = place / f"kernels-{source_hash()}"
        if _usable(folder):
            _drop_old_folders(folder)
            LOG.info("compiled kernels are kept in %s", folder)
            return folder
    LOG.warning("no folder can be written: kernels are compiled anew at every start")
    return None


def _drop_old_folders(current: Path) -> None:
    try:
        others = [p for p in current.parent.glob("kernels-*") if p != current and p.is_dir()]
        others.sort(key=lambda p: p.stat().st_mtime)
    except OSError:
        return  # another process cleans up at the same moment
    for folder in others[: max(0, len(others) - KEPT_FOLDERS)]:
        shutil.rmtree(folder, ignore_errors=True)


def _tolerate_damage(dispatcher: Any) -> None:
    """Compile anew when a cache file is damaged: numba alone would raise EOFError at the first call."""
    load = dispatcher._cache.load_overload

    def load_or_recompile(signature: Any, target_context: Any) -> Any:
        try:
            loaded = load(signature, target_context)
            # two processes that save at once may take one file for two variants, and the index names one
            if loaded is None or tuple(loaded.signature.args) == normalize_signature(signature)[0]:
                return loaded
        except Exception as error:
            LOG.debug("the cache of %s cannot be read: %s", dispatcher.py_func.__name__, error)
        LOG.warning("a damaged cache entry of %s is compiled anew", dispatcher.py_func.__name__)
        return None

    dispatcher._cache.load_overload = load_or_recompile


def _widen_literals(dispatcher: Any) -> None:
    """Compile one variant for all integers: numba alone compiles ``f(x, 0)`` and ``f(x, 1)`` apart."""
    template_of = dispatcher.get_call_template

    def template_without_literals(args: Any, kws: Any) -> Any:
        return template_of(
            tuple(unliteral(arg) for arg in args),
            {name: unliteral(arg) for name, arg in kws.items()},
        )

    dispatcher.get_call_template = template_without_literals


def _refuse_callers_that_do_not_count(dispatcher: Any) -> None:
    """Refuse to compile a call whose array nobody would release: its memory would never be free again."""
    template_of = dispatcher.get_call_template

    def template_for_counting_callers(args: Any, kws: Any) -> Any:
        found = template_of(args, kws)
        caller = ConfigStack.top_or_none()
        returned = dispatcher.overloads[tuple(found[2])].signature.return_type
        if caller is not None and not caller.nrt and _holds_arrays(returned):
            raise numba.TypingError(
                f"{dispatcher.py_func.__name__} returns {returned}; make its caller a counting_kernel too"
            )
        return found

    dispatcher.get_call_template = template_for_counting_callers


def _holds_arrays(returned: Any) -> bool:
    if isinstance(returned, numba.types.BaseTuple):
        return any(map(_holds_arrays, returned))
    return isinstance(returned, numba.types.Array)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first call: serial, without the interpreter lock, from the cache if it can.

    Never `parallel=True`: two threads inside parallel kernels abort the process under numba's
    default thread layer; `engine.parallel` runs serial kernels in threads instead. Never `fastmath`:
    it assumes that there is no NaN, and NaN means missing here.

    Kernels hold no references, since whoever calls them holds the arrays: numba alone counts the users
    of every array at every call from kernel to kernel, atomically, which took two fifths of the time
    that trees of small tables took to grow. One that makes arrays is a `counting_kernel`.

    With the compiler off the kernel is plain Python that overflows as quietly as compiled code: bit
    tricks overflow on purpose, which numpy would warn of.
    """
    return _compiled(function, counts_references=False)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile a `kernel` that kernels alone call: what lets Python call it takes up to 0.3 seconds more."""
    return _compiled(function, counts_references=False, no_cpython_wrapper=True)


def counting_kernel(function: Callable[..., Any]) -> Any:
    """Compile a `kernel` that counts references, as one that makes, reshapes or returns arrays must.

    Arrays may be returned to Python and to kernels that count, to no others: compiling those is refused.
    """
    return _compiled(function, counts_references=True)


def _compiled(function: Callable[..., Any], *, counts_references: bool, **options: bool) -> Any:
    if not is_compiling():
        return np.errstate(over="ignore")(function)
    folder = cache_folder()
    if folder is not None:
        numba.config.CACHE_DIR = str(folder)
    compiled = numba.njit(
        nogil=True, cache=folder is not None, error_model="numpy", _nrt=counts_references, **options
    )(function)  # fmt: skip
    _widen_literals(compiled)
    if counts_references:
        _refuse_callers_that_do_not_count(compiled)
    if folder is not None:
        _tolerate_damage(compiled)
    return compiled


def compile_for(function: Any, *arguments: Any) -> None:
    """Compile a kernel for the types of `arguments` without calling it; nothing with the compiler off."""
    if is_compiling():
        function.compile(tuple(numba.typeof(argument) for argument in arguments))


def new_records(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return records with fields as attributes: as numba sees them all, numpy its slower recarray alone."""
    records = np.zeros(size, dtype)
    return records if is_compiling() else records.view(np.recarray)


def is_compiling() -> bool:
    """Tell whether kernels are compiled; NUMBA_DISABLE_JIT=1 runs them as plain Python."""
    return not numba.config.DISABLE_JIT


def specialisations(function: Any) -> int:
    """How many variants of a kernel were compiled; 1 where the compiler is switched off."""
    return len(function.signatures) if hasattr(function, "signatures") else 1
