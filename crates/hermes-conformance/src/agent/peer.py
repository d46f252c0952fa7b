"""The Python agent's own store, controlled by JSON lines: one command per line of input, one answer per line of
output.

    {"do": "open", "path": "…"}                              opens a file
    {"do": "call", "method": "…", "arguments": {…}}          calls a method of the store
    {"do": "query", "sql": "…"}                              rows of a statement, on the store's connection
    {"do": "loop", "name": …, "among": […], "every": n|null} appends until stopped, and reports each append
    {"do": "stop"}                                           ends the loop
    {"do": "close"}                                          closes the file

An answer is {"value": …} or {"error": "…"}. While a loop runs, there are {"acknowledged": …} lines in between. Each is
written in one piece after the append has returned, so that a killed process has reported all acknowledged appends.
"""

import json
import os
import pathlib
import sys
import threading
import time

import hermes_state

database = None
loop = None
printing = threading.Lock()


def tell(line):
    with printing:
        os.write(1, (json.dumps(line) + "\n").encode())


class Loop(threading.Thread):
    """Appends to each of some sessions in turn; with `every`, to a new session after that many appends."""

    def __init__(self, name, among, every):
        super().__init__(daemon=True)
        self.writer, self.among, self.every = name, among, every
        self.stopping = threading.Event()
        self.slowest, self.failures = 0.0, []

    def run(self):
        number = 0
        while not self.stopping.is_set():
            text = f"{self.writer} number {number} {self.writer}x{number}"
            try:
                if self.every is None:
                    session = self.among[number % len(self.among)]
                elif number % self.every == 0:
                    session = f"{self.writer}-{number}"
                    database.create_session(session, "cli")
                start = time.perf_counter()
                message = database.append_message(session, "user" if number % 2 == 0 else "assistant", text)
                took = time.perf_counter() - start
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                continue
            self.slowest = max(self.slowest, took)
            tell({"acknowledged": message, "session": session, "text": text})
            number += 1


def answer(command):
    global database, loop
    match command["do"]:
        case "open":
            database = hermes_state.SessionDB(pathlib.Path(command["path"]))
            return {"file": hermes_state.__file__, "schema": hermes_state.SCHEMA_VERSION}
        case "call":
            return getattr(database, command["method"])(**command["arguments"])
        case "query":
            return [list(row) for row in database._conn.execute(command["sql"]).fetchall()]
        case "loop":
            loop = Loop(command["name"], command["among"], command["every"])
            loop.start()
            return None
        case "stop":
            loop.stopping.set()
            loop.join()
            return {"slowest": loop.slowest, "failures": loop.failures}
        case "close":
            return database.close()
        case other:
            raise ValueError(f"unknown command {other}")


for line in sys.stdin:
    try:
        tell({"value": answer(json.loads(line))})
    except Exception as error:
        tell({"error": f"{type(error).__name__}: {error}"})
