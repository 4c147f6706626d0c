"""Run by path, `<python> -I -S …/ai_memory/hook.py --event E …`, as installers write it: saves the launcher's time.

A script run by path is not byte-cached, so this is a stub that imports one cached module (decision B11).
Its folder's parent goes to the end of the path: no name of the standard library is ever shadowed.
"""

import os
import sys

try:
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from ai_memory.hook_front import main

    main(sys.argv[1:])
except BaseException:  # noqa: BLE001 a broken or half-removed installation must not stop an agent
    try:
        os.write(1, b"{}")
    finally:
        os._exit(0)
