#!/usr/bin/env python3
"""A double of ``hermes sessiondb rpc`` for failures that are hard to provoke in the real one.

Its store is a folder: ``log`` holds a line for each request that was applied, by its idempotency key, and ``plan``
describes how to misbehave.
"""

import json
import os
import sys
import time
from pathlib import Path

folder = Path(sys.argv[-1])
plan = json.loads((folder / "plan").read_text()) if (folder / "plan").exists() else {}
log = folder / "log"
with open(folder / "starts", "a") as starts:
    starts.write(f"{os.getpid()}\n")


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def apply(message):
    """Returns the position at which a request was applied; a key is applied once."""
    done = log.read_text().splitlines() if log.exists() else []
    if message["q"] not in done:
        done.append(message["q"])
        log.write_text("\n".join(done))
    return done.index(message["q"])


if plan.get("dies_at_once"):
    sys.stderr.write("no strength\n")
    sys.exit(3)
if "first_line" in plan:
    print(plan["first_line"], flush=True)
say({"hello": plan.get("hello", {"protocol": 1, "version": "0", "provider": "fake", "location": str(folder)})})
held = []
for line in sys.stdin:
    message = json.loads(line)
    number, method = message["id"], message["m"]
    if method == "append_message":
        position = apply(message)
        if position == plan.get("dies_after") and not (folder / "died").exists():
            (folder / "died").touch()
            os._exit(9)
        say({"id": number, "r": position})
    elif method == "get_session":
        if plan.get("dies_when_asked"):
            os._exit(9)
        say({"id": number, "r": {"a": message["a"], "k": message.get("k", {})}})
    elif method == "get_meta":
        # Answers come in reverse order: the last request is answered first.
        held.append((number, message["a"][0]))
        if len(held) == 3:
            for waiting, key in reversed(held):
                say({"id": waiting, "r": key})
            held.clear()
    elif method == "set_meta":
        say({"id": number, "e": message["a"][0], "t": message["a"][1]})
    elif method == "vacuum":
        # Busy when its input ends: the answer is sent nevertheless.
        (folder / "working").touch()
        sys.stdin.read()
        time.sleep(0.05)
        say({"id": number, "r": None})
    elif method == "ping":
        say({"id": number, "r": os.getpid()})
    elif method == "get_messages":
        print("this is not JSON", flush=True)
