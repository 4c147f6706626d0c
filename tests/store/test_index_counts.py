"""What the index remembers instead of counting it: how many chunks it holds, through every kind of change."""

from ai_memory.store import driver, index
from ai_memory.store.index import IndexedFile

PARTS = "\n\n".join(f"## Part {number}\n\n{'word ' * 100}{number}" for number in range(4))


def test_the_number_of_chunks_follows_what_is_put_changed_and_removed() -> None:
    connection = driver.in_memory()
    index.create(connection)

    def put(text: str | None, path: str = "notes/a.md") -> int:
        content = None if text is None else text.encode()
        with driver.transaction(connection):
            file = IndexedFile(f"default/shop/{path}", None if text is None else "0" * 40, content, 0)
            index.put_files(connection, [file])
        (counted,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        assert index.count_chunks(connection) == counted
        return int(counted)

    assert index.count_chunks(connection) == 0
    one = put("# A\n\nShort.")
    assert put(PARTS, "notes/b.md") > one + 2
    assert put("# B\n\nShort.", "notes/b.md") == 2 * one
    assert put("---\nabstract: What it is about.\n---\n# B\n\nShort.", "notes/b.md") == 2 * one + 1
    assert put(None, "notes/b.md") == one
    assert put(None) == 0
