"""What a person configured: settings and variables, markers of the folder where the command runs, pauses."""

from collections.abc import Iterator
from shlex import quote

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.errors import MemoryFault
from ai_memory.hook_call import is_off
from ai_memory.hook_pause import read_pauses
from ai_memory.scope.markers import nearest_markers
from ai_memory.scope.policy import policy_at


def settings(ground: Ground) -> Iterator[Finding]:
    """`config.toml` and the variables."""
    try:
        loaded = ground.loaded
    except MemoryFault as fault:
        sentence = f"the settings cannot be read, so most commands refuse to work: {fault.message.rstrip('.')}"
        yield Finding("config-invalid", Severity.BROKEN, sentence, fault.hint)
        return
    for warning in loaded.warnings:
        variable = warning.partition(" ")[0]
        yield Finding("variable-unknown", Severity.WARNING, warning, f"unset {variable}")


def markers(ground: Ground) -> Iterator[Finding]:
    """Markers that hold for this folder; one that cannot be trusted lets only metadata be kept."""
    caller = ground.memory.caller
    if not caller.cwd:
        return
    for source in nearest_markers(caller.cwd, caller.home):
        policy = policy_at(source.path, home=caller.home)
        for problem in policy.problems:
            sentence = f"a marker cannot be trusted, so only metadata is kept of files here: {problem.rstrip('.')}"
            yield Finding("marker-invalid", Severity.WARNING, sentence, f"correct {source.path}")
        for warning in policy.warnings:
            yield Finding("marker-ignored", Severity.NOTE, warning.rstrip("."), f"correct {source.path}")


def left_out(ground: Ground) -> Iterator[Finding]:
    """What in this environment keeps hooks from keeping anything. Agents started from here inherit it."""
    environ = ground.memory.caller.environ
    if is_off(environ):
        sentence = "AI_MEMORY_CAPTURE is off: hooks of agents that are started from here keep nothing"
        yield Finding("capture-off", Severity.WARNING, sentence, "unset AI_MEMORY_CAPTURE")
    owner = environ.get("AI_MEMORY_CAPTURE_OWNER", "").strip()
    if owner not in ("", "ai-memory"):
        sentence = f"AI_MEMORY_CAPTURE_OWNER names {quote(owner)}: hooks that are installed here keep nothing"
        yield Finding(
            "capture-owner", Severity.WARNING, sentence, "unset AI_MEMORY_CAPTURE_OWNER, unless that is meant"
        )
    pauses = read_pauses(str(ground.memory.data_dir.root), ground.now_us)
    if pauses.fault:
        fix = "ai-memory resume --all, which takes it away"
        yield Finding("paused", Severity.WARNING, f"nothing is captured anywhere, since {pauses.fault}", fix)
    for pause in pauses.found:
        yield Finding("paused", Severity.NOTE, f"capture is paused {pause.span}", "ai-memory resume --all")
