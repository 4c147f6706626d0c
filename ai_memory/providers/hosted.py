"""Embedders behind plain HTTP: OpenAI and what speaks like it, Voyage, Google."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ai_memory.model import Encoder
from ai_memory.providers.embedder import ModelFault, Vector, packed
from ai_memory.providers.post import AT_WORK, Patience, post_json
from ai_memory.providers.services import Address
from ai_memory.text.sanitize import NO_PATTERNS, OwnPatterns, sanitize_together

MOST_BYTES = 8_000
"""Of one text; the head stays. Every service takes so much."""


class Hosted:
    """A service as an embedder. Texts lose secrets and private parts before they leave: a page that a person edited by
    hand may hold some.
    """

    batch = 64

    def __init__(
        self,
        address: Address,
        key: str,
        *,
        patience: Patience = AT_WORK,
        own: OwnPatterns = NO_PATTERNS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = address
        self._key = key
        self._patience = patience
        self._own = own
        self._sleep = sleep
        self._dim = 0

    @property
    def encoder(self) -> Encoder:
        if not self._dim:
            self._embed(["dimension"], is_query=False)
        address = self._address
        return Encoder(address.service, address.model, self._dim, address.document_prefix)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed([self._address.document_prefix + text for text in texts], is_query=False)

    def embed_query(self, text: str) -> Vector:
        return self._embed([self._address.query_prefix + text], is_query=True)[0]

    def _embed(self, texts: list[str], *, is_query: bool) -> list[Vector]:
        clean = [_head(text) or " " for text in sanitize_together(texts, self._own)]
        if self._address.service == "google":
            rows = self._google(clean, is_query=is_query)
        else:
            rows = self._openai(clean, is_query=is_query)
        return self._vectors(rows, len(texts))

    def _openai(self, texts: list[str], *, is_query: bool) -> list[Any]:
        address = self._address
        body: dict[str, object] = {"model": address.model, "input": texts}
        if address.service == "voyage":
            body["input_type"] = "query" if is_query else "document"
        else:
            body["encoding_format"] = "float"
        if address.dim:
            body["output_dimension" if address.service == "voyage" else "dimensions"] = address.dim
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        answer = self._post(f"{address.base_url}/embeddings", body, headers)
        rows = _rows(answer, "data")
        rows.sort(key=lambda row: row.get("index", 0) if isinstance(row, dict) else 0)
        return [row.get("embedding") if isinstance(row, dict) else None for row in rows]

    def _google(self, texts: list[str], *, is_query: bool) -> list[Any]:
        address = self._address
        name = f"models/{address.model}"
        one = {"model": name, "taskType": "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"}
        size = {"outputDimensionality": address.dim} if address.dim else {}
        body = {"requests": [{**one, **size, "content": {"parts": [{"text": text}]}} for text in texts]}
        headers = {"x-goog-api-key": self._key}
        answer = self._post(f"{address.base_url}/{name}:batchEmbedContents", body, headers)
        return [row.get("values") if isinstance(row, dict) else None for row in _rows(answer, "embeddings")]

    def _post(self, url: str, body: object, headers: Mapping[str, str]) -> Any:
        service = self._address.service
        return post_json(service, url, body, headers=headers, patience=self._patience, sleep=self._sleep)

    def _vectors(self, rows: list[Any], wanted: int) -> list[Vector]:
        """Errors: ModelFault where the answer does not fit the question."""
        service = self._address.service
        if len(rows) != wanted:
            raise ModelFault(f"{service} answered {len(rows)} vectors for {wanted} texts", hint="try another model")
        try:
            lengths = {len(row) for row in rows}
            made = [packed(row) for row in rows]
        except (TypeError, OverflowError):
            raise ModelFault(f"{service} answered what is no vector", hint="check embed.base_url") from None
        expected = self._dim or self._address.dim or max(lengths, default=0)
        if lengths != {expected} or not expected:
            told = ", ".join(map(str, sorted(lengths)))
            raise ModelFault(f"{service} answered vectors of {told} numbers, not {expected}", hint="set embed.dim")
        self._dim = expected
        return made


def _rows(answer: Any, name: str) -> list[Any]:
    rows = answer.get(name) if isinstance(answer, dict) else None
    return list(rows) if isinstance(rows, list) else []


def _head(text: str) -> str:
    return text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
