"""Gates on the shape of the code, read from its syntax trees: who may import whom, and what each front door loads."""

import ast
import graphlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from real_home import touched as touched_homes

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ai_memory"

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        *("__init__", "errors", "clock", "paths", "model", "streams", "plainfile", "patience"),
        *("scrub", "scrub_keys", "scrub_named", "scrub_flags", "scrub_shape", "scrub_values", "scrub_web"),
        *("patterns", "toml_text", "settings"),
        "config_table",
    ),
    ("text",),
    ("config", "scope"),
    ("hook",),
    ("harnesses",),
    ("transcripts",),
    ("providers",),
    ("store",),
    ("aging",),
    ("wiring",),
    ("search",),
    ("capture",),
    ("diagnosis",),
    ("linting",),
    ("operations",),
    ("cli", "bridge"),
    ("__main__",),
    ("mcp_bridge", "timed"),
)
"""Rooms of the package from the ground up. A room imports itself and lower rows; the ground row is one room.

The files `hook.py` and `hook_*.py` are one room.
"""

RANK = {room: rank for rank, row in enumerate(LAYERS) for room in row}

THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "dulwich": ("store/",),
    "filelock": ("store/",),
    "mcp": ("bridge/",),
    "mcp_types": ("bridge/",),
    "anyio": ("bridge/",),
    "pydantic": ("bridge/",),
    "platformdirs": ("paths.py",),
    "pysqlite3": ("store/driver.py",),
    "rich": ("cli/render.py",),
    "sqlite3": ("store/driver.py",),
    "sqlite_utils": ("store/",),
    "tomlkit": ("text/",),
    "typer": ("cli/",),
    "yaml": ("text/",),
}
"""The one room that may import each foreign package (and the one file that may import a SQLite library)."""

OPTIONAL: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("fastembed", "loguru", "numpy", "onnxruntime", "tokenizers"), ("providers/",)),
    "sqlite_vec": ("store/driver.py",),
    "toon_format": ("operations/toon.py",),
}
"""The same for packages of extras, and for those that fastembed brings along. They are imported by name, or found."""

STANDARD_LIBRARY = sys.stdlib_module_names | {"_sha2"}
"""`_sha2` is the standard library's from Python 3.12 on."""

STORE_DOORS = {"ai_memory.store.memory"}
"""All of the store that the faces may name: they open it and hand it to an operation."""


@dataclass(frozen=True)
class Import:
    """One import of one module, wherever in the file it stands."""

    source: str
    """Dotted name of the importing module."""
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


def modules_below(package: Path) -> dict[str, Path]:
    """Dotted name -> file, packages under their own name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(name: str, file: Path, modules: dict[str, Path]) -> Iterator[Import]:
    """Imports at the top, in functions, for types, and by `import_module("…")` with a constant name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}:{node.lineno}: a relative import"
            assert node.module
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(name, inner if inner in modules else node.module, node.lineno)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield Import(name, node.args[0].value, node.lineno)


MODULES = modules_below(PACKAGE)
IMPORTS = [found for name, file in MODULES.items() for found in imports_of(name, file, MODULES)]


def room_of(module: str) -> str:
    """Name of the room below `ai_memory`; the package's own `__init__` belongs to the ground."""
    room = module.split(".")[1] if "." in module else "__init__"
    return "hook" if room.startswith("hook_") else room


def is_allowed(found: Import) -> bool:
    source, target = room_of(found.source), room_of(found.target)
    ground = RANK[source] == RANK[target] == 0
    return source == target or ground or RANK[target] < RANK[source]


def is_ours(module: str) -> bool:
    return module == "ai_memory" or module.startswith("ai_memory.")


def test_every_module_stands_in_a_room_that_the_layers_name() -> None:
    assert {room_of(name) for name in MODULES} - set(RANK) == set()


def test_imports_go_down_only() -> None:
    assert [str(found) for found in IMPORTS if is_ours(found.target) and not is_allowed(found)] == []


def test_an_import_upwards_would_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "links.py"
    file.write_text("def links():\n    from ai_memory.store import memory\n    return memory\n")
    (found,) = imports_of("ai_memory.text.links", file, {"ai_memory.store.memory": file})
    assert found.target == "ai_memory.store.memory"
    assert not is_allowed(found)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for found in IMPORTS:
        if is_ours(found.target) and found.target != found.source:
            graph.setdefault(found.source, set()).add(found.target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_the_faces_name_nothing_of_the_store_but_its_door() -> None:
    faces = [found for found in IMPORTS if room_of(found.source) in ("cli", "bridge")]
    assert [str(f) for f in faces if room_of(f.target) == "store" and is_ours(f.target)] == [
        str(f) for f in faces if f.target in STORE_DOORS
    ]


CATCHES_ALL = {
    "bridge.calls": 1,  # the bridge's top handler
    "capture.drain": 1,  # the drain's
    "cli.faults": 1,  # the command line's
    "capture.draining": 2,  # the drain's loop per event
    "capture.page_work": 1,  # the drain's loop per session: one that cannot be told must not stop the others
    "providers.fast": 2,  # whatever a model library raises becomes one of ours
    "providers.folder": 2,  # the same
    "store.checkout": 1,  # dulwich, of a repository that somebody else made
    "store.checkout_history": 1,  # the same
    "store.wiki": 1,  # dulwich raises kinds without a common base for damage; they become one of ours
}
"""Where `except Exception` stands, how often and why."""


def test_whatever_is_raised_is_caught_in_few_places() -> None:
    found: dict[str, int] = {}
    for name, file in MODULES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_broad = isinstance(node, ast.ExceptHandler) and (
                node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception")
            )
            if is_broad:
                place = name.removeprefix("ai_memory.")
                found[place] = found.get(place, 0) + 1
    assert found == CATCHES_ALL


def test_each_foreign_package_has_one_importing_room() -> None:
    strangers = []
    for found in IMPORTS:
        top = found.target.partition(".")[0]
        if is_ours(found.target) or (top in STANDARD_LIBRARY and top not in THIRD_PARTY):
            continue
        place = MODULES[found.source].relative_to(PACKAGE).as_posix()
        if not place.startswith((THIRD_PARTY | OPTIONAL).get(top, ())):
            strangers.append(str(found))
    assert strangers == []


def test_each_foreign_package_of_the_table_is_imported_in_its_room() -> None:
    used = {
        (found.target.partition(".")[0], place)
        for found in IMPORTS
        for place in THIRD_PARTY.get(found.target.partition(".")[0], ())
        if MODULES[found.source].relative_to(PACKAGE).as_posix().startswith(place)
    }
    assert used == {(package, place) for package, places in THIRD_PARTY.items() for place in places}


MODULE_OF = {"python_frontmatter": "frontmatter", "markdown_it_py": "markdown_it", "pyyaml": "yaml"}
"""Modules that are not named like what is installed."""

BROUGHT_ALONG = {"anyio", "mcp_types", "pydantic"}
"""Packages that `mcp` requires and whose values it hands to us."""

PACKAGES_OF_THE_PROJECT = {
    *("typer", "rich", "mcp", "sqlite_utils", "sqlite_vec", "dulwich", "frontmatter", "markdown_it", "platformdirs"),
    *("filelock", "fastembed", "litellm"),
}


def required_modules(requirements: list[str]) -> set[str]:
    """Names that are imported of what is required."""
    names = {re.split(r"[^\w-]", requirement, maxsplit=1)[0].lower().replace("-", "_") for requirement in requirements}
    return {MODULE_OF.get(name, name) for name in names}


def test_what_is_always_installed_is_what_the_program_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert required_modules(project["dependencies"]) == set(THIRD_PARTY) - BROUGHT_ALONG - {"sqlite3"}
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    everything = required_modules(project["dependencies"]) | required_modules(extras)
    assert everything >= PACKAGES_OF_THE_PROJECT


def orphan_texts(tree: ast.Module) -> Iterator[int]:
    """Lines of texts that stand alone and describe nothing: not first in a body, not below a name's value."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        may_begin = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for before, statement in zip([None, *body], body, strict=False):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_text or not isinstance(statement.value.value, str):
                continue
            describes = may_begin if before is None else isinstance(before, ast.Assign | ast.AnnAssign)
            if not describes:
                yield statement.lineno


def test_every_text_in_the_code_describes_what_it_stands_below() -> None:
    files = [*MODULES.values(), *sorted((ROOT / "tests").rglob("*.py"))]
    trees = ((file, ast.parse(file.read_text(encoding="utf-8"))) for file in files)  # one at a time: they are large
    assert [f"{file.relative_to(ROOT)}:{line}" for file, tree in trees for line in orphan_texts(tree)] == []


def test_a_second_text_below_a_name_would_be_found() -> None:
    assert list(orphan_texts(ast.parse('"""Module."""\nA = 1\n"""What."""\n"""Again."""\n'))) == [4]


# ---- what each front door loads


HEAVY = frozenset(
    {"anyio", "asyncio", "dulwich", "email", "filelock", "httpx", "importlib.metadata", "logging", "markdown_it", "mcp"}
    | {"numpy", "platformdirs", "pydantic", "pysqlite3", "rich", "sqlite3", "sqlite_utils", "typer", "urllib.request"}
    | {"yaml"}
)
IN_NO_HOOK = HEAVY | {
    *("dataclasses", "datetime", "hashlib", "inspect", "pathlib", "subprocess", "tomllib", "typing", "uuid")
}


@dataclass(frozen=True)
class FrontDoor:
    """One way in, and the modules that it must not load."""

    name: str
    command: tuple[str, ...]
    never: frozenset[str]
    stdin: str = ""
    before: tuple[str, ...] = ("write-page", "-p", "notes/x.md", "-b", "x", "--workspace", "w", "--project", "p")
    """A command that sets the scene: with no data dir a hook and a search have nothing to load anything for."""


HOOK = ("-I", "-S", str(PACKAGE / "hook.py"), "--data-dir", "{data}", "--agent", "claude-code", "--event")
PROMPT = '{"session_id":"s","cwd":"{data}","hook_event_name":"UserPromptSubmit","prompt":"mend it"}'
START = '{"session_id":"s","cwd":"{data}","hook_event_name":"SessionStart","source":"startup"}'

SEARCH = ("-m", "ai_memory", "search", "x")
NEEDED_TO_SEARCH = {"pysqlite3", "sqlite3", "typer"}

FRONT_DOORS = (
    FrontDoor("hook, one prompt", (*HOOK, "user-prompt"), IN_NO_HOOK, PROMPT),
    FrontDoor("hook, session start", (*HOOK, "session-start"), IN_NO_HOOK, START),
    FrontDoor("--version", ("-m", "ai_memory", "--version"), HEAVY),
    FrontDoor("search", (*SEARCH, "--workspace", "w", "--project", "p"), HEAVY - NEEDED_TO_SEARCH),
    FrontDoor("search, no data dir", SEARCH, HEAVY - NEEDED_TO_SEARCH, before=()),
    FrontDoor("drain, no data dir", ("-m", "ai_memory", "drain"), HEAVY, before=()),
)
"""A row for each front door. Who adds one, adds a row."""


@pytest.mark.parametrize("door", FRONT_DOORS, ids=lambda door: door.name)
def test_a_front_door_loads_nothing_that_it_does_not_need(door: FrontDoor, tmp_path: Path) -> None:
    fill = {"{data}": str(tmp_path / "data")}
    environ = os.environ | {"AI_MEMORY_DATA_DIR": fill["{data}"]}
    if door.before:
        subprocess.run([sys.executable, "-m", "ai_memory", *door.before], env=environ, check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *(filled(word, fill) for word in door.command)],
        input=filled(door.stdin, fill),
        capture_output=True,
        encoding="utf-8",
        env=environ,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE))
    assert done.returncode == 0, done.stderr[-2000:]
    assert any(is_ours(name) for name in loaded), "it loaded nothing of ours"
    assert sorted(name for name in loaded if name in door.never or name.partition(".")[0] in door.never) == []


def filled(text: str, places: dict[str, str]) -> str:
    for place, value in places.items():
        text = text.replace(place, value)
    return text


# ---- what no file may hold, and what no test may touch


MACHINE_PATH = re.compile(
    r"(?<![\w.~$}-])/(?:" + "|".join(("work", "farm")) + r")\b(?!space)|(?<![\w.~$}-])/roo" + r"t/"
)


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_path_of_one_machine() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for file in tracked_files()
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("open('/" + "work/main')", True),
        ("cd /" + "farm", True),
        ("/" + "root/.claude", True),
        ("a/" + "work/b", False),
    ],
)
def test_a_machine_path_would_be_found(text: str, is_found: bool) -> None:
    assert bool(MACHINE_PATH.search(text)) is is_found


WATCHED_RUN = """
import os, runpy, sys
real, words = sys.argv[1], sys.argv[2:]
code = tuple(os.path.realpath(path) for path in {sys.prefix, sys.base_prefix, *sys.path} if path)
touched = []
def watch(event, details):
    if event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "sqlite3.connect"):
        path = details[0]
        if isinstance(path, (str, bytes)):
            path = os.path.realpath(os.path.abspath(os.fsdecode(path)))
            if path.startswith(real + os.sep) and not path.startswith(code):
                touched.append(path)
sys.addaudithook(watch)
sys.argv = ["ai-memory", *words]
try:
    runpy.run_module("ai_memory", run_name="__main__", alter_sys=False)
except SystemExit:
    pass
print("TOUCHED", *touched, file=sys.stderr)
"""


def real_home() -> str:
    pwd = pytest.importorskip("pwd")
    return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)


def test_every_variable_that_leads_home_leads_into_the_scratch_home(scratch_home: Path) -> None:
    from ai_memory.paths import find_data_dir

    assert real_home() != os.path.realpath(scratch_home)
    assert Path("~").expanduser() == Path.home() == scratch_home
    assert find_data_dir(None, os.environ).root.is_relative_to(scratch_home)


@pytest.mark.parametrize("name", [".claude/settings.json", ".codex/config.toml", ".local/share/ai-memory/x"])
def test_a_test_that_opens_settings_of_the_person_who_runs_it_fails(name: str) -> None:
    with pytest.raises(AssertionError, match="a test touches"):
        Path(real_home(), name).read_bytes()
    touched_homes.clear()


@pytest.mark.parametrize("words", [("status",), ("where",), ("write-page", "-p", "notes/a.md", "-b", "text")])
def test_no_command_of_a_test_touches_the_real_home(words: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_RUN, real_home(), *words],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.stderr.splitlines()[-1:] == ["TOUCHED"], done.stderr
