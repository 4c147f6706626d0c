"""What a page names of its repository."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.text.mentions import MOST_FILES, Mentions, mentions


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("See `src/till.py` and `./docs/a.md`.", ("src/till.py", "docs/a.md")),
        ("See src/till.py, then (docs/a.md).", ("src/till.py", "docs/a.md")),
        ("Lines `src/till.py:12` and src/queue.py#L3-L9", ("src/till.py", "src/queue.py")),
        ("[the till](src/till.py)", ("src/till.py",)),
        ("`pyproject.toml` decides, `Makefile` does not", ("pyproject.toml",)),
        ("twice `src/till.py`, again src/till.py", ("src/till.py",)),
        ("https://example.org/src/till.py and /etc/passwd.d/a.conf and ~/src/till.py", ()),
        ("C:/src/till.py and ../src/till.py and `src/../../till.py`", ()),
        ("and/or, 1.5/2.0, e.g. this", ()),
        ("`self.total` and `os.path`", ()),
        (r"src\till.py", ()),
    ],
)
def test_files(text: str, files: tuple[str, ...]) -> None:
    assert mentions(text).files == files


def test_names_in_code_and_commits() -> None:
    text = "`parse_args` and `readHead()` and `Till.close()`, `word`, `the words`; commit 1f2e3d4c5b, commit:`0a1b2c3`"
    assert mentions(text) == Mentions((), ("parse_args", "readHead", "close"), ("1f2e3d4c5b", "0a1b2c3"))
    assert not mentions("the commit deadbeef and commit messages: commit defaced")


def test_what_it_names_first_counts() -> None:
    text = " ".join(f"`src/f{number}.py`" for number in range(40))
    assert mentions(text).files == tuple(f"src/f{number}.py" for number in range(MOST_FILES))


@given(st.text(alphabet="a./`:#L-_1 \n()@é", max_size=300))
def test_any_text_names_only_paths_below_the_repository(text: str) -> None:
    for path in mentions(text).files:
        assert not path.startswith("/")
        assert ".." not in path.split("/")
