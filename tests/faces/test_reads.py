"""What reads take besides their question: room in bytes, arguments not listed, the latest session, a folder."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.bridge.calls import Answer, Pins, Place, tool_parameters
from ai_memory.model import Caller
from ai_memory.operations.signature import json_schema
from ai_memory.operations.table import OPERATION_BY_TOOL
from ai_memory.paths import DataDir
from ai_memory.text.marked_block import END, START
from ai_memory.wiring.texts import SKILLS, instruction_block

OTHER = "9d3f0a5e-1111-4222-8333-444455556666"
UNSCOPED = {"memory_install_self_routing"}
READS = {
    *("memory_query", "memory_read_page", "memory_recent", "memory_sessions", "memory_read_session_observations"),
    *("memory_briefing", "memory_explore", "memory_handoff_list", "memory_message_list", "memory_context"),
}


def bridge(room: Room, tool: str, pins: Pins = Pins(), **given: Any) -> Answer:  # noqa: B008 (frozen)
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge")
    return Place(DataDir(room.data_dir), caller, pins).call(tool, given)


def rows(room: Room, tool: str, noun: str, **given: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(bridge(room, tool, format="json", **given).text)[noun]
    return found


def test_every_read_that_tells_stored_text_takes_room_in_bytes() -> None:
    has_room = {
        name for name, one in OPERATION_BY_TOOL.items() if "max_bytes" in {p.name for p in tool_parameters(one)}
    }
    assert has_room == READS


def test_every_tool_takes_a_project_by_name() -> None:
    names = {name: {p.name for p in tool_parameters(one)} for name, one in OPERATION_BY_TOOL.items()}
    assert {name for name, found in names.items() if not {"workspace", "project"} <= found} == UNSCOPED


# --- room in bytes ---


def test_a_long_page_is_cut_and_says_so(room: Room) -> None:
    room.ok("write-page", "-p", "notes/long.md", "-b", "# Long\n\n" + "word " * 2_000)
    answer = room.json("read-page", "notes/long.md", "--max-bytes", "2000")
    [page] = answer["pages"]
    assert page["body"].endswith("word…")
    assert len(json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()) <= 2_000
    assert answer["gaps"][-1].startswith("the body is cut: ")
    assert "of 10,009 bytes are left out" in answer["gaps"][-1]
    assert "the body is cut" in bridge(room, "memory_read_page", path="notes/long.md", max_bytes=2_000).text
    assert room.json("read-page", "notes/long.md", "--max-bytes", "20000")["gaps"] == []


def test_recent_pages_go_on_where_the_room_ended(room: Room) -> None:
    for number in range(5):
        room.ok("write-page", "-p", f"notes/{number}.md", "-b", f"# Page {number}")
    part = room.json("recent", "--max-bytes", "700")
    assert part["omitted"] == 5 - len(part["pages"]) > 0
    rest = room.json("recent", "--after", part["next"])
    assert {row["path"] for row in (*part["pages"], *rest["pages"])} == {f"notes/{number}.md" for number in range(5)}


def test_lists_of_sessions_and_handoffs_keep_to_their_room(room: Room) -> None:
    for session in (SESSION, OTHER):
        room.tell("user-prompt", session=session, text="Mend the till. " * 40)
    room.drain()
    for number in range(3):
        room.ok("handoff", "begin", "-b", f"Work {number} is left.")
    assert room.json("sessions", "--max-bytes", "400")["omitted"] == 1
    assert room.json("handoff", "list", "--max-bytes", "900")["omitted"] >= 1
    [one] = room.json("session", SESSION, "--max-bytes", "1500")["observations"]
    assert one["kind"] == "user-prompt"


def test_a_search_of_a_tool_keeps_to_its_room(room: Room) -> None:
    for number in range(5):
        room.ok("write-page", "-p", f"notes/{number}.md", "-b", f"# Retry budget {number}\n\n" + "retry budget " * 50)
    whole = rows(room, "memory_query", "hits", query="retry budget")
    assert len(rows(room, "memory_query", "hits", query="retry budget", max_bytes=600)) < len(whole)


# --- arguments that are not listed ---


def test_what_is_not_listed_is_taken(room: Room) -> None:
    room.ok("write-page", "-p", "decisions/retry.md", "-b", "# Retry budget", "--tag", "http")
    room.ok("write-page", "-p", "notes/retry.md", "-b", "# Retry budget of the client")
    room.ok("write-page", "-p", "notes/till.md", "-b", "# Retry budget of the till", "--project", "till")
    listed = json_schema(tool_parameters(OPERATION_BY_TOOL["memory_query"]))["properties"]
    assert set(listed) == {"query", "limit", "max_bytes", "workspace", "project", "format"}

    def paths(**given: Any) -> set[str]:
        return {row["path"] for row in rows(room, "memory_query", "hits", query="retry budget", **given)}

    assert paths(kind="decision") == paths(tag="http") == paths(path_prefix="decisions/") == {"decisions/retry.md"}
    assert paths() == {"decisions/retry.md", "notes/retry.md"}
    assert "notes/till.md" in paths(**{"global": True})
    assert paths(scopes=["till"]) == {"notes/till.md"}
    assert paths(scopes=["till"], pins=Pins("default", "shop")) == {"notes/till.md"}


def test_entities_and_abstract_stand_in_the_page(room: Room) -> None:
    given = {"path": "notes/a.md", "body": "# A", "entities": ["RetryBudget"], "abstract": "Three tries: at most."}
    assert not bridge(room, "memory_write_page", **given).is_error
    [page] = room.json("read-page", "notes/a.md")["pages"]
    assert page["frontmatter"] == {"entities": ["RetryBudget"], "abstract": "Three tries: at most."}
    assert room.run("write-page", "-p", "notes/b.md", "-b", "# B", "--entity", "x" * 65).exit_code != 0


def test_pages_around_a_page_come_with_it(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A\n\n[[notes/b]]")
    room.ok("write-page", "-p", "notes/b.md", "-b", "# B\n\n[[notes/c]]")
    room.ok("write-page", "-p", "notes/c.md", "-b", "# C")
    text = bridge(room, "memory_read_page", path="notes/a.md", include_related=True).text
    assert "pages around it:\n- notes/b.md · B · references (notes/a.md)" in text
    assert "notes/c.md" not in text
    deep = room.json("read-page", "notes/a.md", "--include-related", "--related-depth", "2")
    assert [(row["path"], row["distance"]) for row in deep["related"]] == [("notes/b.md", 1), ("notes/c.md", 2)]
    assert room.json("read-page", "notes/a.md")["related"] == []


def test_a_handoff_may_name_its_folder(room: Room, tmp_path: Path) -> None:
    till = tmp_path / "till"
    till.mkdir()
    begun = bridge(room, "memory_handoff_begin", summary="The till rounds; tax is left.", cwd=str(till))
    assert "scope default/till" in begun.text
    assert "tax is left" not in bridge(room, "memory_handoff_accept").text
    assert "tax is left" in bridge(room, "memory_handoff_accept", cwd=str(till)).text
    assert "no absolute path" in bridge(room, "memory_handoff_begin", summary="x", cwd="till").text


# --- sessions ---


def test_without_a_name_the_latest_session_with_work_is_read(room: Room, tmp_path: Path) -> None:
    assert bridge(room, "memory_read_session_observations").is_error
    room.work()
    room.work(session=OTHER, cwd=str(room.checkout / "below"))
    assert room.json("session")["session"]["id"] == SESSION, "of this folder"
    assert room.json("session", OTHER)["session"]["id"] == OTHER
    till = tmp_path / "till"
    till.mkdir()
    caller = Caller(cwd=str(till), environ={}, home=str(Path.home()), face="bridge")
    answer = Place(DataDir(room.data_dir), caller).call("memory_read_session_observations", {})
    assert "no session of this project" in answer.text


def test_a_tool_is_shown_texts_cut_and_a_person_whole(room: Room) -> None:
    room.tell("user-prompt", text="why " * 2_000)
    room.tell("stop")
    room.drain()
    [prompt, stop] = rows(room, "memory_read_session_observations", "observations")
    assert (len(prompt["text"]), prompt["text"][-1], prompt["kind"]) == (4_000, "…", "user-prompt")
    newest = rows(room, "memory_read_session_observations", "observations", order="desc", body_max_chars=200)
    assert [len(row["text"]) for row in newest] == [0, 200]
    assert stop["event_id"] in bridge(room, "memory_read_session_observations").text
    assert len(room.json("session", SESSION)["observations"][0]["text"]) == 8_000


# --- what the memory can do, and the text that routes to it ---


def test_status_says_what_the_memory_can_do(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_MEMORY_EMBED__PROVIDER", "none")
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    can = room.json("status")["capabilities"]
    assert (can["embedder"], can["vectors"], can["rerank"], can["is_degraded"]) == (None, 0, None, False)
    assert can["parts"] > 0
    assert "recall    full text, no vectors, no reranker" in bridge(room, "memory_status").text


def test_the_text_that_routes_is_that_of_the_installer(room: Room) -> None:
    told = room.json("self-routing")
    assert told["markered_block"] == f"{START}\n{instruction_block()}\n{END}\n"
    assert (told["marker_start"], told["marker_end"]) == (START, END)
    assert told["agent_filenames"]["claude-code"] == "CLAUDE.md"
    assert [skill["name"] for skill in told["managed_skills"]] == [f"ai-memory-{name}" for name in SKILLS]
    assert all(told["overwrite_guidance"]["managed_marker"] in skill["content"] for skill in told["managed_skills"])
    text = bridge(room, "memory_install_self_routing", compact=True).text
    assert told["markered_block"] in text, "a model copies it: no sign of it may be changed"
    assert "memory_query` first: mend the page" not in text
    room.ok("install-instructions", "--agent", "claude-code", "--apply")
    assert told["markered_block"] in (Path.home() / ".claude" / "CLAUDE.md").read_text()
    assert not (room.data_dir / "wiki").exists() or room.json("pages", "--all")["total"] == 0
