"""Gradients of a run, asked for without touching ``.grad``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from compilefix.oracle.observation import walk


def gradients(result: Any, sources: Mapping[str, Any], seed: int) -> Iterator[tuple[str, torch.Tensor | None]]:
    """
    Yield the gradient of every tensor in `sources` that requires one, by its path; None where none reaches it.

    Each output is multiplied with a random vector, the same for the same `seed` and shape. Nothing is yielded where no
    output has a gradient. Raises what the backward pass raises.
    """
    wanted = {
        path: leaf
        for name, value in sources.items()
        for path, leaf in walk(value, name)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    }
    reached = [leaf for _, leaf in walk(result, "") if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None]
    if not wanted or not reached:
        return
    generator = torch.Generator().manual_seed(seed)
    vectors = [torch.randn(o.shape, generator=generator).to(device=o.device, dtype=o.dtype) for o in reached]
    found = torch.autograd.grad(reached, list(wanted.values()), vectors, allow_unused=True)
    yield from zip(wanted, found, strict=True)
