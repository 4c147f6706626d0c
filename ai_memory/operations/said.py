"""What readers said against a page, in a sentence. Apart from the operation: a read loads nothing that writes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef
from ai_memory.store.feedback import Feedback

if TYPE_CHECKING:
    from ai_memory.store.snapshot import Snapshot


def version_now(snapshot: "Snapshot", ref: PageRef) -> str:
    """The version that stands; empty where there is no page."""
    page = snapshot.page(ref)
    return page.version if page is not None else ""


def told_against(said: Sequence[Feedback]) -> str:
    """What stands against a page: the newest word, and how many there are. No stored text: it may stand in a gap."""
    last = said[-1]
    by = f" by {last.agent}" if last.agent else ""
    more = f" ({len(said)} times)" if len(said) > 1 else ""
    return f"was said to be {last.signal.value}{by} on {rfc3339(last.at_us)[:10]}{more}"
