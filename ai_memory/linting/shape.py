"""What a page is made of: nothing, too much, what cannot be read; rules that agents should have at hand."""

import os
from collections.abc import Iterator
from pathlib import Path

from ai_memory.linting.finding import Finding, Mend, Severity, command
from ai_memory.linting.ground import PAST_KINDS, Ground, is_rule, is_slot
from ai_memory.plainfile import open_plain
from ai_memory.store.page_heads import PageHead
from ai_memory.text.plain import clip, printable
from ai_memory.text.sanitize import sanitize_line

MOST_BYTES = 32 << 10
"""Of a page's body: what is longer is cut in answers, and its end is seldom read."""
MOST_RULE_TOKENS = 2_000
"""Of a rule: all starts of a project share about as much (decision C10)."""
BYTES_A_TOKEN = 4
FAULT_BYTES = 200
INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
MOST_INSTRUCTIONS = 1 << 20
_EMPTY_KEYS = frozenset({"title", "kind", "tier", "tags", "created_at", "updated_at", "date"})
"""What a page may say of itself and still say nothing."""


def empty(ground: Ground) -> Iterator[Finding]:
    """Pages without a body. One that says nothing else either may go by itself, where nobody links to it."""
    linked = None
    for head in ground.lasting:
        if head.kind == "fact" or not ground.marks[head.ref].is_empty:
            continue
        is_nothing = not (head.pinned or is_rule(head) or is_slot(head)) and set(head.frontmatter) <= _EMPTY_KEYS
        if is_nothing and linked is None:
            linked = ground.linked
        yield Finding(
            "empty",
            Severity.WARNING,
            "says nothing",
            (head.ref,),
            command("delete-page", str(head.ref)),
            mend=Mend.REMOVE if is_nothing and head.ref not in (linked or ()) else None,
        )


def oversized(ground: Ground) -> Iterator[Finding]:
    """Pages that are too long to be read as a whole, and rules that leave no room for others."""
    for head in ground.live:
        size = ground.marks[head.ref].body_bytes
        tokens = -(-size // BYTES_A_TOKEN)
        fix = command("edit", str(head.ref))
        figures = {"bytes": size, "tokens": tokens}
        if is_rule(head) and tokens > MOST_RULE_TOKENS:
            message = f"is a rule of more than {MOST_RULE_TOKENS:,} tokens: a start has no room for it"
            yield Finding("oversized", Severity.WARNING, message, (head.ref,), fix, figures=figures)
        elif size > MOST_BYTES and head.kind not in PAST_KINDS:
            message = f"is longer than {MOST_BYTES >> 10} KB: several pages are found better"
            yield Finding("oversized", Severity.INFO, message, (head.ref,), fix, figures=figures)


def unreadable(ground: Ground) -> Iterator[Finding]:
    """Pages of which a part cannot be read: it counts as missing."""
    for head in ground.heads.values():
        if head.fault:
            why = printable(clip(sanitize_line(head.fault), FAULT_BYTES))
            message = f"cannot be read in full: {why}"
            yield Finding("unreadable", Severity.WARNING, message, (head.ref,), command("edit", str(head.ref)))


def rules(ground: Ground) -> Iterator[Finding]:
    """Rules that the instruction files of the caller's checkout do not tell; of other projects each rule."""
    told = _instructions(ground.root)
    here = (ground.scope.workspace, ground.scope.project) if ground.scope is not None and ground.root else None
    for head in ground.live:
        if is_rule(head) and not ((head.ref.workspace, head.ref.project) == here and _is_told(head, told)):
            yield Finding(
                "rule_suggestion",
                Severity.INFO,
                "is a rule: an agent without this memory knows it only from AGENTS.md or CLAUDE.md",
                (head.ref,),
                f"copy it: {command('read-page', str(head.ref))}",
            )


def _is_told(head: PageHead, instructions: str) -> bool:
    return head.ref.path.casefold() in instructions or _flat(head.title) in instructions


def _instructions(root: str | None) -> str:
    """The instruction files of the checkout in one flat text; nothing where there is none."""
    if root is None:
        return ""
    texts = []
    for name in INSTRUCTION_FILES:
        path = Path(root, name)
        if not os.path.lexists(path):
            continue
        try:
            with open_plain(path) as file:
                texts.append(file.read(MOST_INSTRUCTIONS).decode("utf-8", "replace"))
        except (OSError, ValueError):
            continue
    return _flat("\n".join(texts))


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
