"""
The calls that Dynamo works out itself while it traces: methods of Python objects, built-in functions, operators.

Each can be made to break the graph, so that Python does it.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import operator
from collections.abc import Iterator
from typing import Any
from unittest import mock

from torch._dynamo import symbolic_convert
from torch._dynamo.variables import builtin, functions, misc

from compilefix.diagnosis.switch_dynamo import break_graph
from compilefix.registry import Record

MOST = 2000


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """
    Break the graph at the calls in ``told["plain"]``.

    ``told["list"]`` leaves all calls outside of torch in ``seen["calls"]``: their key, name, and the user's line.
    """
    plain = frozenset(told.get("plain", ()))
    found: dict[str, dict[str, Any]] = {}

    def called(tx: Any, function: Any) -> None:
        name = _name(function)
        file, line = tx.f_code.co_filename, tx.lineno
        if name is None or not line or "/torch/" in file:
            return
        key = f"{name}|{file}:{line}"
        if len(found) < MOST:
            place = f"{file}:{line}: {linecache.getline(file, line).strip()}"
            found.setdefault(key, {"key": key, "op": name, "place": place, "plain": _is_plain(function, name)})
        if key in plain:
            break_graph(f"kept plain: {name}")

    with contextlib.ExitStack() as stack:
        stack.enter_context(_before(symbolic_convert.InstructionTranslatorBase, lambda tx, fn, *_: called(tx, fn)))
        stack.enter_context(_before(builtin.BuiltinVariable, lambda fn, tx, *_: called(tx, fn)))
        yield
    if told.get("list"):
        seen["calls"] = list(found.values())


@contextlib.contextmanager
def _before(owner: Any, first: Any) -> Iterator[None]:
    """Let `first` see the arguments of every ``call_function`` of `owner`."""
    original = owner.__dict__["call_function"]

    def call_function(self: Any, *args: Any, **kwargs: Any) -> Any:
        first(self, *args)
        return original(self, *args, **kwargs)

    with mock.patch.object(owner, "call_function", call_function):
        yield


def _is_plain(function: Any, name: str) -> bool:
    """Tell what is seldom to blame: operators, the iteration of a loop, and the look-up of an attribute."""
    return hasattr(operator, name) or name == "getattr" or "Iter" in type(function).__name__


def _name(function: Any) -> str | None:
    """Return ``deque.appendleft``, ``round`` or the name of a class; None for what is traced as code of its own."""
    if hasattr(function, "realize"):
        function = function.realize()
    if isinstance(function, misc.GetAttrVariable):
        try:
            return f"{function.obj.python_type_name()}.{function.name}"
        except NotImplementedError:
            return str(function.name)
    if isinstance(function, functions.BaseUserFunctionVariable):
        return None
    value = next((v for a in ("fn", "value", "descriptor") if (v := getattr(function, a, None)) is not None), None)
    if inspect.isroutine(value) or isinstance(value, type):
        return getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return type(function).__name__.removesuffix("Variable")
