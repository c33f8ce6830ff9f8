"""What a kind of workaround is, and the stamp that all of them share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Protocol, TypeVar

from compilefix.registry import Record

F = TypeVar("F", bound=Callable[..., Any])


class Kind(Protocol):
    """One kind: what a module ``kind_<name>.py`` of this package defines."""

    WIDTH: int
    """How much of a program it changes; the narrowest that is offered is taken."""

    def offers(self, record: Record) -> str | None:
        """Return in words what it would do about `record` on this torch, or None where it does nothing."""

    def scope(self, record: Record) -> AbstractContextManager[Any]:
        """Return a context manager under which compiled code is compiled and run; it may also be a decorator."""


class Scope:
    """A workaround as context manager and decorator; entering it again inside is allowed."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]]) -> None:
        self._enter = enter
        self._entered: list[ExitStack] = []

    def __enter__(self) -> Scope:
        stack = ExitStack()
        stack.enter_context(self._enter())
        self._entered.append(stack)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._entered.pop().__exit__(*raised)

    def __call__(self, function: F) -> F:
        """Return `function` so that every call runs under the workaround."""

        @functools.wraps(function, updated=())
        def scoped(*args: Any, **kwargs: Any) -> Any:
            with self._enter():
                return function(*args, **kwargs)

        return scoped  # type: ignore[return-value]


class Nothing(Scope):
    """A workaround that is off: it changes nothing and costs nothing."""

    def __init__(self) -> None:
        super().__init__(ExitStack)

    def __call__(self, function: F) -> F:
        """Return `function` itself."""
        return function


def apart(function: F) -> F:
    """
    Return `function` outside of the caller's graph.

    A plain function calls the disabled one: ``torch.compile`` of a disabled function would compile it after all.
    """
    import torch

    disable: Any = torch.compiler.disable
    disabled = disable(lambda *args, **kwargs: function(*args, **kwargs))

    @functools.wraps(function, updated=())
    def caller(*args: Any, **kwargs: Any) -> Any:
        return disabled(*args, **kwargs)

    return caller  # type: ignore[return-value]
