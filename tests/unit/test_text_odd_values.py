"""Frontmatter values that YAML knows and JSON, SQLite or the calendar does not."""

import json
import sqlite3
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.clock import EARLIEST_US, LATEST_US, rfc3339, within_calendar
from ai_memory.errors import MemoryFault
from ai_memory.store import index
from ai_memory.store.addresses import is_ours
from ai_memory.store.index import IndexedFile, create, put_files, read_project
from ai_memory.text import yaml_block
from ai_memory.text.page import ParsedPage, parse, parse_leniently
from ai_memory.text.times import BadTime, parse_expiry, parse_time

TEXTS = {
    "hexadecimal": "0x" + "f" * 5000,
    "just over 64 bits": "0x8000000000000000",
    "just under 64 bits": "-9223372036854775809",
    "binary": "0b" + "1" * 5000,
    "octal": "0" + "7" * 5000,
    "sexagesimal": "1" + ":59" * 2000,
    "underscored": "1" + "_000" * 2000,
    "decimal": "9" * 5000,
    "infinite": "-.inf",
    "no number": ".NaN",
    "a huge float": "1.0e+999",
    "a sexagesimal float": "1" + ":59" * 2000 + ".5",
    "no such day": "2024-13-45",
    "no such second": "2024-12-31T23:59:99Z",
    "the last moment of all": "9999-12-31T23:59:59.999999-14:00",
    "before the first": "0001-01-01T00:00:00+14:00",
    "an odd offset": "2024-01-01 00:00:00 +99:99",
}
REFUSED = {
    "bytes": ("!!binary aGVsbG8=", "tags are not supported"),
    "a set": ("!!set {a, b}", "tags are not supported"),
    "an ordered map": ("!!omap [a: 1]", "tags are not supported"),
    "a tuple": ("!!python/tuple [a, b]", "tags are not supported"),
    "an object": ("!!python/object/apply:os.system [ls]", "tags are not supported"),
    "a list as key": ("{[a, b]: c}", "a key is itself a list"),
    "deep lists": ("[" * 2000 + "]" * 2000, "nest"),
    "deep mappings": ("{a: " * 2000 + "}" * 2000, "nest"),
    "a lone surrogate": (r'"\ud800"', "line 2: "),
    "no character": (r'"\UFFFFFFFF"', "line 2: "),
    "no character, nearly": (r'"\U00110000"', "line 2: "),
}


@pytest.fixture(params=["libyaml", "without libyaml"])
def _each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML may have been built without its C parser, which forgives less."""
    if request.param == "without libyaml":

        class Loader(yaml.SafeLoader):
            yaml_implicit_resolvers = yaml_block._Loader.yaml_implicit_resolvers

        monkeypatch.setattr(yaml_block, "_Loader", Loader)


def stored(found: ParsedPage) -> Any:
    """The frontmatter as it comes back from the disk."""
    text = json.dumps(found.frontmatter, ensure_ascii=False, allow_nan=False)
    (back,) = sqlite3.connect(":memory:").execute("SELECT CAST(? AS TEXT)", (text.encode("utf-8").decode(),)).fetchone()
    return json.loads(back)


@pytest.mark.usefixtures("_each_parser")
@pytest.mark.parametrize("value", TEXTS.values(), ids=TEXTS)
def test_a_number_or_time_that_nobody_else_could_hold_stays_the_text_that_was_written(value: str) -> None:
    found = parse(f"---\nn: {value}\nlist: [{value}]\n---\nhello", path="notes/n.md")
    assert found.frontmatter == {"n": value, "list": [value]} == stored(found)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, 10**18])
def test_a_whole_number_of_64_bits_is_a_number(number: int) -> None:
    assert parse(f"---\nn: {number}\n---\n", path="n.md").frontmatter == {"n": number}


@pytest.mark.usefixtures("_each_parser")
@pytest.mark.parametrize(("value", "why"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_is_no_text_number_list_or_mapping_is_refused_with_its_line(value: str, why: str) -> None:
    text = f"---\nn: {value}\n---\nhello"
    with pytest.raises(MemoryFault) as told:
        parse(text, path="notes/n.md")
    assert told.value.message.startswith("notes/n.md, line 2: ")
    assert why in told.value.message
    assert told.value.hint
    found = parse_leniently(text, path="notes/n.md")
    assert (found.body, found.frontmatter, found.problems) == (text, {}, (told.value.message,))


PIECES = [
    *(
        "a",
        "b",
        "title",
        "tags",
        "expires_at",
        "pinned",
        "tier",
        "relations",
        "kind",
        "entities",
        "1",
        "true",
        "é",
        "💡",
    ),
    *(
        ": ",
        ":",
        "\n",
        "\n  ",
        "- ",
        "? ",
        ", ",
        "[",
        "]",
        "{",
        "}",
        "[[",
        "]]",
        "'",
        '"',
        "|\n",
        ">-\n ",
        "#",
        " ",
        "\t",
    ),
    *("&a ", "*a", "<<: ", "!!binary ", "!!set ", "!!python/tuple ", "!x ", "%YAML 1.1\n", "...\n", "--- "),
    *("0x" + "f" * 20, "0b1", "0o7", "1:2:3", "-.inf", ".nan", "1e999", "9" * 30, "1_0", "0.1", "~", "null", "yes"),
    *("2024-13-45", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2024-01-01"),
    *(r"\ud800", r"\U00110000", r"\UFFFFFFFF", r"\0", r"\x1b", r"\u202e", "\x00", "\x1b", "\ud800", "\x85", "\u2028"),
]
blocks = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@pytest.mark.usefixtures("_each_parser")
def test_no_frontmatter_raises_anything_but_a_fault_of_ours() -> None:
    @settings(max_examples=400)
    @given(blocks)
    def hold(block: str) -> None:
        text = f"---\n{block}\n---\n# A page\n"
        try:
            assert stored(parse(text, path="notes/n.md")) is not None
        except MemoryFault as fault:
            assert fault.message.startswith("notes/n.md, line ")
        found = parse_leniently(text, path="notes/n.md")
        assert stored(found) == found.frontmatter
        for word in (found.title, found.kind, found.abstract, found.summary, *found.tags, *found.entities):
            assert "\ud800" in block or word.encode("utf-8") is not None
        assert found.expires_at_us is None or EARLIEST_US <= found.expires_at_us <= LATEST_US

    hold()


@settings(max_examples=200)
@given(st.lists(blocks.filter(lambda block: "\ud800" not in block), min_size=1, max_size=4))
def test_the_index_takes_every_page_that_can_lie_on_a_disk(found: list[str]) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    texts = [f"---\n{block}\n---\n{block}" for block in found]
    put_files(connection, [_file(f"notes/{at}.md", text.encode("utf-8")) for at, text in enumerate(texts)])
    assert [text for (text,) in connection.execute("SELECT text FROM pages ORDER BY id")] == texts


def _file(path: str, content: bytes, at_us: int = 0) -> IndexedFile:
    return IndexedFile(f"w/p/{path}", "0" * 40, content, at_us)


def test_a_page_that_no_row_can_be_made_of_is_plain_text_and_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(text: str, *, path: str) -> ParsedPage:
        found = parse_leniently(text, path=path)
        return found if "good" in path else ParsedPage({"n": bad[path]}, "body", 1, "T", "note", found.tier)

    bad: dict[str, object] = {"a.md": 10**5000, "b.md": "\ud800", "c.md": float("nan"), "d.md": b"x", "e.md": {1, 2}}
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    bad["f.md"] = deep
    monkeypatch.setattr("ai_memory.store.index.parse_leniently", unforeseen)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    files = [_file(path, f"# Whole {path}".encode()) for path in (*bad, "good.md")]
    assert put_files(connection, files) == 7
    rows = connection.execute("SELECT path, title, text, body_start, fault FROM pages ORDER BY id").fetchall()
    assert rows[-1] == ("good.md", "Whole good.md", "# Whole good.md", 0, "")
    for path, title, text, body_start, fault in rows[:-1]:
        assert (title, text, body_start) == (path[0], f"# Whole {path}", 0)
        assert fault.startswith(f"{path} is read as plain text: ")
    count = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH 'whole'"
    assert connection.execute(count).fetchone() == (7,)


@pytest.mark.parametrize("reader", ["links", "chunks"])
def test_a_reader_that_trips_over_one_body_stops_no_other(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = getattr(index, reader)

    def trips(body: str, **rest: Any) -> Any:
        if "odd" in body:
            raise IndexError("string index out of range")
        return real(body, **rest)

    monkeypatch.setattr(index, reader, trips)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    assert put_files(connection, [_file("a.md", b"odd"), _file("b.md", b"even")]) == 2
    assert connection.execute("SELECT path, fault <> '' FROM pages ORDER BY path").fetchall() == [
        ("a.md", 1),
        ("b.md", 0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31T23:59:59-14:00",
        "9999-12-31T23:59:59.999999-00:01",
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:59+00:01",
        "2024-13-45",
        "2024-12-31T23:59:60Z",
    ],
)
def test_a_time_outside_of_the_calendar_is_refused(text: str) -> None:
    for read in (parse_time, parse_expiry):
        with pytest.raises(BadTime, match="no such time"):
            read(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T14:00:00+14:00", "0001-01-01T00:00:00Z"),
        ("0999-01-01", "0999-01-01T00:00:00Z"),
    ],
)
def test_the_edges_of_the_calendar_are_times(text: str, written: str) -> None:
    assert rfc3339(parse_time(text)) == written
    assert parse_time(written) == parse_time(text)


def test_the_last_day_of_the_calendar_ends_with_its_last_microsecond() -> None:
    assert parse_expiry("9999-12-31") == LATEST_US
    assert rfc3339(LATEST_US) == "9999-12-31T23:59:59.999999Z"


@given(st.integers())
def test_every_number_can_be_shown_as_a_time(at_us: int) -> None:
    assert parse_time(rfc3339(at_us)) == within_calendar(at_us)


def test_a_commit_dated_outside_of_the_calendar_can_be_indexed() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    put_files(connection, [_file("a.md", b"x", 10**30), _file("b.md", b"x", -(10**30))])
    assert connection.execute("SELECT updated_at_us FROM pages ORDER BY path").fetchall() == [
        (LATEST_US,),
        (EARLIEST_US,),
    ]


def test_a_project_with_one_bad_key_keeps_its_id() -> None:
    project = read_project(("w", "p"), b"---\nid: abc\ncreated_at: 9999-12-31T23:59:59-14:00\n---\n")
    assert (project.id, project.created_at_us) == ("abc", 0)


def test_a_committed_file_whose_name_is_not_utf8_stops_no_other() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    odd = [b"w/p/a\xff.md", b"w/p\xff/_meta.md", b"w\xff/p/b.md"]
    files = [IndexedFile(name.decode("utf-8", "surrogateescape"), "0" * 40, b"x", 0) for name in odd]
    assert put_files(connection, [*files, _file("good.md", b"x")]) == 1
    assert not [file for file in files if is_ours(file.git_path)]
