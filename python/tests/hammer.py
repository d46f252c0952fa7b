"""Two processes of eight threads write to one store while its process is killed every second: nothing may be lost or
duplicated.

``python hammer.py STORE SECONDS`` prints what was acknowledged and what is stored.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from support import PYTHON

from hermes_sessions import SessionDB

PROCESSES = 2
THREADS = 8


def work(db: SessionDB, name: str, end: float, done: dict[str, int], errors: list[str]) -> None:
    """Runs one thread: appends numbered messages, and counts them a second time with the tokens of a shared session."""
    number = 0
    try:
        db.create_session(name, "cli")
        while time.monotonic() < end:
            db.append_message(name, "user", str(number))
            number += 1
            done[name] = number
            db.update_token_counts("shared", input_tokens=1)
            if number % 10 == 0:
                batch = [{"role": "user", "content": str(number + at)} for at in range(3)]
                db.append_messages(name, batch)
                number += 3
                done[name] = number
            if number % 7 == 0:
                db.search_messages("nothing")
                db.get_session(name)
    except BaseException as error:
        errors.append(f"{type(error).__name__}: {error}")


def one_process(store: str, seconds: float, label: str) -> None:
    """Runs eight threads and one that kills; prints what was acknowledged."""
    end = time.monotonic() + seconds
    done: dict[str, int] = {}
    errors: list[str] = []
    kills = 0
    with SessionDB(store) as db:
        threads = [
            threading.Thread(target=work, args=(db, f"{label}-{number}", end, done, errors))
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        assert db._client is not None
        while time.monotonic() + 1.0 < end:
            time.sleep(1.0)
            process = db._client._process
            if process is not None and not process.is_gone:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
        for thread in threads:
            thread.join()
    json.dump({"done": done, "errors": errors, "kills": kills}, sys.stdout)


def hammer(store: str, seconds: float) -> dict[str, Any]:
    """Runs the processes and compares what was acknowledged with what is stored."""
    with SessionDB(store) as db:
        db.create_session("shared", "cli")
        command = [sys.executable, str(Path(__file__)), "one", store, str(seconds)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PYTHON / "tests"), *sys.path])}
        children = [
            subprocess.Popen([*command, f"p{number}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
            for number in range(PROCESSES)
        ]
        outputs = [child.communicate() for child in children]
        reports = [
            json.loads(out) if out else {"done": {}, "errors": [err.decode()], "kills": 0} for out, err in outputs
        ]
        acknowledged = {name: count for report in reports for name, count in report["done"].items()}
        lost = doubled = 0
        for name, count in acknowledged.items():
            there = [row["content"] for row in db.get_messages(name)]
            lost += count - len(set(there))
            doubled += len(there) - len(set(there))
            if there != sorted(there, key=int):
                doubled += 1
        row = db.get_session("shared")
        assert row is not None
        # Three of every thirteen messages come in a batch, which counts no token.
        counted = sum(count - 3 * _batches(count) for count in acknowledged.values())
    return {
        "acknowledged": sum(acknowledged.values()),
        "kills": sum(report["kills"] for report in reports),
        "lost": lost,
        "doubled": doubled,
        "tokens_off": row["input_tokens"] - counted,
        "exceptions": [error for report in reports for error in report["errors"]],
    }


def _batches(count: int) -> int:
    number = batches = 0
    while number < count:
        number += 1
        if number % 10 == 0 and number < count:
            number += 3
            batches += 1
    return batches


if __name__ == "__main__":
    if sys.argv[1] == "one":
        one_process(sys.argv[2], float(sys.argv[3]), sys.argv[4])
    else:
        print(json.dumps(hammer(sys.argv[1], float(sys.argv[2])), indent=2))
