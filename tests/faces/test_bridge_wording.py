"""Advice as a model gets it: tools for commands, arguments for flags, and descriptions that are true."""

import re
from typing import Any

import pytest

from ai_memory.bridge.front import load_manifest
from ai_memory.bridge.options import selected
from ai_memory.bridge.shapes import output_schema
from ai_memory.bridge.takes import example, tool_parameters
from ai_memory.bridge.wording import NEAREST, in_tools
from ai_memory.operations.signature import bind, tool_text
from ai_memory.operations.table import OPERATION_BY_TOOL

ALL = frozenset(OPERATION_BY_TOOL)
CORE = frozenset(name for name, one in OPERATION_BY_TOOL.items() if one.profile == "core")

READING = ("search", "read", "list", "show", "catch", "give", "explain", "count", "find")
"""How the description of a tool that changes nothing begins."""

UNSCOPED = ("memory_capture_turn", "memory_install_self_routing")
"""Tools that are about no project: a turn belongs to its session, the instructions to all."""

TAKING_AWAY = ("delete", "replace", "close", "cancel", "take", "remove", "drop", "pop", "expire", "restore", "withdraw")
"""One of these stands in the description of each tool that is destructive."""


@pytest.mark.parametrize(
    ("tool", "advice", "said"),
    [
        ("memory_read_page", "ai-memory pages lists what there is", "memory_recent lists what there is"),
        ("memory_read_page", "read-page PATH, or read-page --query WORDS", None),
        ("memory_handoff_cancel", "`ai-memory handoff list` shows the ids", "memory_handoff_list shows the ids"),
        ("memory_handoff_cancel", "`ai-memory handoff list --all --state any` shows what there is", None),
        ("memory_handoff_cancel", "give one id, or --all", "give one id"),
        ("memory_recent", "Try again, or wait longer with --lock-timeout SECONDS.", "Try again."),
        ("memory_read_page", "pass by place, or -p or --path on the command line; path in a tool call", "pass path"),
        ("memory_write_page", "pass --body on the command line, or --file FILE; body in a tool call", "pass body"),
        ("memory_write_page", "leave --create-only out to replace it", "leave create_only out to replace it"),
        ("memory_status", "events wait: run ai-memory drain", "events wait: run ai-memory drain"),
        ("memory_status", "`ai-memory drain` says why", "`ai-memory drain` says why"),
        ("memory_recent", "`ai-memory quarantine list` shows them", "`ai-memory quarantine list` shows them"),
        ("memory_query", "A newer ai-memory wrote it.", "A newer ai-memory wrote it."),
    ],
)
def test_advice_names_tools_and_arguments(tool: str, advice: str, said: str | None) -> None:
    expected = (
        said
        or {
            "memory_read_page": "memory_read_page path=PATH, or memory_read_page query=WORDS",
            "memory_handoff_cancel": "memory_handoff_list is_everywhere=true state=any shows what there is",
        }[tool]
    )
    assert in_tools(advice, OPERATION_BY_TOOL[tool], ALL) == expected


def test_advice_names_no_tool_that_the_client_was_not_offered() -> None:
    advice = "`ai-memory handoff list` shows the ids"
    assert in_tools(advice, OPERATION_BY_TOOL["memory_handoff_accept"], CORE) == advice


def test_what_stands_in_for_a_command_is_a_tool_of_every_profile() -> None:
    assert set(NEAREST.values()) <= CORE


def test_the_description_leaves_out_what_only_a_command_line_can() -> None:
    def close() -> None:
        """Close one. With --all it shows what it would close.
        Its page stays.
        """

    assert tool_text(close) == "Close one.\nIts page stays."


@pytest.fixture(scope="module")
def tools() -> list[dict[str, Any]]:
    manifest = load_manifest()
    assert manifest is not None
    return selected(manifest["tools"], "full")


def test_descriptions_name_no_flags_and_no_commands(tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        texts = [
            tool["description"],
            *(one.get("description", "") for one in tool["inputSchema"]["properties"].values()),
        ]
        for text in texts:
            assert not re.search(r"(?<![\w-])--[a-z]|ai-memory ", text), (tool["name"], text)


def test_what_takes_away_says_so_and_what_only_reads_does_not(tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        words = re.findall(r"[a-z]+", tool["description"].lower())
        hints = tool["annotations"]
        if hints["destructiveHint"]:
            assert any(word.startswith(TAKING_AWAY) for word in words), tool["name"]
        if hints["readOnlyHint"]:
            assert words[0] in READING, tool
            assert not hints["destructiveHint"]


def test_a_tool_that_refuses_an_outdated_version_says_so(tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        version = tool["inputSchema"]["properties"].get("expected_version")
        if version is not None:
            assert "refuse" in version["description"]


def test_examples_are_what_the_schema_takes() -> None:
    for operation in OPERATION_BY_TOOL.values():
        found = tool_parameters(operation)
        assert set(example(operation)) <= {one.name for one in found}
        bind(found, example(operation))


def test_every_answer_has_a_scope_to_tell() -> None:
    for operation in OPERATION_BY_TOOL.values():
        if operation.tool in UNSCOPED:
            continue
        assert "scope" in output_schema(operation)["properties"], operation.tool
