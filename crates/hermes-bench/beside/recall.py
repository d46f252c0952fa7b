"""Recall: all of ours, compared with the peer's search and the loading of its results, without its model."""
import json
import statistics

import find
from tools import Row

# Number of queries per class: a call of the peer may take long.
NUMBER = 3
KINDS = ("word in one message", "rare word", "common word", "two words", "phrase", "longer prefix", "CJK, 2 characters", "nothing found")


def run(bench):
    drawn = find.draw(bench)
    asked = {kind: drawn[kind][:NUMBER] for kind in KINDS} | {"no query": [""]}
    file = bench.file("recall.json")
    file.write_text(json.dumps([{"name": query, "query": query} for texts in asked.values() for query in texts]))
    figures = bench.turns(lambda side, _: bench.run(side, "recall", bench.loaded[side][0], file))
    rows = []
    for kind, texts in asked.items():
        for state in ("cold", "warm"):
            peer, ours = (statistics.median(figures[side][query][state]["p50_ms"] for query in texts) for side in ("peer", "ours"))
            rows.append(Row(f"recall, {kind}, {state}", "ms", peer, ours))
        peer, ours = (statistics.median(figures[side][query]["cpu_ms"] for query in texts) for side in ("peer", "ours"))
        rows.append(Row(f"recall, {kind}", "ms CPU", peer, ours))
    return {"queries": asked, **figures}, rows
