"""All that one command wants of all agents: which are there, what each is given, what it was given before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ai_memory.harnesses import registry
from ai_memory.harnesses.edits import FileEdit
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness
from ai_memory.model import Caller
from ai_memory.store.wired import Owner
from ai_memory.wiring.here import is_present, launch_here, machine_here
from ai_memory.wiring.wishes import Note, Wish, checkout_targets, instruction_edit, wishes_of

CHECKOUT = "checkout"
"""Owner of a block that a checkout's files were given for every agent."""


@dataclass(frozen=True, slots=True)
class Desk:
    """One command's view of the agents on this machine."""

    caller: Caller
    data_dir: Path
    without_prompts: frozenset[str] = frozenset()
    """Agents whose prompts are not captured."""

    def launch(self, agent: str) -> Launch:
        """The command lines that are written for that agent."""
        return launch_here(self.data_dir, capture_prompts=agent not in self.without_prompts)

    def present(self) -> list[Harness]:
        """The agents that are found here, in the order of the registry."""
        machine = machine_here(self.caller)
        return [one for one in registry.HARNESSES if is_present(one, machine)]

    def chosen(self, names: Sequence[str]) -> list[Harness]:
        """The agents of these names or aliases, commas between them allowed. *Errors*: NotFound."""
        named = [one.strip() for name in names for one in name.split(",") if one.strip()]
        return [registry.BY_ID[one] for one in dict.fromkeys(registry.get(name).id for name in named)]

    def wishes(self, agents: Iterable[Harness], what: str, *, checkout: str = "") -> tuple[list[Wish], list[Note]]:
        """What these agents are given, and what of it is not written."""
        machine = machine_here(self.caller, checkout=checkout)
        found = [wishes_of(one, what, self.launch(one.id), machine) for one in agents]
        return [wish for one in found for wish in one.wishes], [note for one in found for note in one.notes]

    def edits_of(self, owner: Owner) -> Sequence[FileEdit]:
        """What an owner of a record would be given now."""
        harness = registry.find(owner.agent)
        if harness is None:
            return ()
        machine = machine_here(self.caller, checkout=owner.checkout)
        return [one.edit for one in wishes_of(harness, owner.what, self.launch(owner.agent), machine).wishes]


def checkout_wishes(checkout: str, targets: Sequence[str] = ()) -> list[Wish]:
    """Our block in a checkout's own instruction files, for whatever agent reads them."""
    owner = Owner(CHECKOUT, "instructions", checkout)
    names = targets or checkout_targets(Path(checkout))
    return [Wish(owner, instruction_edit(Path(checkout) / name)) for name in names]


def compile_package() -> None:
    """Byte-compile our package where it may be written: the first hook of an agent need not."""
    import compileall  # 12 ms, and only where something was installed

    import ai_memory

    compileall.compile_dir(str(Path(ai_memory.__file__).parent), quiet=2, workers=1)
