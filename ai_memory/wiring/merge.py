"""What is ours into a document of somebody else, and out again. Theirs, and its order, stays."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ai_memory.harnesses.edits import Element, Json, Member, Part, Requirement
from ai_memory.text.jsonc_edit import Step
from ai_memory.wiring.documents import Document, Refused
from ai_memory.wiring.ours import is_our_entry

Way = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known besides the document itself."""

    recorded: frozenset[Way] = frozenset()
    """Ways of members that we wrote before, as a record says: what stands there is ours."""
    is_forced: bool = False
    """An entry under our name may be replaced, whoever wrote it."""


def with_ours(document: Document, parts: Sequence[Part], terms: Terms) -> Document:
    """The document with every part, ours once and last; the same one where nothing is missing.

    *Errors*: Refused where an entry under our name is not ours, or a value that is required has another one.
    """
    parts = [replace(part, value=_plain(part.value)) for part in parts]
    for part in parts:
        if isinstance(part, Requirement):
            document = _with_required(document, part)
    groups = _groups(parts)
    for way in _swept(document, groups):
        document = _without_elements(document, way, _is_ours(groups, way), _inner(groups, way))
    for way, elements in groups.items():
        document = _with_elements(document, way, elements)
    for part in parts:
        if isinstance(part, Member):
            document = _with_member(document, part, terms)
    return document


def without_ours(document: Document, parts: Sequence[Part], terms: Terms, original: Json) -> Document:
    """The document without any part of ours, and without objects and lists that we made for them.

    Of these the `original` knows: what the document meant before us. Where nobody knows it any more, what holds
    nothing is taken for ours. An entry under our name that is not ours stays.
    """
    before = document.text
    parts = [replace(part, value=_plain(part.value)) for part in parts]
    groups = _groups(parts)
    for way in (*groups, *_swept(document, groups)):
        document = _without_elements(document, way, _is_ours(groups, way), _inner(groups, way))
    for part in parts:
        if isinstance(part, Member):
            found = document.value(part.keys)
            if found is not None and (part.keys in terms.recorded or found == part.value or is_our_entry(found)):
                document = document.remove(part.keys)
    if document.text == before:
        return document
    return _without_required(_pruned(document, parts, original), parts, original)


def _with_required(document: Document, part: Requirement) -> Document:
    found = document.value(part.keys)
    if found == part.value:
        return document
    if found is not None:
        name = ".".join(part.keys)
        raise Refused(
            f"`{name}` is {found!r}, and only {part.value!r} is known here",
            line=document.line_of(part.keys),
            column=1,
            hint="a newer version of the program may have written it: update ai-memory, or wire it by hand",
        )
    return document.set(part.keys, part.value)


def _without_required(document: Document, parts: Sequence[Part], original: Json) -> Document:
    """Without what is required and was not there before; where nobody knows, without what now stands there alone."""
    required = [part for part in parts if isinstance(part, Requirement)]
    rest = document
    for part in required:
        rest = _pruned(rest.remove(part.keys), [part], original)
    for part in required:
        is_alone = original is None and not rest.value(part.keys[:-1])
        if is_alone or (original is not None and not _holds(original, part.keys)):
            document = _pruned(document.remove(part.keys), [part], original)
    return document


def _pruned(document: Document, parts: Sequence[Part], original: Json) -> Document:
    """Without objects and lists above these parts that hold nothing and that were not there before."""
    for way in sorted({way for part in parts for way in _above(part)}, key=len, reverse=True):
        if document.value(way) in ({}, []) and (original is None or not _holds(original, way)):
            document = document.remove(way)
    return document


def _groups(parts: Sequence[Part]) -> dict[Way, list[Element]]:
    """Elements by their list, in order; what two harnesses want alike stands there once."""
    groups: dict[Way, list[Element]] = {}
    for part in parts:
        if isinstance(part, Element):
            group = groups.setdefault(part.keys, [])
            if all(one.value != part.value for one in group):
                group.append(part)
    return groups


def _swept(document: Document, groups: Mapping[Way, list[Element]]) -> list[Way]:
    """Lists beside ours in which former versions, or another choice of events, may have left something."""
    found = []
    for above in dict.fromkeys(way[:-1] for way in groups):
        siblings = document.value(above)
        if isinstance(siblings, dict):
            found += [(*above, key) for key, value in siblings.items() if isinstance(value, list)]
    return [way for way in found if way not in groups]


def _is_ours(groups: Mapping[Way, list[Element]], way: Way) -> Callable[[Json], bool]:
    known = [one.is_ours for own, group in groups.items() for one in group if own[:-1] == way[:-1]]
    return lambda value: any(is_ours(value) for is_ours in known)


def _inner(groups: Mapping[Way, list[Element]], way: Way) -> str:
    return next((one.inner for own, group in groups.items() for one in group if own[:-1] == way[:-1]), "")


def _with_elements(document: Document, way: Way, elements: list[Element]) -> Document:
    is_ours, inner = _is_ours({way: elements}, way), elements[0].inner
    present = document.value(way)
    if present is not None and not isinstance(present, list):
        raise Refused(f"`{'.'.join(way)}` is no list", line=document.line_of(way), column=1)
    wanted = [one.value for one in elements]
    if [ours for one in present or () if (ours := _our_share(one, is_ours, inner)) is not None] == wanted:
        return document
    document = _without_elements(document, way, is_ours, inner)
    for value in wanted:
        document = document.append(way, value)
    return document


def _without_elements(document: Document, way: Way, is_ours: Callable[[Json], bool], inner: str) -> Document:
    """Without ours in one list: whole elements from the end, or ours inside one that others share."""
    present = document.value(way)
    if not isinstance(present, list):
        return document
    for place in reversed(range(len(present))):
        steps = list(_gone(present[place], is_ours, inner))
        for step in reversed(steps):
            document = document.remove((*way, place, *step))
    return document


def _gone(value: Json, is_ours: Callable[[Json], bool], inner: str) -> Iterator[tuple[Step, ...]]:
    """What of an element goes: `()` for all of it."""
    shared = value.get(inner) if inner and isinstance(value, dict) else None
    if not isinstance(shared, list):
        if is_ours(value):
            yield ()
        return
    places = [place for place, one in enumerate(shared) if is_ours(one)]
    if places and len(places) == len(shared):
        yield ()
        return
    yield from ((inner, place) for place in places)


def _our_share(value: Json, is_ours: Callable[[Json], bool], inner: str) -> Json:
    """The element as it would be with ours alone, None where nothing of it is ours."""
    shared = value.get(inner) if inner and isinstance(value, dict) else None
    if not isinstance(shared, list) or not isinstance(value, dict):
        return value if is_ours(value) else None
    ours = [one for one in shared if is_ours(one)]
    return {**value, inner: ours} if ours else None


def _with_member(document: Document, part: Member, terms: Terms) -> Document:
    found = document.value(part.keys)
    if found == part.value or (found is None and part.value is None):
        return document
    if found is None:
        return document.set(part.keys, part.value)
    if not (terms.is_forced or part.keys in terms.recorded or is_our_entry(found)):
        raise Refused(
            f"`{'.'.join(part.keys)}` is there already and not ours",
            line=document.line_of(part.keys),
            column=1,
            hint="take it out, or replace it with --force",
        )
    if not (isinstance(found, dict) and isinstance(part.value, dict) and "command" in found.keys() & part.value.keys()):
        return document.set(part.keys, part.value)
    for key, value in part.value.items():  # what a person, or the program, added to our entry stays
        if found.get(key) != value:
            document = document.set((*part.keys, key), value)
    return document


def _above(part: Part) -> list[Way]:
    """The ways of the objects and lists that hold a part, the root left out."""
    most = len(part.keys) if isinstance(part, Element) else len(part.keys) - 1
    return [part.keys[:length] for length in range(1, most + 1)]


def _holds(original: Json, way: Way) -> bool:
    for key in way:
        if not isinstance(original, dict) or key not in original:
            return False
        original = original[key]
    return True


def _plain(value: Json) -> Json:
    """Lists and objects as readers give them, so that values compare."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
