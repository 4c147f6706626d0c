"""Vectors for a labelled set: what the cache knows of its texts; the rest from the model, and into the cache."""

from collections.abc import Callable, Sequence

from ai_memory.model import Encoder
from ai_memory.providers.choose import Choice, How
from ai_memory.providers.embedder import Embedder
from ai_memory.search.backfill import own_encoder
from ai_memory.search.evaluation import Question
from ai_memory.search.trial import Trial
from ai_memory.store.cache import Cache
from ai_memory.text.embedded import query_hash, text_hash

_AT_ONCE = 64
"""Texts between two looks at the cache: so many are made anew after a kill."""


def teach(
    trial: Trial, questions: Sequence[Question], cache: Cache, choice: Choice, how: How, tell: Callable[[], None]
) -> Encoder | None:
    """Let the trial ask by vectors, too; gives whose. `tell` is called for each text of a passage.

    Raises ModelFault where the model cannot be had.
    """
    teacher = _Teacher(cache, choice, how)
    texts = trial.texts()
    for start in range(0, len(texts), _AT_ONCE):
        teacher.read(texts[start : start + _AT_ONCE], tell)
    encoder = teacher.encoder
    if encoder is not None:
        asked = {text: teacher.heard(text, encoder) for text in dict.fromkeys(one.text for one in questions)}
        trial.learn(encoder, teacher.known, asked.get)
    return encoder


class _Teacher:
    def __init__(self, cache: Cache, choice: Choice, how: How) -> None:
        self._cache = cache
        self._choice = choice
        self._how = how
        self._model: Embedder | None = None
        self._vectors: dict[bytes, bytes] = {}
        self.encoder = own_encoder(choice, cache.encoders())

    def read(self, texts: Sequence[str], tell: Callable[[], None]) -> None:
        hashes = {text_hash(text): text for text in texts}
        known = self._cache.vectors(self.encoder, list(hashes)) if self.encoder else {}
        new = [digest for digest in hashes if digest not in known]
        if new:
            made = dict(zip(new, self._loaded().embed_documents([hashes[one] for one in new]), strict=True))
            self.encoder = self._loaded().encoder
            self._cache.put(self.encoder, made.items())
            known |= made
        self._vectors |= known
        for _ in texts:
            tell()

    def heard(self, query: str, encoder: Encoder) -> bytes:
        digest = query_hash(self._choice.query_prefix, query)
        vector = self._cache.query(encoder, digest)
        if vector is None:
            vector = self._loaded().embed_query(query)
            self._cache.put_query(encoder, digest, vector)
        return vector

    def known(self, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        return {digest: self._vectors[digest] for digest in hashes if digest in self._vectors}

    def _loaded(self) -> Embedder:
        if self._model is None:
            self._model = self._choice.load(self._how)
        return self._model
