"""The second look: the best passages scored by a cross-encoder, as many as the time allows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault

if TYPE_CHECKING:
    from ai_memory.config_table import Config
    from ai_memory.providers.reranker import Reranker
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores of the first passages, 0 to 1, in their order; of the rest there was no time."""

    scores: tuple[float, ...] = ()
    gap: str = ""

    def order(self, count: int) -> list[int]:
        """Places of `count` passages, best first: by score, ties and what was not scored as they stood."""
        scored = sorted(range(len(self.scores)), key=lambda place: (-self.scores[place], place))
        return [*scored, *range(len(self.scores), count)]


def rerank(
    memory: "Memory",
    query: str,
    passages: Sequence[str],
    config: "Config | None",
    *,
    now_s: Callable[[], float] = time.monotonic,
) -> Reranked:
    """Look again at the passages, best first, within `budget_ms`. Never fails: what hinders it is its `gap`.

    Without a configured reranker nothing is imported and nothing is scored.
    """
    if config is None or config.rerank.provider == "none" or not passages:
        return Reranked()
    until_s = now_s() + config.rerank.budget_ms / 1000
    scores: list[float] = []
    gap = ""
    try:
        model = _model(config, memory.data_dir.models)
        for passage in passages[: config.rerank.top]:
            if now_s() >= until_s:
                gap = f"the second look had time for {len(scores)} of {min(len(passages), config.rerank.top)} pages"
                break
            scores.append(model.score(query, passage))
    except MemoryFault as fault:
        return Reranked(gap=f"no second look: {fault.message}")
    return Reranked(tuple(scores), gap)


@lru_cache(maxsize=1)
def _model(config: "Config", models: Path) -> "Reranker":
    """The loaded model, once a process: the bridge answers many queries."""
    from ai_memory.providers.reranker import load  # brings onnxruntime

    model = load(config, models)
    assert model is not None
    return model
