"""Times three calls through Python, on the agent's own store and on ours, in one run: ``scripts/python-bench``.

The two take turns, call by call, so that whatever else the machine does meets both alike. Prints the median and the 99th
percentile in microseconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from compare import peer

from hermes_sessions import SessionDB

WORDS = "the login pool retries billing queue migration slow because connection deploy Friday review tests green merge".split()


def text(number: int) -> str:
    """A message of about 400 characters."""
    return " ".join(WORDS[(number * 7 + at * at) % len(WORDS)] for at in range(60)) + f" {number}"


def fill(db: Any, sessions: int) -> None:
    for number in range(sessions):
        db.create_session(f"s{number}", "cli")
        db.replace_messages(f"s{number}", [{"role": "user", "content": text(number * 200 + at)} for at in range(200)])


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def report(name: str, theirs: list[float], ours: list[float]) -> None:
    def shown(times: list[float]) -> str:
        return f"{statistics.median(times):9.0f} {statistics.quantiles(times, n=100)[98]:9.0f}"

    print(f"{name:<28} {shown(theirs)}   {shown(ours)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Times calls through Python on the agent's own store and on ours.")
    parser.add_argument("--calls", type=int, default=300, help="calls of each kind (300)")
    parser.add_argument("--sessions", type=int, default=50, help="sessions of 200 messages (50)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        theirs = peer().SessionDB(Path(folder) / "theirs.db")
        with SessionDB(Path(folder) / "ours.db") as ours:
            both = (theirs, ours)
            for db in both:
                fill(db, given.sessions)
                db.create_session("live", "cli")
            kinds: dict[str, Callable[[Any, int], Any]] = {
                "append a message": lambda db, number: db.append_message("live", "user", text(number)),
                "load 200 messages": lambda db, number: db.get_messages(f"s{number % given.sessions}"),
                "replay 200 messages": lambda db, number: db.get_messages_as_conversation(
                    f"s{number % given.sessions}"
                ),
                "search, 20 hits": lambda db, number: db.search_messages(
                    f"{WORDS[number % len(WORDS)]} {WORDS[number % 5]}"
                ),
                "search, one hit": lambda db, number: db.search_messages(str(number % (given.sessions * 200))),
                "get a session": lambda db, number: db.get_session(f"s{number % given.sessions}"),
            }
            print(f"{given.sessions * 200} messages, {given.calls} calls of each kind; microseconds, median and p99")
            print(f"{'':<28} {'theirs':>9} {'':>9}   {'ours':>9}")
            for name, call in kinds.items():
                times: tuple[list[float], list[float]] = ([], [])
                for number in range(given.calls):
                    for db, taken in zip(both, times):
                        taken.append(timed(lambda: call(db, number)))
                report(name, *times)
            opened = [timed(lambda: SessionDB(Path(folder) / "ours.db").close()) for _ in range(50)]
        again = []
        for _ in range(20):
            again.append(timed(lambda: SessionDB(Path(folder) / "ours.db").close()))
        fresh = [timed(lambda: peer().SessionDB(Path(folder) / "theirs.db").close()) for _ in range(50)]
        report("open and close, one open", fresh, opened)
        report("open and close, none open", fresh, again)
        theirs.close()


if __name__ == "__main__":
    main()
