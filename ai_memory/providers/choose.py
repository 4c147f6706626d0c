"""Which embedder holds: by what is configured and installed, without loading anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ai_memory.config_table import Config
from ai_memory.model import Encoder
from ai_memory.providers.embedder import Embedder, ModelFault
from ai_memory.providers.known import MINILM, Known, known

# The modules of the providers are imported when one is loaded: a search whose vector is in the cache needs none.


@dataclass(frozen=True, slots=True)
class Choice:
    """An embedder that could be loaded, and what its vectors are known by."""

    provider: str
    model: str
    document_prefix: str
    query_prefix: str
    dim: int
    """Asked for; 0 is whatever the model makes."""
    is_named: bool
    """Somebody configured it by name. What runs in the background asks: a service may cost money."""
    load: Callable[["How"], Embedder]
    """Loads it, or reaches out for it. Errors: ModelFault."""

    def made(self, encoder: Encoder) -> bool:
        """Whether those vectors are its own."""
        is_same = (encoder.provider, encoder.model, encoder.document_prefix) == (
            self.provider,
            self.model,
            self.document_prefix,
        )
        return is_same and self.dim in (0, encoder.dim)


@dataclass(frozen=True, slots=True)
class How:
    """What loading may take."""

    models: Path
    """Folder for models that are fetched."""
    environ: Mapping[str, str]
    may_download: bool = False
    somebody_waits: bool = False
    """A search: a service gets one try of a few seconds."""


def choose(config: Config | None) -> Choice | None:
    """The embedder that holds, or None. Errors: ModelFault where a folder is configured that holds no model."""
    config = config or Config()
    provider = config.embed.provider
    if provider is None:
        provider = "fastembed" if find_spec("fastembed") is not None else "none"
    match provider:
        case "none":
            return None
        case "local":
            return _local(config)
        case "fastembed":
            return _fastembed(config)
        case _:
            return _hosted(provider, config)


def _prefixes(config: Config, model: Known) -> tuple[str, str]:
    query = model.query_prefix if config.embed.query_prefix is None else config.embed.query_prefix
    document = model.document_prefix if config.embed.document_prefix is None else config.embed.document_prefix
    return query, document


def _local(config: Config) -> Choice:
    from ai_memory.providers.folder import Local, find

    folder = find(config.embed.path)
    query, document = _prefixes(config, known(config.embed.model or folder.model.parent.name))

    def load(_: How) -> Embedder:
        return Local(folder, pooling=config.embed.pooling, query_prefix=query, document_prefix=document)

    return Choice("local", folder.name, document, query, 0, True, load)


def _fastembed(config: Config) -> Choice:
    model = known(config.embed.model) if config.embed.model else MINILM
    query, document = _prefixes(config, model)

    def load(how: How) -> Embedder:
        from ai_memory.providers.fast import Fast

        return Fast(
            model,
            path=config.embed.path,
            cache=how.models,
            may_download=how.may_download,
            query_prefix=query,
            document_prefix=document,
        )

    return Choice("fastembed", model.name, document, query, 0, config.embed.provider is not None, load)


def _hosted(provider: str, config: Config) -> Choice:
    from ai_memory.providers.services import SERVICES, Address, key_of

    service = SERVICES[provider]
    model = config.embed.model or service.model
    base_url = (config.embed.base_url or service.base_url).rstrip("/")
    for value, key in ((base_url, "embed.base_url"), (model, "embed.model")):
        if not value:
            raise ModelFault(f"{provider} needs {key}", hint=f"ai-memory config set {key} …")
    query, document = _prefixes(config, known(model))
    address = Address(provider, base_url, model, config.embed.dim or service.dim, query, document)

    def load(how: How) -> Embedder:
        from ai_memory.providers.hosted import Hosted
        from ai_memory.providers.post import AT_WORK, SOMEBODY_WAITS
        from ai_memory.text.sanitize import OwnPatterns

        own = OwnPatterns(config.sanitize.extra_patterns, config.sanitize.allowlist)
        patience = SOMEBODY_WAITS if how.somebody_waits else AT_WORK
        return Hosted(address, key_of(provider, how.environ), patience=patience, own=own)

    return Choice(provider, model, document, query, address.dim, True, load)
