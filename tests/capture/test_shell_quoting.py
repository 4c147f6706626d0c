"""Files that a shell command reads are told through quotes, escapes, loops and the programs that run another one."""

import pytest

from ai_memory.hook_commands import reads_of
from ai_memory.hook_policy import Policy
from ai_memory.hook_words import commands_of


def decision(command: object) -> str:
    policy = Policy()
    policy.ignored = ["secrets/**", "vault"]
    policy.judge_paths("Bash", {"command": command}, cwd="/c", base="/c", home="/h")
    return policy.decision


@pytest.mark.parametrize(
    "command",
    [
        "find secrets -exec cat {} +",
        "cd secrets && for i in 1; do cat db; done",
        "cat sec'r'ets/db.txt",
        'cat sec"r"ets/db.txt',
        "cat s\\ecrets/db",
        "cat secrets\\\n/db",
        "env -C secrets cat db",
        "env --chdir=secrets cat db",
        "if true; then cat vault; fi",
        "! cat vault",
        "while read x; do echo $x; done < vault",
        "bash -c 'cat vault'",
        'bash -c "cd secrets; cat db"',
        "eval 'cat vault'",
        "su -c 'cat vault' ann",
        'echo "$(cat vault)"',
        "echo `cat vault`",
        'echo "it is `cat vault`, isn\'t it"',
        "python s'ecret's/run.py",
        "cd secrets; python run.py",
        "type secrets\\db",
        "cat notes # isn't it\ncat vault",
        "cat <<'EOF'\nit isn't\nEOF\ncat vault",
        ["bash", "-lc", "cat vault"],
    ],
)
def test_a_reader_of_an_ignored_file_is_recognised(command: object) -> None:
    assert decision(command) == "drop"


@pytest.mark.parametrize(
    "command",
    [
        "cat {secrets,x}/db",
        "cat secret{s..s}/db",
        "cat $'sec\\x72ets/db'",
        "cat secret?/db",
        "find . -name db -exec cat {} +",
        "find . -type f | xargs cat",
        "ls | parallel cat",
        'cat "$FILE"',
        "env -C $D cat db",
        "fd db -x cat",
        "tar -C x -cf - db",
        "x " * 40_000,
    ],
)
def test_what_cannot_be_told_is_metadata_only(command: str) -> None:
    assert decision(command) == "metadata"


@pytest.mark.parametrize(
    "command",
    [
        "cat README.md",
        "find . -name '*.py'",
        "echo 'cat vault'",
        "git commit -m 'read the vault'",
        "git commit -m \"$(cat <<'EOF'\nIt doesn't cat the vault.\nEOF\n)\"",
        "for f in 1 2; do echo $f; done",
        "cd docs && python run.py",
        "awk '{print $1}' notes.txt",
        "make test # don't read secrets",
    ],
)
def test_a_command_that_reads_no_ignored_file_is_kept(command: str) -> None:
    assert decision(command) == "keep"


def test_words_come_without_quotes_and_say_what_the_shell_would_change() -> None:
    commands, is_whole = commands_of("a 'b c'\\ d \"e $f\" g*; h 'i*' {} {x,y}")
    told = [[(word.text, word.is_untold) for word in words] for words in commands if words]
    assert told == [
        [("a", False), ("b c d", False), ("e $f", True), ("g*", True)],
        [("h", False), ("i*", False), ("{}", False), ("{x,y}", True)],
    ]
    assert is_whole


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("file:///srv/secrets/k", "/srv/secrets/k"),
        ("FILE://localhost/srv/secrets/k#y", "/srv/secrets/k"),
        ("file:/srv/se%63rets/k", "/srv/secrets/k"),
        ("file:///srv/100%/k", "/srv/100%/k"),
        ("file://", "/c/"),
    ],
)
def test_a_file_named_by_a_url_is_that_file(word: str, path: str) -> None:
    assert reads_of(f"cd /c && curl -s {word}").paths[-1] == path


def test_a_hostile_command_is_read_in_bounded_work() -> None:
    for piece in ("'", '"', "`", "$(", "bash -c '", "\\", "{a,", "# ", "<", 'eval "', ";"):
        assert reads_of(piece * 30_000) is not None
