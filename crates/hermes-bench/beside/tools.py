"""Common parts of all measurements: both sides as commands, files in a separate folder, medians, rows of the table."""
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# peer.py is one folder up: Python searches the folder of a script first, and the agent has a package `tools` too.
HERE = Path(__file__).resolve().parent
# Reported as a sum, or as the maximum, over rounds; everything else as a median.
SUMS = {"lost", "doubled", "torn", "strangers", "errors"}
WORST = {"max_ms"}


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclass
class Row:
    """A line of the table. A goal is a sign, a number and, if it is about the ratio ours/peer, a `×`."""

    what: str
    unit: str
    peer: float | None
    ours: float | None
    goal: str = ""

    @property
    def ratio(self):
        return self.ours / self.peer if self.ours is not None and self.peer else None

    @property
    def reached(self):
        if not self.goal:
            return ""
        sign, number, relative = re.fullmatch(r"([≤≥<=]) ([\d.]+)(×?)", self.goal).groups()
        value = self.ratio if relative else self.ours
        if value is None:
            return "not known"
        number = float(number)
        return "yes" if {"≤": value <= number, "≥": value >= number, "<": value < number, "=": value == number}[sign] else "NO"


def table(rows):
    width = max(len(row.what) for row in rows) + 2
    show = lambda value: "–" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    yield f"{'':<{width}}{'unit':<8}{'peer':>12}{'ours':>12}{'ours/peer':>12}  {'goal':<12}reached"
    for row in rows:
        ratio = "–" if row.ratio is None else f"{row.ratio:.3g}×"
        yield f"{row.what:<{width}}{row.unit:<8}{show(row.peer):>12}{show(row.ours):>12}{ratio:>12}  {row.goal:<12}{row.reached}"


def merge(rounds):
    """Merges the values of several rounds, leaf by leaf."""
    def leaf(name, values):
        if isinstance(values[0], dict):
            return {key: leaf(key, [value[key] for value in values]) for key in values[0]}
        if not all(isinstance(value, (int, float)) for value in values):
            return next((value for value in values if value), values[0])
        return sum(values) if name in SUMS else max(values) if name in WORST else statistics.median(values)
    return leaf("", rounds)


class Bench:
    """One run: its corpus, its folder, its two sides."""

    def __init__(self, corpus, binary, peer, work, measures_imports, rounds, seconds, count, kills, program):
        self.corpus, self.binary, self.work = Path(corpus).resolve(), Path(binary).resolve(), Path(work)
        self.program = Path(program).resolve()
        self.measures_imports, self.rounds, self.seconds, self.count, self.kills = measures_imports, rounds, seconds, count, kills
        self.environment = os.environ | {
            "PYTHONPATH": str(Path(peer).resolve()), "HERMES_HOME": str(self.work / "home"), "PYTHONPYCACHEPREFIX": str(self.work / "pycache")}

    def command(self, side, *arguments):
        head = [self.binary] if side == "ours" else [sys.executable, HERE.parent / "peer.py"]
        return [str(part) for part in (*head, *arguments)]

    def run(self, side, *arguments):
        """Runs one subcommand to its end and returns its figures."""
        done = subprocess.run(self.command(side, *arguments), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{side} {arguments[0]}: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout)

    def start(self, side, *arguments):
        return subprocess.Popen(self.command(side, *arguments), env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def turns(self, call):
        """Runs `call(side, round)` alternately, so that other load of the machine affects both sides. Merges the
        rounds of each side.
        """
        figures = {"peer": [], "ours": []}
        for number in range(self.rounds):
            # Alternates which side finds a warm disk cache.
            for side in (("peer", "ours"), ("ours", "peer"))[number % 2]:
                say(f"   round {number + 1}, {side}")
                figures[side].append(call(side, number))
        return {side: merge(rounds) for side, rounds in figures.items()}

    def file(self, name):
        """Returns a name for a file that does not exist yet."""
        path = self.work / name
        for left in self.work.glob(f"{name}*"):
            left.unlink()
        return path

    def copy(self, source, name):
        path = self.file(name)
        shutil.copyfile(source, path)
        return path

    def sessions(self):
        with open(self.corpus) as lines:
            yield from map(json.loads, lines)

    @cached_property
    def loaded(self):
        """The corpus in a file created by each side, and the time it took: {side: (file, figures)}.

        The peer's file is kept between runs if the folder is: it takes minutes, and its code does not change. Ours is
        always created anew, and so is the peer's in a run that measures this.
        """
        loaded, mark = {}, [str(self.corpus), self.corpus.stat().st_size]
        for side in ("ours", "peer"):
            note = self.work / f"{side}-load.json"
            if side == "peer" and not self.measures_imports and note.exists() and json.loads(note.read_text())["corpus"] == mark:
                say("   the corpus is in the peer's file from an earlier run")
            else:
                note.unlink(missing_ok=True)
                say(f"   loading the corpus, {side}")
                figures = self.run(side, "load", self.corpus, self.file(f"{side}.db"))
                note.write_text(json.dumps({"corpus": mark, "figures": figures}))
            path = self.work / f"{side}.db"
            checkpoint(path)
            if waiting := pending(path):
                raise RuntimeError(f"{waiting} messages of {path.name} are not indexed, though all was settled")
            loaded[side] = path, json.loads(note.read_text())["figures"]
        return loaded

    @cached_property
    def optimized(self):
        """A copy of the peer's loaded file in the compact layout, and the time it took."""
        path = self.copy(self.loaded["peer"][0], "optimized.db")
        say("   optimizing a copy of the peer's file")
        figures = self.run("ours", "optimize", path)
        checkpoint(path)
        return path, figures


def connect(path):
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def checkpoint(path):
    """Checkpoints everything into the main file; no other process may have it open."""
    connection = connect(path)
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.close()
    if busy:
        raise RuntimeError(f"{path} is in use")


def strict(path):
    """Returns the problems of a file that SQLite's own checks find; the full-text checks compare the index with the
    text, not only with itself.
    """
    connection, wrong = connect(path), []
    wrong += [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    wrong += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
    for index in ("messages_fts", "messages_fts_trigram"):
        try:
            connection.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.Error as error:
            wrong.append(f"{index}: {error}")
    connection.close()
    return wrong


def pending(path):
    """Returns the size of the index backlog, where there is one."""
    connection = connect(path)
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'hx_pending'").fetchone()
    count = connection.execute("SELECT coalesce(sum(last - first + 1), 0) FROM hx_pending").fetchone()[0] if there else 0
    connection.close()
    return count
