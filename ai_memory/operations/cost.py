"""What memory costs an agent, in tokens: its tools, what starts and prompts are told, what its answers hold."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ai_memory.capture.counting import COMMAND_LINE, day_of
from ai_memory.config_table import Budget
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Field
from ai_memory.store.usage import calls_since
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

TOKEN_BYTES = 4
"""Decision C10."""
SERVED = Path(__file__).resolve().parent.parent / "bridge" / "manifest.json"
"""What clients are served: generated from the table of operations, and read here as data."""

What = Literal["start", "prompt", "answer"]
_TOLD: dict[str, What] = {"hook:start": "start", "hook:prompt": "prompt"}


@dataclass(frozen=True, slots=True)
class ProfileCost:
    """What a session pays before it asks anything, where a client loads the tools of that profile."""

    profile: str
    tools: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one client was given by one name, over all those days."""

    client: str
    what: What
    name: str
    """Of a tool or command."""
    times: int
    tokens: int
    tokens_each: int


@dataclass(frozen=True, slots=True)
class Cost:
    since: str
    """The first day that counts, UTC."""
    days: int
    profiles: tuple[ProfileCost, ...]
    instructions_tokens: int
    """Of the server's own instructions, beside the tools."""
    costs: tuple[CostRow, ...]
    total_tokens: int
    """Of all rows of agents, also those that `limit` leaves out."""
    budget: Budget
    """What `[budget]` allows; 0 leaves it at the program's own bounds."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def cost(
    memory: "Memory",
    *,
    days: Annotated[int, Field("of the last days", ge=1, le=400)] = 30,
    client: Annotated[str | None, Field("only this agent or MCP client")] = None,
    everyone: Annotated[bool, Field("also what was asked outside any agent", flags=("--all",))] = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
) -> Cost:
    """Show what memory costs agents in tokens: tools, starts, prompts, answers, by client and tool.
    A token is a quarter of the UTF-8 bytes. It is as of the last drain; no LLM is called, so none is counted.
    """
    since = day_of(memory.clock() - (days - 1) * DAY_US)
    sums: dict[tuple[str, What, str], tuple[int, int]] = {}
    with memory.state_reading() as connection:
        for one in calls_since(connection, since):
            what = _TOLD.get(one.name, "answer")
            key = (one.client, what, one.name if what == "answer" else "")
            times, size = sums.get(key, (0, 0))
            sums[key] = (times + one.calls, size + one.bytes)
    rows = [
        CostRow(*key, times, _tokens(size), _tokens(-(-size // times)))
        for key, (times, size) in sums.items()
        if times and (client is None or key[0] == client) and (everyone or client or key[0] != COMMAND_LINE)
    ]
    rows.sort(key=lambda row: (-row.tokens, row.client, row.what, row.name))
    profiles, instructions, gaps = _served()
    config = configured(memory)
    return Cost(
        since,
        days,
        profiles,
        instructions,
        tuple(rows[:limit]),
        sum(row.tokens for row in rows if row.client != COMMAND_LINE),
        config.budget if config is not None else Budget(),
        gaps,
        max(0, len(rows) - limit),
    )


def _tokens(size_bytes: int) -> int:
    return -(-size_bytes // TOKEN_BYTES)


def _served() -> tuple[tuple[ProfileCost, ...], int, tuple[str, ...]]:
    try:
        served: dict[str, Any] = json.loads(SERVED.read_text(encoding="utf-8"))
        rows, words = served["tools"], str(served["initialize"]["instructions"])
    except (OSError, ValueError, KeyError, TypeError):
        return (), 0, ("the list of tools could not be read: install the program anew",)
    served_by = {
        "core": [row["tool"] for row in rows if row["profile"] == "core"],
        "full": [row["tool"] for row in rows],
    }
    listed = tuple(ProfileCost(name, len(tools), _tokens(_size(tools))) for name, tools in served_by.items())
    return listed, _tokens(len(words.encode("utf-8", "replace"))), ()


def _size(tools: list[Any]) -> int:
    return len(json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))


def cost_text(result: Cost) -> str:
    """What each session pays, then what was given to whom."""
    served = [f"{one.profile}: {one.tools} tools, {one.tokens:,} tokens" for one in result.profiles]
    lines = (
        [f"each session loads {'; '.join(served)}; instructions {result.instructions_tokens:,} tokens"]
        if served
        else []
    )
    total = f"{result.total_tokens:,} tokens given to agents" if result.costs else "nothing was given to agents"
    lines.append(f"since {result.since}: {total}")
    for row in result.costs:
        name = f" of {row.name}" if row.name else ""
        each = f", {row.tokens_each:,} each" if row.times > 1 else ""
        count = f"1 {row.what}" if row.times == 1 else f"{row.times:,} {row.what}s"
        lines.append(f"- {row.client} · {count}{name} · {row.tokens:,} tokens{each}")
    allowed = {
        "a start": result.budget.start_max_tokens,
        "a prompt": result.budget.prompt_max_tokens,
        "an answer": result.budget.answer_max_tokens,
    }
    bounds = [f"{what} {most:,}" for what, most in allowed.items() if most]
    lines.append(f"[budget] allows {', '.join(bounds)} tokens" if bounds else "[budget] sets no bounds of its own")
    return "\n".join(lines)
