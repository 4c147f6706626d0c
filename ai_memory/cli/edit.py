"""`ai-memory edit`: a page in the person's own editor, written back only if nobody changed it meanwhile."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory.cli.call import Call, say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import json_text, show
from ai_memory.errors import MemoryFault
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.answer import answer_json
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import Address, address
from ai_memory.operations.scoping import locate
from ai_memory.operations.table import OPERATION_BY_NAME
from ai_memory.operations.write import replace_text

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

FALLBACK_EDITORS = {"win32": "notepad"}
STDERR = 2


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What is said of a page that was left as it was."""

    scope: Scope
    pages: tuple[Address, ...]
    outcome: str = "unchanged"
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def edit(
    call: Call,
    *,
    path: Annotated[str, Field("page path", flags=("-p", "--path"), positional=True)],
    workspace: Workspace = None,
    project: ProjectName = None,
) -> int:
    """Open a page, or a new one, in $VISUAL or $EDITOR, and write what you saved.
    If someone else changed it meanwhile, or the text is no page, your text is kept in a file.
    """
    memory = call.open_memory()
    scope, ref = locate(memory, path, workspace, project, write=True)
    memory.fresh(ref)
    page = _page(memory, ref)
    before = page.text if page else _template(ref)
    draft = _draft(ref, before)
    try:
        _run_editor(draft)
        text = draft.read_bytes().decode("utf-8")
        if text == before:
            _say_unchanged(call, scope, ref)
        else:
            version = page.version if page else None
            written = replace_text(memory, ref=ref, scope=scope, text=text, expected_version=version)
            show(OPERATION_BY_NAME["write-page"], written, call)
    except UnicodeDecodeError as fault:
        raise MemoryFault("what the editor saved is not UTF-8 text", hint=f"your text is kept in {draft}") from fault
    except MemoryFault as fault:
        fault.hint = f"{fault.hint}\nyour text is kept in {draft}".lstrip()
        raise
    except BaseException:
        say(shown(f"your text is kept in {draft}"))
        raise
    draft.unlink()
    draft.parent.rmdir()
    return 0


def _say_unchanged(call: Call, scope: Scope, ref: PageRef) -> None:
    if call.is_json:
        print(json_text(answer_json(Unchanged(scope, (address(ref),)))))
    else:
        say(shown(f"nothing changed in {ref.path}"))


def _page(memory: "Memory", ref: PageRef) -> Page | None:
    with memory.reading() as snapshot:
        return snapshot.page(ref)


def _template(ref: PageRef) -> str:
    stem = ref.path.rpartition("/")[2].removesuffix(".md")
    return f"# {stem.replace('-', ' ').capitalize()}\n\n"


def _draft(ref: PageRef, text: str) -> Path:
    """A private file with the text, named like the page so that the editor knows its language."""
    draft = Path(tempfile.mkdtemp(prefix="ai-memory-edit-")) / ref.path.rpartition("/")[2]
    draft.write_bytes(text.encode("utf-8"))
    draft.chmod(0o600)
    return draft


@contextmanager
def _screen() -> Iterator[int | None]:
    """Where an editor draws: our stdout if a person looks at it, else the terminal. A piped answer stays alone."""
    if sys.stdout.isatty():
        yield None
        return
    try:
        screen = os.open("/dev/tty", os.O_RDWR)
    except OSError:  # nobody looks
        yield STDERR
        return
    try:
        yield screen
    finally:
        os.close(screen)


def _run_editor(draft: Path) -> None:
    """Wait until the editor ends. Errors: MemoryFault when there is none, or when it reports a failure."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or FALLBACK_EDITORS.get(sys.platform, "vi")
    words = [named] if sys.platform == "win32" and Path(named).exists() else shlex.split(named)
    try:
        with _screen() as screen:
            code = subprocess.run([*words, str(draft)], stdout=screen, check=False).returncode
    except OSError as fault:
        raise MemoryFault(
            f"cannot start the editor {named!r}: {fault.strerror}", hint="set VISUAL or EDITOR"
        ) from fault
    if code:
        raise MemoryFault(f"the editor {named!r} ended with {code}, so nothing was written")
