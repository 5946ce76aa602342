"""The program's log: a rotating file beside the user's other logs. It never holds cell values (D33)."""

from __future__ import annotations

import logging
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs

LOG = logging.getLogger("workbench")
MAX_BYTES = 1_000_000
N_OLD_FILES = 3


def log_path() -> Path:
    """Return the file that `start_logging` writes."""
    return Path(platformdirs.user_log_dir("treewright", appauthor=False)) / "treewright.log"


def start_logging(path: Path | None = None) -> Path | None:
    """Write the program's and the engine's log to a file; return it, or None where none can be written.

    Calling it again changes the file.
    """
    stop_logging()
    path = path or log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=N_OLD_FILES, encoding="utf-8")
    except OSError:
        return None  # a program without a log is better than none
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for logger in (LOG, logging.getLogger("engine")):
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    return path


def stop_logging() -> None:
    """Close the log file."""
    for logger in (LOG, logging.getLogger("engine")):
        for handler in [h for h in logger.handlers if isinstance(h, RotatingFileHandler)]:
            logger.removeHandler(handler)
            handler.close()


def describe(error: BaseException) -> str:
    """Where an error arose, without the message of errors that quote the table (D33).

    Only types, files, lines and functions are certain to hold no cell values, so an exception's own
    words are left out unless it is one of ours, which name columns and rows.
    """
    from engine.errors import DataError, ParameterError

    kind = type(error)
    frames = "".join(traceback.format_tb(error.__traceback__))
    words = f": {error}" if isinstance(error, ParameterError | DataError) else ""
    return f"{frames}{kind.__module__}.{kind.__qualname__}{words}"
