"""What others get of damaged files. One line of input is [who, damaged file, sound file], one line of output how many messages are what they were, or
why there are none. Both work on copies. `.recover` of sqlite3 3.40 fails on sound files with full text, so that `.dump` stands for tools of its kind."""

import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import hermes_state


def copied(path, folder):
    for suffix in ("", "-wal"):
        if os.path.exists(path + suffix):
            shutil.copy(path + suffix, os.path.join(folder, "state.db" + suffix))
    return os.path.join(folder, "state.db")


def agent(path, truth):
    """As the agent shows it: every session that it lists, with its messages; after its own repair, if it has one."""
    rows = sqlite3.connect(truth).execute("SELECT session_id, role, content FROM messages")
    left = collections.Counter(tuple(row) for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(copied(path, folder))
        if hasattr(hermes_state, "repair_state_db_schema"):
            hermes_state.repair_state_db_schema(place, backup=False)
        database = hermes_state.SessionDB(place)
        same = 0
        for session in database.list_sessions_rich(limit=100_000, include_children=True):
            try:
                messages = database.get_messages(session["id"])
            except sqlite3.Error:
                continue
            for message in messages:
                key = (session["id"], message["role"], message["content"])
                if left[key] > 0:
                    left[key] -= 1
                    same += 1
        database.close()
        return same


def dump(path, truth):
    with tempfile.TemporaryDirectory() as folder:
        script = subprocess.run(["sqlite3", copied(path, folder), ".dump"], capture_output=True, timeout=60).stdout
        # After an error the script rolls everything back, which nobody would want who tries to save data.
        script = script.replace(b"ROLLBACK; -- due to errors", b"COMMIT;")
        out = os.path.join(folder, "out.db")
        subprocess.run(["sqlite3", out], input=script, capture_output=True, timeout=60)
        database = sqlite3.connect(out)
        database.execute("ATTACH ? AS truth", [truth])
        return database.execute(
            "SELECT count(*) FROM main.messages m JOIN truth.messages t ON t.id = m.id AND t.session_id = m.session_id"
            " AND t.role = m.role AND m.content IS t.content"
        ).fetchone()[0]


def outcome(work, *arguments):
    try:
        return work(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for line in sys.stdin:
    who, *paths = json.loads(line)
    print(json.dumps(outcome({"agent": agent, "dump": dump}[who], *paths)), flush=True)
