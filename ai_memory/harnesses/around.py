"""Which agent's session a process runs in, as the harness around it says by its variables."""

from collections.abc import Mapping

from ai_memory.harnesses.registry import HARNESSES
from ai_memory.hook_places import session_uuid


def session_around(environ: Mapping[str, str], *, agent: str = "") -> tuple[str, str]:
    """(id of the agent, id of its session), both empty where no harness says so. With `agent`: of that one alone."""
    for harness in HARNESSES:
        raw = environ.get(harness.session_variable, "") if harness.session_variable else ""
        if raw and agent in ("", harness.id):
            return harness.id, session_uuid(harness.id, raw)
    return "", ""
