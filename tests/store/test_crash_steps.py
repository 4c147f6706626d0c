"""A write that dies at any of its steps is either whole or not there, and the next command brings all in step."""

from collections.abc import Iterator
from pathlib import Path

import crash_driver
import pytest
from crash_driver import (
    KILLED,
    LINES,
    OUTBOX_NAME,
    Forge,
    Outcome,
    Person,
    applied_changes,
    assert_in_step,
    copy_of,
    evidence,
    full_text_is_sound,
    memory_at,
    page,
    pages,
    ref,
    subjects,
)

from ai_memory.errors import NotWritten
from ai_memory.paths import DataDir
from ai_memory.store.adoption import Adopted
from ai_memory.store.head import OWN_BRANCH_LOCK

COMMIT_POINTS = ("pending", "adopt-pending")


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    root = tmp_path / "begun"
    crash_driver.start(root)
    return root


def clean_run(forge: Forge, name: str, begun: Path, person: Person | None = None) -> tuple[Path, Outcome]:
    root = copy_of(begun, "clean")
    outcome = forge.run(name, root, person=person)
    assert outcome.status == 0
    assert outcome.answer
    return root, outcome


def killed_runs(
    forge: Forge, name: str, begun: Path, steps: tuple[str, ...], person: Person | None = None
) -> Iterator[tuple[Path, str, bool]]:
    """A data dir a step, each left by a run that died there; and whether the change must be in it."""
    committed = min(steps.index(step) for step in COMMIT_POINTS if step in steps)
    for number, step in enumerate(steps):
        root = copy_of(begun, f"killed-{number}")
        outcome = forge.run(name, root, kill_at=number, person=person)
        assert outcome.status == KILLED
        assert outcome.steps == steps[: number + 1]
        assert outcome.answer is None
        yield root, step, number >= committed


def only_read(root: Path) -> None:
    with memory_at(root).reading() as snapshot:
        assert snapshot.gaps == []


def write_more(root: Path) -> None:
    """A further write, far from the one that died."""
    with memory_at(root).writing("Write on") as change:
        change.put(ref("more/z.md"), page("z"))


def next_commands(root: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """The killed data dir after only a read, and after a further write; with the pages that this one added."""
    other = copy_of(root, f"{root.name}-written")
    only_read(root)
    yield root, {}
    write_more(other)
    yield other, {ref("more/z.md").git_path: page("z")}


@pytest.mark.parametrize("name", ["write_one", "write_five"])
def test_a_write_killed_at_any_step_is_finished_or_gone(forge: Forge, begun: Path, name: str) -> None:
    before, evidence_before = pages(begun), evidence(begun)
    clean, outcome = clean_run(forge, name, begun)
    after, evidence_after = pages(clean), evidence(clean)
    assert after != before
    assert evidence_after != evidence_before
    assert_in_step(clean)
    for root, step, is_committed in killed_runs(forge, name, begun, outcome.steps):
        for found, added in next_commands(root):
            assert pages(found) == (after if is_committed else before) | added, step
            assert evidence(found) == (evidence_after if is_committed else evidence_before), step
            assert len(applied_changes(found)) == len(applied_changes(begun)) + is_committed, step
            has_handoff = is_committed and name == "write_one"
            assert (DataDir(found).outbox / OUTBOX_NAME).exists() == has_handoff, step
            assert len(subjects(found)) == len(subjects(begun)) + is_committed + bool(added), step
            assert_in_step(found)
            assert full_text_is_sound(found)


def test_an_adoption_killed_at_any_step_is_made_once(forge: Forge, begun: Path) -> None:
    crash_driver.edit_by_hand(begun)
    clean, outcome = clean_run(forge, "adopt", begun)
    after = pages(clean)
    assert after.keys() >= {"default/mine/m.md", "default/crash/notes/hand.md", "default/crash/notes/e.md"}
    for root, step, is_committed in killed_runs(forge, "adopt", begun, outcome.steps):
        for found, added in next_commands(root):
            left = memory_at(found).adopt()
            assert (left == Adopted()) == is_committed, step
            assert pages(found) == after | added, step
            assert sum(subject.startswith("Edit ") for subject in subjects(found)) == 1, step
            assert_in_step(found)


def test_a_first_start_killed_at_any_step_is_made_whole_by_the_next(forge: Forge, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    outcome = forge.run("create", clean)
    assert outcome.status == 0
    assert_in_step(clean)
    for number, step in enumerate(outcome.steps):
        root = tmp_path / f"killed-{number}"
        assert forge.run("create", root, kill_at=number).status == KILLED
        for found, added in next_commands(root):
            memory_at(found).create()
            assert pages(found) == added, step
            assert subjects(found)[-1] == "Begin the wiki"
            assert_in_step(found)


@pytest.mark.parametrize("is_new", [False, True], ids=["over an old index", "without an index"])
def test_a_rebuild_killed_at_any_step_leaves_an_index_that_answers(forge: Forge, begun: Path, is_new: bool) -> None:
    if is_new:
        for path in begun.glob("index-*"):
            path.unlink()
    _, outcome = clean_run(forge, "rebuild", begun)
    after = pages(copy_of(begun, "asked"))
    for number, step in enumerate(outcome.steps):
        root = copy_of(begun, f"killed-{number}")
        assert forge.run("rebuild", root, kill_at=number).status == KILLED
        for found, added in next_commands(root):
            assert pages(found) == after | added, step
            assert_in_step(found)
            assert full_text_is_sound(found)


ELSEWHERE = page("b", "someone wrote this\n")
OTHER_LINE = page("a", LINES.replace("line 15\n", "line fifteen\n"))
SAME_LINE = page("a", LINES.replace("line 3\n", "line III\n"))


@pytest.mark.parametrize(
    ("path", "text", "joined"),
    [
        ("notes/b.md", ELSEWHERE, {}),
        ("a.md", OTHER_LINE, {"a.md": OTHER_LINE.replace("line 3\n", "line three\n")}),
        ("a.md", SAME_LINE, {"a.md": SAME_LINE.replace("line III\n", "line three\n")}),
    ],
    ids=["another page", "another line", "the same line"],
)
def test_a_write_killed_after_a_person_committed_keeps_both(
    forge: Forge, begun: Path, path: str, text: str, joined: dict[str, str]
) -> None:
    person = Person("pending", path, text)
    clean, outcome = clean_run(forge, "write_one", begun, person)
    after = pages(clean)
    assert after[ref("a.md").git_path] == joined.get("a.md", page("a", LINES.replace("line 3\n", "line three\n")))
    assert text in after.values() or path in joined
    is_conflict = text == SAME_LINE
    assert sum(".conflict-" in name for name in after) == is_conflict
    assert_in_step(clean, conflicts=is_conflict)
    steps = outcome.steps[outcome.steps.index("pending") :]
    for root, step, is_committed in killed_runs(forge, "write_one", begun, outcome.steps, person):
        if not is_committed:
            continue
        assert step in steps
        for found, added in next_commands(root):
            assert pages(found) == after | added, step
            assert subjects(found).count("Change one page") == 1, step
            assert subjects(found).count("by a person") == 1, step
            assert evidence(found) == ["one"], step
            assert_in_step(found, conflicts=is_conflict)


@pytest.mark.parametrize("step", ["ref", "state", "file", "git-index-locked"])
def test_a_person_who_commits_over_a_killed_write_does_not_drop_it(forge: Forge, begun: Path, step: str) -> None:
    """Git's index lags behind the branch there: what a person commits then looks like taking the page back."""
    clean, outcome = clean_run(forge, "write_one", begun)
    after = pages(clean)
    assert forge.run("write_one", begun, kill_at=outcome.steps.index(step)).status == KILLED
    (DataDir(begun).git / "index.lock").unlink(missing_ok=True)  # as git tells people to do
    crash_driver.commit_by_hand(begun, "notes/b.md", ELSEWHERE)
    for found, added in next_commands(begun):
        assert pages(found) == after | added | {ref("notes/b.md").git_path: ELSEWHERE}
        assert_in_step(found)


def test_no_change_begins_over_one_whose_files_could_not_be_written(begun: Path) -> None:
    """Else its redo log is lost, and its old files are taken for a person's edit that takes the page back."""
    blocked = DataDir(begun).wiki / "default" / "crash" / "notes"
    aside = blocked.with_name("aside")

    def block(step: str) -> None:
        if step == "ref":
            blocked.rename(aside)
            blocked.symlink_to(aside, target_is_directory=True)

    with memory_at(begun, block).writing("Change a page") as change:
        change.put(ref("notes/b.md"), page("b", "anew\n"))
    assert change.committed is not None
    assert change.committed.commit is not None  # branch and state hold it: this is a success
    for _ in range(2):
        with (
            pytest.raises(NotWritten, match=r"symbolic link.*This one was not written"),
            memory_at(begun).writing("Write on"),
        ):
            pass
    blocked.unlink()
    aside.rename(blocked)
    write_more(begun)
    assert pages(begun)[ref("notes/b.md").git_path] == page("b", "anew\n")
    assert_in_step(begun)


@pytest.mark.parametrize("left", ["refs/heads/main.lock", "objects"])
def test_what_a_killed_writer_left_in_the_repository_goes(forge: Forge, begun: Path, left: str) -> None:
    """A half-written lock of the branch or a half-written object."""
    clean, outcome = clean_run(forge, "write_one", begun)
    git = DataDir(begun).git
    assert forge.run("write_one", begun, kill_at=outcome.steps.index("objects")).status == KILLED
    if left == "objects":
        newest = max(git.glob("objects/??/*"), key=lambda path: path.stat().st_mtime_ns)
        newest.rename(newest.with_name(f"tmp_obj_{newest.name}"))
    else:
        (git / OWN_BRANCH_LOCK).touch()
        (git / left).hardlink_to(git / OWN_BRANCH_LOCK)
    write_more(begun)
    assert pages(begun) == pages(clean) | {ref("more/z.md").git_path: page("z")}
    assert_in_step(begun)
