"""docs/storage.md names what lies in the data dir."""

import re
from pathlib import Path

import pytest

from ai_memory import hook_outbox, hook_spool
from ai_memory.store import outbox

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "storage.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.*?)` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("folder", sorted(outbox._FOLDERS))
def test_every_folder_of_the_outbox_has_its_row(folder: str) -> None:
    assert [row for row in ROWS if row.startswith(f"{folder}/")], folder


@pytest.mark.parametrize(
    ("module", "word", "row"),
    [
        (hook_spool, ".full", "spool/.full"),
        (hook_spool, ".dropped", "spool/.dropped"),
        (hook_outbox, "started", "locks/started/<session id>"),
    ],
)
def test_the_marks_of_hooks_have_their_rows(module: object, word: str, row: str) -> None:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert f'"{word}"' in source, "it is called otherwise now"
    assert row in ROWS
