"""Models of a folder, run for real on graphs of a few bytes; skipped where onnxruntime is not installed."""

import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ai_memory.config_table import Config, Embed, Rerank
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.providers.choose import How, choose
from ai_memory.providers.embedder import Embedder, ModelFault, unpacked
from ai_memory.providers.reranker import probability
from ai_memory.search.reranking import Reranked, rerank
from ai_memory.store.memory import Memory

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
from tiny_models import WORDS, make_cross_encoder, make_embedder  # noqa: E402 (they need what is asked for above)


def local(folder: Path, **more: object) -> Embedder:
    choice = choose(Config(embed=Embed(provider="local", path=str(folder), **more)))  # type: ignore[arg-type]
    assert choice is not None
    return choice.load(How(folder, {}))


def test_the_vector_of_a_text_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    model = local(make_embedder(tmp_path / "m"))
    table = np.random.default_rng(5).standard_normal((len(WORDS), 8)).astype("float32")
    mean = table[[1, WORDS.index("lock"), WORDS.index("queue"), 2]].mean(axis=0)
    (made,) = model.embed_documents(["lock queue"])
    assert unpacked(made) == pytest.approx((mean / np.linalg.norm(mean)).tolist(), abs=1e-6)


def test_cls_pooling_is_read_from_the_folder_or_configured(tmp_path: Path) -> None:
    folder = make_embedder(tmp_path / "m")
    by_hand = local(folder, pooling="cls").embed_query("lock")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert local(folder).embed_query("lock") == by_hand != local(folder, pooling="mean").embed_query("lock")


def test_the_identity_is_folder_and_content(tmp_path: Path) -> None:
    one = local(make_embedder(tmp_path / "a" / "m")).encoder
    copied = local(make_embedder(tmp_path / "b" / "m")).encoder
    other = local(make_embedder(tmp_path / "c" / "m", seed=6)).encoder
    assert one == copied != other
    assert (one.provider, one.dim) == ("local", 8)


def test_a_text_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    folder = make_embedder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 4}')
    model = local(folder)
    assert model.embed_query("lock queue tax till cat") == model.embed_query("lock queue")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_said_at_once(tmp_path: Path, missing: str) -> None:
    folder = make_embedder(tmp_path / "m")
    (folder / missing).unlink()
    with pytest.raises(ModelFault, match=f"no {missing}"):
        local(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_no_model_is_a_fault_in_one_line(tmp_path: Path, name: str) -> None:
    folder = make_embedder(tmp_path / "m")
    (folder / name).write_bytes(b"nonsense")
    with pytest.raises(ModelFault, match="cannot be loaded") as caught:
        local(folder)
    assert "\n" not in caught.value.message


def test_a_cross_encoder_is_no_embedder(tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="no vector"):
        local(make_cross_encoder(tmp_path / "m")).embed_documents(["lock"])


# ---- the second look


def with_rerank(**settings: Any) -> Config:
    return Config(rerank=Rerank(**settings))


def memory(tmp_path: Path) -> Memory:
    caller = Caller(cwd=str(tmp_path), environ=dict(os.environ), home=os.environ["HOME"])
    return Memory.open(DataDir(tmp_path / "data"), caller=caller)


def test_the_second_look_orders_by_the_cross_encoder(tmp_path: Path) -> None:
    settings = with_rerank(provider="local", path=str(make_cross_encoder(tmp_path / "m")))
    passages = ["lock", "cat cat cat", "tax", "lock"]
    found = rerank(memory(tmp_path), "queue", passages, settings)
    assert found.gap == ""
    assert found.order(4) == [1, 2, 0, 3]


def test_the_rest_keeps_its_place_when_the_time_is_over(tmp_path: Path) -> None:
    settings = with_rerank(provider="local", path=str(make_cross_encoder(tmp_path / "m")), budget_ms=1000)
    clock = count(0, 0.3)
    passages = ["lock", "cat", "tax", "till", "till"]
    found = rerank(memory(tmp_path), "queue", passages, settings, now_s=lambda: next(clock))
    assert len(found.scores) == 3
    assert found.gap == "the second look had time for 3 of 5 pages"
    assert found.order(5)[3:] == [3, 4]


def test_only_the_top_is_looked_at(tmp_path: Path) -> None:
    settings = with_rerank(provider="local", path=str(make_cross_encoder(tmp_path / "m")), top=2)
    assert len(rerank(memory(tmp_path), "queue", ["lock", "cat", "tax"], settings).scores) == 2


def test_a_reranker_that_is_not_there_is_a_gap(tmp_path: Path) -> None:
    found = rerank(memory(tmp_path), "q", ["a", "b"], with_rerank(provider="local", path=str(tmp_path / "nowhere")))
    assert "no second look" in found.gap
    assert found.order(2) == [0, 1]


def test_without_a_reranker_nothing_is_scored(tmp_path: Path) -> None:
    assert rerank(memory(tmp_path), "q", ["a"], Config()) == rerank(memory(tmp_path), "q", ["a"], None) == Reranked()


@pytest.mark.parametrize("outputs", [[], [1.0, 2.0, 3.0], [float("nan")]])
def test_what_is_no_answer_of_a_cross_encoder_is_refused(outputs: list[float]) -> None:
    with pytest.raises(ModelFault):
        probability(outputs)


def test_two_logits_are_no_and_yes() -> None:
    assert probability([0.0, 2.0]) == probability([2.0]) > 0.5 > probability([2.0, 0.0])
    assert probability([-800.0]) == 0.0
