"""One running ``hermes sessiondb rpc``: requests go to its stdin, answers come from its stdout.

Any number of threads may send requests concurrently. A request is written whole under a lock. A caller that is the only
one waiting reads the answer itself: being woken by another thread takes longer than most answers. Otherwise a thread
reads and distributes the answers; it also waits for the end of the process.
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
# Size of a pipe, where the system allows it, and so the most that is read at once: an answer of some hundred messages
# fits in one piece.
_PIPE = 1 << 18
_END_SECONDS = 30.0
# Number for the first line; no request has it.
_HELLO = -1
# Interval at which a reader checks whether its answer has arrived. A signal handler that sent a request as well may
# have read it.
_LOOK_MILLISECONDS = 200
_log = logging.getLogger("hermes_sessions")
_running: set[Process] = set()


class Lost(Exception):
    """The process is gone, and with it the answer. The outcome of the request is unknown."""


class _Slot:
    """The place where a thread waits for its answer. It uses a plain lock, the cheapest thing that can be waited
    for.
    """

    __slots__ = ("_empty", "answer", "is_filled")

    def __init__(self) -> None:
        self.answer: dict[str, Any] | None = None
        self.is_filled = False
        self._empty = threading.Lock()
        self._empty.acquire()

    def fill(self, answer: dict[str, Any] | None) -> None:
        """Stores the answer. It may be called again after an interrupt."""
        self.answer, self.is_filled = answer, True
        if self._empty.locked():
            self._empty.release()

    def wait(self) -> None:
        self._empty.acquire()


class Process:
    """A process that has opened its store. ``hello`` is its greeting."""

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
            # In a session of its own; otherwise an interrupt typed at the agent's terminal would end it as well.
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
        """Sends a line and waits for the answer of that number. Raises :class:`Lost` if the process ends before."""
        slot = self._enter(number)
        self._write(number, line)
        return self._answer(slot)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    @property
    def is_gone(self) -> bool:
        """Whether it has ended; the requests it had accepted by then were answered."""
        return self._is_gone

    def close(self) -> None:
        """Ends it: closes its input, upon which it answers the accepted requests; kills it only if that doesn't
        help.
        """
        self._end_input()
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            _log.warning("the process of the session store did not end by itself; it is ended now")
            self._child.kill()
            self._child.wait()

    def abandon(self) -> None:
        """In a forked child: closes our ends of the pipes to the parent's process, without affecting it."""
        for name in ("stdin", "stdout", "stderr"):
            self._pipe(name).close()
        # It is not our child: it must not be waited for here.
        self._child.returncode = 0

    def _dismiss(self) -> None:
        """Ends an unusable process, and gives it a moment to report why."""
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
        """Waits until a slot is filled: reads itself if no other thread does, else leaves it to that one or to the
        reading thread.
        """
        try:
            if self._turn.acquire(blocking=False):
                while not slot.is_filled and self._read():
                    pass
        finally:
            # The lock itself is checked: an interrupt may come before a flag could be set.
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
        """Reads and distributes the next answers. Returns whether more may come. Only the holder of the lock reads."""
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        # An interrupt while there is no data does not affect the others.
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
                    raise ValueError(f"the answer belongs to no call: {line[:200]!r}")
            return bool(chunk)
        except Exception:
            _log.exception("the process of the session store said something that can't be read")
            self._child.kill()
            return False
        except BaseException:
            # After an interrupt the data that was read is lost: the threads that wait for it use another process.
            self._child.kill()
            raise

    def _lines_of(self, chunk: bytes) -> Iterator[bytes]:
        """Yields the lines that end in this chunk, of any length, without their newlines."""
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
        # The holder of the lock has released it, and no thread whose slot is filled takes it.
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
                # The pipe is broken; the reader sees the end of the process.
                _log.debug("request %d could not be written: %s", number, error)
                self._child.kill()
            except BaseException:
                # An interrupt: half a line would corrupt the next one, so nothing may be written after it.
                self._child.kill()
                raise

    def _last_words(self) -> str:
        how = f"the process of the session store ended with code {self._child.returncode}"
        return f"{how}: {' / '.join(self._complaints)}" if self._complaints else how

    def _pipe(self, name: str) -> FileIO:
        return cast(FileIO, getattr(self._child, name))


def abandon_all() -> None:
    """In a forked child: abandons every process of the parent."""
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
    # Only Linux has it, and the size per user is limited.
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
