"""Models by fastembed: a name is enough, it fetches the files once and keeps them in the data dir."""

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ai_memory.model import Encoder
from ai_memory.providers.embedder import ModelFault, Vector, packed
from ai_memory.providers.folder import imported
from ai_memory.providers.known import Known

HUB = "huggingface.co"
_PROBE_S = 3.0
"""The library itself waits and tries again for half a minute before it says that there is no network."""


class Fast:
    """A model of fastembed's as an embedder."""

    batch = 16

    def __init__(
        self,
        model: Known,
        *,
        path: str,
        cache: Path,
        may_download: bool,
        query_prefix: str,
        document_prefix: str,
    ) -> None:
        self._name = model.name
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        (library,) = imported("fastembed")
        silence()
        if model.added is not None:
            _add(library, model)
        self._model = loaded(library.TextEmbedding, model.name, path=path, cache=cache, may_download=may_download)
        self._dim = len(next(iter(self._model.embed(["dimension"]))))

    @property
    def encoder(self) -> Encoder:
        return Encoder("fastembed", self._name, self._dim, self._document_prefix)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._vectors([self._document_prefix + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        return self._vectors([self._query_prefix + text])[0]

    def _vectors(self, texts: list[str]) -> list[Vector]:
        """One text at a time: padding to the longest of a batch costs a CPU more than it saves."""
        return [packed(vector.tolist()) for vector in self._model.embed(texts, batch_size=1)]


def _add(library: Any, model: Known) -> None:
    assert model.added is not None
    described = imported("fastembed.common.model_description")[0]
    source, dim = model.added
    with suppress(ValueError):  # it is there already: of an earlier call, or of a newer fastembed
        library.TextEmbedding.add_custom_model(
            model=model.name,
            pooling=described.PoolingType.MEAN,
            normalization=True,
            sources=described.ModelSource(hf=source),
            dim=dim,
            model_file="onnx/model.onnx",
        )


def silence() -> None:
    """No lines of fastembed's on stderr: they say at length what the fault says."""
    imported("loguru")[0].logger.disable("fastembed")


def loaded(kind: Any, name: str, *, path: str, cache: Path, may_download: bool) -> Any:
    """The model: from a folder, from what was fetched before, or now. Errors: ModelFault, one line, at once."""
    options: dict[str, Any] = {"cache_dir": str(cache), "enable_cpu_mem_arena": False}
    if path:
        options["specific_model_path"] = os.path.expanduser(path)
    try:
        return kind(name, local_files_only=True, **options)
    except Exception as fault:
        if path:
            why = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
            raise ModelFault(f"the model in {path} cannot be loaded: {why}", hint="check the folder") from fault
        if not may_download:
            raise ModelFault(f"the model {name} is not here yet", hint="ai-memory embed fetches it") from fault
    _refuse_offline(name)
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return kind(name, **options)
    except Exception as fault:
        raise ModelFault(
            f"the model {name} could not be fetched: {type(fault).__name__}",
            hint="check its name and the network, or name a folder with it: ai-memory config set embed.path FOLDER",
        ) from fault


def _refuse_offline(name: str) -> None:
    """Errors: ModelFault where nothing can be fetched. Behind a proxy only the library can tell."""
    is_forbidden = os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "TRUE", "YES", "ON")
    if not is_forbidden:
        if any(
            os.environ.get(word) for word in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT")
        ):
            return
        try:
            socket.create_connection((HUB, 443), timeout=_PROBE_S).close()
            return
        except OSError:
            pass
    raise ModelFault(
        f"the model {name} is not here, and there is no network to fetch it",
        hint="fetch it elsewhere and name its folder: ai-memory config set embed.path FOLDER",
    )
