"""Throw-away servers compared with a file: the corpus copied from one to the next and back and proven, appends by 1,
8 and 32 connections, lists, searches.
"""
import json
import statistics

import find
from tools import Row

WAYS = (("to_postgresql", "migrate a file to PostgreSQL"), ("to_mysql", "migrate PostgreSQL to MariaDB"), ("to_file", "migrate MariaDB to a file"))
STORES = (("sqlite", "SQLite"), ("postgresql", "PostgreSQL"), ("mysql", "MariaDB"))


def run(bench):
    asked = find.draw(bench)
    file = bench.file("servers.json")
    file.write_text(json.dumps([{"name": query, "query": query} for texts in asked.values() for query in texts]))
    path, _ = bench.loaded["ours"]
    figures = bench.run("ours", "servers", bench.corpus, path, file, bench.seconds)
    _, peer = bench.loaded["peer"]
    rows = []
    for way, what in WAYS:
        one = figures[way]
        rows += [
            Row(f"{what}, beside the peer's import", "/s", peer["per_second"], one["per_second"], "≥ 10×"),
            Row(f"{what}, sessions not the same", "", None, one["mismatches"], "= 0"),
        ]
    rows.append(Row("all the way round, sessions not the same", "", None, figures["there_and_back"]["mismatches"], "= 0"))
    for name, shown in STORES:
        own = figures[name]
        for connections in (1, 8, 32):
            one = own[f"append_{connections}"]
            goal = "≥ 1000" if name != "sqlite" and connections == 8 else ""
            rows += [Row(f"{shown}: appends, {connections} at once", "/s", None, one["per_second"], goal), Row("  p99", "ms", None, one["p99_ms"])]
        for key, what in (("list_20", "list 20"), ("list_20_last_active", "list 20 by activity")):
            rows.append(Row(f"{shown}: {what}", "ms", None, own["reads"][key]["p50_ms"]))
        for kind in find.GOALS:
            value = statistics.median(own["find"][query]["p50_ms"] for query in asked[kind])
            goal = "≤ 50" if name != "sqlite" and kind == "common word" else ""
            rows.append(Row(f"{shown}: search, {kind}", "ms", None, value, goal))
    return {"queries": asked, **figures}, rows
