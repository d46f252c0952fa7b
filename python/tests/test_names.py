"""All names that callers import or call exist, with the agent's signatures and static helpers."""

from __future__ import annotations

import inspect
import json
import random
import subprocess
import sys
import unittest
from typing import Any

from support import PYTHON, is_skipped, peer_folder

from hermes_sessions import AsyncSessionDB, SessionDB, SessionDBProvider, state
from hermes_sessions.title import sanitize_title

_ASK_THE_PEER = """
import inspect, json, sys
sys.path.insert(0, sys.argv[1])
import hermes_state
DB = hermes_state.SessionDB
facts = {}
for name, member in inspect.getmembers(DB, callable):
    if not name.startswith("_"):
        parameters = inspect.signature(member).parameters.values()
        facts[name] = [[p.name, p.kind.name, None if p.default is p.empty else repr(p.default)] for p in parameters]
asked = json.load(sys.stdin)
helpers = {
    "queries": [DB._sanitize_fts5_query(text) for text in asked["queries"]],
    "cjk": [DB._contains_cjk(text) for text in asked["queries"]],
    "titles": [DB.sanitize_title(text) for text in asked["titles"]],
}
print(json.dumps({"methods": facts, "version": hermes_state.SCHEMA_VERSION, "helpers": helpers}))
"""


def samples(seed: int) -> list[str]:
    dice = random.Random(seed)
    pieces = [
        "a",
        "foo",
        "AND",
        "or",
        "Not",
        '"',
        "*",
        "**",
        "-",
        "_",
        ".",
        " ",
        "  ",
        "(",
        ")",
        "+",
        "^",
        "{",
        "}",
        "大别",
        "山",
    ]
    pieces += [
        "한국",
        "かな",
        "é",
        "१२",
        ":",
        "'",
        "\n",
        "\t",
        "\u3000",
        "x_y",
        "chat-send",
        "1.2.3",
        "\0Q0\0"[:0],
        "NEAR",
    ]
    return ["".join(dice.choice(pieces) for _ in range(dice.randrange(1, 9))) for _ in range(3000)]


def ask_the_peer(**asked: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-c", _ASK_THE_PEER, str(peer_folder())]
    run = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def parameters(member: Any) -> list[list[str | None]]:
    given = inspect.signature(member).parameters.values()
    return [[p.name, p.kind.name, None if p.default is p.empty else repr(p.default)] for p in given]


@unittest.skipIf(is_skipped("peers"), "HERMES_TEST_SKIP names peers")
class Peer(unittest.TestCase):
    maxDiff = None

    def test_every_public_method_has_its_signature(self) -> None:
        theirs = ask_the_peer(queries=[], titles=[])
        for name, wanted in theirs["methods"].items():
            with self.subTest(method=name):
                self.assertEqual(parameters(getattr(SessionDB, name)), wanted)
        self.assertGreater(len(theirs["methods"]), 50)
        self.assertEqual(state.SCHEMA_VERSION, theirs["version"])

    def test_query_helpers_give_what_theirs_give(self) -> None:
        queries = samples(seed := random.randrange(2**32))
        theirs = ask_the_peer(queries=queries, titles=[])["helpers"]
        ours = [SessionDB._sanitize_fts5_query(query) for query in queries]
        wrong = [(q, o, t) for q, o, t in zip(queries, ours, theirs["queries"]) if o != t]
        self.assertEqual(wrong[:5], [], f"seed {seed}")
        self.assertEqual([SessionDB._contains_cjk(query) for query in queries], theirs["cjk"], f"seed {seed}")

    def test_ordinary_titles_are_cleaned_alike(self) -> None:
        titles = ["", "  a  b ", "x\ty\nz", "a\u200bb", "plan\x07", "大 \u3000别", "x" * 100, "\u202eevil", "é"]
        theirs = ask_the_peer(queries=[], titles=titles)["helpers"]
        self.assertEqual([SessionDB.sanitize_title(title) for title in titles], theirs["titles"])


class Names(unittest.TestCase):
    def test_the_module_has_the_names_that_callers_import(self) -> None:
        for name in (
            "SessionDB",
            "DEFAULT_DB_PATH",
            "SCHEMA_VERSION",
            "get_last_init_error",
            "_set_last_init_error",
            "format_session_db_unavailable",
            "apply_wal_with_fallback",
            "_WAL_INCOMPAT_MARKERS",
        ):
            self.assertTrue(hasattr(state, name), name)

    def test_the_coroutines_are_written_from_the_methods(self) -> None:
        tool = PYTHON / "tools" / "async_methods.py"
        subprocess.run([sys.executable, str(tool), "--check"], check=True)
        for name, member in inspect.getmembers(SessionDB, inspect.isfunction):
            if not name.startswith("_") and name not in ("close", "sanitize_title"):
                coroutine = getattr(AsyncSessionDB, name)
                self.assertTrue(inspect.iscoroutinefunction(coroutine), name)
                self.assertEqual(parameters(coroutine), parameters(member), name)

    def test_what_is_behind_the_api_says_what_to_use(self) -> None:
        db = object.__new__(SessionDB)
        with self.assertRaisesRegex(AttributeError, "reopen_session"):
            _ = db._conn
        self.assertIsNone(getattr(db, "_conn", None))
        with self.assertRaisesRegex(AttributeError, "safe in threads"):
            _ = db._lock
        with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
            _ = db.nonsense

    def test_the_provider_has_the_methods_of_the_rfc(self) -> None:
        provider = SessionDBProvider()
        self.assertEqual(provider.name, "hermes-sessions")
        with self.assertRaisesRegex(Exception, "initialize"):
            provider.get_session("x")
        self.assertFalse(hasattr(provider, "_nothing"))

    def test_unavailable_names_the_cause(self) -> None:
        before = state.get_last_init_error()
        try:
            state._set_last_init_error(None)
            self.assertEqual(state.format_session_db_unavailable(), "Session database not available.")
            state._set_last_init_error("OperationalError: locking protocol")
            self.assertEqual(
                state.format_session_db_unavailable("No"),
                "No: OperationalError: locking protocol"
                " (state.db may be on NFS/SMB/FUSE — see https://www.sqlite.org/wal.html).",
            )
        finally:
            state._set_last_init_error(before)

    def test_titles(self) -> None:
        self.assertIsNone(sanitize_title(None))
        self.assertIsNone(sanitize_title(" \u200b\n"))
        self.assertEqual(sanitize_title("e\u0301 \x9b 👨\u200d👩 a\u200db"), "é 👨\u200d👩 ab")
        self.assertEqual(sanitize_title("a\x0bb\x85c"), "ab c")
        with self.assertRaisesRegex(ValueError, r"Title too long \(101 chars, max 100\)"):
            sanitize_title("x" * 101)


if __name__ == "__main__":
    unittest.main()
