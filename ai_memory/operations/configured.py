"""What somebody configured, for the operations that go by it and for the hooks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_memory.config_table import Config
    from ai_memory.search.request import Switches
    from ai_memory.store.memory import Memory


def configured(memory: "Memory") -> "Config | None":
    """The settings of a memory; None where neither a config.toml nor a variable of a section exists.

    Errors: MemoryFault naming file and line, or the variable.
    """
    has_words = any(name.startswith("AI_MEMORY_") and "__" in name for name in memory.caller.environ)
    if not has_words and not memory.data_dir.config.exists():
        return None
    from ai_memory.config import load  # 40 ms CPU, only where somebody configured something

    return load(memory.data_dir.config, memory.caller.environ).config


def stopwords(config: "Config | None") -> frozenset[str]:
    """Words that a query leaves out, casefolded."""
    from ai_memory.hook_terms import STOPWORDS  # only for a query

    if config is None or config.search.fts.stopwords is None:
        return STOPWORDS
    return frozenset(word.casefold() for word in config.search.fts.stopwords)


def switches_of(config: "Config | None") -> "Switches":
    """Parts of the ranking that somebody turned off or up."""
    from ai_memory.search.request import Switches  # a query comes with its ranking

    if config is None:
        return Switches()
    return Switches(
        query_intent=config.retrieval.query_intent,
        session_recall_bonus=config.retrieval.session_recall_bonus,
        observation_stream=config.retrieval.observation_stream,
        belief_authority_weight=config.retrieval.belief_authority_weight,
        abstract_vectors=config.retrieval.abstract_vectors,
        staleness=config.retrieval.staleness,
    )


def tell_hooks(memory: "Memory") -> None:
    """Compile what hooks go by, so that the next one knows. Crash: safe. Errors: as `configured`."""
    from ai_memory.capture.policy_file import renew_policy  # reads the whole configuration

    renew_policy(memory, [memory.caller.cwd] if memory.caller.cwd else [])
