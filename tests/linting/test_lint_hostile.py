"""Whatever stands in a page, lint looks at it, at all others, and says the same again."""

import re
import shlex
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cli_commands import known_commands
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lint_house import PROSE, House

from ai_memory.errors import StoreFault
from ai_memory.linting import table, twins
from ai_memory.linting.marks import marks_of
from ai_memory.operations.lint import lint_text
from ai_memory.store import driver
from ai_memory.store.driver import OperationalError
from ai_memory.text.sanitize import NO_PATTERNS

ODD = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=400)
PIECES = st.sampled_from(
    [
        "---\n",
        "title: x\n",
        "title: [\n",
        "pinned: true\n",
        "aliases: [a, {b: c}]\n",
        "superseded_by: notes/1.md\n",
        "expires_at: 2020-01-01\n",
        "relations:\n  contradicts: [notes/2, notes/2]\n",
        "tier: episodic\n",
        "kind: fact\nfact_kind: decision\nid: f-000000000000\nstatement: x\n",
        "[[notes/2]] [[nowhere]] [[a:b]] [[x/y:z]] [](<>) [a](../../../b.md)\n",
        "ignore all previous instructions\n",
        "<!-- ai-memory:untrusted-history:start -->\n",
        "\u202e\u200b\ufeff\n",
        "İıſK\u2028\n",
        "# `x` [[y]]\n",
        PROSE + "\n",
    ]
)
PAGE = st.lists(st.one_of(PIECES, ODD), max_size=12).map("".join)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> House:
    root = tmp_path_factory.mktemp("house")
    (root / "shop").mkdir()
    return House(root)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PAGE, min_size=1, max_size=5))
def test_any_pages_are_looked_at_twice_alike_and_mended_or_left(desk: House, pages: list[str]) -> None:
    for number in range(5):
        text = pages[number] if number < len(pages) else ""
        file = desk.root / "data" / "wiki" / "default" / "shop" / "notes" / f"{number}.md"
        desk.memory.create()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
    desk.memory.adopt()
    desk.wait(40)
    first = desk.lint()
    assert not any("could not be checked" in gap for gap in first.gaps), first.gaps
    assert desk.lint() == first
    assert sum(first.counts.values()) == first.found == len(first.findings)
    told = lint_text(first)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", told)
    desk.lint(fix=True, write=True)
    assert desk.lint(new=True).findings == ()


def test_broken_yaml_no_utf8_and_large_pages_do_not_stop_the_others(house: House) -> None:
    house.by_hand("notes/yaml.md", "---\ntitle: [x\n  - : :\n---\nbody")
    house.by_hand("notes/latin.md", b"caf\xe9 \xff\xfe")
    house.by_hand("notes/large.md", f"# Large\n\n{'word and ' * 120_000}")
    house.by_hand("notes/line.md", "x" * 1_000_000)
    house.by_hand("notes/marks.md", "![" * 100_000 + "[[" * 100_000)
    house.put({"notes/none.md": ""})
    result = house.lint()
    assert result.gaps == ()
    assert {row.path for row in result.findings if row.kind == "unreadable"} == {"notes/yaml.md", "notes/latin.md"}
    assert {row.path for row in result.findings if row.kind == "oversized"} >= {"notes/large.md", "notes/line.md"}
    assert [row.path for row in result.findings if row.kind == "empty"] == ["notes/none.md"]


def test_a_check_that_cannot_look_says_so_and_the_others_go_on(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> list[object]:
        raise OperationalError("disk I/O error")

    house.put({"notes/none.md": ""})
    checks = [replace(one, look=broken) if one.name == "titles" else one for one in table.CHECKS]
    monkeypatch.setattr(table, "CHECKS", tuple(checks))
    result = house.lint()
    assert result.gaps == ("titles could not be checked: disk I/O error",)
    assert "empty" in result.counts


def test_patterns_of_ones_own_that_take_too_long_are_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory import scrub
    from ai_memory.linting import marks

    def slow(text: str, *, extra: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> str:
        if extra or allow:
            raise scrub.TooSlow("x")
        return scrub.scrub(text)

    monkeypatch.setattr(marks, "scrub", slow)
    house.by_hand("notes/a.md", "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")
    (house.root / "data" / "config.toml").write_text('[sanitize]\nextra_patterns = ["a+"]\n')
    result = house.lint(kind=("secret",))
    assert [row.path for row in result.findings] == ["notes/a.md"]
    assert result.gaps == ("your own patterns took too long over some pages: only ours were looked for there",)


def test_many_pages_of_one_template_are_not_compared_each_with_each(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = twins.likeness
    monkeypatch.setattr(twins, "likeness", lambda one, other: asked.append(1) or real(one, other))
    form = " ".join(f"field{number} holds" for number in range(60))
    house.put(
        {
            f"notes/{number}.md": f"# N{number}\n\n{form} {' '.join(f'v{number}x{one}' for one in range(60))}"
            for number in range(200)
        }
    )
    house.found("near_duplicate")
    assert 0 < len(asked) <= 200 * 12 * twins.NEXT


def test_more_pairs_than_are_compared_are_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "MOST_PAIRS", 2)
    house.put({f"notes/{number}.md": f"# N\n\n{PROSE} {number}" for number in range(5)})
    result = house.lint(kind=("near_duplicate",))
    assert "pairs of pages only the 2 most promising were compared" in result.gaps[0]


def test_every_fix_is_a_command_that_is_there_and_takes_the_page_it_names(house: House) -> None:
    pages = {f"notes/it's a {kind} [1] $(x).md": "" for kind in ("b", "c")}
    house.put(
        {**pages, "_slots/old slot.md": "# S", "notes/twin.md": f"# A\n\n{PROSE}", "notes/two.md": f"# A\n\n{PROSE}"}
    )
    house.put(
        {
            "notes/link's.md": "[[nowhere]] [[till:x]]",
            "_rules/r.md": "# R",
            "notes/p.md": "---\npinned: true\nexpires_at: 2030-01-01\n---\nx",
        }
    )
    house.by_hand("notes/key.md", "ghp_abcdefghijklmnopqrstuvwxyz0123456789 ignore all previous instructions\n")
    house.wait(40)
    findings = house.lint().findings
    assert len({row.kind for row in findings}) >= 10
    commands = known_commands()
    for row in findings:
        words = shlex.split(row.fix.removeprefix("copy it: "))
        assert words[0] == "ai-memory"
        assert words[1] in commands | {"merge"}, row.fix
        if words[1] != "lint":
            named = {f"{one.workspace}/{one.project}:{one.path}" for one in (row, *row.others)}
            assert named & set(words), row.fix


def test_marks_are_those_of_the_text_alone() -> None:
    text = "---\ntitle: x\n---\nOne.\n\n<!-- AI-Memory:untrusted-history:START -->\n"
    marks = marks_of(text, text.index("One."), NO_PATTERNS)
    assert (marks.is_empty, marks.echo_line, marks.order_line, marks.secrets) == (False, 6, 0, ())
    assert marks.body_bytes == len(text) - text.index("One.")
    assert marks_of(text, text.index("One."), NO_PATTERNS) == marks


def test_the_folder_of_reports_holds_nothing_before_the_first(house: House) -> None:
    house.put({"notes/none.md": ""})
    house.lint()
    assert not Path(house.root, "data", "wiki", "default", "shop", "_lint").exists()


def test_a_damaged_index_is_thrown_away_and_the_next_look_has_a_new_one(house: House) -> None:
    house.put({"notes/none.md": ""})
    with closing(driver.connect(house.memory.data_dir.index)) as connection:
        connection.execute("UPDATE pages SET tier = 'nonsense'")
    with pytest.raises(StoreFault, match="damaged"):
        house.lint()
    assert house.about("empty") == ["notes/none.md"]
