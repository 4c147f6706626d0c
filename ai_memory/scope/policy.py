"""What a marker asks of capture, briefing, recall and handoffs, as checked values for others to compile.

None stands for "the marker says nothing, the configuration decides". A marker may ask; whoever compiles decides whether
a cloned repository may widen what the person's own configuration allows (it should only narrow it).
*Source*: decision B4 for what stands when a policy cannot be trusted; decision C10 for `[briefing] max_chars`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ai_memory.scope.markers import FALSY, TRUTHY, Marker, MarkerFault, Source, read_marker

MAX_PATTERNS = 128
MAX_PATTERN_CHARS = 1024
BRIEFING_CHARS = (1500, 8000)
"""Lowest and highest `[briefing] max_chars`; other numbers are moved to the nearer one."""
DEFAULT_BRIEFING_CHARS = 4000

_CAPTURE_KEYS = ("ignore_paths", "prompts", "assistant")
_BRIEFING_KEYS = ("inject_on_session_start", "max_chars")
_HANDOFF_KEYS = ("claim_on_session_start", "create_on_session_end")


@dataclass(frozen=True, slots=True)
class CapturePolicy:
    """What the marker asks for. `is_valid` False: nothing in it can be trusted, file tools keep metadata only."""

    is_valid: bool = True
    problems: tuple[str, ...] = ()
    ignore_paths: tuple[str, ...] = ()
    """Globs of `*`, `?`, `**`, perhaps a leading `~/`."""
    prompts: bool | None = None
    assistant: str | None = None
    """`off` or `excerpt`."""
    drop_subagent_captures: bool | None = None
    inject_brief_on_session_start: bool | None = None
    briefing_max_chars: int | None = None
    default_global_recall: bool | None = None
    private_recall: bool | None = None
    """The project's pages answer nobody outside it."""
    claim_handoff_on_session_start: bool | None = None
    create_handoff_on_session_end: bool | None = None
    warnings: tuple[str, ...] = ()
    """What was ignored; never a reason to capture less."""


def policy_at(path: str, *, home: str) -> CapturePolicy:
    """The policy of the marker file at that path; never a fault: what cannot be read is an invalid policy."""
    try:
        marker = read_marker(path, home=home)
    except MarkerFault as fault:
        return CapturePolicy(is_valid=False, problems=(fault.message,))
    return capture_policy(marker) if marker else CapturePolicy()


@dataclass(frozen=True, slots=True)
class Briefing:
    """Whether the markers of a directory ask for a brief at its starts."""

    max_chars: int | None
    """None: nobody asked."""
    sources: tuple[Source, ...]
    """The markers that were looked at for the answer."""


def briefing_at(sources: Sequence[Source], *, home: str) -> Briefing:
    """What the nearest of these markers says that holds more than `[capture]`; `sources` nearest first.

    Never a fault: a marker that cannot be read or trusted asks for nothing.
    """
    for at, source in enumerate(sources, 1):
        try:
            marker = read_marker(source.path, home=home)
        except MarkerFault:
            return Briefing(None, tuple(sources[:at]))
        if marker is None or set(marker.tables or {}) <= {"capture"}:
            continue
        policy = capture_policy(marker)
        is_asked = policy.is_valid and policy.inject_brief_on_session_start is True
        max_chars = policy.briefing_max_chars or DEFAULT_BRIEFING_CHARS
        return Briefing(max_chars if is_asked else None, tuple(sources[:at]))
    return Briefing(None, tuple(sources))


def capture_policy(marker: Marker) -> CapturePolicy:
    """The policy that a marker asks for. A bad pattern or an unknown key in `[capture]` voids it (fails closed)."""
    tables = marker.tables or {}
    problems: list[str] = []
    warnings = list(marker.warnings)
    capture = _table(tables, "capture", problems)
    problems += [f"unknown key `{key[:60]}` in [capture]" for key in capture if key not in _CAPTURE_KEYS]
    patterns = _patterns(capture.get("ignore_paths", []), problems)
    prompts = _flag(capture, "prompts", problems)
    assistant = capture.get("assistant")
    if assistant not in (None, "off", "excerpt"):
        problems.append("`assistant` in [capture] must be off or excerpt")
    drop_subagents = _flag(tables, "drop_subagent_captures", problems)

    briefing = _known(tables, "briefing", _BRIEFING_KEYS, warnings)
    recall = _known(tables, "recall", ("default_global", "private"), warnings)
    handoff = _known(tables, "handoff", _HANDOFF_KEYS, warnings)
    asked = CapturePolicy(
        ignore_paths=patterns,
        prompts=prompts,
        assistant=str(assistant) if assistant else None,
        drop_subagent_captures=drop_subagents,
        inject_brief_on_session_start=_flag(briefing, "inject_on_session_start", warnings),
        briefing_max_chars=_chars(briefing, warnings),
        default_global_recall=_flag(recall, "default_global", warnings),
        private_recall=_flag(recall, "private", warnings),
        claim_handoff_on_session_start=_flag(handoff, "claim_on_session_start", warnings),
        create_handoff_on_session_end=_flag(handoff, "create_on_session_end", warnings),
        warnings=tuple(warnings),
    )
    if problems:
        shown = tuple(f"{marker.path}: {problem}" for problem in problems)
        return replace(asked, is_valid=False, problems=shown, ignore_paths=(), prompts=None, assistant=None)
    return asked


def pattern_fault(pattern: object) -> str | None:
    """Why a path pattern is not one, or None when it is."""
    if not isinstance(pattern, str) or not pattern:
        return "a pattern must be a string that is not empty"
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"a pattern of {len(pattern)} characters, at most {MAX_PATTERN_CHARS} are read"
    shown = repr(pattern[:80])
    if re.search(r"[\x00-\x1f\x7f]", pattern):
        return f"a control character in the pattern {shown}"
    if "\\" in pattern:
        return f"a backslash in the pattern {shown}: write / between names"
    if re.search(r"[\[\]{}]", pattern) or pattern.startswith("!"):
        return f"the pattern {shown} uses more than *, ? and **"
    if "***" in pattern:
        return f"three stars in the pattern {shown}"
    if pattern.startswith("~") and not pattern.startswith("~/"):
        return f"the pattern {shown} names another person's home"
    if ".." in pattern.split("/"):
        return f"the pattern {shown} leads upwards"
    return None


def _patterns(value: object, problems: list[str]) -> tuple[str, ...]:
    if not isinstance(value, list):
        problems.append("`ignore_paths` in [capture] must be a list of patterns")
        return ()
    if len(value) > MAX_PATTERNS:
        problems.append(f"`ignore_paths` holds {len(value)} patterns, at most {MAX_PATTERNS} are read")
        return ()
    problems += [fault for fault in map(pattern_fault, value) if fault]
    return tuple(str(one) for one in value)


def _table(tables: Mapping[str, object], name: str, problems: list[str]) -> Mapping[str, object]:
    table = tables.get(name, {})
    if isinstance(table, Mapping):
        return table
    problems.append(f"`{name}` must be a table: [{name}]")
    return {}


def _known(tables: Mapping[str, object], name: str, keys: tuple[str, ...], warnings: list[str]) -> Mapping[str, object]:
    table = _table(tables, name, warnings)
    warnings += [f"unknown key `{key[:60]}` in [{name}] is ignored" for key in table if key not in keys]
    return table


def _flag(table: Mapping[str, object], key: str, problems: list[str]) -> bool | None:
    """A boolean, or one of the words for it; anything else is a problem."""
    value = table.get(key)
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if word in TRUTHY or word in FALSY:
        return word in TRUTHY
    problems.append(f"`{key}` must be true or false")
    return None


def _chars(briefing: Mapping[str, object], warnings: list[str]) -> int | None:
    value = briefing.get("max_chars")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        warnings.append("`max_chars` in [briefing] must be a number")
        return None
    lowest, highest = BRIEFING_CHARS
    return min(max(value, lowest), highest)
