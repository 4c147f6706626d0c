"""Years of sessions, swept as `maintain` sweeps: the memory stays small, and what is worth keeping stays in it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from wiki_room import NOON_US, WikiRoom, ref

from ai_memory.config_table import Config, Decay
from ai_memory.model import ResolvedBy, Sanitized, Scope
from ai_memory.operations.forget_sweep import Swept, swept
from ai_memory.operations.search import search
from ai_memory.search.engine import answer
from ai_memory.search.evaluation import Answer, Question, evaluate, read_set
from ai_memory.search.request import Request
from ai_memory.store import purge, state_sessions, usage
from ai_memory.store.snapshot import Filter
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.page import compose
from ai_memory.text.sanitize import sanitize
from ai_memory.text.times import DAY_US

WEEK_US = 7 * DAY_US
SYLLABLES = ("ba", "co", "di", "fu", "ge", "ki", "lo", "mu", "ne", "po", "ra", "su", "ti", "vo", "wa", "ze")
TASKS = ("retry budget", "queue order", "cache key", "token refresh", "schema change", "log level", "page size")
CONFIG = Config(decay=Decay(observation_retention_days=60))


@dataclass
class Life:
    """Weeks of work in one project. Knowledge is a page of its own, with a word that no other page has."""

    room: WikiRoom
    dice: random.Random
    known: dict[str, str] = field(default_factory=dict)
    """Path of a page that is to be kept, and what to ask for it."""
    untold: list[str] = field(default_factory=list)
    """Sessions whose pages do not tell all that was seen."""
    sessions: int = 0

    def word(self) -> str:
        return "".join(self.dice.choice(SYLLABLES) for _ in range(5))

    def week(self, sessions: int) -> None:
        """Sessions of one week, what was learnt in it, and what was looked up."""
        rows: list[Session] = []
        seen: list[Observation] = []
        with self.room.memory().writing("A week") as change:
            change.ensure_project_named("default", "shop")
            for _ in range(sessions):
                self.sessions += 1
                name = f"s-{self.sessions:05d}"
                is_told = self.sessions % 97 != 0
                rows.append(self._session(name, covered=8 if is_told else 3))
                seen += self._seen(name)
                path = f"sessions/{self._month()}/{name}.md"
                change.put(ref(path), Sanitized(self._session_text(name)))
                place = {"workspace": "default", "project": "shop", "path": path}
                change.state("page-session", **place, session=name, role="about", at_us=change.now_us)
                if not is_told:
                    self.untold.append(name)
            for path, text in self._learnt():
                change.put(ref(path), Sanitized(text))
        with self.room.memory().state_transaction() as connection:
            for row in rows:
                state_sessions.put_session(connection, row)
            state_sessions.add_observations(connection, seen)
            for path in self.dice.sample(sorted(self.known), min(3, len(self.known))):
                usage.note_read(connection, ref(path), harness="codex", at_us=self.room.clock.at_us)
        self.room.clock.at_us += WEEK_US

    def _month(self) -> str:
        months = (self.room.clock.at_us - NOON_US) // (30 * DAY_US)
        return f"{2026 + months // 12}-{months % 12 + 1:02d}"

    def _session(self, name: str, *, covered: int) -> Session:
        now_us = self.room.clock.at_us
        return Session(
            id=name, native_id="", cwd="", agent="codex", workspace="default", project="shop", scope="{}",
            opened_at_us=now_us, last_at_us=now_us, ended_at_us=now_us, observations=8, covered=covered,
        )  # fmt: skip

    def _seen(self, name: str) -> Iterator[Observation]:
        for number in range(8):
            text = f"{self.dice.choice(TASKS)} " + " ".join(self.word() for _ in range(40))
            yield Observation(f"{name}-{number}", name, self.room.clock.at_us + number, "post-tool-use", output=text)

    def _session_text(self, name: str) -> str:
        lines = "\n".join(f"- {self.dice.choice(TASKS)}: {self.word()} {self.word()}" for _ in range(20))
        return f"---\nkind: session\nsession_id: {name}\n---\n# {self.dice.choice(TASKS)}\n\n{lines}\n"

    def _learnt(self) -> Iterator[tuple[str, str]]:
        subject, word = self.dice.choice(TASKS), self.word()
        number = len(self.known)
        pinned = "---\npinned: true\ntier: episodic\n---\n" if number % 5 == 0 else ""
        path = f"decisions/{number:04d}.md"
        self.known[path] = f"{subject} {word}"
        yield path, f"{pinned}# {subject.title()} {number}\n\nWe settled the {subject} by the {word} rule.\n"

    def found(self) -> float:
        """Share of what is known that is the first hit of its question."""
        first = 0
        for path, question in self.known.items():
            hits = search(self.room.memory(), query=question, limit=1, workspace="default", project="shop").hits
            first += bool(hits) and hits[0].path == path
        return first / len(self.known)

    def sweep(self) -> Swept:
        return swept(self.room.memory(), None, CONFIG, erasing="monthly")

    def size(self) -> int:
        """Bytes of what a memory holds, packed: databases, pages and their history."""
        data_dir = self.room.data_dir
        self.room.memory().compact()
        with self.room.memory().reading():
            pass
        return sum(map(purge.size_of, (data_dir.wiki, data_dir.state, data_dir.index)))


@pytest.mark.parametrize(
    ("weeks", "sessions"), [(30, 4), pytest.param(157, 20, marks=pytest.mark.slow)], ids=["120", "3140"]
)
def test_a_life_of_sessions_stays_small_and_keeps_what_was_learnt(room: WikiRoom, weeks: int, sessions: int) -> None:
    life = Life(room, random.Random(7))
    sizes, pages = [], []
    for week in range(weeks):
        life.week(sessions)
        life.sweep()
        room.memory().tidy()
        if week % (weeks // 6) == 0:
            sizes.append(life.size())
        pages.append(len([path for path in room.files_at_head() if "/sessions/" in path]))
    print(f"\n{life.sessions} sessions, {len(life.known)} learnt, found {life.found():.3f}")
    print(f"bytes by sixths: {sizes}; session pages: {pages[12::13]}")
    at_most = 12 * sessions + len(life.untold) + 2  # 81 days, and what was never told
    assert max(pages[12:]) <= at_most
    assert sizes[-1] <= 1.2 * sizes[len(sizes) // 2 + 1], "it levels off: what grows is what was learnt"
    assert {f"default/shop/{path}" for path in life.known} <= room.files_at_head()
    assert life.found() >= 0.99
    with room.memory().state_reading() as connection:
        assert connection is not None
        kept = dict(connection.execute("SELECT session, count(*) FROM observations GROUP BY session"))
    assert {name: kept.get(name) for name in life.untold} == dict.fromkeys(life.untold, 8), "nothing untold is lost"
    assert all(f"default/shop/{path}" in room.files_at_head() for path in map(_page_of_session(room), life.untold))
    again = life.sweep()
    assert (again.commits, again.hard_deleted, again.observations_pruned) == ((), 0, 0)
    assert room.git("status", "--porcelain") == ""
    assert room.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def _page_of_session(room: WikiRoom):  # type: ignore[no-untyped-def]
    with room.memory().state_reading() as connection:
        assert connection is not None
        return dict(connection.execute("SELECT session, path FROM page_sessions")).__getitem__


def test_sweeping_lets_no_kept_page_be_found_worse(room: WikiRoom) -> None:
    life = Life(room, random.Random(11))
    for _ in range(20):
        life.week(6)
    before = life.found()
    done = life.sweep()
    assert len(done.evicted) > 30
    assert life.found() >= before


def test_a_sweep_of_old_sessions_ranks_the_gold_set_no_worse(room: WikiRoom) -> None:
    """The labelled set among old sessions that speak of the same, as logs do; figures before and after they go."""
    gold = read_set(Path(__file__).parent.parent / "search" / "gold")
    words = sorted({word for one in gold.questions for word in one.text.split()})
    dice = random.Random(3)
    with room.memory().writing("Old sessions") as change:
        change.ensure_project_named("default", "gold")
        for number in range(60):
            lines = "\n".join(" ".join(dice.choice(words) for _ in range(12)) for _ in range(10))
            text = f"---\nkind: session\n---\n# Session {number}\n\n{lines}\n"
            change.put(ref(f"sessions/2026-01/{number}.md", "gold"), Sanitized(text))
    room.clock.at_us += 90 * DAY_US
    paths = {f"{one.path or f'notes/{number:04}.md'}": one for number, one in enumerate(gold.documents)}
    with room.memory().writing("What is known") as change:
        for path, one in paths.items():
            text = compose({"title": one.title, **one.meta} if one.title else one.meta, one.text)
            change.put(ref(path, "gold"), sanitize(text))

    def figures() -> dict[str, float]:
        with room.memory().reading() as snapshot:

            def find(question: Question) -> Answer:
                wanted = Filter(valid_at_us=question.as_of_us)
                scopes = (Scope("default", "gold", ResolvedBy.FLAG),)
                hits = answer(snapshot, Request((question.text,), scopes, wanted, limit=10, may_abstain=False)).hits
                return Answer(tuple(paths[hit.ref.path].id if hit.ref.path in paths else hit.ref.path for hit in hits))

            return evaluate(find, gold.questions)

    before = figures()
    done = swept(room.memory(), None, CONFIG)
    after = figures()
    assert [one.reason for one in done.evicted].count("evicted") == 60
    assert 0.5 < before["ndcg@10"] <= after["ndcg@10"]
    assert before["all@10"] <= after["all@10"]
