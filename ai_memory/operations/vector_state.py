"""How many vectors there are, and whose."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.store import vectors
from ai_memory.store.snapshot import Filter, Snapshot

if TYPE_CHECKING:
    from ai_memory.model import Encoder
    from ai_memory.providers.choose import Choice


@dataclass(frozen=True, slots=True)
class EncoderRow:
    """An encoder; `dim` 0 where nothing has asked it yet."""

    provider: str
    model: str
    dim: int
    document_prefix: str = ""


@dataclass(frozen=True, slots=True)
class VectorState:
    encoder: EncoderRow | None = None
    """The one that holds; None where nobody makes vectors."""
    vectors: int = 0
    """Of this encoder."""
    missing: int = 0
    """Parts of pages without one."""
    former: int = 0
    """Of other encoders: no search asks for them."""


def encoder_row(choice: "Choice | None", encoder: "Encoder | None" = None) -> EncoderRow | None:
    """What is known of the encoder that holds."""
    if encoder is not None:
        return EncoderRow(encoder.provider, encoder.model, encoder.dim, encoder.document_prefix)
    if choice is not None:
        return EncoderRow(choice.provider, choice.model, choice.dim, choice.document_prefix)
    return None


def vector_state(snapshot: Snapshot, choice: "Choice | None", wanted: Filter | None = None) -> VectorState:
    """Vectors of the whole index, and what is missing of the `wanted` pages."""
    rows = vectors.encoders(snapshot.index)
    own = next((row for row in rows if choice is not None and choice.made(row.encoder)), None)
    conditions, parameters = (wanted or Filter()).sql()
    number = own.id if own else None
    missing = vectors.missing(snapshot.index, number, conditions=conditions, parameters=parameters)
    mine = own.vectors if own else 0
    row = encoder_row(choice, own.encoder if own else None)
    return VectorState(row, mine, missing, sum(row.vectors for row in rows) - mine)


def vector_words(state: VectorState) -> str:
    """The state in a few words."""
    former = f", {state.former} of former encoders: ai-memory embed --prune drops them" if state.former else ""
    if state.encoder is None:
        return f"no encoder{former}"
    missing = f", {state.missing} parts without" if state.missing else ""
    return f"{state.vectors} of {state.encoder.provider} {state.encoder.model}{missing}{former}"
