"""Each harness's own record of one session is read into the same things told."""

import contextlib
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from terminals import NINE_US, SECOND_US, Room
from transcript_house import CLAUDE, GEMINI, OPENCODE, House, claude_records, codex_records, lines

from ai_memory.transcripts import claude_code, codex, copilot_cli, pi
from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import NO_JSON, TOO_LARGE, TOO_LONG, TOO_MANY, json_lines
from ai_memory.transcripts.record import MAX_RECORD_BYTES, MAX_RECORDS, Around, Ask, Found, Losses, Told
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.sources import BY_AGENT, SOURCES
from ai_memory.transcripts.telling import Telling

OTHER = "55555555-aaaa-4bbb-8ccc-000000000006"
LATEST_US = NINE_US + 86_400 * SECOND_US


@pytest.fixture
def house(room: Room) -> House:
    return House(room)


@contextlib.contextmanager
def asking(path: str) -> Iterator[Ask]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        yield connection.execute
    finally:
        connection.close()


def around(house: House, *roots: str) -> Around:
    return Around(str(house.home), {}, asking, roots)


def read(house: House, agent: str, losses: Losses | None = None) -> list[tuple[Found, tuple[Told, ...]]]:
    """Every session that is found of that agent, with what it tells."""
    source, where = BY_AGENT[agent], around(house, house.cwd)
    found = []
    for one in source.find(where, Scan(Losses())):
        header = source.header(one, where)
        assert header is not None
        assert header.cwd == house.cwd
        found.append((one, source.told(one, header, where, losses or Losses(), latest_us=LATEST_US)))
    return found


def kinds(told: tuple[Told, ...]) -> list[str]:
    return [one.kind for one in told]


def test_a_folder_as_older_versions_of_claude_code_name_it_is_found(house: House) -> None:
    root = "/srv/my_shop"
    house.put(f".claude/projects/-srv-my_shop/{CLAUDE}.jsonl", lines(claude_records(root)))
    house.put(f".claude/projects/-srv-my-shop/{GEMINI}.jsonl", lines(claude_records(root, GEMINI)))
    house.put(f".claude/projects/-srv-ours/{OTHER}.jsonl", lines(claude_records("/srv/ours", OTHER)))
    found = claude_code.find(around(house, root), Scan(Losses()))
    assert {Path(one.path).stem for one in found} == {CLAUDE, GEMINI}


ONE_CALL = ["user-prompt", "post-tool-use", "stop"]


@pytest.mark.parametrize(
    ("agent", "furnish", "expected"),
    [
        ("codex", "codex", [*ONE_CALL[:2], "post-compaction", "stop"]),
        ("gemini-cli", "gemini", ONE_CALL),
        ("gemini-cli", "old_gemini", ONE_CALL),
        ("pi", "pi", ["user-prompt", "post-tool-use", "post-tool-use", "post-compaction", "stop"]),
        ("copilot-cli", "copilot", ONE_CALL),
        ("opencode", "opencode", ONE_CALL),
        ("opencode", "old_opencode", ONE_CALL),
    ],
)
def test_a_session_of_any_harness_tells_its_prompt_its_call_and_its_answer(
    house: House, agent: str, furnish: str, expected: list[str]
) -> None:
    getattr(house, furnish)()
    [(_, told)] = read(house, agent)
    assert sorted(kinds(told)) == sorted(expected)
    prompt = next(one for one in told if one.kind == "user-prompt")
    call = next(one for one in told if one.kind == "post-tool-use")
    stop = next(one for one in told if one.kind == "stop")
    assert prompt.text == "List the folder"
    assert "ls" in json.dumps(call.input)
    assert (call.output, call.is_error) == ("a.py", False)
    assert stop.text == "One file."
    assert call.call_id
    assert NINE_US < prompt.at_us < call.at_us < stop.at_us < NINE_US + 60 * SECOND_US


def test_a_claude_session_tells_calls_with_their_results_and_nothing_hidden(house: House) -> None:
    house.claude()
    [(_, told)] = read(house, "claude-code")
    assert kinds(told) == ["user-prompt", "post-tool-use", "post-tool-use", "post-tool-use", "stop"]
    assert [one.is_error for one in told if one.tool] == [None, True, None]
    assert "hidden" not in repr(told)


def claude_told(records: list[Any]) -> tuple[tuple[Told, ...], Losses]:
    losses = Losses()
    telling = Telling(CLAUDE, losses, first_us=NINE_US, latest_us=LATEST_US)
    claude_code.tell(records, telling)
    return telling.told(), losses


def test_what_claude_code_made_itself_is_no_prompt_and_a_queued_one_is() -> None:
    [record] = [one for one in claude_records("/shop") if one.get("type") == "user"][:1]
    made = [
        record | {"isMeta": True},
        record | {"isSidechain": True},
        {"type": "attachment", "sessionId": CLAUDE, "attachment": {"type": "hook_success", "content": "x"}},
        {"type": "progress", "data": {"type": "bash_progress"}},
    ]
    queued = {"type": "queued_command", "prompt": [{"type": "image"}, {"type": "text", "text": "And the tax."}]}
    told, losses = claude_told([*made, {"type": "attachment", "sessionId": CLAUDE, "attachment": queued}])
    assert [one.text for one in told] == ["And the tax."]
    assert losses.counts == {claude_code.SUBAGENT: 1}


def test_a_compaction_of_claude_code_tells_its_summary() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": CLAUDE}
    summary = {
        "type": "user",
        "sessionId": CLAUDE,
        "isCompactSummary": True,
        "message": {"content": "So far: the till."},
    }
    told, _ = claude_told([boundary, summary])
    assert [(one.kind, one.text) for one in told] == [("post-compaction", "So far: the till.")]


def test_records_that_were_copied_from_another_session_are_left_to_that_one() -> None:
    other = claude_records("/shop", "99999999-aaaa-4bbb-8ccc-000000000009", prompt="An older thing.")
    told, losses = claude_told([*other, *claude_records("/shop")])
    assert [one.text for one in told if one.kind == "user-prompt"] == ["Mend the till."]
    assert losses.counts == {claude_code.COPIED: 8}


def test_a_renamed_file_of_claude_code_is_read_whole() -> None:
    told, losses = claude_told(claude_records("/shop", "another"))
    assert [one.text for one in told if one.kind == "user-prompt"] == ["Mend the till."]
    assert not losses.counts


def test_files_of_subagents_are_not_sessions(house: House) -> None:
    main = house.claude()
    house.put(str(main.parent.relative_to(house.home) / "agent-1.jsonl"), lines(claude_records(house.cwd)))
    deeper = main.parent.relative_to(house.home) / CLAUDE / "subagents" / "agent-2.jsonl"
    house.put(str(deeper), lines(claude_records(house.cwd)))
    assert [found.path for found, _ in read(house, "claude-code")] == [str(main)]


def test_a_codex_subagent_says_so_in_its_header() -> None:
    records = codex_records("/shop")
    records[0]["payload"]["source"] = {"subagent": "review"}
    header = codex.header(records, Found("codex", "/x", NINE_US, 0), Around("/home", {}, asking))
    assert header is not None
    assert header.is_subagent


def test_an_old_codex_file_without_envelopes_is_read() -> None:
    context = "<environment_context>\n<cwd>/shop</cwd>\n</environment_context>"
    records = [
        {"id": "old-1", "timestamp": "2025-06-14T11:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": context}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend it."}]},
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "not json"},
    ]
    header = codex.header(records, Found("codex", "/x", NINE_US, 0), Around("/home", {}, asking))
    assert header is not None
    assert (header.native_id, header.cwd) == ("old-1", "/shop")
    telling = Telling("old-1", Losses(), first_us=header.started_us, latest_us=LATEST_US)
    codex.tell(records, telling)
    assert [(one.kind, one.text) for one in telling.told()] == [("user-prompt", "Mend it."), ("pre-tool-use", "")]


def test_a_call_without_a_result_is_told_as_begun_where_it_began() -> None:
    told, _ = claude_told(claude_records("/shop")[:3])
    assert [(one.kind, one.call_id) for one in told] == [("user-prompt", ""), ("pre-tool-use", "toolu_1")]


def test_times_that_go_backwards_or_lie_in_the_future_keep_the_order_of_the_file() -> None:
    records = claude_records("/shop")
    records[4]["timestamp"] = "2020-05-01T00:00:00Z"
    records[5]["timestamp"] = "2099-01-01T00:00:00Z"
    records[6]["timestamp"] = float("inf")
    told, _ = claude_told(records)
    times = [one.at_us for one in told]
    assert times == sorted(set(times))
    assert max(times) < LATEST_US
    assert kinds(told) == ["user-prompt", "post-tool-use", "post-tool-use", "post-tool-use", "stop"]


def test_parents_in_a_circle_do_not_matter_to_a_session_of_pi(house: House) -> None:
    path = house.pi()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records[1:]:
        record["parentId"] = record["id"]
    house.put(str(path.relative_to(house.home)), lines(records))
    [(_, told)] = read(house, "pi")
    assert len(told) == 5


def test_an_old_gemini_session_of_another_folder_is_not_even_listed(house: House) -> None:
    house.old_gemini()
    source = BY_AGENT["gemini-cli"]
    assert len(list(source.find(around(house, house.cwd), Scan(Losses())))) == 1
    assert list(source.find(around(house, "/elsewhere"), Scan(Losses()))) == []


def test_the_folder_of_an_old_gemini_session_cannot_be_told_where_it_is_not_known(house: House) -> None:
    path = house.old_gemini()
    source, where = BY_AGENT["gemini-cli"], around(house)
    header = source.header(Found("gemini-cli", str(path), NINE_US, 0), where)
    assert header is not None
    assert (header.native_id, header.cwd) == (GEMINI, "")


def test_a_session_of_opencode_may_not_lead_out_of_its_folder(house: House) -> None:
    path = house.old_opencode()
    secret = house.put(".local/share/opencode/storage/secret/x.json", json.dumps({"role": "user"}))
    path.write_text(json.dumps({"id": "../secret", "directory": house.cwd, "time": {"created": NINE_US // 1000}}))
    assert secret.exists()
    [(_, told)] = read(house, "opencode")
    assert told == ()


def test_variables_move_the_places_and_a_blank_one_does_not() -> None:
    moved = Around("/home/ada", {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "  "}, asking)
    assert claude_code.projects_folder(moved) == "/c/projects"
    assert moved.folder("CODEX_HOME", ".codex") == "/home/ada/.codex"


def test_links_are_no_sessions(house: House) -> None:
    path = house.claude()
    (path.parent / f"{OPENCODE}.jsonl").symlink_to(path)
    assert len(read(house, "claude-code")) == 1


def test_the_scan_stops_at_its_bound_and_says_so(house: House) -> None:
    for number in range(5):
        house.claude(f"11111111-aaaa-4bbb-8ccc-00000000001{number}")
    losses = Losses()
    found = list(BY_AGENT["claude-code"].find(around(house), Scan(losses, most=3)))
    assert len(found) == 2, "one look went to the folder"
    assert sum(losses.counts.values()) == 1


def parsed(content: bytes, limit_bytes: int = 64 << 20) -> tuple[list[Any], Losses]:
    losses = Losses()
    return list(json_lines(io.BytesIO(content), losses, limit_bytes)), losses


def test_bad_lines_are_counted_and_passed_over() -> None:
    giant = b'{"a": "' + b"x" * MAX_RECORD_BYTES + b'"}\n'
    deep = b'{"a":' * 100_000 + b"\n"
    content = b'\xef\xbb\xbf{"n": 1}\n' + giant + b'[1]\nnull\n{"n"\n\n' + deep + b'{"n": "\\ud800\\u0000\xff"}'
    found, losses = parsed(content)
    assert [one["n"] for one in found] == [1, "\ud800\0\ufffd"]
    assert losses.counts == {TOO_LONG: 1, NO_JSON: 4}


def test_a_file_is_read_to_its_bounds_and_the_rest_is_told() -> None:
    found, losses = parsed(b"{}\n" * (MAX_RECORDS + 5))
    assert (len(found), losses.counts) == (MAX_RECORDS, {TOO_MANY: 1})
    found, losses = parsed(b"{}\n" * 100, limit_bytes=30)
    assert (len(found), losses.counts) == (10, {TOO_LARGE: 1})


@pytest.mark.parametrize(
    ("given", "at_us"),
    [
        ("2026-11-30T09:00:00Z", NINE_US),
        ("2026-11-30T10:00:00.000+01:00", NINE_US),
        ("2026-11-30T09:00:00", NINE_US),
        (NINE_US // 1_000_000, NINE_US),
        (NINE_US // 1000, NINE_US),
        (NINE_US, NINE_US),
        ("1999-01-01T00:00:00Z", 0),
        ("soon", 0),
        (-1, 0),
        (float("nan"), 0),
        (True, 0),
        (None, 0),
        ({}, 0),
    ],
)
def test_times_are_read_in_every_spelling(given: object, at_us: int) -> None:
    assert instant(given) == at_us


def test_every_source_is_a_harness_that_is_known() -> None:
    from ai_memory.harnesses.registry import BY_ID

    assert [source.agent for source in SOURCES] == [one.AGENT for one in (claude_code, codex)] + [
        *("opencode", "gemini-cli", pi.AGENT, copilot_cli.AGENT)
    ]
    assert set(BY_AGENT) <= set(BY_ID)


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    losses = Losses()
    gone = Found("pi", str(tmp_path / "gone.jsonl"), NINE_US, 0)
    assert list(BY_AGENT["pi"].records(gone, Around(str(tmp_path), {}, asking), losses, 1000)) == []
    assert sum(losses.counts.values()) == 1
