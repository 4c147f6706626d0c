"""Sessions that a caller names."""

from typing import TYPE_CHECKING

from ai_memory.errors import NotFound

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


def known_session(memory: "Memory", name: str) -> str:
    """The whole id of the session of that name. Errors: NotFound, Conflict."""
    from ai_memory.store.state_sessions import find_session  # few calls name a session

    with memory.state_reading() as connection:
        if connection is None:
            raise NotFound(f"no session {name}", hint="no session was captured yet: leave it out")
        return find_session(connection, name).id
