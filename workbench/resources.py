"""Where the files that ship with the program are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent / "resources")  # the wheel's, the checkout's


def path(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as ``path("samples", "penguins.csv")``.

    Raises
    ------
    FileNotFoundError
        Nothing of that name ships with the program.
    """
    for root in _ROOTS:
        found = root.joinpath(*parts)
        if found.exists():
            return found
    raise FileNotFoundError(f"{'/'.join(parts)} does not ship with this installation; install it again")
