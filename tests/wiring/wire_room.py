"""A home with agents in it, and installs and removals into it as the commands do them, for every record."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from made_up import MADE_UP

from ai_memory.clock import now_us
from ai_memory.harnesses import registry
from ai_memory.harnesses.edits import Element, FileEdit, Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.record import Harness
from ai_memory.paths import DataDir
from ai_memory.store import wired
from ai_memory.store.wired import Owner
from ai_memory.wiring.apply import Done, apply
from ai_memory.wiring.documents import opened
from ai_memory.wiring.files import Step, no_step
from ai_memory.wiring.merge import Terms, with_ours
from ai_memory.wiring.plan import Book, plan_install, plan_uninstall
from ai_memory.wiring.wishes import WHATS, Wish, wishes_of

LAUNCH = Launch("/opt/our venv/bin/python", "/opt/our venv/lib/ai_memory", "/home/you/.local/share/ai-memory", "linux")


class WireRoom:
    """One scratch home and one data dir."""

    def __init__(self, folder: Path, *, platform: str = "linux") -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.data_dir = DataDir(folder / "data")
        self.data_dir.root.mkdir()
        self.machine = Machine(str(self.home), {}, platform)
        self.launch = replace(LAUNCH, platform=platform)

    def wishes(self, harness: Harness, whats: Sequence[str] = WHATS) -> list[Wish]:
        return [one for what in whats for one in wishes_of(harness, what, self.launch, self.machine).wishes]

    def edits_of(self, owner: Owner) -> list[FileEdit]:
        known = {one.id: one for one in (*registry.HARNESSES, *MADE_UP)}
        return [one.edit for one in self.wishes(known[owner.agent], (owner.what,))]

    def book(self) -> Book:
        return Book(tuple(wired.all_wired(self.data_dir)[0]))

    def install(
        self, *harnesses: Harness, whats: Sequence[str] = WHATS, step: Step = no_step, is_forced: bool = False
    ) -> list[Done]:
        wishes = [wish for one in harnesses for wish in self.wishes(one, whats)]
        plans = plan_install(wishes, self.book(), self.edits_of, is_forced=is_forced)
        return apply(plans, self.data_dir, clock=now_us, step=step)

    def uninstall(self, *harnesses: Harness, whats: Sequence[str] = WHATS, step: Step = no_step) -> list[Done]:
        wishes = [wish for one in harnesses for wish in self.wishes(one, whats)]
        gone = [Owner(one.id, what) for one in harnesses for what in whats]
        plans = plan_uninstall(wishes, gone, self.book(), self.edits_of)
        return apply(plans, self.data_dir, clock=now_us, step=step, is_removal=True)

    def forget(self) -> None:
        """As if the data dir had been lost."""
        for file in self.data_dir.wiring.glob("*.json"):
            file.unlink()

    def tree(self) -> dict[str, object]:
        """Everything below the home: bytes of files, where links lead, modes."""
        found: dict[str, object] = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if path.is_symlink():
                found[name] = f"-> {path.readlink()}"
            else:
                found[name] = (path.stat().st_mode, None if path.is_dir() else path.read_bytes())
        return found


def states(done: Sequence[Done]) -> set[str]:
    return {"failed" if one.fault else one.plan.state.value for one in done}


def foreign(edit: FileEdit) -> str:
    """A text in which somebody else's stands in every list that ours goes to."""
    document = opened("", edit.syntax)
    others = [replace(part, value=_foreign(part.value), is_ours=lambda _: False) for part in _elements(edit)]
    return with_ours(document, others, Terms()).text


def _elements(edit: FileEdit) -> list[Element]:
    return [part for part in edit.parts if isinstance(part, Element)]


def _foreign(value: Json) -> Json:
    """The same shape, with commands of somebody else."""
    text = json.dumps(value)
    return json.loads(re.sub(r'"(?:[^"\\]|\\.)*(?:ai_memory|ai-memory|our venv)(?:[^"\\]|\\.)*"', '"say done"', text))


def starts(edit: FileEdit) -> dict[str, bytes | None]:
    """What may stand there before us: name → bytes, None for no file."""
    if edit.syntax is Syntax.WHOLE:
        return {"absent": None}
    if edit.syntax is Syntax.MARKDOWN:
        return {
            "absent": None,
            "empty": b"",
            "text": b"# Mine\n\nBe brief.\n",
            "no last newline": b"# Mine",
            "CRLF": b"# Mine\r\n\r\nBe brief.\r\n",
            "mark": b"\xef\xbb\xbf# Mine\n",
        }
    comment = "#" if edit.syntax is Syntax.TOML else "//"
    others = foreign(edit)
    head = f"{comment} mine\n" + others
    found: dict[str, bytes | None] = {
        "absent": None,
        "empty": b"",
        "others": others.encode(),
        "comments": head.encode(),
    }
    found["CRLF"] = head.replace("\n", "\r\n").encode()
    found["no last newline"] = others.rstrip("\n").encode()
    if edit.syntax is Syntax.JSON:
        found["{}"] = b"{}"
        found["mark"] = b"\xef\xbb\xbf" + head.encode()
        found["tabs"] = re.sub(r"^( +)", lambda one: "\t" * (len(one[1]) // 2), others, flags=re.MULTILINE).encode()
        found["one line"] = json.dumps(json.loads(others or "{}")).encode()
        found["own member"] = b'{\n    "theme": "dark", // mine\n    /* last */\n}\n'
    else:
        found["own table"] = b'theme = "dark" # mine\n\n[mine]\na = [\n  1, # one\n]\n'
    return found
