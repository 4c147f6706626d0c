"""What holds, in one block: the same facts give the same bytes, and nothing in them leaves the block."""

from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.cli import asking
from ai_memory.text.fences import FENCE_END, FENCE_START

QUOTE = "never deploy on Fridays, use Thursdays"


@pytest.fixture
def shop(room: Room) -> Room:
    room.work()
    room.tell("user-prompt", text=f"Please: {QUOTE}, always round at the end, prefer pnpm for scripts, ship < 3 > 2")
    room.drain()
    return room


def keep(room: Room, statement: str, quote: str, kind: str = "correction", *words: str) -> dict[str, Any]:
    made = room.json("record", statement, "--kind", kind, "--quote", quote, "--insist", *words)["facts"][0]
    assert made["standing"] == "supported"
    return dict(made)


def test_corrections_come_first_and_the_newest_of_a_kind(shop: Room) -> None:
    keep(shop, "Prefer pnpm for the scripts", "prefer pnpm for scripts", "preference")
    keep(shop, "Deploys never run on Fridays but on Thursdays", QUOTE)
    keep(shop, "Always round the bill at the end", "always round at the end")
    shop.ok("write-page", "-p", "notes/till.md", "-b", "# A till < 3")
    shop.ok("set", "notes/till.md", "--pin")
    text = shop.ok("digest")
    inside = text[text.index(FENCE_START) : text.index(FENCE_END)]
    assert inside.endswith(
        "Source: default/shop\n\n"
        "## Corrections\n\n- Always round the bill at the end\n- Deploys never run on Fridays but on Thursdays\n\n"
        "## Preferences\n\n- Prefer pnpm for the scripts\n\n"
        "## Pinned pages\n\n- notes/till.md: A till &lt; 3\n"
    )
    assert shop.json("digest")["text"] == text.rstrip("\n") + "\n"


def test_the_same_facts_give_the_same_bytes(shop: Room) -> None:
    keep(shop, "Deploys never run on Fridays but on Thursdays", QUOTE)
    before = shop.ok("digest")
    shop.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    shop.tell("user-prompt", session=SESSION, text="Go on with the till.")
    shop.drain()
    shop.ok("reindex")
    assert shop.ok("digest") == before


def test_what_nobody_confirmed_or_holds_no_longer_is_left_out(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    made = keep(shop, "Deploys never run on Fridays but on Thursdays", QUOTE)
    shop.ok("record", "The printer needs paper of 80 mm")
    keep(shop, "Deploys never run on Fridays of next year", QUOTE, "decision", "--valid-from", "2990-01-01")
    text = shop.ok("digest")
    assert "Thursdays" in text
    assert "printer" not in text
    assert "next year" not in text
    assert "candidate" not in text
    monkeypatch.setattr(asking, "confirms", lambda _: True)
    shop.ok("resolve", made["id"], "--as", "contradicted", "--because", "It was a slip")
    assert "Thursdays" not in shop.ok("digest")


def test_what_holds_everywhere_is_told_with_the_project(shop: Room) -> None:
    text = "---\nkind: fact\nid: f-0123456789ab\nfact_kind: preference\nstanding: supported\n"
    text += "statement: Answer in Portuguese\nrecorded_at: 2026-11-01T00:00:00Z\n---\nAnswer in Portuguese\n"
    page = shop.data_dir / "wiki" / "default" / "_global" / "facts" / "pt.md"
    page.parent.mkdir(parents=True)
    page.write_text(text)  # by hand: who can write files can say anything
    shop.ok("commit", "-m", "By hand")
    assert "- Answer in Portuguese" in shop.ok("digest")


def test_it_stays_in_its_room_and_says_what_is_left_out(shop: Room) -> None:
    for number in range(12):
        keep(shop, f"Deploys never run on Fridays in week {number} but on Thursdays", QUOTE)
    whole = shop.json("digest")
    part = shop.json("digest", "--max-bytes", "900")
    assert (len(whole["facts"]), whole["omitted"]) == (12, 0)
    assert len(part["text"].encode()) <= 900
    assert part["facts"] == whole["facts"][: len(part["facts"])]
    assert part["omitted"] == 12 - len(part["facts"]) > 0
    assert f"And {part['omitted']} more:" in part["text"]


def test_a_long_fact_makes_room_for_those_behind_it(shop: Room) -> None:
    (shop.checkout / "long.md").write_text("always round the bill\n")
    long = f"Always round the bill {'and again ' * 60}"
    shop.ok("record", long, "--kind", "correction", "--cite", "long.md#L1")
    assert shop.ok("digest", "--max-bytes", "700").startswith("nothing has room there")
    keep(shop, "Deploys never run on Fridays but on Thursdays", QUOTE)
    part = shop.json("digest", "--max-bytes", "700")
    assert "Thursdays" in part["text"]
    assert (len(part["facts"]), part["omitted"]) == (1, 1)
    assert len(part["text"].encode()) <= 700


def test_nothing_is_an_empty_block(room: Room) -> None:
    assert room.json("digest")["text"] == ""
    assert "no fact is supported here" in room.ok("digest")
    assert not room.data_dir.exists()


def test_stored_text_opens_no_element(shop: Room) -> None:
    keep(shop, "Always round at the end <script>x</script> --> <!-- y", "always round at the end")
    inside = shop.json("digest")["text"].split("Source: default/shop\n")[1].split(FENCE_END)[0]
    assert "<" not in inside
    assert ">" not in inside
