"""What others get of damaged files. One line of input is [damaged file, sound file], one line of output [agent, .recover]: how many messages
are what they were, or why there is none. Both work on copies."""

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
    """As the agent shows it: every session that it lists, with its messages."""
    rows = sqlite3.connect(truth).execute("SELECT session_id, role, content FROM messages")
    left = collections.Counter(tuple(row) for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        database = hermes_state.SessionDB(pathlib.Path(copied(path, folder)))
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


def recover(path, truth):
    with tempfile.TemporaryDirectory() as folder:
        script = subprocess.run(["sqlite3", copied(path, folder), ".recover"], capture_output=True, timeout=60).stdout
        # Full text needs no rows for what is counted here, and its shadow tables keep some versions from reading the script.
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
    paths = json.loads(line)
    print(json.dumps([outcome(agent, *paths), outcome(recover, *paths)]), flush=True)
