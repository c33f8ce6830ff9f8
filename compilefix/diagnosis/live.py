"""Diagnose a function of the calling process, with the objects that it is called with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from compilefix import progress, registry
from compilefix.diagnosis import adaptor, session
from compilefix.diagnosis.result import Diagnosis
from compilefix.diagnosis.saved import save
from compilefix.diagnosis.session import Options
from compilefix.diagnosis.subject import Subject, write
from compilefix.errors import UsageError
from compilefix.issue import STAGES
from compilefix.outcome import Target
from compilefix.runner.forked import ForkedLauncher
from compilefix.runner.layered import LayeredLauncher
from compilefix.runner.session import default_cache, default_isolation, require_torch
from compilefix.runner.warm import usable_cache

COPIES = 6
"""Copies of its inputs that a probe holds at a time."""


def diagnose(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Diagnosis:
    """
    Find out which part of the compiler breaks ``function(*args, **kwargs)``, and what works instead.

    `function` is a function, closure, lambda, method or `torch.nn.Module`, compiled already or not. It is called in
    forked processes: nothing that it does reaches the caller, and inputs need not be picklable. A process that uses
    CUDA, or a system that does not fork safely, carries the call over as a pickle instead. With `diagnose_call` one
    sets options. A notebook shows the probes while they run, and the result as a page.

    Raises:
        UsageError: `function` cannot be called, or not with these arguments.
        HarnessError: the call can neither be forked nor pickled, or the probes' parent died.

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
    fields: dict[str, Any] = {"compile": dict(compile or {}), "config": dict(config or {})}
    name = getattr(function, "__qualname__", type(function).__name__)
    notes = _size_notes(args, kwargs or {}, options)
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if cuda or (options.isolation or default_isolation()) != "fork":
        return _carried(name, (adaptor.uncompiled(function), args, kwargs or {}), fields, notes, options, cuda=cuda)
    folder, trouble = usable_cache(str(options.cache or default_cache()))
    notes = (*_fork_notes(), *notes)
    notes += (f"cache folder not usable ({trouble}); compiled cold in {folder}",) if trouble else ()
    adaptor.LIVE.update(function=function, args=tuple(args), kwargs=dict(kwargs or {}))
    try:
        launcher = LayeredLauncher(ForkedLauncher, folder, options.gpu)
        try:
            with progress.probes() as watch:
                return session.run(
                    lambda f: _subject(name, f, {"kind": "live"}, fields, notes),
                    options,
                    launcher=launcher,
                    watch=watch,
                )
        finally:
            launcher.close()
    finally:
        adaptor.LIVE.clear()


def _subject(
    name: str, folder: Path, spec: dict[str, Any], fields: Mapping[str, Any], notes: tuple[str, ...]
) -> Subject:
    return replace(write(name, folder, spec, fields, function=name.rpartition(".")[2]), warnings=notes)


def _carried(
    name: str,
    call: tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]],
    fields: dict[str, Any],
    notes: tuple[str, ...],
    options: Options,
    *,
    cuda: bool,
) -> Diagnosis:
    """Diagnose a call in processes that are not children of this one."""
    leaves = torch.utils._pytree.tree_leaves(call[1:])
    if cuda and not options.targets and any(isinstance(leaf, torch.Tensor) and leaf.is_cuda for leaf in leaves):
        options = replace(options, targets=tuple(Target(stage, "cuda") for stage in STAGES))
    notes = ("the call was carried to other processes as a pickle: this one cannot be forked", *notes)

    def make(folder: Path) -> Subject:
        folder.mkdir(parents=True, exist_ok=True)
        spec = {"kind": "saved", "file": str(save(*call, folder))}
        return _subject(name, folder, spec, fields, notes)

    with progress.probes() as watch:
        return session.run(make, options, watch=watch)


def _fork_notes() -> tuple[str, ...]:
    """Return what forking this process loses."""
    notes = []
    if threading.active_count() > 1:
        notes.append(f"{threading.active_count() - 1} other threads of this process are not there in the probes")
    if torch.get_num_threads() > 1:
        notes.append("probes compute on one thread: a pool that torch has started does not survive a fork")
    return tuple(notes)


def _size_notes(args: Sequence[Any], kwargs: Mapping[str, Any], options: Options) -> tuple[str, ...]:
    """Return what the inputs need."""
    leaves = torch.utils._pytree.tree_leaves((tuple(args), dict(kwargs)))
    size = sum(leaf.nbytes for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided)
    if options.memory is None or size * COPIES <= options.memory:
        return ()
    return (
        f"inputs of {size / 2**30:.1f} GiB: a probe may need {COPIES} times that, its limit is "
        f"{options.memory / 2**30:.1f} GiB",
    )
