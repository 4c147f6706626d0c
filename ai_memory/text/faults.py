"""The fault of a page that cannot be read as one."""

from ai_memory.errors import MemoryFault


class BadPage(MemoryFault):
    """A page that cannot be read as one; names the file and its 1-based line."""

    def __init__(self, path: str, line: int, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{path}, line {line}: {problem}", hint=hint or "edit the file and save it again")
        self.path = path
        self.line = line
        self.problem = problem
