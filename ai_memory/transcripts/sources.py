"""The harnesses whose sessions can be read, one row each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ai_memory.transcripts import claude_code, codex, copilot_cli, gemini_cli, opencode, pi
from ai_memory.transcripts.lines import file_records
from ai_memory.transcripts.record import HEAD_BYTES, MAX_SOURCE_BYTES, Around, Found, Header, Losses, Record, Told
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling


@dataclass(frozen=True, slots=True)
class Source:
    """One harness's way of keeping sessions."""

    agent: str
    find: Callable[[Around, Scan], Iterator[Found]]
    """Every place, without opening a file of a session."""
    parse_header: Callable[[Iterable[Record], Found, Around], Header | None]
    """From the first records; None where they are no session's."""
    tell: Callable[[Iterable[Record], Telling], None]
    records: Callable[[Found, Around, Losses, int], Iterator[Record]] = file_records
    """The records of one session, lazily, up to so many bytes."""

    def header(self, found: Found, around: Around) -> Header | None:
        """What the beginning says; reads no more of the file than that."""
        return self.parse_header(self.records(found, around, Losses(), HEAD_BYTES), found, around)

    def told(self, found: Found, header: Header, around: Around, losses: Losses, *, latest_us: int) -> tuple[Told, ...]:
        """All that the session tells. Times after `latest_us` count as none."""
        first_us = header.started_us or found.changed_us
        telling = Telling(header.native_id, losses, first_us=first_us, latest_us=latest_us, cwd=header.cwd)
        self.tell(self.records(found, around, losses, MAX_SOURCE_BYTES), telling)
        return telling.told()


SOURCES: tuple[Source, ...] = (
    Source(claude_code.AGENT, claude_code.find, claude_code.header, claude_code.tell),
    Source(codex.AGENT, codex.find, codex.header, codex.tell),
    Source(opencode.AGENT, opencode.find, opencode.header, opencode.tell, opencode.records),
    Source(gemini_cli.AGENT, gemini_cli.find, gemini_cli.header, gemini_cli.tell, gemini_cli.records),
    Source(pi.AGENT, pi.find, pi.header, pi.tell),
    Source(copilot_cli.AGENT, copilot_cli.find, copilot_cli.header, copilot_cli.tell),
)
BY_AGENT = {source.agent: source for source in SOURCES}
