"""The same random calls on the agent's own store and on ours: every answer is equal, or its difference has a name."""

from __future__ import annotations

import logging
import os
import random
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from compare import answer, apart, peer, same
from differences import DIFFERENCES, explained, is_avoided
from random_calls import Call, Draw
from support import REPOSITORY, StoreTest, is_skipped

from hermes_sessions import SessionDB

SEED = int(os.environ.get("HERMES_TEST_SEED") or 20261116)
# Short ones, in which every call meets a young store, and long ones, in which it has a past.
LENGTHS = [60] * 20 + [400] * 4


@unittest.skipIf(is_skipped("peers"), "HERMES_TEST_SKIP names peers")
class Differential(StoreTest):
    def setUp(self) -> None:
        super().setUp()
        # The agent's store logs each error that it swallows.
        logging.disable(logging.ERROR)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_random_calls_are_answered_alike(self) -> None:
        names: Counter[str] = Counter()
        methods: Counter[str] = Counter()
        for number, length in enumerate(LENGTHS):
            self._sequence(number, length, names, methods)
        compared = sum(methods.values())
        told = ", ".join(f"{name} {count}" for name, count in names.most_common())
        print(f"seed {SEED}: {compared} calls of {len(methods)} methods compared; named differences: {told}")
        self.assertGreaterEqual(compared, 2000)

    def _sequence(self, number: int, length: int, names: Counter[str], methods: Counter[str]) -> None:
        history: list[Call] = []
        with tempfile.TemporaryDirectory() as folder, SessionDB(Path(folder) / "ours.db") as ours:
            theirs = peer().SessionDB(Path(folder) / "theirs.db")
            try:
                for call in Draw(random.Random(f"{SEED}/{number}")).calls(length):
                    if is_avoided(call, theirs):
                        continue
                    history.append(call)
                    methods[call.method] += 1
                    their, our = answer(call, theirs), answer(call, ours)
                    if same(their, our):
                        continue
                    name = explained(call, their, our)
                    if name is None:
                        story = "\n".join(map(str, history))
                        where = "\n".join(apart(their.error or their.value, our.error or our.value))
                        self.fail(f"seed {SEED}, sequence {number}:\n{story}\ntheirs | ours: {where}")
                    names[name] += 1
            finally:
                theirs.close()

    def test_every_difference_is_there(self) -> None:
        for difference in DIFFERENCES:
            with self.subTest(difference=difference.name), tempfile.TemporaryDirectory() as folder:
                theirs = peer().SessionDB(Path(folder) / "theirs.db")
                with SessionDB(Path(folder) / "ours.db") as ours:
                    for db, holds in ((theirs, difference.theirs), (ours, difference.ours)):
                        for call in difference.before:
                            call.on(db)
                        got = answer(difference.call, db)
                        self.assertTrue(holds(got.error or got.value), f"{difference.call} gave {got}")
                theirs.close()

    def test_the_document_lists_them(self) -> None:
        text = (REPOSITORY / "docs" / "differences.md").read_text()
        for difference in DIFFERENCES:
            self.assertIn(f"| `{difference.name}` | {difference.reason} |", text)


if __name__ == "__main__":
    unittest.main()
