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


def is_order_shaped(text: str) -> bool:
    """Whether the text reads like instructions to a model: what an injection would say. Misses what is put politely."""
    return _ORDERS.search(text) is not None
