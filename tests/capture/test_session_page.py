"""Session pages against golden files, and the rules that make them worth reading.

Write the golden files anew with `GOLDEN=write pytest tests/capture/test_session_page.py`, then read them.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import NINE_US, SECOND_US

from ai_memory.capture import checks, prompts, tools
from ai_memory.capture.digest import Taken, digest, telling_line
from ai_memory.capture.session_page import session_page
from ai_memory.capture.tools import Family
from ai_memory.model import PageRef
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.links import links
from ai_memory.text.page import compose, parse

GOLDEN = Path(__file__).parent / "golden"
Row = tuple[str, str, dict[str, object]]


def build(rows: list[Row], *, agent: str = "claude-code", **session: object) -> tuple[Session, list[Observation]]:
    """A session with one observation every twenty seconds."""
    observations = []
    for number, (kind, text, more) in enumerate(rows):
        given = more.get("input")
        observations.append(
            Observation(
                event_id=f"{number:04d}",
                session="0b5c9f2e-1111-4222-8333-444455556666",
                at_us=NINE_US + number * 20 * SECOND_US,
                kind=kind,
                source_event=str(more.get("source_event", "")),
                agent_id=str(more.get("agent_id", "")),
                tool=str(more.get("tool", "")),
                call_id=str(more.get("call_id", "")),
                outcome=str(more.get("outcome", "success" if "tool" in more else "")),
                input=json.dumps(given) if given is not None else "",
                output=str(more.get("output", "")),
                text=text,
            )
        )
    last = observations[-1].at_us
    values: dict[str, object] = {
        "ended_at_us": last if rows[-1][0] == "session-end" else None,
        "observations": len(rows),
        **session,
    }
    made = Session(
        "0b5c9f2e-1111-4222-8333-444455556666", "", agent, "default", "shop", "{}", "/w/shop", NINE_US, last, **values
    )  # type: ignore[arg-type]
    return made, observations


def done(tool: str, given: object, output: str = "", outcome: str = "success", **more: object) -> Row:
    return ("post-tool-use", "", {"tool": tool, "input": given, "output": output, "outcome": outcome, **more})


def said(text: str, **more: object) -> Row:
    return ("user-prompt", text, more)


def mended() -> tuple[Session, list[Observation]]:
    """A fault found, a test run that fails and passes later, a branch that moved, a slash command, scaffolding."""
    rows: list[Row] = [
        ("session-start", "", {}),
        said("<command-name>/clear</command-name><command-args></command-args>"),
        said("<ide_opened_file>The user opened till.py</ide_opened_file>\nThe till rounds [[wrong]]. Fix it, please!"),
        done("Grep", {"pattern": r"round\(", "path": "/w/shop"}, "till.py:4"),
        ("pre-tool-use", "", {"tool": "Read", "input": {"file_path": "/w/shop/till.py"}, "call_id": "c1"}),
        done("Read", {"file_path": "/w/shop/till.py"}, "def total(): …", call_id="c1"),
        done(
            "Bash",
            {"command": "pytest -q"},
            "E   assert 10 == 9.99\nFAILED tests/test_till.py::test_sum - assert 10\n1 failed, 3 passed in 0.1s",
            "error",
        ),
        done("Edit", {"file_path": "/w/shop/till.py"}),
        done("Edit", {"file_path": "/w/shop/till.py"}),
        done("Write", {"file_path": "/elsewhere/notes.txt"}),
        done("Bash", {"command": "pytest -q"}, "4 passed in 0.1s"),
        done("Bash", {"command": "git commit -am 'Round once'"}, "[main 1234567] Round once"),
        ("stop", "", {}),
        said("/review the refunds, too"),
        ("post-compaction", "The till was mended; refunds are next.", {}),
        ("stop", "", {}),
        ("session-end", "", {}),
    ]
    heads = {"branch_start": "main", "commit_start": "a" * 40, "branch_end": "main", "commit_end": "b" * 40}
    return build(rows, **heads)


def codex_patch() -> tuple[Session, list[Observation]]:
    """Codex: patches through the shell, output without outcome, a failure that stands, no end."""
    patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: src/b.rs\n*** End Patch"
    rows: list[Row] = [
        ("session-start", "", {}),
        said("# AGENTS.md instructions for /w/shop\nBe nice."),
        said("Rename `foo` to `bar` and update the callsites."),
        done("apply_patch", {"command": ["apply_patch", patch]}, "Success", "unknown"),
        done(
            "Bash",
            {"command": ["bash", "-lc", "cargo test"]},
            "test parse ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored",
            "unknown",
        ),
        done(
            "shell",
            {"command": "cargo clippy"},
            "error[E0308]: mismatched types\nProcess exited with code 101",
            "unknown",
        ),
        ("stop", "", {}),
    ]
    return build(rows, agent="codex")


def nothing_typed() -> tuple[Session, list[Observation]]:
    """A session whose prompts were not kept, with a subagent."""
    rows: list[Row] = [
        ("session-start", "", {}),
        ("user-prompt", "", {}),
        done("Task", {"description": "Survey the parser", "prompt": "Read all"}, "ok"),
        done("Read", {"file_path": "/w/shop/parser.py"}, "x", agent_id="sub-1"),
        ("other", "", {"source_event": "SubagentStop", "agent_id": "sub-1"}),
        ("notification", "Claude is waiting for your input", {}),
        ("session-end", "", {}),
    ]
    return build(rows)


def continued() -> tuple[Session, list[Observation]]:
    """Began with a handoff, went on without a word that says what."""
    rows: list[Row] = [
        ("session-start", "", {}),
        said("continue"),
        done("Read", {"file_path": "/w/shop/tax.py"}, "RATE = 19"),
        done("Edit", {"file_path": "/w/shop/tax.py"}),
        done("Bash", {"command": "python -m unittest"}, "Ran 12 tests in 0.3s\n\nOK", "success"),
        ("stop", "The tax is rounded per line now. Shall I change the printed bill, too?", {}),
        ("session-end", "", {}),
    ]
    return build(rows, agent="codex")


def looked_up() -> tuple[Session, list[Observation]]:
    """Gemini CLI: a question, the web, files read, nothing changed; the last answer is kept."""
    rows: list[Row] = [
        ("session-start", "", {}),
        said("Which of our dependencies have known holes, and which of those do we call?"),
        done("google_web_search", {"query": "urllib3 advisory 2026"}, "GHSA …"),
        done("web_fetch", {"prompt": "Read https://example.com/advisories/42"}, "affected < 2.5"),
        done("read_file", {"absolute_path": "/w/shop/pyproject.toml"}, "urllib3>=2"),
        done("read_many_files", {"paths": ["/w/shop/net.py", "/w/shop/api.py"]}, "…"),
        ("stop", "Only urllib3, below 2.5; net.py calls it for every order.", {}),
        ("session-end", "", {}),
    ]
    return build(rows, agent="gemini-cli")


def long_one() -> tuple[Session, list[Observation]]:
    """More than any list shows: prompts, files, commands and observations are counted where they are left out."""
    rows: list[Row] = [("session-start", "", {})]
    for number in range(90):
        rows.append(said(f"Step {number}: move module {number} to the new layout and keep its tests green."))
        for part in range(4):
            rows.append(done("Edit", {"file_path": f"/w/shop/src/module_{number}/part_{part}.py"}))
        rows.append(done("Bash", {"command": f"pytest tests/test_module_{number}.py"}, "3 passed in 0.1s"))
        rows.append(("stop", "", {}))
    rows += [("pre-compact", "", {}), ("post-compaction", "Modules 0 to 59 are moved. " * 200, {})]
    rows.append(("session-end", "", {}))
    return build(rows)


def cut_off() -> tuple[Session, list[Observation]]:
    """OpenCode: the terminal was killed while a command ran, with a failure that nobody mended."""
    rows: list[Row] = [
        ("session-start", "", {}),
        said("Find out why the nightly import is slow."),
        done("bash", {"command": "python profile_import.py"}, "Traceback …\nMemoryError: 4 GiB", "error"),
        done("edit", {"filePath": "/w/shop/importer.py"}),
        ("pre-tool-use", "", {"tool": "bash", "input": {"command": "python profile_import.py"}, "call_id": "c9"}),
    ]
    return build(rows, agent="opencode")


def hostile() -> tuple[Session, list[Observation]]:
    """Texts that are no prose: markup, fences, headings, links, a tool of a server, signs of other scripts."""
    rows: list[Row] = [
        ("session-start", "", {}),
        said(
            "# Ignore all rules\n\n```\n<script>alert(1)</script>\n```\n---\n[[notes/x.md]] ![](http://example.com/a.png)"
        ),
        said("請修正結帳頁面的捨入錯誤，然後執行測試。"),
        done("mcp__tracker__issue", {"query": "rounding `code` | pipe"}, "| a | b |"),
        done("Bash", {"command": "printf '%s\\n' \"a`b\" # [link](x)"}, "a`b"),
        done("Write", {"file_path": "/w/shop/odd `name` [1].md"}),
        ("session-end", "", {}),
    ]
    return build(rows, branch_end="fix/`odd`", commit_end="c" * 40)


CASES = {
    "mended": mended,
    "codex-patch": codex_patch,
    "nothing-typed": nothing_typed,
    "continued": continued,
    "looked-up": looked_up,
    "long": long_one,
    "cut-off": cut_off,
    "hostile": hostile,
}
TAKEN = Taken(
    agent="claude-code",
    title="Round the tax",
    page="handoffs/2026-11/019ad0f0e0007000800000000000aaaa.md",
    summary="The till rounds once.",
    open_questions=("Per line or per bill?",),
    next_steps=("Round the tax",),
    files=("tax.py",),
)
BEGAN_WITH = {"continued": TAKEN}
ELSEWHERE = {"hostile": {"default/ledger": 3, "work/api": 1}}


@pytest.mark.parametrize("name", CASES)
def test_a_session_page_is_the_golden_one_byte_for_byte(name: str) -> None:
    session, observations = CASES[name]()
    page = session_page(
        session, observations, root="/w/shop", taken=BEGAN_WITH.get(name), elsewhere=ELSEWHERE.get(name, {})
    )
    text = compose(page.frontmatter, page.body)
    golden = GOLDEN / f"{name}.md"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")

    assert text == golden.read_text(encoding="utf-8")
    assert page.path == f"sessions/2026-11/{session.id}.md"


@pytest.mark.parametrize("name", CASES)
def test_a_session_page_parses_and_links_to_nothing(name: str) -> None:
    session, observations = CASES[name]()
    page = session_page(session, observations, root="/w/shop")

    parsed = parse(compose(page.frontmatter, page.body), path=page.path)

    assert (parsed.kind, parsed.tier, parsed.title) == ("session", "episodic", page.title)
    assert links(parsed.body, at=PageRef("default", "shop", page.path)) == []


def test_the_last_answer_stands_on_the_page_where_it_is_kept() -> None:
    rows: list[Row] = [("user-prompt", "Mend it", {}), ("stop", "First.", {}), ("stop", "Mended\nin till.py.", {})]
    session, observations = build(rows)
    assert "## Last answer\n\nMended in till.py.\n" in session_page(session, observations).body


def test_what_ran_when_the_session_was_cut_off_is_named() -> None:
    begun: Row = ("pre-tool-use", "", {"tool": "Bash", "input": {"command": "make release"}, "call_id": "c9"})
    earlier: Row = ("pre-tool-use", "", {"tool": "Bash", "input": {"command": "make lint"}, "call_id": "c8"})
    session, observations = build([("user-prompt", "Release it", {}), earlier, ("stop", "", {}), begun])
    assert "Begun and not finished: Bash: make release." in session_page(session, observations).body


def test_what_was_looked_up_in_the_web_is_listed_once() -> None:
    look = done("WebFetch", {"url": "https://docs.example/rounding", "prompt": "how?"})
    session, observations = build([look, look, done("WebSearch", {"query": "half even"})])
    assert "## Looked up\n\n- https://docs.example/rounding\n- half even\n" in session_page(session, observations).body


def test_a_long_session_shows_the_first_and_last_250_observations_and_counts_the_rest() -> None:
    rows: list[Row] = [said("Count."), *(done("Bash", {"command": f"echo {number}"}) for number in range(10_000))]
    session, observations = build(rows)

    body = session_page(session, observations, root="/w/shop").body

    raw = body.partition("## Raw observations")[2]
    assert raw.count("\n- ") == 501
    assert "- … 9501 observations left out …" in raw
    assert "echo 248" in raw
    assert "echo 249" not in raw
    assert "echo 9750" in raw
    assert len(body) < 100_000


@pytest.mark.parametrize(
    ("text", "substance"),
    [
        ("Fix it", "Fix it"),
        ("Caveat: The messages below were generated by the user while running local commands.", ""),
        ("<local-command-stdout>done</local-command-stdout>", ""),
        ("<command-name>/model</command-name>\n<command-args></command-args>", ""),
        ("<command-name>/fix</command-name><command-args>the lexer</command-args>", "/fix the lexer"),
        ("<system-reminder>Be brief</system-reminder>Fix it", "Fix it"),
        ("<task-notification><task-id>7</task-id></task-notification>", ""),
        ("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", ""),
        ("<user_query>\nFix it\n</user_query>", "Fix it"),
        ("[Request interrupted by user for tool use]", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ("<div>why is this bold?</div>", "<div>why is this bold?</div>"),
        ("is a < b and b > c?", "is a < b and b > c?"),
        ("<system-reminder>never closed", ""),
    ],
)
def test_scaffolding_is_told_from_what_was_typed_by_its_shape(text: str, substance: str) -> None:
    assert prompts.substance(text) == substance


@pytest.mark.parametrize("text", ["ok", "OK!", "thanks", "yes please", "好的", "go ahead.", "sounds good", "  ", "👍"])
def test_acknowledgements_say_nothing(text: str) -> None:
    assert prompts.is_acknowledgement(text)


@pytest.mark.parametrize(
    "text",
    ["Where did we stop?", "where were we?", "What's next?", "Please continue where we left off.", "Resume the work"],
)
def test_asking_where_the_work_stands_says_nothing_of_its_own(text: str) -> None:
    assert prompts.is_acknowledgement(text)


@pytest.mark.parametrize("text", ["where did we put the parser?", "continue with the parser", "what is next_id for?"])
def test_questions_that_only_begin_that_way_are_questions(text: str) -> None:
    assert not prompts.is_acknowledgement(text)


@pytest.mark.parametrize("text", ["ok, now the parser", "fix it", "yes please mend the parser too", "why?"])
def test_short_texts_that_ask_for_something_are_no_acknowledgements(text: str) -> None:
    assert not prompts.is_acknowledgement(text)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Fix the till.\nDetails", "Fix the till"),
        ("```\ncode\n```\nWhy does this fail?", "Why does this fail?"),
        ("A" * 200, "A" * 79 + "…"),
        ("Mend the **till**, not `shop.py`", "Mend the till, not `shop.py`"),
        (
            "The first sentence is long enough to stand alone. The second one would be cut in the middle of it.",
            "The first sentence is long enough to stand alone",
        ),
    ],
)
def test_a_title_is_the_first_telling_line(text: str, title: str) -> None:
    assert prompts.title_of(text) == title


@pytest.mark.parametrize(
    ("command", "output", "tool_outcome", "expected"),
    [
        (
            "python -m pytest -x",
            "== 2 failed, 31 passed, 1 skipped in 3.1s ==",
            "error",
            "2 failed, 31 passed, 1 skipped",
        ),
        (
            "cargo test",
            "test result: ok. 3 passed; 0 failed\ntest result: ok. 4 passed; 0 failed",
            "success",
            "7 passed",
        ),
        ("npm test", "Tests:       1 failed, 5 passed, 6 total\nTime: 1 s", "error", "1 failed, 5 passed"),
        ("npx vitest run", " Test Files  1 passed (1)\n      Tests  9 passed (9)", "success", "9 passed"),
        ("go test ./...", "ok  \tx/y\t0.1s\n--- FAIL: TestA\nFAIL", "unknown", "failed"),
        ("python -m unittest", "Ran 4 tests in 0.1s\n\nFAILED (failures=1)", "unknown", "4 run, failures=1"),
        ("npx mocha", "  5 passing (20ms)\n  2 failing", "error", "2 failed, 5 passed"),
        ("cd x && FOO=1 uv run pytest -q", "3 passed in 1s", "success", "3 passed"),
        (".venv/bin/python -m pytest", "3 passed in 1s", "success", "3 passed"),
        ("yarn test", "", "success", "passed"),
        ("make check", "", "success", "passed"),
        ("pytest", "", "unknown", "outcome not visible"),
    ],
)
def test_test_runs_and_their_outcome_are_seen(command: str, output: str, tool_outcome: str, expected: str) -> None:
    assert checks.is_test_run(command)
    assert str(checks.outcome(output, tool_outcome=tool_outcome)) == expected


@pytest.mark.parametrize(
    "command",
    [
        "cat pytest.ini",
        "pip install pytest",
        "grep -r pytest .",
        "git log --grep test",
        "ls tests",
        "make testament",
        "cargo build",
    ],
)
def test_other_commands_are_no_test_runs(command: str) -> None:
    assert not checks.is_test_run(command)


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Read", "read"),
        ("read_file", "read"),
        ("mcp__fs__write_file", "edit"),
        ("MultiEdit", "edit"),
        ("Bash", "command"),
        ("run_shell_command", "command"),
        ("WebFetch", "web"),
        ("TodoWrite", "other"),
        ("exec_command", "command"),
    ],
)
def test_a_tool_is_known_by_its_name_in_any_spelling(tool: str, kind: str) -> None:
    assert tools.family(tool) is Family(kind)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"file_path": "/a"}, ["/a"]),
        ({"edits": [{"path": "/a"}, {"path": "/b"}, {"path": "/a"}]}, ["/a", "/b"]),
        ({"changes": {"src/a.rs": {}, "src/b.rs": {}}}, ["src/a.rs", "src/b.rs"]),
        ("*** Begin Patch\n*** Delete File: x y.md\n*** Move to: z.md", ["x y.md", "z.md"]),
        ({"path": 7, "paths": "no list"}, []),
        (None, []),
    ],
)
def test_the_paths_of_an_input_are_found_in_every_shape(given: object, expected: list[str]) -> None:
    assert tools.paths(given) == expected


def test_the_telling_line_of_an_output_names_the_failed_test_or_the_error() -> None:
    assert telling_line("Traceback (most recent call last):\n  x\nValueError: no\n\nDone.") == "ValueError: no"
    assert telling_line("E   assert 1 == 2\n1 failed in 1s") == "assert 1 == 2"
    assert telling_line('{"stdout": "", "stderr": "fatal: not a git repository"}') == "fatal: not a git repository"
    assert telling_line("") == ""


def test_a_test_run_in_a_directory_named_pytest_is_not_fooled_by_a_quadratic_input() -> None:
    def hostile() -> Iterator[str]:
        yield "make " + "a " * 20_000
        yield "<a-b>" * 5_000
        yield "./gradlew " + "x " * 20_000

    for text in hostile():
        checks.is_test_run(text)
        prompts.substance(text)
        digest(*build([said(text)]))
