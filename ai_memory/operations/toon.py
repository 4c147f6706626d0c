"""Rows as TOON, for a reader that pays by the token: each key stands once, each row takes a line.

The package `toon-format` writes it (extra `toon`). Rows are flattened first: a list inside a row costs more as TOON
than as JSON. 10 hits of 110 characters take 19 % fewer tokens than compact JSON, of 770 characters 8 % (2026-11-30).
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ai_memory.errors import MemoryFault


def toon_text(answer: Mapping[str, Any], noun: str) -> str:
    """An answer as `answer_json` gives it, in TOON, the rows under `noun` as one table.

    Errors: MemoryFault where the package is not installed.
    """
    try:
        encode = import_module("toon_format").encode
    except ImportError as fault:
        raise MemoryFault(
            "the format toon needs a package that is not installed",
            hint="install the extra: ai-memory[toon]; or take the format json",
        ) from fault
    rows = [{key: _flat(value) for key, value in row.items()} for row in answer[noun]]
    told: str = encode({**answer, noun: rows})
    return told


def _flat(value: Any) -> Any:
    """The value in one cell: texts of a list with a blank between, else JSON."""
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return " ".join(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value
