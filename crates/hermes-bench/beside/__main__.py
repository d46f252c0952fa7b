"""Runs the measurements and prints the figures of each as a line of JSON, then one table. `scripts/bench` describes
the usage.
"""
import argparse
import json
import tempfile
from pathlib import Path

import append
import commands
import imports
import find
import optimize
import processes
import prune
import reads
import recall
import search
import servers
import size
import threads
from tools import Bench, say, table

# Each takes a Bench and returns its figures and its rows. Those that measure time come before those that leave big
# files.
PARTS = {part.__name__: part for part in (append, processes, threads, imports, size, reads, prune, optimize, search, find, recall, commands, servers)}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("corpus", help="JSONL, a session with its messages per line, as the agent exports them")
    parser.add_argument("--only", action="append", choices=PARTS, help="run this part; may be given again")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (default 3)")
    parser.add_argument("--seconds", type=float, default=6, help="how long processes append at once (default 6)")
    parser.add_argument("--count", type=int, default=3000, help="messages that one process appends (default 3000)")
    parser.add_argument("--kills", type=int, default=10, help="how often optimize is killed (default 10)")
    parser.add_argument("--work", help="a folder for the files, which are kept; the peer's loaded file serves again unless imports are measured")
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peer", required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as temporary:
        work = Path(arguments.work or temporary)
        work.mkdir(parents=True, exist_ok=True)
        names = arguments.only or list(PARTS)
        bench = Bench(arguments.corpus, arguments.binary, arguments.peer, work, "imports" in names, arguments.rounds, arguments.seconds,
                      arguments.count, arguments.kills, arguments.program)
        rows = []
        for name in names:
            say(f"== {name}")
            figures, more = PARTS[name].run(bench)
            print(json.dumps({name: figures}, ensure_ascii=False), flush=True)
            rows += more
        print("\n".join(table(rows)))


main()
