"""The commands of ours that stand in an agent's file are found again, whatever form the file has."""

from dataclasses import replace

import pytest
from wire_room import LAUNCH

from ai_memory.diagnosis.written import Written, written_in
from ai_memory.harnesses import registry
from ai_memory.harnesses.edits import Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.record import Harness
from ai_memory.wiring.wishes import as_pasted, wishes_of

WINDOWS = Launch("C:\\our venv\\python.exe", "C:\\lib\\ai_memory", "C:\\Users\\you\\ai memory", "win32")
QUOTING = replace(LAUNCH, python="/opt/it's $HOME/python", data_dir='/home/a "b"/data')


def told(harness: Harness, what: str, launch: Launch) -> list[tuple[str, Syntax]]:
    """Text and syntax of each file that would be written, or is printed for a person to paste."""
    home = "C:\\Users\\you" if launch.platform == "win32" else "/home/you"
    for checkout in ("", f"{home}/shop"):
        wishes = wishes_of(harness, what, launch, Machine(home, {}, launch.platform, checkout))
        texts = [(as_pasted([wish])[0].snippet, wish.edit.syntax) for wish in wishes.wishes]
        texts += [(note.snippet, Syntax.WHOLE) for note in wishes.notes if note.snippet]
        if texts:
            return texts
    return []


NOTHING = {("kiro-cli", "hooks", "linux"), ("kiro-cli", "hooks", "win32"), ("cline", "hooks", "win32")}
ALL = [(one, what) for one in registry.HARNESSES for what in ("hooks", "mcp") if getattr(one, what) is not None]


@pytest.mark.parametrize("launch", [LAUNCH, QUOTING, WINDOWS], ids=["posix", "quoting", "windows"])
@pytest.mark.parametrize(("harness", "what"), ALL, ids=lambda one: getattr(one, "id", one))
def test_what_is_written_is_found_again(harness: Harness, what: str, launch: Launch) -> None:
    texts = told(harness, what, launch)
    if not texts:  # others make its files, or it runs no hooks on that system
        assert (harness.id, what, launch.platform) in NOTHING
        return
    found = {one for text, syntax in texts for one in written_in(text, syntax)}
    name = "hook.py" if what == "hooks" else "mcp_bridge.py"
    separator = "\\" if launch.platform == "win32" else "/"
    expected = Written(what, launch.python, f"{launch.package}{separator}{name}", launch.data_dir)
    assert {one for one in found if one.what == what} == {expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ai-memory hook --event stop"}]}]}}',
            [Written("hooks", "ai-memory", "", "")],
        ),
        (
            '{"mcpServers": {"ai-memory": {"command": "/usr/bin/ai-memory", "args": ["mcp-bridge", "--data-dir=/d"]}}}',
            [Written("mcp", "/usr/bin/ai-memory", "", "/d")],
        ),
        (
            '{"a": "/p/python -I -S /x/ai_memory/hook.py --data-dir /d --event stop" BROKEN',
            [Written("hooks", "/p/python", "/x/ai_memory/hook.py", "/d")],
        ),
        ('{"note": "see ai_memory/hook.py", "other": ["ai-memory", "search", "hook"]}', []),
        ("", []),
    ],
    ids=["by name", "by path", "broken file", "not ours", "empty"],
)
def test_other_forms_are_found_too(text: str, expected: list[Written]) -> None:
    assert list(written_in(text, Syntax.JSON)) == expected
