"""The Python agent's side of each measurement, through its own calls.

    peer.py load CORPUS FILE                    peer.py append CORPUS FILE COUNT
    peer.py reads CORPUS FILE                   peer.py appender FILE BODIES NAME SECONDS PAUSE_MS
    peer.py prune FILE NOW DAYS                 peer.py search FILE QUERIES HITS
    peer.py find FILE QUERIES                   peer.py recall FILE QUERIES
    peer.py make FILE

The agent's package must be on PYTHONPATH, and HERMES_HOME must be set. Prints one JSON object with the same keys as
`hermes-bench`.
"""
import os
import json
import sqlite3
import sys
import threading
import time
import zlib
from pathlib import Path

import hermes_state

FIELDS = ("content", "tool_name", "tool_calls", "tool_call_id", "token_count", "finish_reason", "reasoning")


class Clock:
    """The time module as seen by hermes_state, so that the times of the corpus get into the file."""

    now = None

    def time(self):
        return time.time() if self.now is None else self.now

    def __getattr__(self, name):
        return getattr(time, name)


clock = hermes_state.time = Clock()


class Stopwatch:
    def __init__(self):
        self.wall, self.cpu, self.user = time.perf_counter(), time.process_time(), os.times().user

    def seconds(self):
        return time.perf_counter() - self.wall

    def cpu_seconds(self):
        return time.process_time() - self.cpu

    def user_seconds(self):
        return os.times().user - self.user


def percentiles(samples):
    samples = sorted(samples)
    at = lambda share: samples[min(int(len(samples) * share), len(samples) - 1)] if samples else None
    return {"n": len(samples), "p50_ms": at(.5), "p99_ms": at(.99), "max_ms": samples[-1] if samples else None}


def sessions(corpus):
    with open(corpus) as lines:
        yield from map(json.loads, lines)


def create(store, session):
    clock.now = session["started_at"]
    fields = ("model", "model_config", "system_prompt", "user_id", "parent_session_id")
    store.create_session(session["id"], session["source"], **{name: session[name] for name in fields})


def append_one(store, session, message):
    clock.now = message["timestamp"]
    store.append_message(session, message["role"], **{name: message.get(name) for name in FIELDS})


def make(file):
    """Creates an empty file."""
    hermes_state.SessionDB(Path(file)).close()
    return {}


def load(corpus, file):
    store = hermes_state.SessionDB(Path(file))
    count, watch = 0, Stopwatch()
    for session in sessions(corpus):
        create(store, session)
        for message in session["messages"]:
            append_one(store, session["id"], message)
        count += len(session["messages"])
        fields = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "api_call_count",
                  "estimated_cost_usd", "billing_provider")
        store.update_token_counts(session["id"], **{name: session[name] for name in fields})
        if session["title"]:
            store.set_session_title(session["id"], store.get_next_title_in_lineage(session["title"]))
        if session["ended_at"]:
            clock.now = session["ended_at"]
            store.end_session(session["id"], session["end_reason"])
    seconds = watch.seconds()
    store.close()
    return {"messages": count, "seconds": seconds, "seconds_settled": watch.seconds(), "cpu_seconds": watch.cpu_seconds(),
            "per_second": count / seconds, "per_second_settled": count / watch.seconds()}


def append(corpus, file, count):
    store, messages = hermes_state.SessionDB(Path(file)), []
    for session in sessions(corpus):
        create(store, session)
        messages += [(session["id"], message) for message in session["messages"][:int(count) - len(messages)]]
        if len(messages) == int(count):
            break
    samples, whole = [], Stopwatch()
    for session, message in messages:
        start = time.perf_counter()
        append_one(store, session, message)
        samples.append((time.perf_counter() - start) * 1e3)
    seconds, cpu, user = whole.seconds(), whole.cpu_seconds(), whole.user_seconds()
    synchronous = store._conn.execute("PRAGMA synchronous").fetchone()[0]
    store.close()
    return {"acknowledged": percentiles(samples), "cpu_ms": cpu * 1e3 / len(messages), "user_ms": user * 1e3 / len(messages),
            "cpu_settled_ms": whole.cpu_seconds() * 1e3 / len(messages),
            "per_second": len(messages) / seconds, "per_second_settled": len(messages) / whole.seconds(), "synchronous": synchronous,
            "sqlite": sqlite3.sqlite_version}


def appender(file, bodies, name, seconds, pause):
    """Runs one of several processes; `src/appender.rs` describes their protocol."""
    bodies, session = json.loads(Path(bodies).read_text()), f"bench-{name}"
    store = hermes_state.SessionDB(Path(file))
    store.create_session(session, "bench")
    print("ready", flush=True)
    if not sys.stdin.readline():
        raise SystemExit("told to stop before the start")
    stopped = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
    latencies, failed, watch = [], [], Stopwatch()
    while watch.seconds() < float(seconds) and not stopped.is_set():
        number = len(latencies)
        text, one = f"{name}/{number} {bodies[number % len(bodies)]}", Stopwatch()
        try:
            store.append_message(session, "user", content=text)
        except sqlite3.Error as error:
            failed.append([number, str(error)])
        latencies.append(one.seconds() * 1e3)
        if float(pause):
            time.sleep(float(pause) / 1e3)
    took, cpu = watch.seconds(), watch.cpu_seconds()
    store.close()
    return {"name": name, "seconds": took, "latencies_ms": latencies, "failed": failed, "cpu_seconds": cpu, "cpu_seconds_closed": watch.cpu_seconds()}


def prune(file, now, days):
    store = hermes_state.SessionDB(Path(file))
    # Not those of a concurrent writer.
    count = lambda: store._conn.execute("SELECT count(*) FROM messages WHERE session_id NOT LIKE 'bench-%'").fetchone()[0]
    clock.now, before = float(now), count()
    watch = Stopwatch()
    gone = store.prune_sessions(older_than_days=float(days))
    seconds, cpu = watch.seconds(), watch.cpu_seconds()
    messages = before - count()
    watch = Stopwatch()
    store.close()
    return {"sessions": gone, "messages": messages, "seconds": seconds, "seconds_settled": seconds + watch.seconds(), "cpu_seconds": cpu + watch.cpu_seconds()}


class WithoutContext:
    """The agent's connection, without the lookups of a hit's neighbours: they use no index, and there is one for
    each of all hits.
    """

    def __init__(self, connection):
        self._connection = connection

    def execute(self, sql, *values):
        return self._connection.execute("SELECT 1 WHERE 0" if "WITH target AS" in sql else sql, *(() if "WITH target AS" in sql else values))

    def __getattr__(self, name):
        return getattr(self._connection, name)


def search(file, queries, hits):
    """Writes a line for each query to `hits`, with every hit in order, as (index of the message among all, by session
    and then by id; checksum of the excerpt).
    """
    store = hermes_state.SessionDB(Path(file))
    place = {row[0]: n for n, row in enumerate(store._conn.execute("SELECT id FROM messages ORDER BY session_id, id"))}
    store._conn = WithoutContext(store._conn)
    count, watch = 0, Stopwatch()
    with open(hits, "w") as lines:
        for query in json.loads(Path(queries).read_text()):
            rows = store.search_messages(query["text"], limit=10_000_000)
            lines.write(json.dumps([[place[row["id"]], zlib.crc32((row["snippet"] or "").encode(errors="replace"))] for row in rows]) + "\n")
            count += 1
    return {"queries": count, "seconds": watch.seconds(), "cpu_seconds": watch.cpu_seconds()}


def find(file, queries):
    """Measures the first page of each query."""
    store, figures = hermes_state.SessionDB(Path(file)), {}
    for query in json.loads(Path(queries).read_text()):
        rows = store.search_messages(query["query"], limit=20)
        samples, whole = [], Stopwatch()
        while len(samples) < 5 or whole.seconds() < 0.5:
            one = Stopwatch()
            store.search_messages(query["query"], limit=20)
            samples.append(one.seconds() * 1e3)
        figures[query["name"]] = {**percentiles(samples), "cpu_ms": whole.cpu_seconds() * 1e3 / len(samples), "hits": len(rows)}
    return figures


def recall(file, queries):
    """Measures finding the first three conversations of each query and loading them, as the agent does before it
    calls its model.
    """
    def told(store, query):
        if not query:
            return store.list_sessions_rich(limit=8, exclude_sources=["tool"], order_by_last_active=True)
        roots = []
        for row in store.search_messages(query, limit=50, exclude_sources=["tool"]):
            root = row["session_id"]
            while parent := (store.get_session(root) or {}).get("parent_session_id"):
                root = parent
            if root not in roots:
                roots.append(root)
            if len(roots) == 3:
                break
        return [store.get_messages_as_conversation(root) for root in roots]

    kept, figures = hermes_state.SessionDB(Path(file)), {}
    for query in json.loads(Path(queries).read_text()):
        cold = []
        for _ in range(3):
            one = Stopwatch()
            store = hermes_state.SessionDB(Path(file))
            told(store, query["query"])
            cold.append(one.seconds() * 1e3)
            store.close()
        found = told(kept, query["query"])
        samples, whole = [], Stopwatch()
        while len(samples) < 5 or whole.seconds() < 0.5:
            one = Stopwatch()
            told(kept, query["query"])
            samples.append(one.seconds() * 1e3)
        figures[query["name"]] = {"cold": percentiles(cold), "warm": percentiles(samples), "cpu_ms": whole.cpu_seconds() * 1e3 / len(samples),
                                  "conversations": len(found), "characters": 0}
    return figures


def reads(corpus, file):
    store = hermes_state.SessionDB(Path(file))
    turn = iter([session["id"] for session in sessions(corpus) if len(session["messages"]) == 200] * 100_000)

    def timed(call, budget=1.5):
        samples, whole = [], Stopwatch()
        while len(samples) < 5 or whole.seconds() < budget:
            one = Stopwatch()
            call()
            samples.append(one.seconds() * 1e3)
        return {**percentiles(samples), "cpu_ms": whole.cpu_seconds() * 1e3 / len(samples)}

    def reopen():
        hermes_state.SessionDB(Path(file))._conn.close()

    return {
        "list_20": timed(lambda: store.list_sessions_rich(limit=20)),
        "list_20_last_active": timed(lambda: store.list_sessions_rich(limit=20, order_by_last_active=True)),
        "get_messages_200": timed(lambda: store.get_messages(next(turn))),
        "conversation_200": timed(lambda: store.get_messages_as_conversation(next(turn))),
        "open_existing": timed(reopen),
    }


if __name__ == "__main__":
    parts = {part.__name__: part for part in (make, load, append, reads, appender, prune, search, find, recall)}
    print(json.dumps(parts[sys.argv[1]](*sys.argv[2:])))
