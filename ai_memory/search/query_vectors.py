"""The vector of a query: from the cache where it was asked before, else from the model, if its vectors are there."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ai_memory.store.vectors import encoders_named

if TYPE_CHECKING:
    from ai_memory.config_table import Config
    from ai_memory.model import Encoder
    from ai_memory.providers.choose import Choice
    from ai_memory.providers.embedder import Embedder
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory

# Nothing of an encoder is imported before the index is known to hold vectors.


@dataclass(frozen=True, slots=True)
class QueryVector:
    """What to look for, and among whose vectors. With a `gap` instead, the answer goes without vectors and says so."""

    encoder_id: int = 0
    vector: bytes = b""
    model: str = ""
    gap: str = ""
    is_cached: bool = False

    @property
    def is_there(self) -> bool:
        return bool(self.vector)


NOTHING = QueryVector()
"""There are no vectors to compare with."""


def query_vector(memory: "Memory", index: "Connection", text: str, config: "Config | None") -> QueryVector:
    """The vector of that query. Never fails: what keeps it from being made is its `gap`.

    A model that is not on this machine is not fetched.
    """
    named = encoders_named(index)
    if not named or not text.strip():
        return NOTHING
    from ai_memory.errors import MemoryFault
    from ai_memory.providers.choose import choose

    try:
        choice = choose(config)
        if choice is None:
            is_off = config is not None and config.embed.provider == "none"
            return NOTHING if is_off else QueryVector(gap="vectors are left out: no encoder is installed")
        own = [row for row in named if choice.made(row[1])]
        if not own:
            return QueryVector(gap="vectors are left out: they are another encoder's; ai-memory embed makes new ones")
        number, encoder = own[-1]
        return _asked(memory, config, choice, number, encoder, text)
    except MemoryFault as fault:
        return QueryVector(gap=f"vectors are left out: {fault.message}")


def _asked(
    memory: "Memory", config: "Config | None", choice: "Choice", number: int, encoder: "Encoder", text: str
) -> QueryVector:
    from ai_memory.store.cache import Cache
    from ai_memory.text.embedded import query_hash

    cache = Cache(memory.data_dir)
    digest = query_hash(choice.query_prefix, text)
    known = cache.query(encoder, digest)
    if known is not None:
        return QueryVector(number, known, encoder.model, is_cached=True)
    made = _embedder(memory, config, choice).embed_query(text)
    if len(made) != 4 * encoder.dim:
        return QueryVector(gap=f"vectors are left out: {choice.model} now makes other ones; run ai-memory embed")
    cache.put_query(encoder, digest, made)
    return QueryVector(number, made, encoder.model)


def _embedder(memory: "Memory", config: "Config | None", choice: "Choice") -> "Embedder":
    from ai_memory.providers.choose import How

    if choice.provider in ("local", "fastembed"):
        return _model(config, memory.data_dir.models)
    return choice.load(How(memory.data_dir.models, memory.caller.environ, somebody_waits=True))


@lru_cache(maxsize=1)
def _model(config: "Config | None", models: Path) -> "Embedder":
    """The loaded model, once a process: the bridge answers many queries, and loading takes half a second."""
    from ai_memory.providers.choose import How, choose

    choice = choose(config)
    assert choice is not None
    return choice.load(How(models, {}, somebody_waits=True))
