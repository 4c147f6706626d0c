"""What a person configured: the settings, the variables, and the markers of the folder where the command runs."""

from collections.abc import Iterator

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.errors import MemoryFault
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
