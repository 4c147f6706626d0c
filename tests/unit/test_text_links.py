"""Blocks, code spans and links; markdown-it-py is the oracle for what is code and what is a link."""

import posixpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ai_memory.model import PageRef
from ai_memory.text.inline import Form, scan_inline
from ai_memory.text.links import (
    INVERSE_NAMES,
    LINK_KINDS,
    MAX_LINKS,
    Link,
    inverse_name,
    links,
    rewrite_links,
    rewrite_relation,
    unknown_kinds,
)
from ai_memory.text.outline import Leaf, outline

AT = PageRef("work", "api", "notes/deep/here.md")
ORACLE = MarkdownIt("commonmark")
BLOCK_NAMES = {Leaf.FENCE: "fence", Leaf.CODE: "code_block", Leaf.HTML: "html_block", Leaf.RULE: "hr"}


def ref(path: str, project: str = "api", workspace: str = "work") -> PageRef:
    return PageRef(workspace, project, path)


def targets(body: str, at: PageRef = AT) -> list[str]:
    return [str(link.ref) for link in links(body, at=at)]


# --- the oracle ------------------------------------------------------------------------------------------------


def inner(tokens: list[Token] | None) -> list[Token]:
    return [one for token in tokens or [] for one in (token, *inner(token.children))]


def theirs(text: str) -> list[tuple[object, ...]]:
    """(block or code span or link, …) of a text as markdown-it-py reads it."""
    found: list[tuple[object, ...]] = []
    for token in ORACLE.parse(text):
        line = token.map[0] if token.map else -1
        if token.type in BLOCK_NAMES.values():
            found.append((token.type, line))
        elif token.type == "heading_open":
            found.append(("heading", int(token.tag[1]), line))
        elif token.type == "inline":
            children = inner(token.children)
            found += sorted(("code", " ".join(one.content.split())) for one in children if one.type == "code_inline")
            found += sorted(
                ("link", one.attrs["href"]) for one in children if one.type == "link_open" and one.info != "auto"
            )
    return found


def ours(text: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for block in outline(text):
        if block.kind in BLOCK_NAMES:
            found.append((BLOCK_NAMES[block.kind], block.first))
            continue
        if block.kind is Leaf.HEADING:
            found.append(("heading", block.level, block.first))
        content = block.text(text).rstrip(" \t")
        inline = scan_inline(content)
        found += sorted(("code", " ".join(content[start:end].strip("`").split())) for start, end in inline.code)
        found += sorted(("link", ORACLE.normalizeLink(one.text)) for one in inline.targets if one.form is Form.MARKDOWN)
    return found


PIECES = [
    "a",
    "b ",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "`",
    "``",
    "```",
    "~~~",
    "    ",
    "  ",
    " ",
    "- ",
    "1. ",
    "2) ",
    "> ",
    ">",
]
PIECES += ["# ", "## ", "=", "* ", "<div>", "</div>", "<pre>", "</pre>", "<b>", "[a](b)", "[", "](c)", "](<d e>)", "("]
PIECES += ["\\", "![", "*", "_", '<a b="`">', "<http://x>", ' "t")', "](f (g) h", "<i", "<!-- x", " y -->"]
QUIETER = [
    "a",
    "word ",
    "\n",
    "\n",
    "\n\n",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "    ",
    "  ",
    "- ",
    "1. ",
    "> ",
    "[a](b)",
    "# ",
]


CONTAINERS = ("- ", "1. ", "2) ", "> ", ">", "* ")
FLAT = [piece for piece in PIECES if piece not in CONTAINERS]


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.sampled_from(FLAT), max_size=14).map("".join))
def test_blocks_code_and_links_beside_html_are_those_of_markdown_it(text: str) -> None:
    """Outside of lists and quotes: inside them markdown-it lets HTML end a lazy paragraph, the specification not."""
    assert ours(text) == theirs(text)


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.sampled_from([piece for piece in PIECES if "<" not in piece]), max_size=14).map("".join))
def test_blocks_code_and_links_without_html_are_exactly_those_of_markdown_it(text: str) -> None:
    assert ours(text) == theirs(text)


@settings(max_examples=150, derandomize=True)
@given(st.lists(st.sampled_from(QUIETER), max_size=50).map("".join))
def test_longer_pages_agree_too(text: str) -> None:
    assert ours(text) == theirs(text)


@pytest.mark.parametrize(
    "text",
    [
        "- ```\n  [x](y)\n  ```\n[a](b)\n",
        "```\n    ```\n[a](b)\n",
        "> ```\n> [x](y)\n[a](b)\n",
        "1. a\n\n       [x](y)\n",
        "a\n    [x](y)\n",
        "``` `\n[a](b)\n```\n",
        "~~~ `\n[a](b)\n~~~\n",
        "````\n```\n[a](b)\n````\n",
        "`` ` `` [a](b) `c`\n",
        "\\`[a](b)\\`\n",
        "[a [b](c) d](e)\n",
        "[![i](p)](q)\n",
        "<pre>\n[a](b)\n\n[a](b)\n</pre>\n[c](d)\n",
        "<!-- [a](b)\n\n--> x\n\n[c](d)",
        "<div>\n[a](b)\n\n[c](d)\n</div>",
        "a `b\n> c`\n",
        "-\n\n  ```\n[a](b)",
        "Title\n===\n\nb\n---\n***\n# x #\n#no\n",
        "\t[a](b)\n-\t[a](b)\n",
        "[a]( <b c> 'd' ) [a](b \"c\") [a](b(c)d) [a](b c)",
    ],
)
def test_known_hard_cases_agree(text: str) -> None:
    assert ours(text) == theirs(text)


def test_blocks_name_their_lines_and_the_bytes_of_their_text() -> None:
    body = "para\r\n  two\r\n\r\n> # Head #\r\n\r\n```\r\nx\r\n```"
    blocks = [(block.kind, block.first, block.last, block.depth, block.text(body)) for block in outline(body)]
    assert blocks == [
        (Leaf.PARAGRAPH, 0, 1, 0, "para\ntwo"),
        (Leaf.HEADING, 3, 3, 1, "Head"),
        (Leaf.FENCE, 5, 7, 0, ""),
    ]


# --- links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a/b]]", "work/api:a/b.md"),
        ("[[a/b.md|label]]", "work/api:a/b.md"),
        ("[[a/b#part]]", "work/api:a/b.md"),
        ("[[web:x]]", "work/web:x.md"),
        ("[[home/web:x|l]]", "home/web:x.md"),
        ("[[_global:x]]", "default/_global:x.md"),
        ("[[home/_global:x]]", "home/_global:x.md"),
        ("[[/a]]", "work/api:a.md"),
        ("![[a]]", "work/api:a.md"),
        ("| [[a\\|b]] |", "work/api:a.md"),
        ("[[v1.2]]", "work/api:v1.2.md"),
        ("[l](x.md)", "work/api:notes/deep/x.md"),
        ("[l](../x.md#a)", "work/api:notes/x.md"),
        ("[l](./x)", "work/api:notes/deep/x.md"),
        ("[l](../../../web/y.md)", "work/web:y.md"),
        ("[l](/x.md?q=1)", "work/api:x.md"),
        ("[l](a%20b.md)", "work/api:notes/deep/a b.md"),
        ("[l](<a b.md> 'title')", "work/api:notes/deep/a b.md"),
        ("[l][r]\n\n[r]: ../x.md", "work/api:notes/x.md"),
        ("- item\n  > [[q]]", "work/api:q.md"),
        ("# [[h]]", "work/api:h.md"),
        ("[[cafe\u0301]]", "work/api:caf\u00e9.md"),
    ],
)
def test_every_form_of_link_is_found(text: str, expected: str) -> None:
    assert targets(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "[l](http://x.org/a.md)",
        "[l](mailto:a@b.c)",
        "[l](//x/y.md)",
        "[l](#a)",
        "![l](x.md)",
        "![[p.png]]",
        "[[p.png]]",
        "[l](p.pdf)",
        "[[a\\b]]",
        "[l](a\\b.md)",
        "[[]]",
        "[[ ]]",
        "[[#a]]",
        "[l]()",
        "[[http://x/y]]",
        "[[mailto:x]]",
        "[[Not a scope: x]]",
        "[[../../x]]",
        "[l](../../../../../x.md)",
        "[[a\nb]]",
        "\\[[a]]",
        "`[[a]]`",
        "``[[a]]``",
        "```\n[[a]]\n```",
        "~~~\n[l](x.md)\n~~~",
        "    [[a]]",
        "<!-- [[a]] -->",
        "[^1]: x",
        "[[.hidden/x]]",
        "[l](x/)",
        "[[" + "a" * 600 + "]]",
        "- ```\n  [[a]]\n  ```",
        "> ~~~\n> [[a]]",
    ],
)
def test_what_is_no_link_to_a_page_is_left_out(text: str) -> None:
    assert targets(text) == []


def test_targets_come_once_in_order_and_relations_first() -> None:
    found = links(
        "[[b]] [[a]] [[b|again]] [x](/a.md)", at=AT, relations={"fixes": ["a", "[[web:c|C]]"], "Depends-On": "d"}
    )
    assert found == [
        Link("work", "api", "a.md", "fixes"),
        Link("work", "web", "c.md", "fixes"),
        Link("work", "api", "d.md", "depends_on"),
        Link("work", "api", "b.md"),
        Link("work", "api", "a.md"),
    ]


def test_unknown_relations_are_kept_and_reported() -> None:
    relations = {"inspired by": ["a"], "causes": [["b"]], "fixes": [1, None, {"x": 1}]}
    assert [(link.kind, link.path) for link in links("", at=AT, relations=relations)] == [
        ("inspired_by", "a.md"),
        ("causes", "b.md"),
    ]
    assert unknown_kinds(relations) == ["inspired_by"]
    assert unknown_kinds("nonsense") == [] == links("", at=AT, relations="nonsense")
    assert inverse_name("inspired_by") == "inspired_by of"


def test_every_kind_has_an_inverse_name_of_its_own() -> None:
    assert len(set(INVERSE_NAMES.values())) == len(LINK_KINDS) == 9


def test_the_number_of_links_is_bounded() -> None:
    assert len(links(" ".join(f"[[p{n}]]" for n in range(5000)), at=AT)) == MAX_LINKS


@given(st.text(alphabet="[]()|#:/.`\\<>!\n ab%_", max_size=80))
def test_any_text_gives_only_safe_targets(text: str) -> None:
    for link in links(text, at=AT):
        assert link.path.endswith(".md")
        assert not link.path.startswith(("/", "."))
        assert ".." not in link.path.split("/")
        assert "\\" not in link.path


# --- rewriting --------------------------------------------------------------------------------------------------

MOVED = {ref("a.md"): ref("new/b.md"), ref("notes/x.md"): ref("y.md", "web")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[a]]", "[[new/b]]"),
        ("[[a.md|the *a*]]", "[[new/b.md|the *a*]]"),
        ("![[a#part|l]]", "![[new/b#part|l]]"),
        ("[[api:a]] [[work/api:a]]", "[[new/b]] [[new/b]]"),
        ("[l](../../a.md?q#p 'title')", "[l](../../new/b.md?q#p 'title')"),
        ("[l](/a)", "[l](/new/b)"),
        ("[l](../x.md)", "[l](../../../web/y.md)"),
        ("[[notes/x]]", "[[web:y]]"),
        ("[r]: ../../a.md\n", "[r]: ../../new/b.md\n"),
        ("`[[a]]` [[b]] [l](a.md)", "`[[a]]` [[b]] [l](a.md)"),
        ("> - [[a]]\r\n>   [[a]]\r\n", "> - [[new/b]]\r\n>   [[new/b]]\r\n"),
    ],
)
def test_only_targets_that_moved_change(old: str, new: str) -> None:
    assert rewrite_links(old, at=AT, moved=MOVED, now_at=AT) == new


def test_the_relative_links_of_a_page_that_moves_follow_it() -> None:
    body = "[l](x.md) [m](../y.md#z) [[root]] [self](here.md) [u](http://x) ![i](p.png)"
    moved = rewrite_links(body, at=AT, moved={}, now_at=ref("top.md"))
    assert moved == "[l](notes/deep/x.md) [m](notes/y.md#z) [[root]] [self](top.md) [u](http://x) ![i](p.png)"


def test_a_page_that_leaves_its_project_names_the_old_one() -> None:
    body = "[[root]] [l](x.md)"
    assert rewrite_links(body, at=AT, moved={}, now_at=ref("t.md", "web")) == "[[api:root]] [l](../api/notes/deep/x.md)"
    other = rewrite_links(body, at=AT, moved={}, now_at=ref("t.md", "web", "home"))
    assert other == "[[work/api:root]] [l](../../" + "work/api/notes/deep/x.md)"


def test_relation_targets_follow_in_their_own_form() -> None:
    assert rewrite_relation("a", at=AT, moved=MOVED, now_at=AT) == "new/b"
    assert rewrite_relation(" [[a.md|L]] ", at=AT, moved=MOVED, now_at=AT) == " [[new/b.md|L]] "
    assert rewrite_relation("b", at=AT, moved=MOVED, now_at=AT) == "b"


def test_relations_in_the_frontmatter_follow_and_the_rest_of_it_stays() -> None:
    text = (
        "\ufeff---\r\ntitle: '[[a]]' # c\r\nrelations:\r\n  fixes: [ a,  b ] # d\r\n  causes:\r\n  - \"[[a|x]]\"\r\n"
        "  - notes/x\r\nother: a\r\n---\r\n[[a]]"
    )
    new = (
        text.replace("[ a,  b ]", "[ new/b,  b ]")
        .replace('"[[a|x]]"', '"[[new/b|x]]"')
        .replace("notes/x", '"web:y"')
        .replace("\r\n[[a]]", "\r\n[[new/b]]")
    )
    assert rewrite_links(text, at=AT, moved=MOVED, now_at=AT) == new
    assert rewrite_links(text, at=AT, moved={}, now_at=AT) == text


PATHS = st.sampled_from(["a.md", "b.md", "x/a.md", "x/y/c.md", "d e.md", "ü.md", "v1.js.md", "p(1).md"])
PROJECTS = st.sampled_from(["api", "web"])
REFS = st.builds(lambda project, path: ref(path, project), PROJECTS, PATHS)


def written(form: int, target: PageRef, at: PageRef) -> str:
    if form == 0:
        return f"[[{target.workspace}/{target.project}:{target.path}|l]]"
    relative = posixpath.relpath(target.git_path, posixpath.dirname(at.git_path))
    return f"[l](<{relative}>)" if form == 1 else f"[l]({relative.replace(' ', '%20').replace('(', '%28')})"


@given(REFS, REFS, st.lists(st.tuples(st.integers(0, 2), REFS), max_size=5), st.dictionaries(REFS, REFS, max_size=3))
def test_after_a_move_every_link_leads_where_it_should(
    at: PageRef, now_at: PageRef, linked: list[tuple[int, PageRef]], moved: dict[PageRef, PageRef]
) -> None:
    moved[at] = now_at
    linked = [(form, target) for form, target in linked if form == 0 or ")" not in target.path or form == 1]
    body = "start `[[a]]` " + " and ".join(written(form, target, at) for form, target in linked) + " end\r\n"
    new = rewrite_links(body, at=at, moved=moved, now_at=now_at)
    before = [
        Link(one.workspace, one.project, one.path)
        for one in (moved.get(old.ref, old.ref) for old in links(body, at=at))
    ]
    assert links(new, at=now_at) == list(dict.fromkeys(before))
    assert rewrite_links(new, at=now_at, moved={}, now_at=now_at) == new
    assert new.startswith("start `[[a]]` ")
    assert new.endswith(" end\r\n")
