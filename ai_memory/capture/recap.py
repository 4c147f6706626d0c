"""The recap of a session that was compacted: what was asked between its last two compactions. Pure, no clock."""

from collections.abc import Sequence

from ai_memory.capture import prompts
from ai_memory.capture.words import count, minute
from ai_memory.store.state_sessions import Observation
from ai_memory.text.fences import fence, neutralise

MAX_RECAP = 4_000
"""Characters; the rest of what is injected belongs to the brief."""
MAX_PROMPT = 500
MAX_PROMPTS = 60
MAX_ANSWER = 1_200
COMPACTION = "pre-compact"
TOLD = ("user-prompt", "stop", COMPACTION)
"""Kinds of observations that a recap looks at."""


def render(observations: Sequence[Observation], *, source: str) -> str:
    """The recap of a session from its prompts, stops and compactions in order; empty when it was never compacted.

    At most 4,000 characters, the newest prompts first to stay. `source`: what the fence says of where it comes from.
    """
    span = _span(observations)
    if not span:
        return ""
    asked = [
        neutralise(prompts.shorten(prompts.one_line(said), MAX_PROMPT))
        for row in span
        if row.kind == "user-prompt" and not row.agent_id and (said := prompts.substance(row.text))
    ]
    answers = [row.text for row in span if row.kind == "stop" and row.text and not row.agent_id]
    answer = neutralise(prompts.shorten(prompts.one_line(answers[-1]), MAX_ANSWER)) if answers else ""
    head = f"Recap of this session up to its last compaction, {minute(span[-1].at_us)}\n\n"
    kept = min(len(asked), MAX_PROMPTS)
    while True:
        text = f"{head}{fence(_inside(asked, kept, answer), source=source)}"
        if len(text) <= MAX_RECAP or not kept:
            return text
        kept -= 1


def _span(observations: Sequence[Observation]) -> Sequence[Observation]:
    """From the compaction before the last one, or the beginning, to the last one."""
    at = [number for number, row in enumerate(observations) if row.kind == COMPACTION]
    if not at:
        return ()
    return observations[at[-2] if len(at) > 1 else 0 : at[-1] + 1]


def _inside(asked: Sequence[str], kept: int, answer: str) -> str:
    left_out = len(asked) - kept
    lines = [f"({count(left_out, 'earlier prompt')} left out)"] if left_out else []
    lines += [f"{number}. {text}" for number, text in enumerate(asked[left_out:], left_out + 1)]
    sections = ["## Prompts\n\n" + ("\n".join(lines) or "None was typed.")]
    if answer:
        sections.append(f"## Last answer\n\n{answer}")
    return "\n\n".join(sections)
