"""A purge with history that dies at any step harms nothing, and said again it leaves no byte."""

import subprocess
from pathlib import Path

import crash_driver
import pytest
from crash_driver import KILLED, Forge, assert_in_step, copy_of, evidence, memory_at, page, pages, ref

from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import erasing, rewriting

SUBJECT = rewriting.SUBJECT.decode()
SECRET = "the heron stands in the reeds at dawn"


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A page with a text in several versions, in a branch too, moved, packed and loose."""
    root = tmp_path / "begun"
    crash_driver.start(root)
    for number in range(2):
        with memory_at(root).writing(f"write a.md {number}") as change:
            change.put(ref("a.md"), page("a", f"{SECRET}\n{number}\n"))
            crash_driver.add_evidence(change, SECRET)
        crash_driver.git(root, "branch", f"draft-{number}")
        if number == 0:
            crash_driver.git(root, "gc", "-q")
    return root


def test_a_purge_killed_at_any_step_is_ended_by_saying_it_again(forge: Forge, begun: Path) -> None:
    clean = copy_of(begun, "clean")
    outcome = forge.run("purge", clean)
    assert (outcome.status, outcome.answer) == (0, "purged")
    after = pages(clean)
    assert ref("a.md").git_path not in after
    assert len(after) == len(pages(begun)) - 1
    assert_in_step(clean)
    assert erasing.traces(DataDir(clean), [SECRET]) == []
    for number, step in enumerate(outcome.steps):
        if number < outcome.steps.index("cleared"):
            continue  # the deletion, a change like any other
        root = copy_of(begun, f"killed-{number}")
        assert forge.run("purge", root, kill_at=number).status == KILLED
        assert set(pages(root)) in (set(after), set(pages(begun))), step
        assert forge.run("purge", root).status == 0, step
        assert pages(root) == after, step
        assert erasing.traces(DataDir(root), [SECRET]) == [], step
        assert evidence(root) == [], step
        assert_in_step(root)


def test_history_keeps_all_else_with_authors_times_and_messages(begun: Path) -> None:
    form = "--format=%an %ae %at %ct %s"
    before = crash_driver.git(begun, "log", "--all", form)
    paths = [ref("a.md").git_path]
    other = crash_driver.git(begun, "show", f"draft-0:{ref('notes/b.md').git_path}")
    memory = memory_at(begun)
    with memory.writing("forget a.md") as change:
        change.delete(ref("a.md"))
    done = memory.erase(paths, [], with_history=True)
    assert done is not None
    assert done.refs == 3
    after = crash_driver.git(begun, "log", "--all", form)
    told = [line.rpartition(SUBJECT)[0] or line for line in after.splitlines()[1:]]
    assert all(old.startswith(new) for old, new in zip(before.splitlines(), told, strict=True))
    assert sum(SUBJECT in line for line in after.splitlines()) == 4  # it was begun with others, written twice, deleted
    assert crash_driver.git(begun, "show", f"draft-0:{ref('notes/b.md').git_path}") == other
    assert len(list(DataDir(begun).git.glob("objects/pack/*.pack"))) == 1
    assert_in_step(begun)


def test_messages_of_other_commits_lose_the_name_and_nothing_else(begun: Path) -> None:
    with memory_at(begun).writing("link to a.md and crash:a.md in data.md and x/a.md.") as change:
        change.put(ref("data.md"), page("data"))
    memory_at(begun).erase([ref("a.md").git_path], [], with_history=True)
    told = crash_driver.git(begun, "log", "-1", "--format=%s").strip()
    assert told == "link to a purged page and crash:a purged page in data.md and x/a.md."


def test_without_a_file_to_take_out_no_commit_is_another(begun: Path) -> None:
    before = crash_driver.git(begun, "log", "--all", "--format=%H %B")
    done = memory_at(begun).erase([], ["a session"], with_history=True)
    assert done is not None
    assert (done.commits, done.refs) == (0, 0)
    assert crash_driver.git(begun, "log", "--all", "--format=%H %B") == before
    assert_in_step(begun)


def test_packs_that_were_cut_go_with_the_history(begun: Path) -> None:
    packs = DataDir(begun).git / "objects" / "pack"
    for name in ("tmpab12_x9z.pack", "tmp_pack_Xy12Z3", "pack-0123.idx.lock"):
        (packs / name).write_text(SECRET)
    memory_at(begun).erase([ref("a.md").git_path], [], with_history=True)
    assert sorted(path.suffix for path in packs.iterdir()) == [".idx", ".pack"]


@pytest.mark.parametrize("what", ["tag", "worktree"])
def test_what_would_keep_the_old_history_is_named_first(begun: Path, what: str) -> None:
    if what == "tag":
        crash_driver.git(begun, "tag", "-a", "v1", "-m", "mine")
    else:
        crash_driver.git(begun, "worktree", "add", "-q", str(begun.with_name("tree")), "draft-0")
    head = crash_driver.git(begun, "rev-parse", "HEAD")
    with pytest.raises(StoreFault, match=r"tag with a message|further work trees"):
        memory_at(begun).erase([ref("a.md").git_path], [], with_history=True)
    assert crash_driver.git(begun, "rev-parse", "HEAD") == head


def test_traces_are_found_in_files_objects_packs_and_zips(begun: Path, tmp_path: Path) -> None:
    data_dir = DataDir(begun)
    data_dir.backups.mkdir(exist_ok=True)
    (begun / "note.txt").write_text(SECRET)
    subprocess.run(
        ["python3", "-m", "zipfile", "-c", "x.zip", str(begun / "note.txt")], cwd=data_dir.backups, check=True
    )
    (begun / "note.txt").unlink()
    places = {trace.place.partition(":")[0].partition("/")[0] for trace in erasing.traces(data_dir, [SECRET])}
    assert {place.removesuffix("-wal") for place in places} == {"wiki", "state.db", data_dir.index.name, "backups"}
    assert erasing.traces(data_dir, ["no such line anywhere"]) == []
    assert tmp_path.exists()


def test_needles_are_lines_that_nothing_else_holds() -> None:
    assert erasing.needles(
        ["short\nthis line is long enough\nthis one is kept elsewhere\n"], ["x this one is kept elsewhere"]
    ) == ["this line is long enough"]
