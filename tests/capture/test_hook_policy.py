"""What a hook keeps where a policy stands, and that it fails closed."""

import json
import time
from pathlib import Path

import pytest
from hook_runs import Desk

from ai_memory.config import combine
from ai_memory.hook_globs import fits
from ai_memory.hook_policy import MAX_STEPS, Policy, candidates
from ai_memory.scope.hook_policy import compile_policy
from ai_memory.scope.markers import Source, nearest_markers
from ai_memory.scope.policy import policy_at


class Ruled(Desk):
    """A desk with a marker, and the policy that the drain would compile from it."""

    def mark(self, text: str, folder: Path | None = None, *, compiles: bool = True, config: str = "") -> Path:
        marker = (folder or self.checkout) / ".ai-memory.toml"
        marker.write_text(text)
        if compiles:
            self.compile(config)
        return marker

    def compile(self, config: str = "") -> None:
        home = str(self.data.parent)
        sources = nearest_markers(str(self.checkout), home)
        file = self.data / "config.toml"
        stamp = None
        if config:
            file.write_text(config)
            status = file.stat()
            stamp = Source(str(file), status.st_size, status.st_mtime_ns)
        values = combine(config, {}, {}, name="config.toml").values
        markers = [(source, policy_at(source.path, home=home)) for source in sources]
        compiled = compile_policy(values, config=stamp, markers=markers)
        (self.data / "hook-policy.json").write_text(json.dumps(compiled))

    def tool(self, tool: str = "Read", *, cwd: Path | None = None, **given: object) -> dict[str, object] | None:
        """The event that a call of that tool leaves, or None."""
        before = len(self.events())
        payload = self.payload("PostToolUse", tool_name=tool, tool_input=given, tool_response="OUTPUT")
        self.run("post-tool-use", payload | ({"cwd": str(cwd)} if cwd else {}))
        new = self.events()[before:]
        return new[0] if new else None


@pytest.fixture
def desk(tmp_path: Path) -> Ruled:
    return Ruled(tmp_path)


RULES = '[capture]\nignore_paths = ["secret/**", "*.pem", "docs/*/draft?.md", "~/private/**"]\n'


@pytest.mark.parametrize(
    "path",
    [
        *("secret/a", "secret/deep/er/a.txt", "{root}/secret/a", "./x/../secret/a", "key.pem", "deep/key.pem"),
        *("docs/one/draft1.md", "{home}/private/a", "~/private/b"),
    ],
)
def test_an_ignored_path_drops_the_event(desk: Ruled, path: str, scratch_home: Path) -> None:
    desk.mark(RULES)
    named = path.replace("{root}", str(desk.checkout)).replace("{home}", str(scratch_home))
    assert desk.tool("Read", file_path=named) is None
    assert desk.tool("Bash", command=f"head -3 {named} | wc") is None
    assert desk.tool("MultiEdit", edits=[{"file_path": named}]) is None
    patch = f"*** Begin Patch\n*** Update File: {named}\n+x"
    assert desk.tool("apply_patch", input=patch) is None


@pytest.mark.parametrize("path", ["secrets/a", "a/secret/b", "key.pem.txt", "docs/draft1.md", "docs/one/draft12.md"])
def test_another_path_is_kept(desk: Ruled, path: str) -> None:
    desk.mark(RULES)
    event = desk.tool("Read", file_path=path)
    assert event is not None
    assert event["output"] == "OUTPUT"


def test_a_symlink_to_an_ignored_file_is_ignored(desk: Ruled) -> None:
    desk.mark(RULES)
    (desk.checkout / "secret").mkdir()
    (desk.checkout / "secret" / "a").write_text("x")
    (desk.checkout / "b").symlink_to(desk.checkout / "secret" / "a")
    assert desk.tool("Read", file_path="b") is None


def test_patterns_count_from_the_markers_folder(desk: Ruled) -> None:
    desk.mark(RULES)
    below = desk.checkout / "src"
    below.mkdir()
    assert desk.tool("Read", file_path="../secret/a", cwd=below) is None
    assert desk.tool("Read", file_path="secret/a", cwd=below) is not None


def test_searches_are_dropped_and_a_file_tool_without_a_path_keeps_metadata(desk: Ruled) -> None:
    desk.mark(RULES)
    assert desk.tool("Grep", pattern="x") is None
    event = desk.tool("Edit", unknown="secret/a")
    assert event is not None
    assert event["flags"] == ["metadata-only"]
    assert "input" not in event
    assert "output" not in event


@pytest.mark.parametrize("bad", ['["[a-z]"]', '"secret"', '["../x"]', '["ok", 3]'])
def test_an_invalid_policy_keeps_metadata_only(desk: Ruled, bad: str) -> None:
    desk.mark(f"[capture]\nignore_paths = {bad}\n")
    event = desk.tool("Bash", command="ls")
    assert event is not None
    assert event["flags"] == ["metadata-only"]


def test_a_policy_that_is_not_compiled_yet_keeps_metadata_only_and_says_so(desk: Ruled) -> None:
    desk.mark(RULES, compiles=False)
    event = desk.tool("Bash", command="cat secret/a")
    assert event is not None
    assert event["flags"] == ["policy-unknown", "metadata-only"]
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="PROMPT"))
    assert "PROMPT" not in json.dumps(desk.events())


def test_a_changed_marker_is_unknown_again(desk: Ruled) -> None:
    marker = desk.mark(RULES)
    marker.write_text(RULES + 'x = "y"\n')
    event = desk.tool("Read", file_path="a")
    assert event is not None
    assert "policy-unknown" in event["flags"]  # type: ignore[operator]


def test_a_marker_without_a_policy_needs_no_compiling(desk: Ruled) -> None:
    desk.mark('workspace = "work"\nproject = "shop"\n', compiles=False)
    event = desk.tool("Read", file_path="a")
    assert event is not None
    assert event["output"] == "OUTPUT"


@pytest.mark.parametrize("spelled", ['"c\\u0061pture" = {ignore_paths = ["a"]}', "# " + "x" * 70_000])
def test_a_marker_that_could_hide_a_policy_is_unknown(desk: Ruled, spelled: str) -> None:
    desk.mark(spelled, compiles=False)
    event = desk.tool("Read", file_path="a")
    assert event is not None
    assert "policy-unknown" in event["flags"]  # type: ignore[operator]


def test_only_the_nearest_marker_counts(desk: Ruled) -> None:
    inner = desk.checkout / "inner"
    inner.mkdir()
    desk.mark(RULES)
    (inner / ".ai-memory.toml").write_text('workspace = "w"\n')
    assert desk.tool("Read", file_path="x.pem", cwd=inner) is not None


def test_prompts_off_keeps_that_there_was_one(desk: Ruled) -> None:
    desk.mark("[capture]\nprompts = false\n")
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="PROMPT"))
    assert desk.event()["flags"] == ["metadata-only"]
    assert "prompt" not in desk.event()


def test_a_marker_can_not_widen_what_the_person_keeps(desk: Ruled) -> None:
    desk.mark('[capture]\nprompts = true\nassistant = "excerpt"\n', config="[capture]\nprompts = false\n")
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="PROMPT"))
    desk.run("stop", desk.payload("Stop", last_assistant_message="ANSWER"))
    assert "PROMPT" not in json.dumps(desk.events())
    assert "ANSWER" not in json.dumps(desk.events())


def test_subagents_are_dropped_where_the_marker_says_so(desk: Ruled) -> None:
    desk.mark("drop_subagent_captures = true\n")
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Bash", agent_id="a1"))
    desk.run("stop", desk.payload("Stop"))
    assert [event["event"] for event in desk.events()] == ["stop"]


def test_drop_lists_of_the_configuration(desk: Ruled) -> None:
    ingest = (
        '[ingest]\ndrop_tool_names = ["Noise"]\ndrop_tool_use_id_prefixes = ["tmp_"]\ndrop_events = ["notification"]\n'
    )
    desk.compile(ingest)
    assert desk.tool("Noise") is None
    assert desk.tool("Bash", command="ls") is not None
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Bash", tool_use_id="tmp_1"))
    desk.run("notification", desk.payload("Notification", message="m"))
    assert len(desk.events()) == 1


def test_own_patterns_and_the_allow_list_reach_the_hook(desk: Ruled) -> None:
    desk.compile('[sanitize]\nextra_patterns = ["TICKET-[0-9]+"]\nallowlist = ["letmein"]\n')
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="TICKET-4711 password=letmein99 password=other99"))
    assert desk.event()["prompt"] == "[REDACTED:custom] password=letmein99 password=[REDACTED:password]"


def test_a_changed_configuration_that_could_hold_a_policy_is_unknown(desk: Ruled) -> None:
    desk.compile('log_level = "error"\n')
    (desk.data / "config.toml").write_text('log_level = "info"\n')
    assert desk.tool("Bash", command="ls") is not None
    assert "flags" not in desk.events()[0]
    (desk.data / "config.toml").write_text("[capture]\nprompts = false\n")
    event = desk.tool("Bash", command="ls")
    assert event is not None
    assert "policy-unknown" in event["flags"]  # type: ignore[operator]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"v":2}', b'{"v":1,"settings":3,"markers":[]}', b"\xff"])
def test_a_damaged_policy_file_is_no_fault(desk: Ruled, content: bytes) -> None:
    (desk.data / "hook-policy.json").write_bytes(content)
    desk.mark(RULES, compiles=False)
    event = desk.tool("Bash", command="ls")
    assert event is not None
    assert "policy-unknown" in event["flags"]  # type: ignore[operator]


def test_allowlist_mode_keeps_nothing_without_a_marker(desk: Ruled) -> None:
    allow = ("--capture-mode", "allowlist")
    desk.run("stop", desk.payload("Stop"), *allow)
    assert desk.events() == []
    desk.mark('workspace = "w"\n')
    desk.run("stop", desk.payload("Stop"), *allow)
    assert len(desk.events()) == 1


def test_another_owner_of_capture_silences_the_hook(desk: Ruled) -> None:
    desk.run("stop", desk.payload("Stop"), environ={"AI_MEMORY_CAPTURE_OWNER": "wrapper"})
    assert desk.events() == []
    own = {"AI_MEMORY_CAPTURE_OWNER": "wrapper", "AI_MEMORY_HOOK_ORIGIN": "wrapper"}
    desk.run("stop", desk.payload("Stop"), environ=own)
    assert len(desk.events()) == 1


@pytest.mark.parametrize(
    ("given", "decision"), [({"file_path": "a"}, "keep"), ({"file_path": "secret/a"}, "drop"), ({}, "metadata")]
)
def test_check_capture_tells_the_decision_and_writes_nothing(desk: Ruled, given: dict[str, str], decision: str) -> None:
    desk.mark(RULES)
    before = desk.files()
    payload = desk.payload("PreToolUse", tool_name="Read", tool_input=given)
    ran = desk.run("pre-tool-use", payload, "--check-capture")
    assert ran.answer["decision"] == decision
    assert ran.answer["reason"]
    assert desk.files() == before


def test_check_capture_works_without_a_data_dir(desk: Ruled, tmp_path: Path) -> None:
    desk.data = tmp_path / "nowhere"
    assert desk.run("stop", desk.payload("Stop"), "--check-capture").answer["decision"] == "drop"
    assert not desk.data.exists()


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a", "a", True),
        ("a", "b/a", True),
        ("a", "a/b", True),
        ("a/b", "a/b/c", True),
        ("a/b", "x/a/b", False),
        ("a/**", "a/b/c", True),
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/*/b", "a/x/y/b", False),
        ("*.pe?", "x.pem", True),
        ("*.pe?", "x.pe", False),
        ("**", "anything/at/all", True),
        ("a*b*c", "aXXbYYc", True),
        ("a*b*c", "aXXbYY", False),
        ("", "a", False),
    ],
)
def test_globs(pattern: str, path: str, expected: bool) -> None:
    assert fits(pattern, path, [MAX_STEPS]) is expected


def test_a_hostile_glob_ends_in_bounded_work_and_fails_closed() -> None:
    steps = [MAX_STEPS]
    started = time.process_time()
    assert fits("*" + "a" * 400 + "b", "a" * 4_000, steps) is True
    assert time.process_time() - started < 5


def test_more_paths_than_are_read_keep_metadata_only() -> None:
    named, is_complete = candidates({"paths": [f"p/{at}" for at in range(40)]})
    assert (len(named), is_complete) == (32, False)
    policy = Policy()
    policy.ignored = ["secret/**"]
    policy.judge_paths("ReadMany", {"paths": [f"p/{at}" for at in range(40)]}, cwd="/c", base="/c", home="/h")
    assert policy.decision == "metadata"


NAMES = '[capture]\nignore_paths = ["secret", "vault/**"]\n'


@pytest.mark.parametrize(
    "command",
    [
        "cat secret",
        "sed -n 1,5p secret",
        "head -3 secret | wc -l",
        "less secret",
        "grep password secret",
        "sort < secret",
        "LC_ALL=C sudo cat secret",
        "timeout 5 tail -f secret",
        "bash -lc 'cat secret'",
        "/usr/bin/cat secret",
        "cd vault && cat keys",
        "cd vault; cd deeper; head keys",
        'cat "secret"',
        "ls; cp secret /tmp/x",
        "Get-Content secret",
        ["bash", "-lc", "cat secret"],
    ],
)
def test_a_shell_that_reads_an_ignored_file_leaves_no_event(desk: Ruled, command: object) -> None:
    desk.mark(NAMES)
    assert desk.tool("Bash", command=command) is None


@pytest.mark.parametrize(
    "command",
    [
        *("rg TOKEN", "git grep TOKEN", "grep -rn TOKEN", "cat *", "cat $FILE", "cd $D && ls"),
        *("git diff", "git -C . show HEAD", "git log -p"),
    ],
)
def test_a_shell_that_may_read_ignored_files_leaves_metadata(desk: Ruled, command: str) -> None:
    desk.mark(NAMES)
    event = desk.tool("Bash", command=command)
    assert event is not None
    assert event["flags"] == ["metadata-only"]
    assert not {"input", "output"} & set(event)


@pytest.mark.parametrize(
    "command", ["cat README.md", "pytest -q", "git status", "echo secret", "cd docs && cat index", "grep TOKEN main.py"]
)
def test_other_commands_are_kept_where_paths_are_ignored(desk: Ruled, command: str) -> None:
    desk.mark(NAMES)
    event = desk.tool("Bash", command=command)
    assert event is not None
    assert event["output"] == "OUTPUT"


def test_more_files_than_are_looked_at_keep_metadata_only(desk: Ruled) -> None:
    desk.mark(NAMES)
    event = desk.tool("Bash", command="cat " + " ".join(f"f{at}" for at in range(40)) + " secret")
    assert event is None or event["flags"] == ["metadata-only"]
