"""What models add to a search, where somebody has them: chunks near by vectors, a second look at the best hits."""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_memory.config_table import Config
    from ai_memory.search.request import Hits, Request
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


def with_near(
    memory: "Memory", snapshot: "Snapshot", request: "Request", config: "Config | None"
) -> "tuple[Request, tuple[str, ...]]":
    """The request with the chunks near its question, and what kept vectors from being asked.

    Loads nothing where there are no vectors.
    """
    from ai_memory.search.query_vectors import query_vector

    asked = query_vector(memory, snapshot.index, request.queries[0], config)
    if not asked.is_there:
        return request, (asked.gap,) if asked.gap else ()
    from ai_memory.providers.known import is_english, is_multilingual
    from ai_memory.search.engine import conditions
    from ai_memory.search.numbers import NEAR_CHUNKS
    from ai_memory.search.vectors import nearest  # only where there are vectors

    told, parameters = conditions(request.wanted, request.scopes)
    found = nearest(
        snapshot.index, asked.encoder_id, asked.vector, conditions=told, parameters=parameters, limit=NEAR_CHUNKS
    )
    return replace(
        request,
        near=tuple(found),
        near_is_multilingual=is_multilingual(asked.model),
        near_is_english=is_english(asked.model),
    ), ()


def second_look(memory: "Memory", found: "Hits", request: "Request", config: "Config | None") -> "Hits":
    """The hits in the order of a reranker, where one is configured; as they are elsewhere."""
    if config is None or config.rerank.provider == "none" or not found.hits:
        return found
    from ai_memory.search.reranking import rerank  # brings a model

    looked = rerank(memory, request.queries[0], [f"{hit.title}\n{hit.snippet}" for hit in found.hits], config)
    hits = tuple(found.hits[place] for place in looked.order(len(found.hits)))
    return replace(found, hits=hits, gaps=(*found.gaps, looked.gap) if looked.gap else found.gaps)
