"""Which services there are. Apart from what calls them, since a search whose vector is known calls nobody."""

from collections.abc import Mapping
from dataclasses import dataclass

from ai_memory.providers.embedder import ModelFault


@dataclass(frozen=True, slots=True)
class Service:
    """One service: where it listens, which key it takes, and what it makes by default."""

    base_url: str
    model: str
    keys: tuple[str, ...]
    """Variables with the key, the first that is set. `EMBEDDING_API_KEY` goes before all."""
    dim: int = 0
    """Asked for where nothing is configured; 0 asks for none."""
    needs_key: bool = True


SERVICES: Mapping[str, Service] = {
    "openai": Service("https://api.openai.com/v1", "text-embedding-3-small", ("OPENAI_API_KEY",)),
    "openai-compat": Service("", "", (), needs_key=False),
    "voyage": Service("https://api.voyageai.com/v1", "voyage-3.5", ("VOYAGE_API_KEY",)),
    "google": Service(
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        dim=768,
    ),
}


@dataclass(frozen=True, slots=True)
class Address:
    """What a service is asked with."""

    service: str
    base_url: str
    model: str
    dim: int = 0
    query_prefix: str = ""
    document_prefix: str = ""


def key_of(service: str, environ: Mapping[str, str]) -> str:
    """The key; empty where none is needed. Errors: ModelFault naming the variables."""
    known = SERVICES[service]
    names = ("EMBEDDING_API_KEY", *known.keys)
    found = next((environ[name].strip() for name in names if environ.get(name, "").strip()), "")
    if not found and known.needs_key:
        raise ModelFault(f"{service} needs a key", hint=f"set {' or '.join(names)}")
    if not found.isascii() or not found.isprintable():
        raise ModelFault(f"the key of {service} holds characters that no key has", hint="set it again")
    return found
