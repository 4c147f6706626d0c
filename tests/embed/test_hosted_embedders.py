"""Embedders behind HTTP: what is sent, what comes back, and what no error tells."""

import math
from typing import Any

import pytest
from stub_service import DIM, Stub, hashed, serving

from ai_memory.config_table import Config, Embed
from ai_memory.providers.choose import How, choose
from ai_memory.providers.embedder import ModelFault, packed, unpacked
from ai_memory.providers.hosted import MOST_BYTES, Hosted
from ai_memory.providers.post import Patience
from ai_memory.providers.services import Address, key_of

KEY = "test-key-0123456789"
pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Pauses(list[float]):
    """A clock that does not wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def hosted(stub: Stub, service: str = "openai", *, patience: Patience | None = None, **more: Any) -> Hosted:
    address = Address(service, stub.url, "m", **more)
    return Hosted(address, KEY, patience=patience or Patience(), sleep=Pauses())


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(stub: Stub) -> None:
    made = hosted(stub).embed_documents(["one word", "another"])
    assert made == [packed(hashed("one word")), packed(hashed("another"))]
    assert math.isclose(sum(value * value for value in unpacked(made[0])), 1, rel_tol=1e-6)


def test_openai_is_asked_with_bearer_key_and_dimensions(stub: Stub) -> None:
    hosted(stub, dim=DIM).embed_documents(["a"])
    (asked,) = stub.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert asked.body == {"model": "m", "input": ["a"], "encoding_format": "float", "dimensions": DIM}


def test_voyage_is_told_what_is_a_query(stub: Stub) -> None:
    model = hosted(stub, "voyage")
    model.embed_query("q")
    model.embed_documents(["d"])
    assert [one.body["input_type"] for one in stub.asked] == ["query", "document"]


def test_google_takes_its_key_in_a_header_and_the_texts_as_requests(stub: Stub) -> None:
    model = hosted(stub, "google", dim=DIM)
    assert model.embed_query("q") == packed(hashed("q"))
    (asked,) = stub.asked
    assert (asked.path, asked.headers["x-goog-api-key"]) == ("/v1/models/m:batchEmbedContents", KEY)
    assert asked.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


def test_prefixes_stand_before_the_texts_and_only_the_documents_is_part_of_the_identity(stub: Stub) -> None:
    model = hosted(stub, query_prefix="query: ", document_prefix="passage: ")
    model.embed_query("q")
    model.embed_documents(["d"])
    assert stub.texts == ["query: q", "passage: d"]
    assert model.encoder.document_prefix == "passage: "
    assert model.encoder.dim == DIM


def test_a_secret_and_a_private_part_do_not_leave_the_machine(stub: Stub) -> None:
    secret = "ghp_" + "a1B2" * 9
    hosted(stub).embed_documents([f"token {secret} here", "a <private>b</private> c"])
    assert secret not in str(stub.texts)
    assert "b" not in stub.texts[1].split()


def test_a_long_text_is_cut_at_its_end_on_a_whole_character(stub: Stub) -> None:
    hosted(stub).embed_documents(["ä" * MOST_BYTES])
    assert stub.texts == ["ä" * (MOST_BYTES // 2)]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again_with_growing_pauses(stub: Stub, status: int) -> None:
    stub.answers += [(status, {}, {}), (status, {}, {})]
    pauses = Pauses()
    model = Hosted(Address("openai", stub.url, "m"), KEY, sleep=pauses)
    assert model.embed_query("q") == packed(hashed("q"))
    assert pauses == [1.0, 2.0]


def test_a_service_says_how_long_to_wait_up_to_a_minute(stub: Stub) -> None:
    stub.answers += [(429, {"Retry-After": "7"}, {}), (429, {"Retry-After": "9999"}, {})]
    pauses = Pauses()
    Hosted(Address("openai", stub.url, "m"), KEY, sleep=pauses).embed_query("q")
    assert pauses == [7.0, 60.0]


def test_a_refusal_is_not_tried_again_and_tells_class_and_status_alone(stub: Stub) -> None:
    stub.answers.append((401, {}, {"error": f"bad key {KEY} for text: my words"}))
    with pytest.raises(ModelFault) as caught:
        hosted(stub).embed_query("my words")
    assert len(stub.asked) == 1
    assert "HTTPError, status 401" in str(caught.value)
    assert KEY not in str(caught.value)
    assert "my words" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_service_that_is_not_there_is_said_in_one_line() -> None:
    with serving(Stub()) as gone:
        pass
    model = hosted(gone, patience=Patience(tries=2))
    with pytest.raises(ModelFault, match="cannot be reached: ConnectionRefusedError"):
        model.embed_query("q")


def test_a_redirect_to_the_same_place_is_followed_with_key_and_text(stub: Stub) -> None:
    stub.answers.append((308, {"Location": "/v2/embeddings"}, {}))
    assert hosted(stub).embed_query("q") == packed(hashed("q"))
    assert [one.path for one in stub.asked] == ["/v1/embeddings", "/v2/embeddings"]
    assert stub.asked[1].headers["authorization"] == f"Bearer {KEY}"
    assert stub.texts == ["q", "q"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_another_origin_gets_neither_key_nor_text(stub: Stub, status: int) -> None:
    with serving(Stub()) as other:
        stub.answers.append((status, {"Location": f"{other.url}/embeddings"}, {}))
        with pytest.raises(ModelFault, match="sends elsewhere"):
            hosted(stub).embed_query("q")
        assert other.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": [{"index": 0, "embedding": [float("nan")] * DIM}]},
        ["no"],
        b"<html>",
    ],
)
def test_an_answer_that_is_no_vector_is_a_fault(stub: Stub, answer: object) -> None:
    stub.answers.append((200, {}, answer))
    with pytest.raises(ModelFault):
        hosted(stub).embed_query("q")


def test_vectors_of_another_length_than_before_are_refused(stub: Stub) -> None:
    model = hosted(stub)
    model.embed_query("q")
    stub.dim = DIM * 2
    with pytest.raises(ModelFault, match=r"set embed\.dim"):
        model.embed_query("q")


def test_the_role_key_goes_before_the_services_own() -> None:
    assert key_of("openai", {"EMBEDDING_API_KEY": "a", "OPENAI_API_KEY": "b"}) == "a"
    assert key_of("google", {"GOOGLE_API_KEY": "c"}) == "c"
    assert key_of("openai-compat", {}) == ""
    with pytest.raises(ModelFault) as caught:
        key_of("voyage", {})
    assert "EMBEDDING_API_KEY or VOYAGE_API_KEY" in caught.value.hint


def test_a_key_with_a_line_end_is_refused_without_being_shown() -> None:
    with pytest.raises(ModelFault) as caught:
        key_of("openai", {"OPENAI_API_KEY": "abc\r\nX-Other: 1"})
    assert "abc" not in str(caught.value)


def test_no_service_is_chosen_unless_it_is_named() -> None:
    assert choose(Config(embed=Embed(provider="none"))) is None
    chosen = choose(Config(embed=Embed(provider="voyage")))
    assert chosen is not None
    assert chosen.is_named
    unnamed = choose(None)
    assert unnamed is None or unnamed.provider == "fastembed"


def test_a_service_of_ones_own_needs_address_and_model() -> None:
    for embed in (Embed(provider="openai-compat", model="m"), Embed(provider="openai-compat", base_url="http://x")):
        with pytest.raises(ModelFault, match=r"needs embed\."):
            choose(Config(embed=embed))


def test_a_file_is_no_address(tmp_path: Any) -> None:
    embed = Embed(provider="openai-compat", model="m", base_url="file:///etc")
    chosen = choose(Config(embed=embed))
    assert chosen is not None
    with pytest.raises(ModelFault, match="no usable address"):
        chosen.load(How(tmp_path, {})).embed_query("q")
