"""Build observations as the runner does, and hold two against each other."""

from __future__ import annotations

from typing import Any

import torch

from compilefix.oracle import Observation, compare, flatten, overlaps, raised
from compilefix.outcome import Difference

INF, NAN = float("inf"), float("nan")


def observed(result: Any = None, *inputs: Any, error: BaseException | None = None, rng: bytes = b"") -> Observation:
    """Return what a run leaves behind that took `inputs` and returned `result`."""
    parts = [("result", result), *((f"input[{i}]", value) for i, value in enumerate(inputs))]
    run = Observation(raised=raised(error) if error is not None else None, rng=rng)
    for path, value in parts:
        run.leaves |= flatten(value, path)
    run.overlaps = overlaps(*parts)
    return run


def differences(got: Any, want: Any, precise: Any = None, *, strict: tuple[str, ...] = ()) -> tuple[Difference, ...]:
    """Compare two results, with a float64 one as the judge."""
    judge = observed(precise) if precise is not None else None
    return compare(observed(got), observed(want), judge, strict=strict)


def defects(got: Any, want: Any, precise: Any = None, *, strict: tuple[str, ...] = ()) -> list[str]:
    """Return the names of the differences that are no mere notes."""
    return [d.what for d in differences(got, want, precise, strict=strict) if not d.note]


def notes(got: Any, want: Any, precise: Any = None, *, strict: tuple[str, ...] = ()) -> list[str]:
    """Return the names of the differences that are mere notes."""
    return [d.what for d in differences(got, want, precise, strict=strict) if d.note]


def t(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return a vector."""
    return torch.tensor(values, dtype=dtype)


def wide(*values: float) -> torch.Tensor:
    """Return a vector in float64."""
    return t(*values, dtype=torch.float64)
