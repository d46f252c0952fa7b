"""The session tests of the agent's own source distribution pass on our store, as far as a drop-in must support them.

``HERMES_TEST_AGENT_RELEASE`` names another release than 0.14.0: its figures are printed, without requirements.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import PYTHON, REPOSITORY, TARGET, is_skipped

from hermes_sessions import SessionDB

RELEASE = os.environ.get("HERMES_TEST_AGENT_RELEASE") or "0.14.0"
OWED = ("black", "grey")
# Minimum numbers. Fewer would mean that tests are no longer found or classified.
AT_LEAST = {"0.14.0": 202}
FILES = ("test_hermes_state.py", "test_hermes_state_wal_fallback.py")


@unittest.skipIf(is_skipped("peers"), "HERMES_TEST_SKIP names peers")
class AgentSuite(unittest.TestCase):
    def test_the_agents_own_tests_pass(self) -> None:
        results = run_suite(source())
        print(f"\nhermes-agent {RELEASE}, its own session tests on our store:")
        print("\n".join(table(results)))
        print("\n".join(methods(source())))
        failed = [f"{kind} {name}: {result}" for name, (kind, result) in results.items() if result != "passed"]
        if RELEASE in AT_LEAST:
            self.assertEqual([line for line in failed if line.startswith(OWED)], [])
            self.assertGreaterEqual(sum(kind in OWED for kind, _ in results.values()), AT_LEAST[RELEASE])


def source() -> Path:
    """Returns the source distribution; it is fetched once."""
    fetched = subprocess.run([REPOSITORY / "scripts" / "agent-source", RELEASE], capture_output=True, text=True)
    if fetched.returncode:
        raise AssertionError(fetched.stderr.strip() or "scripts/agent-source failed")
    return TARGET / "agent-source" / RELEASE


def run_suite(agent: Path) -> dict[str, tuple[str, str]]:
    """Returns the class and the result of each test."""
    if importlib.util.find_spec("pytest") is None:
        raise AssertionError("pytest is missing; scripts/python-test installs it")
    with tempfile.TemporaryDirectory(prefix="hermes-agent-suite-") as folder:
        work = Path(folder)
        (work / "tests").mkdir()
        for name in FILES:
            shutil.copy(agent / "tests" / name, work / "tests")
        report = work / "report.json"
        paths = [str(PYTHON / "tests"), str(Path(sys.modules[SessionDB.__module__].__file__ or "").parent.parent)]
        environment = {
            **os.environ,
            "HERMES_HOME": str(work / "home"),
            "HERMES_AGENT_SUITE_REPORT": str(report),
            # The agent's own modules come last, so that hermes_state is ours.
            "PYTHONPATH": os.pathsep.join([*paths, str(agent)]),
        }
        # Without the plugins of the environment: some of them change how tests run.
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        options = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-p", "agent_suite", "--rootdir", folder]
        command = [sys.executable, "-m", "pytest", *options, "tests"]
        run = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=600)
        if not report.is_file():
            raise AssertionError(f"pytest told no results:\n{run.stdout[-4000:]}\n{run.stderr[-4000:]}")
        found = json.loads(report.read_text())
        if any(kind in OWED and result != "passed" for kind, result in found.values()) and RELEASE in AT_LEAST:
            print(run.stdout[-8000:])
        return {name: (kind, result) for name, (kind, result) in found.items()}


def table(results: dict[str, tuple[str, str]]) -> list[str]:
    """Returns how many passed, by class."""
    lines = []
    for name, kinds in (("black", ["black"]), ("grey", ["grey"]), ("white", ["white"]), ("integ", ["integ"]), ("owed", OWED)):
        counted = Counter(result for kind, result in results.values() if kind in kinds)
        if counted:
            rest = ", ".join(f"{count} {result}" for result, count in sorted(counted.items()) if result != "passed")
            lines.append(f"{name:6} {counted['passed']:4} of {counted.total():4} passed{'; ' + rest if rest else ''}")
    return lines


def methods(agent: Path) -> list[str]:
    """Returns which public methods of the agent's class we have."""
    tree = ast.parse((agent / "hermes_state.py").read_text(encoding="utf-8"))
    [store] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "SessionDB"]
    functions = (node.name for node in store.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    public = sorted({name for name in functions if not name.startswith("_")})
    lacking = [name for name in public if not hasattr(SessionDB, name)]
    lines = [f"public methods of SessionDB: {len(public) - len(lacking)} of {len(public)}"]
    return [*lines, f"we lack: {', '.join(lacking)}"] if lacking else lines


if __name__ == "__main__":
    unittest.main()
