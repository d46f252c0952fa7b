"""The calls that a person waits for."""
from tools import Row

GOALS = {
    "list_20": ("list 20", "≤ 0.1×"),
    "list_20_last_active": ("list 20 by last activity", "≤ 0.0033×"),
    "get_messages_200": ("read 200 messages", ""),
    "conversation_200": ("load 200 messages for resume", "≤ 0.25×"),
    "open_existing": ("open an existing file", "≤ 0.3×"),
}


def run(bench):
    figures = bench.turns(lambda side, _: bench.run(side, "reads", bench.corpus, bench.loaded[side][0]))
    rows = []
    for name, (what, goal) in GOALS.items():
        peer, ours = figures["peer"][name], figures["ours"][name]
        rows += [Row(f"{what}, median", "ms", peer["p50_ms"], ours["p50_ms"], goal), Row(f"{what}, CPU", "ms", peer["cpu_ms"], ours["cpu_ms"])]
    return figures, rows
