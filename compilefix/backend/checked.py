"""One graph under guard: compiled, tried on its first calls, and run plainly once it has been seen to differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from compilefix.backend.keep import keep, name_of
from compilefix.backend.options import GuardOptions
from compilefix.oracle.trial import UncheckedError, trial
from compilefix.outcome import Difference
from compilefix.report.interface import describe
from compilefix.text import first_line

NEVER = -1
"""A countdown that started here does not come to 0."""


class MismatchWarning(UserWarning):
    """A compiled graph differs from its plain run."""


class MismatchError(RuntimeError):
    """A compiled graph differs from its plain run, and ``on_mismatch`` is ``raise``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReport:
    """How one graph stands."""

    id: str
    """Empty until the graph's first call: the name is made of its code and the kind of its inputs."""

    state: str
    """``checked``, ``not checked`` (with `reason`), ``differs``, ``does not compile``."""

    trials: int
    runs: str
    """``inductor`` or ``eager``: what runs it from now on."""

    reason: str | None = None
    differences: tuple[Difference, ...] = ()
    folder: Path | None = None


class CheckedGraph:
    """What Dynamo calls in place of the compiled graph."""

    def __init__(self, plain: torch.fx.GraphModule, options: GuardOptions) -> None:
        self._plain = plain
        self._options = options
        self._fast: Callable[..., Any] = plain.forward
        self._runs = "eager"
        self._countdown = 1 if options.check_calls else options.sample_every or NEVER
        self._trials = 0
        self._id = ""
        self._reason: str | None = None
        self._differences: tuple[Difference, ...] = ()
        self._folder: Path | None = None
        self._broken: str | None = None

    @property
    def report(self) -> GraphReport:
        """How the graph stands now."""
        state = "checked" if self._trials else "not checked"
        if self._reason is not None:
            state = "not checked"
        if self._differences:
            state = "differs"
        if self._broken:
            state = "does not compile"
        return GraphReport(
            id=self._id,
            state=state,
            trials=self._trials,
            runs=self._runs,
            reason=self._broken or self._reason,
            differences=self._differences,
            folder=self._folder,
        )

    def compile(self, compiler: Callable[[], Callable[..., Any]]) -> None:
        """Let `compiler` compile the graph; where it fails, the plain one stays and is kept at its first call."""
        try:
            self._fast = compiler()
            self._runs = "inductor"
        except Exception as error:
            if self._options.on_mismatch != "fallback":
                raise
            self._broken = f"{type(error).__name__}: {first_line(str(error))}"
            self._countdown = 1

    def __call__(self, *args: Any) -> Any:
        """Run the graph on `args`; a call that is due is tried on copies of them first."""
        self._countdown -= 1
        if self._countdown == 0:
            self._due(args)
        return self._fast(*args)

    def _due(self, args: tuple[Any, ...]) -> None:
        self._id = self._id or name_of(self._plain, args)
        if self._broken:
            self._countdown = NEVER
            self._warn(args, f"does not compile ({self._broken})")
            return
        try:
            found = trial(self._fast, self._plain, args, held=self._plain.buffers())
        except UncheckedError as error:
            self._reason, self._countdown = str(error), NEVER
            return
        self._trials += 1
        more = self._trials < self._options.check_calls
        self._countdown = 1 if more else self._options.sample_every or NEVER
        if found:
            self._differs(args, found)

    def _differs(self, args: tuple[Any, ...], found: tuple[Difference, ...]) -> None:
        self._differences, self._countdown = found, NEVER
        if self._options.on_mismatch == "fallback":
            self._fast, self._runs = self._plain.forward, "eager"
        self._warn(args, f"differs from its plain run ({describe(found[0])})")

    def _warn(self, args: tuple[Any, ...], what: str) -> None:
        try:
            self._folder, missing = keep(
                self._plain, args, self._differences, self._options.root, self._options.keep_bytes
            )
            kept = f"kept in {self._folder}" + (f", but {missing}" if missing else "")
        except OSError as error:
            kept = f"could not be kept: {error}"
        message = f"compiled {self._id}{_source(self._plain)} {what}; {kept}"
        if self._options.on_mismatch == "raise":
            raise MismatchError(message)
        after = "runs in eager from now on" if self._runs == "eager" else "goes on as compiled"
        warnings.warn(MismatchWarning(f"{message}; it {after}"), stacklevel=4)


def _source(graph: torch.fx.GraphModule) -> str:
    """Return where the user's program has the first operation of `graph`, as `` of file.py:12``."""
    for node in graph.graph.nodes:
        lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines() if 'File "' in line]
        if lines:
            file, _, rest = lines[-1].removeprefix('File "').partition('", line ')
            return f" of {Path(file).name}:{rest.split(',')[0]}"
    return ""
