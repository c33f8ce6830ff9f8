"""
Differences that are noise and no defect.

Where large terms cancel, as in the gradient of a bias before a normalisation, what is left is rounding, in plain and in
compiled code. Then the plain program moves as much when its inputs change in the last digit. Only differences that are
small in themselves are excused: a step of a rounding function moves as well, and is none of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from compilefix.outcome import Difference

LARGEST = 1e-4
"""Largest difference that can be noise."""

FACTOR = 8
"""How many times as far as plain code moves a difference may be."""

SEEDS = (1, 2)
"""Of the changes in the last digit that are tried."""


def can_be(found: Sequence[Difference]) -> bool:
    """Tell whether `found` are small differences of values or gradients: worth asking how far plain code moves."""
    return bool(found) and all(
        d.what in ("values", "gradient") and d.worst is not None and d.worst <= LARGEST for d in found
    )


def explains(moved: Iterable[Difference], found: Sequence[Difference]) -> bool:
    """Tell whether plain code, with inputs one ulp off, `moved` as far in each leaf as the differences `found`."""
    most: dict[str, float] = {}
    for d in moved:
        most[d.leaf] = max(most.get(d.leaf, 0.0), d.worst or 0.0)
    return all((d.worst or 0.0) <= FACTOR * most.get(d.leaf, 0.0) for d in found)


def shaken(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return `value` with every floating element multiplied by 1, or by 1 and one ulp, drawn from `generator`."""
    if not value.is_floating_point() or value.layout is not torch.strided:
        return value
    steps = torch.randint(-1, 2, value.shape, generator=generator).to(value.device)
    return value * (1 + steps * torch.finfo(value.dtype).eps).to(value.dtype)
