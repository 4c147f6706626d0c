"""What makes the hook cheap, pinned: the modules that each of its ways imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hook_runs import PYTHON, Desk

from ai_memory import hook_front

ROOT = Path(hook_front.__file__).parents[1]
HEAVY = {
    *("argparse", "asyncio", "contextlib", "dataclasses", "datetime", "hashlib", "inspect", "logging", "pathlib"),
    *("platformdirs", "random", "shutil", "signal", "site", "socket", "sqlite3", "subprocess", "tempfile", "threading"),
    *("tomllib", "typing", "unicodedata", "urllib", "uuid"),
}
BASE = {
    *("ai_memory", "ai_memory.hook_front", "ai_memory.hook_call", "ai_memory.hook_payload", "ai_memory.hook_places"),
    "ai_memory.hook_answer",
    "ai_memory.hook_harnesses",
    "ai_memory.hook_process",
}
CAPTURE = BASE | {"ai_memory.hook_policy", "ai_memory.hook_event", "ai_memory.hook_spool", "ai_memory.scrub"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def loaded(desk: Desk, event: str, payload: object) -> set[str]:
    """Modules that the process had loaded at its end."""
    code = (
        "import sys;sys.path.append(sys.argv.pop(1));import os;"
        "end=lambda c:(os.write(2,'\\n'.join(sys.modules).encode()),real(0));real=os._exit;os._exit=end;"
        "from ai_memory.hook_front import main;main(sys.argv[1:])"
    )
    words = [*PYTHON, "-c", code, str(ROOT), "--data-dir", str(desk.data), "--event", event, "--agent", "claude-code"]
    done = subprocess.run(words, input=json.dumps(payload).encode(), capture_output=True, env=desk.environ, check=True)
    return set(done.stderr.decode().split())


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] == "ai_memory"}


def test_a_prompt_without_secrets_loads_the_base_alone(desk: Desk) -> None:
    names = loaded(desk, "user-prompt", desk.payload("UserPromptSubmit", prompt="why is it so"))
    assert ours(names) == CAPTURE | {"ai_memory.hook_attendance"}
    assert not names & HEAVY


def test_a_tool_call_with_secrets_loads_what_looks_at_names_and_values(desk: Desk) -> None:
    given = {"command": "export API_TOKEN=abcdef123456"}
    names = loaded(desk, "post-tool-use", desk.payload("PostToolUse", tool_name="Bash", tool_input=given))
    assert ours(names) == CAPTURE | {"ai_memory.scrub_named", "ai_memory.scrub_values"}
    assert not names & HEAVY


def test_a_start_loads_outbox_and_packet_too(desk: Desk) -> None:
    names = loaded(desk, "session-start", desk.payload("SessionStart", source="startup"))
    assert ours(names) == CAPTURE | {"ai_memory.hook_outbox", "ai_memory.hook_packet"}
    assert not names & HEAVY


def test_a_prompt_that_is_looked_up_loads_terms_and_packet_too(desk: Desk) -> None:
    policy = {"v": 1, "config": None, "settings": {"on_prompt": "on"}, "markers": {}}
    (desk.data / "hook-policy.json").write_text(json.dumps(policy))
    names = loaded(desk, "user-prompt", desk.payload("UserPromptSubmit", prompt="why is the total rounded so"))
    told = {f"ai_memory.hook_{name}" for name in ("attendance", "lookup", "outbox", "packet", "terms")}
    assert ours(names) == CAPTURE | told
    assert not names & HEAVY


def test_a_hook_that_is_off_loads_almost_nothing(desk: Desk) -> None:
    desk.environ["AI_MEMORY_CAPTURE"] = "off"
    assert ours(loaded(desk, "stop", desk.payload("Stop"))) == BASE


def test_a_marker_is_read_without_a_toml_reader(desk: Desk) -> None:
    (desk.checkout / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["x"]\n')
    assert not loaded(desk, "stop", desk.payload("Stop")) & HEAVY


def test_the_command_runs_the_same_code(desk: Desk) -> None:
    code = "from ai_memory.__main__ import main;import sys;sys.exit(main())"
    words = [sys.executable, "-c", code, "hook", *desk.words("stop")[4:]]
    done = subprocess.run(words, input=json.dumps(desk.payload("Stop")).encode(), capture_output=True, check=True)
    assert done.stdout == b"{}"
    assert desk.event()["event"] == "stop"


def test_the_stub_alone_is_run_by_path_and_stays_small() -> None:
    stub = (ROOT / "ai_memory" / "hook.py").read_text(encoding="utf-8")
    assert len(stub.splitlines()) < 30


def test_a_broken_installation_does_not_stop_an_agent(tmp_path: Path) -> None:
    package = tmp_path / "broken" / "ai_memory"
    package.mkdir(parents=True)
    (package / "hook.py").write_text((ROOT / "ai_memory" / "hook.py").read_text(encoding="utf-8"))
    done = subprocess.run([*PYTHON, str(package / "hook.py")], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
