"""Run by path, `<python> -I …/ai_memory/timed.py --data-dir …`, as `maintain --install-timer` writes it.

The package's parent joins the path as for `mcp_bridge.py`, and for its reasons: before other site-packages, after the
standard library. A scheduler knows no PATH of a person's, so the interpreter and this file are named.
"""

import os
import sys

if __name__ == "__main__":
    places = [at for at, one in enumerate(sys.path) if os.path.basename(one) in ("site-packages", "dist-packages")]
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(places[0] if places else len(sys.path), parent)
    from ai_memory.__main__ import main

    sys.exit(main(["maintain", *sys.argv[1:]]))
