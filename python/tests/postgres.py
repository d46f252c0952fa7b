"""A PostgreSQL server to be thrown away: on a free port, in a folder that goes away, never as root."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

_NOBODY = 65_534
_PATIENCE = 60.0


class Postgres:
    """A running server with a database ``hermes``; ``url`` is where."""

    def __init__(self) -> None:
        self._programs = _programs()
        self._folder = Path(tempfile.mkdtemp(prefix="hermes-sessions-postgres-"))
        self._as = {"user": _NOBODY, "group": _NOBODY} if os.getuid() == 0 else {}
        if self._as:
            os.chown(self._folder, _NOBODY, _NOBODY)
        os.chmod(self._folder, 0o755)
        initdb = ["-D", "data", "-U", "hermes", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            [self._programs / "initdb", *initdb], cwd=self._folder, check=True, capture_output=True, **self._as
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "60",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._server = subprocess.Popen(
            [self._programs / "postgres", "-D", "data", *options],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._as,
        )
        self.url = f"postgresql://hermes@127.0.0.1:{port}/postgres"
        self._await(port)

    def _await(self, port: int) -> None:
        ready = self._programs / "pg_isready"
        end = time.monotonic() + _PATIENCE
        asked = [ready, "-q", "-h", "127.0.0.1", "-p", str(port)]
        while subprocess.run(asked).returncode:
            assert self._server.poll() is None and time.monotonic() < end, "the server does not start"
            time.sleep(0.02)

    def __enter__(self) -> Postgres:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self._server.terminate()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _programs() -> Path:
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if all((Path(folder) / program).exists() for program in ("initdb", "postgres", "pg_isready")):
            return Path(folder)
    found = shutil.which("initdb")
    if not found:
        raise AssertionError("PostgreSQL is missing; install it, or set HERMES_TEST_SKIP=postgres")
    return Path(found).resolve().parent
