"""Making the vectors that are missing: newest pages first, outside the lock, resumable.

Killed at any point it loses at most one batch: what the model made is in `cache.db` before the index is told.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_memory.model import Encoder
from ai_memory.providers.choose import Choice, How
from ai_memory.providers.embedder import Embedder, ModelFault
from ai_memory.store import vectors
from ai_memory.store.cache import Cache
from ai_memory.store.vectors import ChunkText

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

_SLAB = 512
"""Chunks that are read from the index at once."""
_TELL_EVERY_S = 5.0
"""So often the index takes what was made, a write of some milliseconds."""
_GIVE_UP_AFTER = 2
"""Texts in a row that a model refuses one by one: then it is not the texts."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Chunks of which pages: conditions over `pages AS p`, and how many of them."""

    conditions: str = "1"
    parameters: Sequence[object] = ()
    limit: int | None = None


@dataclass(slots=True)
class Backfilled:
    """What was done so far."""

    encoder: Encoder | None = None
    embedded: int = 0
    """Vectors that the model made."""
    cached: int = 0
    """Vectors that were known."""
    failed: int = 0
    """Texts that the model refused."""
    _waiting: list[tuple[ChunkText, bytes]] = field(default_factory=list)


def backfill(
    memory: "Memory", choice: Choice, how: How, wanted: Wanted, *, progress: Callable[[int, int], None]
) -> Backfilled:
    """Give vectors to the chunks that have none of this encoder.

    Raises ModelFault where the model cannot be had, LockBusy, StoreFault; what was made until then is kept.
    """
    return _Run(memory, choice, how, wanted, progress).run()


def own_encoder(choice: Choice, known: Sequence[Encoder]) -> Encoder | None:
    """Which of the known encoders the choice is, without loading it."""
    return next((encoder for encoder in known if choice.made(encoder)), None)


class _Run:
    def __init__(
        self, memory: "Memory", choice: Choice, how: How, wanted: Wanted, progress: Callable[[int, int], None]
    ) -> None:
        self._memory = memory
        self._choice = choice
        self._how = how
        self._wanted = wanted
        self._progress = progress
        self._cache = Cache(memory.data_dir)
        self._embedder: Embedder | None = None
        self._done = Backfilled()
        self._total = 0
        self._told_at = time.monotonic()

    def run(self) -> Backfilled:
        done = self._done
        with self._memory.reading() as snapshot:
            known = [row.encoder for row in vectors.encoders(snapshot.index)]
        done.encoder = own_encoder(self._choice, [*known, *self._cache.encoders()])
        try:
            while chunks := self._next():
                for start in range(0, len(chunks), _batch(self._embedder)):
                    self._make(chunks[start : start + _batch(self._embedder)])
                self._tell()
        except BaseException:
            if done._waiting:
                self._tell()
            raise
        if done.encoder is not None:
            self._cache.touch(done.encoder)
        return done

    def _next(self) -> list[ChunkText]:
        """The next slab: what is missing yet, past what was refused."""
        done, wanted = self._done, self._wanted
        so_far = done.embedded + done.cached
        room = _SLAB if wanted.limit is None else min(_SLAB, wanted.limit - so_far - done.failed)
        if room <= 0:
            return []
        with self._memory.reading() as snapshot:
            number = vectors.encoder_id(snapshot.index, done.encoder) if done.encoder else None
            if not self._total:
                missing = vectors.missing(
                    snapshot.index, number, conditions=wanted.conditions, parameters=wanted.parameters
                )
                self._total = missing if wanted.limit is None else min(missing, wanted.limit)
            return vectors.next_missing(
                snapshot.index,
                number,
                room,
                conditions=wanted.conditions,
                parameters=wanted.parameters,
                offset=done.failed,
            )

    def _make(self, chunks: list[ChunkText]) -> None:
        done, before = self._done, self._done.encoder
        found = self._cache.vectors(before, [chunk.hash for chunk in chunks]) if before else {}
        new = [chunk for chunk in chunks if chunk.hash not in found]
        if new:
            made = self._embedded(new)
            done.encoder = self._loaded().encoder  # after the first vectors, since a service is known by them
            self._cache.put(done.encoder, [(chunk.hash, vector) for chunk, vector in made])
            done.embedded += len(made)
            if before not in (None, done.encoder):
                found = {}  # another encoder's, like what waits; the next slab asks for these chunks again
                done._waiting.clear()
            done._waiting += made
        known = [(chunk, found[chunk.hash]) for chunk in chunks if chunk.hash in found]
        done.cached += len(known)
        done._waiting += known
        self._progress(done.embedded + done.cached + done.failed, self._total)
        if time.monotonic() - self._told_at > _TELL_EVERY_S:
            self._tell()

    def _embedded(self, chunks: list[ChunkText]) -> list[tuple[ChunkText, bytes]]:
        embedder = self._loaded()
        try:
            made = embedder.embed_documents([chunk.text for chunk in chunks])
            return list(zip(chunks, made, strict=True))
        except ModelFault:
            if len(chunks) == 1:
                raise
        return self._one_by_one(embedder, chunks)

    def _one_by_one(self, embedder: Embedder, chunks: list[ChunkText]) -> list[tuple[ChunkText, bytes]]:
        """One text must not keep the others from their vectors. Raises ModelFault where it is not the texts."""
        made: list[tuple[ChunkText, bytes]] = []
        in_a_row = 0
        for chunk in chunks:
            try:
                made.append((chunk, embedder.embed_documents([chunk.text])[0]))
                in_a_row = 0
            except ModelFault:
                in_a_row += 1
                if in_a_row >= _GIVE_UP_AFTER:
                    raise
                self._done.failed += 1
        return made

    def _loaded(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._choice.load(self._how)
        return self._embedder

    def _tell(self) -> None:
        """Let the index take what waits. Short, under the lock; a chunk that changed meanwhile is passed over."""
        waiting, self._done._waiting = self._done._waiting, []
        encoder = self._done.encoder
        self._told_at = time.monotonic()
        if waiting and encoder is not None:
            self._memory.change_index(lambda connection: vectors.put(connection, encoder, waiting))
            self._memory.give_way()


def _batch(embedder: Embedder | None) -> int:
    return embedder.batch if embedder is not None else 64
