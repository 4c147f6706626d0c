"""Vectors after a session, for whoever lets the drain make them (`[embed] in_drain`)."""

from ai_memory.config import load
from ai_memory.errors import MemoryFault
from ai_memory.providers.choose import How, choose
from ai_memory.search.backfill import Wanted, backfill
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory

MOST_CHUNKS = 2_000
"""A drain's share; the next one goes on, and `ai-memory embed` does all."""


def embed_after_drain(memory: Memory) -> int:
    """Make vectors for what a drain wrote, if that is configured; gives how many. A failure is a line in the log.

    Only by a provider that is named in the configuration: what nobody watches must not cost money unasked. Call
    without the drain's lock: events come in meanwhile. Nothing is fetched here.
    """
    if not memory.data_dir.config.exists():
        return 0
    try:
        config = load(memory.data_dir.config, memory.caller.environ, strict_environ=False).config
        if not config.embed.in_drain or config.embed.provider in (None, "none"):
            return 0
        choice = choose(config)
        if choice is None:
            return 0
        with memory.embedding_alone() as is_mine:
            if not is_mine:
                return 0
            how = How(memory.data_dir.models, memory.caller.environ)
            made = backfill(memory, choice, how, Wanted(limit=MOST_CHUNKS), progress=lambda _done, _total: None)
    except (MemoryFault, OSError) as fault:
        Log(memory.data_dir.logs, "drain", memory.clock).warning(f"no vectors: {str(fault).splitlines()[0]}")
        return 0
    return made.embedded + made.cached
