"""A drain that the hook waits for, where the harness kills what a hook leaves running. Part of the hook: stdlib only.

Loaded only for such a harness, at the start and the end of a session.
"""

import subprocess  # 16 ms, where a drain is waited for anyway

from ai_memory import hook_spool

PATIENCE_S = 10.0
"""Zero gives a hook 30 s. What is not applied by then waits for the next session's start."""
HARD_S = 10.0
"""Further seconds for it to end by itself, once it was asked to."""


def drain_here(data_dir: str) -> None:
    """Apply what waits, unless another drain does. Crash: safe at any point, as a drain is."""
    if hook_spool.is_drain_alive(data_dir):
        return
    words, environ = hook_spool.drain_command(data_dir)
    child = subprocess.Popen(
        words,
        env=environ,
        cwd=data_dir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for limit_s, then in ((PATIENCE_S, child.terminate), (HARD_S, child.kill)):
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            then()
        else:
            return
    child.wait()
