"""One process appends messages one by one, each acknowledged before the next, to a new file."""
from tools import Row, say


def run(bench):
    figures = bench.turns(lambda side, _: bench.run(side, "append", bench.corpus, bench.file(f"append-{side}.db"), bench.count))
    peer, ours = figures["peer"], figures["ours"]
    if peer["synchronous"] != 2:
        say("   beware: this Python's SQLite does not sync each commit, so the peer promises less than we do")
    both = lambda name: (peer[name], ours[name])
    wall = lambda name: (peer["acknowledged"][name], ours["acknowledged"][name])
    return figures, [
        Row("append, CPU in the acknowledgement", "ms", *both("cpu_ms"), "≤ 0.1×"),
        Row("append, of that outside the kernel", "ms", *both("user_ms")),
        Row("append, CPU with indexing and closing", "ms", *both("cpu_settled_ms"), "≤ 0.25×"),
        Row("append, acknowledged", "1/s", *both("per_second"), "≥ 2.5×"),
        Row("append, until indexed and closed", "1/s", *both("per_second_settled")),
        Row("append, median", "ms", *wall("p50_ms")),
        Row("append, p99", "ms", *wall("p99_ms")),
    ]
