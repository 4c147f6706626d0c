"""What is over is handed to nobody; what a session left itself not to that session."""

from terminals import SECOND_US, Agent, Room

from ai_memory.capture import handoffs
from ai_memory.capture.page_work import MAX_OPEN_LOOKED_AT, find_handoff
from ai_memory.capture.session_page import composed
from ai_memory.model import Caller, Page, PageRef, ResolvedBy, Sanitized, Scope
from ai_memory.operations.handoff_desk import HandoffDesk
from ai_memory.operations.handoff_take import handoff_accept
from ai_memory.store.memory import Memory
from ai_memory.text.sanitize import NO_PATTERNS
from ai_memory.text.times import DAY_US


def only_handoff(room: Room) -> Page:
    [page] = room.pages("handoff")
    return page


def _begin(room: Room, body: str, *, expires_at_us: int) -> str:
    """A handoff that somebody leaves on purpose; its id."""
    identifier = handoffs.handoff_id(room.now_us, body)
    given = handoffs.manual(
        identifier,
        summary=body,
        open_questions=(),
        next_steps=(),
        files_touched=(),
        from_agent="codex",
        from_session="",
        to_agent="",
        cwd=room.checkout(),
        created_at_us=room.now_us,
        expires_at_us=expires_at_us,
    )
    ref = PageRef("default", "shop", handoffs.page_path(identifier))
    with room.memory().writing("Handoff") as change:
        change.ensure_project(Scope("default", "shop", ResolvedBy.FLAG))
        change.put(ref, composed(handoffs.frontmatter(given), handoffs.body(given), NO_PATTERNS))
        HandoffDesk(room.memory()).work.publish(change, given, ref, [given.cwd])
    return identifier


def test_a_handoff_expires_however_many_older_ones_there_are(room: Room) -> None:
    with room.memory().writing("Old ones") as change:
        change.ensure_project(Scope("default", "shop", ResolvedBy.FLAG))
        for at in range(MAX_OPEN_LOOKED_AT + 5):
            identifier = f"019b8000{at:04x}70008000000000000000"
            ref = PageRef("default", "shop", f"handoffs/2026-01/{identifier}.md")
            told = f"---\nkind: handoff\nid: {identifier}\nstate: accepted\norigin: auto\n---\n# Old\n"
            change.put(ref, Sanitized(told))
    identifier = _begin(room, "Old work nobody took", expires_at_us=room.now_us + SECOND_US)
    room.now_us += 2 * SECOND_US
    (room.data_dir.locks / "looked-around").unlink(missing_ok=True)
    room.drain()
    with room.memory().reading() as snapshot:
        page = find_handoff(snapshot, identifier)
    assert page is not None
    assert page.frontmatter["state"] == "expired"
    assert room.outbox.open_handoffs() == []


def test_a_session_of_long_ago_that_is_told_of_today_hands_nothing_over(room: Room, agent: Agent) -> None:
    agent.work()
    room.now_us += 15 * DAY_US

    room.drain()

    assert only_handoff(room).frontmatter["state"] == "expired"
    assert room.outbox.open_handoffs() == []
    agent.at_us -= SECOND_US  # a late event of it
    agent.tell("notification", text="Done.")
    room.drain()
    assert only_handoff(room).frontmatter["state"] == "expired"
    assert room.outbox.open_handoffs() == []


def test_a_session_of_long_ago_that_never_ended_hands_nothing_over(room: Room, agent: Agent) -> None:
    agent.start()
    agent.prompt("An old task.")
    agent.stop()
    room.now_us += 15 * DAY_US
    room.drain()
    assert room.outbox.provisionals() == []
    assert room.outbox.open_handoffs() == []
    assert [page.frontmatter["state"] for page in room.pages("handoff")] == ["expired"]


def test_a_session_that_accepts_is_not_given_what_it_left_itself(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()

    def accept(session: str) -> str:
        caller = Caller(cwd=agent.cwd, environ={}, home=str(room.root / "home"), face="bridge", session_id=session)
        memory = Memory.open(room.data_dir, caller=caller, clock=lambda: room.now_us)
        return handoff_accept(memory).status

    assert [accept(agent.session), accept("another"), accept("one more")] == ["none_pending", "claimed", "none_pending"]
