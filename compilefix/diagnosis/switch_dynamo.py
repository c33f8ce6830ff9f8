"""Parts of Dynamo: guards, what follows a graph break, callees."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch._dynamo import convert_frame, symbolic_convert, types

from compilefix.registry import Record

RESUMED = "torch_dynamo_resume_in_"


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """
    Change how Dynamo works.

    `told` has ``fresh`` (everything compiled is forgotten before each call), ``no_resume`` (what follows a graph break
    runs plainly), ``plain`` (code, as ``file:function:line``, that is not inlined but runs plainly), and ``list``,
    which leaves the code that was inlined in ``seen["inlined"]``.
    """
    with contextlib.ExitStack() as stack:
        if told.get("fresh"):
            stack.enter_context(_fresh())
        if told.get("no_resume"):
            stack.enter_context(_skipping(lambda code: code.co_name.startswith(RESUMED)))
        if told.get("plain") or told.get("list"):
            stack.enter_context(_inlining(frozenset(told.get("plain", ())), seen, listing=bool(told.get("list"))))
        yield


@contextlib.contextmanager
def _fresh() -> Iterator[None]:
    from compilefix.runner import execution

    original = execution.Recorder.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        torch._dynamo.reset()
        return original(self, *args, **kwargs)

    with mock.patch.object(execution.Recorder, "__call__", call):
        yield


@contextlib.contextmanager
def _skipping(skipped: Any) -> Iterator[None]:
    original = convert_frame.ConvertFrameAssert.__call__
    nothing = getattr(types, "ConvertFrameReturn", None)  # on older releases None says it

    def call(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        if skipped(frame.f_code):
            return nothing() if nothing is not None else None
        return original(self, frame, *args, **kwargs)

    with mock.patch.object(convert_frame.ConvertFrameAssert, "__call__", call):
        yield


@contextlib.contextmanager
def _inlining(plain: frozenset[str], seen: dict[str, Any], *, listing: bool) -> Iterator[None]:
    owner: Any = symbolic_convert.InliningInstructionTranslator
    bound = owner.inline_call
    found: dict[str, None] = {}

    def inline_call(cls: Any, parent: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        code = function.get_code() if hasattr(function, "get_code") else None
        if code is not None:
            key = f"{code.co_filename}:{code.co_name}:{code.co_firstlineno}"
            found[key] = None
            if key in plain:
                break_graph(f"kept plain: {code.co_name}")
        return bound(parent, function, *args, **kwargs)

    try:
        with mock.patch.object(owner, "inline_call", classmethod(inline_call)):
            yield
    finally:
        if listing:
            seen["inlined"] = [key for key in found if "/torch/" not in key]


def break_graph(reason: str) -> None:
    """Break the graph at the call that is being traced."""
    from torch._dynamo import exc

    try:
        exc.unimplemented(gb_type="switched off", context=reason, explanation=reason, hints=[])
    except TypeError:
        exc.unimplemented(reason)  # type: ignore[call-arg]
