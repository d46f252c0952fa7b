"""The first page of a search, by class of query: the median of each query on both sides, and of the queries of a
class.
"""
import json
import random
import statistics
from collections import Counter

import queries
from tools import Row

SEED = 25
# Number of queries per class.
NUMBER = 6
GOALS = {
    "word in one message": "",
    "rare word": "≤ 0.167×",
    "common word": "≤ 0.167×",
    "two words": "≤ 0.286×",
    "one of two words": "≤ 0.2×",
    "one word and not another": "",
    "phrase": "≤ 0.667×",
    "short prefix": "≤ 0.5×",
    "longer prefix": "≤ 0.667×",
    "CJK, 1 character": "≤ 0.0333×",
    "CJK, 2 characters": "≤ 0.0333×",
    "CJK, 3 characters": "≤ 0.25×",
    "CJK, 4 characters": "≤ 0.25×",
    "piece of a word": "≤ 5",
    "path or name with signs": "",
    "nothing found": "",
}


def run(bench):
    asked = draw(bench)
    file = bench.file("find.json")
    file.write_text(json.dumps([{"name": query, "query": query} for texts in asked.values() for query in texts]))
    figures = bench.turns(lambda side, _: bench.run(side, "find", bench.loaded[side][0], file))
    rows = []
    for kind, goal in GOALS.items():
        for unit, key in (("ms", "p50_ms"), ("ms CPU", "cpu_ms")):
            peer, ours = (statistics.median(figures[side][query][key] for query in asked[kind]) for side in ("peer", "ours"))
            # The peer does not find parts of words: there is nothing to compare with.
            is_alone = kind == "piece of a word"
            rows.append(Row(f"search, {kind}", unit, None if is_alone else peer, ours, goal if key == "p50_ms" else ""))
    return {"queries": asked, **figures}, rows


def draw(bench):
    """Returns queries of each class from the corpus, always the same ones."""
    chance, having, runs, signs = random.Random(SEED), Counter(), [], []
    texts = []
    for session in bench.sessions():
        for message in session["messages"]:
            text = message.get("content")
            if isinstance(text, str):
                having.update({word.lower() for word in queries.WORD.findall(text)})
                runs += [run for run in queries.CJK.findall(text) if len(run) >= 4]
                if " " in text:
                    texts.append(text)
                signs += [word for word in text.split() if any(sign in word[1:-1] for sign in "/._-") and word.isascii() and 6 < len(word) < 40]
    common = [word for word, _ in having.most_common(NUMBER * 2)]
    usual = [word for word, number in having.items() if number > len(texts) / 200 and word not in common]
    rare = [word for word, number in having.items() if 10 <= number <= 30 and len(word) > 4]
    single = [word for word, number in having.items() if number == 1 and len(word) > 4]
    pick = lambda some: chance.sample(sorted(set(some)), min(NUMBER, len(set(some))))
    pairs = lambda join: [f"{one}{join}{other}" for one, other in zip(pick(usual), pick(usual))]
    cut = lambda length: [run[at:at + length] for run in pick(runs) for at in [chance.randrange(len(run) - length + 1)]]
    phrases = []
    while len(phrases) < NUMBER:
        words = chance.choice(texts).split(" ")
        at = chance.randrange(max(len(words) - 2, 1))
        if all(word.isascii() and word.isalpha() for word in words[at:at + 2]) and len(words[at:at + 2]) == 2:
            phrases.append(f'"{" ".join(words[at:at + 2])}"')
    return {
        "word in one message": pick(single),
        "rare word": pick(rare),
        "common word": common[:NUMBER],
        "two words": pairs(" "),
        "one of two words": pairs(" OR "),
        "one word and not another": pairs(" NOT "),
        "phrase": phrases,
        "short prefix": [f"{word[:2]}*" for word in pick(usual)],
        "longer prefix": [f"{word[:5]}*" for word in pick([word for word in usual if len(word) > 6])],
        "CJK, 1 character": cut(1),
        "CJK, 2 characters": cut(2),
        "CJK, 3 characters": cut(3),
        "CJK, 4 characters": cut(4),
        "piece of a word": [word[1:6] for word in pick([word for word in rare + usual if len(word) > 7])],
        "path or name with signs": pick(signs),
        "nothing found": [word[::-1] + "qxz" for word in pick(rare)],
    }
