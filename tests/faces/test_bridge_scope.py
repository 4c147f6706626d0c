"""Which project a call of the bridge belongs to: the session's, and only that of the right harness."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.bridge.calls import Pins, Place
from ai_memory.bridge.client import NAMES, agent_named, session_of
from ai_memory.harnesses import registry
from ai_memory.hook_places import session_uuid
from ai_memory.model import Caller
from ai_memory.paths import DataDir

BODY = "# Retry budget\n\nAt most three tries."


@pytest.fixture
def away(room: Room, tmp_path: Path) -> Place:
    """A bridge in the home folder, of a session that hooks saw begin in the checkout."""
    home = tmp_path / "home"
    home.mkdir()
    room.work()
    caller = Caller(cwd=str(home), environ={}, home=str(home), face="bridge", session_id=SESSION, agent="codex")
    return Place(DataDir(room.data_dir), caller)


def write(place: Place, **more: Any) -> Any:
    return place.call("memory_write_page", {"path": "notes/a.md", "body": BODY, **more})


def test_the_session_names_the_project_where_the_folder_cannot(room: Room, away: Place) -> None:
    answer = write(away)
    assert not answer.is_error
    assert answer.text.endswith("scope default/shop · resolved_by session")
    assert room.file("notes/a.md").exists()


def test_a_named_project_wins_over_the_session(away: Place) -> None:
    assert write(away, project="other").text.endswith("scope default/other · resolved_by flag")
    pinned = replace(away, pins=Pins("work", "acme"))
    assert write(pinned).text.endswith("scope work/acme · resolved_by flag")


def test_the_session_counts_more_than_the_folder(away: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = replace(away, caller=replace(away.caller, cwd=str(elsewhere)))
    assert write(there).text.endswith("scope default/shop · resolved_by session")


def test_a_session_that_nobody_told_of_names_nothing(away: Place) -> None:
    stranger = replace(away, caller=replace(away.caller, session_id="0" * 32))
    answer = write(stranger)
    assert answer.code == "refused_scope"
    assert "scope default/scratch · resolved_by fallback" in answer.text
    assert '"project": "your-project"' in answer.text.splitlines()[-1]


def test_a_session_whose_own_project_was_a_guess_names_nothing(room: Room, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    room.tell("user-prompt", text="Mend it.", cwd="/")
    room.drain()
    caller = Caller(cwd=str(home), environ={}, home=str(home), face="bridge", session_id=SESSION)
    assert write(Place(DataDir(room.data_dir), caller)).code == "refused_scope"


def test_a_handoff_of_a_session_is_for_the_folder_of_the_session(room: Room, away: Place) -> None:
    away.call("memory_handoff_begin", {"summary": "The till rounds."})
    here = Caller(cwd=str(room.checkout), environ={}, home=away.caller.home, face="bridge", agent="claude-code")
    taken = Place(DataDir(room.data_dir), here).call("memory_handoff_accept", {})
    assert "The till rounds." in taken.text


@pytest.mark.parametrize(
    ("agent", "meta", "environ", "found"),
    [
        ("claude-code", {}, {"CLAUDE_CODE_SESSION_ID": SESSION}, SESSION),
        ("codex", {}, {"CLAUDE_CODE_SESSION_ID": SESSION}, ""),
        ("", {}, {"CLAUDE_CODE_SESSION_ID": SESSION}, ""),
        ("muse", {}, {"CLAUDE_CODE_SESSION_ID": SESSION, "MUSE_SESSION_ID": "m1"}, session_uuid("muse", "m1")),
        ("opencode", {"ai.opencode/sessionID": "ses_1"}, {}, session_uuid("opencode", "ses_1")),
        ("codex", {"ai.opencode/sessionID": "ses_1"}, {}, ""),
        ("opencode", {"ai.opencode/sessionID": 7}, {}, ""),
    ],
)
def test_only_the_agents_own_variable_names_its_session(
    agent: str, meta: dict[str, Any], environ: dict[str, str], found: str
) -> None:
    assert session_of(agent, meta, environ) == found


class Told:
    """A session of the SDK, as far as the name of its client goes."""

    def __init__(self, name: str | None) -> None:
        info = type("Info", (), {"name": name})() if name is not None else None
        self.client_params = type("Params", (), {"client_info": info})() if name is not None else None


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "vscode"),
        ("codex-mcp-client", "codex"),
        ("Zed", "zed"),
        ("mcp-inspector", ""),
        (None, ""),
    ],
)
def test_the_client_says_which_harness_it_is(name: str | None, agent: str) -> None:
    assert agent_named(Told(name)) == agent  # type: ignore[arg-type]


def test_names_of_clients_lead_to_harnesses() -> None:
    assert all(registry.find(agent) for agent in NAMES.values())
