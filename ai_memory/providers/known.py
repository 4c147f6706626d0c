"""What is known of models by name, so that nobody need look it up.

*Source*: the models' own cards. A name that is not here works, too, with what the person configures.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """One model: where fastembed knows it, its `name`."""

    name: str
    query_prefix: str = ""
    document_prefix: str = ""
    added: tuple[str, int] | None = None
    """Where fastembed does not: the folder of its ONNX files on the hub, and its length."""


BGE = "Represent this sentence for searching relevant passages: "

MINILM = Known("sentence-transformers/all-MiniLM-L6-v2")
"""The usual one: small, and the one whose gain is measured in docs/benchmarks.md."""

MODELS: dict[str, Known] = {
    "all-minilm-l6-v2": MINILM,
    "bge-small-en": Known("BAAI/bge-small-en-v1.5", query_prefix=BGE),
    "multilingual-e5-small": Known(
        "intfloat/multilingual-e5-small", "query: ", "passage: ", added=("intfloat/multilingual-e5-small", 384)
    ),
    "multilingual-e5-large": Known("intfloat/multilingual-e5-large", "query: ", "passage: "),
    "multilingual-minilm": Known("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"),
    "potion": Known("minishlab/potion-retrieval-32M"),
}
"""By the name that a person types."""

_BY_FULL_NAME = {known.name.lower(): known for known in MODELS.values()}

_MULTILINGUAL = ("multilingual", "bge-m3", "text-embedding-3", "voyage-", "gemini-embedding", "embeddinggemma")


_ENGLISH = re.compile(r"minilm|mpnet|potion|nomic-embed-text-v1|[-_]en\b")


def is_multilingual(model: str) -> bool:
    """Whether a text and its translation lie near each other by that model, as its name tells."""
    return any(part in model.lower() for part in _MULTILINGUAL)


def is_english(model: str) -> bool:
    """Whether that model reads nothing but English, as its name tells; of most names nothing is known."""
    return not is_multilingual(model) and _ENGLISH.search(model.lower()) is not None


def known(name: str) -> Known:
    """The model of that short or full name; one without prefixes where nothing is known of it."""
    return MODELS.get(name.lower()) or _BY_FULL_NAME.get(name.lower()) or Known(name)
