"""The official client against the real command, on a real data dir and a real checkout."""

import io
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import forked
import mcp_types as types
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.stdio import stdio_server

import ai_memory.bridge.server  # noqa: F401 (what every forked bridge needs, a second of work)
from ai_memory.bridge.front import load_manifest
from ai_memory.store.lock import WriterLock
from ai_memory.text.fences import FENCE_START

DEADLINE_S = 60
BODY = "# Retry budget\n\nAt most three tries, then the queue gives up."


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    remote = ["remote", "add", "origin", "git@example.org:acme/api.git"]
    subprocess.run(["git", "-C", str(folder), *remote], check=True)
    return folder


class Talk:
    """A session whose answers are texts."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def good(self, tool: str, **arguments: object) -> str:
        """Text of a call that must succeed."""
        result = await self.session.call_tool(tool, arguments)
        text = self.text(result)
        assert not result.is_error, text
        return text

    async def bad(self, tool: str, **arguments: object) -> str:
        """Text of a call that must be refused."""
        result = await self.session.call_tool(tool, arguments)
        assert result.is_error
        return self.text(result)

    @staticmethod
    def text(result: types.CallToolResult) -> str:
        assert result.structured_content is None
        (block,) = result.content
        assert isinstance(block, types.TextContent)
        return block.text


@asynccontextmanager
async def forked_bridge(words: list[str], cwd: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Both streams of a bridge that has the SDK from the beginning. The SDK's server takes lines as its client does."""
    process = forked.Process(words, cwd=cwd)
    lines, answers = (io.TextIOWrapper(pipe, encoding="utf-8") for pipe in (process.stdout, process.stdin))
    try:
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(answers)) as streams:
            yield streams
            answers.close()
    finally:
        process.kill()
        process.wait()
        for pipe in (lines, answers, process.stderr):
            pipe.close()


def talk(
    work: Callable[[Talk], Awaitable[None]],
    *,
    cwd: Path,
    words: tuple[str, ...] = (),
    roots: Path | None = None,
    is_spawned: bool = False,
) -> None:
    """Runs `work` with a session of a bridge in `cwd`, whose data dir lies beside it.

    `is_spawned`: the client starts it as a harness would, and not this process.
    """

    async def offer(_context: object) -> types.ListRootsResult:
        assert roots is not None
        return types.ListRootsResult(roots=[types.Root(uri=roots.as_uri())])

    async def run() -> None:
        data_dir = ["--data-dir", str(cwd.parent / "data")]
        command = ["mcp-bridge", *data_dir, "--profile", "full", *words]
        server = StdioServerParameters(command=sys.executable, args=["-m", "ai_memory", *command], cwd=cwd)
        with anyio.fail_after(DEADLINE_S):
            async with (
                stdio_client(server) if is_spawned else forked_bridge(command, cwd) as (reading, writing),
                ClientSession(reading, writing, list_roots_callback=offer if roots else None) as session,
            ):
                await session.initialize()
                await work(Talk(session))

    anyio.run(run)


def version_in(text: str) -> str:
    found = re.search(r"\b[0-9a-f]{12}\b", text)
    assert found, text
    return found.group()


def test_a_client_is_greeted_with_the_tools_of_the_manifest(checkout: Path) -> None:
    async def work(client: Talk) -> None:
        listed = await client.session.list_tools()
        manifest = load_manifest()
        assert manifest is not None
        told = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
        assert told == [row["tool"] for row in manifest["tools"]]
        greeting = client.session.initialize_result
        assert greeting is not None
        assert greeting.instructions == manifest["initialize"]["instructions"]

    talk(work, cwd=checkout, is_spawned=True)
    assert not (checkout.parent / "data").exists()


def test_a_page_is_written_found_read_changed_and_deleted(checkout: Path) -> None:
    async def work(client: Talk) -> None:
        wrote = await client.good("memory_write_page", path="notes/retry-budget.md", body=BODY, tags=["http"])
        assert "notes/retry-budget.md" in wrote
        assert wrote.splitlines()[-1].startswith("scope default/acme-api · resolved_by remote")
        found = await client.good("memory_query", query="retry budget")
        assert found.startswith(FENCE_START)
        assert "notes/retry-budget.md" in found
        read = await client.good("memory_read_page", path="notes/retry-budget.md")
        assert "At most three tries" in read
        conflict = await client.bad(
            "memory_write_page", path="notes/retry-budget.md", body="# x", expected_version="0" * 12
        )
        assert conflict.startswith("error conflict: ")
        await client.good(
            "memory_write_page",
            path="notes/retry-budget.md",
            body=BODY.replace("three", "five"),
            expected_version=version_in(read),
        )
        assert "five tries" in await client.good("memory_read_page", path="notes/retry-budget.md")
        assert "notes/retry-budget.md" in await client.good("memory_recent", limit=5)
        assert "1" in await client.good("memory_status")
        await client.good("memory_delete_page", path="notes/retry-budget.md")
        assert (await client.bad("memory_read_page", path="notes/retry-budget.md")).startswith("error not_found: ")

    talk(work, cwd=checkout, is_spawned=True)


def test_one_bridge_serves_another_project_by_name(checkout: Path) -> None:
    async def work(client: Talk) -> None:
        wrote = await client.good("memory_write_page", path="notes/a.md", body=BODY, project="other")
        assert "scope default/other · resolved_by flag" in wrote
        assert "notes/a.md" not in await client.good("memory_query", query="retry budget")
        assert "three tries" in await client.good("memory_read_page", path="other:notes/a.md")

    talk(work, cwd=checkout)


def test_a_write_into_a_guessed_scope_is_refused_and_says_how_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    async def work(client: Talk) -> None:
        refused = await client.bad("memory_write_page", path="notes/a.md", body=BODY)
        assert refused.startswith("error refused_scope: ")
        assert "pass project" in refused
        assert "scope default/scratch · resolved_by fallback" in refused
        assert str(tmp_path) not in refused
        await client.good("memory_write_page", path="notes/a.md", body=BODY, project="acme")

    talk(work, cwd=home)


def test_the_clients_root_names_the_project_where_the_folder_does_not(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    async def work(client: Talk) -> None:
        wrote = await client.good("memory_write_page", path="notes/a.md", body=BODY)
        assert "scope default/acme-api · resolved_by roots" in wrote

    talk(work, cwd=home, roots=checkout)


def test_a_pinned_scope_holds_for_calls_that_name_none(checkout: Path) -> None:
    async def work(client: Talk) -> None:
        assert "scope work/pinned · resolved_by flag" in await client.good(
            "memory_write_page", path="notes/a.md", body=BODY
        )
        assert "scope default/other" in await client.good("memory_recent", workspace="default", project="other")

    talk(work, cwd=checkout, words=("--workspace", "work", "--project", "pinned"))


def test_prompts_resources_completion_and_progress_come_through_the_real_command(checkout: Path) -> None:
    page = "memory://default/acme-api/notes/retry-budget.md"
    told: list[str | None] = []

    async def hear(_done: float, _total: float | None, message: str | None) -> None:
        told.append(message)

    async def work(client: Talk) -> None:
        session = client.session
        await client.good("memory_write_page", path="notes/retry-budget.md", body=BODY)
        assert [one.name for one in (await session.list_prompts()).prompts] == ["recall-first", "memory-workflow"]
        prompt = await session.get_prompt("recall-first", {"task": "mend the queue"})
        assert "The task: mend the queue" in str(prompt.messages[0].content)
        assert [one.uri for one in (await session.list_resources()).resources] == [page]
        (template,) = (await session.list_resource_templates()).resource_templates
        (content,) = (await session.read_resource(page)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text.startswith(FENCE_START)
        assert "At most three tries" in content.text
        of_page = types.ResourceTemplateReference(uri=template.uri_template)
        found = await session.complete(of_page, {"name": "project", "value": "acme"})
        assert found.completion.values == ["acme-api"]
        with WriterLock(checkout.parent / "data" / "locks", command="another").held(5):
            late = await session.call_tool(
                "memory_write_page", {"path": "notes/late.md", "body": BODY}, progress_callback=hear
            )
        assert client.text(late).startswith("error busy: Another command is writing: pid ")
        assert set(told) == {"at work"}

    talk(work, cwd=checkout)


def test_two_bridges_write_at_once_and_nothing_is_lost(checkout: Path) -> None:
    count = 8

    async def write(client: Talk, name: str) -> None:
        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(write_one, client, f"notes/{name}-{number}.md")

    async def write_one(client: Talk, path: str) -> None:
        await client.good("memory_write_page", path=path, body=BODY)

    async def outer(first: Talk) -> None:
        words = ["mcp-bridge", "--data-dir", str(checkout.parent / "data")]
        server = StdioServerParameters(command=sys.executable, args=["-m", "ai_memory", *words], cwd=checkout)
        async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            async with anyio.create_task_group() as group:
                group.start_soon(write, first, "a")
                group.start_soon(write, Talk(session), "b")
            listed = await first.good("memory_recent", limit=100)
            assert {f"notes/{name}-{n}.md" in listed for name in "ab" for n in range(count)} == {True}

    talk(outer, cwd=checkout, is_spawned=True)  # nothing is forked once threads read and write


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "../../etc/passwd", "body": "x"},
        {"path": "/etc/passwd", "body": "x"},
        {"path": "notes/a\x00b.md", "body": "x"},
        {"path": "notes/con.md", "body": "x"},
        {"path": "notes/a.md"},
        {"path": "notes/a.md", "body": 7},
        {"path": "notes/a.md", "body": {"deep": [1] * 100}},
        {"path": "notes/a.md", "body": "x", "tags": "y" * 100_000},
        {"path": "notes/a.md", "body": "x", "workspace": "../.."},
        {"path": "notes/a.md", "body": "x", "project": "a/b/c"},
        {"path": "notes/a.md", "body": "x", "tier": "eternal"},
        {"path": "notes/a.md", "body": "x", "owner": "root"},
    ],
)
def test_hostile_arguments_are_refused_in_words(checkout: Path, arguments: dict[str, object]) -> None:
    async def work(client: Talk) -> None:
        refused = await client.bad("memory_write_page", **arguments)
        assert re.match(r"error (invalid|refused_scope|not_found): ", refused), refused
        assert "Traceback" not in refused
        assert str(checkout.parent) not in refused

    talk(work, cwd=checkout)
