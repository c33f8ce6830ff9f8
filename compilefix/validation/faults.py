"""What validated mode reports: the exception, the warning, and the words for shapes and positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

SHOWN = 3
"""So many positions are spelt out, the others are counted."""


class IndexFault(IndexError, RuntimeError):  # noqa: N818 - a fault of the caller's
    """
    An index-taking call that is wrong; `faults` has one line a fault, and the message is these lines.

    Torch raises IndexError for some of these mistakes and RuntimeError for others, and which of the two differs from
    operator to operator. This is both, so that an ``except`` clause written for torch's own exception still matches.
    """

    def __init__(self, *faults: str):
        super().__init__("\n".join(faults))
        self.faults = faults

    def __reduce__(self) -> tuple[type[IndexFault], tuple[str, ...]]:
        return type(self), self.faults


class DuplicateIndexWarning(UserWarning):
    """Several different values are written to one place, and torch does not say which of them stays."""


class UncheckedWarning(UserWarning):
    """Something that validated mode checks elsewhere goes unchecked on this release of torch."""


def certain(condition: Any) -> bool:
    """Return `condition` as a bool; False where it hangs on a size that is known only when the graph runs."""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    try:
        return bool(condition)
    except GuardOnDataDependentSymNode:
        return False


def unequal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Tell whether two shapes certainly differ."""
    return len(a) != len(b) or any(certain(m != n) for m, n in zip(a, b, strict=True))


def show(shape: Iterable[Any]) -> str:
    """Return a shape as ``(4, 5)``."""
    return str(tuple(shape))


def dtype_name(dtype: torch.dtype) -> str:
    """Return ``float32`` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def at(label: str, position: Sequence[int]) -> str:
    """Return ``index[3, 0]``; the bare label for a tensor without dimensions."""
    return f"{label}[{', '.join(map(str, position))}]" if position else label


def more(count: int) -> str:
    """Return how many positions go unnamed, as the end of a line."""
    return f" (and {count - SHOWN} more)" if count > SHOWN else ""
