"""Many writers and a process that dies every second: nothing is lost or duplicated, and no caller sees an error."""

from __future__ import annotations

import os
import unittest

from hammer import hammer
from servers import Mariadb, Postgres
from support import StoreTest, is_skipped

SECONDS = float(os.environ.get("HERMES_TEST_HAMMER_SECONDS") or 5)


class Hammer(StoreTest):
    def check(self, store: str) -> None:
        report = hammer(store, SECONDS)
        print(f"{store.split(':')[0] if '://' in store else 'sqlite'}: {report}")
        self.assertEqual(report["exceptions"], [])
        self.assertEqual((report["lost"], report["doubled"], report["tokens_off"]), (0, 0, 0))
        self.assertGreater(report["acknowledged"], 0)
        self.assertGreaterEqual(report["kills"], 2)

    def test_on_a_file(self) -> None:
        self.check(str(self.path))

    @unittest.skipIf(is_skipped("postgres"), "HERMES_TEST_SKIP names postgres")
    def test_on_postgresql(self) -> None:
        with Postgres() as server:
            self.check(server.url)

    @unittest.skipIf(is_skipped("mysql"), "HERMES_TEST_SKIP names mysql")
    def test_on_mariadb(self) -> None:
        with Mariadb() as server:
            self.check(server.url)


if __name__ == "__main__":
    unittest.main()
