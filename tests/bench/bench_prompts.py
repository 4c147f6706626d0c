"""What real prompts are told unasked: how many are told anything, and of what (`[recall] on_prompt`).

Run by hand: `python tests/bench/bench_prompts.py --sessions DIR --others DIR [--sample N] [--coverage C]`. Both are
sets of `ai-memory bench retrieval`. `--sessions` holds one document a session, whose first lines are what was typed;
those whose ids begin with a day are taken in their order. Each prompt is looked up in all sessions of earlier days, as
a memory of one project would hold them, and in the pages of `--others`, another project, where nothing answers it. A
hit counts as right by rule where its session worked on the same branch: a lower bound, since other sessions speak of
the same things; `--sample` prints hits to judge by eye. Prints markdown for `docs/search.md`.
"""

import argparse
import json
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path

import measure

from ai_memory import hook_lookup
from ai_memory.capture.lookup import Entry, entries_of, render
from ai_memory.hook_lookup import Lexicon, Passage, is_asking
from ai_memory.model import Page, PageRef
from ai_memory.text.sanitize import NO_PATTERNS

_ANSWER = re.compile(
    r"(?:let me|i'll|i will|i've|i can see|now|perfect|good|great|excellent|based on|the \w+ (?:is|are)|looking|done"
    r"|you're right|this session is being continued|here'?s|#|\*\*|```|\||-\s|\d+\.\s|<|\s|this is|yes,)",
    re.IGNORECASE,
)
"""How a line of an agent's answer begins, or one that belongs to a pasted block."""
_NOTICE = re.compile(r"Link this commit|\[Request interrupted|Operation stopped|You have an active|Prompt:|[-⎿]")
"""Lines that a harness wrote between prompts."""
MOST_OF_SESSION = 15


@dataclass(frozen=True)
class Session:
    """One document: the branch it worked on, what was typed, and all of its text."""

    id: str
    branch: str
    prompts: tuple[str, ...]
    text: str


def documents(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]


def dated(folder: Path) -> list[Session]:
    found = [one for one in documents(folder) if re.match(r"20\d\d-\d\d-\d\d-", one["id"])]
    return [
        Session(one["id"], one["title"], prompts_of(one["text"]), one["text"])
        for one in sorted(found, key=lambda one: one["id"])
    ]


def prompts_of(text: str) -> tuple[str, ...]:
    """The lines before the agent's first answer."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            break
        if found and _ANSWER.match(line):
            break
        if not _NOTICE.match(line):
            found.append(line.strip())
    return tuple(found[:MOST_OF_SESSION])


def passages(name: str, title: str, text: str, kind: str) -> list[Entry]:
    ref = PageRef("default", "bench", f"{'sessions' if kind == 'session' else 'notes'}/{name}.md")
    page = Page(ref, "0" * 40, text, title, kind, "episodic" if kind == "session" else "semantic", body=text)
    return list(entries_of(page, (0, 0), NO_PATTERNS))


def lexicon(entries: list[Entry]) -> Lexicon:
    return Lexicon(render({"v": 1, "place": "default/bench"}, entries, left_out=0).encode())


def told(memory: Lexicon, prompt: str, seen: set[str]) -> list[Passage]:
    return memory.hits(prompt, seen=seen, is_usable=lambda _: True) if is_asking(prompt) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=Path, required=True)
    parser.add_argument("--others", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--coverage", type=float, default=hook_lookup.LEAST_COVERAGE)
    asked = parser.parse_args()
    hook_lookup.LEAST_COVERAGE = asked.coverage
    sessions = dated(asked.sessions)
    branches = {f"default/bench/sessions/{one.id}.md": one.branch for one in sessions}
    before = [passages(one.id, one.branch, one.text, "session") for one in sessions]
    elsewhere = lexicon(
        [entry for one in documents(asked.others) for entry in passages(one["id"], one["title"], one["text"], "note")]
    )
    prompts = answered = right = hits = off_topic = 0
    spent_s, shown = 0.0, []
    for place, session in enumerate(sessions):
        days = [rows for one, rows in zip(sessions[:place], before, strict=False) if one.id[:10] < session.id[:10]]
        if not days or not session.prompts:
            continue
        memory = lexicon([entry for rows in reversed(days) for entry in rows])
        seen: set[str] = set()
        for prompt in session.prompts:
            begun = time.process_time()
            found = told(memory, prompt, seen)
            spent_s += time.process_time() - begun
            prompts += 1
            answered += bool(found)
            hits += len(found)
            right += sum(branches[one.path] == session.branch for one in found)
            off_topic += bool(told(elsewhere, prompt, set()))
            shown += [(session, prompt, one) for one in found]
    print(f"\n{measure.facts()}\n")
    print("| prompts | told something | hits | of the same branch | told something of another project | CPU ms |")
    print("|---:|---:|---:|---:|---:|---:|")
    print(
        f"| {prompts} | {answered} ({answered / prompts:.1%}) | {hits} | {right} ({right / max(1, hits):.0%})"
        f" | {off_topic} ({off_topic / prompts:.1%}) | {spent_s * 1000 / prompts:.2f} |"
    )
    for session, prompt, one in random.Random(7).sample(shown, min(asked.sample, len(shown))):
        terms = frozenset(hook_lookup.words(prompt))
        mark = "=" if branches[one.path] == session.branch else " "
        print(f"\n{mark} [{session.branch}] {prompt[:300]}")
        print(f"    -> [{one.title}] {hook_lookup.excerpt(one.text, terms)}")


if __name__ == "__main__":
    main()
