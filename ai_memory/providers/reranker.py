"""Cross-encoders: a model that reads query and passage together and says how well they fit."""

import math
from pathlib import Path
from typing import Any, Protocol

from ai_memory.config_table import Config
from ai_memory.providers.embedder import ModelFault
from ai_memory.providers.folder import Graph, find, imported

USUAL_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
"""Small, English, the first of fastembed's list."""


class Reranker(Protocol):
    """Loaded; one passage at a time, so that a budget can end between two."""

    def score(self, query: str, passage: str) -> float:
        """How well they fit, 0 to 1. Errors: ModelFault."""


def load(config: Config, models: Path) -> Reranker | None:
    """The configured one, or None. Fetches nothing: somebody waits. Errors: ModelFault."""
    match config.rerank.provider:
        case "local":
            return LocalReranker(config.rerank.path)
        case "fastembed":
            return FastReranker(config.rerank.model or USUAL_MODEL, config.rerank.path, models)
        case _:
            return None


class LocalReranker:
    """`model.onnx` and `tokenizer.json` of a folder."""

    def __init__(self, path: str) -> None:
        self._graph = Graph(find(path))

    def score(self, query: str, passage: str) -> float:
        return probability(self._graph.run(query, passage).ravel().tolist())


class FastReranker:
    """A cross-encoder of fastembed's."""

    def __init__(self, model: str, path: str, models: Path) -> None:
        from ai_memory.providers.fast import loaded, silence

        (library,) = imported("fastembed.rerank.cross_encoder")
        silence()
        self._model: Any = loaded(library.TextCrossEncoder, model, path=path, cache=models, may_download=False)

    def score(self, query: str, passage: str) -> float:
        return probability([float(value) for value in self._model.rerank(query, [passage], batch_size=1)])


def probability(outputs: list[float]) -> float:
    """One number from a model's answer: one logit, or the logits of no and yes. Errors: ModelFault."""
    if len(outputs) not in (1, 2) or not all(map(math.isfinite, outputs)):
        raise ModelFault(f"the model answers {len(outputs)} numbers for a pair", hint="name a cross-encoder")
    logit = outputs[-1] - (outputs[0] if len(outputs) == 2 else 0.0)
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
