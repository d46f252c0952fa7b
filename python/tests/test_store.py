"""The package with the real program: values, threads, forks, and a process that is killed during a call."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from support import StoreTest

from hermes_sessions import AsyncSessionDB, SessionDB, SessionDBProvider
from hermes_sessions.title import sanitize_title


def pid_of(db: SessionDB) -> int:
    assert db._client is not None
    return db._client.process().pid


def _is_there(pid: int) -> bool:
    try:
        # An orphan that has ended may stay in the process table until it is waited for.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Store(StoreTest):
    def test_a_conversation_is_kept(self) -> None:
        with SessionDB(self.path) as db:
            self.assertEqual(db.create_session("s", "cli", model="sonnet", model_config={"t": 0.5}), "s")
            first = db.append_message("s", "user", "hello")
            rest = db.append_messages("s", [{"role": "assistant", "content": "hi"}, {"role": "user", "content": "bye"}])
            self.assertEqual(rest, [first + 1, first + 2])
        with SessionDB(self.path) as db:
            self.assertEqual([row["content"] for row in db.get_messages("s")], ["hello", "hi", "bye"])
            self.assertEqual(db.get_session("s")["model_config"], '{"t": 0.5}')
            self.assertEqual(db.info()["provider"], "sqlite")
            self.assertEqual(db.info()["schema_version"], 11)

    def test_errors_are_the_classes_that_callers_catch(self) -> None:
        with SessionDB(self.path) as db:
            with self.assertRaises(sqlite3.IntegrityError):
                db.append_message("nobody", "user", "x")
            with self.assertRaises(sqlite3.IntegrityError):
                db.create_session("child", "cli", parent_session_id="nobody")
            with self.assertRaises(TypeError):
                db.create_session("s", "cli", title="no such argument")
            db.create_session("s", "cli")
            with self.assertRaisesRegex(ValueError, "Title too long"):
                db.set_session_title("s", "x" * 101)

    def test_a_store_that_can_not_be_opened_is_an_error(self) -> None:
        self.path.mkdir()
        with self.assertLogs("hermes_sessions", "WARNING"), self.assertRaises(Exception) as caught:
            SessionDB(self.path)
        self.assertIsInstance(caught.exception, (sqlite3.DatabaseError, OSError))

    def test_every_value_comes_back(self) -> None:
        values: list[Any] = [
            None,
            "",
            "é 大别山 👨\u200d👩",
            "\0json:[1]",
            "a\0b",
            "\ud800 alone",
            [],
            {},
            {"n": math.inf, "m": [-math.inf, 1, 1.0, -0.0, 2**63 - 1]},
            [{"type": "text", "text": "\ud800"}],
            {"$f": "nan"},
            {"$o": {"$b": "QQ=="}},
        ]
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            for value in values:
                db.append_message("s", "user", value)
            got = [row["content"] for row in db.get_messages("s")]
            for value, back in zip(values, got):
                with self.subTest(value=value):
                    self.assertEqual((type(back), back), (type(value), value))
            with self.assertRaisesRegex(ValueError, "bytes"):
                db.append_message("s", "user", b"\x00\xff\xfe")
            db.append_message("s", "user", [math.nan])
            self.assertTrue(math.isnan(db.get_messages("s")[-1]["content"][0]))

    def test_a_hundred_megabytes_cross(self) -> None:
        big = "0123456789abcdef" * (100 * 1024 * 1024 // 16)
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            db.set_meta("big", big)
            self.assertEqual(db.get_meta("big"), big)
            self.assertEqual(db.session_count(), 1)

    def test_titles_are_cleaned_as_the_store_does(self) -> None:
        dice = random.Random(seed := random.randrange(2**32))
        pieces = [
            "a",
            "é",
            "e\u0301",
            " ",
            "\t",
            "\n",
            "\u200d",
            "\u200b",
            "\x85",
            "\xa0",
            "\x9b",
            "\x0b",
            "\u2028",
            "👨",
            "👩",
            "🏽",
        ]
        pieces += [
            "\ufe0f",
            "❤",
            "🔥",
            "\xad",
            "\u061c",
            "\u180e",
            "\ufffc",
            "\u3000",
            "大",
            "\u1160",
            "\u0903",
            "\x1c",
            "©",
            "Å",
        ]
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            for _ in range(300):
                text = "".join(dice.choice(pieces) for _ in range(dice.randrange(1, 12)))
                db.set_session_title("s", text)
                self.assertEqual(db.get_session_title("s"), sanitize_title(text), f"{text!r}, seed {seed}")

    def test_calls_of_our_own(self) -> None:
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            db.append_message("s", "user", "alpha beta")
            self.assertEqual([hit["conversation"] for hit in db.search("alpha", sessions=["s"])["hits"]], ["s"])
            self.assertEqual(db.search("alpha", before=1.0)["hits"], [])
            passages = db.session_search("beta", scope={"source": "cli"})
            self.assertEqual([found["summary"] for found in passages["results"]], ["[USER]: alpha beta"])
            self.assertEqual(db.session_search("beta", scope={"source": "telegram"})["count"], 0)
            self.assertEqual(db.session_search("beta", scope="all", current_session_id="s")["count"], 0)
            with self.assertRaises(TypeError):
                db.session_search("beta")  # type: ignore[call-arg]
            self.assertTrue(db.ping())
            self.assertEqual(db.status()["messages"], 1)
            self.assertTrue(db.verify()["sound"])
            db.optimize()
            db.vacuum()

    def test_usage_reports(self) -> None:
        with SessionDB(self.path) as db:
            db.create_session("a", "cli", model="m")
            db.create_session("b", "cli", model="m", parent_session_id="a")
            db.create_session("c", "telegram")
            db.update_token_counts("a", 10, 5, estimated_cost_usd=0.5, api_call_count=1)
            db.update_session_meta("a", '{"cwd": "/x"}', None)
            self.assertEqual(db.get_session("a")["model_config"], '{"cwd": "/x"}')
            self.assertEqual([row["id"] for row in db.sessions_since(0)], ["c", "b", "a"])
            self.assertEqual([row["id"] for row in db.sessions_since(0, "telegram")], ["c"])
            self.assertEqual(db.usage_totals(0)["input_tokens"], 10)
            self.assertEqual(db.usage_by_model(0)[0]["sessions"], 2)
            self.assertEqual(db.latest_descendant("a"), ("b", ["a", "b"]))
            self.assertEqual(db.latest_descendant("nobody"), (None, []))


class Threads(StoreTest):
    def test_many_threads_append_over_one_pipe(self) -> None:
        with SessionDB(self.path) as db:
            for number in range(8):
                db.create_session(f"s{number}", "cli")

            def work(number: int) -> None:
                for turn in range(25):
                    db.append_message(f"s{number}", "user", f"{number}.{turn}")

            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for number in range(8):
                got = [row["content"] for row in db.get_messages(f"s{number}")]
                self.assertEqual(got, [f"{number}.{turn}" for turn in range(25)])

    def test_a_forked_child_writes_to_the_same_store(self) -> None:
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            child = os.fork()
            if child == 0:
                try:
                    db.append_message("s", "user", "from the child")
                    db.close()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            db.append_message("s", "user", "from the parent")
            self.assertEqual([row["content"] for row in db.get_messages("s")], ["from the child", "from the parent"])

    def test_a_process_outlives_the_thread_that_started_it(self) -> None:
        opened: list[SessionDB] = []
        thread = threading.Thread(target=lambda: opened.append(SessionDB(self.path)))
        thread.start()
        thread.join()
        with opened[0] as db:
            pid = pid_of(db)
            db.create_session("s", "cli")
            self.assertEqual(pid_of(db), pid)


class Death(StoreTest):
    def test_killed_in_the_middle_nothing_is_lost_or_doubled(self) -> None:
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            pids: set[int] = set()
            for number in range(60):
                if number % 10 == 5:
                    pids.add(pid := pid_of(db))
                    # Some die before the call, some during it.
                    threading.Timer(random.random() * 0.01, os.kill, (pid, signal.SIGKILL)).start()
                db.append_message("s", "user", str(number))
                db.update_token_counts("s", input_tokens=1)
            self.assertEqual([row["content"] for row in db.get_messages("s")], [str(number) for number in range(60)])
            self.assertEqual(db.get_session("s")["input_tokens"], 60)
            self.assertGreaterEqual(len(pids), 5)

    def test_it_ends_with_its_parent(self) -> None:
        code = "import sys, time; sys.path[:] = {!r}\nfrom hermes_sessions import SessionDB\ndb = SessionDB({!r})\n"
        code += "print(db._client.process().pid, flush=True)\ntime.sleep(600)\n"
        command = [sys.executable, "-c", code.format(sys.path, str(self.path))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            os.kill(pid, 0)
            parent.kill()
        end = time.monotonic() + 30
        while _is_there(pid):
            self.assertLess(time.monotonic(), end, "the process outlives its parent")
            time.sleep(0.01)

    def test_the_same_request_key_is_applied_once(self) -> None:
        with SessionDB(self.path) as db:
            db.create_session("s", "cli")
            ids = {db.call("append_message", "s", "user", "once", request_key="key-1") for _ in range(3)}
            self.assertEqual(len(ids), 1)
            self.assertEqual(db.message_count("s"), 1)


class Coroutines(StoreTest):
    def test_calls_that_are_awaited_together_are_under_way_together(self) -> None:
        async def story() -> None:
            async with AsyncSessionDB(self.path) as db:
                await asyncio.gather(*(db.create_session(f"s{number}", "cli") for number in range(20)))
                await asyncio.gather(*(db.append_message(f"s{number}", "user", "x") for number in range(20)))
                self.assertEqual(await db.session_count(), 20)
                self.assertEqual(await db.message_count(), 20)
                self.assertEqual(len(await db.messages_since(0)), 20)
                with self.assertRaises(sqlite3.IntegrityError):
                    await db.append_message("nobody", "user", "x")
                self.assertEqual(db.sanitize_title(" a "), "a")

        asyncio.run(story())


class Provider(StoreTest):
    def test_the_rfc_calls(self) -> None:
        provider = SessionDBProvider()
        self.assertTrue(provider.is_available())
        provider.initialize(db_path=self.path)
        try:
            self.assertEqual(provider.name, "sqlite")
            provider.create_session("s", "cli", model_config='{"t": 1}', user_id="", parent_session_id="")
            provider.ensure_session("t", "telegram", user_id="7")
            provider.append_message("s", "user", "hello world")
            self.assertIsNone(provider.get_session("s")["user_id"])
            self.assertEqual(len(provider.search_messages("hello", source_filter="cli", role_filter="user")), 1)
            self.assertEqual(provider.search_messages("hello", source_filter="telegram"), [])
            self.assertEqual(provider.session_count(), 2)
            self.assertEqual(len(provider.list_sessions_rich(source="cli")), 1)
        finally:
            provider.shutdown()
            provider.shutdown()


if __name__ == "__main__":
    unittest.main()
