"""Whatever comes on stdin: the hook ends with 0, prints what its harness expects, and loses no more than it must."""

import io
import json
import os
import random
import string
import subprocess
import time
from pathlib import Path

import pytest
from hook_runs import DEAD_MOUNT, PYTHON, Desk

from ai_memory import hook_front


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"not json",
        b"[1,2]",
        b'"text"',
        b"null",
        b"\xff\xfe\xfd",
        b"\0\0\0",
        b'{"a":' * 30_000,
        b'{"a":' + b"9" * 10_000 + b"}",
        b'{"session_id":"s","prompt":"' + b"x" * 100,
    ],
)
def test_bad_json_spools_nothing_and_answers_the_empty_form(desk: Desk, raw: bytes) -> None:
    ran = desk.run("user-prompt", raw)
    assert (ran.code, ran.out, ran.err) == (0, b"{}", b"")
    assert desk.events() == []


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b""])
def test_a_byte_order_mark_is_accepted(desk: Desk, prefix: bytes) -> None:
    desk.run("user-prompt", prefix + json.dumps(desk.payload("UserPromptSubmit", prompt="ü")).encode())
    assert desk.event()["prompt"] == "ü"


def test_line_ends_inside_a_text_are_accepted(desk: Desk) -> None:
    written = json.dumps(desk.payload("UserPromptSubmit", prompt="one@two")).replace("@", "\n\t").encode()
    desk.run("user-prompt", written)
    assert desk.event()["prompt"] == "one\n\ttwo"


def test_utf_16_of_an_old_shell_is_accepted(desk: Desk) -> None:
    desk.run("user-prompt", json.dumps(desk.payload("UserPromptSubmit", prompt="ü")).encode("utf-16"))
    assert desk.event()["prompt"] == "ü"


def test_invalid_utf_8_nul_and_lone_surrogates_are_replaced(desk: Desk) -> None:
    head = json.dumps(desk.payload("UserPromptSubmit"))[:-1].encode()
    desk.run("user-prompt", head + b', "prompt": "a\xffb\\u0000c\\ud800d\\u001b[31me"}')
    assert desk.event()["prompt"] == "a\ufffdbc\ufffdde"


def test_hostile_names_in_a_payload_write_no_file_elsewhere(desk: Desk) -> None:
    before = set(desk.data.parent.rglob("*"))
    payload = desk.payload("SessionStart", session_id="../../../evil\0", cwd="/no/such\ud800")
    assert desk.run("session-start", payload).code == 0
    new = {path for path in desk.data.parent.rglob("*") if path not in before}
    assert all(path.relative_to(desk.data).parts[0] in ("spool", "locks") for path in new)


def test_fifty_megabytes_keep_their_metadata_in_bounded_memory(desk: Desk) -> None:
    whole = desk.payload("PostToolUse", tool_name="Bash", tool_input={"command": "cat big"}, tool_use_id="t1")
    head = json.dumps(whole)[:-1].encode()
    content = head + b', "tool_response": "' + b"x" * (50 << 20) + b'", "agent_id": "a7"}'
    words = ["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", *desk.words("post-tool-use")]
    done = subprocess.run(words, input=content, capture_output=True, env=desk.environ, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"{}")
    event = desk.event()
    assert event["flags"] == ["oversize", "subagent"]
    assert (event["session"], event["tool"], event["input"]) == ("s-1", "Bash", {"command": "cat big"})
    assert event["agent_id"] == "a7"
    assert "output" not in event


def test_a_name_inside_a_big_text_is_not_taken_for_a_member(desk: Desk) -> None:
    fake = json.dumps('", "session_id": "forged", "x": "')[1:-1].encode()
    content = b'{"prompt": "' + b"y" * (9 << 20) + fake + b'", "session_id": "real", "cwd": "/x"}'
    desk.run("user-prompt", content)
    assert desk.event()["session"] == "real"


def test_a_stdin_that_never_closes_is_waited_for_two_seconds(desk: Desk) -> None:
    started = time.monotonic()
    child = subprocess.Popen(desk.words("user-prompt"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=desk.environ)
    assert child.stdin and child.stdout
    child.stdin.write(json.dumps(desk.payload("UserPromptSubmit", prompt="whole")).encode())
    child.stdin.flush()
    assert child.wait(timeout=20) == 0
    assert time.monotonic() - started >= 2
    assert child.stdout.read() == b"{}"
    child.stdin.close()
    child.stdout.close()
    assert desk.event()["prompt"] == "whole"


@pytest.mark.parametrize(
    ("agent", "event", "empty"),
    [
        ("claude-code", "session-start", b"{}"),
        ("codex", "stop", b"{}"),
        ("kiro-cli", "session-start", b""),
        ("kimi-code", "stop", b""),
        ("antigravity-cli", "pre-tool-use", b'{"decision":"allow"}'),
        ("cline", "post-tool-use", b'{"cancel":false}'),
        ("never-heard-of", "stop", b"{}"),
    ],
)
def test_the_empty_form_is_that_of_the_harness(desk: Desk, agent: str, event: str, empty: bytes) -> None:
    assert desk.run(event, desk.payload("x"), agent=agent).out == empty
    assert desk.run(event, b"broken", agent=agent).out == empty
    assert desk.run(event, desk.payload("x"), agent=agent, environ={"AI_MEMORY_CAPTURE": "off"}).out == empty


def test_a_closed_stdout_is_no_fault(desk: Desk) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.Popen(desk.words("stop"), stdin=subprocess.PIPE, stdout=writer, env=desk.environ)
    os.close(writer)
    child.communicate(json.dumps(desk.payload("Stop")).encode(), timeout=30)
    assert child.returncode == 0
    assert desk.event()["event"] == "stop"


@pytest.mark.parametrize("words", [[], ["--event"], ["--event", "stop", "--unknown", "--data-dir"], ["x"] * 50])
def test_odd_words_are_no_fault(desk: Desk, words: list[str]) -> None:
    done = subprocess.run(
        [*desk.words("stop")[:4], *words], input=b"{}", capture_output=True, env=desk.environ, check=False, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


def test_without_a_data_dir_nothing_is_made(desk: Desk, tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.mkdir()
    for folder in (missing, empty):
        words = [*desk.words("session-start")]
        words[words.index("--data-dir") + 1] = str(folder)
        done = subprocess.run(
            words, input=json.dumps(desk.payload("x")).encode(), capture_output=True, env=desk.environ, check=False
        )
        assert (done.returncode, done.stdout) == (0, b"{}")
    assert not missing.exists()
    assert list(empty.iterdir()) == []


def test_the_default_data_dir_is_used_when_none_is_named(desk: Desk, scratch_home: Path) -> None:
    folder = scratch_home / ".local" / "share" / "ai-memory"
    (folder / "wiki").mkdir(parents=True)
    words = [word for word in desk.words("stop") if word not in ("--data-dir", str(desk.data))]
    subprocess.run(words, input=json.dumps(desk.payload("Stop")).encode(), env=desk.environ, check=True, timeout=30)
    assert len(list((folder / "spool").glob("*.json"))) == 1


def test_capture_off_reads_nothing_and_claims_nothing(desk: Desk) -> None:
    before = desk.files()
    for word in ("off", "0", "FALSE"):
        assert desk.run("session-start", desk.payload("x"), environ={"AI_MEMORY_CAPTURE": word}).out == b"{}"
    assert desk.files() == before


def test_an_unwritable_spool_costs_the_agent_nothing(desk: Desk) -> None:
    (desk.data / "spool").write_text("a file in its place")
    ran = desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="p"))
    assert (ran.code, ran.out, ran.err) == (0, b"{}", b"")


def test_a_deleted_working_directory_is_no_fault(desk: Desk, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    payload = {"session_id": "s", "hook_event_name": "Stop"}
    done = subprocess.run(
        ["sh", "-c", command, "sh", str(gone), *desk.words("stop")],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=desk.environ,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, b"{}")
    assert "cwd" not in desk.event()


def made(length: int, seed: int) -> str:
    pick = random.Random(seed)
    return "".join(pick.choice(string.ascii_letters + string.digits) for _ in range(length))


def test_private_parts_and_secrets_never_reach_the_disk(desk: Desk) -> None:
    token, word = f"ghp_{made(36, 1)}", made(12, 2)
    prompt = f"use {token} <private>my {word}</private> and password={word} <PRIVATE>rest {word}"
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt=prompt))
    given = {"command": f"curl -H 'Authorization: Bearer {made(30, 3)}' x", "env": {"api_key": made(32, 4)}}
    answer = {"stdout": f"token: {token}\n<private>{word}"}
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Bash", tool_input=given, tool_response=answer))
    spooled = json.dumps(desk.events())
    for secret in (token, word, made(30, 3), made(32, 4)):
        assert secret not in spooled
    assert desk.events()[0]["prompt"].startswith("use [REDACTED:github-token]  and password=[REDACTED:password]")


def test_a_secret_next_to_the_cut_is_not_split(desk: Desk) -> None:
    token = f"ghp_{made(36, 5)}"
    for place in (10_850, 10_900, 10_910, 10_920, 10_930):
        prompt = "a " * (place // 2) + token + " b" * 20_000
        desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt=prompt))
    for event in desk.events():
        assert not any(token[:end] in event["prompt"] for end in range(8, len(token)))
        assert "bytes cut" in event["prompt"]
        assert len(event["prompt"].encode()) <= 16 << 10
        assert event["flags"] == ["truncated"]


def test_a_long_text_keeps_head_and_tail(desk: Desk) -> None:
    text = "HEAD " + "é" * 200_000 + " TAIL"
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Bash", tool_input={}, tool_response=text))
    output = desk.event()["output"]
    assert output.startswith("HEAD ")
    assert output.endswith(" TAIL")
    assert len(output.encode()) <= 2048
    kept = output.replace(output[output.index("\n[…") : output.rindex("…]\n") + 3], "")
    cut = int("".join(sign for sign in output[output.index("[…") : output.index("bytes")] if sign.isdigit()))
    assert cut == len(text.encode()) - len(kept.encode())


def test_an_input_is_bounded_in_size_depth_and_members(desk: Desk) -> None:
    deep: object = "x"
    for _ in range(50):
        deep = {"d": deep}
    given = {"file_path": "/a.py", "content": "x" * 100_000, "many": list(range(5000)), "deep": deep, "n": 1e999}
    desk.run("pre-tool-use", desk.payload("PreToolUse", tool_name="Write", tool_input=given))
    event = desk.event()
    assert event["input"]["file_path"] == "/a.py"
    assert len(json.dumps(event)) < 20_000


def test_what_memory_injected_is_not_captured_again(desk: Desk) -> None:
    fence = "<!-- ai-memory:untrusted-history:start -->\nold\n<!-- ai-memory:untrusted-history:end -->"
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt=f"before {fence} after"))
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Read", tool_input={}, tool_response=f"x {fence}"))
    prompt, output = desk.events()
    assert prompt["prompt"] == "before  after"
    assert "output" not in output
    assert prompt["flags"] == output["flags"] == ["injected"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__ai-memory__memory_query", {"query": "totals", "body": "SECRET PLAN"}),
        ("mcp__ai_memory__memory_read_page", {"path": "notes/a.md"}),
        ("ai-memory_memory_query", {"query": "totals", "body": "SECRET PLAN"}),
        ("mcp_ai-memory_memory_query", {"query": "totals", "body": "SECRET PLAN"}),
        ("memory_query", {"query": "q"}),
        ("MCP:memory_status", {}),
        ("Bash", {"command": "ai-memory search totals"}),
        ("Bash", {"command": "cd x && /usr/bin/ai-memory read-page notes/a.md"}),
        ("exec_command", {"command": ["bash", "-lc", "python3 -m ai_memory recent"]}),
        ("Read", {"file_path": "{data}/wiki/default/shop/notes/a.md"}),
        ("Bash", {"command": "cat {data}/wiki/default/shop/a.md"}),
    ],
)
def test_results_of_memory_itself_are_never_stored(desk: Desk, tool: str, given: dict[str, object]) -> None:
    filled = json.loads(json.dumps(given).replace("{data}", str(desk.data)))
    desk.run(
        "post-tool-use", desk.payload("PostToolUse", tool_name=tool, tool_input=filled, tool_response="REMEMBERED")
    )
    event = desk.event()
    assert "REMEMBERED" not in json.dumps(event)
    assert "SECRET PLAN" not in json.dumps(event)
    assert event["flags"] == ["self-echo"]
    for key in ("query", "path"):
        if key in filled:
            assert event["input"][key] == filled[key]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "git commit -m 'mention ai-memory-like things'"}),
        ("Read", {"file_path": "/home/ann/ai-memory-notes/a.md"}),
        ("remember_memory", {}),
    ],
)
def test_what_only_sounds_like_memory_is_stored(desk: Desk, tool: str, given: dict[str, object]) -> None:
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name=tool, tool_input=given, tool_response="output"))
    assert desk.event()["output"] == "output"


def test_a_line_of_a_batch_from_a_dead_mount_is_kept_with_its_raw_folder_and_hinders_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_memory import hook_batch, hook_call

    real = hook_call.Call.policy

    def silent(call: hook_call.Call) -> object:
        if call.cwd.startswith("/dead"):
            time.sleep(30)
        return real(call)

    monkeypatch.setattr(hook_call, "LOOK_S", 0.2)
    monkeypatch.setattr(hook_call.Call, "policy", silent)
    asked: list[tuple[str, ...]] = []
    made = hook_batch.Batch(
        hook_call.Options(["--batch", "--data-dir", str(desk.data)]), lambda *told: asked.append(told)
    )
    lines = [
        {"event": "user-prompt", "agent": "other", "session_id": "s-1", "prompt": "one", "cwd": folder}
        for folder in ("/dead/shop", str(desk.checkout))
    ]
    made.run(io.BytesIO("".join(f"{json.dumps(line)}\n" for line in lines).encode()))
    kept = {event["cwd"]: event.get("flags", []) for event in desk.events()}
    assert "cwd-silent" in kept["/dead/shop"]
    assert "cwd-silent" not in kept[str(desk.checkout)]
    assert not [told for told in asked if "/dead" in str(told)]


def test_a_folder_on_a_dead_mount_costs_a_second_and_the_event_keeps_its_raw_folder(desk: Desk) -> None:
    root = Path(hook_front.__file__).parents[1]
    words = [*PYTHON, "-c", DEAD_MOUNT, str(root), "--data-dir", str(desk.data), "--agent", "claude-code"]
    payload = desk.payload("PostToolUse", cwd="/dead/shop", tool_name="Read", tool_input={"file_path": "/dead/shop/a"})
    begun = time.monotonic()
    done = subprocess.run(
        [*words, "--event", "post-tool-use"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=desk.environ,
        timeout=25,
        check=True,
    )
    assert time.monotonic() - begun < 20  # the mount would take 30 s for each look
    assert (done.stdout, done.stderr) == (b"{}", b"")
    event = desk.event()
    assert event["cwd"] == "/dead/shop"
    assert {"cwd-silent", "metadata-only", "policy-unknown"} <= set(event["flags"])
    assert not {"input", "output"} & set(event)
