"""Which agent's session a process runs in, as the harness around it says by its variables."""

from collections.abc import Mapping

from ai_memory.hook_harnesses import SESSION_VARIABLES
from ai_memory.hook_places import session_uuid


def session_around(environ: Mapping[str, str], *, agent: str = "") -> tuple[str, str]:
    """(id of the agent, id of its session), both empty where no harness says so. With `agent`: of that one alone."""
    for harness, variable in SESSION_VARIABLES.items():  # not the records: each writer asks, and they cost 40 ms
        raw = environ.get(variable, "")
        if raw and agent in ("", harness):
            return harness, session_uuid(harness, raw)
    return "", ""
