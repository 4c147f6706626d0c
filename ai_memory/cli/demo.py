"""`ai-memory demo`: a recorded Claude Code session, its page, its handoff to Codex, a search.

All of it is real and thrown away. Every step runs the installed program in processes of its own, as a harness and a
person would. A step that does not show what it must fails the demo. Nothing outside one temporary folder is touched.
"""

import json
import secrets
import shutil
import statistics
import string
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from ai_memory.cli.call import Call
from ai_memory.cli.demo_checkout import FILES, make_checkout
from ai_memory.cli.demo_stage import (
    Stage,
    Unshown,
    ask_ai_memory,
    drain_is_alive,
    handoffs_waiting,
    look_for,
    must_hold,
    quarantined,
    recorded_session,
    rows,
    run_ai_memory,
    run_hook,
    spool_state,
    spooled,
    start_codex,
    wait_until,
)
from ai_memory.errors import StoreFault
from ai_memory.operations.field import Field

EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
"""Claude Code's event name -> what its hook entry passes as `--event`."""
QUERY = "refund rounding half even"
FIRST_WORDS = "Order 4711 prints a total"
OPEN_QUESTION = "CSV import accept a comma"
CODEX_SESSIONS = ("019dc0de-0000-7000-8000-000000000001", "019dc0de-0000-7000-8000-000000000002")
DRAIN_DEADLINE_S = 20.0
"""Far above the budget (1 s): a slow machine is not a failed demo."""
PAGE_LINES = 40


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the demo and what came of it."""

    name: str
    took_ms: float
    shows: str
    """What a person sees: output of the program, word for word."""
    problem: str = ""
    """Why the step failed; empty when it did not."""

    @property
    def ok(self) -> bool:
        return not self.problem


def demo(call: Call, *, keep: Annotated[bool, Field("leave the folder for you to look at")] = False) -> int:
    """Watch a recorded session become memory and reach the next agent.

    Works in a temporary folder: your memory is neither read nor written.
    """
    room = Path(tempfile.mkdtemp(prefix="ai-memory-demo-")).resolve()
    stage = Stage(room, "ghp_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(36)))
    say = _say_nothing if call.is_json else partial(print, flush=True)
    steps: list[Step] = []
    try:
        say(f"Everything happens in {room}{'' if keep else ', which is removed at the end'}.")
        for step in play(stage):
            steps.append(step)
            say(describe(step, len(steps)))
    finally:
        wait_until(lambda: not spooled(stage) and not drain_is_alive(stage), DRAIN_DEADLINE_S)
        if not keep:
            shutil.rmtree(room, ignore_errors=True)
    ok = all(step.ok for step in steps)
    say("\nEvery step showed what it must." if ok else "\nThe demo failed.")
    if call.is_json:
        print(json.dumps(answer(steps, room if keep else None), ensure_ascii=False))
    return 0 if ok else 1


def _say_nothing(_text: str) -> None:
    """Stands where a person would read along."""


def play(stage: Stage) -> Iterator[Step]:
    """The steps one after the other; the first that fails is the last."""
    acts: tuple[tuple[str, Callable[[Stage], str]], ...] = (
        ("A git checkout of a small shop with a rounding bug, and a new data dir", _open_shop),
        ("Claude Code works on it, and stops half way", _record_session),
        ("The drain turns events into pages", _wait_for_drain),
        ("The page of that session", _show_session_page),
        ("Codex starts in the same folder and is told where the work stands", _start_second_agent),
        ("A third start is told nothing: a handoff is taken once", _start_third_agent),
        (f"ai-memory search '{QUERY}'", _search),
        ("Reading the best hit through", _read_best_hit),
        ("The key that the person typed is nowhere in the data dir", _look_for_secret),
    )
    for name, act in acts:
        began = time.perf_counter()
        problem = ""
        try:
            shows = act(stage)
        except Unshown as unshown:
            problem, shows = str(unshown), unshown.shows
        yield Step(name, round((time.perf_counter() - began) * 1000, 1), shows, problem)
        if problem:
            return


def describe(step: Step, number: int) -> str:
    """The step as text for a terminal."""
    lines = step.shows.rstrip().splitlines()
    more = len(lines) - PAGE_LINES
    shown = [f"   {line}".rstrip() for line in lines[:PAGE_LINES]] + ([f"   ({more} more lines)"] if more > 0 else [])
    failed = [f"   FAILED: {step.problem}"] if step.problem else []
    return "\n".join(["", f"{number}. {step.name}  [{step.took_ms:,.0f} ms]", *shown, *failed])


def answer(steps: list[Step], kept: Path | None) -> dict[str, object]:
    """The demo as one JSON object; a failed one carries `error` too."""
    done = [asdict(step) | {"ok": step.ok} for step in steps]
    failed = next((step for step in steps if not step.ok), None)
    found: dict[str, object] = {"v": 1, "ok": failed is None, "scope": None}
    if failed:
        hint = "Run `ai-memory demo --keep` and look at what it left."
        found["error"] = {"code": StoreFault.code, "message": f"{failed.name}: {failed.problem}", "hint": hint}
    return found | {"steps": done, "kept": str(kept) if kept else None, "gaps": [], "omitted": 0}


def _open_shop(stage: Stage) -> str:
    commit = make_checkout(stage.checkout)
    (stage.room / "home").mkdir()
    return f"{', '.join(FILES)} at commit {commit[:12]}\n{run_ai_memory(stage, 'init')}"


def _record_session(stage: Stage) -> str:
    times: list[float] = []
    payloads = list(recorded_session(stage))
    for payload in payloads:
        began = time.perf_counter()
        run_hook(stage, "claude-code", EVENTS[str(payload["hook_event_name"])], payload)
        times.append((time.perf_counter() - began) * 1000)
    prompts = [f"> {payload['prompt']}" for payload in payloads if "prompt" in payload]
    figures = f"median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms"
    calls = f"{len(payloads)} hook calls, each a process of its own: {figures}"
    return "\n".join([calls, *prompts]).replace(stage.secret, stage.secret[:8] + "…")


def _wait_for_drain(stage: Stage) -> str:
    began = time.perf_counter()
    if not wait_until(lambda: not spooled(stage) and handoffs_waiting(stage) > 0, DRAIN_DEADLINE_S):
        raise Unshown(f"events wait, or no handoff is ready, after {DRAIN_DEADLINE_S:.0f} s", spool_state(stage))
    took_ms = (time.perf_counter() - began) * 1000
    if broken := quarantined(stage):
        raise Unshown(f"{len(broken)} events could not be applied", "\n".join(broken))
    return f"all events applied and the handoff ready {took_ms:,.0f} ms after the session ended; none in quarantine"


def _show_session_page(stage: Stage) -> str:
    pages = rows(ask_ai_memory(stage, "pages", "--kind", "session"), "pages")
    if len(pages) != 1:
        raise Unshown(f"expected one session page, found {len(pages)}", json.dumps(pages, indent=1))
    page = run_ai_memory(stage, "read-page", str(pages[0]["path"]))
    must_hold(page, FIRST_WORDS, "shop/invoice.py", OPEN_QUESTION, "[REDACTED")
    return page


def _start_second_agent(stage: Stage) -> str:
    text = start_codex(stage, CODEX_SESSIONS[0])
    if not text:
        raise Unshown("Codex was given nothing")
    must_hold(text, OPEN_QUESTION)
    return text


def _start_third_agent(stage: Stage) -> str:
    text = start_codex(stage, CODEX_SESSIONS[1])
    if OPEN_QUESTION in text:
        raise Unshown("the handoff was given twice", text)
    return text or "(nothing)"


def _search(stage: Stage) -> str:
    if not rows(ask_ai_memory(stage, "search", QUERY), "hits"):
        raise Unshown("the search found nothing")
    return run_ai_memory(stage, "search", QUERY)


def _read_best_hit(stage: Stage) -> str:
    hits = rows(ask_ai_memory(stage, "search", QUERY), "hits")
    page = run_ai_memory(stage, "read-page", str(hits[0]["path"]))
    must_hold(page, "refund")
    return page


def _look_for_secret(stage: Stage) -> str:
    seen, leaks = look_for(stage.secret.encode(), stage.data_dir.root)
    if leaks or not seen:
        raise Unshown("the key stands in the data dir" if leaks else "the data dir is empty", "\n".join(leaks))
    return f"{seen} files read, compressed git objects unpacked"
