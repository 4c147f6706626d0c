"""Processes that die in the middle of a write, and the look at what they left.

`Forge` keeps one interpreter warm and forks a process a run: the run is a process of its own, dies by `os._exit` and
shares nothing with the test but the disk.
"""

import json
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import power_cut

from ai_memory.config_table import Config, Decay
from ai_memory.model import Caller, PageRef, Sanitized
from ai_memory.operations import backup as backups
from ai_memory.operations import import_json, importing, sweep_work
from ai_memory.operations.forget_sweep import swept, swept_words
from ai_memory.operations.merging import merge
from ai_memory.operations.purge import forget
from ai_memory.operations.relocation import move_project, move_session, rename_project, rename_workspace
from ai_memory.operations.reorg import reorg
from ai_memory.operations.room import compact, reset
from ai_memory.paths import DataDir
from ai_memory.store import backup, driver, indexing
from ai_memory.store.change import Change
from ai_memory.store.memory import Memory
from ai_memory.store.restore import restore
from ai_memory.store.wiki import Wiki

DRIVER = Path(__file__)
SWEEP_US = 1_790_000_000_000_000
KILLED = 9
HANDOFF = "0" * 31 + "1"
SESSION = "7d3f0a5e-1111-4222-8333-444455556666"
OUTBOX_NAME = f"open/{HANDOFF}.md"
LINES = "".join(f"line {number}\n" for number in range(20))


def ref(path: str, project: str = "crash") -> PageRef:
    return PageRef("default", project, path)


def caller() -> Caller:
    return Caller(cwd=None, environ={}, home="/nonexistent", face="bridge")


def memory_at(root: Path, step: Callable[[str], None] = lambda _: None) -> Memory:
    return Memory.open(DataDir(root), caller=caller(), step=step)


def page(title: str, body: str = LINES) -> Sanitized:
    return Sanitized(f"---\ntitle: {title}\ntags: [crash]\n---\nSee [[a]] and [[notes/b]].\n\n# Part\n\n{body}")


# --- what a doomed process does ---


def start(root: Path) -> None:
    """The wiki that most runs begin with: a few pages in two folders, an index, a state file."""
    memory = memory_at(root)
    with memory.writing("Begin") as change:
        change.ensure_project_named("default", "crash")
        for name in ("a", "notes/b", "notes/c", "gone/d", "old/e"):
            change.put(ref(f"{name}.md"), page(name))
        change.state("page-session", workspace="default", project="crash", path="a.md", session="s", role="r", at_us=1)
    with memory.reading():
        pass


def write_one(memory: Memory) -> str | None:
    with memory.writing("Change one page") as change:
        change.put(ref("a.md"), page("a", LINES.replace("line 3\n", "line three\n")))
        add_evidence(change, "one")
        change.outbox_put(OUTBOX_NAME, Sanitized("take over\n"))
    return _commit(change)


def write_five(memory: Memory) -> str | None:
    with memory.writing("Change five pages") as change:
        change.put(ref("a.md"), page("a", "anew\n"))
        change.put(ref("fresh/deep/f.md"), page("f"))
        change.delete(ref("gone/d.md"))
        change.move(ref("old/e.md"), ref("new/e.md"))
        change.ensure_project_named("default", "second")
        change.put(ref("g.md", "second"), page("g"))
        add_evidence(change, "five")
    return _commit(change)


def adopt(memory: Memory) -> str | None:
    return memory.adopt().commit


def create(memory: Memory) -> str | None:
    memory.create()
    return "created"


def first_write(memory: Memory) -> str | None:
    with memory.writing("First page") as change:
        change.ensure_project_named("default", "crash")
        change.put(ref("a.md"), page("a"))
        add_evidence(change, "first")
    return _commit(change)


def rebuild(memory: Memory) -> str | None:
    return str(memory.reindex().pages)


def back_up(memory: Memory) -> str | None:
    target = memory.data_dir.root.with_name(f"forged-{os.getpid()}.zip")
    return str(backup.make(memory, target, indexing.no_progress).size_bytes)


def back_up_inside(memory: Memory) -> str | None:
    return backups.backup(memory).archive


def put_back(memory: Memory) -> str | None:
    """The archive that lies beside the data dir."""
    told = memory.mutation("restore", subject="archive.zip")
    archive = memory.data_dir.root.with_name("archive.zip")
    restore(memory, archive, told, is_forced=True, progress=indexing.no_progress)
    return "restored"


def purge(memory: Memory) -> str | None:
    return forget(memory, pages=("a.md",), workspace="default", project="crash", confirm=True, history=True).outcome


def rename(memory: Memory) -> str | None:
    return rename_project(memory, name="crash", new="saved", workspace="default", confirm=True).outcome


def join(memory: Memory) -> str | None:
    return move_project(memory, name="crash", to="default/second", workspace="default", confirm=True).outcome


def rename_all(memory: Memory) -> str | None:
    return rename_workspace(memory, name="default", new="work", confirm=True).outcome


def move_one(memory: Memory) -> str | None:
    """The session that the scene left in the project."""
    return move_session(memory, session=SESSION, to="second", confirm=True).outcome


def reorganise(memory: Memory) -> str | None:
    return reorg(memory, confirm=True).outcome


def merge_two(memory: Memory) -> str | None:
    """Two pages that others link to, at an instant that is the same in each run."""
    still = Memory.open(memory.data_dir, caller=memory.caller, step=memory.step, clock=lambda: 1_800_000_000_000_000)
    names = {"workspace": "default", "project": "crash"}
    return merge(still, paths=("a.md", "notes/c.md"), into="notes/new.md", confirm=True, **names).outcome


def import_many(memory: Memory) -> str | None:
    """The folder beside the data dir, in several commits."""
    importing.BATCH_PAGES = 4
    source = str(memory.data_dir.root.with_name("many"))
    return importing.import_pages(memory, folder=source, workspace="default", project="crash").outcome


def import_records(memory: Memory) -> str | None:
    """The records beside the data dir: an amended one, a new one, and one that is gone."""
    root = memory.data_dir.root.with_name("records")
    answer = import_json.import_json(
        memory,
        mapping=str(root.with_suffix(".toml")),
        root=str(root),
        authoritative=True,
        workspace="default",
        project="crash",
    )
    return answer.outcome


def begin_anew(memory: Memory) -> str | None:
    return reset(memory, confirm=True).outcome


def make_smaller(memory: Memory) -> str | None:
    return compact(memory, confirm=True).outcome


def take_edits(memory: Memory) -> str | None:
    return memory.commit_by_hand("By hand").commit


def back_up_proven(memory: Memory) -> str | None:
    return backups.backup(memory, output=str(memory.data_dir.root.with_name("proven.zip")), verify=True).archive


def sweep(memory: Memory) -> str | None:
    """The clock stands where the pages of a scene are old; a few pages a commit."""
    memory.clock = lambda: SWEEP_US
    sweep_work.AT_ONCE, sweep_work.PAUSE_S = 2, 0.0
    decay = Decay(compact_cold_episodic=True, observation_retention_days=30, observation_prune_batch=2)
    return swept_words(swept(memory, None, Config(decay=decay)))


def sweep_for_good(memory: Memory) -> str | None:
    memory.clock = lambda: SWEEP_US + 200 * 86_400_000_000
    return swept_words(swept(memory, None, Config()))


RUNS: Mapping[str, Callable[[Memory], str | None]] = {
    run.__name__: run
    for run in (
        *(write_one, write_five, adopt, create, first_write, rebuild, back_up, put_back, purge, rename, join),
        *(
            rename_all,
            move_one,
            reorganise,
            merge_two,
            import_many,
            import_records,
            begin_anew,
            make_smaller,
            take_edits,
            back_up_proven,
            back_up_inside,
            sweep,
            sweep_for_good,
        ),
    )
}


def add_evidence(change: Change, quote: str) -> None:
    at = {"workspace": "default", "project": "crash", "path": "a.md", "session": "s"}
    change.state("evidence", **at, **{"class": "said", "quote": quote, "cite": "", "sha256": quote, "at_us": 1})


def _commit(change: Change) -> str | None:
    return change.committed.commit if change.committed is not None else None


def edit_by_hand(root: Path) -> None:
    """A person changes a page, adds one, renames one and begins a project."""
    project = root / "wiki" / "default" / "crash"
    (project / "a.md").write_text(page("a", "by hand\n"), encoding="utf-8")
    (project / "notes" / "hand.md").write_text("# By hand\n", encoding="utf-8")
    (project / "old" / "e.md").rename(project / "notes" / "e.md")
    (project.parent / "mine").mkdir()
    (project.parent / "mine" / "m.md").write_text("# Mine\n", encoding="utf-8")


def commit_by_hand(root: Path, path: str, text: str, *, date: str = "") -> None:
    """What a person does with real git in the wiki: change a page and commit it."""
    file = root / "wiki" / "default" / "crash" / path
    file.write_text(text, encoding="utf-8")
    git(root, "add", str(file))
    git(root, "commit", "-q", "-m", "by a person", date=date)


def git(root: Path, *words: str, date: str = "") -> str:
    person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    command = ["git", "-C", str(root / "wiki"), *person, *words]
    environment = {**os.environ, "GIT_COMMITTER_DATE": date} if date else None
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment).stdout


# --- processes that die ---


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit status, the steps that it passed, and the answer that it gave its caller."""

    status: int
    steps: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who commits with real git just when the run passes a step for the first time."""

    at_step: str
    path: str
    text: str


class Forge:
    """Starts runs in processes of their own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def run(self, name: str, root: Path, *, kill_at: int | None = None, person: Person | None = None) -> Outcome:
        """Let `RUNS[name]` work on `root`; `kill_at` is the number of the step (from 0) at which it dies."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        said = root.with_name(root.name + ".said")
        said.unlink(missing_ok=True)
        someone = [person.at_step, person.path, person.text] if person is not None else None
        stdin.write(json.dumps([name, str(root), str(said), kill_at, someone]) + "\n")
        status = int(stdout.readline())
        rows = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()] if said.exists() else []
        answers = [answer for kind, answer in rows if kind == "answer"]
        return Outcome(status, tuple(step for kind, step in rows if kind == "step"), answers[0] if answers else None)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


def _serve() -> None:
    for line in sys.stdin:
        name, root, said, kill_at, someone = json.loads(line)
        child = os.fork()
        if child == 0:
            person = Person(*someone) if someone is not None else None
            _die_in(name, Path(root), Path(said), kill_at, person)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _die_in(name: str, root: Path, said: Path, kill_at: int | None, person: Person | None) -> None:
    """The run, in its own process: never comes back."""
    passed: list[str] = []

    def say(kind: str, text: str | None) -> None:
        with said.open("a", encoding="utf-8") as out:
            out.write(json.dumps([kind, text]) + "\n")

    def step(step: str) -> None:
        say("step", step)
        passed.append(step)
        if person is not None and step == person.at_step and passed.count(step) == 1:
            commit_by_hand(root, person.path, person.text)
        if kill_at == len(passed) - 1:
            os._exit(KILLED)

    try:
        say("answer", RUNS[name](memory_at(root, step)))
        os._exit(0)
    finally:  # a fault is told by the status alone
        traceback.print_exc()
        os._exit(1)


def write_for_ever(root: Path, said: Path, name: str) -> None:
    """Write page after page, each told in `said` once it is acknowledged, until somebody kills this process."""
    memory = memory_at(root)
    memory.lock_timeout_s = 60.0
    print("begun", flush=True)
    for number in range(1_000_000):
        at = ref(f"loop/{name}-{number}.md")
        with memory.writing(f"Write {name} {number}") as change:
            change.put(at, page(f"{name} {number}"))
            if number % 2:
                add_evidence(change, f"{name} {number}")
        assert change.committed is not None
        with said.open("a", encoding="utf-8") as out:
            out.write(f"{at.path} {change.committed.versions[at]}\n")


def record(name: str, root: Path, log: Path) -> None:
    """Run once, with every call that changes files written to `log`; "answered" is the row of the acknowledgement."""
    with power_cut.Recorder(root) as recorder:
        assert RUNS[name](memory_at(root))
        recorder.note("answered", root)
    log.write_bytes(pickle.dumps(recorder.rows))


@contextmanager
def forge() -> Iterator[Forge]:
    made = Forge()
    try:
        yield made
    finally:
        made.close()


# --- what is there afterwards ---


def pages(root: Path) -> dict[str, str]:
    """Text of every page by its git path, `_meta.md` left out, as the search index tells it."""
    with memory_at(root).reading() as snapshot:
        assert snapshot.gaps == []
        return {found.ref.git_path: found.text for found in snapshot.pages(limit=10_000).pages}


def evidence(root: Path) -> list[str]:
    """Quotes of the evidence rows, each as often as it is there."""
    with memory_at(root).state_reading() as connection:
        if connection is None:
            return []
        return [row[0] for row in connection.execute("SELECT quote FROM evidence ORDER BY quote")]


def applied_changes(root: Path) -> list[str]:
    with memory_at(root).state_reading() as connection:
        if connection is None:
            return []
        return [row[0] for row in connection.execute("SELECT change_id FROM applied_changes ORDER BY change_id")]


def subjects(root: Path) -> list[str]:
    """First lines of all commits, newest first."""
    return git(root, "log", "--format=%s").splitlines()


def assert_in_step(root: Path, *, conflicts: bool = False) -> None:
    """Branch, work tree, git's index and search index say the same; nothing of a killed writer is in the way."""
    data_dir = DataDir(root)
    assert not data_dir.pending.exists()
    assert list(data_dir.git.rglob("*.lock")) == []
    assert list(data_dir.git.glob("objects/??/tmp_obj_*")) == []
    assert git(root, "status", "--porcelain") == ""
    fsck = subprocess.run(
        ["git", "-C", str(data_dir.wiki), "fsck", "--strict", "--no-dangling"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (fsck.returncode, fsck.stderr) == (0, "")
    files = git(root, "ls-files").splitlines()
    assert conflicts or not [path for path in files if ".conflict-" in path]
    assert_index_is_as_rebuilt(root)


def assert_index_is_as_rebuilt(root: Path) -> None:
    with memory_at(root).reading() as snapshot:
        assert snapshot.gaps == []
        found = index_rows(snapshot.index)
    assert found == rebuilt_rows(root)


_ROWS = {
    "head": "SELECT key, value FROM meta ORDER BY key",
    "projects": "SELECT * FROM projects ORDER BY workspace, name",
    "pages": "SELECT workspace, project, path, version, title, kind, tier, pinned, expires_at_us, updated_at_us,"
    " frontmatter, text, body_start, fault FROM pages ORDER BY workspace, project, path",
    "chunks": "SELECT p.workspace, p.project, p.path, c.ord, c.start_line, c.end_line, c.title, c.words, c.heading,"
    " c.body FROM chunks AS c LEFT JOIN pages AS p ON p.id = c.page_id ORDER BY 1, 2, 3, 4",
    "links": "SELECT p.workspace, p.project, p.path, l.workspace, l.project, l.path, l.kind"
    " FROM links AS l LEFT JOIN pages AS p ON p.id = l.source_id ORDER BY 1, 2, 3, 4, 5, 6, 7",
    "tags": "SELECT p.workspace, p.project, p.path, t.tag FROM tags AS t LEFT JOIN pages AS p ON p.id = t.page_id"
    " ORDER BY 1, 2, 3, 4",
    "entities": "SELECT p.workspace, p.project, p.path, e.name FROM entities AS e"
    " LEFT JOIN pages AS p ON p.id = e.page_id ORDER BY 1, 2, 3, 4",
}


def index_rows(connection: driver.Connection) -> dict[str, list[tuple[object, ...]]]:
    """All that an index says, without the numbers of its rows."""
    return {name: connection.execute(sql).fetchall() for name, sql in _ROWS.items()}


def rebuilt_rows(root: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a new index of the branch says. The index in use is not touched."""
    data_dir = DataDir(root)
    path = indexing.building_path(data_dir)
    with closing(Wiki(data_dir.git)) as wiki:
        indexing.build(data_dir, wiki, wiki.head(), progress=indexing.no_progress, step=lambda _: None)
    with closing(driver.connect(path)) as connection:
        rows = index_rows(connection)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    return rows


def full_text_is_sound(root: Path) -> bool:
    """Whether the full-text table holds exactly the words of the chunks."""
    with closing(driver.connect(DataDir(root).index)) as connection:
        try:
            connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
        except driver.DatabaseError:
            return False
    return True


def copy_of(root: Path, name: str) -> Path:
    """The same data dir once more, beside it, with its hard links: they tell whose a lock is."""
    target = root.with_name(name)
    subprocess.run(["cp", "-a", str(root), str(target)], check=True, timeout=60)
    return target


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        _serve()
