"""Compares the answers of two builds, or of two stores, to many queries of all classes.

    python3 answers.py draw CORPUS QUERIES          draws queries from a corpus, always the same ones
    hermes-bench answers URL QUERIES > ANSWERS      runs them
    python3 answers.py compare QUERIES BEFORE AFTER         prints queries whose hits or order differ, and times by class
"""
import json
import random
import re
import statistics
import sys

WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
SIGNS = "/._-:"
QUESTIONS = [
    "how did we fix the flaky {} test", "why does {} fail with {}", "what did you say about {} and {} yesterday",
    "where is the {} configured", "which {} did we choose for {}", "can you explain how {} works",
]
# Number of queries per class.
NUMBER = 40


def draw(corpus):
    chance, texts, runs, paths, having = random.Random(31), [], [], [], {}
    for line in open(corpus, encoding="utf-8"):
        for message in json.loads(line)["messages"]:
            text = message.get("content")
            if isinstance(text, str) and text:
                texts.append(text)
                runs += [run for run in CJK.findall(text) if len(run) >= 4]
                paths += [word for word in text.split() if any(sign in word[1:-1] for sign in SIGNS) and word.isascii() and 5 < len(word) < 60]
                for word in WORD.findall(text):
                    having[word.lower()] = having.get(word.lower(), 0) + 1
    common = sorted(having, key=lambda word: (-having[word], word))
    usual, rare = common[:800], [word for word in common if 2 <= having[word] <= 40]
    paths, runs = sorted(set(paths)), sorted(set(runs))
    often = sorted(set(chance.choice(chance.choice(texts).split() or [""]) for _ in range(4000)))
    signed = [word for word in often if any(sign in word[1:-1] for sign in SIGNS)]

    def phrase(length):
        while True:
            words = chance.choice(texts).split()
            at = chance.randrange(max(len(words) - length, 1))
            piece = " ".join(words[at:at + length]).replace('"', "")
            if len(words) >= length and piece:
                return f'"{piece}"'

    any_word = lambda: chance.choice([chance.choice(usual), chance.choice(rare)])
    cut = lambda length: (lambda run: run[(at := chance.randrange(len(run) - length + 1)):at + length])(chance.choice(runs))
    word = lambda: chance.choice(WORD.findall(chance.choice(texts)) or ["the"])
    makers = {
        "common word": lambda: chance.choice(common[:80]),
        "word": word,
        "rare word": lambda: chance.choice(rare),
        "two words": lambda: f"{any_word()} {any_word()}",
        "three usual words": lambda: f"{chance.choice(usual)} {chance.choice(usual)} {chance.choice(usual)}",
        "one of two words": lambda: f"{any_word()} OR {any_word()}",
        "one word and not another": lambda: f"{any_word()} NOT {any_word()}",
        "phrase of two": lambda: phrase(2),
        "phrase of three": lambda: phrase(3),
        "phrase of six": lambda: phrase(6),
        "usual phrase that is rare": lambda: f'"{chance.choice(usual)} {chance.choice(usual)}"',
        "path": lambda: chance.choice(paths),
        "frequent path": lambda: chance.choice(signed or paths),
        "prefix": lambda: f"{(any_word() + 'ab')[:chance.randint(2, 5)]}*",
        "piece of a word": lambda: any_word()[1:chance.randint(3, 7)] or "ing",
        "CJK": lambda: cut(chance.randint(1, 4)),
        "question": lambda: chance.choice(QUESTIONS).format(any_word(), any_word()),
        "many words": lambda: " ".join(any_word() for _ in range(chance.randint(5, 12))),
        "nothing": lambda: any_word()[::-1] + "qxz",
    }
    drawn = {"fixed": ["kubernetes", "src/main.rs", "how did we fix the flaky login test", "C++", "a", "--help", "don't"]}
    for kind, make in makers.items():
        found = []
        for _ in range(NUMBER * 5):
            text = make()
            if text and text not in found and len(found) < NUMBER and not any(text in others for others in drawn.values()):
                found.append(text)
        drawn[kind] = found
    return drawn


def compare(before, after, kinds):
    differing = 0
    for text, one in before.items():
        other = after.get(text)
        if other is None or one["pages"] != other["pages"]:
            differing += 1
            if differing <= 20:
                print("differs:", repr(text))
                for side in (one, other or {"pages": []}):
                    for page in side["pages"]:
                        print("   ", page["relaxed"], page["partial"], [(hit[0], hit[1]) for hit in page["hits"]][:8])
    print(f"{len(before)} queries, {differing} differ")
    for kind, texts in kinds.items():
        times = [[side[text]["ms"] for text in texts if text in side] for side in (before, after)]
        shown = "   ".join(f"median {statistics.median(some):7.1f} ms  worst {max(some):7.1f} ms" for some in times if some)
        print(f"{kind:28} {shown}")
    return differing


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["draw", corpus, queries]:
            drawn = draw(corpus)
            with open(queries, "w", encoding="utf-8") as file:
                json.dump([text for texts in drawn.values() for text in texts], file, ensure_ascii=False)
            with open(f"{queries}.kinds", "w", encoding="utf-8") as file:
                json.dump(drawn, file, ensure_ascii=False)
        case ["compare", queries, before, after]:
            loaded = [json.load(open(name, encoding="utf-8")) for name in (before, after, f"{queries}.kinds")]
            sys.exit(compare(*loaded) > 0)
        case _:
            sys.exit(__doc__)
