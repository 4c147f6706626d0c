"""For every record of the registry: install, install again, take out. What stood there before stands there again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from made_up import MADE_UP
from wire_room import LAUNCH, WireRoom, foreign, starts, states

from ai_memory.harnesses.edits import FileEdit, Part, Requirement, Syntax
from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.registry import HARNESSES
from ai_memory.wiring.documents import opened
from ai_memory.wiring.merge import Terms, with_ours, without_ours
from ai_memory.wiring.ours import is_our_entry, is_our_text
from ai_memory.wiring.wishes import WHATS, wishes_of

PLATFORMS = ("linux", "darwin", "win32")
KINDS = ("absent", "empty", "{}", "others", "comments", "CRLF", "mark", "tabs", "one line", "no last newline")
KINDS += ("own member", "own table", "text")


SOMEWHERE = Machine("/home/ada", {}, "linux")
WIRED = [
    one
    for one in (*HARNESSES, *MADE_UP)
    if any(wishes_of(one, what, LAUNCH, SOMEWHERE).wishes for what in WHATS) or (one.hooks and one.hooks.is_folder)
]
"""All of which anything is written to a person's own files; of some there is only a text to paste."""


EVERYWHERE = ("absent", "others", "comments")
"""What each record is tried with; the other beginnings are tried with one record a form, the rest of them by hand."""
ONE_A_FORM = {one.id for one in MADE_UP} | {"claude-code", "codex"}
TRIALS = [
    pytest.param(
        one,
        kind,
        id=f"{one.id}-{kind}",
        marks=[pytest.mark.slow] * (kind not in EVERYWHERE and one.id not in ONE_A_FORM),
    )
    for one in WIRED
    for kind in KINDS
]


@pytest.fixture
def room(tmp_path: Path) -> WireRoom:
    return WireRoom(tmp_path)


def edits(room: WireRoom, harness: Harness) -> list[FileEdit]:
    """What it is given; agents' own definitions, which we never make, are put there first."""
    if harness.hooks and harness.hooks.is_folder:
        folder = Path(harness.hooks.place.at(room.machine))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine.json").write_text('{\n  "name": "mine"\n}\n')
    return [one.edit for one in room.wishes(harness)]


def put(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.mark.parametrize(("harness", "kind"), TRIALS)
def test_what_stood_there_before_stands_there_again(room: WireRoom, harness: Harness, kind: str) -> None:
    found = {}
    for edit in edits(room, harness):
        if kind in starts(edit):
            put(Path(edit.path), starts(edit)[kind])
        found[Path(edit.path)] = edit
    before = room.tree()
    first = room.install(harness)
    assert states(first) <= {"create", "change"}, [one.plan for one in first]
    wired_up = room.tree()
    assert states(room.install(harness)) <= {"no change"}
    assert room.tree() == wired_up
    for path in found:
        assert is_our_text(path.read_text()) or is_our_entry(path.read_text()) or "ai-memory" in path.read_text()
    assert states(room.uninstall(harness)) <= {"change", "delete"}
    assert room.tree() == before
    assert room.book().records == ()


@pytest.mark.parametrize(("harness", "kind"), TRIALS)
def test_without_a_record_nothing_of_ours_stays_and_all_of_theirs(room: WireRoom, harness: Harness, kind: str) -> None:
    for edit in edits(room, harness):
        put(Path(edit.path), starts(edit).get(kind))
    before = {
        Path(edit.path): Path(edit.path).read_bytes() for edit in edits(room, harness) if Path(edit.path).exists()
    }
    room.install(harness)
    room.forget()
    room.uninstall(harness)
    for edit in edits(room, harness):
        path = Path(edit.path)
        left = path.read_bytes().decode() if path.exists() else ""
        assert not is_our_text(left)
        assert not is_our_entry(left)
        if edit.syntax in (Syntax.JSON, Syntax.TOML):
            known = [part for one in edits(room, harness) if one.path == edit.path for part in one.parts]
            was = meaning(before.get(path, b"").decode(), edit.syntax, known)
            assert meaning(left, edit.syntax, known) == was
        assert left.count("mine") == before.get(path, b"").decode().count("mine")


def meaning(text: str, syntax: Syntax, known: Sequence[Part]) -> object:
    """What it says, without what holds nothing, and without what is required: nobody knows any more whose that was."""
    document = opened(text, syntax)
    for part in known:
        document = document.remove(part.keys) if isinstance(part, Requirement) else document
    return bare(document.value())


def bare(value: object) -> object:
    """Without objects and lists that hold nothing."""
    if isinstance(value, dict):
        kept = {key: bare(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in ({}, [], None)} or None
    return value


@pytest.mark.parametrize("harness", WIRED, ids=lambda one: one.id)
def test_a_link_stays_a_link_wherever_it_leads(room: WireRoom, harness: Harness) -> None:
    for number, edit in enumerate(edits(room, harness)):
        path, target = Path(edit.path), room.home / "dotfiles" / f"{number}"
        if path.exists() or path.is_symlink() or edit.syntax is Syntax.WHOLE:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(exist_ok=True)
        path.symlink_to(target)
        if number % 2:  # the others dangle
            target.write_bytes(starts(edit)["empty"] or b"")
            target.chmod(0o640)
    before = room.tree()
    room.install(harness)
    assert [name for name, one in before.items() if str(one).startswith("->") and room.tree()[name] != one] == []
    assert states(room.install(harness)) <= {"no change"}
    room.uninstall(harness)
    assert room.tree() == before


@pytest.mark.parametrize("harness", WIRED, ids=lambda one: one.id)
@pytest.mark.parametrize("kind", ["read-only", "broken", "a folder", "no UTF-8"])
def test_what_cannot_be_edited_is_refused_and_nothing_of_that_agent_written(
    room: WireRoom, harness: Harness, kind: str
) -> None:
    for edit in edits(room, harness):
        path = Path(edit.path)
        if kind == "broken" and edit.syntax in (Syntax.MARKDOWN, Syntax.WHOLE):
            continue
        if kind == "a folder" and not path.exists():
            path.mkdir(parents=True, exist_ok=True)
        elif kind != "a folder":
            put(path, {"broken": b'{\n  "a": [1,\n', "no UTF-8": b"\xff\xfe"}.get(kind, b""))
            path.chmod(0o400 if kind == "read-only" else 0o600)
    before = room.tree()
    done = room.install(harness)
    refused = [one.plan for one in done if one.plan.state == "refused"]
    if refused:
        assert states(done) <= {"refused", "failed"}
        assert room.tree() == before
    assert refused or (kind == "broken" and {one.plan.state for one in done} == {"create"}) or kind == "a folder"
    if kind == "broken":
        assert all(one.line for one in refused)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("harness", WIRED, ids=lambda one: one.id)
def test_on_every_platform_ours_comes_in_and_out(tmp_path: Path, harness: Harness, platform: str) -> None:
    room = WireRoom(tmp_path, platform=platform)
    for wish in room.wishes(harness, ("hooks", "mcp")):
        edit = wish.edit
        if edit.syntax not in (Syntax.JSON, Syntax.TOML):
            continue
        text = foreign(edit)
        original = opened(text, edit.syntax).value() or {}
        made = with_ours(opened(text, edit.syntax), edit.parts, Terms())
        assert made.text != text
        assert with_ours(made, edit.parts, Terms()).text == made.text
        left = without_ours(made, edit.parts, Terms(), original).text
        assert left == text or (not text and left.strip() in ("", "{}"))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("harness", WIRED, ids=lambda one: one.id)
def test_every_file_lies_below_the_home_on_every_platform(harness: Harness, platform: str) -> None:
    from ai_memory.harnesses.machine import Machine

    home = r"C:\Users\you" if platform == "win32" else "/home/you"
    machine = Machine(home, {}, platform)
    places = [*harness.homes, harness.instructions, harness.skills]
    places += [one.place for one in (harness.hooks, harness.mcp) if one]
    for place in filter(None, places):
        path = place.at(machine)
        assert path.is_absolute()
        assert path.is_relative_to(machine.path(home))


def required(harness: Harness, room: WireRoom) -> Iterator[tuple[FileEdit, Requirement]]:
    for edit in edits(room, harness):
        for part in edit.parts:
            if isinstance(part, Requirement):
                yield edit, part


@pytest.mark.parametrize("harness", WIRED, ids=lambda one: one.id)
def test_a_version_that_is_not_known_is_refused(room: WireRoom, harness: Harness) -> None:
    for edit, part in required(harness, room):
        document = opened("", edit.syntax).set(part.keys, "a newer one")
        put(Path(edit.path), document.text.encode())
        done = [one.plan for one in room.install(harness) if one.plan.path == Path(edit.path)]
        assert [one.state for one in done] == ["refused"]
        assert "a newer one" in done[0].reason


def test_the_foreign_texts_of_these_tests_hold_nothing_of_ours(room: WireRoom) -> None:
    for harness in HARNESSES:
        for edit in edits(room, harness):
            if edit.syntax in (Syntax.JSON, Syntax.TOML):
                assert not is_our_entry(foreign(edit))


def test_the_records_that_everybody_uses_are_among_them() -> None:
    assert {"claude-code", "codex"} <= {one.id for one in WIRED}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ('{\n  "mcp": {"servers": {"theirs": {"type": "local", "command": ["x"]}}}, // mine\n}\n', ("mcp", "servers")),
        ('{"mcp": {"servers": {}}}', ("mcp", "servers")),
        ('{"mcp": {"servers": {"type": "local", "command": ["x"]}}}', ("mcp",)),
        ('{"mcp": {"theirs": {"type": "local", "command": ["x"]}}}', ("mcp",)),
        ("{}", ("mcp",)),
    ],
    ids=["version 2", "version 2, none yet", "a server of that name", "version 1", "new"],
)
def test_opencode_gets_its_server_in_the_shape_that_its_file_has(
    room: WireRoom, text: str, way: tuple[str, ...]
) -> None:
    (opencode,) = [one for one in HARNESSES if one.id == "opencode"]
    path = room.home / ".config" / "opencode" / "opencode.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    room.install(opencode, whats=("mcp",))
    ours = opened(path.read_text(), Syntax.JSON).value((*way, "ai-memory"))
    assert isinstance(ours, dict)
    assert ours["type"] == "local"
    assert ("enabled" in ours) is (way == ("mcp",)), "version 2 knows no such key"
    assert states(room.install(opencode, whats=("mcp",))) == {"no change"}
    room.uninstall(opencode, whats=("mcp",))
    assert path.read_text() == text
