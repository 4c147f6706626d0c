"""The front door over raw pipes: what it answers alone, what it survives, and that it always ends."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bridge_trial
import forked
import pytest
from bridge_client import TRIAL, WORDS, RawClient, initialize, is_alive, wait_until
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

FRONT_MODULES = {
    "ai_memory",
    "ai_memory.bridge",
    "ai_memory.bridge.desk",
    "ai_memory.bridge.front",
    "ai_memory.bridge.options",
    "ai_memory.bridge.wire",
}
HEAVY = {
    "typing",
    "dataclasses",
    "inspect",
    "pathlib",
    "subprocess",
    "asyncio",
    "argparse",
    "logging",
    "pydantic",
    "mcp",
}
ENDS_WITHIN_S = 1.0


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    with RawClient.forked(["--data-dir", str(tmp_path / "data")], cwd=tmp_path) as client:
        yield client


@pytest.fixture
def beginning(tmp_path: Path) -> Iterator[RawClient]:
    """One that has yet to import the SDK."""
    with RawClient([*TRIAL, "--data-dir", str(tmp_path / "data")], cwd=tmp_path) as client:
        yield client


def started_call(client: RawClient, folder: Path, request_id: Any = "slow") -> Path:
    """Starts a call that runs until the returned file appears."""
    until, started = folder / f"until-{request_id}", folder / f"started-{request_id}"
    arguments = {"until": str(until), "started": str(started)}
    client.ask(request_id, "tools/call", {"name": "trial_waits", "arguments": arguments})
    wait_until(started.exists)
    return until


def test_the_front_door_imports_the_standard_library_and_little_of_it() -> None:
    code = "import sys, ai_memory.bridge.front; print('\\n'.join(sys.modules))"
    told = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=_bare())
    modules = set(told.stdout.split())
    assert {name for name in modules if name.startswith("ai_memory")} == FRONT_MODULES
    assert not {name.partition(".")[0] for name in modules} & HEAVY
    roots = {name.partition(".")[0] for name in modules} - {"ai_memory", "__main__"}
    assert roots <= {*sys.stdlib_module_names, "__mp_main__", "zipimport"}


def _bare() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_a_known_protocol_version_is_echoed(client: RawClient, version: str) -> None:
    result = client.greet(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "ai-memory"


def test_an_unknown_protocol_version_gets_the_latest_that_the_sdk_knows(client: RawClient) -> None:
    assert client.greet("1999-01-01")["protocolVersion"] == LATEST_HANDSHAKE_VERSION
    assert client.request(1, "tools/list")["result"]["tools"]


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_the_front_door_answers_as_the_sdk_would(tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "memory_query,memory_read_page,memory_write_page,memory_delete_page,memory_recent,memory_status"
    told = []
    for plain in ("", "1"):
        monkeypatch.setenv("BRIDGE_TRIAL_PLAIN", plain)
        with RawClient.forked(["--data-dir", str(tmp_path / "data"), "--profile", names], cwd=tmp_path) as client:
            greeting = client.greet(version)
            told.append([greeting, client.request(1, "tools/list"), client.request(2, "ping")])
    assert told[0] == told[1]


def test_a_client_of_the_newer_protocol_is_served_by_the_sdk(client: RawClient) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    assert LATEST_MODERN_VERSION in client.request(1, "server/discover", {"_meta": meta})["result"]["supportedVersions"]
    assert client.request(2, "tools/list", {"_meta": meta})["result"]["tools"]
    call = {"_meta": meta, "name": "trial_caller", "arguments": {}}
    assert "face=bridge" in client.request(3, "tools/call", call)["result"]["content"][0]["text"]


def test_tools_are_listed_before_the_sdk_is_there_and_a_call_waits_for_it(beginning: RawClient) -> None:
    beginning.ask("a", "initialize", initialize())
    beginning.notify("notifications/initialized")
    beginning.ask("b", "tools/list")
    beginning.ask("c", "tools/call", {"name": "trial_caller", "arguments": {}})
    beginning.ask("d", "ping")
    beginning.answer_to("a")
    beginning.answer_to("b")
    beginning.answer_to("d")
    assert not [message for message in beginning.unread() if message.get("id") == "c"]
    assert "face=bridge" in beginning.answer_to("c")["result"]["content"][0]["text"]
    assert beginning.unread() == []


def test_the_answer_to_the_replayed_greeting_stays_inside(beginning: RawClient) -> None:
    beginning.greet()
    beginning.call(1, "trial_caller")
    assert beginning.unread() == []


def test_a_second_greeting_is_answered_again(client: RawClient) -> None:
    client.greet()
    client.call(1, "trial_caller")
    assert client.greet("2025-11-25")["protocolVersion"] == "2025-11-25"
    client.call(2, "trial_caller")
    assert client.unread() == []


def test_a_client_with_capabilities_that_nobody_can_read_can_still_call(client: RawClient) -> None:
    client.greet(roots="all of them", sampling=7)
    assert "face=bridge" in client.call(1, "trial_caller")["content"][0]["text"]
    assert client.unread() == []


def test_a_greeting_that_is_no_greeting_is_refused_by_the_sdk(client: RawClient) -> None:
    assert client.request(1, "initialize", {"protocolVersion": "2025-06-18"})["error"]["code"] == -32602


def test_an_unknown_method_is_named_as_such(client: RawClient) -> None:
    client.greet()
    error = client.request(1, "no/such")["error"]
    assert (error["code"], error["data"]) == (-32601, "no/such")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json", -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600),
        (b"17", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","method":5}', -32600),
        (b"{}", -32600),
    ],
)
def test_a_line_that_is_no_message_is_refused_and_survived(client: RawClient, line: bytes, code: int) -> None:
    client.greet()
    client.send(line)
    assert client.answer_to(None)["error"]["code"] == code
    assert client.request(1, "ping")["result"] == {}


def test_a_request_that_only_the_sdk_cannot_read_is_answered_too(client: RawClient) -> None:
    client.greet()
    client.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"trial_caller","x":"\\ud800"}}')
    assert client.answer_to(1)["error"]["code"] == -32600
    client.send(b'{"id":2,"method":"tools/call","params":{"name":"trial_caller"}}')
    assert client.answer_to(2)["error"]["code"] == -32600
    client.call(3, "trial_caller")


def test_blank_lines_unknown_notifications_and_stray_answers_are_ignored(client: RawClient) -> None:
    client.greet()
    client.send(b"")
    client.send(b"  \r")
    client.notify("notifications/no-such")
    client.notify("notifications/cancelled", {"requestId": 999})
    client.send({"jsonrpc": "2.0", "id": 55, "result": {}})
    client.call(1, "trial_caller")
    assert client.unread() == []


def test_three_megabytes_in_one_line_are_read(client: RawClient) -> None:
    client.greet()
    assert client.request(1, "ping", {"_meta": {"pad": "x" * 3_000_000}})["result"] == {}
    told = client.call(2, "trial_fails", path="y" * 3_000_000)
    assert told["isError"]


def test_nothing_that_a_tool_prints_reaches_the_client(beginning: RawClient) -> None:
    beginning.greet()
    assert beginning.call(1, "trial_noisy")["content"][0]["text"].startswith("quiet")
    beginning.process.stdin.close()
    beginning.seconds_to_end()
    wait_until(lambda: b"stray child" in beginning.stderr)
    assert beginning.noise == []
    for kind in (b"text", b"print", b"bytes"):
        assert b"stray " + kind in beginning.stderr


def test_calls_run_side_by_side(client: RawClient, tmp_path: Path) -> None:
    client.greet()
    files = [started_call(client, tmp_path, number) for number in range(6)]
    for number, file in reversed(list(enumerate(files))):
        file.touch()
        assert f"saw until-{number}" in client.answer_to(number)["result"]["content"][0]["text"]


def test_a_cancelled_call_is_not_answered_and_holds_up_nothing(client: RawClient, tmp_path: Path) -> None:
    client.greet()
    until = started_call(client, tmp_path)
    client.notify("notifications/cancelled", {"requestId": "slow"})
    client.call(1, "trial_caller")
    until.touch()
    wait_until(Path(f"{until}.seen").exists)
    client.call(2, "trial_caller")
    assert client.unread() == []


def test_a_call_that_was_cancelled_before_the_sdk_was_there_never_starts(beginning: RawClient, tmp_path: Path) -> None:
    started = tmp_path / "started"
    arguments = {"until": str(tmp_path / "never"), "started": str(started)}
    slow = {"id": "slow", "method": "tools/call", "params": {"name": "trial_waits", "arguments": arguments}}
    messages = [
        {"id": "hello", "method": "initialize", "params": initialize()},
        slow,
        {"method": "notifications/cancelled", "params": {"requestId": "slow"}},
    ]
    # In one write: on a busy machine the SDK could else be there between the call and its cancellation.
    beginning.send(b"\n".join(json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages))
    beginning.call(1, "trial_caller")
    assert not started.exists()


def test_the_bridge_ends_when_its_input_does(client: RawClient) -> None:
    client.greet()
    client.call(1, "trial_caller")
    client.process.stdin.close()
    assert client.seconds_to_end() < ENDS_WITHIN_S
    assert client.process.returncode == 0


def test_the_bridge_ends_when_its_input_does_before_the_sdk_is_there(beginning: RawClient) -> None:
    beginning.request(1, "initialize", initialize())
    beginning.process.stdin.close()
    assert beginning.seconds_to_end() < ENDS_WITHIN_S


@pytest.mark.parametrize("plain", ["", "1"])
def test_calls_that_came_whole_are_answered_though_the_input_ends_at_once(
    tmp_path: Path, plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `printf … | ai-memory mcp-bridge` does it: all is read before the SDK is imported."""
    monkeypatch.setenv("BRIDGE_TRIAL_PLAIN", plain)
    calls = [("memory_query", {"query": "retry"}), ("memory_status", {}), ("trial_caller", {})]
    messages: list[dict[str, Any]] = [
        {"id": "hello", "method": "initialize", "params": initialize()},
        {"method": "notifications/initialized"},
        *(
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ),
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    command = [*TRIAL, "--data-dir", str(tmp_path / "data")]
    monkeypatch.setenv("BRIDGE_TRIAL_GRACE_S", "60")
    done = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert set(answers) == {"hello", 0, 1, 2}
    assert all("result" in answer for answer in answers.values()), answers


def test_a_call_that_goes_on_after_the_input_ended_is_answered_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_TRIAL_GRACE_S", "0.3")
    with RawClient.forked(["--data-dir", str(tmp_path / "data")], cwd=tmp_path) as client:
        client.greet()
        for request_id in ("slow", 7):
            started_call(client, tmp_path, request_id)
        client.process.stdin.close()
        assert client.seconds_to_end() < 0.3 + ENDS_WITHIN_S
        for request_id in ("slow", 7):
            assert client.answer_to(request_id)["error"]["code"] == -32000
        assert client.process.returncode == 0


def test_the_bridge_ends_when_told_to_while_it_waits_for_the_last_call(client: RawClient, tmp_path: Path) -> None:
    client.greet()
    started_call(client, tmp_path)
    client.process.stdin.close()
    threading.Event().wait(0.1)
    client.process.send_signal(signal.SIGTERM)
    assert client.seconds_to_end() < ENDS_WITHIN_S
    assert client.process.returncode == 128 + signal.SIGTERM


def test_a_call_that_ends_soon_is_answered_after_the_input_ended(client: RawClient, tmp_path: Path) -> None:
    client.greet()
    until = started_call(client, tmp_path)
    client.process.stdin.close()
    until.touch()
    assert "saw until" in client.answer_to("slow")["result"]["content"][0]["text"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_bridge_ends_when_told_to_while_a_call_runs(client: RawClient, tmp_path: Path, number: int) -> None:
    client.greet()
    started_call(client, tmp_path)
    client.process.send_signal(number)
    assert client.seconds_to_end() < ENDS_WITHIN_S
    assert client.process.returncode == 128 + number


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads process states from /proc")
def test_the_bridge_ends_with_its_parent_though_its_input_stays_open(tmp_path: Path) -> None:
    """The write end of its stdin lives on in this process, as it does in a client's other children."""
    reading, writing = os.pipe()
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True)\n"
        "time.sleep(600)"
    )
    command = [*TRIAL, "--data-dir", str(tmp_path / "data")]
    with subprocess.Popen([sys.executable, "-c", code, *command], stdin=reading, stdout=subprocess.PIPE) as parent:
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()}
        os.write(writing, json.dumps(message).encode() + b"\n")
        bridge = int(parent.stdout.readline())
        assert is_alive(bridge)
        parent.kill()
    wait_until(lambda: not is_alive(bridge), timeout_s=5)
    os.close(reading)
    os.close(writing)


def test_the_bridge_ends_when_nobody_reads_its_answers(tmp_path: Path) -> None:
    process = subprocess.Popen([*TRIAL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.wait(10) == 0
    process.stdin.close()


def test_starting_the_bridge_creates_no_data_dir(client: RawClient, tmp_path: Path) -> None:
    client.greet()
    client.request(1, "tools/list")
    client.call(2, "trial_caller")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("profile", "has_delete"), [("core", False), ("full", True), ("memory_query, memory_delete_page", True)]
)
def test_a_profile_selects_the_tools(tmp_path: Path, profile: str, has_delete: bool) -> None:
    with RawClient.forked([f"--profile={profile}"], cwd=tmp_path) as client:
        client.greet()
        names = [tool["name"] for tool in client.request(1, "tools/list")["result"]["tools"]]
        assert "memory_query" in names
        assert ("memory_delete_page" in names) == has_delete
        hidden = client.call(2, "memory_delete_page") if not has_delete else client.call(2, "no_such_tool")
        assert hidden["isError"]
        assert "memory_query" in hidden["content"][0]["text"]


@pytest.mark.parametrize(
    "words", [["--profile", "no_such"], ["--port", "80"], ["--data-dir"], ["--project="], ["serve"]]
)
def test_a_wrong_command_line_ends_with_two_and_one_line(tmp_path: Path, words: list[str]) -> None:
    told = forked.run([*WORDS, *words], cwd=tmp_path, main=bridge_trial.main)
    assert told.returncode == 2
    assert told.stdout == ""
    assert len(told.stderr.splitlines()) == 1


def test_help_is_shown_without_serving() -> None:
    told = subprocess.run([*TRIAL, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert told.returncode == 0
    assert "--profile" in told.stdout


@pytest.mark.parametrize("capability", [{}, {"listChanged": True}])
def test_the_client_is_asked_for_its_roots_once_and_again_when_they_change(
    client: RawClient, capability: dict[str, bool]
) -> None:
    client.greet(roots=capability)
    assert _call_and_answer_roots(client, 1, ["file:///srv/a%20b", "file:///srv/c"]).endswith("b,file:///srv/c")
    assert "roots=file:///srv/a%20b," in client.call(2, "trial_caller")["content"][0]["text"]
    client.notify("notifications/roots/list_changed")
    assert _call_and_answer_roots(client, 3, ["file:///srv/d"]).endswith("roots=file:///srv/d")
    assert client.unread() == []


def _call_and_answer_roots(client: RawClient, request_id: int, uris: list[str]) -> str:
    client.ask(request_id, "tools/call", {"name": "trial_caller", "arguments": {}})
    question = client.message(lambda message: message.get("method") == "roots/list")
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": uri} for uri in uris]}})
    return client.answer_to(request_id)["result"]["content"][0]["text"].partition(" data_dir=")[0]


def test_a_client_that_refuses_to_tell_its_roots_is_served_without(client: RawClient) -> None:
    client.greet(roots={})
    client.ask(1, "tools/call", {"name": "trial_caller", "arguments": {}})
    question = client.message(lambda message: message.get("method") == "roots/list")
    client.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}})
    assert "roots= " in client.answer_to(1)["result"]["content"][0]["text"]


def test_a_bug_tells_the_model_no_detail_and_the_log_all(client: RawClient) -> None:
    client.greet()
    told = client.call(1, "trial_fails")
    assert told["isError"]
    assert "error internal" in told["content"][0]["text"]
    assert "secret detail" not in told["content"][0]["text"]
    wait_until(lambda: b"secret detail" in client.stderr)


def test_a_fault_names_no_path_outside_the_data_dir(client: RawClient, tmp_path: Path) -> None:
    """But what the call itself names is told as it was given."""
    client.greet()
    outside = client.call(1, "trial_fails", path="the file /home/someone/private/x.md")["content"][0]["text"]
    assert "someone" not in outside
    assert "x.md" in outside
    named = client.call(2, "trial_fails", path="/home/someone/private/x.md")["content"][0]["text"]
    assert "/home/someone/private/x.md" in named
    inside = client.call(3, "trial_fails", path=f"the file {tmp_path}/data/wiki/default/x.md")["content"][0]["text"]
    assert str(tmp_path) not in inside
    assert "wiki/default/x.md" in inside


NESTED = '{"a":' * 20_000 + "1" + "}" * 20_000


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{NESTED}}}', 7, -32600),
        (f'{{"jsonrpc":"2.0","params":{NESTED}, "id" : "a\\"{{b","method":"tools/call"}}', 'a"{b', -32600),
        (f'{{"params":{{"id":3,"b":{NESTED}}},"method":"x"}}', None, -32700),
        (f'{{"method":"id","id":1.5,"params":{NESTED}}}', None, -32700),
        ('{"id":7,"method":', None, -32700),
    ],
    ids=["first", "last", "only inside", "no id that JSON-RPC knows", "cut off"],
)
def test_a_message_nested_too_deeply_is_answered_under_its_id(
    client: RawClient, line: str, request_id: Any, code: int
) -> None:
    client.greet()
    client.send(line.encode())
    answer = client.answer_to(request_id)
    assert answer["error"]["code"] == code
    assert client.request(8, "ping")["result"] == {}
