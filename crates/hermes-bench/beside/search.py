"""Whether the peer finds the same in our file as in its own, by its own search: which messages, in which order, with which excerpts."""
import json
import random
import re
from collections import Counter

from tools import Row, connect, say

SEED = 14
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# How many queries of each kind.
KINDS = {"word": 60, "two words": 35, "phrase": 30, "prefix": 25, "tool": 10, "CJK 1": 10, "CJK 2": 10, "CJK 3": 10, "CJK 4": 10}


def run(bench):
    queries, own, compact = draw(bench), bench.loaded["peer"][0], {"ours": bench.loaded["ours"][0]}
    if (optimized := bench.work / "optimized.db").exists() and is_compact(optimized):
        compact["optimized"] = optimized
    questions = bench.file("queries.json")
    questions.write_text(json.dumps(queries))
    truth, time = answers(bench, own, questions)
    figures, rows = {"queries": len(queries), "seconds": {"own": time}}, []
    for name, path in compact.items():
        if messages(own) != messages(path):
            raise RuntimeError(f"{name}: not the same messages; nothing can be compared")
        found, figures["seconds"][name] = answers(bench, path, questions)
        figures[name] = compare(queries, truth, found, reasons(own, path))
        equal = figures[name]["equal"]
        rows += [
            Row(f"peer's search in {name}: same hits", f"of {len(queries)}", None, equal["hits"], f"= {len(queries)}"),
            Row(f"peer's search in {name}: same order too", "", None, equal["order"]),
            Row(f"peer's search in {name}: same excerpts too", "", None, equal["excerpts"]),
        ]
    return figures, rows


def draw(bench):
    """Queries out of the corpus, always the same."""
    chance, queries, seen = random.Random(SEED), [], set()
    texts, runs, tools = [], [], set()
    for session in bench.sessions():
        for message in session["messages"]:
            if message.get("tool_name"):
                tools.add(message["tool_name"])
            text = message.get("content")
            if isinstance(text, str) and len(WORD.findall(text)) > 5:
                texts.append(text)
                runs += [run for run in CJK.findall(text) if len(run) >= 4]
    tools = sorted(tools)

    def phrase():
        # Words that stand side by side, with nothing but a space between.
        while True:
            found = re.findall(r"(?<!\S)[A-Za-z]+(?: [A-Za-z]+){1,2}", chance.choice(texts))
            if found:
                return f'"{chance.choice(found)}"'

    def piece(length):
        run = chance.choice(runs)
        at = chance.randrange(len(run) - length + 1)
        return run[at:at + length]

    word = lambda: chance.choice(WORD.findall(chance.choice(texts)))
    makers = {"word": word, "two words": lambda: f"{word()} {word()}", "phrase": phrase, "prefix": lambda: f"{(w := word())[:chance.randint(2, len(w))]}*",
              "tool": lambda: chance.choice(tools)} | {f"CJK {n}": lambda n=n: piece(n) for n in (1, 2, 3, 4)}
    for kind, number in KINDS.items():
        if kind.startswith("CJK") and not runs or kind == "tool" and not tools:
            say(f"   the corpus has nothing for queries of the kind {kind}")
            continue
        for _ in range(number):
            # A few tries: there may be fewer tools than queries.
            text = next((text for text in (makers[kind]() for _ in range(50)) if text not in seen), None)
            if text:
                seen.add(text)
                queries.append({"kind": kind, "text": text})
    return queries


def answers(bench, path, questions):
    say(f"   the peer searches {path.name}")
    copy, hits = bench.copy(path, "searched.db"), bench.file("hits.json")
    told = bench.run("peer", "search", copy, questions, hits)
    return json.loads(hits.read_text()), told["seconds"]


def compare(queries, truth, found, reasons):
    equal, kinds, differing = Counter(hits=0, order=0, excerpts=0), {}, []
    for query, own, other in zip(queries, truth, found):
        order, other_order = [hit for hit, _ in own["hits"]], [hit for hit, _ in other["hits"]]
        same = {"hits": set(order) == set(other_order), "order": order == other_order, "excerpts": sorted(own["hits"]) == sorted(other["hits"])}
        equal.update({key: int(value) for key, value in same.items()})
        tally = kinds.setdefault(query["kind"], Counter(queries=0, no_hits=0, hits=0, order=0, excerpts=0))
        tally.update({"queries": 1, "no_hits": int(not order), **{key: int(value) for key, value in same.items()}})
        if not all(same.values()):
            differing.append({**query, **same, "own": len(order), "missing": len(set(order) - set(other_order)),
                              "extra": len(set(other_order) - set(order)), "reason": reason(query, same, reasons)})
    return {"equal": dict(equal), "kinds": {kind: dict(tally) for kind, tally in kinds.items()}, "differing": differing}


def reason(query, same, reasons):
    long = query["kind"] in ("CJK 3", "CJK 4")
    if not same["hits"]:
        return "not known: hits differ"
    if not same["order"]:
        return reasons["messages_fts_trigram" if long else "messages_fts"] if not query["kind"] in ("CJK 1", "CJK 2") else "the same times: any order is right"
    return "not known: excerpts differ"


def reasons(own, path):
    """Why the order of equal hits may differ: ranks are reckoned from how many rows an index has and how long they are."""
    told = {}
    for index in ("messages_fts", "messages_fts_trigram"):
        counts = []
        for file in (own, path):
            connection = connect(file)
            counts.append(connection.execute(f"SELECT count(*) FROM {index}_docsize").fetchone()[0])
            connection.close()
        told[index] = "not known: order differs" if counts[0] == counts[1] else f"{index} has {counts[1]:,} rows instead of {counts[0]:,}, so ranks differ"
    return told


def messages(path):
    connection = connect(path)
    digest = hash(tuple(connection.execute("SELECT session_id, role, content, tool_name FROM messages ORDER BY session_id, id")))
    connection.close()
    return digest


def is_compact(path):
    connection = connect(path)
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'messages_fts'").fetchone()
    connection.close()
    return bool(sql) and "content=" in sql[0].replace(" ", "")
