"""Asking a disk that may never answer, such as a mount whose server is gone: in a thread that nobody waits for."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class NoAnswer(Exception):
    """Nothing came back in time. Its text says what was asked."""


class Patience:
    """One thread that does what it is asked to, one thing after another, each within so many seconds.

    A thread that does not come back is left alone, and ends with its process; it must write nothing.
    """

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s
        self._asked: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Patience":
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> None:
        if self._thread is not None:
            self._asked.put(None)
            if not isinstance(fault, NoAnswer):
                self._thread.join(self._within_s)

    def ask(self, what: str, work: Callable[[], T]) -> T:
        """What the work gives. Errors: NoAnswer; those of the work."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer, daemon=True)
            self._thread.start()
        answer: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()
        self._asked.put((work, answer))
        try:
            given, fault = answer.get(timeout=self._within_s)
        except queue.Empty:
            raise NoAnswer(f"{what} did not answer for {self._within_s:g} seconds") from None
        if fault is not None:
            raise fault
        return given  # type: ignore[return-value]

    def _answer(self) -> None:
        while (asked := self._asked.get()) is not None:
            work, answer = asked
            with suppress(BaseException):  # it was put into the answer
                try:
                    answer.put((work(), None))
                except BaseException as fault:
                    answer.put((None, fault))
                    raise
