"""One running ``hermes sessiondb rpc``: requests go down its stdin, a thread hands its answers out.

Any number of threads may ask at once. A request is written whole under a lock, then its thread sleeps until the reader
wakes it, so a slow answer holds up nobody else.
"""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, cast

from .errors import StoreUnavailable, from_answer
from .target import Target
from .values import load_line

PROTOCOL = 1
# What a pipe holds, where the system allows it, and so the most that is read at once: an answer of some hundred messages
# goes through it in one piece.
_PIPE = 1 << 18
_END_SECONDS = 30.0
_log = logging.getLogger("hermes_sessions")
_running: set[Process] = set()


class Lost(Exception):
    """The process is gone and the answer with it. What was asked may or may not have been done."""


class _Slot:
    """Where a thread waits for its answer. A plain lock: it is the cheapest thing that can be waited for."""

    __slots__ = ("_filled", "answer")

    def __init__(self) -> None:
        self.answer: dict[str, Any] | None = None
        self._filled = threading.Lock()
        self._filled.acquire()

    def fill(self, answer: dict[str, Any] | None) -> None:
        self.answer = answer
        self._filled.release()

    def wait(self) -> dict[str, Any] | None:
        self._filled.acquire()
        return self.answer


class Process:
    """A process that has opened its store. ``hello`` is what it said about itself."""

    hello: dict[str, Any]

    def __init__(self, binary: Path, target: Target) -> None:
        """Starts the process and waits until the store is open.

        Raises the error that the process names if it can't open the store, :class:`StoreUnavailable` if it can't be run
        at all, and :class:`Lost` if it died before it said anything.
        """
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: dict[int, _Slot] = {}
        self._greeting = _Slot()
        self._complaints: deque[str] = deque(maxlen=20)
        self._is_gone = False
        try:
            # In a session of its own, or an interrupt typed at the agent's terminal would end it as well.
            self._child = subprocess.Popen(
                [str(binary), "sessiondb", "rpc", target.argument],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **dict(target.environment)},
                start_new_session=True,
            )
        except OSError as error:
            raise StoreUnavailable(f"{binary} can't be started: {error}") from error
        _running.add(self)
        for name in ("stdin", "stdout"):
            _widen(self._pipe(name))
        self._complaining = threading.Thread(target=self._read_complaints, name="hermes-sessions-stderr", daemon=True)
        self._complaining.start()
        self._reading = threading.Thread(target=self._read_answers, name="hermes-sessions-reader", daemon=True)
        self._reading.start()
        try:
            self._greet()
        except BaseException:
            self._dismiss()
            raise

    def request(self, number: int, line: bytes) -> dict[str, Any]:
        """Sends a line and waits for the answer of that number. :class:`Lost` if the process ends before it comes."""
        slot = _Slot()
        with self._guard:
            if self._is_gone:
                raise Lost(self._last_words())
            self._waiting[number] = slot
        self._write(number, line)
        answer = slot.wait()
        if answer is None:
            raise Lost(self._last_words())
        return answer

    @property
    def pid(self) -> int:
        """The number of the process in the system."""
        return self._child.pid

    @property
    def is_gone(self) -> bool:
        """Whether it has ended; what it had accepted by then was answered."""
        return self._is_gone

    def close(self) -> None:
        """Ends it: first the end of its input, upon which it answers what it accepted; force only if that doesn't help."""
        with self._writing:
            self._pipe("stdin").close()
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            _log.warning("the process of the session store did not end by itself; it is ended now")
            self._child.kill()
            self._child.wait()

    def abandon(self) -> None:
        """In a forked child: lets go of the parent's process without a word to it."""
        for name in ("stdin", "stdout", "stderr"):
            self._pipe(name).close()
        # It is not our child: nobody here may wait for it.
        self._child.returncode = 0

    def _dismiss(self) -> None:
        """Ends a process that is of no use, once it has said why as far as it does so soon."""
        with self._writing:
            self._pipe("stdin").close()
        self._reading.join(1.0)
        self._child.kill()
        self._reading.join(1.0)

    def _greet(self) -> None:
        greeting = self._greeting.wait()
        if greeting is None:
            raise Lost(self._last_words())
        hello = greeting.get("hello")
        if not isinstance(hello, dict):
            raise StoreUnavailable(f"the program of the session store is not one of ours: it said {greeting!r}")
        if "e" in hello:
            raise from_answer(hello["e"], hello["t"])
        if hello.get("protocol") != PROTOCOL:
            said = hello.get("protocol")
            raise StoreUnavailable(
                f"the program speaks protocol {said}, this package {PROTOCOL}; install the wheel again"
            )
        self.hello = hello

    def _read_answers(self) -> None:
        try:
            greeted = False
            for line in _lines(self._pipe("stdout")):
                message = load_line(line)
                if not greeted:
                    greeted = True
                    self._greeting.fill(message)
                    continue
                slot = self._waiting.pop(message["id"], None)
                if slot is not None:
                    slot.fill(message)
        except Exception:
            _log.exception("the process of the session store said something that can't be read")
            self._child.kill()
        finally:
            self._bury(greeted)

    def _bury(self, greeted: bool) -> None:
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._complaining.join(1.0)
        self._pipe("stdout").close()
        with self._writing:
            self._pipe("stdin").close()
        with self._guard:
            self._is_gone = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
        _running.discard(self)
        if not greeted:
            self._greeting.fill(None)
        for slot in waiting:
            slot.fill(None)

    def _read_complaints(self) -> None:
        for line in _lines(self._pipe("stderr")):
            text = line.decode(errors="replace").rstrip()
            if text:
                self._complaints.append(text)
                _log.warning("%s", text)
        self._pipe("stderr").close()

    def _write(self, number: int, line: bytes) -> None:
        with self._writing:
            if self._pipe("stdin").closed:
                self._waiting.pop(number, None)
                raise Lost("the process of the session store was told to end")
            try:
                _write_all(self._pipe("stdin"), line)
            except OSError as error:
                # The pipe is broken; the reader sees the end of the process and wakes whoever waits.
                _log.debug("request %d could not be written: %s", number, error)
                self._child.kill()
            except BaseException:
                # An interrupt: half a line would spoil whatever came after it, so nothing may come after it.
                self._child.kill()
                raise

    def _last_words(self) -> str:
        how = f"the process of the session store ended with code {self._child.returncode}"
        return f"{how}: {' / '.join(self._complaints)}" if self._complaints else how

    def _pipe(self, name: str) -> FileIO:
        return cast(FileIO, getattr(self._child, name))


def abandon_all() -> None:
    """In a forked child: lets go of every process of the parent."""
    for process in _running:
        process.abandon()
    _running.clear()


def _write_all(pipe: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = pipe.write(rest)
        rest = rest[written or 0 :]


def _lines(pipe: FileIO) -> Iterator[bytes]:
    """The lines of a pipe, of any length, without their ends."""
    parts: list[bytes] = []
    while True:
        try:
            chunk = pipe.read(_PIPE)
        except (OSError, ValueError):
            return
        if not chunk:
            return
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            parts.append(line)
            yield b"".join(parts) if len(parts) > 1 else line
            parts.clear()
        if rest:
            parts.append(rest)


def _widen(pipe: FileIO) -> None:
    # Linux alone has it, and each user may have so much only.
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
