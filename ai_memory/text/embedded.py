"""What of a chunk an encoder reads, and the hash by which its vector is known again."""

import hashlib

HASH_BYTES = 16


def embedded_text(title: str, heading: str, body: str) -> str:
    """Title, heading path and text, a line each. Alone, a passage often does not say what it speaks of."""
    return "\n".join([part for part in (title, heading if heading != title else "", body) if part])


def text_hash(text: str) -> bytes:
    """16 bytes by which equal texts are known, without a prefix: that is the encoder's."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def query_hash(prefix: str, query: str) -> bytes:
    """The same of a query, with the prefix that it is read under."""
    return text_hash(f"{prefix}\0{query}")
