"""How `maintain` went last, for `status`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.store.upkeep import turns

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection


@dataclass(frozen=True, slots=True)
class DutyState:
    """The last turn of one duty."""

    duty: str
    tried_at: str
    done_at: str | None
    """When it last went well."""
    fault: str


@dataclass(frozen=True, slots=True)
class MaintainState:
    """The last turns of all duties that ever had one."""

    last_at: str
    duties: tuple[DutyState, ...]

    @property
    def failed(self) -> tuple[DutyState, ...]:
        return tuple(one for one in self.duties if one.fault)


def maintain_state(connection: "Connection") -> MaintainState | None:
    """None where no `maintain` ever ran."""
    found = turns(connection)
    if not found:
        return None
    duties = tuple(
        DutyState(
            name, rfc3339(turn.at_us), rfc3339(turn.done_at_us) if turn.done_at_us is not None else None, turn.fault
        )
        for name, turn in found.items()
    )
    return MaintainState(rfc3339(max(turn.at_us for turn in found.values())), duties)


def maintain_problems(state: MaintainState | None) -> list[str]:
    """A sentence for each duty that failed at its last turn."""
    failed = state.failed if state is not None else ()
    return [f"{one.duty} of the last maintain failed: {one.fault}" for one in failed]


def maintain_words(state: MaintainState | None) -> str:
    """Whether all went well, and when that was."""
    if state is None:
        return "never ran"
    names = ", ".join(one.duty for one in state.failed)
    return f"{f'{names} failed' if names else 'well'}, {state.last_at}"
