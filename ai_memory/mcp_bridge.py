"""Run by path, `<python> -I …/ai_memory/mcp_bridge.py --data-dir …`, as installers write it into MCP settings.

`-I` keeps the folder in which an agent works, and its PYTHONPATH, from lending modules to us; it also hides packages of
`pip install --user`. So the package's parent joins the path, with all that is installed beside ours: after the standard
library, of which it shadows no name, and before other site-packages, which may hold another version of ours.
"""

import os
import sys

if __name__ == "__main__":
    places = [at for at, one in enumerate(sys.path) if os.path.basename(one) in ("site-packages", "dist-packages")]
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(places[0] if places else len(sys.path), parent)
    from ai_memory.__main__ import main

    sys.exit(main(["mcp-bridge", *sys.argv[1:]]))
