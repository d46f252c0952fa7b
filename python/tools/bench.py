"""Times calls through Python, on the agent's own store and on ours, in one run: ``scripts/python-bench``.

The two alternate, call by call, so that other load of the machine affects both alike. Prints the median and the 99th
percentile of the wall time, and the CPU time of a call; for ours, in both processes and including the indexing after
the answer. All in microseconds.
"""

from __future__ import annotations

import argparse
import os
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
    """Returns a message of about 400 characters."""
    return " ".join(WORDS[(number * 7 + at * at) % len(WORDS)] for at in range(60)) + f" {number}"


def needle(number: int) -> str:
    """Returns a word that only one message contains, and no other even as a part of a word."""
    return f"needle{number:05}"


def fill(db: Any, sessions: int) -> None:
    for number in range(sessions):
        db.create_session(f"s{number}", "cli")
        texts = [f"{text(number * 200 + at)} {needle(number * 200 + at)}" for at in range(200)]
        db.replace_messages(f"s{number}", [{"role": "user", "content": content} for content in texts])


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def used(db: Any) -> float:
    """Returns the CPU time that a store has used so far, in microseconds: in this process, and in its own."""
    mine = time.process_time() * 1e6
    if not isinstance(db, SessionDB):
        return mine
    try:
        fields = Path(f"/proc/{db._client._process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return mine
    return mine + (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def report(name: str, *stores: tuple[list[float], float]) -> None:
    def shown(times: list[float], used: float) -> str:
        return f"{statistics.median(times):9.0f} {statistics.quantiles(times, n=100)[98]:9.0f} {used / len(times):9.0f}"

    print(f"{name:<28} " + "   ".join(shown(*store) for store in stores))


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
            # The agent's store has indexed everything by now; ours does so after the last answer.
            while ours.search(WORDS[0])["unindexed"]:
                time.sleep(0.05)
            kinds: dict[str, Callable[[Any, int], Any]] = {
                "append a message": lambda db, number: db.append_message("live", "user", text(number)),
                "load 200 messages": lambda db, number: db.get_messages(f"s{number % given.sessions}"),
                "replay 200 messages": lambda db, number: db.get_messages_as_conversation(
                    f"s{number % given.sessions}"
                ),
                "search, 20 hits": lambda db, number: db.search_messages(
                    f"{WORDS[number % len(WORDS)]} {WORDS[number % 5]}"
                ),
                "search, one hit": lambda db, number: db.search_messages(needle(number % (given.sessions * 200))),
                "search, a piece of a word": lambda db, number: db.search_messages(f"edle{number % 10:05}"),
                "list 20 sessions": lambda db, number: db.list_sessions_rich(),
                "get a session": lambda db, number: db.get_session(f"s{number % given.sessions}"),
            }
            print(
                f"{given.sessions * 200} messages, {given.calls} calls of each kind; microseconds: median, p99, processors"
            )
            print(f"{'':<28} {'theirs':>9} {'':>9} {'':>9}   {'ours':>9}")
            for name, call in kinds.items():
                times: tuple[list[float], list[float]] = ([], [])
                spent = [0.0, 0.0]
                for number in range(given.calls):
                    for place, db in enumerate(both):
                        before = used(db)
                        times[place].append(timed(lambda: call(db, number)))
                        spent[place] += used(db) - before
                report(name, *zip(times, spent))
            opened = [timed(lambda: SessionDB(Path(folder) / "ours.db").close()) for _ in range(50)]
        again = []
        for _ in range(20):
            again.append(timed(lambda: SessionDB(Path(folder) / "ours.db").close()))
        fresh = [timed(lambda: peer().SessionDB(Path(folder) / "theirs.db").close()) for _ in range(50)]
        for name, times_of_ours in (("open and close, one open", opened), ("open and close, none open", again)):
            print(f"{name:<28} {statistics.median(fresh):9.0f} {'':>19}   {statistics.median(times_of_ours):9.0f}")
        theirs.close()


if __name__ == "__main__":
    main()
