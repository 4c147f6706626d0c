"""Every test lives in a scratch home: touching the real one fails."""

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Compiled once for all: a process that compiles our modules anew takes half as long again, and each worker would
# rewrite every test file. Before hypothesis, whose own files are rewritten like tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import built_once  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from in_memory import folder_in_memory  # noqa: E402
from real_home import touched  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a script. Children would inherit it, and tests that interrupt them wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


if memory := folder_in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))  # a sync there costs nothing, on a disk 3 ms

built_once.arrange()

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("thorough", settings.get_profile("any-machine"), max_examples=500)  # --hypothesis-profile
settings.load_profile("any-machine")  # a busy machine is no fault of what is tested


LONG = ("test_crowd.py", "test_install.py", "test_demo.py", "test_damaged_index.py")
"""Files with a test that takes ten seconds and more where others run beside it (two cores, 2026-12-01)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first, so that no worker still has one when the others are done."""
    items.sort(key=lambda item: item.path.name not in LONG)


def pytest_collection_finish() -> None:
    """What was loaded for all tests is looked at by no garbage collection of any of them, nor of their forks."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Of `-n auto`: tests wait for processes and for the disk, so that three keep two cores at 90 % (2026-11-30)."""
    return max(1, (os.cpu_count() or 2) * 3 // 2)


@pytest.fixture(autouse=True, scope="session")
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where programs and tests make temporary files: with those of tests, also for what is begun and left there."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)  # chosen anew
        yield


@pytest.fixture(autouse=True)
def scratch_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of its own, named by every variable that leads to one."""
    touched.clear()
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("AI_MEMORY_", "XDG_", "GIT_", "CLAUDE_", "CODEX_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    interrupt = signal.getsignal(signal.SIGINT)
    yield home
    signal.signal(
        signal.SIGINT, interrupt
    )  # a call that ran in this process to its end has ignored it, for children too
    assert touched == []
