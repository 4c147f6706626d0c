"""Model files in a folder: `model.onnx` and `tokenizer.json`, run by onnxruntime alone.

One text at a time and no memory arena: fastest on a CPU, and half the memory (measured, docs/benchmarks.md).
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ai_memory.errors import echo
from ai_memory.model import Encoder
from ai_memory.providers.embedder import ModelFault, Vector, packed

MOST_TOKENS = 512
"""Of one text, where the folder names no fewer."""
_SAMPLE_BYTES = 1 << 16
_EXTRA = "pip install 'ai-memory[embed]'"


@dataclass(frozen=True, slots=True)
class Folder:
    """A model's files, found and named; nothing is loaded."""

    model: Path
    tokenizer: Path

    @property
    def name(self) -> str:
        """The folder's name and a fingerprint of the files: sizes and samples, since a search asks each time."""
        digest = hashlib.sha256()
        for file in (self.model, self.tokenizer):
            digest.update(_samples(file))
        return f"{self.model.parent.name}@{digest.hexdigest()[:12]}"


def find(path: str) -> Folder:
    """The files of that folder; the model may lie in `onnx/`. Errors: ModelFault naming what is missing."""
    if not path:
        raise ModelFault("no folder with a model is named", hint="ai-memory config set embed.path FOLDER")
    folder = Path(os.path.expanduser(path))
    model = next((file for file in (folder / "model.onnx", folder / "onnx" / "model.onnx") if file.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    for file, name in ((model, "model.onnx"), (tokenizer if tokenizer.is_file() else None, "tokenizer.json")):
        if file is None:
            raise ModelFault(
                f"there is no {name} in {echo(str(folder))}", hint="name the folder with the model's files"
            )
    assert model is not None
    return Folder(model, tokenizer)


def _samples(file: Path) -> bytes:
    """Size, head, middle and tail: files of two models differ there."""
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            parts = [size.to_bytes(8, "little")]
            for at in (0, size // 2, max(0, size - _SAMPLE_BYTES)):
                stream.seek(at)
                parts.append(stream.read(_SAMPLE_BYTES))
    except OSError as fault:
        raise ModelFault(f"{file.name} cannot be read: {fault.strerror}", hint=f"check {file.parent}") from fault
    return b"".join(parts)


class Graph:
    """A loaded model: token ids in, its first output out. Also for cross-encoders."""

    def __init__(self, folder: Folder, *, most_tokens: int = 0) -> None:
        numpy, runtime, tokenizers = imported("numpy", "onnxruntime", "tokenizers")
        self._numpy = numpy
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_length=most_tokens or _most_tokens(folder))
            options = runtime.SessionOptions()
            options.enable_cpu_mem_arena = False
            options.log_severity_level = 3
            self._session = runtime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
        except Exception as fault:
            why = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
            raise ModelFault(f"the model cannot be loaded: {why}", hint=f"check {folder.model.parent}") from fault
        self._inputs = {one.name for one in self._session.get_inputs()}

    def run(self, text: str, pair: str | None = None) -> Any:
        """The first output for one text, or for a query with a passage; its batch of one taken off."""
        encoded = self._tokenizer.encode(text) if pair is None else self._tokenizer.encode(text, pair)
        columns = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {
            name: self._numpy.array([values], dtype=self._numpy.int64)
            for name, values in columns.items()
            if name in self._inputs
        }
        try:
            return self._session.run(None, feed)[0][0]
        except Exception as fault:
            raise ModelFault(f"the model failed: {type(fault).__name__}", hint="is it one for texts?") from fault


def imported(*names: str) -> list[Any]:
    """Those packages. Errors: ModelFault that says how to install them."""
    try:
        return [import_module(name) for name in names]
    except ImportError as fault:
        missing = fault.name or names[0]
        raise ModelFault(f"{missing} is not installed, which the model needs", hint=_EXTRA) from fault


class Local:
    """The model of a folder as an embedder."""

    batch = 16

    def __init__(self, folder: Folder, *, pooling: str | None, query_prefix: str, document_prefix: str) -> None:
        self._graph = Graph(folder)
        self._pooling = pooling or _pooling(folder)
        self._name = folder.name
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._dim = len(self._pooled("dimension"))

    @property
    def encoder(self) -> Encoder:
        return Encoder("local", self._name, self._dim, self._document_prefix)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [packed(self._pooled(self._document_prefix + text)) for text in texts]

    def embed_query(self, text: str) -> Vector:
        return packed(self._pooled(self._query_prefix + text))

    def _pooled(self, text: str) -> list[float]:
        output = self._graph.run(text)
        if output.ndim == 2:
            output = output[0] if self._pooling == "cls" else output.mean(axis=0)
        if output.ndim != 1 or len(output) < 2:
            raise ModelFault("the model gives no vector for a text", hint="name a model for embeddings")
        numbers: list[float] = output.tolist()
        return numbers


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _pooling(folder: Folder) -> str:
    """What sentence-transformers left beside the model; the mean where it left nothing."""
    for root in (folder.tokenizer.parent, folder.model.parent):
        if _json(root / "1_Pooling" / "config.json").get("pooling_mode_cls_token") is True:
            return "cls"
    return "mean"


def _most_tokens(folder: Folder) -> int:
    root = folder.tokenizer.parent
    told = [
        _json(root / "sentence_bert_config.json").get("max_seq_length"),
        _json(root / "tokenizer_config.json").get("model_max_length"),
    ]
    lengths = [length for length in told if isinstance(length, int) and 0 < length <= 8192]
    return min([MOST_TOKENS, *lengths])
