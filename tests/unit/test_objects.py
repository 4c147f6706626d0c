"""Git objects as we write them are those that git's own library would write."""

import stat
from pathlib import Path

from dulwich.objects import Blob, ObjectID, Tree, parse_tree
from dulwich.repo import Repo
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.store.objects import ObjectWriter, TreeRow, clear_temporary, spliced_tree

Row = tuple[int, str]
NAMES = st.binary(min_size=1, max_size=4).filter(lambda name: not set(name) & set(b"\0/") and name not in (b".", b".."))
ROWS = st.tuples(
    st.sampled_from([stat.S_IFDIR, 0o100644, 0o100755, 0o120000]), st.binary(min_size=20, max_size=20)
).map(lambda row: (row[0], row[1].hex()))


def bytes_of(entries: dict[bytes, Row]) -> bytes:
    tree = Tree()
    for name, (mode, made) in entries.items():
        tree.add(name, mode, ObjectID(made.encode()))
    return tree.as_raw_string()


def rows_of(raw: bytes) -> list[TreeRow]:
    return list(parse_tree(raw, 20))


@given(st.dictionaries(NAMES, ROWS), st.dictionaries(NAMES, st.none() | ROWS))
def test_a_spliced_tree_is_the_tree_with_its_changes(
    before: dict[bytes, Row], changes: dict[bytes, Row | None]
) -> None:
    raw = bytes_of(before)
    after = {name: row for name, row in {**before, **changes}.items() if row is not None}
    assert spliced_tree(raw, rows_of(raw), changes) == bytes_of(after)


@given(st.dictionaries(NAMES, ROWS, min_size=1), st.dictionaries(NAMES, st.none() | ROWS))
def test_modes_with_a_leading_zero_are_read_too(before: dict[bytes, Row], changes: dict[bytes, Row | None]) -> None:
    raw = bytes_of(before)
    rows = rows_of(raw)
    padded = b"".join(b"0%o %s\0%s" % (mode, name, bytes.fromhex(made.decode())) for name, mode, made in rows)
    after = {name: row for name, row in {**before, **changes}.items() if row is not None}
    assert spliced_tree(padded, rows, changes) == bytes_of(after)


def test_published_objects_are_found_by_the_library_and_no_temporary_file_is_left(tmp_path: Path) -> None:
    repo = Repo.init(str(tmp_path))
    objects = tmp_path / ".git" / "objects"
    writer = ObjectWriter(objects, is_stored=lambda made: ObjectID(made.encode()) in repo.object_store)
    blob = writer.add(b"blob", b"text\n")
    tree = writer.add(b"tree", bytes_of({b"a.md": (0o100644, blob)}))
    assert not list(objects.glob(f"{blob[:2]}/{blob[2:]}"))
    writer.publish()
    assert repo.object_store[ObjectID(blob.encode())] == Blob.from_string(b"text\n")
    assert repo.object_store[ObjectID(tree.encode())].as_raw_string() == bytes_of({b"a.md": (0o100644, blob)})
    assert not list(objects.rglob("tmp_obj_*"))
    repo.close()


def test_an_object_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    writer = ObjectWriter(tmp_path / "objects", is_stored=lambda _: True)
    writer.add(b"blob", b"text\n")
    writer.publish()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_half_written_objects_are_cleared_away(tmp_path: Path) -> None:
    writer = ObjectWriter(tmp_path, is_stored=lambda _: False)
    writer.add(b"blob", b"text\n")
    assert list(tmp_path.rglob("tmp_obj_*"))
    clear_temporary(tmp_path)
    assert not list(tmp_path.rglob("tmp_obj_*"))
