"""Checks that the peer's own search finds the same in our file as in its own: which messages, in which order, with
which excerpts.

There are three comparisons. `imported`: our file against the one that the peer loaded. `same rows`: our file against a
file created by the peer that holds our rows, so that only the layout of the indexes differs. `optimized`: the peer's
file before and after.
"""
import json
from collections import Counter
from itertools import zip_longest

import queries
from tools import Row, connect, say


def run(bench):
    asked = queries.draw(bench)
    questions = bench.file("queries.json")
    questions.write_text(json.dumps(asked))
    own, ours = bench.loaded["peer"][0], bench.loaded["ours"][0]
    pairs = {"imported": (own, ours), "same rows": (twin(bench, ours), ours)}
    pairs["optimized"] = own, bench.optimized[0]
    figures, rows, hits = {"queries": len(asked), "cpu_seconds": {}}, [], {}
    for path in dict.fromkeys(path for pair in pairs.values() for path in pair):
        say(f"   the peer searches {path.name}")
        copy, hits[path] = bench.copy(path, "searched.db"), bench.file(f"hits-{path.stem}.jsonl")
        figures["cpu_seconds"][path.name] = bench.run("peer", "search", copy, questions, hits[path])["cpu_seconds"]
    for name, (inline, compact) in pairs.items():
        figures[name] = compare(asked, answers(hits[inline]), answers(hits[compact]), Differences(inline, compact))
        equal = figures[name]["equal"]
        rows += [
            # In an imported file the JSON of tool calls is escaped differently: the peer's own hits in it may differ,
            # and the reason is reported.
            Row(f"peer's search, {name}: same hits", f"of {len(asked)}", None, equal["hits"], "" if name == "imported" else f"= {len(asked)}"),
            Row(f"peer's search, {name}: same order", f"of {len(asked)}", None, equal["order"]),
            Row(f"peer's search, {name}: same excerpts", f"of {len(asked)}", None, equal["excerpts"]),
            Row(f"peer's search, {name}: differs, nobody knows why", f"of {len(asked)}", None, figures[name]["unexplained"], "= 0"),
        ]
    return figures, rows


def twin(bench, ours):
    """Returns a file created by the peer with our rows in it, indexed by the peer's own triggers."""
    path = bench.file("twin.db")
    say("   putting our rows into a file of the peer's")
    bench.run("peer", "make", path)
    connection = connect(path)
    connection.execute("ATTACH ? AS ours", [str(ours)])
    connection.execute("BEGIN")
    for table in ("sessions", "messages"):
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM ours.{table} ORDER BY rowid")
    connection.execute("COMMIT")
    connection.close()
    return path


def answers(hits):
    """Yields the hits of one query at a time: all hits of all queries are too many to hold at once."""
    with open(hits) as lines:
        yield from map(json.loads, lines)


def compare(asked, truth, found, differences):
    equal, kinds, differing, unexplained = Counter(hits=0, order=0, excerpts=0), {}, [], 0
    for query, own, other in zip(asked, truth, found, strict=True):
        order, other_order = [hit for hit, _ in own], [hit for hit, _ in other]
        same = {"hits": set(order) == set(other_order), "order": order == other_order, "excerpts": dict(own) == dict(other)}
        equal.update({key: int(value) for key, value in same.items()})
        tally = kinds.setdefault(query["kind"], Counter(queries=0, no_hits=0, hits=0, order=0, excerpts=0))
        tally.update({"queries": 1, "no_hits": int(not order), **{key: int(value) for key, value in same.items()}})
        if not all(same.values()):
            reasons = differences.reasons(query, same, own, other)
            unexplained += not all(reasons.values())
            differing.append({**query, "hits": len(order), "missing": len(set(order) - set(other_order)),
                              "extra": len(set(other_order) - set(order)), "reasons": reasons})
    return {"equal": dict(equal), "unexplained": unexplained, "kinds": {kind: dict(tally) for kind, tally in kinds.items()}, "differing": differing}


class Differences:
    """The differences between two files with the same messages, apart from the layout of their indexes."""

    def __init__(self, inline, compact):
        self.texts, means = set(), lambda row: row and (*row[:4], json.loads(row[4] or "null"))
        connections = [connect(path) for path in (inline, compact)]
        sql = "SELECT session_id, role, content, tool_name, tool_calls FROM messages ORDER BY session_id, id"
        for place, (one, other) in enumerate(zip_longest(*(connection.execute(sql) for connection in connections))):
            if one != other:
                self.texts.add(place)
                if means(one) != means(other):
                    raise RuntimeError(f"{inline.name} and {compact.name} do not hold the same messages; nothing can be compared")
        for connection in connections:
            connection.close()
        self.sizes = {index: [self.size(path, index) for path in (inline, compact)] for index in ("messages_fts", "messages_fts_trigram")}

    @staticmethod
    def size(path, index):
        """Returns the rows and tokens of an index, as stored for ranking: both are big-endian numbers of seven bits
        per byte.
        """
        connection = connect(path)
        (record,), numbers, number = connection.execute(f"SELECT block FROM {index}_data WHERE id = 1").fetchone(), [], 0
        connection.close()
        for byte in record:
            number = number << 7 | byte & 127
            if byte < 128:
                numbers.append(number)
                number = 0
        return numbers[:2]

    def reasons(self, query, same, own, other):
        """Returns the reason for each kind of difference between the answers; None where it is not known."""
        told, text = {}, "stored in other letters (JSON escapes)"
        if not same["hits"]:
            told["hits"] = text if {hit for hit, _ in own} ^ {hit for hit, _ in other} <= self.texts else None
        elif not same["excerpts"]:
            other = dict(other)
            told["excerpts"] = text if {hit for hit, mark in own if other[hit] != mark} <= self.texts else None
        if same["hits"] and not same["order"]:
            index = "messages_fts_trigram" if query["kind"] in ("CJK 3", "CJK 4") else "messages_fts"
            (rows, tokens), (other_rows, other_tokens) = self.sizes[index]
            is_ranked = query["kind"] not in ("CJK 1", "CJK 2")
            told["order"] = (f"ranks go by the average length: {index} has {other_rows:,} rows, {other_tokens:,} tokens for {rows:,}, {tokens:,}"
                             if is_ranked and (rows, tokens) != (other_rows, other_tokens) else None)
        return told
