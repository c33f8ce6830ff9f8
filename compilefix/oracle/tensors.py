"""Compare two tensors element by element, with a float64 run as the judge of rounding."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from compilefix.issue import Symptom
from compilefix.oracle.observation import TensorLeaf
from compilefix.outcome import Difference

RTOL = {torch.float16: 1e-3, torch.bfloat16: 1.6e-2, torch.float32: 1.3e-6, torch.float64: 1e-7}
"""Relative tolerance a dtype, as `torch.testing.assert_close` has it; unlisted floating dtypes take two ulps."""

ATOL = {torch.float64: 1e-7}
DEFAULT_ATOL = 1e-5
ATOL_ULPS = 32
"""The absolute tolerance is also at most this many ulps of the largest value, so that small tensors are not excused."""

REFERENCE_FACTOR = 2.0
"""A compiled element may be this many times as far from float64 as the reference is (plus `FLOOR_ULPS`)."""

FLOOR_ULPS = 4


@dataclass(frozen=True)
class Pair:
    """The two sides of one leaf, flattened to real float64 or left as integers."""

    leaf: str
    symptom: Symptom
    got: TensorLeaf
    want: TensorLeaf
    precise: torch.Tensor | None

    def difference(self, what: str, bad: torch.Tensor, error: torch.Tensor | None, *, note: bool = False) -> Difference:
        """Report the elements of `bad`: the first one, and the worst by `error` (both shaped like the leaf)."""
        got, want = self.got.value, self.want.value
        if bad.dim() > got.dim():  # complex: real and imaginary part side by side
            bad = bad.any(-1)
            error = error.amax(-1) if error is not None else None
        index = bad.nonzero()
        first = tuple(index[0].tolist())
        worst, worst_at = None, None
        if error is not None:
            flat = torch.where(bad & error.isfinite(), error, -1.0)
            place = int(flat.argmax())
            worst = float(flat.flatten()[place])
            worst_at = tuple(int(i) for i in torch.unravel_index(torch.tensor(place), flat.shape)) if flat.dim() else ()
            if worst < 0:
                worst, worst_at = None, None
        return Difference(
            what=what,
            leaf=self.leaf,
            where=first,
            got=_scalar(got[first]),
            want=_scalar(want[first]),
            worst=worst,
            worst_at=worst_at,
            count=int(bad.sum()),
            total=bad.numel(),
            note=note,
            symptom=self.symptom,
        )


def compare_tensors(
    leaf: str,
    got: TensorLeaf,
    want: TensorLeaf,
    *,
    symptom: Symptom = Symptom.WRONG_RESULT,
    what: str = "values",
    precise: torch.Tensor | None = None,
    strict: tuple[str, ...] = (),
) -> list[Difference]:
    """
    Return all differences of `got` (compiled) from `want` (reference), metadata first.

    Elements are finite-compared only where neither side is NaN or infinite; those masks are compared on their own.
    `precise` is the same leaf of a float64 run. A difference named ``numerics`` is one that float64 excuses.
    """
    found = _metadata(leaf, got, want, symptom, strict)
    if got.value.shape != want.value.shape or got.value.dtype != want.value.dtype or want.value.numel() == 0:
        return found
    if precise is not None and (precise.shape != want.value.shape or not _inexact(precise)):
        precise = None
    pair = Pair(leaf, symptom, got, want, precise)
    if not _inexact(want.value):
        bad = got.value != want.value
        if bad.any():
            numeric = got.value.dtype is not torch.bool
            error = (got.value.double() - want.value.double()).abs() if numeric else None
            found.append(pair.difference(what, bad, error))
        return found
    found += _floating(pair, what)
    if "bitwise" in strict and not found:
        signs = torch.signbit(_real(got.value)) != torch.signbit(_real(want.value))
        unequal = signs | ((_real(got.value) != _real(want.value)) & ~_real(want.value).isnan())
        if unequal.any():
            found.append(pair.difference(what, unequal, (_real(got.value) - _real(want.value)).abs()))
    return found


def _metadata(
    leaf: str, got: TensorLeaf, want: TensorLeaf, symptom: Symptom, strict: tuple[str, ...]
) -> list[Difference]:
    pairs = [
        ("shape", list(got.value.shape), list(want.value.shape), False),
        ("dtype", _dtype(got.value), _dtype(want.value), False),
        ("device", got.device, want.device, False),
        ("layout", got.layout, want.layout, False),
        ("requires_grad", got.requires_grad, want.requires_grad, False),
    ]
    if got.value.shape == want.value.shape and got.strides is not None and want.strides is not None:
        seen = [
            tuple(s for n, s in zip(side.value.shape, side.strides or (), strict=True) if n > 1)
            for side in (got, want)
        ]
        if want.value.numel() > 1 and seen[0] != seen[1]:
            pairs.append(("strides", list(got.strides), list(want.strides), "strides" not in strict))
    return [
        Difference(
            what=name,
            leaf=leaf,
            got=a,
            want=b,
            note=note,
            symptom=Symptom.WRONG_GRADIENT if name == "requires_grad" else symptom,
        )
        for name, a, b, note in pairs
        if a != b
    ]


def _floating(pair: Pair, what: str) -> list[Difference]:
    dtype = _real(pair.want.value).dtype
    got, want = _real(pair.got.value).double(), _real(pair.want.value).double()
    precise = _real(pair.precise).double() if pair.precise is not None else None
    excused = torch.zeros_like(got, dtype=torch.bool)
    eps = torch.finfo(dtype).eps
    if precise is not None:
        floor = FLOOR_ULPS * eps * precise.abs()
        off = (want - precise).abs()
        off = torch.where(want.isfinite(), off, float("inf"))
        excused = precise.isfinite() & got.isfinite() & ((got - precise).abs() <= REFERENCE_FACTOR * off + floor)
        beyond = precise.abs() > torch.finfo(dtype).max  # float64 holds it, this dtype cannot
        excused |= beyond & ~got.isfinite() & ~got.isnan()
    found: list[Difference] = []
    for name, mask in (("nan", torch.isnan), ("inf", torch.isposinf), ("inf", torch.isneginf)):
        uneven = mask(got) != mask(want)
        found += _split(pair, name, uneven, excused, None)
    both = got.isfinite() & want.isfinite()
    error = torch.where(both, (got - want).abs(), 0.0)
    scale = float(want[both].abs().max()) if both.any() else 0.0
    rtol = RTOL.get(dtype, 2 * eps)
    atol = min(ATOL.get(dtype, DEFAULT_ATOL), ATOL_ULPS * eps * scale)
    tiny = torch.finfo(dtype).tiny
    allowed = torch.maximum(torch.maximum(rtol * want.abs() + atol, FLOOR_ULPS * eps * want.abs()), torch.tensor(tiny))
    found += _split(pair, what, both & (error > allowed), excused, error)
    return found


def _split(
    pair: Pair, what: str, bad: torch.Tensor, excused: torch.Tensor, error: torch.Tensor | None
) -> list[Difference]:
    defects, rounding = bad & ~excused, bad & excused
    found = []
    if defects.any():
        found.append(pair.difference(what, defects, error))
    if rounding.any():
        found.append(pair.difference("numerics", rounding, error, note=True))
    return found


def _inexact(t: torch.Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def _real(t: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(t.resolve_conj()) if t.is_complex() else t


def _dtype(t: torch.Tensor) -> str:
    return str(t.dtype).removeprefix("torch.")


def _scalar(t: torch.Tensor) -> bool | int | float | str:
    value = t.item()
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)  # JSON has no word for these
    return value
