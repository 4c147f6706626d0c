"""What a person really typed: harness scaffolding told apart by its shape, acknowledgements, questions."""

import re

_OPENING_TAG = re.compile(r"<([A-Za-z][\w-]{0,63})(?:\s[^<>]{0,500})?>")
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_OWN_TAGS = frozenset({"environment", "instructions", "INSTRUCTIONS", "caveat", "permissions", "reminder"})
"""Tags of one word that harnesses wrap around their own texts. Theirs have a `-` or `_` otherwise; HTML has not."""

_MACHINE_STARTS = (
    "Caveat: The messages below",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<INSTRUCTIONS>",
    "Base directory for this skill:",
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ACKNOWLEDGEMENTS = _words(
    """
    ok okay k kk yes yep yeah y no nope sure thanks thx ty done go continue proceed great good nice perfect cool fine
    right correct exactly agreed please lgtm alright understood hi hello hey next very much so all
    ja danke weiter oui merci si sí gracias 好 好的 可以 继续 谢谢 是 是的 对 行 嗯 明白 收到
    """
)
_ACKNOWLEDGING_PHRASES = frozenset(
    {
        "thank you",
        "got it",
        "sounds good",
        "go on",
        "go ahead",
        "please do",
        "do it",
        "yes please",
        "ship it",
        "looks good",
        "all good",
        "ok thanks",
        "keep going",
    }
)
_RESUMING = re.compile(
    r"(?:so )?(?:where (?:did|were|are|was|had) (?:we|you|i)(?: (?:stop|stopped|at|left off|leave off|left))?"
    r"|what (?:were|was) (?:we|you|i) (?:doing|working on|up to)|what(?:['’]s| is) next|what now|and now"
    r"|(?:please )?(?:continue|resume|carry on|pick up)(?: (?:from )?where (?:we|you|i) (?:left off|stopped|were))?"
    r"|(?:please )?(?:continue|resume) (?:the |our |your )?(?:work|task|last session|previous session)"
    r"|reload context(?: please)?)"
)
"""Asks for what the handoff tells; says nothing of its own. Whole texts only."""
ACKNOWLEDGEMENT_LENGTH = 20
"""Longer texts say more than yes."""

TITLE_LENGTH = 80

_CODE_BLOCK = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+")
_SENTENCE_ENDS = re.compile(
    r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)*_])\s+|(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)"
)


def substance(text: str) -> str:
    """The part of a prompt that a person typed; empty when a harness made all of it.

    A slash command with words after it counts as typed: `/review the parser`.
    """
    stripped = text.strip()
    if not stripped or stripped.startswith(_MACHINE_STARTS):
        return ""
    if "<" not in stripped:
        return stripped
    query = _QUERY.search(stripped)
    if query:
        return query[1].strip()
    command = _COMMAND.search(stripped)
    if command:
        arguments = _ARGUMENTS.search(stripped)
        words = arguments[1].strip() if arguments else ""
        return f"/{command[1].strip().lstrip('/')} {words}" if words else ""
    return _without_machine_blocks(stripped)


def _without_machine_blocks(text: str) -> str:
    """The text less every block that a harness wrapped in a tag of its own. Linear in the text's length."""
    kept, at, unclosed = [], 0, set()
    while tag := _OPENING_TAG.search(text, at):
        name = tag[1]
        end = -1
        if _is_machine_tag(name) and name not in unclosed:
            end = text.find(f"</{name}>", tag.end())
        if end < 0:
            unclosed.add(name)
            kept.append(text[at : tag.end()])
            at = tag.end()
        else:
            kept.append(text[at : tag.start()])
            at = end + len(name) + 3
    kept.append(text[at:])
    rest = "".join(kept).strip()
    first = _OPENING_TAG.match(rest)
    return "" if first and _is_machine_tag(first[1]) else rest


def _is_machine_tag(name: str) -> bool:
    return "-" in name or "_" in name or name in _OWN_TAGS


def is_acknowledgement(text: str) -> bool:
    """Whether the text only says yes, thanks or go on, or only asks where the work stands."""
    words = re.sub(r"[\s.!,?。！，？…]+", " ", text[:200]).strip().casefold()
    if not any(character.isalnum() for character in words):
        return True
    if _RESUMING.fullmatch(words):
        return True
    if len(words) > ACKNOWLEDGEMENT_LENGTH:
        return False
    return words in _ACKNOWLEDGING_PHRASES or all(word in _ACKNOWLEDGEMENTS for word in words.split())


def is_question(text: str) -> bool:
    """Whether the text ends with a question mark, half or full width."""
    return text.rstrip().rstrip("\"'”’)»*_`").endswith(("?", "？"))


def questions_of(text: str, limit: int) -> str:
    """The question sentences that the text ends with, on one line, at most `limit` characters: the last ones that fit.

    Empty when it does not end with a question.
    """
    found: list[str] = []
    for sentence in reversed(_sentences(text)):
        if not is_question(sentence):
            break
        if found and len(" ".join([sentence, *found])) > limit:
            break
        found.insert(0, sentence)
    return shorten(" ".join(found), limit)


def first_sentences(text: str, limit: int) -> str:
    """The whole sentences that fit, else the beginning; `…` where something was left out."""
    words = one_line(text)
    if len(words) <= limit:
        return words
    kept = ""
    for sentence in _sentences(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > limit - 2:
            break
        kept = longer
    return f"{kept} …" if len(kept) > limit // 3 else shorten(words, limit)


def _sentences(text: str) -> list[str]:
    """Sentences and list items of a text without its code blocks, each on one line."""
    prose = _CODE_BLOCK.sub("\n\n", text)
    parts = (one_line(_BULLET.sub("", part)) for part in _SENTENCE_ENDS.split(prose))
    return [part for part in parts if any(sign.isalnum() for sign in part)]


def title_of(text: str, limit: int = TITLE_LENGTH) -> str:
    """The first telling line of a typed text as a title, cut at a word."""
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
            continue
        words = one_line(re.sub(r"^[\s#>*+-]+|\*\*", "", line))
        if words and not in_code and any(character.isalnum() for character in words):
            return shorten(_whole_sentences(words, limit), limit).rstrip(".。")
    return shorten(one_line(text), limit)


def _whole_sentences(words: str, limit: int) -> str:
    """The sentences that fit whole, if they are more than half of what could stand there."""
    if len(words) <= limit:
        return words
    end = max(words.rfind(mark, 0, limit) for mark in (". ", "? ", "! ", "。"))
    return words[: end + 1].rstrip(".。") if end > limit // 2 else words


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: cut between words where that loses little, `…` at the cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    blank = cut.rfind(" ")
    if blank > limit * 2 // 3:
        cut = cut[:blank]
    return cut.rstrip(" ,;:.-–—(") + "…"
