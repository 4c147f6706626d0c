"""What a starting session is given, and to whom a handoff goes."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from posts import ID, NEWER, Post

from ai_memory.capture.spooled import session_uuid
from ai_memory.store.outbox import Provisional


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    post = Post(tmp_path)
    yield post
    post.close()


def test_a_start_is_given_the_handoff_and_says_so_afterwards(post: Post) -> None:
    post.put(text="Handoff – “text”")
    answer = json.loads(post.start())
    shown = {"hookEventName": "SessionStart", "additionalContext": "Handoff – “text”"}
    assert answer == {"systemMessage": "memory: handoff", "hookSpecificOutput": shown}
    assert not post.is_open
    assert [(claim.handoff, claim.session) for claim in post.outbox.claims()] == [
        (ID, session_uuid("claude-code", "new"))
    ]
    first, second = post.events()
    assert first["event"] == "session-start"
    assert (second["event"], second["text"], second["session"]) == ("handoff-claimed", ID, "new")


@pytest.mark.parametrize(
    ("agent", "event", "answer"),
    [
        ("devin", "session-start", {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "T"}}),
        ("cursor", "session-start", {"additional_context": "T"}),
        ("copilot-cli", "session-start", {"additionalContext": "T"}),
        ("antigravity-cli", "session-start", {"injectSteps": [{"ephemeralMessage": "T"}]}),
        ("hermes", "user-prompt", {"context": "T"}),
        ("grok", "post-tool-use", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "T"}}),
        ("kiro-cli", "session-start", "T"),
        ("kimi-code", "user-prompt", "T"),
        ("opencode", "session-start", {"context": "T"}),
        ("pi", "session-start", {"context": "T"}),
    ],
)
def test_the_form_is_that_of_the_harness(post: Post, agent: str, event: str, answer: object) -> None:
    post.put(text="T")
    out = post.run(event, post.payload("x", prompt="p", tool_name="t"), agent=agent).out
    assert (out.decode() if isinstance(answer, str) else json.loads(out)) == answer
    assert post.run(event, post.payload("x", prompt="p", tool_name="t"), agent=agent).out in (b"{}", b"")


@pytest.mark.parametrize("agent", ["crush", "zero", "pool", "other", "grok", "kimi-code", "hermes"])
def test_who_takes_no_context_at_its_start_claims_nothing(post: Post, agent: str) -> None:
    post.put()
    assert post.start(agent=agent) in (b"{}", b"")
    assert post.is_open


def test_qwen_code_run_with_a_prompt_tells_no_start_and_is_given_the_handoff_with_its_prompt(post: Post) -> None:
    post.put(text="T")
    ask = post.payload("UserPromptSubmit", prompt="Go on")
    given = {"hookEventName": "UserPromptSubmit", "additionalContext": "T"}
    answer = json.loads(post.run("user-prompt", ask, agent="qwen-code").out)
    assert answer == {"systemMessage": "memory: handoff", "hookSpecificOutput": given}
    assert post.run("user-prompt", ask, agent="qwen-code").out == b"{}"


def test_a_prompt_of_qwen_code_after_its_start_takes_nothing(post: Post) -> None:
    assert post.start("s-1", agent="qwen-code") == b"{}"
    post.put(text="T")
    assert post.run("user-prompt", post.payload("UserPromptSubmit", prompt="Go on"), agent="qwen-code").out == b"{}"
    assert post.is_open


def test_what_qwen_code_calls_a_prompt_after_a_tool_is_none(post: Post) -> None:
    post.run("user-prompt", post.payload("UserPromptSubmit", prompt=""), agent="qwen-code")
    assert post.events() == []


def test_the_form_follows_who_really_called(post: Post) -> None:
    post.put(text="T")
    payload = {"conversation_id": "c", "cursor_version": "2", "workspace_roots": [str(post.checkout)]}
    assert json.loads(post.run("session-start", payload, agent="claude-code").out) == {"additional_context": "T"}


@pytest.mark.parametrize(
    "more", [{"source": "compact"}, {"source": "resume"}, {"agent_id": "sub-1"}], ids=["compact", "resume", "subagent"]
)
def test_compact_resume_and_subagents_never_claim(post: Post, more: dict[str, object]) -> None:
    post.put()
    assert post.start(**more) == b"{}"
    assert post.is_open


def test_a_second_start_hook_of_one_session_prints_the_empty_form(post: Post) -> None:
    post.put(ID)
    post.put(NEWER)
    assert post.start() != b"{}"
    assert post.start() == b"{}"
    assert post.is_open


def test_the_newest_handoff_goes_first(post: Post) -> None:
    post.put(ID, text="older")
    post.put(NEWER, text="newer")
    assert b"newer" in post.start("one")
    assert b"older" in post.start("two")


def test_what_was_left_on_purpose_goes_before_what_is_newer(post: Post) -> None:
    post.put(ID, text="on purpose", mark="manual")
    post.put(NEWER, text="newer")
    assert b"on purpose" in post.start("one")
    assert b"newer" in post.start("two")


def test_a_handoff_for_a_folder_reaches_what_lies_below_it_and_nothing_beside(post: Post) -> None:
    below = post.checkout / "src" / "deep"
    beside = post.checkout.parent / "shop-two"
    for folder in (below, beside):
        folder.mkdir(parents=True)
    post.put(ID, post.checkout)
    assert post.start("beside", cwd=str(beside)) == b"{}"
    assert post.start("parent", cwd=str(post.checkout.parent)) == b"{}"
    assert b"Handoff" in post.start("below", cwd=str(below))


def test_a_worktree_is_given_what_is_entered_for_the_common_git_directory(post: Post, tmp_path: Path) -> None:
    tree = tmp_path / "elsewhere" / "tree"
    git_dir = post.checkout / ".git" / "worktrees" / "tree"
    git_dir.mkdir(parents=True)
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {git_dir}\n")
    (git_dir / "commondir").write_text("../..\n")
    post.put(ID, post.checkout / ".git")
    assert b"Handoff" in post.start(cwd=str(tree))


def test_a_symlinked_folder_is_the_folder(post: Post, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(post.checkout)
    post.put()
    assert b"Handoff" in post.start(cwd=str(tmp_path / "link"))


def test_twenty_starts_at_once_have_one_winner(post: Post) -> None:
    post.put()
    answers: list[bytes] = []

    def run(number: int) -> None:
        payload = post.payload("SessionStart", session_id=f"racer-{number}", source="startup")
        answers.append(post.run_alone("session-start", payload).out)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(b"Handoff text" in answer for answer in answers) == 1
    assert sum(answer == b"{}" for answer in answers) == 19
    assert [event["event"] for event in post.events()].count("handoff-claimed") == 1


def test_nothing_is_confirmed_when_the_answer_reached_nobody(post: Post) -> None:
    post.put()
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.Popen(post.words("session-start"), stdin=subprocess.PIPE, stdout=writer, env=post.environ)
    os.close(writer)
    child.communicate(json.dumps(post.payload("SessionStart")).encode(), timeout=30)
    assert child.returncode == 0
    assert [event["event"] for event in post.events()] == ["session-start"]


def spool_end(post: Post, event: str = "session-end", cwd: Path | None = None) -> Path:
    content = {"v": 1, "agent": "codex", "event": event, "session": "old", "cwd": str(cwd or post.checkout)}
    (post.data / "spool").mkdir(exist_ok=True)
    path = post.data / "spool" / f"{time.time_ns():019d}-1-00000000.json"
    path.write_text(json.dumps(content, separators=(",", ":")))
    return path


@pytest.mark.parametrize("event", ["session-end", "stop"])
def test_a_quick_switch_waits_for_the_handoff_that_is_on_its_way(post: Post, event: str) -> None:
    waiting = spool_end(post, event)
    post.put(ID, text="stale")
    post.keep_drain_away()

    def deliver() -> None:
        deadline = time.monotonic() + 20
        while len(post.events()) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        post.put(NEWER, text="fresh")
        waiting.unlink()

    thread = threading.Thread(target=deliver)
    thread.start()
    out = post.start()
    thread.join()
    assert b"fresh" in out


def test_a_drain_at_work_is_waited_for(post: Post) -> None:
    post.keep_drain_away()

    def deliver() -> None:
        deadline = time.monotonic() + 20
        while not post.events() and time.monotonic() < deadline:
            time.sleep(0.01)
        post.put(ID, text="fresh")

    thread = threading.Thread(target=deliver)
    thread.start()
    out = post.start()
    thread.join()
    assert b"fresh" in out


def test_the_wait_ends_after_a_second_and_a_half(post: Post) -> None:
    spool_end(post)
    post.keep_drain_away()
    started = time.monotonic()
    assert post.start() == b"{}"
    assert 1.4 < time.monotonic() - started < 6


def test_nothing_is_waited_for_when_nothing_is_on_its_way(post: Post) -> None:
    spool_end(post, cwd=post.checkout.parent / "other")
    (post.data / "spool" / ".full").touch()
    code = (
        "import sys;sys.path.append(sys.argv.pop(1));import time;time.sleep=lambda s:sys.exit(9);"
        "from ai_memory import hook_spool;hook_spool._start=lambda d:None;"
        "from ai_memory.hook_front import main;main(sys.argv[1:])"
    )
    words = post.words("session-start")
    root = str(Path(words[3]).parent.parent)
    done = subprocess.run(
        [*words[:3], "-c", code, root, *words[4:]],
        input=json.dumps(post.payload("SessionStart")).encode(),
        capture_output=True,
        env=post.environ,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, b"{}")


@pytest.mark.parametrize(
    ("process", "age_s", "is_given"),
    [(os.getpid(), 0, False), (0, 0, False), (os.getpid() + 1, 601, True), (0, 601, True), (4_190_000, 0, True)]
    + [((5 << 32) + 4_190_000, age_s, age_s > 600) for age_s in (0, 601)],
    ids=["at work", "unknown and fresh", "silent", "unknown and silent", "process gone", "elsewhere", "silent there"],
)
def test_a_provisional_handoff_is_given_only_when_its_session_is_gone_or_silent(
    post: Post, process: int, age_s: int, is_given: bool
) -> None:
    name = Provisional(ID, process).name
    post.put(ID, name=name)
    at = time.time() - age_s
    os.utime(post.data / "outbox" / name, (at, at))
    assert (b"Handoff text" in post.start()) == is_given
    assert bool(post.outbox.claims()) == is_given


def test_clear_never_gets_its_own_handoff_but_that_of_another(post: Post) -> None:
    post.start("before")
    post.put(mark=f"auto {session_uuid('claude-code', 'before')}")
    assert post.start("after", source="clear") == b"{}"
    assert post.is_open
    post.put(mark="auto 00000000-0000-4000-8000-000000000000")
    assert b"Handoff" in post.start("after that", source="clear")


@pytest.mark.parametrize("origin", ["auto", "manual"])
@pytest.mark.parametrize(("agent", "event"), [("claude-code", "session-start"), ("kimi-code", "user-prompt")])
def test_no_session_is_given_what_it_left_itself(post: Post, agent: str, event: str, origin: str) -> None:
    post.put(mark=f"{origin} {session_uuid(agent, 'mine')}")

    out = post.run(event, post.payload("x", session_id="mine", source="startup", prompt="p"), agent=agent).out
    assert out in (b"{}", b"")
    assert post.is_open
    assert b"Handoff" in post.start("another's", agent="codex")


def test_what_a_session_left_itself_is_no_open_handoff_of_a_reload(post: Post) -> None:
    post.put(mark=f"auto {session_uuid('claude-code', 's-1')}")
    told = post.run("user-prompt", post.payload("x", prompt="reload context")).context
    assert told.startswith("Nothing to reload")


@pytest.mark.parametrize("source", ["resume", "compact", "clear"])
def test_a_start_that_takes_nothing_holds_for_a_harness_that_is_given_context_with_a_prompt(
    post: Post, source: str
) -> None:
    if source == "clear":
        post.run("user-prompt", post.payload("x", session_id="before", prompt="p"), agent="kimi-code")
        post.put(mark=f"auto {session_uuid('kimi-code', 'before')}")
    else:
        post.put()
    post.run("session-start", post.payload("x", source=source), agent="kimi-code")
    assert post.run("user-prompt", post.payload("x", prompt="p"), agent="kimi-code").out == b""
    assert post.is_open


def test_a_session_that_goes_on_for_days_does_not_start_again(post: Post) -> None:
    post.run("user-prompt", post.payload("x", prompt="p"), agent="kimi-code")
    (mark,) = (post.data / "locks" / "started").iterdir()
    os.utime(mark, (0, 0))
    post.run("user-prompt", post.payload("x", prompt="p"), agent="kimi-code")
    assert mark.stat().st_mtime > 1


@pytest.mark.parametrize(
    ("told", "is_given"),
    [
        ("expires_at: 2020-01-01T00:00:00Z", False),
        ("expires_at: '2020-01-01'", False),
        ("expires_at: 2999-01-01T00:00:00Z", True),
        ("expires_at: 2999-01-01", True),
        ("expires_at: soon", True),
        ("title: no expiry", True),
        ("state: expired", False),
        ("state: accepted", False),
    ],
)
def test_what_its_page_offers_no_more_is_not_given_before_a_drain_looked(post: Post, told: str, is_given: bool) -> None:
    page = post.data / "wiki" / "default" / "shop" / "handoffs" / "2026-11" / "x.md"
    page.parent.mkdir(parents=True)
    state = "" if told.startswith("state") else "state: open\n"
    page.write_text(f"---\nkind: handoff\n{state}{told}\n---\nstate: closed\n")
    post.put(text="Handoff text\n\nfence\nSource: default/shop:handoffs/2026-11/x.md\n\nbody")
    assert (b"Handoff text" in post.start()) == is_given
    assert post.is_open != is_given


def test_never_more_than_ten_thousand_characters(post: Post) -> None:
    post.put(text="x" * 50_000)
    assert len(json.loads(post.start())["hookSpecificOutput"]["additionalContext"]) == 10_000
