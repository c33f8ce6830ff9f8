"""
Drop-in ops: ``from compilefix.ops import slice_scatter``.

On a torch that no record affects, ``compilefix.ops.X is torch.X``. Elsewhere it is a function with upstream's
signature that takes, in compiled code, the cheapest strategy that was measured to be right on that release. The choice
is made once, when an op is first asked for.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import warnings
from collections.abc import Callable
from typing import Any

from compilefix.errors import UsageError
from compilefix.ops.drop_in import DropIn, build
from compilefix.ops.selection import Choice, choose, measured_warning

if os.environ.get("COMPILEFIX_VALIDATE"):
    import compilefix.validation  # noqa: F401  (turns itself on)

__all__ = ["choice", "names", "spec", "strategies", "strategy"]

_PREFIX = "op_"


class StrategyWarning(UserWarning):
    """A strategy was taken by hand that was measured to be wrong on this release."""


@functools.cache
def modules() -> tuple[str, ...]:
    """Return the names of the ops' files, without their prefix."""
    return tuple(
        sorted(m.name.removeprefix(_PREFIX) for m in pkgutil.iter_modules(__path__) if m.name.startswith(_PREFIX))
    )


def names() -> tuple[str, ...]:
    """Return the names of all drop-in ops."""
    return tuple(name for module in modules() for name in _members(module))


def _members(module: str) -> dict[str, DropIn]:
    found: tuple[DropIn, ...] = importlib.import_module(f"{__name__}.{_PREFIX}{module}").DROP_INS
    return {drop_in.name: drop_in for drop_in in found}


def spec(name: str) -> DropIn:
    """Return all that is known of one op; raise `UsageError` for a name that is none."""
    module = name.removesuffix("_")
    members = _members(module) if module in modules() else {}
    if name not in members:
        raise UsageError(f"no drop-in op {name!r}; one of {', '.join(names())}")
    return members[name]


def choice(name: str) -> Choice:
    """Return the strategy of one op on the running torch and who said so."""
    return choose(spec(name))


def strategies(name: str) -> tuple[str, ...]:
    """Return the names of an op's strategies, the cheapest first; ``plain`` is upstream's own."""
    return tuple(spec(name).strategies)


def strategy(name: str, strategy: str) -> Callable[..., Any]:
    """
    Return one op with a strategy taken by hand.

    Warns with `StrategyWarning` where that strategy was measured to be wrong on this release. Raises `UsageError` for
    an unknown op or strategy.
    """
    found = spec(name)
    if strategy not in found.strategies:
        raise UsageError(f"{name} has no strategy {strategy!r}; one of {', '.join(found.strategies)}")
    if text := measured_warning(found, strategy):
        warnings.warn(text, StrategyWarning, stacklevel=2)
    return build(found, strategy)


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("__") or name.removesuffix("_") not in modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        chosen = choice(name)
    except UsageError as error:
        if "no drop-in op" in str(error):
            raise AttributeError(str(error)) from None
        raise
    if chosen.warning:
        warnings.warn(chosen.warning, StrategyWarning, stacklevel=2)
    op = build(spec(name), chosen.strategy)
    globals()[name] = op
    return op


def __dir__() -> list[str]:
    return sorted([*__all__, *names()])
