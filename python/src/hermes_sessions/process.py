"""One running ``hermes sessiondb rpc``: requests go down its stdin, answers come up its stdout.

Any number of threads may ask at once. A request is written whole under a lock. Who asks while nobody else waits reads the
answer as well: to be woken by another thread takes longer than most answers. For all others a thread reads, and hands out
what it reads; it also sees the process to its end.
"""

from __future__ import annotations

import logging
import os
import select
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
# The number under which the first line is awaited; no request has it.
_HELLO = -1
# So often who reads looks whether it has its answer. It may have come by way of a signal's handler that asked as well.
_LOOK_MILLISECONDS = 200
_log = logging.getLogger("hermes_sessions")
_running: set[Process] = set()


class Lost(Exception):
    """The process is gone and the answer with it. What was asked may or may not have been done."""


class _Slot:
    """Where a thread waits for its answer. A plain lock: it is the cheapest thing that can be waited for."""

    __slots__ = ("_empty", "answer", "is_filled")

    def __init__(self) -> None:
        self.answer: dict[str, Any] | None = None
        self.is_filled = False
        self._empty = threading.Lock()
        self._empty.acquire()

    def fill(self, answer: dict[str, Any] | None) -> None:
        """Who was interrupted on the way out of here may come again."""
        self.answer, self.is_filled = answer, True
        if self._empty.locked():
            self._empty.release()

    def wait(self) -> None:
        self._empty.acquire()


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
        self._turn = threading.RLock()
        self._needed = threading.Event()
        self._is_ending = False
        self._parts: list[bytes] = []
        self._complaints: deque[str] = deque(maxlen=20)
        self._is_gone = False
        try:
            # In a session of its own, or an interrupt typed at the agent's terminal would end it as well.
            self._child = subprocess.Popen(
                [str(binary), "sessiondb", "rpc", "--upgrade", target.argument],
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
        self._stdout = self._pipe("stdout").fileno()
        self._complaining = threading.Thread(target=self._read_complaints, name="hermes-sessions-stderr", daemon=True)
        self._complaining.start()
        self._reading = threading.Thread(target=self._read_for_others, name="hermes-sessions-reader", daemon=True)
        self._reading.start()
        try:
            self._greet()
        except BaseException:
            self._dismiss()
            raise

    def request(self, number: int, line: bytes) -> dict[str, Any]:
        """Sends a line and waits for the answer of that number. :class:`Lost` if the process ends before it comes."""
        slot = self._enter(number)
        self._write(number, line)
        return self._answer(slot)

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
        self._end_input()
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
        self._end_input()
        self._reading.join(1.0)
        self._child.kill()
        self._reading.join(1.0)

    def _end_input(self) -> None:
        with self._writing:
            self._pipe("stdin").close()
        self._is_ending = True
        self._needed.set()

    def _greet(self) -> None:
        greeting = self._answer(self._enter(_HELLO))
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

    def _enter(self, number: int) -> _Slot:
        slot = _Slot()
        with self._guard:
            if self._is_gone:
                raise Lost(self._last_words())
            self._waiting[number] = slot
        return slot

    def _answer(self, slot: _Slot) -> dict[str, Any]:
        """Waits until a slot is filled: reads, if nobody else does, or leaves it to who does and then to the thread."""
        try:
            if self._turn.acquire(blocking=False):
                while not slot.is_filled and self._read():
                    pass
        finally:
            # The lock itself is asked: an interrupt may come before anybody could note that it was taken.
            if self._turn._is_owned():  # type: ignore[attr-defined]
                self._turn.release()
            if not slot.is_filled:
                self._needed.set()
        slot.wait()
        if slot.answer is None:
            raise Lost(self._last_words())
        return slot.answer

    def _read_for_others(self) -> None:
        try:
            while True:
                self._needed.wait()
                self._needed.clear()
                with self._turn:
                    while self._waiting or self._is_ending:
                        if not self._read():
                            return
        finally:
            self._bury()

    def _read(self) -> bool:
        """Hands out what comes next; whether more may come. Only who has the turn reads."""
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        # An interrupt while nothing comes leaves the others alone.
        if not poll.poll(_LOOK_MILLISECONDS):
            return True
        try:
            chunk = os.read(self._stdout, _PIPE)
            for line in self._lines_of(chunk):
                message = load_line(line)
                number = message.get("id", _HELLO)
                slot = self._waiting.get(number)
                if slot is not None:
                    slot.fill(message)
                    self._waiting.pop(number, None)
                elif number == _HELLO:
                    raise ValueError(f"it answers nobody: {line[:200]!r}")
            return bool(chunk)
        except Exception:
            _log.exception("the process of the session store said something that can't be read")
            self._child.kill()
            return False
        except BaseException:
            # An interrupt, and with it what had come is lost: whoever waits for it asks another process.
            self._child.kill()
            raise

    def _lines_of(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end here, of any length, without their ends."""
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._parts.append(line)
            line = b"".join(self._parts) if len(self._parts) > 1 else line
            self._parts.clear()
            yield line
        if rest:
            self._parts.append(rest)

    def _bury(self) -> None:
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._complaining.join(1.0)
        with self._writing:
            self._pipe("stdin").close()
        with self._guard:
            self._is_gone = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for slot in waiting:
            slot.fill(None)
        # Whoever had the turn has let it go, and nobody takes it whose slot is filled.
        with self._turn:
            self._pipe("stdout").close()
        _running.discard(self)

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
                # The pipe is broken; whoever reads sees the end of the process.
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
    with suppress(OSError, ValueError):
        yield from pipe


def _widen(pipe: FileIO) -> None:
    # Linux alone has it, and each user may have so much only.
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
