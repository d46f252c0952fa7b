"""Draws queries from the corpus, always the same ones."""
import random
import re

from tools import say

SEED = 14
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Number of queries per kind.
KINDS = {"word": 60, "two words": 35, "phrase": 30, "prefix": 25, "tool": 10, "CJK 1": 10, "CJK 2": 10, "CJK 3": 10, "CJK 4": 10}


def draw(bench):
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

    def word():
        return chance.choice(WORD.findall(chance.choice(texts)))

    def phrase():
        """Returns adjacent words, separated only by a space."""
        while True:
            if found := re.findall(r"(?<!\S)[A-Za-z]+(?: [A-Za-z]+){1,2}", chance.choice(texts)):
                return f'"{chance.choice(found)}"'

    def prefix():
        whole = word()
        return f"{whole[:chance.randint(2, len(whole))]}*"

    def piece(length):
        run = chance.choice(runs)
        at = chance.randrange(len(run) - length + 1)
        return run[at:at + length]

    makers = {"word": word, "two words": lambda: f"{word()} {word()}", "phrase": phrase, "prefix": prefix, "tool": lambda: chance.choice(tools)}
    makers |= {f"CJK {length}": lambda length=length: piece(length) for length in (1, 2, 3, 4)}
    for kind, number in KINDS.items():
        if kind.startswith("CJK") and not runs or kind == "tool" and not tools:
            say(f"   the corpus has nothing for queries of the kind {kind}")
            continue
        for _ in range(number):
            # A few attempts: there may be fewer tools than queries.
            text = next((text for text in (makers[kind]() for _ in range(50)) if text not in seen), None)
            if text:
                seen.add(text)
                queries.append({"kind": kind, "text": text})
    return queries
