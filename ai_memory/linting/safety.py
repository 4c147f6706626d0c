"""What should not lie in a page: secrets, orders to agents, text that came out of the memory itself."""

from collections.abc import Iterator

from ai_memory.linting.finding import Finding, Mend, Severity, command
from ai_memory.linting.ground import Ground


def secrets(ground: Ground) -> Iterator[Finding]:
    """What the sanitiser would not let in today: written by hand, or before it knew the form."""
    for head in ground.heads.values():
        marks = ground.marks[head.ref]
        if not marks.secrets:
            continue
        kinds = ", ".join(sorted(marks.secrets))
        place = ("--project", head.ref.project, "--workspace", head.ref.workspace)
        mend = None if head.pinned else Mend.REDACT
        yield Finding(
            "secret",
            Severity.ERROR,
            f"line {marks.secret_line} holds what looks like a secret ({kinds}); earlier versions keep it",
            (head.ref,),
            command("lint", "--kind", "secret", *place, "--fix") if mend else command("edit", str(head.ref)),
            key=kinds,
            mend=mend,
        )


def injection(ground: Ground) -> Iterator[Finding]:
    """Text that reads like an order to an agent. It is shown as data all the same."""
    for head in ground.live:
        line = ground.marks[head.ref].order_line
        if line:
            message = f"line {line} reads like an order to an agent"
            yield Finding("injection_shaped", Severity.WARNING, message, (head.ref,), command("blame", str(head.ref)))


def echo(ground: Ground) -> Iterator[Finding]:
    """Text that a memory told an agent, and that was kept as if somebody had found it out."""
    for head in ground.heads.values():
        line = ground.marks[head.ref].echo_line
        if line:
            message = f"line {line} came out of a memory: it says nothing that was not known"
            yield Finding("self_echo", Severity.WARNING, message, (head.ref,), command("edit", str(head.ref)))
