"""Processes append to one file concurrently: all ours, all the peer's, and half and half."""
import json
import statistics
from collections import Counter
from dataclasses import dataclass

from tools import Row, connect, merge, pending, say

NUMBERS = (1, 4, 16)
BODIES = 500


@dataclass
class Child:
    """A process that appends."""

    side: str
    name: str
    process: object
    figures: dict | None = None


def run(bench):
    bodies = bench.file("bodies.json")
    bodies.write_text(json.dumps(draw(bench)))
    kinds = {(number, kind): [] for number in NUMBERS for kind in ("peer", "ours", "mixed") if number > 1 or kind != "mixed"}
    for round in range(bench.rounds):
        for number, kind in kinds if round % 2 == 0 else reversed(kinds):
            say(f"   round {round + 1}, {number} processes, {kind}")
            kinds[number, kind].append(together(bench, number, kind, bodies))
    prove(bench, bodies)
    figures = {f"{number} {kind}": merge(rounds) for (number, kind), rounds in kinds.items()}
    return figures, [row for number in NUMBERS for row in rows(number, figures)]


def rows(number, figures):
    name = f"{number} processes" if number > 1 else "1 process"
    peer, ours = figures[f"{number} peer"], figures[f"{number} ours"]
    both = lambda key: (peer["peer"][key], ours["ours"][key])
    goals = number == 16
    yield Row(f"{name}, acknowledged", "1/s", *both("per_second"), "≥ 2×" if goals else "")
    yield Row(f"{name}, median", "ms", *both("p50_ms"))
    yield Row(f"{name}, p99", "ms", *both("p99_ms"), "≤ 0.1×" if goals else "")
    yield Row(f"{name}, longest", "ms", *both("max_ms"), "< 1000" if goals else "")
    if number > 1:
        yield Row(f"{name}, slowest against the mean", "%", *both("slowest_percent"), "≥ 50" if goals else "")
    yield Row(f"{name}, CPU until closed", "ms", *both("cpu_closed_ms"))
    yield Row(f"{name}, not indexed at the end", "", peer["pending"], ours["pending"])
    yield Row(f"{name}, lost, doubled, torn or strange", "", wrong(peer), wrong(ours), "= 0")
    yield Row(f"{name}, errors", "", peer["peer"]["errors"], ours["ours"]["errors"], "= 0")
    if number > 1:
        mixed = figures[f"{number} mixed"]
        for what, unit, key in (("acknowledged", "1/s", "per_second"), ("p99", "ms", "p99_ms"), ("longest", "ms", "max_ms"),
                                ("slowest against the mean", "%", "slowest_percent"), ("errors", "", "errors")):
            yield Row(f"{name}, half and half, {what}", unit, mixed["peer"][key], mixed["ours"][key])
        yield Row(f"{name}, half and half, lost …", "", None, wrong(mixed), "= 0")


def wrong(figures):
    return sum(figures["verdict"][key] for key in ("lost", "doubled", "torn", "strangers"))


def draw(bench):
    """Returns texts of the corpus of some hundred bytes, always the same ones."""
    bodies = []
    for session in bench.sessions():
        for message in session["messages"]:
            if isinstance(message.get("content"), str) and 300 <= len(message["content"].encode()) <= 1500:
                bodies.append(message["content"])
                if len(bodies) == BODIES:
                    return bodies
    if not bodies:
        raise RuntimeError("the corpus has no message of 300 to 1,500 bytes")
    return bodies


def together(bench, number, kind, bodies):
    """Runs one round. A file that both use is created by us: that is what an optimised file looks like to the peer."""
    path = bench.file("processes.db")
    sides = ["ours" if n % 2 == 0 else "peer" for n in range(number)] if kind == "mixed" else [kind] * number
    children = [start(bench, side, path, bodies, f"{side}-{n}", bench.seconds, 0) for n, side in enumerate(sides)]
    # All are ready before the first one starts.
    for child in children:
        go(child)
    for child in children:
        finish(child)
    figures = {side: figure([child for child in children if child.side == side]) for side in dict.fromkeys(sides)}
    return {**figures, "pending": pending(path), "verdict": verdict(path, bodies, children)}


def start(bench, side, path, bodies, name, seconds, pause):
    """Starts an appender and waits until it has the file open."""
    child = Child(side, name, bench.start(side, "appender", path, bodies, name, seconds, pause))
    if child.process.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{name} did not start: {child.process.communicate()[1][-2000:]}")
    return child


def go(child):
    child.process.stdin.write("go\n")
    child.process.stdin.flush()


def finish(child, stop=False):
    """Waits for the end of an appender, or makes it stop by closing its input."""
    if stop:
        child.process.stdin.close()
        child.process.stdin = None
    output = child.process.stdout.read()
    errors = child.process.stderr.read()
    if child.process.wait():
        raise RuntimeError(f"{child.name}: {errors[-2000:]}")
    child.figures = json.loads(output)


def figure(children):
    """Merges the figures of the processes of one side."""
    latencies = sorted(latency for child in children for latency in child.figures["latencies_ms"])
    acknowledged = [len(child.figures["latencies_ms"]) - len(child.figures["failed"]) for child in children]
    at = lambda share, times=latencies: times[min(int(len(times) * share), len(times) - 1)]
    seconds = max(child.figures["seconds"] for child in children)
    errors = [error for child in children for _, error in child.figures["failed"]]
    return {
        "processes": len(children), "acknowledged": sum(acknowledged), "per_second": sum(acknowledged) / seconds,
        "p50_ms": at(.5), "p99_ms": at(.99), "max_ms": latencies[-1],
        # A process that rarely gets the lock contributes few samples to the figures above.
        "worst_process_p99_ms": max(at(.99, sorted(child.figures["latencies_ms"])) for child in children),
        "slowest_percent": 100 * min(acknowledged) / statistics.mean(acknowledged),
        "errors": len(errors), "first_error": errors[0] if errors else "",
        "cpu_ms": sum(child.figures["cpu_seconds"] for child in children) * 1e3 / max(sum(acknowledged), 1),
        "cpu_closed_ms": sum(child.figures["cpu_seconds_closed"] for child in children) * 1e3 / max(sum(acknowledged), 1),
    }


def verdict(path, bodies, children):
    """Compares the acknowledged messages with the file. A failed message may be there or not, but at most once."""
    bodies = json.loads(bodies.read_text())
    acknowledged, tried = set(), {}
    for child in children:
        failed = {number for number, _ in child.figures["failed"]}
        for number in range(len(child.figures["latencies_ms"])):
            tried[child.name, str(number)] = bodies[number % len(bodies)]
            if number not in failed:
                acknowledged.add((child.name, str(number)))
    connection = connect(path)
    check = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    stored, torn, strangers = Counter(), 0, 0
    for session, content in connection.execute("SELECT session_id, content FROM messages WHERE session_id LIKE 'bench-%'"):
        mark, _, body = content.partition(" ")
        key = tuple(mark.split("/", 1))
        if key not in tried or session != f"bench-{key[0]}":
            strangers += 1
        elif body != tried[key]:
            torn += 1
        else:
            stored[key] += 1
    connection.close()
    if check != ["ok"]:
        raise RuntimeError(f"the file is damaged: {check[:5]}")
    return {"acknowledged": len(acknowledged), "stored": stored.total() + torn + strangers, "lost": len(acknowledged - set(stored)),
            "doubled": sum(count - 1 for count in stored.values()), "torn": torn, "strangers": strangers}


def prove(bench, bodies):
    """Checks that the verdict can fail: deletes, duplicates, truncates and invents a message, and checks that each
    is noticed.
    """
    path = bench.file("proof.db")
    connection = connect(path)
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT)")
    texts = json.loads(bodies.read_text())
    insert = lambda content: connection.execute("INSERT INTO messages (session_id, content) VALUES ('bench-x', ?)", [content])
    for number in range(20):
        insert(f"x/{number} {texts[number % len(texts)]}")
    child = Child("ours", "x", None, {"latencies_ms": [0.0] * 20, "failed": []})
    seen = []
    for spoil, key in ((lambda: None, None), (lambda: connection.execute("DELETE FROM messages WHERE id = 7"), "lost"),
                       (lambda: insert(f"x/9 {texts[9 % len(texts)]}"), "doubled"), (lambda: insert("x/10 cut"), "torn"),
                       (lambda: insert("x/20 never said"), "strangers")):
        spoil()
        if key:
            seen.append(key)
        told = verdict(path, bodies, [child])
        if [name for name in ("lost", "doubled", "torn", "strangers") if told[name]] != seen:
            raise RuntimeError(f"the count does not notice what is wrong ({seen}): {told}")
    connection.close()
