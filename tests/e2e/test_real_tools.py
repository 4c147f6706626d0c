"""Real programs whose scripted model calls our tools: one searches, writes and hands over, the other takes it.

Run by hand, as `test_real_programs.py`:
`AI_MEMORY_TEST_PROGRAMS=FOLDER pytest -m harness -n0 tests/e2e/test_real_tools.py`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from model_server import Model, said_in, serving
from programs import ALL, PROGRAMS, Places, Program

from ai_memory.cli.demo_checkout import make_checkout
from ai_memory.cli.demo_stage import Stage

pytestmark = pytest.mark.harness

SESSION_S = 280.0
SENTENCE = "Done as planned."
PAGE = "decisions/rounding.md"
BODY = "# Rounding\n\nRefunds round half to even, as the ledger does."
SUMMARY = "Refunds round half to even now; the tax is left."
FIRST = (
    ("memory_query", {"query": "refund rounding"}),
    ("memory_write_page", {"path": PAGE, "body": BODY}),
    ("memory_query", {"query": "refund rounding"}),
    ("memory_handoff_begin", {"summary": SUMMARY, "next_steps": ["Round the tax"]}),
)
SECOND = (("memory_handoff_accept", {}), ("memory_read_page", {"path": PAGE}))
BY_AGENT = {program.agent: program for program in ALL}


def wired(stage: Stage, program: Program, model: Model) -> Places:
    """A home of the program's own in which it knows our MCP server, as `install-mcp` writes it."""
    home = stage.room / f"home-{program.agent}"
    home.mkdir()
    places = Places(home, stage.checkout, stage.data_dir.root, model.url)
    program.configure(places)
    ai_memory(stage, home, "install-mcp", "--agent", program.agent, "--apply")
    return places


def ai_memory(stage: Stage, home: Path, *words: str) -> str:
    command = [sys.executable, "-P", "-m", "ai_memory", *words]
    environ = stage.environ | {"HOME": str(home)}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=stage.checkout, env=environ, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def session(stage: Stage, program: Program, places: Places, prompt: str) -> str:
    """One whole session; gives what the program printed."""
    own = {"HOME": str(places.home), "PATH": program.search_path, "TERM": "dumb", "PWD": str(stage.checkout)}
    done = subprocess.run(
        [program.path, *program.words, prompt],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=stage.checkout,
        env=stage.environ | own | dict(program.environ(places)),
        timeout=SESSION_S,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert SENTENCE in told, told
    return told


@pytest.mark.parametrize(("giver", "taker"), [("codex", "opencode"), ("opencode", "codex")])
def test_what_one_agent_wrote_and_handed_over_by_tools_the_other_takes_by_tools(
    tmp_path: Path, giver: str, taker: str
) -> None:
    first, second = BY_AGENT[giver], BY_AGENT[taker]
    for program in (first, second):
        if not PROGRAMS or not os.access(program.path, os.X_OK):
            pytest.skip(f"AI_MEMORY_TEST_PROGRAMS holds no {program.executable}")
    stage = Stage(tmp_path, "ghp_" + "x" * 36)
    make_checkout(stage.checkout)

    with serving(FIRST, SENTENCE) as model:
        places = wired(stage, first, model)
        ai_memory(stage, places.home, "init")
        session(stage, first, places, "Round the refunds.")
        told = said_in(model.requests[-1])
        assert f"created {PAGE}" in told, told
        assert told.count("· resolved_by remote") == len(FIRST)
        assert "round half to even, as the ledger does" in told
    assert BODY.splitlines()[-1] in ai_memory(stage, places.home, "read-page", PAGE)

    with serving(SECOND, SENTENCE) as model:
        session(stage, second, wired(stage, second, model), "Go on.")
        told = said_in(model.requests[-1])
        assert SUMMARY in told, told
        assert "Round the tax" in told
        assert "as the ledger does" in told
    (handoff,) = json.loads(ai_memory(stage, places.home, "handoff", "list", "--state", "any", "--json"))["handoffs"]
    assert handoff["state"] == "accepted"
    assert handoff["from_agent"] == giver
