"""Words of scripts without blanks, and those of scripts with them."""

import pytest
from shelf import Shelf

from ai_memory.text.grams import grams, query_grams


def test_runs_become_pairs_and_the_last_character_stands_alone() -> None:
    assert grams("データ移行").split() == ["デー", "ータ", "タ移", "移行", "行"]
    assert query_grams("データ") == ["デー", "ータ"]


def test_a_run_of_one_is_a_beginning() -> None:
    assert query_grams("猫") == ["猫*"]


def test_a_word_that_touches_a_run_is_a_word_of_its_own() -> None:
    assert grams("Obsidianのヘルプ").split() == ["のヘ", "ヘル", "ルプ", "プ", "Obsidian"]
    assert query_grams("Obsidianの") == ["の*", "Obsidian"]


@pytest.mark.parametrize("text", ["plain words", "네트워크 오류", "ฐานข้อมูล", "", "naïve café"])
def test_other_scripts_are_left_as_they_are(text: str) -> None:
    assert grams(text) == ""


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    shelf.fill(20)
    shelf.put("notes/ja.md", "# データベースの移行\n\nスキーマを変更してから、古い表を削除します。猫はいません。")
    shelf.put("notes/zh.md", "# 数据库迁移\n\n先修改模式，然后删除旧表。")
    shelf.put("notes/mixed.md", "# 使い方\n\nObsidianのプラグインを設定する。")
    shelf.put("notes/ko.md", "# 네트워크\n\n재시도 예산은 분당 세 번입니다.")
    shelf.put("notes/th.md", "# ไทย\n\nฐานข้อมูล อยู่ที่นี่")
    return shelf


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("スキーマを変更", "notes/ja.md"),
        ("データベース移行", "notes/ja.md"),
        ("古い表", "notes/ja.md"),
        ("猫", "notes/ja.md"),
        ("删除旧表", "notes/zh.md"),
        ("数据库", "notes/zh.md"),
        ("Obsidian", "notes/mixed.md"),
        ("Obsidianの", "notes/mixed.md"),
        ("プラグイン 設定", "notes/mixed.md"),
        ("재시도", "notes/ko.md"),
        ("ฐานข้อมูล", "notes/th.md"),
        ('"古い表"', "notes/ja.md"),
        ("スキーマ AND 削除", "notes/ja.md"),
        ('"Obsidianのプラグイン"', "notes/mixed.md"),
    ],
)
def test_a_page_is_found_by_words_inside_its_sentences_and_the_gate_lets_it_through(
    library: Shelf, query: str, path: str
) -> None:
    answer = library.ask(query, may_abstain=True)
    assert answer.hits[0].ref.path == path
    assert answer.status == "ok", (answer.status, answer.gaps)


def test_a_question_as_a_whole_sentence_is_not_refused(library: Shelf) -> None:
    answer = library.ask("データベースのスキーマを変更する方法は何ですか", may_abstain=True)
    assert answer.hits[0].ref.path == "notes/ja.md"


def test_a_sentence_about_something_else_is_refused(library: Shelf) -> None:
    assert library.ask("明日の天気予報と電車の時刻", may_abstain=True).hits == ()


def test_the_passage_that_is_shown_holds_the_words_that_were_asked(shelf: Shelf) -> None:
    body = "前置きの文がここに続きます。" * 30 + "再試行の予算は毎分三回です。" + "後書きの文もあります。" * 10
    shelf.put("notes/long.md", f"# 長い頁\n\n{body}")
    (hit,) = shelf.ask("再試行の予算").hits
    assert "再試行の予算" in hit.snippet
