"""ONNX graphs of a few bytes, written by hand (protobuf wire format), with a tokenizer of a few words."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

FLOAT, INT64 = 1, 7
WORDS = ("[UNK]", "[CLS]", "[SEP]", "lock", "queue", "tax", "till", "cat")


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, dims: Iterable[int], kind: int, raw: bytes) -> bytes:
    return b"".join(_number(1, dim) for dim in dims) + _number(2, kind) + _bytes(8, name) + _bytes(9, raw)


def _node(kind: str, inputs: Iterable[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes


def _value(name: str, kind: int, dims: Iterable[int | str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, dim) if isinstance(dim, str) else _number(1, dim)) for dim in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _model(nodes: list[bytes], tensors: list[bytes], output: bytes) -> bytes:
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "g") + b"".join(_bytes(5, one) for one in tensors)
    graph += _bytes(11, _value("input_ids", INT64, ("batch", "sequence"))) + _bytes(12, output)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))


def embedder_graph(table: Any) -> bytes:
    """Each token's row of `table` (numpy, float32): last_hidden_state."""
    rows, dim = table.shape
    nodes = [_node("Gather", ("table", "input_ids"), "last_hidden_state")]
    tensors = [_tensor("table", (rows, dim), FLOAT, table.astype("<f4").tobytes())]
    return _model(nodes, tensors, _value("last_hidden_state", FLOAT, ("batch", "sequence", dim)))


def cross_encoder_graph() -> bytes:
    """One logit a pair: the mean of its token ids."""
    cast = _bytes(5, _bytes(1, "to") + _number(3, FLOAT) + _number(20, 2))
    axes = _bytes(5, _bytes(1, "axes") + _number(8, 1) + _number(20, 7))
    nodes = [
        _node("Cast", ("input_ids",), "numbers", cast),
        _node("ReduceMean", ("numbers",), "logits", axes),
    ]
    return _model(nodes, [], _value("logits", FLOAT, ("batch", 1)))


def tokenizer_json(folder: Path) -> None:
    """A tokenizer of `WORDS` that puts [CLS] and [SEP] around."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def make_embedder(folder: Path, *, dim: int = 8, seed: int = 5) -> Path:
    """A folder with a model whose vectors are means of random rows."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_json(folder)
    table = np.random.default_rng(seed).standard_normal((len(WORDS), dim)).astype("float32")
    (folder / "model.onnx").write_bytes(embedder_graph(table))
    return folder


def make_cross_encoder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_json(folder)
    (folder / "model.onnx").write_bytes(cross_encoder_graph())
    return folder
