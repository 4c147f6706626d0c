"""A setting that was changed on the command line is what the very next hook goes by; no drain runs in between."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hook_runs import Desk
from typer.testing import CliRunner

from ai_memory.capture.draining import Drainer
from ai_memory.cli.app import app
from ai_memory.hook_policy import read_settings
from ai_memory.hook_spool import LOOK_EVERY
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.scope.hook_policy import HOOK_SETTINGS
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Outbox, directory_names, open_name


class Configured(Desk):
    """A desk whose data dir and settings the command line makes."""

    def ai_memory(self, *words: str) -> str:
        result = CliRunner().invoke(app, [*words, "--data-dir", str(self.data)])
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result.output

    def kept(self, event: str, **payload: object) -> list[dict[str, object]]:
        """The events that one more hook leaves."""
        self.keep_drain_away()
        before = len(self.events())
        self.run(event, self.payload("x", **payload))
        return self.events()[before:]

    def prompt(self) -> str:
        return json.dumps(self.kept("user-prompt", prompt="PROMPT of ACME-1, password=letmein99"))

    def answer(self) -> str:
        return json.dumps(self.kept("stop", last_assistant_message="ANSWER"))

    def tool(self) -> str:
        return json.dumps(self.kept("post-tool-use", tool_name="Noise", tool_use_id="tmp_1", tool_input={"x": "1"}))

    def recalls(self) -> str:
        """Whether a hook looks prompts up."""
        return str(read_settings(str(self.data))[0].recalls)

    def most(self) -> str:
        """How many bytes a start and a prompt may be told."""
        policy = read_settings(str(self.data))[0]
        return f"{policy.start_bytes} and {policy.prompt_bytes}"

    def start(self) -> str:
        """What a new session is told; a handoff waits for it."""
        self.keep_drain_away()
        outbox = Outbox(DataDir(self.data))
        handoff = f"{len(self.events()):032x}"  # another each time: one that was taken is never opened again
        for name in (open_name(handoff), *directory_names(handoff, [str(self.checkout)])):
            outbox.put(name, "HANDOFF")
        named = f"s-{len(self.events())}"
        return self.run("session-start", self.payload("SessionStart", source="startup", session_id=named)).out.decode()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    desk = Configured(tmp_path)
    monkeypatch.chdir(desk.checkout)
    (desk.data / "wiki").rmdir()
    desk.ai_memory("init")
    return desk


CHANGES: list[tuple[str, str, Callable[[Configured], str], str, bool]] = [
    ("capture.prompts", "no", Configured.prompt, "PROMPT", False),
    ("capture.assistant", "excerpt", Configured.answer, "ANSWER", True),
    ("handoff.claim_on_session_start", "no", Configured.start, "HANDOFF", False),
    ("recall.on_prompt", "on", Configured.recalls, "True", True),
    ("budget.start_max_tokens", "150", Configured.most, "600 and 0", True),
    ("budget.start_max_tokens", "3", Configured.most, "400 and 0", True),
    ("budget.prompt_max_tokens", "90", Configured.most, "0 and 360", True),
    ("ingest.drop_tool_names", "Noise", Configured.tool, "post-tool-use", False),
    ("ingest.drop_tool_use_id_prefixes", "tmp_", Configured.tool, "post-tool-use", False),
    ("ingest.drop_events", "stop", Configured.answer, "stop", False),
    ("sanitize.extra_patterns", "ACME-[0-9]", Configured.prompt, "ACME-1", False),
    ("sanitize.allowlist", "letmein", Configured.prompt, "letmein99", True),
]
"""(setting, new value, what is done, a word of what it leaves, whether the new value lets the word in)."""


@pytest.mark.parametrize(("key", "value", "act", "word", "lets_in"), CHANGES, ids=[row[0] for row in CHANGES])
def test_a_changed_setting_reaches_the_next_hook(
    desk: Configured, key: str, value: str, act: Callable[[Configured], str], word: str, lets_in: bool
) -> None:
    assert (word in act(desk)) is not lets_in
    desk.ai_memory("config", "set", key, value)
    left = act(desk)
    assert (word in left) is lets_in
    assert "policy-unknown" not in left
    desk.ai_memory("config", "unset", key)
    assert (word in act(desk)) is not lets_in


@pytest.mark.parametrize("where", ["config", "marker"])
@pytest.mark.parametrize("is_edited", [True, False], ids=["edited", "new"])
def test_a_source_that_forbids_claims_holds_before_a_drain_compiled_it(
    desk: Configured, where: str, is_edited: bool
) -> None:
    source = desk.data / "config.toml" if where == "config" else desk.checkout / ".ai-memory.toml"
    if is_edited:
        source.write_text("[handoff]\nclaim_on_session_start = true\n")
        Drainer(Memory.open(DataDir(desk.data), caller=Caller(cwd=None, environ={}, home="/", face="drain"))).run()
    source.write_text("[handoff]\nclaim_on_session_start = false\n")
    told = desk.start()
    assert "HANDOFF" not in told
    assert "open, not taken" in told


def test_every_setting_of_hooks_is_tried_in_this_file() -> None:
    assert {row[0] for row in CHANGES} | {"hook_spool.max_files", "hook_spool.max_mib"} == set(HOOK_SETTINGS.values())


def test_the_bound_of_the_spool_reaches_the_hooks(desk: Configured) -> None:
    desk.ai_memory("config", "set", "hook_spool.max_files", "100")
    spool = desk.data / "spool"
    for number in range(100):
        (spool / f"{number:019d}-1-00000000.json").write_text("{}")
    for _ in range(40 * LOOK_EVERY):  # a hook counts one time in so many, by chance
        if (spool / ".full").exists():
            break
        desk.tool()
    assert (spool / ".full").exists()
    assert desk.tool() == "[]"
    assert "PROMPT" in desk.prompt()


def test_init_compiles_a_config_and_a_marker_that_were_there_before(desk: Configured) -> None:
    (desk.data / "config.toml").write_text("[capture]\nprompts = false\n")
    (desk.checkout / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["secret/**"]\n')
    assert "policy-unknown" in desk.prompt()
    desk.ai_memory("init")
    left = desk.prompt()
    assert "policy-unknown" not in left
    assert "PROMPT" not in left
    assert desk.kept("post-tool-use", tool_name="Read", tool_input={"file_path": "secret/a"}) == []
    assert desk.kept("post-tool-use", tool_name="Read", tool_input={"file_path": "open/a"}) != []


def test_init_says_that_a_broken_config_costs_content_and_does_its_work(desk: Configured) -> None:
    (desk.data / "config.toml").write_text("[capture]\nprompts = maybe\n")
    told = desk.ai_memory("init")
    assert "there already" in told
    assert "hooks keep metadata only" in told
    assert "config.toml, line 2" in told
