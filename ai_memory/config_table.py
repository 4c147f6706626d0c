"""The table of settings: one frozen dataclass a section of `config.toml`. The docs are generated from `SETTINGS`."""

# ruff: noqa: RUF009 (`setting` and `section` are spellings of dataclasses.field)

from collections.abc import Mapping
from dataclasses import dataclass

from ai_memory.settings import Kind, Setting, section, setting, settings_of

EVENT_KINDS = (
    "user-prompt",
    "pre-tool-use",
    "post-tool-use",
    "pre-compact",
    "post-compaction",
    "notification",
    "stop",
    "other",
)
"""Kinds that `[ingest] drop_events` may name: all canonical ones without session-start and session-end."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What hooks keep of a session."""

    prompts: bool = setting(True, Kind.SWITCH, "Keep what you type to the agent.")
    assistant: str = setting(
        "off", Kind.CHOICE, "Keep an excerpt of the agent's last answer of a turn.", choices=("off", "excerpt")
    )
    declarations: str = setting(
        "review",
        Kind.CHOICE,
        "What becomes of rules that you type (always, never, remember …): facts that wait in `review`, facts that hold"
        " at once (on), or nothing.",
        choices=("off", "review", "on"),
    )
    backfill_on_start: bool = setting(
        True, Kind.SWITCH, "Fill an empty project from agents' own records when its first session begins."
    )


@dataclass(frozen=True, slots=True)
class Sessions:
    """When a session counts as ended."""

    idle_end_after_hours: int = setting(
        24, Kind.NUMBER, "End a session that was silent for so long; 0 never does.", highest=8760
    )


@dataclass(frozen=True, slots=True)
class Handoff:
    """How open work reaches the next agent."""

    claim_on_session_start: bool = setting(
        True, Kind.SWITCH, "Give an open handoff to the next session; if false it is only announced."
    )
    create_on_session_end: bool = setting(True, Kind.SWITCH, "Write a handoff when a session ends.")
    expire_after_days: int = setting(
        14, Kind.NUMBER, "Close an open handoff that nobody took for so long.", lowest=1, highest=3650
    )


@dataclass(frozen=True, slots=True)
class Routing:
    """Which project the calls of a session belong to."""

    mid_session: str = setting(
        "follow-cwd",
        Kind.CHOICE,
        "Credit tool calls in another repository to that one's project, or all to the session's (sticky).",
        choices=("follow-cwd", "sticky"),
    )


@dataclass(frozen=True, slots=True)
class Fts:
    """Full text search."""

    stopwords: tuple[str, ...] | None = setting(
        None,
        Kind.WORDS,
        "Words that a query leaves out: not set means English ones, an empty list none, a list exactly those.",
        max_items=2000,
        max_chars=64,
        unset_text="English stopwords",
    )


@dataclass(frozen=True, slots=True)
class Search:
    """Finding pages."""

    fts: Fts = section(Fts)


@dataclass(frozen=True, slots=True)
class Embed:
    """What turns texts into vectors, so that pages are found by their meaning."""

    provider: str | None = setting(
        None,
        Kind.CHOICE,
        "Who makes the vectors: a model on this machine (fastembed, local), a service that you name, or nobody.",
        choices=("none", "fastembed", "local", "openai-compat", "openai", "voyage", "google"),
        unset_text="fastembed where it is installed, else nobody",
    )
    model: str = setting("", Kind.TEXT, "Name of the model; empty is the provider's usual one.", max_chars=200)
    path: str = setting(
        "", Kind.TEXT, "Folder with the model's files, such as model.onnx and tokenizer.json.", max_chars=4096
    )
    base_url: str = setting("", Kind.TEXT, "Where a service listens, if not at its usual place.", max_chars=2048)
    dim: int = setting(
        0, Kind.NUMBER, "Length of a vector, where a service offers several; 0 asks for none.", highest=8192
    )
    pooling: str | None = setting(
        None,
        Kind.CHOICE,
        "How the model in the folder sums a text up.",
        choices=("mean", "cls"),
        unset_text="what 1_Pooling/config.json says, else mean",
    )
    query_prefix: str | None = setting(
        None, Kind.TEXT, "Stands before each query.", max_chars=500, unset_text="what the model was trained with"
    )
    document_prefix: str | None = setting(
        None,
        Kind.TEXT,
        "Stands before each text; another one needs new vectors.",
        max_chars=500,
        unset_text="what the model was trained with",
    )
    in_drain: bool = setting(
        False, Kind.SWITCH, "Let the drain make vectors after sessions, by the provider that is named here."
    )


@dataclass(frozen=True, slots=True)
class Rerank:
    """A second look at the best pages by a model that reads query and passage together."""

    provider: str = setting(
        "none",
        Kind.CHOICE,
        "Who looks again: a model on this machine, or nobody.",
        choices=("none", "local", "fastembed"),
    )
    model: str = setting("", Kind.TEXT, "Name of the model for fastembed; empty is a small English one.", max_chars=200)
    path: str = setting("", Kind.TEXT, "Folder with model.onnx and tokenizer.json.", max_chars=4096)
    top: int = setting(20, Kind.NUMBER, "How many of the best pages are looked at again.", lowest=1, highest=100)
    budget_ms: int = setting(
        1_500,
        Kind.NUMBER,
        "After so long the rest keeps its place; loading the model counts.",
        lowest=50,
        highest=60_000,
    )


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Parts of the ranking."""

    query_intent: bool = setting(
        True, Kind.SWITCH, "Lift pages of sessions for a question about what was done earlier."
    )
    session_recall_bonus: float = setting(0.25, Kind.FRACTION, "By how much it lifts them.", highest=1)
    observation_stream: bool = setting(
        True, Kind.SWITCH, "Let what sessions saw vote for their pages, and show it where no page answers."
    )
    belief_authority_weight: float = setting(
        0.0, Kind.FRACTION, "By how much a page rises on which many sessions rest, the last not long ago.", highest=1
    )
    abstract_vectors: bool = setting(
        False, Kind.SWITCH, "Let the vector of a page's abstract speak for it, beside those of its passages."
    )
    staleness: bool = setting(
        True, Kind.SWITCH, "Say of hits what changed since in the files that they name, and count them for less."
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """What an agent is told without asking."""

    on_prompt: str = setting(
        "off",
        Kind.CHOICE,
        "Look up each prompt in the project's pages, and give the agent the few passages that speak of it, if any do.",
        choices=("off", "on"),
    )


@dataclass(frozen=True, slots=True)
class Ingest:
    """Events that are dropped before they are stored."""

    drop_tool_use_id_prefixes: tuple[str, ...] = setting(
        (), Kind.WORDS, "Drop tool events whose call id begins like one of these.", max_items=64, max_chars=128
    )
    drop_tool_names: tuple[str, ...] = setting(
        (), Kind.WORDS, "Drop events of tools of these names.", max_items=64, max_chars=128
    )
    drop_events: tuple[str, ...] = setting(
        (),
        Kind.WORDS,
        "Drop events of these kinds. The start and end of a session cannot be dropped.",
        max_items=64,
        max_chars=128,
        choices=EVENT_KINDS,
    )


@dataclass(frozen=True, slots=True)
class Sanitize:
    """What counts as a secret, beyond the patterns built in."""

    extra_patterns: tuple[str, ...] = setting(
        (), Kind.PATTERNS, "Redact what matches one of these, too.", max_items=64, max_chars=1024
    )
    allowlist: tuple[str, ...] = setting(
        (), Kind.PATTERNS, "Keep a found secret in which one of these matches.", max_items=64, max_chars=1024
    )


@dataclass(frozen=True, slots=True)
class HookSpool:
    """How much may wait for the drain."""

    max_files: int = setting(
        10_000,
        Kind.NUMBER,
        "Most events that wait; above it new tool events are dropped.",
        lowest=100,
        highest=1_000_000,
    )
    max_mib: int = setting(256, Kind.NUMBER, "The same, in MiB of all events together.", lowest=16, highest=1_000_000)


@dataclass(frozen=True, slots=True)
class Backup:
    """Archives that `maintain` makes by itself."""

    every_days: int = setting(
        0, Kind.NUMBER, "Let maintain keep an archive of the whole memory so often; 0 never.", highest=3650
    )
    keep: int = setting(7, Kind.NUMBER, "How many of them stay there.", lowest=1, highest=10_000)
    folder: str = setting(
        "", Kind.TEXT, "Where they lie, best on another disk; empty is backups/ of the data dir.", max_chars=4096
    )


@dataclass(frozen=True, slots=True)
class HalfLife:
    """After how many days without a read half of a page's weight is gone, by tier."""

    working: int = setting(0, Kind.NUMBER, "Of working pages; 0 takes `decay.lambda`.", highest=36_500)
    episodic: int = setting(
        0, Kind.NUMBER, "Of pages of sessions and the like; 0 takes `decay.lambda`.", highest=36_500
    )
    semantic: int = setting(0, Kind.NUMBER, "Of what was learnt, for reports; it is never evicted.", highest=36_500)
    procedural: int = setting(0, Kind.NUMBER, "Of procedures, for reports; they are never evicted.", highest=36_500)


@dataclass(frozen=True, slots=True)
class Decay:
    """How old pages fade: `ai-memory forget-sweep`."""

    lambda_: float = setting(0.02, Kind.FRACTION, "How fast weight fades with age, a day.", highest=10)
    sigma: float = setting(0.6, Kind.FRACTION, "How much reads add to the weight.", highest=10)
    mu: float = setting(
        0.04, Kind.FRACTION, "How fast that fades with the time since the last read, a day.", highest=10
    )
    cold_threshold: float = setting(0.2, Kind.FRACTION, "Episodic pages below this weight are taken away.", highest=2)
    breadth_weight: float = setting(0.0, Kind.FRACTION, "How much more reads by several agents count.", highest=10)
    half_life_days: HalfLife = section(HalfLife)
    hard_delete_after_days: int = setting(
        180,
        Kind.NUMBER,
        "Erase what was taken away so long ago, out of git's history too; 0 never does.",
        highest=36_500,
    )
    observation_retention_days: int = setting(
        0, Kind.NUMBER, "Drop what sessions saw so long ago, where a page tells of it; 0 never does.", highest=36_500
    )
    observation_prune_batch: int = setting(
        5_000, Kind.NUMBER, "Observations that are dropped in one transaction.", lowest=100, highest=100_000
    )
    compact_cold_episodic: bool = setting(
        False,
        Kind.SWITCH,
        "Cut cold pages down to a summary and what can be searched for, instead of taking them away.",
    )
    dedup_cold_clusters: bool = setting(
        False, Kind.SWITCH, "Let one of several cold pages that say nearly the same stand for all; needs vectors."
    )
    dedup_min_pts: int = setting(2, Kind.NUMBER, "Pages that make such a group.", lowest=2, highest=100)
    dedup_max_eps: float = setting(0.15, Kind.FRACTION, "How far apart they may be at most.", highest=1)
    max_project_mb: int = setting(
        0,
        Kind.NUMBER,
        "Most MB of pages in a project; above it those of least weight go. 0 sets no bound.",
        highest=1_000_000,
    )


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What is done by itself, by `maintain` and by the drain after work."""

    enabled: bool = setting(True, Kind.SWITCH, "Let sweep and lint run by themselves.")
    forget_sweep_interval_secs: int = setting(
        86_400, Kind.NUMBER, "How often old pages are looked at; 0 never.", highest=31_536_000
    )
    lint_interval_secs: int = setting(
        86_400, Kind.NUMBER, "How often pages are checked for rot; 0 never.", highest=31_536_000
    )


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that memory may cost an agent, in tokens: a quarter of the UTF-8 bytes. `ai-memory cost` shows it."""

    start_max_tokens: int = setting(
        0,
        Kind.NUMBER,
        "The most that a starting session is told, 100 or more. 0 leaves it at 10,000 characters.",
        highest=10_000,
    )
    prompt_max_tokens: int = setting(
        0, Kind.NUMBER, "The most that is told with one prompt. 0 leaves it at 375.", highest=375
    )
    answer_max_tokens: int = setting(
        0,
        Kind.NUMBER,
        "The most that one answer of a reading tool holds; what is over is cut, and said. 0 sets no bound.",
        highest=1_000_000,
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting with its value."""

    log_level: str = setting(
        "info",
        Kind.CHOICE,
        "What the logs hold: all that was done, also what was set aside or failed, or only what failed.",
        choices=("info", "warning", "error"),
    )
    capture: Capture = section(Capture)
    sessions: Sessions = section(Sessions)
    handoff: Handoff = section(Handoff)
    routing: Routing = section(Routing)
    search: Search = section(Search)
    embed: Embed = section(Embed)
    rerank: Rerank = section(Rerank)
    retrieval: Retrieval = section(Retrieval)
    recall: Recall = section(Recall)
    ingest: Ingest = section(Ingest)
    sanitize: Sanitize = section(Sanitize)
    hook_spool: HookSpool = section(HookSpool)
    backup: Backup = section(Backup)
    decay: Decay = section(Decay)
    maintenance: Maintenance = section(Maintenance)
    budget: Budget = section(Budget)


SETTINGS: tuple[Setting, ...] = settings_of(Config)
"""The table of settings, in the order of the docs."""

_NO_SERVER = "ai-memory runs no server, nothing listens on a port"
DROPPED: Mapping[str, str] = {
    **dict.fromkeys(
        ("bind", "server_url", "tcp_keepalive_secs", "base_path", "allowed_hosts", "cors_allow_origins"), _NO_SERVER
    ),
    **dict.fromkeys(("hook_rate_per_sec", "hook_rate_burst"), f"{_NO_SERVER}; [hook_spool] bounds what hooks write"),
    "auth": f"{_NO_SERVER}, so nobody logs in",
    "auth_token": f"{_NO_SERVER}, so nobody logs in",
    "auto_scope": f"{_NO_SERVER}; every call resolves its own scope",
    "run.require_server": _NO_SERVER,
    "hook_spool.max_attempts": f"{_NO_SERVER}; events are applied from disk, no delivery can fail",
    "slots.per_user": "one data dir belongs to one person",
}
"""Settings of servers that people may bring along, or whole tables of them: the reason that each has no place."""

RESERVED_ENVIRONMENT = frozenset(
    f"AI_MEMORY_{name}"
    for name in ("DATA_DIR", "HOME", "IGNORE_MARKER", "CAPTURE", "CAPTURE_OWNER", "HOOK_ORIGIN", "HOOK_PLATFORM")
)
"""Variables that are no settings (decision C2)."""
