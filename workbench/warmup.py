"""Compiling the engine's kernels in a child process at the first start, so that nobody waits twice."""

from __future__ import annotations

import sys
from threading import Event

from PySide6.QtCore import QObject, QProcess, Signal

from engine.errors import FitStopped
from engine.monitor import FitMonitor, IterationEvent

WAIT_S = 0.05
GRACE_MS = 800
COMMAND = ("-m", "workbench", "--warm-up")


def step_of(line: str) -> str:
    """Return the kind of model that a line such as "3/7 random forest for classes" is about."""
    _, _, name = line.partition(" ")
    return name.partition(" for ")[0]


class WarmUp(QObject):
    """Runs the engine's warm-up in a process that gives way to the window, and tells how far it is.

    A training waits for it in its worker: two processes compiling the same kernels would both be
    slow, and compiling inside this one makes the window stutter.
    """

    advanced = Signal(str)  # such as "3/12 random forest"
    ended = Signal(bool)  # True: everything is compiled

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_over = Event()
        self._is_over.set()
        self._compiled: frozenset[str] = frozenset()  # replaced whole: read by workers
        self.text = ""
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    @property
    def is_running(self) -> bool:
        return not self._is_over.is_set()

    def start(self, program: str = sys.executable, arguments: tuple[str, ...] = COMMAND) -> None:
        """Start the child process; with warm caches it ends after reading them."""
        if not self.is_running:
            self._is_over.clear()
            self._process.start(program, list(arguments))

    def stop(self) -> None:
        """End the child process: the program is quitting."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.terminate()
            if not self._process.waitForFinished(GRACE_MS):
                self._process.kill()
                self._process.waitForFinished(GRACE_MS)
        self._is_over.set()

    def wait_until_warm(self, step: str, monitor: FitMonitor) -> None:
        """Wait in a worker thread until the kernels of one kind of model are compiled.

        Parameters
        ----------
        step : str
            What the warm-up calls the kind, such as "decision tree".
        monitor : FitMonitor

        Raises
        ------
        FitStopped
            The monitor asked to stop meanwhile.
        """
        while step not in self._compiled and not self._is_over.wait(WAIT_S):
            message = f"preparing the engine, once: {self.text}"
            if monitor.on_iteration(IterationEvent("preparing", message=message)):
                raise FitStopped

    def _read(self) -> None:
        lines = bytes(self._process.readAllStandardOutput().data()).decode(errors="replace").splitlines()
        for line in lines:
            if line.strip():
                self._note_compiled(line.strip())
                self.text = line.strip()
                self.advanced.emit(self.text)

    def _note_compiled(self, line: str) -> None:
        before, now = step_of(self.text), step_of(line)
        if before and before != now:
            self._compiled |= {before}

    def _on_finished(self, code: int, _status: QProcess.ExitStatus) -> None:
        self._finish(code == 0)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:  # else `finished` follows
            self._finish(False)

    def _finish(self, is_warm: bool) -> None:
        if self.is_running:
            self._is_over.set()
            self.ended.emit(is_warm)
