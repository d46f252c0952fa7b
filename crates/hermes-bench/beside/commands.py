"""Whole processes of the command, as a person starts them: a list and three kinds of searches on a file of ours, and on
the agent's file before and after it is adopted. Warm: the file is in the memory of the system. Cold: it was dropped from there.
"""
import os
import statistics
import subprocess
import time
from pathlib import Path

from tools import Row

COMMANDS = {
    "list": ["sessions", "list"],
    "search, word": ["sessions", "search", "kubernetes"],
    "search, path": ["sessions", "search", "src/main.rs"],
    "search, question": ["sessions", "search", "how", "did", "we", "fix", "the", "flaky", "login", "test"],
}
GOALS = {
    "ours": {"search, word": "≤ 30", "search, path": "≤ 60", "search, question": "≤ 60"},
    "agent's": {"search, word": "≤ 300", "search, path": "≤ 500", "search, question": "≤ 500"},
    "adopted": {"search, word": "≤ 100", "search, path": "≤ 300", "search, question": "≤ 300"},
}
RUNS = 9


def run(bench):
    figures, rows = {}, []
    for name, source in (("ours", bench.loaded["ours"][0]), ("agent's", bench.loaded["peer"][0]), ("adopted", bench.loaded["peer"][0])):
        home = bench.work / f"home-{name.replace(chr(39), '')}"
        home.mkdir(exist_ok=True)
        for left in home.glob("state.db*"):
            left.unlink()
        bench.copy(source, f"{home.name}/state.db")
        first = timed(bench, home, ["sessions", "search", "kubernetes"] if name == "agent's" else ["sessions", "list"])
        if name == "agent's":
            rows.append(Row("first command on the agent's file, a search", "ms", None, first, "≤ 500"))
        if name == "adopted":
            figures["adopt_seconds"] = timed(bench, home, ["sessiondb", "adopt"]) / 1e3
        own = figures[name] = {}
        for what, command in COMMANDS.items():
            warm = [timed(bench, home, command) for _ in range(RUNS)]
            cold = []
            for _ in range(3):
                drop(home / "state.db")
                cold.append(timed(bench, home, command))
            own[what] = {"warm_ms": statistics.median(warm), "least_ms": min(warm), "cold_ms": statistics.median(cold)}
            where = {"ours": "file of ours", "agent's": "agent's file", "adopted": "agent's file, adopted"}[name]
            rows.append(Row(f"{where}: {what}, warm", "ms", None, own[what]["warm_ms"], GOALS[name].get(what, "")))
            rows.append(Row(f"{where}: {what}, cold", "ms", None, own[what]["cold_ms"]))
    return figures, rows


def timed(bench, home, command):
    """Runs a command and returns how many milliseconds it took."""
    environment = {"HERMES_HOME": str(home), "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": os.environ["PATH"]}
    start = time.perf_counter()
    subprocess.run([bench.program, *command], env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return (time.perf_counter() - start) * 1e3


def drop(path):
    """Drops a file from the memory of the system."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
