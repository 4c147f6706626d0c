"""A new index takes the vectors that `cache.db` knows: no model runs for what was read once."""

from ai_memory.paths import DataDir
from ai_memory.store import driver, vectors
from ai_memory.store.cache import Cache
from ai_memory.store.driver import Connection


def take_cached_vectors(connection: Connection, data_dir: DataDir) -> int:
    """Fill an index that holds no vector; gives how many it took. Crash: one transaction.

    Vectors of the encoder that was used last alone: others would only lie there. A disk that refuses them is no fault:
    the pages are found without.
    """
    cache = Cache(data_dir)
    encoder = next(iter(cache.encoders()), None)
    if encoder is None or vectors.has_any(connection):
        return 0
    try:
        with cache.looking_up(encoder) as look_up, driver.transaction(connection):
            return vectors.restore(connection, encoder, look_up)
    except driver.OperationalError as fault:
        if driver.is_damage(fault):
            raise
        return 0
