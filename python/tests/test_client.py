"""The shared process: pipelining, death, restart, fork, close."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
import unittest
from unittest import mock

from support import FakeTest

from hermes_sessions import SessionDB, StoreClosed, StoreUnavailable, get_last_init_error
from hermes_sessions import client as client_module


class SharedProcess(FakeTest):
    def test_handles_of_one_store_share_a_process(self) -> None:
        with SessionDB(self.folder) as one, SessionDB(self.folder) as other:
            self.assertEqual(one.ping(), other.ping())
        self.assertEqual(len(self.starts()), 1)

    def test_the_last_handle_ends_it(self) -> None:
        one, other = SessionDB(self.folder), SessionDB(self.folder)
        pid = one.ping()
        one.close()
        one.close()
        self.assertEqual(other.ping(), pid)
        other.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_closing_waits_for_what_was_accepted(self) -> None:
        db = SessionDB(self.folder)
        failures: list[BaseException] = []

        def vacuum() -> None:
            try:
                db.vacuum()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=vacuum)
        thread.start()
        while not (self.folder / "working").exists():
            time.sleep(0.001)
        db.close()
        thread.join()
        self.assertEqual(failures, [])

    def test_a_closed_handle_says_so(self) -> None:
        db = SessionDB(self.folder)
        db.close()
        with self.assertRaisesRegex(StoreClosed, "closed"):
            db.get_session("x")
        self.assertIn("closed", db.maybe_auto_prune_and_vacuum()["error"])

    def test_answers_find_their_callers_in_any_order(self) -> None:
        got: dict[str, str | None] = {}
        with SessionDB(self.folder) as db:
            threads = [threading.Thread(target=lambda key=key: got.update({key: db.get_meta(key)})) for key in "abc"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(got, {"a": "a", "b": "b", "c": "c"})


class Interrupt(FakeTest):
    def test_an_interrupted_call_leaves_the_rest_alone(self) -> None:
        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        with SessionDB(self.folder) as db:
            pid = db.ping()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaises(KeyboardInterrupt):
                db.get_meta("is answered only together with two others")
            self.assertEqual(db.ping(), pid)

    def test_who_asks_within_a_signal_gets_an_answer_and_so_does_who_was_asking(self) -> None:
        with SessionDB(self.folder) as db:
            nested: list[object] = []
            other = threading.Thread(target=lambda: db.get_meta("b"))

            def ask(*_: object) -> None:
                # The three answers arrive together, so this call also reads the other's answer from the pipe.
                other.start()
                nested.append(db.get_meta("c"))

            before = signal.signal(signal.SIGALRM, ask)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            start = time.monotonic()
            self.assertEqual(db.get_meta("a"), "a")
            self.assertEqual(nested, ["c"])
            self.assertLess(time.monotonic() - start, 10)
            other.join()


class Death(FakeTest):
    def test_what_was_not_acknowledged_is_repeated_and_applied_once(self) -> None:
        self.plan(dies_after=2)
        with SessionDB(self.folder) as db:
            self.assertEqual([db.append_message("s", "user", "x") for _ in range(5)], [0, 1, 2, 3, 4])
        self.assertEqual(len(self.starts()), 2)
        self.assertEqual(len((self.folder / "log").read_text().splitlines()), 5)

    def test_a_killed_process_is_started_again_for_all_threads(self) -> None:
        with SessionDB(self.folder) as db:
            os.kill(db.ping(), signal.SIGKILL)
            seen: set[int] = set()
            threads = [threading.Thread(target=lambda: seen.add(db.ping())) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(seen, {self.starts()[-1]})
        self.assertEqual(len(self.starts()), 2)

    def test_one_that_always_dies_is_an_error_at_last(self) -> None:
        self.plan(dies_when_asked=True)
        with mock.patch.multiple(client_module, ATTEMPTS=3, PATIENCE=0.0):
            with SessionDB(self.folder) as db, self.assertRaisesRegex(StoreUnavailable, "3 attempts.*code 9"):
                db.get_session("x")
        self.assertEqual(len(self.starts()), 3)

    def test_one_that_does_not_stay_alive_tells_its_last_words(self) -> None:
        self.plan(dies_at_once=True)
        with (
            self.assertLogs("hermes_sessions", "WARNING"),
            self.assertRaisesRegex(StoreUnavailable, "code 3: no strength"),
        ):
            SessionDB(self.folder)
        self.assertIn("no strength", get_last_init_error() or "")

    def test_nonsense_ends_the_process_not_the_caller(self) -> None:
        with mock.patch.multiple(client_module, ATTEMPTS=2, PATIENCE=0.0):
            with SessionDB(self.folder) as db, self.assertLogs("hermes_sessions", "ERROR"):
                with self.assertRaises(StoreUnavailable):
                    db.get_messages("x")
                self.assertEqual(db.ping(), self.starts()[-1])


class Greeting(FakeTest):
    def test_a_store_that_can_not_be_opened_raises_its_error(self) -> None:
        self.plan(hello={"e": "PermissionError", "t": "state.db is not yours"})
        with self.assertRaisesRegex(PermissionError, "not yours"):
            SessionDB(self.folder)
        self.assertEqual(get_last_init_error(), "PermissionError: state.db is not yours")

    def test_another_protocol_is_refused(self) -> None:
        self.plan(hello={"protocol": 2})
        with self.assertRaisesRegex(StoreUnavailable, "protocol 2"):
            SessionDB(self.folder)

    def test_another_program_is_refused(self) -> None:
        self.plan(first_line='{"usage": "hermes [command]"}')
        with self.assertLogs("hermes_sessions", "ERROR"), self.assertRaisesRegex(StoreUnavailable, "not one of ours"):
            SessionDB(self.folder)


class Errors(FakeTest):
    def test_the_named_class_is_raised(self) -> None:
        classes = {
            "ValueError": ValueError,
            "TypeError": TypeError,
            "KeyError": KeyError,
            "IntegrityError": sqlite3.IntegrityError,
            "OperationalError": sqlite3.OperationalError,
            "DatabaseError": sqlite3.DatabaseError,
            "PermissionError": PermissionError,
            "FileNotFoundError": FileNotFoundError,
            "TimeoutError": TimeoutError,
            "SomethingNew": sqlite3.DatabaseError,
        }
        with SessionDB(self.folder) as db:
            for name, wanted in classes.items():
                with self.assertRaises(wanted) as caught:
                    db.set_meta(name, "the text")
                self.assertIs(type(caught.exception), wanted)
                self.assertIn("the text", str(caught.exception))


class Fork(FakeTest):
    def test_a_forked_child_has_a_process_of_its_own(self) -> None:
        with SessionDB(self.folder) as db:
            ours = db.ping()
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    theirs = db.ping()
                    db.close()
                    os.write(write, str(theirs).encode())
                finally:
                    os._exit(0)
            os.close(write)
            os.waitpid(child, 0)
            theirs = int(os.read(read, 100) or 0)
            os.close(read)
            self.assertNotEqual(theirs, 0, "the child got no answer")
            self.assertNotEqual(theirs, ours)
            self.assertEqual(db.ping(), ours)

    def test_a_fork_while_other_threads_ask_does_not_hang_the_child(self) -> None:
        with SessionDB(self.folder) as db:
            stop = threading.Event()

            def ask() -> None:
                while not stop.is_set():
                    db.ping()

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            try:
                for _ in range(10):
                    child = os.fork()
                    if child == 0:
                        signal.alarm(20)
                        os._exit(0 if isinstance(db.ping(), int) else 1)
                    self.assertEqual(os.waitpid(child, 0)[1], 0)
            finally:
                stop.set()
                for thread in threads:
                    thread.join()


if __name__ == "__main__":
    unittest.main()
