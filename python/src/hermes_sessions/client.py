"""The process of a store, shared by all handles of this Python process, and restarted if it dies.

If the process dies, the next call starts it again, and unacknowledged requests are sent again. Reads can always be
repeated; each write carries an idempotency key, by which the store applies it once and returns the same answer again.
"""

from __future__ import annotations

import atexit
import itertools
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .binary import find_binary
from .errors import StoreClosed, StoreUnavailable, from_answer
from .process import Lost, Process, abandon_all
from .target import Target
from .values import dump_line

# A call fails only after this many deaths of the process, and not before this many seconds: a process that is
# repeatedly killed from outside is not the call's fault.
ATTEMPTS = 12
PATIENCE = 60.0
_LONGEST_PAUSE = 1.0

_clients: dict[tuple[Target, str], Client] = {}
_clients_guard = threading.Lock()


class Client:
    """The state that the handles of one store share. Thread-safe, and safe after a fork."""

    def __init__(self, target: Target, binary: str) -> None:
        self._target = target
        self._identity = (target, binary)
        self._handles = 0
        self._reset()

    def _reset(self) -> None:
        """Creates the state that a forked child must not share with its parent."""
        self._starting = threading.Lock()
        self._process: Process | None = None
        self._numbers = itertools.count(1)
        self._key = secrets.token_hex(12)

    def call(
        self,
        method: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        is_write: bool,
        request_key: str | None = None,
    ) -> Any:
        """Calls a method of the store and returns its result. A write without an idempotency key gets one.

        Raises the store's error, or :class:`StoreUnavailable` once the process has died ``ATTEMPTS`` times during this
        call, and ``PATIENCE`` seconds have passed.
        """
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "m": method, "a": list(args)}
        if kwargs:
            message["k"] = dict(kwargs)
        if request_key or is_write:
            message["q"] = request_key or f"{self._key}-{number}"
        line = dump_line(message)
        first = time.monotonic()
        for attempt in itertools.count(1):
            try:
                answer = self.process().request(number, line)
            except Lost as lost:
                if attempt >= ATTEMPTS and time.monotonic() - first >= PATIENCE:
                    doubt = "; whether it was done is not known" if is_write else ""
                    raise StoreUnavailable(
                        f"{method} was not answered in {attempt} attempts{doubt}. Last, {lost}"
                    ) from lost
                if attempt > 1:
                    time.sleep(min(_LONGEST_PAUSE, 0.0125 * 2 ** min(attempt, 10)))
                continue
            if "e" in answer:
                raise from_answer(answer["e"], answer["t"])
            return answer["r"]
        raise AssertionError("the loop above ends by itself")

    def process(self) -> Process:
        """Returns the running process; starts it if there is none. Raises the error of the start."""
        running = self._process
        if running is not None and not running.is_gone:
            return running
        with self._starting:
            if self._process is None or self._process.is_gone:
                if not self._handles:
                    raise StoreClosed("the session store was closed while it was asked; open a new SessionDB")
                self._process = Process(find_binary(), self._target)
            return self._process

    def start(self) -> dict[str, Any]:
        """Makes sure that the store can be opened and returns the greeting of the process."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self.process().hello
            except Lost as error:
                lost = error
        raise StoreUnavailable(f"the process of the session store does not stay alive. Last, {lost}") from lost

    def release(self) -> None:
        """Closes a handle; closing the last one ends the process."""
        with _clients_guard:
            self._handles -= 1
            if self._handles:
                return
            _clients.pop(self._identity, None)
        self.stop()

    def stop(self) -> None:
        """Ends the process, if it runs, after it has answered the accepted requests."""
        with self._starting:
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def _hold(self) -> Client:
        self._handles += 1
        return self


def acquire(target: Target) -> Client:
    """Returns the client of a store, with one more handle on it."""
    identity = (target, os.fspath(find_binary()))
    with _clients_guard:
        client = _clients.get(identity)
        if client is None:
            client = _clients[identity] = Client(*identity)
        return client._hold()


def _after_fork_in_child() -> None:
    # The parent's other threads do not exist here: a lock that one of them held would stay locked for ever.
    global _clients_guard
    _clients_guard = threading.Lock()
    abandon_all()
    for client in _clients.values():
        client._reset()


def _at_exit() -> None:
    for client in list(_clients.values()):
        client.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(_at_exit)
