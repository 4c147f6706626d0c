"""When the engine says that it does not know, and what it says then."""

import pytest
from shelf import FILLER, Shelf


@pytest.fixture
def large(shelf: Shelf) -> Shelf:
    """An index at which the bar stands at its full height."""
    topics = ("heron", "kettle", "lathe", "mortar", "nettle", "oriole", "pewter", "quarry", "rudder", "saddle")
    for number in range(400):
        topic = topics[number % 10]
        parts = "\n\n".join(
            f"## Part {part}\n\n{FILLER[(number + part) % 5]} {topic} {number} {part}" for part in range(3)
        )
        shelf.put(f"notes/{topic}-{number:03}.md", f"# {topic} {number}\n\n{parts}")
    shelf.put("decisions/retry.md", "# Retry budget\n\nEach tenant may retry three requests a minute, then waits.")
    return shelf


def test_an_answer_is_given_where_a_page_holds_what_is_asked(large: Shelf) -> None:
    answer = large.ask("how many requests may a tenant retry", may_abstain=True)
    assert (answer.status, answer.hits[0].ref.path) == ("ok", "decisions/retry.md")


@pytest.mark.parametrize(
    "query", ["quantum chromodynamics lattice", "who won the cup final", "what is the capital of Mongolia"]
)
def test_a_question_about_something_else_gets_none(large: Shelf, query: str) -> None:
    answer = large.ask(query, may_abstain=True)
    assert (answer.status, answer.hits, answer.abstained) == ("abstained", (), True)
    assert answer.omitted == 0
    assert answer.gaps[0].startswith("no page ")


def test_common_words_of_a_page_do_not_make_an_answer(large: Shelf) -> None:
    answer = large.ask("which drawer holds the passport of the Portuguese ambassador", may_abstain=True)
    assert answer.status == "abstained"
    assert "ambassador" in answer.gaps[0]
    assert answer.dropped["too far from the query"] > 0


def test_nothing_is_refused_where_nobody_asked_for_it(large: Shelf) -> None:
    answer = large.ask("which drawer holds the passport of the Portuguese ambassador")
    assert (answer.status, bool(answer.hits)) == ("ok", True)


def test_half_an_answer_names_the_words_that_are_missing(large: Shelf) -> None:
    answer = large.ask("retry requests tenant zookeeper chroot ensemble", may_abstain=True)
    assert answer.status == "partial"
    assert answer.gaps == ("no page that was found holds: chroot, ensemble, zookeeper",)
    assert answer.hits[0].ref.path == "decisions/retry.md"


def test_an_exact_name_always_answers(large: Shelf) -> None:
    large.put("notes/zzz.md", "---\ntitle: Some thing or other\n---\n\nEmpty words.")
    assert large.ask("Some thing or other", may_abstain=True).status == "ok"


def test_what_fulfils_an_expression_is_never_refused(large: Shelf) -> None:
    answer = large.ask("tenant OR ambassador OR passport OR mongolia OR chromodynamics", may_abstain=True)
    assert (answer.status, answer.hits[0].ref.path) == ("ok", "decisions/retry.md")


def test_the_bar_is_lower_where_there_are_few_pages(shelf: Shelf) -> None:
    shelf.put("notes/a.md", "# Retry budget\n\nThree a minute.")
    shelf.put("notes/b.md", "# Other\n\nSomething else.")
    answer = shelf.ask("how large is our retry allowance", may_abstain=True)
    assert [hit.ref.path for hit in answer.hits] == ["notes/a.md"]
    assert answer.status == "partial"
    assert answer.gaps == ("no page that was found holds: allowance, large",)
    assert shelf.ask("capital of Mongolia", may_abstain=True).status == "abstained"


def test_a_word_that_every_page_of_a_small_wiki_holds_still_finds_them(shelf: Shelf) -> None:
    shelf.put("notes/a.md", "# Retry budget\n\nThree a minute.")
    shelf.put("notes/b.md", "# Retry queue\n\nOne a tenant.")
    assert set(shelf.paths("retry", may_abstain=True)) == {"notes/a.md", "notes/b.md"}


def test_an_empty_index_says_that_nothing_is_there(shelf: Shelf) -> None:
    answer = shelf.ask("retry budget", may_abstain=True)
    assert (answer.status, answer.hits) == ("abstained", ())


def test_pages_far_behind_the_best_are_left_out_and_counted(large: Shelf) -> None:
    answer = large.ask("requests a tenant may retry each minute, heron", may_abstain=True, limit=50)
    everything = large.ask("requests a tenant may retry each minute, heron", limit=50)
    assert len(answer.hits) < len(everything.hits)
    assert answer.dropped["too far from the query"] > 0


GERMAN = "Wie oft darf ein Mandant einen Retry senden und wer legt das fest?"


def test_a_question_in_another_language_is_answered_by_names_and_says_so(large: Shelf) -> None:
    answer = large.ask(GERMAN, may_abstain=True)
    assert (answer.status, answer.hits[0].ref.path) == ("partial", "decisions/retry.md")
    assert answer.gaps[0].startswith("the question reads as German, ")
    japanese = large.ask("テナントごとのretryは何回まで許されますか", may_abstain=True)
    assert (japanese.status, japanese.hits[0].ref.path) == ("partial", "decisions/retry.md")
    assert japanese.gaps[0].startswith("the question reads as Chinese or Japanese, ")


def test_a_question_in_the_language_of_pages_is_refused_though_others_are_in_another(large: Shelf) -> None:
    for number in range(30):
        text = f"Der Lotse {number} ist mit dem Boot auf dem Fluss und wird von der Wache nicht mehr gesehen."
        large.put(f"notes/lotse-{number}.md", f"# Lotse {number}\n\n{text}")
    answer = large.ask(GERMAN.replace("Retry", "Reisepass"), may_abstain=True)
    assert (answer.status, answer.hits) == ("abstained", ())


def test_keywords_tell_no_language(large: Shelf) -> None:
    assert large.ask("drawer passport ambassador Lissabon", may_abstain=True).status == "abstained"


def test_a_small_wiki_loses_no_page_for_being_far_behind(shelf: Shelf) -> None:
    shelf.fill(30)
    shelf.put("notes/a.md", "# Lighthouse keeper\n\nThe lighthouse keeper winds the clock of the lighthouse.")
    shelf.put("notes/b.md", "# Winding\n\nIt needed oil.")
    found = shelf.paths("need lighthouse keeper clock winds", may_abstain=True)
    assert "notes/b.md" in found


NOTES = {
    "German": (
        "CSV mit Semikolon, Kopfzeile Pflicht.",
        "Suche auf zwei Spalten umgestellt",
        "Grund: Ziffern als Tabelle",
    ),
    "French": ("CSV avec point-virgule, ISO.", "recherche passée en deux colonnes", "Raison : chiffres du tableau"),
    "Spanish": ("CSV con punto y coma.", "búsqueda pasada a dos columnas", "Motivo: cifras de la tabla"),
    "Turkish": ("CSV noktalı virgül ile.", "arama iki sütuna geçti", "Tablo için eşit genişlik"),
}
"""Notes as people keep them: none holds three common words of its language."""


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("German", "Warum ist das CSV der Bank auf dem Server gescheitert und wer weiß es?"),
        ("French", "Pourquoi est-ce que notre banque refuse toujours son CSV ?"),
        ("Spanish", "¿Por qué falló el CSV de la banca en el servidor?"),
        ("Turkish", "Bankanın CSV dosyası neden ve nasıl bozuldu?"),
    ],
)
def test_short_notes_tell_their_language_together(shelf: Shelf, language: str, question: str) -> None:
    for number in range(500):
        shelf.put(f"notes/{number}.md", f"{NOTES[language][number % 3]}\n\nCSV {number}")
    answer = shelf.ask(question, may_abstain=True)
    assert (answer.status, bool(shelf.ask(question).hits)) == ("abstained", True)
    assert not any("reads as" in gap for gap in answer.gaps)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wieso stocken Retry-Aufträge?", "German"),
        ("Pourquoi tant de Retry ?", "French"),
        ("¿Cuándo caduca un Retry?", "Spanish"),
        ("Quando expira esse Retry?", "Portuguese or Italian"),
        ("Hoeveel Retry mag?", "Dutch"),
        ("Hvorfor stopper Retry?", "Danish or Norwegian"),
        ("Dlaczego Retry stoi?", "Polish"),
        ("Retry neden durdu?", "Turkish"),
        ("Mengapa Retry berhenti?", "Indonesian"),
        ("kubernetes controller のretry設定方法", "Chinese or Japanese"),
    ],
)
def test_a_short_question_in_another_language_tells_it_by_the_word_that_asks(
    large: Shelf, question: str, language: str
) -> None:
    answer = large.ask(question, may_abstain=True)
    assert (answer.status, answer.hits[0].ref.path) == ("partial", "decisions/retry.md")
    assert answer.gaps[0].startswith(f"the question reads as {language}, ")


@pytest.mark.parametrize(
    "question",
    ["where does 日本語 show in the heron label", "how do I say warum to the heron", "comment heron var die"],
)
def test_a_word_of_another_language_makes_no_question_foreign(large: Shelf, question: str) -> None:
    assert not any("reads as" in gap for gap in large.ask(question, may_abstain=True).gaps)


def test_a_word_between_typographic_signs_is_held(large: Shelf) -> None:
    large.put("notes/desk.md", "# Desk\n\nThe clerk wrote “passport” —and ‘ambassador’ into «ledgers», page… ninth.")
    answer = large.ask("passport ambassador ledgers ninth", may_abstain=True)
    assert (answer.status, answer.hits[0].ref.path, answer.hits[0].coverage) == ("ok", "notes/desk.md", 1.0)


def test_pages_with_a_few_signs_of_another_script_stay_english(shelf: Shelf) -> None:
    for number in range(500):
        shelf.put(
            f"notes/{number}.md", f"# Label {number}\n\n{' '.join(FILLER)} The drawer reads 引き出しの札番号 {number}."
        )
    answer = shelf.ask("which drawer holds the passport of the Portuguese ambassador", may_abstain=True)
    assert (answer.status, answer.hits) == ("abstained", ())
