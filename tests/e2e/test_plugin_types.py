"""The plugins against the types that their harnesses publish: `tsc --strict` reads the files as they are installed.

Run by hand: `tests/e2e/install_programs.sh FOLDER types`, then
`AI_MEMORY_TEST_PROGRAMS=FOLDER pytest -m harness tests/e2e/test_plugin_types.py`.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from ai_memory.harnesses import plugin_files, registry
from ai_memory.harnesses.launch import Launch

pytestmark = pytest.mark.harness

PROGRAMS = os.environ.get("AI_MEMORY_TEST_PROGRAMS", "")
"""Read here: a test's environment is cleared of our variables."""
LAUNCH = Launch("/usr/bin/python3", "/usr/lib/ai_memory", "/home/ann/memory", "linux")
OPTIONS = {
    "allowJs": True,
    "checkJs": True,
    "strict": True,
    "noEmit": True,
    "noUnusedLocals": True,
    "target": "es2023",
    "lib": ["es2023"],
    "module": "nodenext",
    "skipLibCheck": True,
    "types": ["node"],
}


@pytest.mark.parametrize("name", ["opencode", "pi", "omp", "openclaw"])
def test_a_plugin_has_the_types_of_its_harness(name: str) -> None:
    room = Path(PROGRAMS) / "types"
    if not PROGRAMS or not (room / "node_modules" / ".bin" / "tsc").exists():
        pytest.skip("AI_MEMORY_TEST_PROGRAMS names no folder made by install_programs.sh")
    make = {
        "opencode": plugin_files.opencode_plugin,
        "pi": plugin_files.pi_extension,
        "omp": plugin_files.omp_extension,
        "openclaw": plugin_files.openclaw_plugin,
    }[name]
    folder = room / f"check-{name}"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "ai-memory.js").write_text(make(registry.get(name), LAUNCH))
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "files": ["ai-memory.js"]}))
    tsc = room / "node_modules" / ".bin" / "tsc"
    done = subprocess.run([tsc, "-p", folder], capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stdout
