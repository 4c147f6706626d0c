"""What an embedder is, and how its numbers become the vectors that are stored."""

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from ai_memory.errors import MemoryFault
from ai_memory.model import Encoder

Vector = bytes
"""float32, little-endian, (dim,), L2-normalised: what SQLite stores and sqlite-vec reads, without numpy."""


class ModelFault(MemoryFault):
    """A model cannot be had, or its answer cannot be used. Callers go on without it."""

    code = "internal"


class Embedder(Protocol):
    """Makes vectors of texts. Stateless after loading; not for two threads at once."""

    batch: int
    """How many texts at once suit it."""

    @property
    def encoder(self) -> Encoder:
        """Who it is. Errors: ModelFault where that takes an answer that does not come."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in their order; the document's prefix is put before each. Errors: ModelFault."""

    def embed_query(self, text: str) -> Vector:
        """The vector to look for. Errors: ModelFault."""


def packed(numbers: Iterable[float]) -> Vector:
    """The numbers as a vector of length 1; all zeros stay zeros. Errors: ModelFault for what is no number."""
    values = array("d", numbers)
    length = math.sqrt(math.fsum(value * value for value in values))
    if not math.isfinite(length):
        raise ModelFault("the model gave numbers that are none", hint="try another model, or other texts")
    scaled = array("f", (value / length for value in values) if length else values)
    if sys.byteorder == "big":
        scaled.byteswap()
    return scaled.tobytes()


def unpacked(vector: Vector) -> list[float]:
    """The numbers of a stored vector."""
    numbers = array("f")
    numbers.frombytes(vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()
