"""Reading pages, and changing named keys of them."""

import subprocess
import sys

import frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.errors import MemoryFault
from ai_memory.model import Tier
from ai_memory.text.frontmatter import read_block, split
from ai_memory.text.page import BadPage, ParsedPage, compose, parse, parse_leniently, splice
from ai_memory.text.simple_yaml import is_plain, read_simple
from ai_memory.text.times import parse_time
from ai_memory.text.yaml_block import read_yaml

# --- parsing ----------------------------------------------------------------------------------------------------


def page(text: str, path: str = "notes/a-note.md") -> ParsedPage:
    return parse(text, path=path)


def test_a_whole_page_is_read() -> None:
    found = page(
        "---\ntitle: My page\nkind: Gotcha\ntier: procedural\ntags: [a, b, a]\nentities: [Big  Thing, x]\n"
        "aliases:\n- old name\npinned: yes\nexpires_at: 2026-11-30\nabstract: One line\n"
        "description: >\n  Two\n  lines\nown: {a: [1, 2.5]}\n---\n# Heading\n\nText\n"
    )
    assert found == ParsedPage(
        frontmatter=found.frontmatter,
        body="# Heading\n\nText\n",
        body_line=17,
        title="My page",
        kind="gotcha",
        tier=Tier.PROCEDURAL,
        tags=("a", "b"),
        entities=("big thing", "x"),
        aliases=("old name",),
        pinned=True,
        expires_at_us=parse_time("2026-12-01") - 1,
        abstract="One line",
        summary="Two lines",
    )
    assert found.frontmatter["own"] == {"a": [1, 2.5]}
    assert found.frontmatter["expires_at"] == "2026-11-30"


@pytest.mark.parametrize(
    ("text", "body", "line", "title"),
    [
        ("plain", "plain", 1, "a-note"),
        ("\ufeffplain", "plain", 1, "a-note"),
        ("---\ntitle: T\n---\nB", "B", 4, "T"),
        ("\ufeff---\r\ntitle: T\r\n---\r\nB\r\n", "B\r\n", 4, "T"),
        ("--- \ntitle: T\n---\t\nB", "B", 4, "T"),
        ("---\n---\nB", "B", 3, "a-note"),
        ("---\n# only a comment\n---\n", "", 4, "a-note"),
        ("---\ntitle: T\n---", "", 4, "T"),
        ("---\ntitle: T\nno end", "---\ntitle: T\nno end", 1, "a-note"),
        ("---\ntitle: T\n----\n", "---\ntitle: T\n----\n", 1, "a-note"),
        (" ---\na: 1\n---\n", " ---\na: 1\n---\n", 1, "a-note"),
        ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n", 1, "a-note"),
        ("----\na: 1\n---\n", "----\na: 1\n---\n", 1, "a-note"),
        ("", "", 1, "a-note"),
        ("---", "---", 1, "a-note"),
    ],
)
def test_a_block_needs_its_first_line_and_a_closing_one(text: str, body: str, line: int, title: str) -> None:
    found = page(text)
    assert (found.body, found.body_line, found.title) == (body, line, title)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# One\n", "One"),
        ("## Two\n\n# *One* `x`\n", "One x"),
        ("```\n# code\n```\n\nTitle\n===\n", "Title"),
        ("> # quoted\n", "a-note"),
        ("#hash\n", "a-note"),
        ("#\n\n# Real", "Real"),
    ],
)
def test_the_title_is_the_first_level_one_heading_else_the_stem(body: str, title: str) -> None:
    assert page(body).title == title
    assert page(f"---\ntitle: '  Own\n\n  words '\n---\n{body}").title == "Own words"
    assert page(f"---\ntitle: 2026\n---\n{body}").title == "2026"


@pytest.mark.parametrize(
    ("path", "kind", "tier", "pinned"),
    [
        ("sessions/2026-11/x.md", "session", Tier.EPISODIC, False),
        ("decisions/x.md", "decision", Tier.SEMANTIC, False),
        ("_slots/now.md", "slot", Tier.SEMANTIC, True),
        ("x.md", "note", Tier.SEMANTIC, False),
    ],
)
def test_the_folder_gives_kind_tier_and_pin(path: str, kind: str, tier: Tier, pinned: bool) -> None:
    found = parse("text", path=path)
    assert (found.kind, found.tier, found.pinned) == (kind, tier, pinned)
    own = parse("---\nkind: rule\ntier: working\npinned: false\n---\n", path=path)
    assert (own.kind, own.tier, own.pinned) == ("rule", Tier.WORKING, False)


@pytest.mark.parametrize(
    ("block", "line", "word"),
    [
        ("title: [a", 3, "broken YAML"),
        ("ok: 1\ntitle: a: b", 3, "mapping values"),
        ("ok: 1\n\tx: 1", 3, "tab"),
        ("a: &x 1", 2, "anchors"),
        ("a: 1\nb: *x", 3, "aliases"),
        ("a: !!python/object/apply:os.system ['true']", 2, "tags"),
        ("a: !mine x", 2, "tags"),
        ("a: 1\n'a': 2", 3, "twice"),
        ("a:\n  b: 1\n  b: 2", 4, "twice"),
        ("- a\n- b", 2, "no list of keys"),
        ("just words", 2, "no list of keys"),
        ("<<: {a: 1}", 2, "merge"),
        ("? [a]\n: b", 2, "key"),
        ("a: " + "[" * 33 + "]" * 33, 2, "deeper than 32"),
        ("a: " + "[" * 30_000, 2, "nest"),
        ("a: 1\nb: \x07", 3, "control"),
        ("a: 1\n...\nb: 1", 4, "broken YAML"),
        ("a: x\nb: \ud800", 3, "surrogate"),
        ("ok: 1\ntier: forever", 3, "tier"),
        ("ok: 1\nexpires_at: soon", 3, "not a time"),
        ("pinned: maybe", 2, "true or false"),
        ("x: 1\ntitle: [a]", 3, "text is expected"),
        ("tags: {a: 1}", 2, "list is expected"),
    ],
)
def test_a_bad_block_names_file_line_and_what_to_do(block: str, line: int, word: str) -> None:
    with pytest.raises(BadPage) as refusal:
        page(f"---\n{block}\n---\nbody\n")
    assert refusal.value.message.startswith(f"notes/a-note.md, line {line}: ")
    assert word in refusal.value.message
    assert "\n" not in refusal.value.message
    assert refusal.value.hint
    lenient = parse_leniently(f"---\n{block}\n---\nbody\n", path="notes/a-note.md")
    assert lenient.problems == (refusal.value.message,)
    assert "body" in lenient.body


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: My page\ntags: [a, b]\n---\n# Heading\n\nText",
        "---\nkind: gotcha\nown: {a: [1, 2.5]}\nlong: >\n  Two\n  lines\n---\n\nText",
        "no block\n\n---\n\nonly a rule",
        "---\nnever closed: yes",
        "---\n\"quoted\": 'it''s'\nflag: true\nnothing: null\n---\nText\n---\nmore",
    ],
)
def test_a_page_is_taken_apart_as_python_frontmatter_does(text: str) -> None:
    keys, content = frontmatter.parse(text)
    found = page(text)
    assert (found.frontmatter, found.body.strip()) == (keys, content)


def test_an_alias_bomb_is_refused_at_once() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [*{old}, *{old}]\n" for old, name in zip("abcd", "bcde", strict=True)
    )
    with pytest.raises(BadPage, match="line 2: anchors"):
        page(f"---\n{bomb}---\n")


def test_a_block_over_64_kib_is_refused_with_its_size() -> None:
    block = "a: " + "x" * 65_532 + "\n"
    assert page(f"---\n{block}---\n").frontmatter
    with pytest.raises(BadPage, match="65,537 bytes, at most 65,536"):
        page(f"---\n{block[:-1]}x\n---\n")


def test_no_value_is_a_date_and_odd_numbers_are_text() -> None:
    block = (
        "a: 2026-11-30\nb: 2026-11-30 08:00:00\nc: [.inf, .nan]\nd: 0x1f\ne: " + "9" * 5000 + "\nf: =\n1: x\ntrue: y\n"
    )
    found = read_block(block, path="x")
    assert found == {
        "a": "2026-11-30",
        "b": "2026-11-30 08:00:00",
        "c": [".inf", ".nan"],
        "d": 31,
        "e": "9" * 5000,
        "f": "=",
        "1": "x",
        "true": "y",
    }


def test_yaml_is_imported_only_for_blocks_that_need_it() -> None:
    code = (
        "import sys; from ai_memory.text.page import parse\n"
        "parse('---\\ntitle: A b\\ntags: [x, y]\\nn: 3\\n---\\n', path='a.md'); parse('# x', path='a.md')\n"
        "assert 'yaml' not in sys.modules and 'markdown_it' not in sys.modules\n"
        "parse('---\\ntitle: {a: 1}\\n---\\n'.replace('title', 'own'), path='a.md')\n"
        "assert 'yaml' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- the fast reader is YAML ------------------------------------------------------------------------------------

SCALARS = [
    "a",
    "two words",
    "yes",
    "No",
    "null",
    "~",
    "12",
    "007",
    "1.5",
    "0x1",
    "1_000",
    "2026-11-30",
    "12:30:45",
    "-",
]
SCALARS += [
    "2026-11-30T08:00:00Z",
    '"q: #"',
    "'s'",
    '"a" # c',
    "a #c",
    "a#c",
    "a: b",
    "a:b",
    "http://x/y?z=1",
    "[a, b]",
]
SCALARS += [
    "[]",
    "[ a , 1, true ]",
    "[a, ]",
    "[a",
    "{a: 1}",
    "|",
    "> ",
    "&x y",
    "*x",
    "!t",
    "%x",
    "@x",
    "`x",
    "a,b",
    "a, b",
]
SCALARS += [
    "[x y, 'a, b']",
    "a]",
    "a}",
    "- b",
    "? a",
    "a?",
    "=",
    "<<",
    "e1",
    "a 'b'",
    'a "b"',
    "it's",
    "ü",
    "a\tb",
    "y",
    "a -b",
]
SCALARS += [
    "a - b",
    "a ! b",
    "a & b",
    "a * b",
    "a% b",
    "(a)",
    "a --- b",
    "--- a",
    "a |",
    "inf",
    ".inf",
    "x.y",
    "[a b: c]",
    "''",
]
LINE_PARTS = st.tuples(
    st.sampled_from(["", " ", "  ", "- ", "  - ", "k: ", "k2: ", "key-3:", "on: ", "a b: ", "'q': ", "# ", "K:  "]),
    st.sampled_from(["", *SCALARS]),
    st.sampled_from(["", " "]),
).map("".join)
RAW = st.text(alphabet="ab1:-#[]{},'\" \n\t|>&*!%@`?~=.<", max_size=30)


def slow(block: str) -> object:
    try:
        return read_yaml(block, path="x")
    except BadPage:
        return "refused"


@settings(max_examples=200)
@given(st.lists(LINE_PARTS, max_size=6).map("\n".join))
def test_the_fast_reader_gives_what_yaml_gives(block: str) -> None:
    fast = read_simple(block)
    if fast is not None:
        assert repr(slow(block)) == repr(fast)


@settings(max_examples=200)
@given(st.sampled_from(["k: ", "k:\n- ", "k: [", "k:\n  "]), RAW, st.sampled_from(["", "]", "\nz: 1", "\r\nz: 1"]))
def test_the_fast_reader_gives_what_yaml_gives_for_raw_text(start: str, raw: str, end: str) -> None:
    block = start + raw + end
    fast = read_simple(block)
    if fast is not None:
        assert repr(slow(block)) == repr(fast)


@pytest.mark.parametrize("value", SCALARS)
@pytest.mark.parametrize("form", ["k: {}", "k:\n- {}\n", "k:\n  - {}\n  - b\nz: 1", "k: [{}]", "k: [b, {}]", "k: {}\n"])
def test_every_odd_scalar_is_read_alike_or_left_to_yaml(value: str, form: str) -> None:
    block = form.replace("{}", value)
    fast = read_simple(block)
    assert fast is None or repr(slow(block)) == repr(fast)


def test_the_fast_reader_reads_what_we_write_ourselves() -> None:
    block = (
        "title: A note on locks\ntags: [a, b-c]\nkind: note\npinned: true\nn: 12\nat: 2026-11-30T08:00:00Z\nx:\n  - y\n"
    )
    assert read_simple(block) == slow(block) != "refused"


@given(st.text(max_size=20))
def test_plain_text_is_read_back_as_itself(text: str) -> None:
    if is_plain(text):
        assert slow(f"k: {text}") == {"k": text}
        assert slow(f"k: [{text}, {text}]") == {"k": [text, text]}


# --- splicing ---------------------------------------------------------------------------------------------------

PERSON = (
    "\ufeff---\r\n# mine\r\ntitle:   'Old'   # why\r\ntags: # list\r\n- a # first\r\n- b\r\n\r\n# about own\r\n"
    'own: |\r\n  # not a comment\r\n  text\r\n\r\nflow: [ x,   y ]  # f\r\n"quoted": {a: 1}\r\n'
    "empty:\r\n# end\r\n---\r\nBody"
)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"title": "New: one"}, "'Old'", '"New: one"'),
        ({"title": "New"}, "'Old'", "New"),
        ({"tags": ["c", "d e"]}, "- a # first\r\n- b\r\n", "- c\r\n- d e\r\n"),
        ({"tags": "one"}, "tags: # list\r\n- a # first\r\n- b\r\n", "tags: one # list\r\n"),
        ({"tags": None}, "tags: # list\r\n- a # first\r\n- b\r\n", ""),
        ({"flow": ["z"]}, "[ x,   y ]", "[z]"),
        ({"flow": None}, "flow: [ x,   y ]  # f\r\n", ""),
        ({"own": "short"}, "own: |\r\n  # not a comment\r\n  text\r\n", "own: short\r\n"),
        ({"own": None}, "own: |\r\n  # not a comment\r\n  text\r\n", ""),
        ({"quoted": 5}, "{a: 1}", "5"),
        ({"quoted": {"b": [True, "x"]}}, '"quoted": {a: 1}\r\n', "quoted:\r\n  b: [true, x]\r\n"),
        ({"empty": "full"}, "empty:\r\n", "empty: full\r\n"),
        ({"empty": None}, "empty:\r\n", ""),
        ({"added": True, "more": 3}, "# end\r\n", "# end\r\nadded: true\r\nmore: 3\r\n"),
        ({"title": "Old", "absent": None, "empty": ""}, "empty:\r\n", 'empty: ""\r\n'),
        ({}, "", ""),
        ({"title": "Old", "tags": ["a", "b"], "own": "# not a comment\ntext\n"}, "", ""),
    ],
)
def test_only_the_named_keys_of_a_persons_block_change(changes: dict[str, object], old: str, new: str) -> None:
    assert splice(PERSON, changes, path="x") == PERSON.replace(old, new, 1)


def test_a_page_without_a_block_gains_one_and_loses_it_again() -> None:
    for body in ("text", "\ufefftext\r\nmore", "", "---\nno end\n", "---\n"):
        longer = splice(body, {"title": "T", "x": None}, path="x")
        assert parse(longer, path="x").title == "T"
        assert longer.startswith("\ufeff") == body.startswith("\ufeff")
        assert splice(longer, {"title": None}, path="x") == body


def test_an_empty_block_stays_where_its_removal_would_make_the_body_one() -> None:
    body = "---\na: 1\n---\n"
    assert splice(f"---\nx: 1\n---\n{body}", {"x": None}, path="x") == f"---\n---\n{body}"
    assert parse(compose({}, body), path="x").body == body


def test_comments_keep_a_block_whose_last_key_goes() -> None:
    assert splice("---\n# c\na: 1\n---\nb", {"a": None}, path="x") == "---\n# c\n---\nb"


def test_an_indented_block_keeps_its_indent() -> None:
    assert splice("---\n  a: 1\n  b: 2\n---\n", {"a": None, "c": 3}, path="x") == "---\n  b: 2\n  c: 3\n---\n"


def test_what_cannot_be_changed_safely_is_refused_by_name() -> None:
    for text in ("---\n{a: 1}\n---\n", "---\na: [\n---\n"):
        with pytest.raises(BadPage, match=r"x\.md, line"):
            splice(text, {"a": 2}, path="x.md")
    with pytest.raises(MemoryFault, match="surrogate"):
        splice("t", {"title": "\ud800"}, path="x.md")


VALUES = st.recursive(
    st.one_of(st.text(max_size=12), st.sampled_from(["yes", "2026-11-30", "1", "a: b", "# x", "- x", "\x85", "\u2028"]))
    .filter(lambda text: not any(0xD800 <= ord(character) < 0xE000 for character in text))
    .map(str)
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.lists(st.text(alphabet="ab ,:#'\"\n-é", max_size=8), max_size=4),
    lambda inner: st.dictionaries(st.text(alphabet="ab: é", min_size=1, max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["title", "tags", "own", "flow", "quoted", "empty", "new", "two words", "é"])
BLOCK_LINES = [
    "title: Old # c\n",
    "tags:\n  - a # c\n\n  - b\n",
    "own: |+\n  text\n\n",
    "flow: [x,\n  y] # c\n",
    '"quoted": "a\n  b"\n',
    "empty:\n",
    "? new\n: x\n",
    "# comment\n",
    "\n",
    "two words: {a: 1}\n",
]
PAGES = st.tuples(
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.sampled_from(BLOCK_LINES), max_size=6).map(lambda lines: "".join(dict.fromkeys(lines))),
    st.sampled_from(["", "body", "# b\n\ntext\n", "---\nx: 1\n---\n"]),
    st.booleans(),
    st.booleans(),
)


def built(parts: tuple[str, str, str, bool, bool]) -> str:
    bom, block, body, has_block, is_crlf = parts
    text = bom + (f"---\n{block}---\n" if has_block else "") + body
    return text.replace("\n", "\r\n") if is_crlf else text


@settings(max_examples=200)
@given(PAGES.map(built), st.dictionaries(KEYS, st.none() | VALUES, max_size=4))
def test_a_splice_sets_its_keys_keeps_the_others_and_the_body(text: str, changes: dict[str, object]) -> None:
    before = parse_leniently(text, path="x")
    try:
        new = splice(text, changes, path="x")
    except BadPage as fault:
        assert "safely" in fault.message or before.problems
        return
    found = read_block(new[split(new).block_start : split(new).block_end], path="x")
    expected = {key: value for key, value in {**before.frontmatter, **changes}.items() if value is not None}
    assert {key: value for key, value in found.items() if value is not None} == expected
    assert new[split(new).body_start :] == before.body
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    assert splice(new, changes, path="x") == new
    if "\r\n" in text:
        assert new.count("\n") == new.count("\r\n")


@settings(max_examples=150)
@given(PAGES.map(built), KEYS, VALUES)
def test_the_lines_of_other_keys_stay_byte_for_byte(text: str, key: str, value: object) -> None:
    try:
        new = splice(text, {key: value}, path="x")
    except BadPage:
        return
    for line in BLOCK_LINES:
        name = line.split(":")[0].strip("?\"' \n")
        whole = line.replace("\n", "\r\n") if "\r\n" in text else line
        if whole.strip() and name != key and "new" not in (name, key):
            assert new.count(whole) >= min(text.count(whole), 1)


@given(st.dictionaries(st.text(alphabet="ab:# é", min_size=1, max_size=5), VALUES, max_size=4), st.text(max_size=40))
def test_what_is_composed_is_read_back(keys: dict[str, object], body: str) -> None:
    if any(0xD800 <= ord(character) < 0xE000 for character in body) or body.startswith("\ufeff"):
        return
    found = parse_leniently(compose(keys, body), path="x")
    assert found.frontmatter == keys
    assert found.body == body


def test_the_proof_refuses_a_block_whose_values_would_change() -> None:
    text = "---\na: |+\n  x\nb: 1\n\nc: 2\n---\n"
    with pytest.raises(BadPage, match="cannot be changed safely"):
        splice(text, {"b": None}, path="x")


@given(st.text(alphabet="-\r\n \t:a'\"[]{}#|>&*!\ufeff", max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        found = page(text)
    except BadPage as fault:
        assert "\n" not in fault.message
        found = parse_leniently(text, path="x")
    assert text.endswith(found.body)
    if found.body_line > 1 or not split(text).has_block:
        assert text.count("\n") - found.body.count("\n") == found.body_line - 1 or not found.body
