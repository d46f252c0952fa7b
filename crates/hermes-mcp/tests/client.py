"""`hermes mcp` with a real client: the package `mcp` from the Python package index, over stdio and over HTTP.

`scripts/mcp-test` creates the environment and runs this. HERMES_BINARY names the program; HERMES_MCP_TRANSCRIPT names a
file for a record of the calls.
"""
import json
import logging
import os
import re
import signal
import subprocess
import tempfile
import unittest
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

BINARY = os.environ["HERMES_BINARY"]
READS = {"session_search", "list_conversations", "read_conversation", "conversation_stats"}
WRITES = {"rename_conversation", "append_note"}
TOKEN = "a token that is long enough"

# The stored conversations: session, source, user, title, and messages.
SAID = [
    ("anna-1", "telegram", "anna", "Ferry to Hven", ["When does the ferry to Hven leave?", "At nine, from Landskrona.", "And back?", "At half past five."]),
    ("anna-2", "discord", "anna", None, ["The ferry was late", "I am sorry to hear that."]),
    ("bob-1", "telegram", "bob", "Bob's secret", ["My ferry ticket is secret-4711", "Noted."]),
    ("none-1", "cli", None, "Terminal", ["grep ferry notes.txt", "secret-0815 is in line 3"]),
]
# Texts that identify each session.
SIGNS = {
    "anna-1": ("anna-1", "Hven", "Landskrona"),
    "anna-2": ("anna-2", "was late"),
    "bob-1": ("bob-1", "Bob's secret", "4711", '"bob"'),
    "none-1": ("none-1", "Terminal", "0815", "grep"),
}
SCOPES = [
    (["--all"], {"anna-1", "anna-2", "bob-1", "none-1"}),
    (["--user", "anna"], {"anna-1", "anna-2"}),
    (["--user", "anna", "--source", "telegram"], {"anna-1"}),
    (["--user", "nobody"], set()),
    (["--source", "telegram"], {"anna-1", "bob-1"}),
    (["--chat", "telegram:7"], {"anna-1"}),
    (["--chat", "telegram:8"], set()),
]


def session(number, id, source, user, title, texts):
    start = 1_770_000_000 + 1_000 * number
    return {
        "id": id, "source": source, "user_id": user, "model": "m-1", "model_config": None, "system_prompt": None, "parent_session_id": None,
        "started_at": start, "ended_at": None, "end_reason": None, "message_count": len(texts), "tool_call_count": 0, "title": title,
        "messages": [{"role": ("user", "assistant")[place % 2], "content": text, "timestamp": start + place} for place, text in enumerate(texts)],
    }


class Home:
    """A folder with a store in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hermes-mcp-")
        self.path = Path(self.folder.name)
        self.environment = {**os.environ, "HERMES_HOME": str(self.path), "TZ": "UTC", "NO_COLOR": "1"}
        self.environment.pop("HERMES_SESSIONDB_URL", None)
        lines = "".join(json.dumps(session(number, *said)) + "\n" for number, said in enumerate(SAID))
        (self.path / "said.jsonl").write_text(lines)
        self.run("sessions", "import", str(self.path / "said.jsonl"))
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *arguments):
        return subprocess.run([BINARY, *arguments], env=self.environment, check=True, capture_output=True, text=True).stdout

    @asynccontextmanager
    async def stdio(self, *arguments):
        server = StdioServerParameters(command=BINARY, args=["mcp", *arguments], env=self.environment)
        async with Client(server) as client:
            yield client

    @asynccontextmanager
    async def http(self, *arguments, token=TOKEN):
        """Starts the server on a free port, and returns a client with the token."""
        command = [BINARY, "mcp", "--http", "127.0.0.1:0", *arguments]
        process = subprocess.Popen(command, env={**self.environment, "HERMES_MCP_TOKEN": TOKEN}, stderr=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://\S+/mcp", process.stderr.readline()).group()
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
                async with Client(streamable_http_client(address, http_client=http)) as client:
                    client.address = address
                    yield client
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait(timeout=20)
            process.stderr.close()
        assert code == 0, "it ends when it is told to"


# Processes are started between two awaits here, which asyncio would report as slow.
logging.getLogger("asyncio").setLevel(logging.ERROR)
transcript = []


def note(what, answer):
    transcript.append(f"→ {what}\n← {answer}")
    return answer


async def call(client, name, **arguments):
    """Calls a tool. Returns its answer, and whether it is an error."""
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    note(f"{name} {json.dumps(arguments, ensure_ascii=False)}", text)
    return json.loads(text), bool(result.is_error)


async def everything(client):
    """Returns everything that a client can read, as one text."""
    parts = []
    for arguments in ({"query": "ferry"}, {"query": ""}, {"query": "secret-4711 OR secret-0815"}, {"query": "ferry", "source": "cli"}):
        answer, _ = await call(client, "session_search", limit=10, **arguments)
        # The query is not part of the answer.
        parts.append({**answer, "query": ""})
    parts.append((await call(client, "list_conversations", limit=100))[0])
    parts.append((await call(client, "conversation_stats"))[0])
    listed = await client.list_resources()
    parts += [[str(resource.uri), resource.name, resource.description] for resource in listed.resources]
    for id, *_ in SAID:
        for tool in ("read_conversation", "conversation_stats"):
            answer, is_error = await call(client, tool, session_id=id)
            # The id is in the refusal because the client gave it.
            parts.append("refused" if is_error else answer)
        try:
            parts.append((await client.read_resource(f"hermes://conversation/{id}")).contents[0].text)
        except Exception as error:
            parts.append(str(error).replace(id, ""))
    return json.dumps(parts, ensure_ascii=False)


class Server(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.home = Home().__enter__()
        self.addCleanup(self.home.__exit__)
        routes = {"agent:main:telegram:group:7:anna": {"session_id": "anna-1", "origin": {"platform": "telegram", "chat_id": "7"}}}
        (self.home.path / "sessions").mkdir()
        (self.home.path / "sessions" / "sessions.json").write_text(json.dumps(routes))

    async def conversation(self, client):
        """The calls of an agent, over any transport."""
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        note("tools/list", ", ".join(tools))
        self.assertEqual(set(tools), READS)
        self.assertTrue(all(tool.annotations.read_only_hint for tool in tools.values()))
        found, _ = await call(client, "session_search", query="when does the ferry to Hven leave")
        first = found["results"][0]
        self.assertEqual((first["session_id"], first["title"], first["source"]), ("anna-1", "Ferry to Hven", "telegram"))
        self.assertIn("[ASSISTANT]: At nine, from Landskrona.", first["summary"])
        pages, cursor = [], None
        while True:
            page, _ = await call(client, "read_conversation", session_id=first["session_id"], limit=3, **({"cursor": cursor} if cursor else {}))
            pages.append([message["content"] for message in page["messages"]])
            cursor = page["next"]
            if not cursor:
                break
        self.assertEqual(pages, [SAID[0][4][:3], SAID[0][4][3:]])
        listed, _ = await call(client, "list_conversations", title="HVEN")
        self.assertEqual([row["session_id"] for row in listed["conversations"]], ["anna-1"])
        stats, _ = await call(client, "conversation_stats", session_id="anna-1")
        self.assertEqual((stats["messages"], stats["models"]), (4, ["m-1"]))
        template = (await client.list_resource_templates()).resource_templates[0]
        self.assertEqual(template.uri_template, "hermes://conversation/{session_id}")
        resource = next(one for one in (await client.list_resources()).resources if one.name == "Ferry to Hven")
        text = (await client.read_resource(str(resource.uri))).contents[0].text
        note(f"resources/read {resource.uri}", text)
        self.assertTrue(text.startswith("[USER]: When does the ferry to Hven leave?"))
        # Failures are reported to the model, not only logged.
        for tool, arguments in (("read_conversation", {"session_id": "absent"}), ("session_search", {"limit": "many"}), ("session_search", {"scope": "all"})):
            answer, is_error = await call(client, tool, **arguments)
            self.assertTrue(is_error and answer["success"] is False and answer["hint"], answer)
        # A tool that is not offered can't be called either.
        with self.assertRaises(Exception):
            await client.call_tool("rename_conversation", {"session_id": "anna-1", "title": "mine"})

    async def test_over_stdio(self):
        async with self.home.stdio("--user", "anna") as client:
            await self.conversation(client)

    async def test_over_http(self):
        async with self.home.http("--user", "anna") as client:
            await self.conversation(client)

    async def test_without_the_token_nothing_is_told(self):
        async with self.home.http("--all") as client:
            async with httpx2.AsyncClient() as http:
                for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
                    for method in ("POST", "GET", "DELETE"):
                        answer = await http.request(method, client.address, headers=headers)
                        self.assertEqual((answer.status_code, "session" in answer.text), (401, False))
                shown = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                # A request from a page of another origin, and one with a foreign host name.
                for header in ({"Origin": "https://example.org"}, {"Host": "example.org"}):
                    answer = await http.post(client.address, json=body, headers={**shown, **header})
                    self.assertEqual(answer.status_code, 403, answer.text)
        with self.assertRaises(BaseException):
            async with self.home.http("--all", token="wrong") as client:
                await client.list_tools()

    async def test_no_call_crosses_the_scope(self):
        for connect in (self.home.stdio, self.home.http):
            for arguments, within in SCOPES:
                async with connect(*arguments) as client:
                    told = await everything(client)
                seen = {id for id, signs in SIGNS.items() if any(sign in told for sign in signs)}
                self.assertEqual(seen, within, f"{connect.__name__} {arguments}: {told}")

    async def test_changes_only_if_allowed_and_only_within_the_scope(self):
        async with self.home.stdio("--user", "anna", "--write") as client:
            self.assertEqual({tool.name for tool in (await client.list_tools()).tools}, READS | WRITES)
            answer, _ = await call(client, "rename_conversation", session_id="anna-2", title="Late again")
            self.assertEqual(answer["title"], "Late again")
            answer, is_error = await call(client, "rename_conversation", session_id="anna-1", title="Bob's secret")
            self.assertTrue(is_error and "bob-1" not in json.dumps(answer), answer)
            await call(client, "append_note", session_id="anna-2", note="Refund asked for on Monday: zebra")
            found, _ = await call(client, "session_search", query="zebra")
            self.assertIn("[NOTE]: Refund asked for on Monday: zebra", found["results"][0]["summary"])
            for tool, more in (("rename_conversation", {"title": "mine"}), ("append_note", {"note": "mine"})):
                answer, is_error = await call(client, tool, session_id="bob-1", **more)
                self.assertTrue(is_error, answer)
        self.assertIn("Late again", self.home.run("sessions", "list"))
        self.assertNotIn("mine", self.home.run("sessions", "list"))


def tearDownModule():
    if file := os.environ.get("HERMES_MCP_TRANSCRIPT"):
        Path(file).write_text("\n\n".join(transcript) + "\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
