"""The same random calls on the agent's own store and on ours: every answer is equal, or the difference has a name."""

from __future__ import annotations

import logging
import os
import random
import tempfile
import unittest
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compare import answer, apart, peer, same
from differences import DIFFERENCES, explained, is_avoided
from random_calls import Call, Draw
from servers import Mariadb, Postgres, Server
from support import REPOSITORY, StoreTest, is_skipped

from hermes_sessions import SessionDB

SEED = int(os.environ.get("HERMES_TEST_SEED") or 20261116)
# Short ones, in which every call meets a nearly empty store, and long ones, in which it has a history.
LENGTHS = [60] * 20 + [400] * 4
LENGTHS_ON_A_SERVER = [60] * 8 + [300]


def _is_avoided_on_a_server(call: Call, db: Any) -> bool:
    # There, a message that can't be stored uses up an id, and all later ids differ.
    is_refused = call.method in ("append_message", "replace_messages") and db.get_session(call.args[0]) is None
    return is_refused or is_avoided(call, db)


@unittest.skipIf(is_skipped("peers"), "HERMES_TEST_SKIP names peers")
class Differential(StoreTest):
    def setUp(self) -> None:
        super().setUp()
        # The agent's store logs each error that it swallows.
        logging.disable(logging.ERROR)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_random_calls_are_answered_alike(self) -> None:
        compared = self._compare(LENGTHS, lambda number: str(self.folder / f"{number}.db"), is_avoided)
        self.assertGreaterEqual(compared, 2000)

    @unittest.skipIf(is_skipped("postgres"), "HERMES_TEST_SKIP names postgres")
    def test_random_calls_on_postgresql_are_answered_alike(self) -> None:
        self._compare_on(Postgres())

    @unittest.skipIf(is_skipped("mysql"), "HERMES_TEST_SKIP names mysql")
    def test_random_calls_on_mariadb_are_answered_alike(self) -> None:
        self._compare_on(Mariadb())

    def _compare_on(self, server: Server) -> None:
        with server:
            self._compare(LENGTHS_ON_A_SERVER, server.store, _is_avoided_on_a_server)

    def _compare(self, lengths: list[int], store: Callable[[int], str], avoided: Callable[[Call, Any], bool]) -> int:
        names: Counter[str] = Counter()
        methods: Counter[str] = Counter()
        for number, length in enumerate(lengths):
            history: list[Call] = []
            with tempfile.TemporaryDirectory() as folder, SessionDB(store(number)) as ours:
                theirs = peer().SessionDB(Path(folder) / "theirs.db")
                for call in Draw(random.Random(f"{SEED}/{number}")).calls(length):
                    if avoided(call, theirs):
                        continue
                    history.append(call)
                    methods[call.method] += 1
                    their, our = answer(call, theirs), answer(call, ours)
                    if same(their, our):
                        continue
                    name = explained(call, their, our, theirs)
                    if name is None:
                        story = "\n".join(map(str, history))
                        where = "\n".join(apart(their.error or their.value, our.error or our.value))
                        self.fail(f"seed {SEED}, sequence {number}:\n{story}\ntheirs | ours: {where}")
                    names[name] += 1
                theirs.close()
        compared = sum(methods.values())
        told = ", ".join(f"{name} {count}" for name, count in names.most_common())
        print(f"seed {SEED}: {compared} calls of {len(methods)} methods compared; named differences: {told}")
        return compared

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
