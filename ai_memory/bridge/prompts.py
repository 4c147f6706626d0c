"""Prompts that a person picks in the client: the same words that the skills hold. Knows nothing of the SDK."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ai_memory.errors import UsageFault, echo
from ai_memory.text.fences import neutralise
from ai_memory.wiring.texts import instruction_block, skill_files

MOST_CHARACTERS = 2_000
"""Of an argument."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `arguments`: name → what it is; all may be left out."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    skills: tuple[str, ...]
    """Whose words it is made of."""


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "recall-first",
        "Recall before you begin",
        "Look up what memory holds on a task before the work on it begins.",
        {"task": "what is about to be done", "project": "project, when not the current one"},
        ("retrieval",),
    ),
    Prompt(
        "memory-workflow",
        "Work with memory",
        "Recall, write down what lasts, and hand over: how this session is to use memory.",
        {"project": "project, when not the current one"},
        ("retrieval", "pages", "handoff"),
    ),
)
BY_NAME = {prompt.name: prompt for prompt in PROMPTS}

_TOOL = re.compile(r"\bmemory_[a-z_]+")
_SENTENCE = re.compile(r"\s*\S[^.]*\.|.+", re.DOTALL)
_FRONT = re.compile(r"\A---\n.*?\n---\n(?:<!-- [^\n]* -->\n)?", re.DOTALL)


def text_of(name: str, given: Mapping[str, str], served: Collection[str]) -> str:
    """What the person's message says, to a model that has these tools. Errors: UsageFault for an unknown prompt or
    argument.
    """
    prompt = BY_NAME.get(name)
    if prompt is None:
        raise UsageFault(f"no prompt {echo(name)}", hint=f"there are {', '.join(BY_NAME)}")
    for key, value in given.items():
        if key not in prompt.arguments:
            raise UsageFault(f"{name} takes no {echo(key)}", hint=f"it takes {', '.join(prompt.arguments)}")
        if len(value) > MOST_CHARACTERS:
            raise UsageFault(f"{key} is longer than {MOST_CHARACTERS}", hint="make it shorter")
    return "\n\n".join([*_opening(prompt, given), *(_words_of(skill, served) for skill in prompt.skills)])


def _opening(prompt: Prompt, given: Mapping[str, str]) -> list[str]:
    task, project = (neutralise(given.get(key, "")).strip() for key in ("task", "project"))
    lines = [f"The task: {task}"] if task else []
    lines += [f"Pass project `{project}` with each call of a memory tool."] if project else []
    if prompt.name == "memory-workflow":
        return [instruction_block(), *lines]
    return ["Before you begin, recall what memory holds on this task, and say in two sentences what you found.", *lines]


def _words_of(skill: str, served: Collection[str]) -> str:
    """The skill without its front and without sentences about tools that are not there."""
    words = _FRONT.sub("", dict(skill_files())[f"ai-memory-{skill}"]).strip()
    return "".join(one for one in _SENTENCE.findall(words) if set(_TOOL.findall(one)) <= set(served))
