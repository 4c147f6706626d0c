"""Ours into a document of somebody else and out again, whatever they wrote there."""

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from test_jsonc_splices import written
from wire_room import LAUNCH, WireRoom

from ai_memory.harnesses.claude_code import CLAUDE_CODE
from ai_memory.harnesses.codex import CODEX
from ai_memory.harnesses.edits import Json, Member, Part
from ai_memory.wiring.documents import JsonDocument, TomlDocument
from ai_memory.wiring.merge import Terms, with_ours, without_ours

EVENTS = ["SessionStart", "Stop", "PreToolUse", "NotOurs"]
HANDLERS = st.sampled_from(["say done", "lint --fix", "other hook --event stop"]).map(
    lambda line: {"type": "command", "command": line}
)
GROUPS = st.builds(
    lambda matcher, handlers: {**({"matcher": matcher} if matcher else {}), "hooks": handlers},
    st.sampled_from(["", "Bash", "Edit|Write"]),
    st.lists(HANDLERS, min_size=1, max_size=2),
)
HOOKS = st.dictionaries(st.sampled_from(EVENTS), st.lists(GROUPS, max_size=3), max_size=4)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={"hooks": HOOKS, "mcpServers": st.dictionaries(st.just("other"), st.just({"command": "x"})), "a": HOOKS},
)


def parts() -> list[Part]:
    assert CLAUDE_CODE.hooks is not None
    assert CLAUDE_CODE.hooks.parts is not None
    assert CLAUDE_CODE.mcp is not None
    return [*CLAUDE_CODE.hooks.parts(CLAUDE_CODE, LAUNCH), Member(CLAUDE_CODE.mcp.keys, CLAUDE_CODE.mcp.entry(LAUNCH))]


@given(SETTINGS.flatmap(lambda one: st.tuples(st.just(one), written(one))))
@settings(max_examples=60)
def test_theirs_stays_while_ours_is_there_and_every_byte_once_it_is_gone(found: tuple[dict[str, Any], str]) -> None:
    value, text = found
    made = with_ours(JsonDocument(text), parts(), Terms())
    assert made.value() != value
    assert with_ours(made, parts(), Terms()).text == made.text
    for event, groups in value.get("hooks", {}).items():
        after = made.value(("hooks", event))
        assert isinstance(after, list)
        assert after[: len(groups)] == groups, "theirs first, in their order"
    left = without_ours(made, parts(), Terms(), value)
    assert left.value() == value
    assert left.text.count("c") == text.count("c"), "a comment is gone"
    again = with_ours(left, parts(), Terms())
    assert without_ours(again, parts(), Terms(), value).text == left.text


@given(SETTINGS.flatmap(lambda one: st.tuples(st.just(one), written(one))))
@settings(max_examples=60)
def test_without_a_memory_of_before_only_what_holds_nothing_may_go_with_ours(found: tuple[dict[str, Any], str]) -> None:
    value, text = found
    left = without_ours(with_ours(JsonDocument(text), parts(), Terms()), parts(), Terms(), None).value()
    assert bare(left) == bare(value)


def bare(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: bare(one) for key, one in value.items() if bare(one) not in ({}, [])}


@given(SETTINGS.flatmap(written))
@settings(max_examples=25)
def test_uninstalling_what_was_installed_gives_back_the_very_bytes(tmp_path_factory: Any, text: str) -> None:
    room = WireRoom(Path(tmp_path_factory.mktemp("room")))
    path = room.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    room.install(CLAUDE_CODE, whats=("hooks", "mcp"))
    assert path.read_bytes() != text.encode()
    room.uninstall(CLAUDE_CODE, whats=("mcp",))
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert path.read_bytes() == text.encode()


def test_an_entry_of_codex_joins_servers_of_others() -> None:
    assert CODEX.mcp is not None
    entry: Json = CODEX.mcp.entry(LAUNCH)
    text = '[mcp_servers.other] # theirs\ncommand = "x"\n'
    made = with_ours(TomlDocument(text), [Member(CODEX.mcp.keys, entry)], Terms())
    assert made.text.startswith(text)
    assert without_ours(made, [Member(CODEX.mcp.keys, entry)], Terms(), None).text == text
