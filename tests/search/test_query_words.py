"""What somebody typed, as terms and as an expression that SQLite always takes."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shelf import Shelf

from ai_memory.search.prepare import MAX_CHARACTERS, MAX_TERMS, is_explicit, match_expression, prepare, terms


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("parse_config", ["parse_config", "parse", "config"]),
        ("parseConfig", ["parseconfig", "parse", "config"]),
        ("HTTPServer2Go", ["httpserver2go", "httpserver2", "go"]),
        ("src/store/lock.py", ["src/store/lock.py", "src", "store", "lock", "py"]),
        ("#123", ["123"]),
        ("E0277", ["e0277"]),
        ("1.2.3", ["1.2.3"]),
        ("v0.13.0", ["v0.13.0", "v0", "13"]),
        ("don't", ["don't", "don"]),
        ("ai_memory.search.engine", ["ai_memory.search.engine", "ai", "memory", "search", "engine"]),
    ],
)
def test_an_identifier_is_looked_for_whole_and_by_part(query: str, found: list[str]) -> None:
    assert terms(query) == found


@pytest.mark.parametrize(
    "name", ["parse_config", "parseConfig", "src/store/lock.py", "#123", "E0277", "1.2.3", "v0.13.0", "c++17", "a_b-c"]
)
def test_a_page_that_names_an_identifier_is_found_by_it(shelf: Shelf, name: str) -> None:
    shelf.fill(10)
    shelf.put("notes/named.md", f"# Named\n\nSee `{name}` for the rest.")
    shelf.put("notes/other.md", "# Other\n\nparser configuring locks 12 E027 1.2 v0.13 stores")
    assert shelf.paths(name)[:1] == ["notes/named.md"]


def test_stop_words_go_unless_nothing_else_is_left() -> None:
    assert terms("what is the lock order") == ["lock", "order"]
    assert terms("what is that") == ["what", "is", "that"]
    assert terms("what is that", stopwords=()) == ["what", "is", "that"]


def test_each_term_is_asked_once_and_no_more_than_64() -> None:
    assert terms("Lock lock LOCK") == ["lock"]
    assert len(terms(" ".join(f"w{number}" for number in range(500)))) == MAX_TERMS


def test_a_letter_keeps_the_form_in_which_the_index_holds_it(shelf: Shelf) -> None:
    shelf.fill(10)
    shelf.put("notes/street.md", "# Karte\n\nDie Hauptstraße liegt am Fluß.")
    assert shelf.paths("Hauptstraße") == ["notes/street.md"]
    assert shelf.paths("FLUß") == ["notes/street.md"]


@pytest.mark.parametrize("query", ["resume", "résumé", "re\u0301sume\u0301", "RÉSUMÉ"])
@pytest.mark.parametrize("text", ["resume", "résumé", "re\u0301sume\u0301"])
def test_marks_on_letters_make_no_difference_also_to_the_gate(shelf: Shelf, query: str, text: str) -> None:
    shelf.fill(10)
    shelf.put("notes/cv.md", f"# Papers\n\nThe {text} lies in the second drawer.")
    found = shelf.ask(query, may_abstain=True)
    assert [hit.ref.path for hit in found.hits] == ["notes/cv.md"]
    assert found.hits[0].coverage == 1.0
    assert found.status == "ok"


@pytest.mark.parametrize(
    ("query", "explicit"),
    [
        ("lock order", False),
        ('"lock order"', True),
        ("lock AND order", True),
        ("lock NOT order", True),
        ("NEAR(lock order)", True),
        ("READ AND WRITE", False),
        ("#12 OR #13", True),
        ("データ AND 移行", True),
        ("lock and order", False),
        ('an inch is "', False),
        ('""', False),
        ("ANDROID ORDER", False),
    ],
)
def test_full_text_syntax_is_told_from_plain_words(query: str, explicit: bool) -> None:
    assert is_explicit(query) is explicit


@pytest.fixture
def pairs(shelf: Shelf) -> Shelf:
    shelf.fill(5)
    shelf.put("notes/both.md", "# Both\n\nThe lock comes before the order of things.")
    shelf.put("notes/phrase.md", "# Phrase\n\nKeep the lock order as it is.")
    shelf.put("notes/lock.md", "# Lock\n\nA lock alone, locksmiths say.")
    shelf.put("notes/order.md", "# Order\n\nAn order alone.")
    return shelf


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"lock order"', {"phrase"}),
        ("lock AND order", {"both", "phrase"}),
        ("lock NOT order", {"lock"}),
        ("(lock OR order) NOT alone", {"both", "phrase"}),
        ("NEAR(lock order, 1)", {"phrase"}),
        ("NEAR(lock order, 9)", {"both", "phrase"}),
        ("title:lock OR zzz", {"lock"}),
        ("locksm* OR zzz", {"lock"}),
        ('"lock ord"*', {"phrase"}),
    ],
)
def test_full_text_syntax_is_honoured(pairs: Shelf, query: str, found: set[str]) -> None:
    answer = pairs.ask(query, may_abstain=True)
    assert {hit.ref.path for hit in answer.hits} == {f"notes/{name}.md" for name in found}
    assert (answer.status, answer.gaps) == ("ok", ())


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("lock AND order AND zebra", "nothing fulfils the whole expression"),
        ("lock AND", "the expression cannot be read"),
        ("((((lock AND order", "the expression cannot be read"),
        ("NOT lock order", "the expression cannot be read"),
    ],
)
def test_an_expression_that_means_nothing_becomes_its_words_and_says_so(pairs: Shelf, query: str, why: str) -> None:
    answer = pairs.ask(query)
    assert answer.hits
    assert any(gap.startswith(why) for gap in answer.gaps), answer.gaps


def test_a_word_that_must_not_stand_there_is_no_word_to_look_for() -> None:
    assert prepare("lock NOT order").terms == ("lock",)
    assert prepare('lock NOT "some order" NOT (a OR b)').terms == ("lock",)


def test_the_name_of_a_column_is_no_word_of_the_question() -> None:
    assert prepare('title:lock AND "order"').terms == ("lock", "order")
    assert "title" in prepare("title:lock").terms


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.characters(), max_size=30),
    st.lists(
        st.sampled_from(
            [
                *("AND", "OR", "NOT", "NEAR(", "NEAR(a b, 3)", "(", ")", '"', "*", ":", "^", "-", "+", "{", "}", ","),
                *("title:", "body:x", "title : ", "word", "w*", '"a b"', "\0", "\ud800", "\udfff", "データ", "猫", "é"),
                *("'", ";", "--", "%", "_", "__", "\\", "\n", "\t", "ſ", "İ", "\u200b", "\u0301", "𠀀", "NEAR(" * 9),
            ]
        ),
        max_size=24,
    ).map(" ".join),
)


@pytest.fixture(scope="module")
def shared() -> Shelf:
    made = Shelf()
    made.fill(6)
    made.put("notes/a.md", "# データ\n\nword a b 猫 の é x")
    return made


@settings(max_examples=400)
@given(query=HOSTILE, other=HOSTILE)
@example(query="\ud800", other='"\ud800 x"')
@example(query='"' + "a" * 9_000, other="NEAR(" + " " * 9_000)
@example(query='"___"', other="___ __")
@example(query="0123456789ab\0", other="f-0123456789ab")
def test_no_text_is_a_fault(shared: Shelf, query: str, other: str) -> None:
    shared.ask(query, other, may_abstain=True, now_us=1)
    prepared = prepare(query)
    expression = match_expression(prepared.terms)
    if expression:
        shared.connection.execute("SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?", (expression,)).fetchone()


@pytest.mark.parametrize(
    "unit", ["word ", '"', "NEAR(", "(", "a*", "データ", "\0", "\ud800", "x AND ", "日", " ", "__"]
)
def test_a_hundred_kilobytes_are_read_to_their_bound(shared: Shelf, unit: str) -> None:
    query = unit * (100_000 // len(unit))
    shared.ask(query, may_abstain=True)
    assert len(prepare(query).text) <= MAX_CHARACTERS
    assert len(prepare(query).terms) <= MAX_TERMS


def test_a_query_without_any_word_says_so(shelf: Shelf) -> None:
    shelf.fill(3)
    assert shelf.ask("?!").gaps == ("the query holds no word to look for",)
    assert shelf.ask("").hits == ()


def test_an_expression_that_nobody_types_is_taken_as_words() -> None:
    assert prepare(" OR ".join(f"{letter}{letter}*" for letter in "abcdefghi")).explicit == ""
    assert prepare("lock OR b*").explicit == '"lock" OR "b"'
