"""A call carried to another process as a file, where the caller cannot be forked."""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from compilefix.errors import HarnessError
from compilefix.text import first_line

CALL = "call.pt"
PATHS = "paths.json"


def save(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], folder: Path) -> Path:
    """
    Write a call into `folder` and return the file; tensors keep their devices, what they share, and their strides.

    Functions of the user's own modules, notebooks and closures go by value, with the globals they name, so that every
    run starts from the same state; what is installed goes by name. Raises `HarnessError` for what cannot be pickled.
    """
    import cloudpickle  # a probe that loads no call needs none

    file = folder / CALL
    try:
        with _by_value(function):
            torch.save((function, tuple(args), dict(kwargs)), file, pickle_module=cloudpickle)
    except Exception as error:  # pickle has many ways to refuse
        raise HarnessError(
            "this process cannot be forked, and the call cannot be carried to another one "
            f"({type(error).__name__}: {first_line(str(error))}); diagnose FILE:FUNC instead"
        ) from None
    (folder / PATHS).write_text(json.dumps([str(Path(p).resolve()) for p in sys.path]), encoding="utf-8")
    return file


def load(file: Path) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Return function, arguments and keyword arguments, all of them new."""
    for path in json.loads(file.with_name(PATHS).read_text(encoding="utf-8")):
        if path not in sys.path:
            sys.path.append(path)
    found: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] = torch.load(file, weights_only=False)
    for function in _functions(found[0]):
        module = sys.modules.get(function.__globals__.get("__name__", ""))
        if module is None or vars(module) is not function.__globals__:
            function.__globals__.pop("__name__", None)  # Dynamo would look for its globals in the module of that name
    return found


def _functions(called: Any) -> Iterator[types.FunctionType]:
    """Yield a function, or those of the classes that a module is made of."""
    function = getattr(inspect.unwrap(called), "__func__", inspect.unwrap(called))
    if isinstance(function, types.FunctionType):
        yield function
    owners = called.modules() if isinstance(called, torch.nn.Module) else [getattr(called, "__self__", called)]
    for kind in dict.fromkeys(kind for owner in owners for kind in type(owner).__mro__):
        yield from (value for value in vars(kind).values() if isinstance(value, types.FunctionType))


@contextlib.contextmanager
def _by_value(function: Any) -> Iterator[None]:
    """Let what the user's own module defines go by value."""
    name = getattr(function, "__module__", None) or type(function).__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__" or "site-packages" in file:
        yield
        return
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
