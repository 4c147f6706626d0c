"""The settings that the drain goes by, read once a drain."""

from dataclasses import dataclass

from ai_memory.store.log import Level
from ai_memory.store.memory import Memory
from ai_memory.text.sanitize import NO_PATTERNS, OwnPatterns
from ai_memory.text.times import DAY_US

HOUR_US = 3_600 * 1_000_000
_VARIABLES = (
    "AI_MEMORY_CAPTURE__",
    "AI_MEMORY_SESSIONS__",
    "AI_MEMORY_HANDOFF__",
    "AI_MEMORY_ROUTING__",
    "AI_MEMORY_LOG_LEVEL",
)
_OF_HOOKS = "AI_MEMORY_SANITIZE__"


@dataclass(frozen=True, slots=True)
class Rules:
    """What is set for sessions, handoffs and the log; the defaults are those of `config_table`, held by a test."""

    idle_end_us: int = 24 * HOUR_US
    """A session without any event for this long is over; 0: never."""
    makes_handoffs: bool = True
    handoff_lifetime_us: int = 14 * DAY_US
    follows_folders: bool = True
    """Tool calls in another repository are credited to that one's project."""
    declarations: str = "review"
    """What becomes of rules that a person types: off, review or on."""
    fills_empty: bool = True
    """A project without a past gets one from agents' own records when its first session begins."""
    log_least: Level = Level.INFO
    own: OwnPatterns = NO_PATTERNS
    """What counts as a secret, by the file alone: a hook knows no other source, and the drain looks a second time."""


def read_rules(memory: Memory) -> Rules:
    """The rules. Errors: MemoryFault for a config.toml that cannot be read."""
    has_words = any(name.startswith(_VARIABLES) for name in memory.caller.environ)
    if not has_words and not memory.data_dir.config.exists():
        return Rules()
    from ai_memory.config import load  # 40 ms CPU, only where somebody configured something

    environ = {name: value for name, value in memory.caller.environ.items() if not name.startswith(_OF_HOOKS)}
    config = load(memory.data_dir.config, environ, strict_environ=False).config
    return Rules(
        idle_end_us=config.sessions.idle_end_after_hours * HOUR_US,
        makes_handoffs=config.handoff.create_on_session_end,
        handoff_lifetime_us=config.handoff.expire_after_days * DAY_US,
        follows_folders=config.routing.mid_session == "follow-cwd",
        declarations=config.capture.declarations,
        fills_empty=config.capture.backfill_on_start,
        log_least=Level[config.log_level.upper()],
        own=OwnPatterns(config.sanitize.extra_patterns, config.sanitize.allowlist),
    )
