"""Each plugin, run by node as it is installed: what its harness tells becomes our events, and nothing waits for it."""

import json
import sys
from pathlib import Path
from typing import Any

import forked
import pytest
from hook_runs import Desk
from plugin_runs import PluginRun, launch_of, needs_node, plugin_text

from ai_memory.harnesses import plugin_files
from ai_memory.harnesses.launch import Launch

pytestmark = needs_node

SHELL = {"command": "ls"}
HANGING = "import time; time.sleep(30)"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.environ["AI_MEMORY_CAPTURE_OWNER"] = ""
    return made


def told(desk: Desk) -> list[tuple[str, str]]:
    """(kind, native name) of what was left, in the order in which it happened."""
    events = sorted(desk.events(), key=lambda one: one["at_us"])
    return [(event["event"], event["source_event"]) for event in events]


def kinds(desk: Desk) -> list[str]:
    return [kind for kind, _ in told(desk)]


def leave_handoff(desk: Desk, text: str) -> None:
    """An open handoff for the checkout, as the drain leaves it."""
    from ai_memory.hook_places import Surroundings

    identifier = "0" * 32
    around = Surroundings(str(desk.checkout), str(desk.checkout.parent))
    (desk.data / "outbox" / "open").mkdir(parents=True, exist_ok=True)
    (desk.data / "outbox" / "open" / f"{identifier}.md").write_text(text)
    folder = desk.data / "outbox" / "by-dir" / around.keys()[0]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / identifier).touch()


def created(desk: Desk, session: str, **more: object) -> dict[str, Any]:
    info = {"id": session, "directory": str(desk.checkout), "time": {"created": 1}} | more
    return {"event": {"type": "session.created", "properties": {"sessionID": session, "info": info}}}


def event(kind: str, session: str, **more: object) -> dict[str, Any]:
    return {"event": {"type": kind, "properties": {"sessionID": session} | more}}


def opencode_turn(desk: Desk, session: str) -> list[list[object]]:
    call = {"tool": "bash", "sessionID": session, "callID": "call_1"}
    result = {"title": "ls", "output": "README.md\n", "metadata": {"exit": 0}}
    prompt = [{"type": "text", "text": "Round the bill"}, {"type": "text", "text": "a file", "synthetic": True}]
    return [
        ["event", created(desk, session)],
        ["chat.message", {"sessionID": session}, {"parts": prompt}],
        ["experimental.chat.system.transform", {"sessionID": session}, {"system": ["You are opencode"]}],
        ["tool.execute.before", call, {"args": SHELL}],
        ["tool.execute.after", call | {"args": SHELL}, result],
        ["experimental.text.complete", {"sessionID": session}, {"text": "Done."}],
        ["event", event("session.idle", session)],
    ]


def test_a_turn_of_opencode_arrives_whole_and_the_end_of_the_program_ends_its_session(desk: Desk) -> None:
    PluginRun(desk, "opencode").run(*opencode_turn(desk, "ses_1"), ["dispose"], ["exit"])
    assert told(desk) == [
        ("session-start", "session.created"),
        ("user-prompt", "chat.message"),
        ("pre-tool-use", "tool.execute.before"),
        ("post-tool-use", "tool.execute.after"),
        ("stop", "session.idle"),
        ("session-end", "exit"),
    ]
    start, prompt, before, after, _, end = sorted(desk.events(), key=lambda one: one["at_us"])
    assert {one["session"] for one in desk.events()} == {"ses_1"}
    assert {one["cwd"] for one in desk.events()} == {str(desk.checkout)}
    assert start["extra"]["source"] == "startup"
    assert prompt["prompt"] == "Round the bill"
    assert (before["tool"], before["input"], before["call_id"]) == ("bash", SHELL, "call_1")
    assert (after["input"], after["output"], after["outcome"]) == (SHELL, "README.md\n", "success")
    assert end["extra"]["reason"] == "exit"


def test_unloading_the_plugin_ends_no_session(desk: Desk) -> None:
    again = [["event", event("session.idle", "ses_1")], ["dispose"]]
    PluginRun(desk, "opencode").run(*opencode_turn(desk, "ses_1"), *again, *again)
    assert told(desk)[-1] == ("session-end", "exit"), "told when the program ended, not before"
    assert kinds(desk).count("session-end") == 1


def test_in_the_terminal_interface_of_opencode_the_unloading_is_the_end_and_what_follows_is_resumed(desk: Desk) -> None:
    again = opencode_turn(desk, "ses_1")[1:2]
    PluginRun(desk, "opencode", worker=True).run(*opencode_turn(desk, "ses_1"), ["dispose"], *again, ["dispose"])
    assert told(desk)[-4:] == [
        ("session-end", "dispose"),
        ("session-start", "session.created"),
        ("user-prompt", "chat.message"),
        ("session-end", "dispose"),
    ]


@pytest.mark.parametrize("name", ["opencode", "opencode2"])
def test_opencode_is_given_the_handoff_in_each_request_of_the_session(desk: Desk, name: str) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    if name == "opencode":
        ask: list[object] = [
            "experimental.chat.system.transform",
            {"sessionID": "ses_1"},
            {"system": ["You are opencode"]},
        ]
        title = [
            "experimental.chat.system.transform",
            {"sessionID": "ses_1"},
            {"system": ["You are a title generator."]},
        ]
        steps = [["event", created(desk, "ses_1")], title, ask, ask]
    else:
        ask = ["session.context", {"sessionID": "ses_1", "system": [{"type": "text", "text": "You are opencode"}]}]
        seen = {
            "type": "session.created",
            "data": {"sessionID": "ses_1"},
            "location": {"directory": str(desk.checkout)},
        }
        prompt = ["session.prompt", {"sessionID": "ses_1", "prompt": {"text": "Go on"}}]
        steps = [["stream", seen], prompt, ask, ask]
    ran = PluginRun(desk, name).run(*steps)
    first, second = (json.dumps(one["args"]) for one in ran[-2:])
    assert first.count("order 4711") == second.count("order 4711") == 1
    assert "4711" not in json.dumps(ran[1]["args"])
    assert kinds(desk).count("handoff-claimed") == 1


def test_a_resumed_session_of_opencode_takes_no_handoff(desk: Desk) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    ran = PluginRun(desk, "opencode", sessions={"ses_1": {"id": "ses_1", "time": {"created": 1}}}).run(
        ["chat.message", {"sessionID": "ses_1"}, {"parts": [{"type": "text", "text": "Go on"}]}],
        ["experimental.chat.system.transform", {"sessionID": "ses_1"}, {"system": []}],
    )
    assert "4711" not in json.dumps(ran)
    assert desk.events()[0]["extra"]["source"] == "resume"
    assert (desk.data / "outbox" / "open" / ("0" * 32 + ".md")).exists()


def test_what_a_subagent_of_opencode_does_belongs_to_the_session_that_asked_for_it(desk: Desk) -> None:
    child = opencode_turn(desk, "ses_2")[1:]
    PluginRun(desk, "opencode").run(
        *opencode_turn(desk, "ses_1")[:2],
        ["event", created(desk, "ses_2", parentID="ses_1", agent="explore")],
        *child,
        ["event", event("session.idle", "ses_1")],
    )
    of_child = [one for one in desk.events() if one.get("agent_id") == "ses_2"]
    assert {one["session"] for one in desk.events()} == {"ses_1"}
    assert [one["event"] for one in sorted(of_child, key=lambda one: one["at_us"])] == [
        *("other", "pre-tool-use", "post-tool-use", "other")
    ]
    assert kinds(desk).count("user-prompt") == 1, "nobody typed the subagent's prompt"
    assert kinds(desk).count("stop") == 1


def test_two_hooks_that_tell_of_one_compaction_are_one_event(desk: Desk) -> None:
    twice = [["experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []}]] * 2
    over = [["event", event("session.compacted", "ses_1")]] * 2
    PluginRun(desk, "opencode").run(*opencode_turn(desk, "ses_1"), *twice, *over, ["dispose"])
    assert kinds(desk)[5:-1] == ["pre-compact", "post-compaction", "session-start"]
    assert desk.events()[-2]["extra"]["source"] == "compact"


def test_a_compaction_of_which_only_the_end_is_told_has_a_beginning_too(desk: Desk) -> None:
    over = ["event", event("session.compacted", "ses_1")]
    PluginRun(desk, "opencode").run(*opencode_turn(desk, "ses_1"), over, ["dispose"])
    assert kinds(desk)[5:-1] == ["pre-compact", "post-compaction", "session-start"]


def test_a_tool_of_opencode_that_fails_has_a_result(desk: Desk) -> None:
    call = {"tool": "read", "sessionID": "ses_1", "callID": "call_1"}
    part = {"type": "tool", "tool": "read", "callID": "call_1", "state": {"status": "error", "error": "no such file"}}
    failed = ["event", event("message.part.updated", "ses_1", part=part)]
    PluginRun(desk, "opencode").run(
        ["event", created(desk, "ses_1")], ["tool.execute.before", call, {"args": {"filePath": "a"}}], failed, failed
    )
    (after,) = [one for one in desk.events() if one["event"] == "post-tool-use"]
    assert (after["outcome"], after["output"]) == ("error", "no such file")


def test_a_turn_of_opencode_2_arrives_whole(desk: Desk) -> None:
    call = {"tool": "shell", "sessionID": "ses_1", "id": "call_1", "input": SHELL}
    elsewhere = {"type": "session.created", "data": {"sessionID": "ses_9"}, "location": {"directory": "/elsewhere"}}
    PluginRun(desk, "opencode2").run(
        ["stream", elsewhere],
        ["stream", {"type": "session.created", "data": {"sessionID": "ses_1"}}],
        ["session.prompt", {"sessionID": "ses_1", "prompt": {"text": "Round the bill"}}],
        ["tool.execute.before", call],
        [
            "tool.execute.after",
            call | {"status": "completed", "result": {"content": [{"type": "text", "text": "a.py"}]}},
        ],
        ["stream", {"type": "session.text.ended", "data": {"sessionID": "ses_1", "text": "Done."}}],
        ["stream", {"type": "session.compaction.started", "data": {"sessionID": "ses_1"}}],
        ["stream", {"type": "session.compaction.ended", "data": {"sessionID": "ses_1", "text": "What was asked"}}],
        ["stream", {"type": "session.execution.succeeded", "data": {"sessionID": "ses_1"}}],
        ["stream", {"type": "session.execution.succeeded", "data": {"sessionID": "ses_9"}}],
        ["unload"],
    )
    assert kinds(desk) == [
        *("session-start", "user-prompt", "pre-tool-use", "post-tool-use", "pre-compact", "post-compaction"),
        *("session-start", "stop", "session-end"),
    ]
    assert {one["session"] for one in desk.events()} == {"ses_1"}
    after = next(one for one in desk.events() if one["event"] == "post-tool-use")
    assert (after["output"], after["outcome"]) == ("a.py", "success")
    assert next(one for one in desk.events() if one["event"] == "post-compaction")["text"] == "What was asked"


def pi_turn() -> list[list[object]]:
    call = {"toolName": "bash", "toolCallId": "call_1", "input": SHELL}
    said = [{"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]
    return [
        ["session_start", {"reason": "startup"}],
        ["before_agent_start", {"prompt": "Round the bill"}],
        ["tool_call", call],
        ["tool_result", call | {"content": [{"type": "text", "text": "README.md\n"}], "isError": False}],
        ["agent_end", {"messages": said}],
    ]


@pytest.mark.parametrize("name", ["pi", "omp"])
def test_a_turn_of_pi_arrives_whole_and_its_shutdown_is_waited_for(desk: Desk, name: str) -> None:
    ran = PluginRun(desk, name).run(*pi_turn(), ["session_shutdown", {"reason": "quit"}], ["exit"])
    assert kinds(desk) == [
        *("session-start", "user-prompt", "pre-tool-use", "post-tool-use", "stop", "session-end"),
    ]
    assert {one["agent"] for one in desk.events()} == {name}
    assert ran[-1]["args"] == [{"reason": "quit"}], "the program left before the shutdown was told"
    after = next(one for one in desk.events() if one["event"] == "post-tool-use")
    assert (after["input"], after["output"], after["outcome"]) == (SHELL, "README.md\n", "success")


def test_pi_is_given_the_handoff_once_as_a_message_that_is_not_shown(desk: Desk) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    again = ["before_agent_start", {"prompt": "And now?"}]
    ran = PluginRun(desk, "pi").run(*pi_turn(), again, ["session_shutdown", {}])
    message = ran[1]["returned"]["message"]
    assert "order 4711" in message["content"]
    assert (message["customType"], message["display"]) == ("ai-memory", False)
    assert "returned" not in ran[5]


def test_where_nothing_waits_pi_is_given_nothing(desk: Desk) -> None:
    ran = PluginRun(desk, "pi").run(*pi_turn(), ["session_shutdown", {}])
    assert "returned" not in ran[1]


def test_a_reload_of_pis_extensions_ends_no_session_and_a_new_one_does(desk: Desk) -> None:
    reload = [["session_shutdown", {"reason": "reload"}], ["session_start", {"reason": "reload"}]]
    PluginRun(desk, "pi").run(*pi_turn(), *reload)
    assert kinds(desk).count("session-start") == 1
    assert kinds(desk)[-1] == "session-end", "told when the program ended"
    PluginRun(desk, "pi", session="pi-2").run(*pi_turn(), ["session_shutdown", {"reason": "new"}])
    assert [one["extra"]["reason"] for one in desk.events() if one["event"] == "session-end"] == ["exit", "new"]


def test_a_conversation_of_pi_that_the_command_line_resumed_is_resumed(desk: Desk) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    ran = PluginRun(desk, "pi", entries=[{"type": "message"}]).run(*pi_turn(), ["session_shutdown", {}])
    assert "returned" not in ran[1]


def test_a_turn_of_openclaw_arrives_whole_with_the_handoff_before_its_prompt(desk: Desk) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    at = {"sessionId": "s-1", "sessionKey": "agent:main:main", "workspaceDir": str(desk.checkout)}
    call = {"toolName": "exec", "toolCallId": "call_1", "params": SHELL}
    build = ["before_prompt_build", {"prompt": "x", "currentUserMessage": "Round the bill", "messages": []}, at]
    ran = PluginRun(desk, "openclaw").run(
        build,
        ["before_tool_call", call, at],
        ["after_tool_call", call | {"result": {"content": [{"type": "text", "text": "a.py"}]}}, at],
        ["agent_end", {"messages": [{"role": "assistant", "content": "Done."}]}, at],
        build,
        ["session_end", {"sessionId": "s-1", "reason": "restart"}, at],
        ["session_end", {"sessionId": "s-1", "reason": "new"}, at],
        ["session_end", {"sessionId": "s-1", "reason": "new"}, at],
    )
    assert "order 4711" in ran[0]["returned"]["prependContext"]
    assert "returned" not in ran[4]
    assert [kind for kind in kinds(desk) if kind != "handoff-claimed"] == [
        *("session-start", "user-prompt", "pre-tool-use", "post-tool-use", "stop", "user-prompt", "session-end"),
    ]
    assert desk.events()[0]["cwd"] == str(desk.checkout)


def test_a_subagent_and_a_heartbeat_of_openclaw_are_no_person(desk: Desk) -> None:
    leave_handoff(desk, "Handoff from Codex: the bill of order 4711")
    sub = {"sessionId": "s-2", "sessionKey": "agent:main:subagent:7", "workspaceDir": str(desk.checkout)}
    beat = {"sessionId": "s-3", "workspaceDir": "/nowhere", "trigger": "heartbeat"}
    ran = PluginRun(desk, "openclaw").run(
        ["before_prompt_build", {"prompt": "Look around", "messages": []}, sub],
        ["before_prompt_build", {"prompt": "Anything new?", "messages": []}, beat],
    )
    assert not any("returned" in one for one in ran)
    assert {one.get("agent_id") for one in desk.events() if one["session"] == "s-2"} == {"agent:main:subagent:7"}
    assert [one["event"] for one in desk.events() if one["session"] == "s-3"] == ["session-start", "session-end"]


def test_a_prompt_that_asks_for_a_reload_is_answered(desk: Desk) -> None:
    ask = ["before_agent_start", {"prompt": "reload context"}]
    ran = PluginRun(desk, "pi").run(*pi_turn(), ask, ["session_shutdown", {}])
    assert "Nothing to reload" in ran[5]["returned"]["message"]["content"]


def test_without_prompts_none_is_told(desk: Desk) -> None:
    run = PluginRun(desk, "pi")
    run.launch = launch_of(desk, capture_prompts=False)
    run.run(*pi_turn(), ["session_shutdown", {}])
    assert "user-prompt" not in kinds(desk)


def test_a_hook_that_hangs_delays_no_event_and_the_first_request_two_seconds(desk: Desk, tmp_path: Path) -> None:
    slow = tmp_path / "ai_memory"
    slow.mkdir()
    (slow / "hook.py").write_text(HANGING)
    run = PluginRun(desk, "pi", is_patient=False)
    run.launch = Launch(sys.executable, str(slow), str(desk.data), sys.platform)
    start, prompt, *rest = run.run(*pi_turn(), ["exit"])
    assert "returned" not in prompt
    assert 1900 < prompt["ms"] < 4900, "nothing waits until a hook is killed, which is after five seconds"
    assert max(one["ms"] for one in (start, *rest)) < 1000


def test_a_missing_interpreter_and_odd_arguments_harm_nobody(desk: Desk) -> None:
    run = PluginRun(desk, "opencode")
    run.launch = Launch("/no/such/python", "/no/such", str(desk.data), sys.platform)
    none: dict[str, object] = {"sessionID": "ses_1"}
    ran = run.run(
        *opencode_turn(desk, "ses_1"),
        ["event", {"event": {"type": "session.created"}}],
        ["event", {"event": {"type": "session.idle", "properties": None}}],
        ["chat.message", none, {}],
        ["tool.execute.after", none, None],
        ["experimental.chat.system.transform", {}, {"system": []}],
        ["dispose"],
    )
    assert len(ran) == 13
    assert desk.events() == []


def test_of_a_flood_prompts_and_lifecycle_stay_and_the_oldest_tools_go(desk: Desk) -> None:
    call = {"tool": "bash", "sessionID": "ses_1"}
    flood = [["tool.execute.before", call | {"callID": f"c{at}"}, {"args": SHELL}] for at in range(150)]
    ran = PluginRun(desk, "opencode").run(
        *opencode_turn(desk, "ses_1")[:2], *flood, ["event", event("session.idle", "ses_1")], *[["dispose"]] * 8
    )
    assert max(one["ms"] for one in ran[:-8]) < 1000
    calls = [one["call_id"] for one in desk.events() if one["event"] == "pre-tool-use"]
    assert {"user-prompt", "session-start", "stop", "session-end"} < set(kinds(desk))
    assert calls == sorted(calls, key=lambda one: int(one[1:])), "out of order"
    assert 90 <= len(calls) <= 105
    assert calls[-1] == "c149"


def test_pi_offers_the_tools_of_our_server_and_runs_them(desk: Desk, tmp_path: Path) -> None:
    data = tmp_path / "memory"
    written = ["write-page", "notes/till.md", "-b", "Round once, at the end.", "--project", "shop"]
    for words in (["init"], written):
        assert forked.run(["--data-dir", str(data), *words], cwd=desk.checkout).returncode == 0
    run = PluginRun(desk, "pi")
    run.launch = Launch(sys.executable, str(Path(plugin_files.__file__).parents[1]), str(data), sys.platform)
    desk.environ["PYTHONPATH"] = str(Path(plugin_files.__file__).parents[2])
    ask = ["use", "memory_read_page", {"path": "notes/till.md", "project": "shop"}]
    ran = run.run(*pi_turn()[:2], ["tools"], ask, ["session_shutdown", {}])
    names = [tool["name"] for tool in ran[2]["returned"]]
    assert "memory_query" in names
    assert "Round once" in ran[3]["returned"]["content"][0]["text"]
    assert ran[2]["returned"][0]["parameters"]["type"] == "object"


def test_every_plugin_is_known_as_ours_and_says_nothing_of_a_version(desk: Desk) -> None:
    for name in ("opencode", "pi", "omp", "openclaw"):
        text = plugin_text(name, launch_of(desk))
        assert plugin_files.is_our_plugin(text)
        assert str(desk.data) in text
        assert "0.1.0" not in text
