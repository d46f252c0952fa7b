"""Throw-away database servers: on a free port, in a temporary folder, never as root."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any

_NOBODY = 65_534
_PATIENCE = 60.0


class Server(ABC):
    """A running server. ``url`` is the location of its store, ``config`` the same in the agent's ``config.yaml``."""

    url: str

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=f"hermes-sessions-{type(self).__name__.lower()}-"))
        self._as = {"user": _NOBODY, "group": _NOBODY} if os.getuid() == 0 else {}
        if self._as:
            os.chown(self._folder, _NOBODY, _NOBODY)
        os.chmod(self._folder, 0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._install()
        with open(self._folder / "log", "wb") as log:
            self._server = subprocess.Popen(self._command(), stdout=subprocess.DEVNULL, stderr=log, **self._where())
        end = time.monotonic() + _PATIENCE
        while not self._is_ready():
            is_alive = self._server.poll() is None and time.monotonic() < end
            assert is_alive, f"the server does not start: {(self._folder / 'log').read_text()}"
            time.sleep(0.02)

    @property
    @abstractmethod
    def config(self) -> str: ...

    @abstractmethod
    def store(self, number: int) -> str:
        """Returns a separate store for each number."""

    @abstractmethod
    def _install(self) -> None: ...

    @abstractmethod
    def _command(self) -> list[Any]: ...

    @abstractmethod
    def _is_ready(self) -> bool: ...

    def _where(self) -> dict[str, Any]:
        return {"cwd": self._folder, "stdin": subprocess.DEVNULL, **self._as}

    def _run(self, *command: Any) -> None:
        run = subprocess.run(command, capture_output=True, text=True, **self._where())
        assert not run.returncode, f"{command[0]}: {run.stderr}"

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.terminate()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


class Postgres(Server):
    """A PostgreSQL server that needs no password."""

    @property
    def config(self) -> str:
        return f"sessiondb:\n  provider: postgresql\n  postgresql:\n    dsn: '{self.url}'\n"

    def store(self, number: int) -> str:
        return f"{self.url}?schema=s{number}"

    def _install(self) -> None:
        self._programs = _folder_of_postgres()
        self.url = f"postgresql://hermes@127.0.0.1:{self._port}/postgres"
        options = ["-D", "data", "-U", "hermes", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run(self._programs / "initdb", *options)

    def _command(self) -> list[Any]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "60",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [self._programs / "postgres", "-D", "data", *options]

    def _is_ready(self) -> bool:
        asked = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        return subprocess.run(asked).returncode == 0


class Mariadb(Server):
    """A MariaDB server, or MySQL where that is installed, with a user ``hermes`` who needs no password."""

    @property
    def config(self) -> str:
        keys = {"host": "127.0.0.1", "port": self._port, "database": "hermes", "user": "hermes"}
        return "sessiondb:\n  provider: mysql\n  mysql:\n" + "".join(f"    {key}: {keys[key]}\n" for key in keys)

    def store(self, number: int) -> str:
        self._sql(f"CREATE DATABASE IF NOT EXISTS s{number}")
        return f"mysql://hermes@127.0.0.1:{self._port}/s{number}"

    def _install(self) -> None:
        self.url = f"mysql://hermes@127.0.0.1:{self._port}/hermes"
        (self._folder / "users.sql").write_text(
            "CREATE USER IF NOT EXISTS hermes@'127.0.0.1';\n"
            "GRANT ALL PRIVILEGES ON *.* TO hermes@'127.0.0.1' WITH GRANT OPTION;\n"
            "CREATE DATABASE IF NOT EXISTS hermes;\n"
        )
        install, options = _program("mariadb-install-db"), ["--auth-root-authentication-method=normal"]
        if install is None:
            # MySQL's server creates its tables itself.
            install, options = _server_of_mysql(), ["--initialize-insecure"]
        room = [f"--datadir={self._folder}/data", f"--tmpdir={self._folder}"]
        self._run(install, "--no-defaults", *room, *options, "--innodb_flush_log_at_trx_commit=0")

    def _command(self) -> list[Any]:
        here = self._folder
        places = {"datadir": here / "data", "socket": here / "socket", "tmpdir": here, "pid-file": here / "pid"}
        settings = {
            **places,
            "bind-address": "127.0.0.1",
            "port": self._port,
            "init-file": here / "users.sql",
            "innodb_flush_log_at_trx_commit": 0,
            "innodb_buffer_pool_size": "64M",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [_server_of_mysql(), "--no-defaults", *options, "--skip-log-bin", "--skip-name-resolve"]

    def _is_ready(self) -> bool:
        return subprocess.run(self._client("SELECT 1"), capture_output=True).returncode == 0

    def _sql(self, statement: str) -> None:
        self._run(*self._client(statement))

    def _client(self, statement: str) -> list[Any]:
        client = _program("mariadb", "mysql")
        place = ["--protocol=tcp", "-h", "127.0.0.1", "-P", str(self._port), "-u", "hermes"]
        return [client, "--no-defaults", *place, "-e", statement]


def _program(*names: str) -> Path | None:
    """Returns the first of these programs that is installed. Debian keeps servers in folders that are not in the
    path of most users.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/libexec"])
    found = (shutil.which(name, path=path) for name in names)
    return next((Path(program) for program in found if program), None)


def _server_of_mysql() -> Path:
    found = _program("mariadbd", "mysqld")
    if not found:
        raise AssertionError("MariaDB is missing; install mariadb-server, or set HERMES_TEST_SKIP=mysql")
    return found


def _folder_of_postgres() -> Path:
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if all((Path(folder) / program).exists() for program in ("initdb", "postgres", "pg_isready")):
            return Path(folder)
    found = shutil.which("initdb")
    if not found:
        raise AssertionError("PostgreSQL is missing; install it, or set HERMES_TEST_SKIP=postgres")
    return Path(found).resolve().parent
