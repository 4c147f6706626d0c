"""No argument of any operation leads out of the wiki: not by `..`, not as an absolute path, not through a link."""

import contextlib
from pathlib import Path

import pytest
from cli_room import Room
from test_secrets_everywhere import USUAL, memory  # noqa: F401 (a fixture)

from ai_memory.errors import MemoryFault
from ai_memory.operations.signature import REQUIRED, bind, parameters
from ai_memory.operations.table import OPERATIONS
from ai_memory.store.memory import Memory

NAMES_FILES = {"backup", "export", "export-okf", "backup-agents", "install-instructions"}
"""They write where a person says; archives and folders of theirs have tests of their own."""


@pytest.mark.parametrize("is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
def test_no_argument_leads_out_of_the_wiki(
    room: Room,
    memory: Memory,  # noqa: F811
    tmp_path: Path,
    is_every: bool,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary.md").write_text("# A canary\n\nnobody reads this\n")
    room.file("linked").symlink_to(outside)
    attacks = ["../../../../outside/canary.md", "shop:linked/canary.md"]
    attacks += [str(outside / "canary.md"), "linked/evil.md"] if is_every else []
    tried = 0
    for operation in OPERATIONS:
        if operation.name in NAMES_FILES:
            continue
        found = parameters(operation.load(), "cli")
        usual = {one.name: USUAL.get(one.name, "x") for one in found if one.default is REQUIRED}
        for parameter in found:
            if parameter.type not in ("string", "array"):
                continue
            for attack in attacks:
                given = usual | {parameter.name: (attack,) if parameter.type == "array" else attack}
                with contextlib.suppress(MemoryFault):
                    answer = operation.load()(memory, **bind(found, given))
                    assert "nobody reads this" not in repr(answer), (operation.name, given)
                tried += 1
    assert tried > 100
    assert [path.name for path in outside.iterdir()] == ["canary.md"]
    assert (outside / "canary.md").read_text() == "# A canary\n\nnobody reads this\n"
    assert not list(tmp_path.rglob("evil*"))
