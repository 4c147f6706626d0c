"""Whatever is written on purpose loses its secrets before it reaches the disk; stored bytes stay."""

import random
import string
from pathlib import Path

from cli_room import Room

from ai_memory.text.sanitize import sanitize_edit


def token() -> str:
    """A made-up token in the shape of a forge's, made at run time so that no scanner finds one here."""
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=36)
    return "gh" + "p_" + "".join(letters)


def holds(folder: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_write_append_set_and_title_keep_a_token_off_the_disk(room: Room) -> None:
    room.ok("write-page", "-p", "notes/key.md", "-b", f"# Key\n\nuse {token()} here")
    answer = room.run("append", "notes/key.md", "-b", f"again {token()}")
    room.ok("write-page", "--title", f"The key {token()}", "-b", "text")
    room.ok("set", "notes/key.md", "--title", f"K {token()}")
    assert "a secret was replaced" in answer.output
    assert not holds(room.data_dir, token())
    assert token() not in room.git("log", "-p", "--all")
    assert "[REDACTED:github-token]" in room.ok("read-page", "notes/key.md")


def test_a_page_may_speak_of_private_tags(room: Room) -> None:
    room.ok("write-page", "-p", "notes/tags.md", "-b", "Text in `<private>` is dropped by hooks.\n\nThe rest stays.")
    assert "The rest stays." in room.ok("read-page", "notes/tags.md")


def test_stored_lines_keep_their_bytes_when_another_line_is_new() -> None:
    before = f"old {token()}\nline\n"
    after = f"old {token()}\nline\nnew {token()}\n"
    kept = sanitize_edit(before, after)
    assert kept.startswith(before)
    assert kept.count(token()) == 1
