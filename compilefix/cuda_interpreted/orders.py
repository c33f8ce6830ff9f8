"""In which order the programs of a grid run. A GPU promises none, so every order must leave the same. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.errors import UsageError

_FORM = re.compile(r"(forward|reverse)|shuffle(?::(\d+))?")


@dataclass(frozen=True)
class Order:
    """One order of the programs of any grid."""

    word: str
    """``forward``, ``reverse`` or ``shuffle``."""

    seed: int = 0

    def __str__(self) -> str:
        return f"shuffle:{self.seed}" if self.word == "shuffle" else self.word

    def positions(self, count: int) -> Sequence[int]:
        """Return the positions 0 to `count` - 1 of the grid in this order."""
        if self.word == "forward":
            return range(count)
        if self.word == "reverse":
            return range(count - 1, -1, -1)
        shuffled = list(range(count))
        random.Random(self.seed).shuffle(shuffled)  # noqa: S311
        return shuffled


FORWARD, REVERSE = Order("forward"), Order("reverse")


def parse(text: str) -> Order:
    """Read ``forward``, ``reverse``, ``shuffle`` or ``shuffle:SEED``; raise `UsageError` for anything else."""
    found = _FORM.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(f"unknown grid order {text!r}; write forward, reverse, shuffle or shuffle:SEED")
    return Order(found[1]) if found[1] else Order("shuffle", int(found[2] or 0))


def others(first: Order) -> tuple[Order, ...]:
    """Return the orders that a launch is tried in besides `first`."""
    return tuple(order for order in (FORWARD, REVERSE, Order("shuffle", first.seed + 1)) if order != first)
