"""Converts a copy of the peer's file to the compact layout: duration, size, and whether being killed on the way does
harm.
"""
import hashlib
import random
import subprocess

from tools import Row, connect, say, strict


def run(bench):
    source, (path, figures) = bench.loaded["peer"][0], bench.optimized
    truth = content(source)
    figures = figures | {"bytes_before": source.stat().st_size, "bytes_after": path.stat().st_size, "wrong": judge(path, truth)}
    figures["killed"] = killed(bench, source, truth, figures["seconds"])
    wrong = len(figures["wrong"]) + len(figures["killed"]["wrong"])
    return figures, [
        Row("optimize the peer's file, time", "s", None, figures["seconds"]),
        Row("optimize the peer's file, bytes after / before", "", figures["bytes_before"], figures["bytes_after"], "≤ 0.4×"),
        Row(f"optimize, faults after {figures['killed']['kills']} kills", "", None, wrong, "= 0"),
    ]


def killed(bench, source, truth, seconds):
    """Kills the conversion at random points, which are the same in every run as far as the machine allows, then lets
    it finish. Checks each finished file.
    """
    chance, kills, files, wrong = random.Random(14), 0, 0, []
    while kills < bench.kills:
        path, before = bench.copy(source, "killed.db"), kills
        while True:
            # So that the kills of one file are spread over the whole conversion.
            patience = chance.uniform(0, 2 * seconds / bench.kills) if kills < bench.kills else None
            process = subprocess.Popen(bench.command("ours", "optimize", path), env=bench.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                _, errors = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                continue
            if process.returncode:
                wrong.append(f"after {kills - before} kills it fails: {errors.decode()[-300:]}")
            break
        files += 1
        say(f"   {kills - before} kills, then to the end")
        wrong += judge(path, truth)
    return {"kills": kills, "files": files, "wrong": wrong}


def judge(path, truth):
    wrong = strict(path)
    if content(path) != truth:
        wrong.append("the messages or sessions are not what they were")
    return wrong


def content(path):
    """Returns the row counts and a digest of everything that the peer stored; columns that were added later do not
    count.
    """
    connection, digest = connect(path), hashlib.sha256()
    counts = []
    for table, columns in (("sessions", "id, source, user_id, model, model_config, system_prompt, parent_session_id, started_at, ended_at, end_reason, "
                                        "message_count, tool_call_count, input_tokens, output_tokens, title"),
                           ("messages", "id, session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count, finish_reason, reasoning")):
        count = 0
        for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY id"):
            digest.update(repr(row).encode(errors="surrogatepass"))
            count += 1
        counts.append(count)
    connection.close()
    return counts, digest.hexdigest()
