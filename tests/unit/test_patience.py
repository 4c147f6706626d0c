"""Asking what may never answer."""

import subprocess
import sys
import threading

import pytest

from ai_memory.patience import NoAnswer, Patience


def test_what_is_asked_is_answered_in_one_thread_and_the_thread_goes() -> None:
    before = threading.active_count()
    with Patience(30) as patience:
        threads = {patience.ask("a", threading.get_ident) for _ in range(3)}
        assert len(threads) == 1
        assert threads != {threading.get_ident()}
    assert threading.active_count() == before


def test_a_fault_of_the_work_is_told_and_the_next_is_done() -> None:
    with Patience(30) as patience:
        with pytest.raises(KeyError):
            patience.ask("a", lambda: {}["a"])
        assert patience.ask("b", lambda: 1) == 1


def test_what_never_answers_is_given_up_by_its_name() -> None:
    gate = threading.Event()
    try:
        with pytest.raises(NoAnswer, match=r"the mount did not answer for 0\.01 seconds"), Patience(0.01) as patience:
            patience.ask("the mount", gate.wait)
    finally:
        gate.set()


def test_a_process_ends_though_a_thread_of_it_never_comes_back() -> None:
    code = (
        "import threading; from ai_memory.patience import NoAnswer, Patience\n"
        "try:\n    with Patience(0.01) as one: one.ask('x', threading.Event().wait)\n"
        "except NoAnswer: print('given up')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "given up\n"
