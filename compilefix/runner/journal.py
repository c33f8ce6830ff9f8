"""Results as they come, on disk: what `--resume` continues from."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from compilefix import __version__
from compilefix.environment import Environment
from compilefix.outcome import Result, Target
from compilefix.registry import Record


class Journal:
    """
    One file of JSON lines for this check, in a folder shared by all checks.

    A line counts only for the same repro text, torch build, targets and seed, so stale lines are never taken for
    results. The file is removed when the check completes and stays when it was interrupted or killed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{time.time_ns()}-{os.getpid()}.jsonl"
        self._used: set[Path] = set()

    def load(self, keys: dict[str, str]) -> dict[str, Result]:
        """Return the results that earlier checks left behind, by record id; `keys` says which of them count."""
        found: dict[str, Result] = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    raw = json.loads(line)
                    result = Result.from_json(raw["result"])
                except (ValueError, KeyError, TypeError):
                    continue  # the line that was being written when the process was killed
                if keys.get(result.id) == raw["key"]:
                    found[result.id] = result
                    self._used.add(path)
        return found

    def add(self, key: str, result: Result) -> None:
        """Append one result; it is on disk when this returns."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "result": result.to_json()}, default=str) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def complete(self) -> None:
        """Forget this check and those it continued."""
        for path in (self._path, *self._used):
            path.unlink(missing_ok=True)


def key(record: Record, environment: Environment, targets: tuple[Target, ...], seed: int, grid: str = "forward") -> str:
    """Return what must be equal for a result to count as this check's."""
    parts = [__version__, record.source, environment.torch, str(environment.torch_git), environment.python]
    parts += [str(environment.isa), str(environment.cxx), str(environment.numpy), str(environment.gpu), str(seed)]
    parts.append(grid)
    parts += map(str, targets)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
