"""Bytes on disk per byte of text, and which tables they are in."""
import json
import sqlite3

from tools import Row, connect, pending


def run(bench):
    text = sum(text_bytes(message) for session in bench.sessions() for message in session["messages"])
    figures = {"text": text}
    for side, (path, _) in bench.loaded.items():
        size = path.stat().st_size
        figures[side] = {"file": size, "per_byte": size / text, "pending": pending(path), "tables": tables(path)}
    return figures, [Row("bytes on disk per byte of text", "", figures["peer"]["per_byte"], figures["ours"]["per_byte"], "≤ 0.4×")]


def text_bytes(message):
    """Returns the size of the searched text of a message, in UTF-8; tool calls as JSON without escapes, for both
    sides alike.
    """
    calls = message.get("tool_calls")
    parts = (message.get("content") or "", message.get("tool_name") or "", json.dumps(calls, ensure_ascii=False) if calls else "")
    return sum(len(part.encode()) for part in parts)


def tables(path):
    connection = connect(path)
    try:
        rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
        return {**dict(rows), "(free)": connection.execute("PRAGMA freelist_count").fetchone()[0] * connection.execute("PRAGMA page_size").fetchone()[0]}
    except sqlite3.OperationalError as error:
        return {"not known": str(error)}
    finally:
        connection.close()
