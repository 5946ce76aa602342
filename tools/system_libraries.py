"""Find the system libraries that Qt needs and this machine lacks; install them where that is possible.

Asks `ldd`, instead of keeping a list, what the libraries inside the installed Qt cannot find. On Debian
and Ubuntu the missing packages are installed when run as root; otherwise the exact line is printed.
Elsewhere than on Linux there is nothing to do.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ASKED = (
    "libQt6Gui.so.6",
    "libQt6Widgets.so.6",
    "libQt6Svg.so.6",
    "libQt6XcbQpa.so.6",
    "../plugins/platforms/libqxcb.so",
    "../plugins/platforms/libqoffscreen.so",
)
ODD_NAMES = {"libglib-2.0.so.0": "libglib2.0-0", "libgthread-2.0.so.0": "libglib2.0-0"}
LOCALE = {**os.environ, "LC_ALL": "C"}


def qt_libraries() -> list[Path]:
    """The shared libraries of the installed PySide6 that link to the system."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        sys.exit("PySide6 is not installed in this environment; run `make setup` first")
    folder = Path(spec.origin).parent / "Qt" / "lib"
    return [folder / name for name in ASKED if (folder / name).exists()]


def missing_libraries() -> list[str]:
    """Names such as "libxcb-cursor.so.0" that ldd reports as not found."""
    missing: set[str] = set()
    for library in qt_libraries():
        told = subprocess.run(["ldd", str(library)], capture_output=True, text=True, env=LOCALE, check=False)
        missing.update(re.findall(r"^\s*(\S+) => not found", told.stdout, re.MULTILINE))
    return sorted(name for name in missing if not name.startswith(("libQt6", "libpyside", "libshiboken")))


def package_of(library: str) -> str:
    """Debian's package of a library, by Debian's own naming rule (policy, section 8.1)."""
    if library in ODD_NAMES:
        return ODD_NAMES[library]
    return re.sub(r"\.so\.", "", re.sub(r"(\d)\.so\.", r"\1-", library)).lower()


def main() -> int:
    """Report or install; the exit code is 0 unless something is still missing."""
    if not sys.platform.startswith("linux") or shutil.which("ldd") is None:
        return 0
    missing = missing_libraries()
    if not missing:
        return 0
    print("Qt lacks these system libraries: " + ", ".join(missing))
    packages = sorted({package_of(library) for library in missing})
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if shutil.which("apt-get") is None:
        print("Install the packages of your system that carry them, then try again.")
        return 1
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        print("Run this line, then try again:\n    sudo " + " ".join(command))
        return 1
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], env=quiet, stdout=subprocess.DEVNULL, check=False)
    done = subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False)
    still = missing_libraries()
    if done.returncode or still:
        print("Still missing: " + ", ".join(still or missing))
        return 1
    print("Installed: " + ", ".join(packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
