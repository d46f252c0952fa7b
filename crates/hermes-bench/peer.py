"""Loads a corpus into the Python agent's own store and times the calls that a person waits for.

    peer.py load CORPUS FILE        peer.py measure CORPUS FILE

The agent's package has to be on PYTHONPATH. Prints one JSON object.
"""
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp(prefix="hermes-bench-"))
import hermes_state  # noqa: E402


class Clock:
    """The time module as hermes_state sees it, so that the corpus's own times get into the file."""

    now = None

    def time(self):
        return time.time() if self.now is None else self.now

    def __getattr__(self, name):
        return getattr(time, name)


def sessions(corpus):
    with open(corpus) as lines:
        yield from map(json.loads, lines)


def load(corpus, file):
    clock = hermes_state.time = Clock()
    store = hermes_state.SessionDB(Path(file))
    store._conn.execute("PRAGMA synchronous=OFF")  # only the file it leaves is measured
    count, start = 0, time.perf_counter()
    for session in sessions(corpus):
        clock.now = session["started_at"]
        store.create_session(session["id"], session["source"], model=session["model"], model_config=session["model_config"],
                             system_prompt=session["system_prompt"], user_id=session["user_id"],
                             parent_session_id=session["parent_session_id"])
        for message in session["messages"]:
            clock.now = message["timestamp"]
            fields = ("content", "tool_name", "tool_calls", "tool_call_id", "token_count", "finish_reason", "reasoning")
            store.append_message(session["id"], message["role"], **{name: message.get(name) for name in fields})
            count += 1
        fields = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "api_call_count",
                  "estimated_cost_usd", "billing_provider")
        store.update_token_counts(session["id"], **{name: session[name] for name in fields})
        if session["title"]:
            store.set_session_title(session["id"], store.get_next_title_in_lineage(session["title"]))
        if session["ended_at"]:
            clock.now = session["ended_at"]
            store.end_session(session["id"], session["end_reason"])
    store.close()
    seconds = time.perf_counter() - start
    return {"messages": count, "seconds": seconds, "messages_per_second": count / seconds}


def timed(call, budget=1.5):
    samples, start, cpu = [], time.perf_counter(), time.process_time()
    while len(samples) < 5 or time.perf_counter() - start < budget:
        one = time.perf_counter()
        call()
        samples.append((time.perf_counter() - one) * 1e3)
    cpu = (time.process_time() - cpu) * 1e3 / len(samples)
    samples.sort()
    return {"n": len(samples), "p50_ms": samples[len(samples) // 2], "p99_ms": samples[int(len(samples) * .99)], "cpu_ms": cpu}


def measure(corpus, file):
    store = hermes_state.SessionDB(Path(file))
    of_200 = [session["id"] for session in sessions(corpus) if len(session["messages"]) == 200]
    turn = iter(of_200 * 100_000)

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
    print(json.dumps({"load": load, "measure": measure}[sys.argv[1]](*sys.argv[2:])))
