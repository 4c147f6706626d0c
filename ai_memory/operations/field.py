"""What a parameter of an operation means, said once for the CLI, the bridge and the docs."""

from dataclasses import dataclass
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Field:
    """Stands in `Annotated[T, Field(...)]`.

    T is str, int, float, bool, a Literal of texts, tuple[str, ...], or one of them `| None`. Modules of operations
    write annotations as objects, never as strings.
    """

    description: str
    """One terse line: it is help text and costs tokens in every tools/list."""
    ge: int | None = None
    le: int | None = None
    max_length: int | None = None
    """Characters of a text, or entries of a list."""
    aliases: tuple[str, ...] = ()
    """Other keys that the bridge accepts in JSON arguments."""
    flags: tuple[str, ...] = ()
    """Names on the command line; none means `--name-with-dashes`. `("--pinned/--no-pinned",)` makes a pair."""
    positional: bool = False
    """Also taken by place on the command line."""
    joined: bool = False
    """Several words by place make one text."""
    piped: bool = False
    """The CLI reads it from stdin when it is `-`, and from a file with `--file`."""
    metavar: str = ""
    face: Literal["both", "cli", "bridge"] = "both"
    """The only face that has it."""
    is_unlisted: bool = False
    """The bridge takes it, the schema does not name it: what is seldom wanted must not cost tokens in every session."""


Workspace = Annotated[str | None, Field("another workspace")]
ProjectName = Annotated[str | None, Field("another project")]
Limit = Annotated[int, Field("rows at most", ge=1, le=100, aliases=("n", "top_k"), flags=("-n", "--limit"))]
Tier = Literal["working", "episodic", "semantic", "procedural"]
Everywhere = Annotated[
    bool, Field("all projects of all workspaces", aliases=("global",), flags=("--all",), is_unlisted=True)
]
