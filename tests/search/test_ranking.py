"""What raises and lowers a page: closeness, standing, what it is called, what it is linked to, and when it was made."""

import pytest
from shelf import NOW_US, SHOP, Shelf, ref

from ai_memory.model import ResolvedBy, Scope
from ai_memory.providers.known import is_english, is_multilingual
from ai_memory.search import numbers
from ai_memory.search.authority import authority
from ai_memory.search.closeness import Closeness, flattened
from ai_memory.search.request import Switches, Witness
from ai_memory.search.vectors import Near
from ai_memory.store.snapshot import Filter


def standing(
    path: str = "notes/a.md", kind: str = "note", tier: str = "", tags: tuple[str, ...] = (), **more: object
) -> float:
    return authority(path, kind, tier, tags, is_pinned=bool(more.get("pinned")), bonus=float(str(more.get("bonus", 0))))


# --- closeness ---


def test_a_text_with_parts_of_a_word_is_closer_than_one_with_none() -> None:
    near = Closeness("schema", {"schema": 1.0})
    assert (
        near.factor(flattened("the schemas")) > near.factor(flattened("the scheme")) > near.factor(flattened("a cat"))
    )


def test_words_side_by_side_are_closer_than_words_apart() -> None:
    near = Closeness("lock order", {"lock": 1.0, "order": 1.0})
    assert near.factor(flattened("the lock order")) > near.factor(flattened("order of a lock"))


def test_a_compound_word_is_close_to_its_part() -> None:
    near = Closeness("Datenbank Sperre", {"datenbank": 1.0, "sperre": 1.0})
    assert near.factor(flattened("Datenbanksperre")) > near.factor(flattened("Datenträger"))


def test_closeness_stays_between_one_and_three() -> None:
    near = Closeness("lock order", {"lock": 1.0, "order": 1.0})
    assert near.factor(flattened("")) == 1.0
    assert near.factor(flattened("lock order")) == 1.0 + numbers.CLOSENESS + numbers.ADJACENCY


def test_a_text_is_flattened_without_case_marks_and_signs() -> None:
    assert flattened("  The_Café:\n «LOCK»-order ") == b" the cafe lock order "


# --- authority ---


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        *(("rule", 1.15), ("decision", 1.15), ("procedure", 1.12), ("gotcha", 1.12), ("preference", 1.12)),
        *(("concept", 1.07), ("slot", 1.07), ("session", 0.85), ("handoff", 0.85), ("note", 1.0), ("fact", 1.05)),
        ("unconfirmed", 0.9),
    ],
)
def test_each_kind_has_its_standing(kind: str, factor: float) -> None:
    assert standing(kind=kind) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("tier", "factor"), [("semantic", 1.1), ("procedural", 1.1), ("episodic", 0.92), ("working", 0.97)]
)
def test_each_tier_has_its_standing(tier: str, factor: float) -> None:
    assert standing(tier=tier) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("how", "factor"),
    [
        ({"pinned": True}, 1.08),
        ({"path": "_lint/a.md"}, 0.80),
        ({"path": "investigations/a.md"}, 0.95),
        ({"tags": ("canonical",)}, 1.20),
        ({"tags": ("source_of_truth",)}, 1.20),
        ({"tags": (" Canonical ", "source-of-truth")}, 1.20),
        ({"tags": ("active",)}, 1.05),
        ({"tags": ("active", "canonical")}, 1.25),
    ],
)
def test_pin_folder_and_tags_have_theirs(how: dict[str, object], factor: float) -> None:
    assert standing(**how) == pytest.approx(factor)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tag", "cap"), [("do-not-answer-from", 0.55), ("test_fixture", 0.55), ("superseded", 0.65), ("historical", 0.80)]
)
def test_some_tags_cap_what_all_others_add(tag: str, cap: float) -> None:
    assert standing(kind="decision", tier="semantic", tags=("canonical", tag), pinned=True) == cap


def test_a_cap_lifts_nothing() -> None:
    assert standing(path="_lint/a.md", kind="session", tier="episodic", tags=("historical",)) == pytest.approx(0.57)


def test_standing_stays_between_its_bounds() -> None:
    most = standing(kind="decision", tier="semantic", tags=("canonical", "active"), pinned=True, bonus=0.5)
    least = standing(path="_lint/a.md", kind="session", tier="episodic", bonus=-0.5)
    assert (most, least) == (1.50, 0.55)


def test_of_two_pages_that_say_the_same_the_decision_is_first(shelf: Shelf) -> None:
    shelf.fill(10)
    shelf.put(
        "sessions/a.md", "---\nkind: session\n---\n# Log\n\nWe set the retry budget to three a minute for tenants."
    )
    shelf.put("decisions/b.md", "# Budget\n\nWe set the retry budget to three a minute, all told, for every tenant.")
    assert shelf.paths("retry budget")[0] == "decisions/b.md"


# --- intent ---


def test_a_question_about_an_earlier_session_raises_pages_of_sessions(shelf: Shelf) -> None:
    shelf.put("sessions/a.md", "---\nkind: session\n---\n# Log\n\nThe queue was cut into tenants.")
    shelf.put("notes/b.md", "# Queue\n\nThe queue is cut into tenants, as told.")
    plain = shelf.ask("the queue of tenants").hits
    recall = shelf.ask("what did we do last session about the queue of tenants").hits
    factors = {hit.ref.path: hit.factors["authority"] for hit in recall}
    assert factors["sessions/a.md"] == pytest.approx(1.0 + numbers.SESSION_RECALL_BONUS)
    assert {hit.ref.path: hit.factors["authority"] for hit in plain}["sessions/a.md"] < 0.9
    assert recall[0].ref.path == "sessions/a.md"


def test_the_intent_can_be_turned_off_and_its_bonus_set(shelf: Shelf) -> None:
    shelf.put("sessions/a.md", "---\nkind: session\n---\n# Log\n\nThe queue was cut.")
    ask = "what did we do with the queue"
    (off,) = shelf.ask(ask, switches=Switches(query_intent=False)).hits
    (none,) = shelf.ask(ask, switches=Switches(session_recall_bonus=0.0)).hits
    assert off.factors["authority"] < 0.9
    assert none.factors["authority"] == pytest.approx(1.0)


# --- time ---


def test_a_page_of_the_time_that_is_named_is_raised(shelf: Shelf) -> None:
    day = 86_400_000_000
    shelf.put("notes/old.md", "# Deploy\n\nThe deploy went through the gate.", at_us=NOW_US - 60 * day)
    shelf.put("notes/new.md", "# Deploys\n\nThe deploy went through the gate, too.", at_us=NOW_US - 1 * day)
    factors = {hit.ref.path: hit.factors for hit in shelf.ask("deploy yesterday", now_us=NOW_US).hits}
    assert factors["notes/new.md"]["time"] == numbers.TEMPORAL_FACTOR
    assert "time" not in factors["notes/old.md"]
    assert "time" not in shelf.ask("deploy yesterday").hits[0].factors


# --- exact ---


@pytest.fixture
def named(shelf: Shelf) -> Shelf:
    shelf.fill(30)
    shelf.put("notes/retry-budget.md", "---\nid: f-0123456789ab\n---\n# Retry budget\n\nThree a minute.")
    text = "retry budget " * 30
    shelf.put("notes/talk.md", f"# Talk\n\n{text}\n\nnotes/retry-budget.md f-0123456789ab")
    return shelf


@pytest.mark.parametrize(
    ("query", "by"),
    [
        ("notes/retry-budget.md", "path"),
        ("notes/retry-budget", "path"),
        ("Retry budget", "title"),
        ("retry BUDGET", "title"),
        ("  retry   budget ", "title"),
        ("f-0123456789ab", "id"),
    ],
)
def test_what_is_named_exactly_is_first_and_answers(named: Shelf, query: str, by: str) -> None:
    answer = named.ask(query, may_abstain=True)
    assert answer.hits[0].ref.path == "notes/retry-budget.md"
    assert answer.hits[0].legs["exact"].detail == by
    assert (answer.status, answer.hits[0].coverage) == ("ok", 1.0)


def test_a_version_names_its_page_from_seven_digits_on(named: Shelf) -> None:
    version = next(hit.version for hit in named.ask("Retry budget").hits if hit.ref.path == "notes/retry-budget.md")
    digits = version.lstrip("0")
    assert digits
    (hit,) = named.ask(version, may_abstain=True).hits
    assert (hit.ref.path, hit.legs["exact"].detail) == ("notes/retry-budget.md", "version")
    assert named.ask("0" * 6 + "g", may_abstain=True).hits == ()


def test_a_title_of_signs_alone_is_found(shelf: Shelf) -> None:
    shelf.put("notes/party.md", '---\ntitle: "🎉"\n---\n\nA word.')
    assert shelf.paths("🎉") == ["notes/party.md"]


def test_pages_of_the_same_name_stand_in_the_order_of_their_address(shelf: Shelf) -> None:
    for name in ("c", "a", "b"):
        shelf.put(f"{name}/plan.md", f"# Plan\n\n{name * 3} stands here alone {name * 5} with words {name * 7}")
    ranks = {hit.ref.path: hit.legs["exact"].rank for hit in shelf.ask("Plan").hits}
    assert ranks == {"a/plan.md": 1, "b/plan.md": 2, "c/plan.md": 3}


@pytest.mark.parametrize(
    "query", ["Retry budget", "notes/retry-budget.md", "abcdef1", "0123456789ab", "f-0123456789ab"]
)
def test_a_name_is_looked_up_without_reading_all_pages(named: Shelf, query: str) -> None:
    asked: list[str] = []
    named.connection.set_trace_callback(asked.append)
    named.ask(query)
    named.connection.set_trace_callback(None)
    looked = [sql for sql in asked if sql.lstrip().upper().startswith("SELECT") and "MATCH" not in sql]
    for sql in looked:
        plan = [row[3] for row in named.connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [step for step in plan if step in ("SCAN p", "SCAN pages", "SCAN e", "SCAN l")], (sql, plan)
        assert not [step for step in plan if "(workspace=? AND project=?)" in step], (sql, plan)


# --- entities ---


def test_an_entity_or_alias_finds_its_page_and_a_rare_one_counts_more(shelf: Shelf) -> None:
    shelf.fill(10)
    shelf.put("notes/rare.md", "---\nentities: [zephyr]\n---\n# One\n\nSome text.")
    for name in "abc":
        shelf.put(f"notes/{name}.md", f"---\nentities: [postgres]\n---\n# {name}\n\nSome text {name}.")
    shelf.put("notes/alias.md", "---\naliases: [the big one]\n---\n# Other\n\nSome words.")
    (rare,) = [hit for hit in shelf.ask("zephyr").hits if "entity" in hit.legs]
    common = [hit for hit in shelf.ask("postgres").hits if "entity" in hit.legs]
    assert (rare.ref.path, rare.legs["entity"].detail) == ("notes/rare.md", "zephyr")
    assert rare.legs["entity"].score > common[0].legs["entity"].score
    assert [hit.ref.path for hit in common] == ["notes/a.md", "notes/b.md", "notes/c.md"]
    assert shelf.paths("the big one")[0] == "notes/alias.md"


def test_a_word_finds_an_entity_that_begins_with_it(shelf: Shelf) -> None:
    shelf.put("notes/a.md", "---\nentities: [kubernetes]\n---\n# A\n\nSome text about pods.")
    assert shelf.ask("kube pods").hits[0].legs["entity"].detail == "kubernetes"


# --- links ---


def test_a_neighbour_of_the_best_is_raised_and_says_from_where(shelf: Shelf) -> None:
    shelf.fill(10)
    for number in range(5):
        text = f"The retry budget is {number}, said one of them. Kind n{number}."
        shelf.put(
            f"notes/hub-{number}.md", f"# Retry budget {number}\n\n{text}" + ("" if number else " [[notes/linked]]")
        )
    for name in ("linked", "alone"):
        shelf.put(f"notes/{name}.md", f"# Numbers\n\nSums of many kinds, and a budget among them, told by {name}.")
    shelf.put(
        "notes/back.md", "# Back\n\nSums rest on [[notes/hub-0]] and on their budget, and on much more besides it."
    )
    hits = {hit.ref.path: hit for hit in shelf.ask("retry budget").hits}
    assert hits["notes/linked.md"].legs["graph"].detail == "references to notes/hub-0.md"
    assert hits["notes/back.md"].legs["graph"].detail == "references from notes/hub-0.md"
    assert "graph" not in hits["notes/alone.md"].legs
    assert hits["notes/linked.md"].score > hits["notes/alone.md"].score


# --- observations, vectors ---


def test_a_session_votes_once_for_its_page_with_its_best_observation(shelf: Shelf) -> None:
    shelf.fill(10)
    shelf.put("sessions/s.md", "---\nkind: session\n---\n# Log\n\nA session about kettles.")
    votes = (Witness(ref("sessions/s.md"), "7d3f0a5e-1111", 3.0), Witness(ref("sessions/none.md"), "8e", 9.0))
    (hit,) = [hit for hit in shelf.ask("kettles", witnesses=votes).hits if "observation" in hit.legs]
    assert hit.legs["observation"].detail == "session 7d3f0a5e"
    assert 0 < hit.legs["observation"].share <= numbers.OBSERVATION_SHARE


def test_a_vote_for_a_page_outside_the_scope_is_not_heard(shelf: Shelf) -> None:
    shelf.put("sessions/s.md", "# Log\n\nA session about kettles.", project="other")
    votes = (Witness(ref("sessions/s.md", "other"), "7d3f0a5e", 3.0),)
    assert shelf.ask("kettles", witnesses=votes).hits == ()


def test_a_near_chunk_brings_a_page_that_shares_no_word(shelf: Shelf) -> None:
    shelf.fill(3)
    shelf.put("notes/a.md", "# A\n\nkettles and pans")
    shelf.put("notes/b.md", "# B\n\nsaucepans alone")
    (page_id, chunk_id) = shelf.connection.execute(
        "SELECT page_id, id FROM chunks WHERE body LIKE '%saucepans%'"
    ).fetchone()
    near = (Near(page_id, chunk_id, 0.9), Near(page_id - 1, chunk_id - (1 << 24), 0.1))
    hits = {hit.ref.path: hit for hit in shelf.ask("kettles", near=near).hits}
    assert "saucepans" in hits["notes/b.md"].snippet
    assert hits["notes/b.md"].legs["vector"].rank == 1


# --- what adds up ---


def near_all(shelf: Shelf, cosines: dict[str, float]) -> list[Near]:
    """The last chunk of each page that is named, and how near it is."""
    sql = "SELECT page_id, max(chunks.id) FROM chunks JOIN pages ON pages.id = page_id WHERE path = ?"
    rows = [(*shelf.connection.execute(sql, (path,)).fetchone(), cosine) for path, cosine in cosines.items()]
    return [Near(*row) for row in sorted(rows, key=lambda row: -row[2])]


def test_nearness_counts_the_more_the_less_the_words_are_held(shelf: Shelf) -> None:
    shelf.fill(20)
    shelf.put("notes/a.md", "# Grid\n\nRows of heron nests.")
    shelf.put("notes/b.md", "# Marsh\n\nReeds stand in water.")
    near = near_all(shelf, {"notes/b.md": 0.9, "notes/filler-001.md": 0.4, "notes/filler-002.md": 0.3})

    def share(query: str) -> float:
        hits = {hit.ref.path: hit for hit in shelf.ask(query, near=near).hits}
        return hits["notes/b.md"].legs["vector"].share

    assert share("heron nests") == pytest.approx(0.25)
    assert share("heron zygote quorum vellum pylon") > 0.5
    assert share("zygote quorum vellum pylon") == pytest.approx(1.0)


def test_the_vector_of_an_abstract_counts_where_that_is_asked_for(shelf: Shelf) -> None:
    shelf.fill(20)
    shelf.put("notes/a.md", "---\nabstract: Wading birds of the estuary.\n---\n# Marsh\n\nReeds stand in water.")
    near = near_all(shelf, {"notes/a.md": 0.9, "notes/filler-001.md": 0.4})
    asked = {"near": near, "limit": 30}
    (without,) = [hit for hit in shelf.ask("reeds", **asked).hits if hit.ref.path == "notes/a.md"]
    switched = shelf.ask("reeds", **asked, switches=Switches(abstract_vectors=True)).hits
    assert "vector" not in without.legs
    assert "vector" in next(hit for hit in switched if hit.ref.path == "notes/a.md").legs


def test_an_abstract_is_found_and_shown_by_its_words(shelf: Shelf) -> None:
    shelf.put("notes/a.md", "---\nabstract: Wading birds of the estuary.\n---\n# Marsh\n\nReeds stand in water.")
    (hit,) = shelf.ask("estuary").hits
    assert (hit.snippet, hit.line, hit.end_line) == ("Wading birds of the estuary.", 1, 3)
    (hit,) = shelf.ask("reeds", following=2).hits
    assert "estuary" not in hit.snippet


def test_a_page_on_which_sessions_rest_rises_as_far_as_its_belief_has_weight(shelf: Shelf) -> None:
    shelf.put("notes/a.md", "# One\n\nThe heron stands in the marsh.")
    shelf.put("notes/b.md", "# Two\n\nThe heron stands in the meadow.")
    gone = "---\nsuperseded_by: '[[notes/a.md]]'\n---\n# Three\n\nThe heron stands in the mill."
    shelf.put("notes/c.md", gone)
    asked = {"believe": lambda refs: {one: 0.9 for one in refs if one.path != "notes/a.md"}}
    assert shelf.paths("heron", **asked)[0] == "notes/a.md"
    hits = {hit.ref.path: hit for hit in shelf.ask("heron", **asked, switches=weighed(0.2)).hits}
    assert hits["notes/b.md"].factors["authority"] == pytest.approx(hits["notes/a.md"].factors["authority"] + 0.18)
    assert hits["notes/c.md"].factors["authority"] <= 0.65


def weighed(weight: float) -> Switches:
    return Switches(belief_authority_weight=weight)


def test_the_shares_times_the_factors_are_the_score(named: Shelf) -> None:
    named.put("notes/linked.md", "---\nentities: [retry]\n---\n# L\n\nThe budget: [[notes/retry-budget]]")
    for hit in named.ask("retry budget yesterday", now_us=NOW_US).hits:
        total = sum(leg.share for leg in hit.legs.values())
        for factor in hit.factors.values():
            total *= factor
        assert hit.score == pytest.approx(total, abs=1e-6)


def test_an_answer_is_the_same_after_a_rebuild_in_another_order(shelf: Shelf) -> None:
    pages = [(f"notes/{name}.md", f"# Page {name}\n\nThe retry budget of {name}.") for name in "abcdefgh"]
    for path, text in pages:
        shelf.put(path, text)
    other = Shelf()
    for path, text in reversed(pages):
        other.put(path, text)
    other.put(*pages[0])
    shown = [(hit.ref, hit.score, hit.snippet, dict(hit.legs)) for hit in shelf.ask("retry budget").hits]
    assert shown == [(hit.ref, hit.score, hit.snippet, dict(hit.legs)) for hit in other.ask("retry budget").hits]


# --- filters ---


@pytest.fixture
def mixed(shelf: Shelf) -> Shelf:
    day = 86_400_000_000
    shelf.fill(5)
    shelf.put(
        "decisions/a.md", "---\ntags: [http]\ntier: semantic\n---\n# Heron\n\nThe heron. [[notes/b]]", at_us=NOW_US
    )
    shelf.put("notes/b.md", "---\nentities: [heron]\n---\n# B\n\nA heron stands.", at_us=NOW_US - 10 * day)
    shelf.put("notes/gone.md", "---\nexpires_at: 2025-01-01\n---\n# Heron\n\nA heron gone.", at_us=NOW_US - 20 * day)
    shelf.put("notes/old.md", "---\nsuperseded_by: notes/b.md\n---\n# Heron\n\nA heron old.", at_us=NOW_US - 20 * day)
    shelf.put("notes/far.md", "# Heron\n\nA heron far.", project="mill", at_us=NOW_US)
    shelf.put("sessions/s.md", "---\nagent: codex\n---\n# S\n\nA session saw a heron.", at_us=NOW_US - 5 * day)
    return shelf


DAY_US = 86_400_000_000
LIVE = {"decisions/a.md", "notes/b.md", "sessions/s.md"}


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        (Filter(unexpired_at_us=NOW_US, superseded=False), LIVE),
        (Filter(superseded=False), LIVE | {"notes/gone.md"}),
        (Filter(unexpired_at_us=NOW_US), LIVE | {"notes/old.md"}),
        (Filter(kind="decision"), {"decisions/a.md"}),
        (Filter(tag="http"), {"decisions/a.md"}),
        (Filter(tier="semantic", kind="decision"), {"decisions/a.md"}),
        (Filter(prefix="notes/"), {"notes/b.md", "notes/gone.md", "notes/old.md"}),
        (Filter(since_us=NOW_US - DAY_US), {"decisions/a.md"}),
        (Filter(until_us=NOW_US - 15 * DAY_US), {"notes/gone.md", "notes/old.md"}),
        (Filter(agent="codex"), {"sessions/s.md"}),
        (Filter(refs=(ref("notes/b.md"),)), {"notes/b.md"}),
        (Filter(refs=()), set()),
    ],
)
@pytest.mark.parametrize("query", ["heron", "Heron", "heron OR zzz", '"heron"'])
def test_a_filter_holds_inside_every_leg(mixed: Shelf, query: str, wanted: Filter, paths: set[str]) -> None:
    votes = tuple(Witness(ref(path), "7d", 1.0) for path in ("sessions/s.md", "notes/gone.md", "notes/b.md"))
    assert set(mixed.paths(query, wanted=wanted, witnesses=votes)) == paths


def test_a_page_that_another_replaced_stands_low_where_it_is_asked_for(mixed: Shelf) -> None:
    (old,) = [hit for hit in mixed.ask("heron").hits if hit.ref.path == "notes/old.md"]
    assert old.factors["authority"] == 0.65


def test_scopes_are_joined_and_none_means_all(mixed: Shelf) -> None:
    mill = Scope("default", "mill", ResolvedBy.FLAG)
    live = Filter(superseded=False, unexpired_at_us=NOW_US)
    assert set(mixed.paths("heron", scopes=(mill,))) == {"notes/far.md"}
    assert set(mixed.paths("heron", scopes=(SHOP, mill), wanted=live)) == LIVE | {"notes/far.md"}
    assert set(mixed.paths("heron", scopes=None, wanted=live)) == LIVE | {"notes/far.md"}
    assert mixed.paths("heron", scopes=()) == []


# --- variants ---


def test_another_wording_finds_what_the_first_misses(shelf: Shelf) -> None:
    shelf.fill(30)
    shelf.put("notes/a.md", "# Backoff\n\nAttempts are spaced by an exponential backoff.")
    assert shelf.ask("waiting between retries", may_abstain=True).hits == ()
    (hit,) = shelf.ask("waiting between retries", "exponential backoff", may_abstain=True).hits
    assert (hit.ref.path, hit.coverage) == ("notes/a.md", 1.0)


def test_another_wording_never_makes_an_answer_weaker(shelf: Shelf) -> None:
    shelf.fill(30)
    shelf.put("notes/a.md", "# Backoff\n\nAttempts are spaced by an exponential backoff.")
    (alone,) = shelf.ask("exponential backoff", may_abstain=True).hits
    both = shelf.ask("exponential backoff", "zebra crossings of giraffes", may_abstain=True).hits[0]
    assert (both.coverage, both.score) == (alone.coverage, alone.score)


# --- folding and paging ---


def test_pages_that_say_nearly_the_same_are_one_hit_that_names_the_others(shelf: Shelf) -> None:
    shelf.fill(10)
    text = " ".join(f"The heron stands in pool {number} of the marsh." for number in range(12))
    shelf.put("notes/a/heron.md", f"# Heron\n\n{text}")
    shelf.put("notes/b/heron.md", f"# Heron\n\n{text}")
    shelf.put("notes/heron-nest.md", "# Nest\n\nA heron builds its nest in the elm and comes back every March.")
    answer = shelf.ask("heron")
    assert [hit.ref.path for hit in answer.hits] == ["notes/a/heron.md", "notes/heron-nest.md"]
    assert answer.hits[0].also == (ref("notes/b/heron.md"),)
    assert answer.dropped == {"folded into a hit that says nearly the same": 1}


def test_pages_of_an_answer_are_disjoint_and_complete(shelf: Shelf) -> None:
    shelf.fill(5)
    text = " ".join(f"The heron stands in pool {number} of the marsh." for number in range(12))
    for name in ("a", "b"):
        shelf.put(f"notes/{name}/heron.md", f"# Heron\n\n{text}")
    for number in range(7):
        shelf.put(f"notes/n{number}.md", f"# N{number}\n\nA heron of kind n{number} " + f"word{number} " * (5 + number))
    whole = shelf.paths("heron", limit=50)
    parts = [path for offset in range(0, 10, 3) for path in shelf.paths("heron", limit=3, offset=offset)]
    assert parts == whole
    assert shelf.ask("heron", limit=3, offset=3).omitted == len(whole) - 6 + 0
    assert shelf.ask("heron", limit=3, offset=90).hits == ()


def test_passages_after_the_best_one_are_shown_whole_and_within_a_bound(shelf: Shelf) -> None:
    sections = "\n\n".join(f"## Part {number}\n\n" + f"word{number} " * 80 for number in range(6))
    shelf.put("notes/a.md", f"# A\n\n{sections}")
    (alone,) = shelf.ask("word2").hits
    (two,) = shelf.ask("word2", following=2).hits
    assert "word3" not in alone.snippet
    assert "word3" in two.snippet
    assert "word4" in two.snippet
    assert "word5" not in two.snippet
    assert two.end_line > alone.end_line
    assert len(two.snippet) <= 2_000 + numbers.FOLLOWING_CHARACTERS + 10


def test_nearness_leads_where_the_encoder_reads_the_language_of_the_question(shelf: Shelf) -> None:
    shelf.fill(20)
    shelf.put("notes/a.md", "# Marsh\n\nReeds stand in the water of the marsh and are cut by the men.")
    near = near_all(shelf, {"notes/a.md": 0.9, "notes/filler-001.md": 0.4, "notes/filler-002.md": 0.3})
    asked = {"near": near, "limit": 30}
    question = "Wer schneidet das Schilf und was ist mit dem Harbour Office der Stadt"

    def share(**more: object) -> float:
        hits = {hit.ref.path: hit for hit in shelf.ask(question, **asked, **more).hits}
        return hits["notes/a.md"].legs["vector"].share

    assert share() < 1
    assert share(near_is_multilingual=True) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("model", "several", "english"),
    [
        ("intfloat/multilingual-e5-small", True, False),
        ("voyage-3.5", True, False),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", True, False),
        ("minilm@babb2676bfe4", False, True),
        ("BAAI/bge-small-en-v1.5", False, True),
        ("minishlab/potion-retrieval-32M", False, True),
        ("our-own-encoder", False, False),
    ],
)
def test_what_an_encoder_reads_is_told_by_its_name(model: str, several: bool, english: bool) -> None:
    assert (is_multilingual(model), is_english(model)) == (several, english)


def test_an_encoder_of_english_says_nothing_of_pages_in_another_script(shelf: Shelf) -> None:
    shelf.fill(20)
    shelf.put("notes/a.md", "# 湿地\n\n湿地の葦は男たちによって刈られ、屋根に使われる。冬の間に行われる作業である。")
    shelf.put("notes/b.md", "# 港\n\n港の事務所は朝に開き、船の到着を記録する。葦は扱わない。冬の間も同じである。")
    near = near_all(shelf, {"notes/b.md": 0.9, "notes/a.md": 0.4, "notes/filler-002.md": 0.3})

    def legs(question: str) -> set[str]:
        hits = shelf.ask(question, near=near, limit=30, near_is_english=True).hits
        return {leg for hit in hits for leg in hit.legs}

    assert legs("湿地の葦は誰が刈るのか") == {"fts"}
    assert "vector" in legs("who cuts the reeds of the marsh")
    assert "vector" in legs("鉄道の時刻表はどこにありますか"), (
        "no word of it stands anywhere: names may be all there is"
    )


@pytest.mark.parametrize("best", [1, 4, 1_000])
def test_passages_of_other_projects_take_no_place(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, best: int) -> None:
    monkeypatch.setattr("ai_memory.search.fulltext.CANDIDATE_CHUNKS", 4)
    monkeypatch.setattr("ai_memory.search.fulltext._BEST_CHUNKS", best)
    for number in range(6):
        shelf.put(f"notes/{number}.md", "heron heron heron", project="elsewhere")
        shelf.put(f"notes/{number}.md", "A heron stands among many other words of this page")
    found = shelf.ask("heron")
    assert [(hit.ref.project, hit.ref.path) for hit in found.hits] == [("shop", f"notes/{at}.md") for at in range(4)]
    assert found.omitted == 0
