"""Bodies of several pages as one: each under a heading of its own, what stands there already left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ai_memory.text.inline import scan_inline
from ai_memory.text.outline import Block, Leaf, outline
from ai_memory.text.plain import plain_line

_BULLET = re.compile(r" {0,3}[-+*](?:[ \t]|$)")
_NUMBER = re.compile(r" {0,3}[0-9]{1,9}[.)](?:[ \t]|$)")
_QUOTE = re.compile(r" {0,3}>")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]\n]{1,200})\]:[ \t]*(.*)")
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r"[ ]{0,3}#{1,6}")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Part:
    """A page whose body is joined to another one."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """What became of a part's blocks."""

    added: int
    repeated: int
    """Stood there already, under the same headings."""


@dataclass(frozen=True, slots=True)
class Joined:
    body: str
    parts: tuple[JoinedPart, ...]


@dataclass(slots=True)
class _Piece:
    """A heading, or the smallest part that stands for itself: a paragraph, a bullet, a whole numbered list."""

    text: str
    form: str
    """`heading`, `bullet`, `numbers`, `quote`, `code` or `text`."""
    place: tuple[str, ...]
    """The headings that it stands under; for a heading its own is the last."""
    level: int = 0
    title: str = ""
    is_spaced: bool = True
    """An empty line stands before it."""
    is_kept: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """The same for pieces that say the same in the same place."""
        words = self.text.rstrip() if self.form == "code" else " ".join(self.text.split())
        return (*self.place, self.form, words)

    @property
    def introduces(self) -> bool:
        """Whether it only leads to what follows."""
        return self.form == "text" and self.text.rstrip().endswith(":")


def join_bodies(title: str, base: str, parts: Sequence[Part]) -> Joined:
    """The base with each part behind it, in order.

    A part stands under its title, its headings beneath; one that is called as the whole needs none while nothing stands
    under headings. A block is left out where the same one stands under the same headings already; an introduction goes
    only with all that it introduces. The base keeps every byte but its last line ends.
    """
    newline = "\r\n" if "\r\n" in base else "\n"
    there = _pieces(base, title)
    taken = _definitions(there)
    seen = {piece.key for piece in there}
    is_flat = not any(piece.form == "heading" for piece in there)
    text, told, is_changed = _closed(base.rstrip(), newline), [], False
    for part in parts:
        pieces = _pieces(part.body, part.title)
        _relabel(pieces, taken)
        repeated = _leave_out(pieces, seen)
        seen |= {piece.key for piece in pieces}
        kept = [piece for piece in pieces if piece.is_kept]
        blocks = sum(piece.form != "heading" for piece in kept)
        told.append(JoinedPart(blocks, repeated))
        if not kept:
            continue
        is_whole = is_flat and _same_title(part.title, title)
        levels = [piece.level for piece in kept if piece.form == "heading"]
        shift = max(0, (2 if is_whole else 3) - min(levels, default=_DEEPEST))
        is_flat = is_whole and not levels
        head = [] if is_whole else [f"## {part.title}"]
        section = _closed("\n\n".join([*head, _text(kept, shift)]), "\n").replace("\n", newline)
        text = f"{text}{newline * 2}{section}" if text else section
        is_changed = True
    return Joined(f"{text}{newline}" if is_changed else base, tuple(told))


def _closed(text: str, newline: str) -> str:
    """The text with a code block that nobody closed ended: else it would take in what comes behind it."""
    last = next(iter(outline(f"{text}\n\nx")[-1:]), None) if text else None
    if last is None or last.kind is not Leaf.FENCE:
        return text
    marks = _FENCE.match(text.split("\n")[last.first])
    return f"{text}{newline}{marks[1]}" if marks else text


def _same_title(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _pieces(body: str, title: str) -> list[_Piece]:
    """The body in pieces, without a first heading that only says the title."""
    body = body.replace("\r\n", "\n")
    lines = body.split("\n")
    starts = list(_starts(body, lines))
    pieces: list[_Piece] = []
    headings: list[tuple[int, str]] = []
    for number, (first, form, block) in enumerate(starts):
        last = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        text = "\n".join(lines[first:last]).rstrip()
        is_spaced = first == 0 or not lines[first - 1].strip()
        level, heading = 0, ""
        if form == "heading":
            level, heading = block.level, plain_line(block.text(body))
            if not pieces and level == 1 and _same_title(heading, title):
                continue
            headings = [*(one for one in headings if one[0] < level), (level, heading)]
        place = tuple(name.casefold() for _, name in headings)
        pieces.append(_Piece(text, form, place, level, block.text(body) if level else "", is_spaced))
    return pieces


def _starts(body: str, lines: Sequence[str]) -> Iterator[tuple[int, str, Block]]:
    """Where each piece begins: its first line, its form, its first block."""
    before = ""
    for block in outline(body):
        form = _form(block, lines[block.first])
        if block.depth and (form == "inner" or (form == before and form in ("numbers", "quote"))):
            continue
        yield block.first, form, block
        before = form


def _form(block: Block, line: str) -> str:
    if not block.depth:
        plain = {Leaf.HEADING: "heading", Leaf.FENCE: "code", Leaf.CODE: "code"}
        return plain.get(block.kind, "text")
    for form, pattern in (("bullet", _BULLET), ("numbers", _NUMBER), ("quote", _QUOTE)):
        if pattern.match(line):
            return form
    return "inner"


# --- labels of links and footnotes ---


def _definitions(pieces: Sequence[_Piece]) -> dict[str, str]:
    """What each label leads to: `[1]: ../a.md`, `[^why]: Since then.` The first of two counts."""
    found: dict[str, str] = {}
    for piece in pieces:
        for line in piece.text.split("\n") if piece.form != "code" else ():
            if told := _DEFINITION.match(line):
                found.setdefault(_plain_label(told[1]), told[2].strip())
    return found


def _relabel(pieces: Sequence[_Piece], taken: dict[str, str]) -> None:
    """Give labels another name that lead elsewhere in what stands there already; `taken` learns the new ones."""
    own = _definitions(pieces)
    names = {}
    for label, leads_to in own.items():
        new, number = label, 1
        while taken.get(new, leads_to) != leads_to or (new != label and new in own):
            number += 1
            new = f"{label}-{number}"
        taken[new] = leads_to
        if new != label:
            names[label] = new
    for piece in pieces if names else ():
        if piece.form != "code":
            piece.text = _with_labels(piece.text, names)


def _with_labels(text: str, names: Mapping[str, str]) -> str:
    """The text with those labels; code keeps its letters, and the words of a link that is only a label stay."""
    made, at = [], 0
    for start, end in (*scan_inline(text).code, (len(text), len(text))):
        made.append(_LABEL.sub(lambda found: _renamed(found, names), text[at:start]))
        made.append(text[start:end])
        at = end
    return "".join(made)


def _renamed(found: "re.Match[str]", names: Mapping[str, str]) -> str:
    new = names.get(_plain_label(found[1]))
    text, behind = found.string, found.string[found.end() : found.end() + 1]
    if new is None or behind == "(":
        return found[0]
    before = text[found.start() - 1] if found.start() else ""
    if before == "[":  # of a wikilink
        return found[0]
    is_target = before == "]"
    if found[1].startswith("^") or is_target or behind == ":":
        return f"[{new}]"
    return found[0] if behind == "[" else f"{found[0]}[{new}]"


def _plain_label(label: str) -> str:
    return " ".join(label.split()).casefold()


# --- what is said already ---


def _leave_out(pieces: Sequence[_Piece], seen: set[tuple[str, ...]]) -> int:
    """Mark what need not be said again; how many blocks that are. A heading goes with all that stands beneath it."""
    for piece in pieces:
        piece.is_kept = piece.key not in seen
    for at, piece in reversed(list(enumerate(pieces))):
        if piece.introduces and not piece.is_kept:
            piece.is_kept = any(one.is_kept for one in _introduced(pieces, at))
    repeated = sum(not piece.is_kept for piece in pieces if piece.form != "heading")
    for at, piece in enumerate(pieces):
        if piece.form == "heading":
            blocks = [one.is_kept for one in _section(pieces, at) if one.form != "heading"]
            piece.is_kept = any(blocks) if blocks else piece.is_kept
    return repeated


def _introduced(pieces: Sequence[_Piece], at: int) -> Iterator[_Piece]:
    """The piece behind it, and the rest of that list."""
    for number in range(at + 1, len(pieces)):
        piece = pieces[number]
        if piece.form == "heading" or (number > at + 1 and piece.form != "bullet"):
            return
        yield piece
        if piece.form != "bullet":
            return


def _section(pieces: Sequence[_Piece], at: int) -> Iterator[_Piece]:
    """All beneath a heading."""
    for number in range(at + 1, len(pieces)):
        if pieces[number].form == "heading" and pieces[number].level <= pieces[at].level:
            return
        yield pieces[number]


def _text(pieces: Sequence[_Piece], shift: int) -> str:
    """The pieces below each other, their headings so many levels deeper."""
    text = ""
    before: _Piece | None = None
    for piece in pieces:
        is_list = before is not None and before.form == piece.form == "bullet"
        is_tight = not piece.is_spaced and before is not None and (is_list or before.introduces)
        text += "" if before is None else "\n" if is_tight else "\n\n"
        text += _deeper(piece, shift) if piece.form == "heading" else piece.text
        before = piece
    return text


def _deeper(piece: _Piece, shift: int) -> str:
    if not shift:
        return piece.text
    marks = "#" * min(piece.level + shift, _DEEPEST)
    if found := _ATX.match(piece.text):
        return marks + piece.text[found.end() :]
    return f"{marks} {' '.join(piece.title.split())}"
