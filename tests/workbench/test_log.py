"""The log is a file that turns over, and says where errors arose without quoting the table (D33)."""

import logging

import pytest

from engine.errors import DataError
from workbench import log


@pytest.fixture
def path(tmp_path):
    yield log.start_logging(tmp_path / "logs" / "treewright.log")
    log.stop_logging()


def test_program_and_engine_write_one_file(path):
    log.LOG.error("from the program")
    logging.getLogger("engine.jit").info("from the engine")
    logging.getLogger("numba").error("from elsewhere")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "ERROR workbench: from the program",
        "INFO engine.jit: from the engine",
    ]


def test_the_file_turns_over_and_old_ones_are_dropped(path, monkeypatch):
    monkeypatch.setattr(log, "MAX_BYTES", 1000)
    log.start_logging(path)
    for _ in range(200):
        log.LOG.info("x" * 100)
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == ["treewright.log", *(f"treewright.log.{k + 1}" for k in range(log.N_OLD_FILES))]
    assert all(file.stat().st_size <= 1000 for file in path.parent.iterdir())


def test_without_a_place_there_is_no_log(tmp_path):
    (tmp_path / "file").write_text("")
    assert log.start_logging(tmp_path / "file" / "below" / "treewright.log") is None


def test_an_error_is_described_without_its_words_unless_they_are_ours():
    def told(error):
        try:
            raise error
        except type(error):
            return log.describe(error)

    cell = "4711"
    assert cell not in told(ValueError(cell))
    assert "in told" in told(ValueError(cell))
    assert told(ValueError(cell)).endswith("builtins.ValueError")
    assert told(DataError("column 'x' is empty")).endswith("DataError: column 'x' is empty")
