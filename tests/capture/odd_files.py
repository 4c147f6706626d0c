"""What may stand where a file is expected."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest


def fifo(path: Path) -> None:
    """Whoever opens it for reading waits for a writer."""
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


def endless(path: Path) -> None:
    """Whoever reads it to its end never gets there."""
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.mkdir()


ODD: list[Callable[[Path], None]] = [fifo, unix_socket, endless, loop, folder]
TELLING = [fifo, folder, *(pytest.param(make, marks=pytest.mark.slow) for make in (unix_socket, endless, loop))]
"""The same; by default only the two that differ most, where each trial takes a second."""


def replace(path: Path, make: Callable[[Path], None]) -> None:
    """Put it where the file was, if there was one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)
