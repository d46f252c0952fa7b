"""Prunes the oldest 30 % of the sessions while another process appends a small message now and then."""
import json


import processes
from tools import Row, strict

SHARE = .3
# Pause between two messages of the live writer: it should meet every lock, without taking CPU time from the pruning
# process.
PAUSE_MS = 5
SECONDS = 3600


def run(bench):
    sessions = sorted((session["started_at"], session["id"], session["ended_at"]) for session in bench.sessions())
    cutoff = sessions[int(len(sessions) * SHARE)][0]
    now = sessions[-1][0] + 86_400
    bodies = bench.file("small.json")
    bodies.write_text(json.dumps(["still here"]))

    def once(side, _):
        path = bench.copy(bench.loaded[side][0], f"prune-{side}.db")
        writer = processes.start(bench, side, path, bodies, f"live-{side}", SECONDS, PAUSE_MS)
        processes.go(writer)
        # The peer goes by the start of a session, we by the last activity of a conversation; neither prunes what has
        # not ended.
        figures = bench.run(side, "prune", path, now, (now - cutoff) / 86_400)
        processes.finish(writer, stop=True)
        live = processes.figure([writer])
        figures["live"] = {key: live[key] for key in ("acknowledged", "p50_ms", "p99_ms", "max_ms", "errors")}
        figures["live"] |= processes.verdict(path, bodies, [writer])
        figures["cpu_ms_per_message"] = figures["cpu_seconds"] * 1e3 / figures["messages"]
        if wrong := strict(path):
            raise RuntimeError(f"{side}: the file is damaged after pruning: {wrong[:5]}")
        return figures

    figures = bench.turns(once)
    peer, ours = figures["peer"], figures["ours"]
    return figures, [
        Row("prune 30 %, messages gone", "", peer["messages"], ours["messages"]),
        Row("prune 30 %, CPU per message gone", "ms", peer["cpu_ms_per_message"], ours["cpu_ms_per_message"], "≤ 0.2×"),
        Row("prune 30 %, CPU", "s", peer["cpu_seconds"], ours["cpu_seconds"]),
        Row("prune 30 %, time", "s", peer["seconds"], ours["seconds"]),
        # The wait consists of the lock that is held, and the writer's own commit.
        Row("prune 30 %, longest wait of a live writer", "ms", peer["live"]["max_ms"], ours["live"]["max_ms"], "≤ 100"),
        Row("prune 30 %, live writer's messages lost or refused", "", peer["live"]["lost"] + peer["live"]["errors"],
            ours["live"]["lost"] + ours["live"]["errors"], "= 0"),
    ]
