"""The index holds nothing that is not in the wiki: thrown away and made anew it gives the same answers."""

import tempfile
from pathlib import Path

from crash_driver import (
    assert_in_step,
    commit_by_hand,
    full_text_is_sound,
    index_rows,
    memory_at,
    page,
    rebuilt_rows,
    ref,
    start,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef, Sanitized
from ai_memory.paths import DataDir
from ai_memory.store.snapshot import Snapshot

NAMES = ("a.md", "notes/b.md", "notes/ünï.md", "deep/er/c.md", "日本.md")
PROJECTS = ("crash", "second")
QUERIES = ("apple", "ünï", "日本", "head*", '"green tree"')

refs = st.builds(ref, st.sampled_from(NAMES), st.sampled_from(PROJECTS))
words = st.lists(
    st.sampled_from(
        [
            "apple",
            "green tree",
            "ünï",
            "日本",
            "[[a]]",
            "[[notes/b|b]]",
            "[x](../a.md)",
            "`[[no]]`",
            "# head",
            "\n",
            "```",
        ]
    ),
    max_size=8,
).map(" ".join)
heads = st.sampled_from(
    [
        "",
        "---\ntitle: A title\ntags: [red, blue]\n---\n",
        "---\nkind: decision\npinned: true\nentities: [Ada]\n---\r\n",
        "\ufeff---\ntitle: with a mark\nrelations:\n  supports: [a]\n---\n",
        "---\nexpires_at: 2030-01-01\n---\n",
    ]
)
texts = st.builds(lambda head, body: Sanitized(head + body + "\n"), heads, words)
BROKEN = st.sampled_from([b"---\ntitle: [never closed\n---\nhead\n", b"\xff\xfe not text", b"---\nno end\n", b""])
edits = st.one_of(
    st.tuples(st.just("put"), refs, texts),
    st.tuples(st.just("delete"), refs, st.none()),
    st.tuples(st.just("move"), refs, refs),
    st.tuples(st.just("hand"), refs, BROKEN),
)


def apply(root: Path, edit: tuple[str, PageRef, object], clock_s: int) -> None:
    """One command. What the store refuses (a page that is not there, a path that is taken) changes nothing."""
    name, at, what = edit
    memory = memory_at(root)
    memory.clock = lambda: clock_s * 1_000_000
    if name == "hand":
        file = DataDir(root).wiki / at.git_path
        file.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(what, bytes)
        file.write_bytes(what)
        memory.adopt()
        return
    try:
        with memory.writing(f"{name} a page") as change:
            change.ensure_project_named(at.workspace, at.project)
            if name == "delete":
                change.delete(at)
            elif isinstance(what, PageRef):
                change.move(at, what)
            else:
                change.put(at, Sanitized(str(what)))
    except MemoryFault:
        return


def answers(snapshot: Snapshot) -> dict[str, object]:
    """What a person may ask an index."""
    found = snapshot.pages(limit=1_000).pages
    sql = (
        "SELECT p.project, p.path, c.ord, round(bm25(chunks_fts), 9) FROM chunks_fts"
        " JOIN chunks AS c ON c.id = chunks_fts.rowid JOIN pages AS p ON p.id = c.page_id"
        " WHERE chunks_fts MATCH ? ORDER BY 4, 1, 2, 3"
    )
    return {
        "head": snapshot.head,
        "pages": found,
        "projects": snapshot.projects(),
        "counts": snapshot.counts(),
        "links": [(snapshot.outlinks(one.ref), snapshot.backlinks(one.ref)) for one in found],
        "hits": [snapshot.index.execute(sql, (query,)).fetchall() for query in QUERIES],
    }


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(edits, min_size=1, max_size=7), st.sets(st.integers(0, 6)))
def test_an_index_made_anew_gives_the_same_answers(
    done: list[tuple[str, PageRef, object]], read_after: set[int]
) -> None:
    """`read_after`: after these edits somebody looks, so that the index is caught up in leaps of any length."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "data"
        memory_at(root).create()
        for number, edit in enumerate(done):
            apply(root, edit, 1_800_000_000 + 60 * number)
            if number in read_after:
                with memory_at(root).reading():
                    pass
        with memory_at(root).reading() as snapshot:
            before, rows = answers(snapshot), index_rows(snapshot.index)
        assert full_text_is_sound(root)
        assert rows == rebuilt_rows(root)
        for path in root.glob("index-*"):
            path.unlink()
        with memory_at(root).reading() as snapshot:
            assert answers(snapshot) == before


def test_a_page_changed_and_changed_back_while_nobody_looked_has_the_time_of_its_last_change(tmp_path: Path) -> None:
    start(tmp_path / "data")
    root = tmp_path / "data"
    commit_by_hand(root, "a.md", "# other\n", date="2030-01-01T00:00:00Z")
    commit_by_hand(root, "a.md", page("a"), date="2030-01-02T00:00:00Z")
    assert_in_step(root)
