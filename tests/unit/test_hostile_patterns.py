"""No regular expression of ours takes for ever on a text that somebody made for that."""

import ast
import importlib
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # the parser that `re` itself takes
from typing import Any

import pytest

import ai_memory

FUNCTIONS = {"compile", "search", "match", "fullmatch", "sub", "subn", "finditer", "findall", "split"}
LENGTHS = (*range(12, 29), 200, 800, 3_000)
"""Exponential ones show at 28 already, cubic ones at 800."""
MOST_S = 1.0
"""CPU of one search. A quadratic one takes 0.1 s of 3,000 signs, a cubic one 20 s (two busy cores, 2026-11-30)."""
PER_BRANCH = 12


@cache
def modules() -> dict[str, Any]:
    """Those that take patterns: some of the others run when they are imported."""
    root = Path(ai_memory.__file__).parent
    paths = [path for path in root.rglob("*.py") if re.search(r"^(?:import re|from re)\b", path.read_text(), re.M)]
    names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in paths]
    return {name: importlib.import_module(name.removesuffix(".__init__")) for name in sorted(names)}


def calls(name: str) -> Iterator[ast.Call]:
    """Every call in the module that takes a pattern."""
    path = modules()[name].__file__
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in FUNCTIONS
        ):
            yield node


def anchored(name: str) -> set[int]:
    """Lines of patterns that are asked at one place of a text alone, never through the whole of it."""
    source = Path(modules()[name].__file__).read_text(encoding="utf-8")
    lines = {call.lineno for call in calls(name) if call.func.attr in ("match", "fullmatch")}  # type: ignore[attr-defined]
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id[0] == "_":
            uses = set(re.findall(rf"\b{node.targets[0].id}\.(\w+)\(", source))
            if uses and uses <= {"match", "fullmatch"}:
                lines.add(node.value.lineno)
    return lines


def evaluated(name: str, node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), name, "eval"), vars(modules()[name]))


def flags_of(name: str, call: ast.Call) -> int:
    given = [word.value for word in call.keywords if word.arg == "flags"]
    if call.func.attr == "compile" and len(call.args) > 1:  # type: ignore[attr-defined]
        given.append(call.args[1])
    try:
        return sum(int(evaluated(name, one)) for one in given)
    except NameError:
        return int(re.IGNORECASE)  # chosen as it runs: that one takes longer


LONGEST = {"ai_memory.text.sync_copies": 255}
"""Modules that look at names of files alone, which no disk lets grow longer."""

Asked = tuple[str | bytes, int, bool]

MADE_OF_WORDS = {
    "ai_memory.operations.similar": "names, escaped",
    "ai_memory.scope.repository": "a ref, escaped",
    "ai_memory.search.language": "letters of one class",
    "ai_memory.search.when": "words",
    "ai_memory.settings": "what a person set: ai_memory.patterns looks at it first",
    "ai_memory.store.rewriting": "paths, escaped",
    "ai_memory.text.record_mapping": "what a person wrote into a mapping: ai_memory.patterns looks at it first",
}
"""Modules with a call whose pattern is made of words as it runs, and what it is made of."""
SHAPED = {"ai_memory.scrub": 0, "ai_memory.text.declarations": int(re.IGNORECASE)}
"""Modules that begin so keep patterns as texts in tables, and compile each with these flags when it is needed."""


@cache
def patterns() -> dict[Asked, str]:
    """Every pattern with its flags and whether it is asked at one place alone, and the module that has it."""
    found: dict[Asked, str] = {}
    for name in modules():
        at_one_place = anchored(name)
        shaped = [flags for beginning, flags in SHAPED.items() if name.startswith(beginning)]
        for call in calls(name):
            try:
                pattern = evaluated(name, call.args[0])
            except NameError:
                assert name in MADE_OF_WORDS or shaped, f"{name}:{call.lineno}"
                continue
            if isinstance(pattern, str | bytes):
                found[pattern, flags_of(name, call), call.lineno in at_one_place] = name
        for flags in shaped:
            texts = texts_in(list(vars(modules()[name]).values()))
            found |= dict.fromkeys(((one, flags, False) for one in texts), name)
    return found


def texts_in(values: object) -> Iterator[str]:
    """Texts in tables that are patterns: with a class or a group, and compiling."""
    if isinstance(values, str):
        if ("[" in values or "(?" in values or "\\" in values) and "\n" not in values:
            try:
                re.compile(values)
            except re.error:
                return
            yield values
    elif isinstance(values, dict):
        yield from texts_in([*values.keys(), *values.values()])
    elif isinstance(values, list | tuple | set | frozenset):
        for one in values:
            yield from texts_in(one)


# --- texts that harm ---


def sample(tree: Any) -> str:
    """A text that the tree takes, or nearly so."""
    return "".join(sample_of(kind, what) for kind, what in tree)


def sample_of(kind: Any, what: Any) -> str:
    if kind is _constants.LITERAL:
        return chr(what)
    if kind is _constants.IN:
        return sign_in(what)
    if kind is _constants.ANY:
        return "x"
    if kind is _constants.BRANCH:
        return sample(what[1][0])
    if kind is _constants.SUBPATTERN:
        return sample(what[-1])
    if kind is _constants.ATOMIC_GROUP:
        return sample(what)
    if kind in REPEATS:
        return sample(what[2]) * max(1, what[0])
    if kind is _constants.NOT_LITERAL:
        return "x" if chr(what) != "x" else "y"
    return ""


REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
TRIED = "a0 -_./\\:=\"'\n\t,<>[](){}|*#@+&%;~^$?!éа中Z"


def sign_in(members: list[tuple[Any, Any]]) -> str:
    """One sign that the class takes."""
    return signs_in(members)[0]


def signs_in(members: list[tuple[Any, Any]]) -> list[str]:
    """A few signs that the class takes, of different kinds."""
    of = re.compile(f"[{''.join(map(spelled, members))}]")
    found = [sign for sign in TRIED if of.match(sign)]
    found += [chr(what) for kind, what in members if kind is _constants.LITERAL]
    found += [chr(what[0]) for kind, what in members if kind is _constants.RANGE]
    return [sign for sign in dict.fromkeys(found) if of.match(sign)][:PER_BRANCH] or ["x"]


CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d", _constants.CATEGORY_NOT_DIGIT: r"\D", _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S", _constants.CATEGORY_WORD: r"\w", _constants.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def spelled(member: tuple[Any, Any]) -> str:
    kind, what = member
    if kind is _constants.NEGATE:
        return "^"
    if kind is _constants.LITERAL:
        return re.escape(chr(what))
    if kind is _constants.RANGE:
        return f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
    return CATEGORIES[what]


def pieces(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What stands before each repetition, and what is repeated there: one sign of each kind, and a sample of it."""
    for kind, what in tree:
        if kind in REPEATS:
            inner = what[2]
            yield before, sample(inner)
            if len(inner) == 1 and inner[0][0] is _constants.IN:
                yield from ((before, sign) for sign in signs_in(inner[0][1]))
            yield from pieces(inner, before)
        elif kind is _constants.SUBPATTERN:
            yield from pieces(what[-1], before)
        elif kind is _constants.ATOMIC_GROUP:
            yield from pieces(what, before)
        elif kind is _constants.BRANCH:
            for branch in what[1]:
                yield from pieces(branch, before)
        elif kind in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from pieces(what[1], before)
        before += sample_of(kind, what)


def hostile(pattern: str | bytes, flags: int) -> list[tuple[str, str]]:
    """Beginnings and what is repeated after them, each once."""
    tree = _parser.parse(pattern, flags)
    whole = sample(tree)
    found = [(before, piece) for before, piece in pieces(tree) if piece]
    begun = [("", before) for before, _ in found if before]
    return list(dict.fromkeys([*found, *begun, ("", whole or "a")]))


def slow(
    pattern: str | bytes, flags: int, at_one_place: bool = False, *, longest: int = LENGTHS[-1], most_s: float = MOST_S
) -> str:
    """The text on which the pattern takes too long, told in short; nothing where there is none."""
    compiled: re.Pattern[Any] = re.compile(pattern, flags)
    for before, piece in hostile(pattern, flags):
        for length in (one for one in LENGTHS if one <= longest):
            text: Any = before + piece * (length // len(piece) + 1) + "\0"
            if isinstance(pattern, bytes):
                text = text.encode("latin-1", "replace")
            begun = time.process_time()
            (compiled.match if at_one_place else compiled.search)(text)
            took_s = time.process_time() - begun
            if took_s > most_s:
                return f"{took_s:.1f} s on {before!r} + {length} of {piece!r}"
    return ""


def test_the_search_finds_what_takes_for_ever() -> None:
    assert slow(r"(?:a+)+b", 0, most_s=0.1)
    assert slow(r"^(\w+\s?)*$", 0, most_s=0.1)
    assert not slow(r"x(?:[a-z]++)*!", 0)


def test_every_pattern_is_found_that_is_written_in_the_code() -> None:
    found = patterns()
    assert len(found) >= 300
    assert {name.split(".")[1] for name in found.values()} >= {"text", "store", "search", "capture", "scrub_web"}


@pytest.mark.parametrize("part", range(8))
def test_no_pattern_takes_for_ever_on_a_text_made_against_it(part: int) -> None:
    for asked, name in list(patterns().items())[part::8]:
        assert slow(*asked, longest=LONGEST.get(name, LENGTHS[-1])) == "", (name, asked)
