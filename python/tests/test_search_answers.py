"""``search_messages`` answers typical input: a stored word with a stray character, and questions in plain words.

``HERMES_TEST_STRAY=10000`` tries more words. The figures are printed.
"""

from __future__ import annotations

import json
import os
import random
import re
import unittest
from collections import Counter
from collections.abc import Iterable

from support import REPOSITORY, StoreTest

from hermes_sessions import SessionDB

DATA = REPOSITORY / "crates" / "hermes-conformance" / "data"
STRAY = int(os.environ.get("HERMES_TEST_STRAY") or 300)
SIGNS = "':,;/\\@#$%&=<>?!|~`.-\"()*^+{}[]_…—？。"


def stray(words: list[str], count: int) -> list[str]:
    """Returns words with a punctuation character before or after them."""
    dice = random.Random(19)
    return [
        dice.choice(("{sign}{word}", "{word}{sign}")).format(word=dice.choice(words), sign=dice.choice(SIGNS))
        for _ in range(count)
    ]


class SearchAnswers(StoreTest):
    def test_words_with_a_stray_sign_and_plain_questions_are_answered(self) -> None:
        conversations = [json.loads(line) for line in (DATA / "conversations.jsonl").read_text().splitlines()]
        questions = [json.loads(line)["question"] for line in (DATA / "questions.jsonl").read_text().splitlines()]
        words: set[str] = set()
        with SessionDB(self.path) as db:
            for told in conversations:
                db.create_session(told["id"], told["source"])
                said = [{"role": message["role"], "content": message["text"]} for message in told["messages"]]
                db.append_messages(told["id"], said)
                words.update(word for message in said for word in re.findall(r"\w+", message["content"]))
            self._ask(db, "a stored word with a stray sign", stray(sorted(words), STRAY))
            self._ask(db, "a question in plain words", questions)
            self.assertEqual(db.search_messages("xylophonic quizzaciously"), [], "no word of it was ever said")

    def _ask(self, db: SessionDB, what: str, queries: Iterable[str]) -> None:
        counted: Counter[str] = Counter()
        empty = []
        for query in queries:
            hits = db.search_messages(query, limit=1)
            counted["empty" if not hits else "relaxed" if hits[0].get("relaxed") else "exact"] += 1
            empty += [] if hits else [query]
        print(f"\n{what}: {counted.total()} queries, {dict(counted)}")
        if not os.environ.get("HERMES_TEST_ONLY_COUNT"):
            # A query that our own search can't answer either has no word of any message.
            self.assertEqual([query for query in empty if db.search(query, limit=1)["hits"]], [])
            self.assertLess(len(empty), 0.02 * counted.total())


if __name__ == "__main__":
    unittest.main()
