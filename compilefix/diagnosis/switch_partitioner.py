"""How the joint graph is cut into forward and backward."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from torch._functorch import partitioners
from torch._inductor import compile_fx

from compilefix.registry import Record


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """Cut without recomputing anything, in every backend that cuts."""
    name = "min_cut_rematerialization_partition"

    def plain(*args: Any, **kwargs: Any) -> Any:
        kept = {k: v for k, v in kwargs.items() if k in ("num_fwd_outputs", "static_lifetime_input_indices")}
        return partitioners.default_partition(*args, **kept)

    from torch._dynamo.backends import debugging

    with contextlib.ExitStack() as stack:
        for owner in (partitioners, compile_fx, debugging):
            if hasattr(owner, name):
                stack.enter_context(mock.patch.object(owner, name, plain))
        yield
