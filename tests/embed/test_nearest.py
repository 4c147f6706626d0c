"""The vector leg finds the same with sqlite-vec and without, and what a comparison of everything finds."""

import random

import pytest

from ai_memory.model import Encoder
from ai_memory.providers.embedder import packed, unpacked
from ai_memory.search import vectors as leg
from ai_memory.search.vectors import Near, cosines, nearest
from ai_memory.store import driver, index, vectors
from ai_memory.store.driver import Connection

DIM = 24
pick = random.Random(11)


def some_vector() -> bytes:
    return packed(pick.gauss(0.2, 1) for _ in range(DIM))


def filled(made: list[bytes], *, chunks_a_page: int = 3) -> tuple[Connection, int]:
    """An index whose chunk n has vector n; every third page lies in project `other`."""
    connection = driver.in_memory()
    index.create(connection)
    number = vectors.ensure_encoder(connection, Encoder("test", "m", DIM))
    for at in range(0, len(made), chunks_a_page):
        page = at // chunks_a_page + 1
        project = "other" if page % 3 == 0 else "p"
        connection.execute(
            "INSERT INTO pages VALUES (?, 'w', ?, ?, '', '', 'note', 'semantic', 0, NULL, 0, NULL, NULL, 0, '{}', '',"
            " 0, '')",
            (page, project, f"notes/{page}.md"),
        )
        for chunk, vector in enumerate(made[at : at + chunks_a_page], at + 1):
            row = (chunk, number, page, b"", vectors.code_of(vector), vector)
            connection.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)", row)
    return connection, number


def compared_with_all(connection: Connection, vector: bytes, limit: int, *, project: str | None = None) -> list[Near]:
    rows = connection.execute(
        "SELECT v.page_id, v.chunk_id, v.vector, p.project FROM vectors AS v JOIN pages AS p ON p.id = v.page_id"
    )
    asked = unpacked(vector)
    found = [
        Near(page, chunk, sum(a * b for a, b in zip(asked, unpacked(stored), strict=True)))
        for page, chunk, stored, found_in in rows
        if project in (None, found_in)
    ]
    return sorted(found, key=lambda near: (-near.cosine, near.chunk_id))[:limit]


def ids(found: list[Near]) -> list[int]:
    return [near.chunk_id for near in found]


@pytest.fixture(params=["with sqlite-vec", "without"])
def by_driver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without":
        monkeypatch.setattr(driver, "HAS_EXTENSIONS", False)
    elif not driver.load_vector_functions(driver.in_memory()):
        pytest.skip("sqlite-vec is not installed or cannot be loaded")
    return str(request.param)


@pytest.mark.usefixtures("by_driver")
def test_what_is_found_is_what_comparing_everything_finds() -> None:
    connection, number = filled([some_vector() for _ in range(600)])
    for _ in range(20):
        query = some_vector()
        found = nearest(connection, number, query, limit=25)
        expected = compared_with_all(connection, query, 25)
        assert ids(found) == ids(expected)
        assert [near.cosine for near in found] == pytest.approx([near.cosine for near in expected])


@pytest.mark.usefixtures("by_driver")
def test_equal_vectors_come_in_the_order_of_their_chunks() -> None:
    same, other = some_vector(), some_vector()
    connection, number = filled([same] * 40 + [other] + [same] * 40)
    assert ids(nearest(connection, number, same, limit=50)) == [*range(1, 41), *range(42, 52)]


@pytest.mark.usefixtures("by_driver")
def test_only_pages_that_meet_the_conditions_count() -> None:
    connection, number = filled([some_vector() for _ in range(300)])
    query = some_vector()
    found = nearest(
        connection,
        number,
        query,
        conditions="1 AND p.workspace = ? AND p.project = ?",
        parameters=("w", "other"),
        limit=50,
    )
    assert ids(found) == ids(compared_with_all(connection, query, 50, project="other"))
    assert len(found) == 50


@pytest.mark.usefixtures("by_driver")
def test_another_encoders_vectors_are_not_seen() -> None:
    connection, number = filled([some_vector() for _ in range(9)])
    other = vectors.ensure_encoder(connection, Encoder("test", "m2", DIM))
    assert nearest(connection, other, some_vector()) == []
    assert len(nearest(connection, number, some_vector())) == 9


@pytest.mark.usefixtures("by_driver")
def test_a_vector_of_zeros_is_no_fault() -> None:
    connection, number = filled([packed([0.0] * DIM), some_vector()])
    assert sorted(ids(nearest(connection, number, some_vector()))) == [1, 2]
    assert [near.cosine for near in nearest(connection, number, packed([0.0] * DIM))] == [0.0, 0.0]


def test_both_drivers_find_the_same_also_where_the_pool_leaves_some_out(monkeypatch: pytest.MonkeyPatch) -> None:
    if not driver.load_vector_functions(driver.in_memory()):
        pytest.skip("sqlite-vec is not installed or cannot be loaded")
    monkeypatch.setattr(leg, "POOL", 60)
    few = [some_vector() for _ in range(40)]
    connection, number = filled([pick.choice(few) if pick.random() < 0.5 else some_vector() for _ in range(900)])
    queries = [some_vector() for _ in range(30)]

    def found() -> list[list[Near]]:
        return [nearest(connection, number, query, limit=6) for query in queries]

    with_functions = found()
    monkeypatch.setattr(driver, "HAS_EXTENSIONS", False)
    assert found() == with_functions


@pytest.mark.usefixtures("by_driver")
def test_the_cosine_of_given_chunks_is_that_of_the_leg() -> None:
    connection, number = filled([some_vector() for _ in range(30)])
    query = some_vector()
    told = {near.chunk_id: near.cosine for near in nearest(connection, number, query, limit=30)}
    assert cosines(connection, number, query, [3, 7, 999]) == {3: told[3], 7: told[7]}


@pytest.mark.parametrize("dim", [1, 7, 8, 384, 1536])
def test_a_code_holds_the_sign_of_each_number(dim: int) -> None:
    numbers = [pick.gauss(0, 1) for _ in range(dim)]
    code = int.from_bytes(vectors.code_of(packed(numbers)), "little")
    assert code.bit_count() == sum(number < 0 for number in numbers)
    assert len(vectors.code_of(packed(numbers))) == (dim + 7) // 8
