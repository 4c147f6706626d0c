"""A secret in a tool's input that only a neighbour gives away: a flag, a name, the key of a pair, a header's name."""

import json
from pathlib import Path

import pytest
from hook_runs import Desk

from ai_memory.capture.spooled import parse_event
from ai_memory.text.sanitize import sanitize

PASSWORD = "Zebra9Qx7Lm"
BASIC = "YWRhOlplYnJhOVF4N0xt"
INPUTS = (
    {"command": ["mysql", "-u", "root", "--password", PASSWORD]},
    {"command": ["curl", "-u", f"ada:{PASSWORD}", "https://example.org"]},
    {"command": ["vault", "login", "--token", PASSWORD]},
    {"args": ["sshpass", "-p", PASSWORD, "ssh", "x"]},
    {"env": [{"name": "DB_PASSWORD", "value": PASSWORD}]},
    {"headers": [{"key": "X-Api-Key", "value": PASSWORD}]},
    {"value": PASSWORD, "name": "DB_PASSWORD"},
    {"headers": {"Authorization": f"Basic {BASIC}"}},
    {"headers": {"Cookie": f"theme=dark; sid={PASSWORD}{PASSWORD}"}},
    {"pairs": [["DB_PASSWORD", PASSWORD]]},
    {"password": {"value": PASSWORD}},
    {"login": {"user": "ada", "password": 12345678}},
)
SECRETS = (PASSWORD, BASIC, "12345678")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("given", INPUTS, ids=json.dumps)
def test_a_secret_beside_its_name_is_not_spooled_and_the_input_keeps_its_form(
    desk: Desk, given: dict[str, object]
) -> None:
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="run", tool_input=given))
    event = desk.event()
    assert not [secret for secret in SECRETS if secret in json.dumps(event)]
    assert "[REDACTED:" in json.dumps(event["input"])
    assert event["input"].keys() == given.keys()


@pytest.mark.parametrize("given", INPUTS[:6], ids=json.dumps)
def test_the_drain_finds_it_too_in_a_file_that_somebody_else_wrote(given: dict[str, object]) -> None:
    record = {"event": "post-tool-use", "agent": "other", "session": "s", "tool": "run", "input": given}
    event = parse_event("1796032800000000000-1-abcdef01.json", json.dumps(record).encode())
    assert not [secret for secret in SECRETS if secret in event.input]
    assert json.loads(event.input)


@pytest.mark.parametrize(
    "given",
    [
        {"fields": ["email", "password", "createdAt", "token_count"]},
        {"command": ["pytest", "-p", "no:cacheprovider", "-q"]},
        {"names": ["DB_USER", "DB_PASSWORD", "DB_HOST"]},
        {"schema": {"password": {"type": "string"}, "token": {"default": None}}},
        {"max_tokens": 8192, "password": True, "pass": 12345},
        {"name": "password", "value": "required"},
        {"pattern": "password", "path": "src"},
    ],
    ids=json.dumps,
)
def test_neighbours_that_only_speak_of_secrets_keep_every_byte(desk: Desk, given: dict[str, object]) -> None:
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="run", tool_input=given))
    assert desk.event()["input"] == given
    text = json.dumps(given)
    assert sanitize(text) == text


def test_an_unnamed_tool_whose_path_is_ignored_is_dropped_and_without_a_path_leaves_metadata(desk: Desk) -> None:
    marker = desk.checkout / ".ai-memory.toml"
    marker.write_text('[capture]\nignore_paths = ["secrets/**"]\n')
    status = marker.stat()
    known = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "valid": True, "ignore_paths": ["secrets/**"]}
    policy = {"v": 1, "settings": {}, "config": None, "markers": {str(marker): known}}
    (desk.data / "hook-policy.json").write_text(json.dumps(policy))
    cwd = {"cwd": str(desk.checkout)}
    windsurf = {"agent_action_name": "post_read_code", "trajectory_id": "w", **cwd}
    desk.run("post_read_code", windsurf | {"tool_info": {"file_path": "secrets/db"}}, agent="windsurf")
    desk.run("post_run_command", windsurf | {"tool_info": {"command_line": "cat secrets/db"}}, agent="windsurf")
    cursor = {"conversation_id": "c", "cursor_version": "2", "workspace_roots": [str(desk.checkout)], **cwd}
    desk.run("beforeReadFile", cursor | {"file_path": "secrets/db", "content": "OUTPUT"}, agent="cursor")
    plain = {"session_id": "s", "tool_response": "OUTPUT", **cwd}
    desk.run("post-tool-use", plain | {"tool_input": {"path": "secrets/db"}})
    assert desk.events() == []
    desk.run("post-tool-use", plain)
    assert desk.event()["flags"] == ["metadata-only"]
    desk.run("post_read_code", windsurf | {"tool_info": {"file_path": "src/db"}}, agent="windsurf")
    assert desk.events()[1]["input"] == {"file_path": "src/db"}
