"""`ai-memory review`: what waits for a person, one thing after another; at no terminal, the list."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.cli.asking import is_person_there
from ai_memory.cli.call import Call, say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import show
from ai_memory.errors import MemoryFault
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.review import ReasonName, ReviewQueue, ReviewRow
from ai_memory.operations.review import review as queue
from ai_memory.operations.table import Operation

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

BECAUSE = "reviewed by the person"
LIST = Operation(
    name="review",
    module="review",
    function="review",
    title="What waits for review",
    examples=(),
    text="review_text",
    read_only=True,
    noun="rows",
    columns=("id", "path", "kind", "standing", "statement"),
    is_prose=True,
)
"""How the queue is shown where nobody answers."""

Answer = Literal["k", "e", "s", "d", "", "q"]
_ANSWERS: dict[str, Answer] = {
    "k": "k",
    "keep": "k",
    "e": "e",
    "edit": "e",
    "s": "s",
    "supersede": "s",
    "d": "d",
    "drop": "d",
    "": "",
    "skip": "",
    "q": "q",
    "quit": "q",
}
_ASKED = "[k]eep  [e]dit  [s]upersede  [d]rop  [Enter] skip  [q]uit"


def review(
    call: Call,
    *,
    reason: Annotated[ReasonName | None, Field("only for this reason")] = None,
    is_list: Annotated[bool, Field("show the list, ask nothing", flags=("--list",))] = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> int:
    """Go through what waits for you: facts nobody confirmed, contradictions, what is overdue, stale or said twice.
    At a terminal each is put to you: keep it (you say so yourself), edit, supersede, drop, or skip. Else it is a list.
    """
    memory = call.open_memory()

    def waiting() -> ReviewQueue:
        return queue(memory, reason=reason, limit=limit, offset=offset, workspace=workspace, project=project)

    if is_list or call.is_json or call.format or not _can_ask():
        show(LIST, waiting(), call)
        return 0
    memory.caller = replace(memory.caller, confirms=lambda _: True)  # the person's answer is their word for it
    _go_through(memory, call, waiting)
    return 0


def _can_ask() -> bool:
    return sys.stdout.isatty() and is_person_there()


def _go_through(memory: "Memory", call: Call, waiting: Callable[[], ReviewQueue]) -> None:
    """Put each row to the person. Every answer is a change of its own: Ctrl-C leaves those before it.

    What an answer settled besides, as the other one of two that contradict each other, is not put any more.
    """
    found = waiting()
    left = {_key(row): row for row in found.rows}
    done = 0
    for number, key in enumerate(tuple(left), 1):
        row = left.get(key)
        if row is None:
            continue
        _tell(row, number, len(found.rows))
        answer = _asked()
        if answer == "q":
            break
        if _acted(memory, call, row, answer):
            done += 1
            left = {_key(row): row for row in waiting().rows}
    now = waiting()
    say(f"{done} settled, {len(now.rows) + now.omitted} left" if found.rows else "nothing waits for review")


def _key(row: ReviewRow) -> tuple[str, str, str]:
    return row.workspace, row.project, row.path


def _tell(row: ReviewRow, number: int, count: int) -> None:
    say("")
    say(shown(f"{number} of {count} · {' · '.join(filter(None, (row.kind, row.standing, row.id, row.path)))}"))
    say(shown(f"  {row.statement}"))
    for one in row.reasons:
        say(shown(f"  {one.name.replace('_', ' ')}: {one.detail}"))


def _asked() -> Answer:
    """The answer; end of input is quit."""
    while True:
        word = _line(_ASKED)
        if word is None:
            return "q"
        if word.lower() in _ANSWERS:
            return _ANSWERS[word.lower()]
        say(f"answer with one of: {', '.join(sorted(filter(None, _ANSWERS), key=len)[:5])}")


def _line(question: str) -> str | None:
    print(f"{question}: ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip()
    except EOFError:
        say("")
        return None


def _acted(memory: "Memory", call: Call, row: ReviewRow, answer: Answer) -> bool:
    """Do what was answered; False where nothing was, or it could not be done, which is told."""
    actions: dict[str, Callable[[], str]] = {
        "k": lambda: _keep(memory, row),
        "e": lambda: _edit(call, row),
        "s": lambda: _supersede(memory, row),
        "d": lambda: _drop(memory, row),
    }
    if answer not in actions:
        return False
    try:
        told = actions[answer]()
    except MemoryFault as fault:
        say(shown(f"not done: {fault.message}"))
        if fault.hint:
            say(shown(f"  {fault.hint}"))
        return False
    if told:
        say(shown(f"  {told}"))
    return bool(told)


def _keep(memory: "Memory", row: ReviewRow) -> str:
    from ai_memory.operations.reviewing import keep

    keep(memory, row)
    return "kept: you say so"


def _drop(memory: "Memory", row: ReviewRow) -> str:
    from ai_memory.operations.reviewing import drop

    drop(memory, row, because=BECAUSE)
    return "dropped: it holds no longer, and stays readable"


def _supersede(memory: "Memory", row: ReviewRow) -> str:
    from ai_memory.operations.reviewing import supersede

    what = "path of the page that holds instead" if not row.id else "what holds instead"
    said = _line(f"{what} (empty: skip)")
    if not said:
        return ""
    return f"replaced by {supersede(memory, row, said, because=BECAUSE)}"


def _edit(call: Call, row: ReviewRow) -> str:
    from ai_memory.cli.edit import edit

    edit(call, path=row.path, workspace=row.workspace, project=row.project)
    return "edited"
