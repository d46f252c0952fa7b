"""An unmodified program that imports ``hermes_state`` gets ours, and the places that bypass the API are patched."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import FAKE, PYTHON, environment

from hermes_sessions.binary import VARIABLE


class Install(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def module(self, name: str, text: str) -> None:
        path = self.folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent != self.folder:
            (path.parent / "__init__.py").touch()
        path.write_text(textwrap.dedent(text))

    def run_python(self, text: str) -> str:
        path = [str(self.folder), *sys.path]
        code = f"import sys; sys.path[:0] = {path!r}\n{textwrap.dedent(text)}"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout + run.stderr

    def test_the_agents_module_is_never_loaded(self) -> None:
        self.module("hermes_state", "raise SystemExit('the own one was loaded')")
        said = self.run_python(
            """
            import hermes_sessions
            hermes_sessions.install()
            import hermes_state
            from hermes_state import SessionDB, DEFAULT_DB_PATH
            print(hermes_state.__name__, SessionDB is hermes_sessions.SessionDB)
            """
        )
        self.assertEqual(said, "hermes_sessions.state True\n")

    def test_it_can_be_taken_out_again(self) -> None:
        self.module("hermes_state", "WHOSE = 'own'")
        said = self.run_python(
            """
            import hermes_sessions
            hermes_sessions.install()
            hermes_sessions.install()
            hermes_sessions.uninstall()
            import hermes_state
            print(hermes_state.WHOSE, [f for f in sys.meta_path if type(f).__module__.startswith("hermes")])
            """
        )
        self.assertEqual(said, "own []\n")

    def test_a_module_that_is_loaded_later_is_patched_then_and_one_that_was_loaded_now(self) -> None:
        text = """
        class InsightsEngine:
            def __init__(self, db): self._conn = db._conn
            def _get_sessions(self, cutoff, source=None): return "sql"
            _get_tool_usage = _get_skill_usage = _get_message_stats = _get_sessions
        """
        self.module("agent.insights", text)
        install, load = "import hermes_sessions; hermes_sessions.install()", "import agent.insights"
        for lines in (f"{load}\n{install}", f"{install}\n{load}"):
            said = self.run_python(
                f"{lines}\n"
                "db = object.__new__(hermes_sessions.SessionDB)\n"
                "db.sessions_since = lambda cutoff, source: ['ours', cutoff, source]\n"
                "from agent.insights import InsightsEngine\n"
                "print(InsightsEngine(db)._get_sessions(5, 'cli'))\n"
                "class Other: _conn = None\n"
                "other = InsightsEngine(Other()); other.db = other\n"
                "print(other._get_sessions(5))\n"
            )
            self.assertEqual(said, "['ours', 5, 'cli']\nsql\n")

    def test_another_release_is_left_as_it_is(self) -> None:
        self.module("cli", "VALUE = 1")
        said = self.run_python(
            """
            import logging; logging.basicConfig(format="%(message)s")
            import hermes_sessions; hermes_sessions.install()
            import cli
            print(cli.VALUE)
            """
        )
        self.assertIn("1\n", said)
        self.assertIn("cli is not as expected", said)

    def test_the_default_may_be_replaced_as_tests_of_callers_do(self) -> None:
        (self.folder / "store").mkdir()
        with environment(**{VARIABLE: str(FAKE)}):
            said = self.run_python(
                """
                from pathlib import Path
                import hermes_sessions
                state = hermes_sessions.install()
                state.DEFAULT_DB_PATH = Path("store")
                with state.SessionDB() as db:
                    print(db.info()["location"], db.db_path)
                """
            )
        self.assertEqual(said, f"{self.folder.resolve() / 'store'} store\n")

    def test_which_store_a_path_means(self) -> None:
        said = self.run_python(
            """
            import os
            os.environ["HERMES_HOME"] = " /homes/ada "
            from hermes_sessions.target import target_of
            for path in ("/elsewhere/state.db", "/homes/ada/state.db", "postgresql://ada:secret@db/x"):
                print(target_of(path).argument, dict(target_of(path).environment))
            """
        )
        self.assertEqual(
            said.splitlines(),
            [
                "/elsewhere/state.db {}",
                "config {'HERMES_HOME': '/homes/ada'}",
                "config {'HERMES_SESSIONDB_URL': 'postgresql://ada:secret@db/x'}",
            ],
        )

    def test_the_script_says_how_it_is_used(self) -> None:
        command = [sys.executable, "-m", "hermes_sessions"]
        with environment(PYTHONPATH=str(PYTHON / "src")):
            nothing = subprocess.run(command, capture_output=True, text=True)
            unknown = subprocess.run([*command, "run", "no-such-script"], capture_output=True, text=True)
        self.assertEqual((nothing.returncode, unknown.returncode), (2, 1))
        self.assertIn("usage:", nothing.stderr)
        self.assertIn("no script 'no-such-script'", unknown.stderr)


if __name__ == "__main__":
    unittest.main()
