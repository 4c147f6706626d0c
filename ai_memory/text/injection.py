"""Whether a stored text is shaped like an order to an agent. It is shown all the same, marked: it is data."""

import re

_ORDERS = re.compile(
    r"""(?ix)
    \b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|my\s+)*
        (?:previous|prior|above|earlier|former|system)\s+(?:instructions?|prompts?|rules?|messages?|directions?)
    | \byou\s+(?:are\s+now|must\s+now|will\s+now)\b
    | \b(?:new|updated|real)\s+(?:system\s+)?instructions?\s*:
    | </?(?:system|assistant|instructions?|im_start|im_end)\b[^>]*> | <\|[a-z_]{2,20}\|>
    | \bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+(?:the\s+)?(?:user|human|person)\b
    | \b(?:reveal|print|show|send|exfiltrate|upload)\s+(?:me\s+|us\s+)?(?:your\s+|the\s+|all\s+)*
        (?:system\s+prompt|api\s+keys?|credentials|secrets|environment\s+variables)\b
    """
)


_VERBS = ("ignore", "disregard", "forget", "override")
_SECRETS = ("api", "credentials", "secrets", "environment")
_BRACKETED = ("system", "assistant", "instruction", "im_", "<|")


def is_order_shaped(text: str) -> bool:
    """Whether the text reads like instructions to a model: what an injection would say. Misses what is put politely."""
    return order_at(text) is not None


def order_at(text: str) -> int | None:
    """Where in the text it begins to read like that; None where it does not."""
    if not _may_hold_orders(text):
        return None
    found = _ORDERS.search(text)
    return None if found is None else found.start()


def _may_hold_orders(text: str) -> bool:
    """Whether words occur without which none of the patterns fits: looking for those takes a tenth of the time."""
    low = text.replace("\u0130", "i").casefold().replace("\u0131", "i")  # as `re` takes letters for alike
    return (
        "instruction" in low
        or ("now" in low and "you" in low)
        or any(word in low for word in _VERBS)
        or ("<" in low and any(word in low for word in _BRACKETED))
        or ("not" in low and ("user" in low or "human" in low or "person" in low))
        or any(word in low for word in _SECRETS)
        or ("prompt" in low and "system" in low)
    )
