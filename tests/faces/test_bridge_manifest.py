"""What the manifest says: it is the operation table's own words, small, flat and true."""

import json
import subprocess
import sys
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from ai_memory.bridge.front import load_manifest
from ai_memory.bridge.instructions import INSTRUCTIONS
from ai_memory.bridge.manifest import MANIFEST, manifest
from ai_memory.bridge.options import selected
from ai_memory.operations.table import OPERATION_BY_TOOL

ROOT = Path(__file__).resolve().parent.parent.parent
CORE_TOKENS = 1_500
FULL_TOKENS = 6_000
INSTRUCTIONS_CHARACTERS = 2_048
"""One client cuts after that many (Claude Code, 2026-11-30)."""

HINTS = {
    "memory_query": (True, False, True, False),
    "memory_read_page": (True, False, True, False),
    "memory_write_page": (False, True, True, False),
    "memory_delete_page": (False, True, True, False),
    "memory_restore_page": (False, True, True, False),
    "memory_forget_sweep": (False, True, True, False),
    "memory_recent": (True, False, True, False),
    "memory_sessions": (True, False, True, False),
    "memory_read_session_observations": (True, False, True, False),
    "memory_finalize_session": (False, False, True, False),
    "memory_context": (True, False, True, False),
    "memory_lint": (False, False, True, False),
    "memory_record": (False, False, False, False),
    "memory_resolve": (False, False, True, False),
    "memory_feedback": (False, False, True, False),
    "memory_status": (True, False, True, False),
    "memory_handoff_begin": (False, False, True, False),
    "memory_handoff_list": (True, False, True, False),
    "memory_handoff_accept": (False, True, False, False),
    "memory_handoff_cancel": (False, True, True, False),
    "memory_edit_page": (False, True, False, False),
    "memory_capture_turn": (False, False, True, False),
    "memory_briefing": (True, False, True, False),
    "memory_explore": (True, False, True, False),
    "memory_message_send": (False, False, True, False),
    "memory_message_list": (True, False, True, False),
    "memory_message_pop": (False, True, False, False),
    "memory_message_cancel": (False, True, True, False),
    "memory_install_self_routing": (True, False, True, False),
}
"""Read-only, destructive, idempotent, open world."""


def tools(profile: str = "full") -> list[dict[str, Any]]:
    found = load_manifest()
    assert found is not None
    return selected(found["tools"], profile)


def test_the_manifest_is_what_the_operation_table_says() -> None:
    """Run `python -m ai_memory.bridge.manifest` after a change of an operation."""
    assert json.loads(MANIFEST.read_text(encoding="utf-8")) == manifest()


def test_the_manifest_is_written_by_its_module(tmp_path: Path) -> None:
    code = "import pathlib, sys, ai_memory.bridge.manifest as m; m.MANIFEST = pathlib.Path(sys.argv[1]); m.main()"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out.json")], check=True, capture_output=True)
    assert (tmp_path / "out.json").read_bytes() == MANIFEST.read_bytes()


def test_the_tools_are_served_with_true_hints() -> None:
    told = {tool["name"]: tuple(list(tool["annotations"].values())[1:]) for tool in tools()}
    assert told == HINTS
    assert set(told) == set(OPERATION_BY_TOOL)


def test_every_tool_has_a_title_and_a_description_that_says_when() -> None:
    for tool in tools():
        assert tool["annotations"]["title"]
        assert 20 < len(tool["description"]) < 300


def tokens_of(profile: str) -> int:
    """A quarter of the UTF-8 bytes, rounded up (decision C10)."""
    listed = json.dumps({"tools": tools(profile)}, separators=(",", ":"), ensure_ascii=False)
    return ceil(len(listed.encode()) / 4)


@pytest.mark.parametrize(("profile", "tokens"), [("core", CORE_TOKENS), ("full", FULL_TOKENS)])
def test_the_tools_fit_the_budget(profile: str, tokens: int) -> None:
    assert tokens_of(profile) <= tokens


@pytest.mark.parametrize(("profile", "budget"), [("core", CORE_TOKENS), ("full", FULL_TOKENS)])
def test_the_page_of_benchmarks_tells_the_tokens(profile: str, budget: int) -> None:
    row = f"| {profile} | {len(tools(profile))} | {tokens_of(profile):,} | ≤ {budget:,} | met |"
    assert row in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()


def test_the_instructions_fit_where_they_are_cut_and_name_tools_that_exist() -> None:
    assert len(INSTRUCTIONS) <= INSTRUCTIONS_CHARACTERS
    words = {word.strip(".,:;()") for word in INSTRUCTIONS.split()}
    named = {word for word in words if word.startswith("memory_")}
    assert {"memory_query", "memory_read_page", "memory_write_page"} <= named
    assert named <= {tool["name"] for tool in tools("core")}, "each profile gets the same words"


def test_schemas_are_flat() -> None:
    """Some providers refuse a whole session over one `$ref`, combinator or list of types."""
    refused = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "outputSchema", "nullable", "additionalProperties"}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            assert not refused & set(node)
            assert isinstance(node.get("type", ""), str | dict)
            for value in node.values():
                walk(value)

    for tool in tools():
        walk(tool)
        assert tool["inputSchema"]["type"] == "object"


def test_a_manifest_of_another_version_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ai_memory.bridge.front.__version__", "99.0")
    assert load_manifest() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1}'])
def test_a_damaged_manifest_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    monkeypatch.setattr("ai_memory.bridge.front.__file__", str(tmp_path / "front.py"))
    assert load_manifest() is None
    (tmp_path / "manifest.json").unlink()
    assert load_manifest() is None
