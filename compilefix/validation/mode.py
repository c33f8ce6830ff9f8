"""``validate()``: a mode of torch that checks index-taking calls before they run."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, overload

import torch
from packaging.version import Version
from torch.overrides import TorchFunctionMode

from compilefix.errors import UsageError
from compilefix.validation.call import Call, bind
from compilefix.validation.faults import DuplicateIndexWarning, IndexFault, UncheckedWarning
from compilefix.validation.graph import checked, judge, trace, values_of
from compilefix.validation.table import SPECS, SPELLINGS
from compilefix.validation.values import in_range

P = ParamSpec("P")
R = TypeVar("R")

POLICIES = ("warn", "error", "ignore")
"""What happens to duplicate indices that write different values."""

OLDEST_TRACED = "2.6"
"""Oldest release on which tracing through the mode was measured."""

ASSIGNMENTS_HIDDEN = "2.14"
"""From here on Dynamo traces ``x[i] = v`` without asking modes; measured on 2.14.1 and 2.15.0, and not so on 2.13.0."""

LIMITS = (
    "graph: the first operator that goes wrong raises, the others are not looked at",
    "graph: shape, dtype and device faults raise while tracing, as torch._dynamo.exc.TorchRuntimeError with the text",
    "graph: shared memory, expanded targets and leaves written in place are not checked, graphs have no addresses",
    "graph: duplicates are found when the graph runs; their warning has no call site",
    "graph: rules on a size that is known only when the graph runs are left to torch",
    "graph: Dynamo hides the function torch.index_put_ from modes (the method and index_put are seen)",
    "graph, torch 2.14 and later: Dynamo hides x[i] = v from modes (the methods are seen)",
    "graph, torch 2.9 and older: Inductor drops a call whose result nobody uses, and the check with it",
    "graph: CUDA graphs, cpp_wrapper and AOTInductor were not measured",
    "nested tensors are left to torch",
    "meta and fake tensors: shapes, dtypes and devices only, they have no values",
    "tensor subclasses: shapes, dtypes and devices only",
    "graph: an integer tensor without dimensions between brackets is left to torch",
    "indices as nested lists, several masks and masks beside integers: their broadcasting is left to torch",
    "torch.ops.aten.*, out= and C++ callers are not seen, nor are other threads: modes of torch are thread-local",
)
"""What validated mode does not check."""


class validate(TorchFunctionMode):  # noqa: N801 - used like a function, and Dynamo traces modes as classes
    """
    Check every index-taking call before it runs, and raise `IndexFault` with one line a fault.

    Works on plain code, around compiled functions and inside them (``fullgraph=True`` too); off, it costs nothing.
    Entering it around a function that is compiled already compiles that function once more, with the checks in.

    `duplicates` says what happens to indices that write different values to one place without a reduction: "warn"
    (`DuplicateIndexWarning`, once a call site and activation), "error" or "ignore". Another value is a ValueError.
    `limits` lists what is not checked; where this release of torch adds to that, an `UncheckedWarning` says so once a
    process. Checks read index values, so on an accelerator they wait for it.
    """

    limits = LIMITS

    def __init__(self, duplicates: str = "warn"):
        super().__init__()
        if duplicates not in POLICIES:
            raise ValueError(f"duplicates={duplicates!r} must be one of {', '.join(map(repr, POLICIES))}")
        self.duplicates = duplicates
        self.warned: set[tuple[str, int]] = set()
        if not torch.compiler.is_compiling():
            _warn_of_release()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Check `func` if it takes indices, then call it."""
        kwargs = kwargs or {}
        if func not in SPELLINGS:
            return func(*args, **kwargs)
        key, op, in_place = SPELLINGS[func]
        if not torch.compiler.is_compiling():
            with torch._C.DisableTorchFunction():  # other modes see the call, not the checks
                self._check(key, op, in_place, args, kwargs)
            return func(*args, **kwargs)
        spec = SPECS[key]
        if spec.brackets:
            args = (args[0], _lists_as_tensors(args[1]), *args[2:])
            if not _has_tensor(args[1]):
                return func(*args, **kwargs)
        fresh = trace(key, op, in_place, self.duplicates, args, kwargs)
        if not spec.value_rules:
            return func(*args, **kwargs)
        place = spec.parameters.index(spec.index)
        if len(args) > place:
            args = (*args[:place], _with_tensors(args[place], fresh), *args[place + 1 :])
        elif spec.index in kwargs:
            kwargs = {**kwargs, spec.index: _with_tensors(kwargs[spec.index], fresh)}
        return func(*args, **kwargs)

    def _check(self, key: str, op: str, in_place: bool, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        spec = SPECS[key]
        call = bind(spec, op, in_place, args, kwargs)
        if call is None:
            return
        tensors = [t for t in (call.target, call.source, *(i.tensor for i in call.indices)) if t is not None]
        plain = all(map(_is_plain, tensors))
        call = replace(call, readable=plain)
        faults = [line for rule in spec.rules for line in rule(call)]
        if plain and in_place:
            faults += [line for rule in spec.memory_rules for line in rule(call)]
        conflicts: list[str] = []
        if plain and not faults:
            faults, conflicts = judge(values_of(call, self.duplicates), self.duplicates)
        elif plain:
            faults += _range_faults(call)
        elif not faults and call.indices and all(_is_plain(_unwrapped(t)) for t in tensors):
            checked(key, call, self.duplicates)
        if faults:
            raise IndexFault(*(f"{op}: {line}" for line in faults))
        for line in conflicts:
            self._warn(f"{op}: {line}")

    def _warn(self, text: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
            frame = frame.f_back
        site = frame.f_code.co_filename, frame.f_lineno
        if site not in self.warned:
            self.warned.add(site)
            warnings.warn_explicit(text, DuplicateIndexWarning, *site)


_OURS = frozenset({"compilefix", "torch"})


@overload
def validated(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def validated(*, duplicates: str = "warn") -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def validated(function: Callable[P, R] | None = None, /, *, duplicates: str = "warn") -> Any:
    """Return `function` with `validate` on while it runs; works above and below ``torch.compile``."""
    if function is None:
        return functools.partial(_validated, duplicates)
    return _validated(duplicates, function)


def _validated(duplicates: str, function: Callable[P, R]) -> Callable[P, R]:
    validate(duplicates)  # a wrong policy is heard at the definition

    @functools.wraps(function)
    def checked_function(*args: P.args, **kwargs: P.kwargs) -> R:
        with validate(duplicates):
            return function(*args, **kwargs)

    return checked_function


def from_environment() -> validate | None:
    """
    Turn the mode on for the importing thread, for good, if ``COMPILEFIX_VALIDATE`` says so; return it.

    ``1`` turns it on, ``0`` or nothing leaves it off, ``warn``, ``error`` and ``ignore`` turn it on with that policy
    for duplicates. Raises `UsageError` for anything else.
    """
    value = os.environ.get("COMPILEFIX_VALIDATE", "")
    if value in ("", "0"):
        return None
    if value != "1" and value not in POLICIES:
        raise UsageError(f"COMPILEFIX_VALIDATE={value!r} must be 0, 1, warn, error or ignore")
    mode = validate("warn" if value == "1" else value)
    mode.__enter__()  # type: ignore[no-untyped-call]
    return mode


def _range_faults(call: Call) -> Iterator[str]:
    """Yield the indices out of range of a call that is wrong already, where its index can be read at all."""
    tensors = [index.tensor for index in call.indices]
    if all(t.dtype in call.spec.index_dtypes and not t.is_floating_point() for t in tensors):
        values = values_of(call, "ignore")
        yield from (line for rule in call.spec.value_rules if rule is in_range for line in rule(values))


def _has_tensor(index: Any) -> bool:
    if isinstance(index, (list, tuple)):
        return any(isinstance(item, torch.Tensor) for item in index)
    return isinstance(index, torch.Tensor)


def _lists_as_tensors(index: Any) -> Any:
    """Return subscripts with lists of integers as tensors, which a check can stand in front of."""
    if isinstance(index, tuple):
        return tuple([_lists_as_tensors(item) for item in index])
    if isinstance(index, list) and len(index) > 0 and [item for item in index if type(item) is not int] == []:
        return torch.tensor(index)
    return index


def _with_tensors(index: Any, fresh: Sequence[torch.Tensor]) -> Any:
    """Return the index argument with its tensors replaced, in order."""
    if isinstance(index, torch.Tensor):
        return fresh[0]
    if not isinstance(index, (list, tuple)):
        return index
    items = []
    count = 0
    for item in index:
        if isinstance(item, torch.Tensor):
            items.append(fresh[count])
            count += 1
        else:
            items.append(item)
    return tuple(items) if isinstance(index, tuple) else items


def _is_plain(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is no subclass, no wrapper of a transform, and has values."""
    known = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return known and not wrapped and tensor.device.type != "meta" and tensor.layout is torch.strided


def _unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


@functools.cache
def _warn_of_release() -> None:
    release = Version(torch.__version__).release
    if release < Version(OLDEST_TRACED).release:
        what = (
            f"inside compiled code it was measured on {OLDEST_TRACED} and later only, so compiled code may go unchecked"
        )
    elif release >= Version(ASSIGNMENTS_HIDDEN).release:
        what = "Dynamo hides x[i] = v from modes on this release, so such assignments in compiled code go unchecked"
    else:
        return
    warnings.warn(f"validated mode on torch {torch.__version__}: {what}", UncheckedWarning, stacklevel=3)
