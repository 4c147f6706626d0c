"""A page that is written as text cannot claim support for a fact: only `record`, `resolve` and a person give that.

Who can write files of the wiki can write anything; this holds for tools and commands.
"""

from typing import TYPE_CHECKING

from ai_memory.errors import UsageFault
from ai_memory.text.facts import Fact, Standing, read_fact
from ai_memory.text.page import parse_leniently

if TYPE_CHECKING:
    from ai_memory.model import Page, PageRef


def unproved_claim(before: "Page | None", text: str, ref: "PageRef") -> Fact | None:
    """The fact that the text makes, where it claims a support that the page did not have; else None."""
    after = read_fact(parse_leniently(text, path=ref.path).frontmatter)
    if after is None:
        return None
    own = read_fact(before.frontmatter) if before is not None else None
    claims = {one for one in after.evidence if one.klass.supports}
    if own is not None and after.statement == own.statement and after.kind is own.kind:
        is_raised = after.standing is Standing.SUPPORTED and own.standing is not Standing.SUPPORTED
        return after if is_raised or claims - {*own.evidence} else None
    return after if claims or after.standing is Standing.SUPPORTED else None


def refuse_unproved(before: "Page | None", text: str, ref: "PageRef") -> None:
    """Errors: UsageFault for a text that claims such a support."""
    claim = unproved_claim(before, text, ref)
    if claim is not None:
        raise UsageFault(
            f"the text makes {ref.path} a fact that is supported, or gives it evidence, which no text can",
            hint="`ai-memory record` and `ai-memory resolve` look at what supports it",
        )
