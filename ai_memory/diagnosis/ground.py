"""What checks look at, each thing read once: the memory, its settings, and what stands in agents' files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ai_memory.config import Loaded, load
from ai_memory.config_table import Config
from ai_memory.diagnosis.entries import Entry, entries_of
from ai_memory.diagnosis.recorded import Compared, compare
from ai_memory.errors import MemoryFault
from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine, Place
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.registry import HARNESSES
from ai_memory.store import wired
from ai_memory.store.memory import Memory
from ai_memory.store.spool import Spool, SpoolCounts
from ai_memory.store.wired import Wired
from ai_memory.text.times import DAY_US
from ai_memory.wiring.agents import Desk
from ai_memory.wiring.documents import Refused, opened
from ai_memory.wiring.files import look
from ai_memory.wiring.here import machine_here


@dataclass(frozen=True)
class Ground:
    """One diagnosis of one memory."""

    memory: Memory
    days: int
    """How far back sessions are counted."""
    named: tuple[Harness, ...] = ()
    """The agents that were asked about; none: those that are here, or were wired."""

    @cached_property
    def now_us(self) -> int:
        """When the diagnosis began to ask (decision C7)."""
        return self.memory.clock()

    @cached_property
    def spool(self) -> SpoolCounts:
        """What lies in the spool. *Errors*: OSError."""
        return Spool(self.memory.data_dir).counts()

    @cached_property
    def loaded(self) -> Loaded:
        """The settings. *Errors*: MemoryFault."""
        return load(self.memory.data_dir.config, self.memory.caller.environ)

    @property
    def config(self) -> Config:
        """The settings, or the defaults where they cannot be read: one check says that."""
        try:
            return self.loaded.config
        except MemoryFault:
            return Config()

    @cached_property
    def desk(self) -> Desk:
        data_dir = self.memory.data_dir
        return Desk(self.memory.caller, data_dir.root, wired.without_prompts(data_dir))

    @cached_property
    def machine(self) -> Machine:
        return machine_here(self.memory.caller)

    @cached_property
    def launch(self) -> Launch:
        """This installation, as agents start it."""
        return self.desk.launch("")

    @cached_property
    def records(self) -> tuple[Wired, ...]:
        """What is remembered of files that we wrote to."""
        return tuple(wired.all_wired(self.memory.data_dir)[0])

    @cached_property
    def harnesses(self) -> tuple[Harness, ...]:
        """The agents that this is about: found here, wired once, or starting us by whatever wrote that."""
        if self.named:
            return self.named
        known = {owner.agent for record in self.records for owner in record.owners}
        known |= {one.id for one in self.desk.present()}
        # an entry in a file of theirs tells nothing of others that read the same file
        theirs = {path for one in self.everywhere if one.harness.id in known for path in one.paths}
        known |= {one.harness.id for one in self.everywhere if one.commands and not theirs.intersection(one.paths)}
        return tuple(one for one in HARNESSES if one.id in known)

    @cached_property
    def everywhere(self) -> tuple[Entry, ...]:
        """Hooks and MCP entries of every agent that is known, as they stand."""
        return tuple(entry for one in HARNESSES for entry in entries_of(one, self.desk, self.records))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Those of the agents that this is about."""
        ids = {one.id for one in self.harnesses}
        return tuple(one for one in self.everywhere if one.harness.id in ids)

    @cached_property
    def compared(self) -> Compared:
        """Sessions of these agents by their own records, and here. *Errors*: StoreFault."""
        return compare(self.memory, self.harnesses, since_us=self.now_us - self.days * DAY_US)

    def entries_for(self, harness: Harness, what: str) -> list[Entry]:
        return [one for one in self.entries if one.harness is harness and one.what == what]

    def is_wired(self, agent: str) -> bool:
        """Whether hooks of ours stand in that agent's files, whatever their state."""
        return any(one.harness.id == agent and one.what == "hooks" and one.commands for one in self.everywhere)

    def told(self, place: Place, syntax: Syntax, keys: tuple[str, ...]) -> Json:
        """What stands there in an agent's own file; None also where it cannot be read: the check of files says why."""
        try:
            return opened(look(Path(place.at(self.machine))).text, syntax).value(keys)
        except Refused:
            return None
