"""Diagnose a function of the calling process, with the objects that it is called with."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from compilefix import progress, registry
from compilefix.diagnosis import adaptor, session
from compilefix.diagnosis.result import Diagnosis
from compilefix.diagnosis.session import Options
from compilefix.diagnosis.subject import Subject, write
from compilefix.errors import HarnessError, UsageError
from compilefix.runner.forked import ForkedLauncher
from compilefix.runner.layered import LayeredLauncher
from compilefix.runner.session import default_cache, require_torch
from compilefix.runner.warm import usable_cache

COPIES = 6
"""Copies of its inputs that a probe holds at a time."""


def diagnose(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Diagnosis:
    """
    Find out which part of the compiler breaks ``function(*args, **kwargs)``, and what works instead.

    `function` is a function, closure, lambda, method or `torch.nn.Module`, compiled already or not. It is called in
    forked processes: nothing that it does reaches the caller, and inputs need not be picklable. With
    `diagnose_call` one sets options. A notebook shows the probes while they run, and the result as a page.

    Raises:
        UsageError: `function` cannot be called, or not with these arguments.
        HarnessError: this system cannot fork safely, the process uses CUDA, or the probes' parent died.

    """
    return diagnose_call(function, args, kwargs)


def diagnose_call(
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    options: Options | None = None,
    compile: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
) -> Diagnosis:
    """
    Diagnose one call as `options` say.

    `compile` are arguments of ``torch.compile`` such as ``dynamic=True``; `config` are settings by their full names.
    See `diagnose` for what is raised.
    """
    if not callable(function):
        raise UsageError(f"a {type(function).__name__} cannot be called")
    if adaptor.LIVE:
        raise UsageError("a diagnosis is running in this process already")
    options = options or Options(records=registry.discover().records, diff=True)
    require_torch()
    session.check_isolation(options)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise HarnessError("this process uses CUDA, which does not survive a fork; diagnose FILE:FUNC instead")
    folder, trouble = usable_cache(str(options.cache or default_cache()))
    notes: tuple[str, ...] = (f"cache folder not usable ({trouble}); compiled cold in {folder}",) if trouble else ()
    notes += _notes(args, kwargs or {}, options)
    adaptor.LIVE.update(function=function, args=tuple(args), kwargs=dict(kwargs or {}))
    name = getattr(function, "__qualname__", type(function).__name__)

    def make(where: Path) -> Subject:
        fields = {"compile": dict(compile or {}), "config": dict(config or {})}
        made = write(name, where, {"kind": "live"}, fields, function=name.rpartition(".")[2])
        return Subject(**{f: getattr(made, f) for f in made.__dataclass_fields__} | {"warnings": notes})

    try:
        launcher = LayeredLauncher(ForkedLauncher, folder, options.gpu)
        try:
            with progress.probes() as watch:
                return session.run(make, options, launcher=launcher, watch=watch)
        finally:
            launcher.close()
    finally:
        adaptor.LIVE.clear()


def _notes(args: Sequence[Any], kwargs: Mapping[str, Any], options: Options) -> tuple[str, ...]:
    """Return what forking this process loses, and what the inputs need."""
    notes = []
    if threading.active_count() > 1:
        notes.append(f"{threading.active_count() - 1} other threads of this process are not there in the probes")
    if torch.get_num_threads() > 1:
        notes.append("probes compute on one thread: a pool that torch has started does not survive a fork")
    leaves = torch.utils._pytree.tree_leaves((tuple(args), dict(kwargs)))
    size = sum(leaf.nbytes for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided)
    if options.memory is not None and size * COPIES > options.memory:
        notes.append(
            f"inputs of {size / 2**30:.1f} GiB: a probe may need {COPIES} times that, its limit is "
            f"{options.memory / 2**30:.1f} GiB"
        )
    if sys.platform != "linux":
        notes.append("forking is tried on Linux only")
    return tuple(notes)
