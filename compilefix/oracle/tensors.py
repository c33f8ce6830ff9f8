"""Compare two tensors element by element, with a float64 run as the judge of rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from compilefix.issue import Symptom
from compilefix.oracle.observation import TensorLeaf
from compilefix.outcome import Difference

RTOL = {torch.float16: 1e-3, torch.bfloat16: 1.6e-2, torch.float32: 1.3e-6, torch.float64: 1e-7}
"""Relative tolerance a dtype, as `torch.testing.assert_close` has it; other floating dtypes may be one ulp off."""

ATOL = {torch.float64: 1e-7}
DEFAULT_ATOL = 1e-5
ATOL_ULPS = {torch.float16: 4, torch.bfloat16: 4, torch.float32: 32, torch.float64: 1 << 20}
"""
The absolute tolerance is also at most this many ulps of the largest value, so that small tensors are not excused.
Generous for float64, which no wider run judges.
"""

REFERENCE_FACTOR = 2.0
"""A compiled element may be this many times as far from float64 as the reference is (plus `FLOOR_ULPS`)."""

FLOOR_ULPS = 4

CHUNK = 1 << 20
"""Differing elements that are looked at in one go: large tensors must not need several times their own memory."""


PARTS = 64
"""Parts into which a leaf is cut to show where in it the differences are."""


@dataclass
class Tally:
    """Elements with one kind of difference, counted chunk by chunk: the first one, and the worst by its error."""

    total: int
    """Elements of the leaf."""

    count: int = 0
    first: int = 0
    worst: float | None = None
    worst_at: int = 0
    profile: torch.Tensor | None = None
    floor: float | None = None

    def add(self, index: torch.Tensor, error: torch.Tensor | None) -> None:
        """Count the elements at `index`, flat and ascending, whose absolute errors are `error`."""
        if index.numel() == 0:
            return
        if self.count == 0:
            self.first = int(index[0])
        self.count += index.numel()
        if error is None:
            return
        if self.profile is None:
            self.profile = torch.zeros(min(PARTS, self.total), dtype=torch.float64, device="cpu")
        parts = index * len(self.profile) // self.total
        self.profile.scatter_reduce_(0, parts, error.nan_to_num(0.0, 0.0, 0.0).double(), "amax")
        place = int(torch.where(error.isfinite(), error, -1.0).argmax())
        worst = float(error[place])
        if math.isfinite(worst) and (self.worst is None or worst > self.worst):
            self.worst, self.worst_at = worst, int(index[place])


@dataclass(frozen=True)
class Pair:
    """The two sides of one leaf."""

    leaf: str
    symptom: Symptom
    got: torch.Tensor
    want: torch.Tensor

    def difference(self, what: str, tally: Tally, *, note: bool = False) -> Difference:
        """Report the elements of `tally`."""
        first = self._place(tally.first)
        return Difference(
            what=what,
            leaf=self.leaf,
            where=first,
            got=_scalar(self.got[first]),
            want=_scalar(self.want[first]),
            worst=tally.worst,
            worst_at=self._place(tally.worst_at) if tally.worst is not None else None,
            count=tally.count,
            total=self.want.numel(),
            note=note,
            symptom=self.symptom,
            profile=tuple(float(f"{e:.3g}") for e in tally.profile.tolist()) if tally.profile is not None else None,
            floor=tally.floor,
        )

    def _place(self, flat: int) -> tuple[int, ...]:
        index = []
        for n in reversed(self.want.shape):
            flat, last = divmod(flat, int(n))
            index.append(last)
        return tuple(reversed(index))


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
    `precise` is the same leaf of a float64 run. A difference named ``numerics`` is one that float64 excuses; under the
    strict ``bitwise`` it excuses nothing, and zeros of different sign differ.
    """
    found = _metadata(leaf, got, want, symptom, strict)
    a, b = got.value, want.value
    if a.shape != b.shape or a.dtype != b.dtype or b.numel() == 0 or a.is_meta or b.is_meta:
        return found
    exact = "bitwise" in strict
    pair = Pair(leaf, symptom, a, b)
    unequal = _unequal(a, b, exact=exact)
    if unequal.numel() == 0:
        return found
    if not _inexact(b):
        tally = Tally(b.numel())
        for index in _chunks(unequal):
            tally.add(index, _distance(a.flatten()[index], b.flatten()[index]))
        return [*found, pair.difference(what, tally)]
    if exact or (precise is not None and (precise.shape != b.shape or not _inexact(precise))):
        precise = None
    return found + _floating(pair, unequal, precise, what, exact=exact)


def _unequal(got: torch.Tensor, want: torch.Tensor, *, exact: bool) -> torch.Tensor:
    """Return the flat indices of the elements that differ; NaN is equal to NaN."""
    a, b = _real(got), _real(want)
    bad = a != b
    if _inexact(want):
        bad &= ~(a.isnan() & b.isnan())
        if exact:
            bad |= (torch.signbit(a) != torch.signbit(b)) & ~b.isnan()
        if want.is_complex():
            bad = bad.any(-1)
    return bad.flatten().nonzero().flatten()


def _chunks(index: torch.Tensor) -> Iterator[torch.Tensor]:
    for start in range(0, len(index), CHUNK):
        yield index[start : start + CHUNK]


def _distance(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor | None:
    """Return how far apart unequal integers are, in float64; None for booleans."""
    if got.dtype is torch.bool:
        return None
    return (got.double() - want.double()).abs().clamp(min=1.0)  # float64 rounds neighbours above 2**53 to one value


def _metadata(
    leaf: str, got: TensorLeaf, want: TensorLeaf, symptom: Symptom, strict: tuple[str, ...]
) -> list[Difference]:
    pairs = [
        ("structure", got.type, want.type, False),
        ("shape", list(got.value.shape), list(want.value.shape), False),
        ("dtype", _dtype(got.value), _dtype(want.value), False),
        ("device", got.device, want.device, False),
        ("layout", got.layout, want.layout, False),
        ("requires_grad", got.requires_grad, want.requires_grad, False),
    ]
    if got.value.shape == want.value.shape and got.strides is not None and want.strides is not None:
        seen = [
            tuple(s for n, s in zip(side.value.shape, side.strides or (), strict=True) if n > 1) for side in (got, want)
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


def _floating(
    pair: Pair, unequal: torch.Tensor, precise: torch.Tensor | None, what: str, *, exact: bool
) -> list[Difference]:
    flat = [None if side is None else side.flatten() for side in (pair.got, pair.want, precise)]
    dtype = pair.want.dtype.to_real()
    atol = _atol(pair.want)
    total = pair.want.numel()
    kinds = (("nan", torch.isnan), ("inf", torch.isposinf), ("inf", torch.isneginf))
    tallies = [(name, Tally(total), Tally(total)) for name in ("nan", "inf", "inf", what)]
    for index in _chunks(unequal):
        sides = [None if side is None else _real(side[index]).double() for side in flat]
        got, want, judge = (None if side is None else side.reshape(len(index), -1) for side in sides)
        assert got is not None
        assert want is not None
        excused = _excused(got, want, judge, dtype, atol)
        both = got.isfinite() & want.isfinite()
        error = torch.where(both, (got - want).abs(), 0.0)
        allowed = (_rtol(dtype) * want.abs() + atol).clamp(min=_least(dtype))
        bad = [mask(got) != mask(want) for _, mask in kinds] + [both & (True if exact else error > allowed)]
        worst = error.amax(-1)
        if judge is not None:
            off = torch.where(both & judge.isfinite(), (want - judge).abs(), 0.0)
            tallies[-1][1].floor = max(tallies[-1][1].floor or 0.0, float(off.max()))
        for (name, defects, rounding), elements in zip(tallies, bad, strict=True):
            wrong = (elements & ~excused).any(-1)
            near = elements.any(-1) & ~wrong
            for tally, chosen in ((defects, wrong), (rounding, near)):
                tally.add(index[chosen], worst[chosen] if name == what else None)
    found = []
    for name, defects, rounding in tallies:
        if defects.count:
            found.append(pair.difference(name, defects))
        if rounding.count:
            found.append(pair.difference("numerics", rounding, note=True))
    return found


def _excused(
    got: torch.Tensor, want: torch.Tensor, precise: torch.Tensor | None, dtype: torch.dtype, atol: float
) -> torch.Tensor:
    """Tell which elements float64 excuses: those no further from it than the reference, give or take."""
    if precise is None:
        return torch.zeros_like(got, dtype=torch.bool)
    info = torch.finfo(dtype)
    off = (got - precise).abs()
    floor = (FLOOR_ULPS if dtype in RTOL else 1) * info.eps * precise.abs()
    near = off <= REFERENCE_FACTOR * (want - precise).abs() + floor
    # where the reference overflowed it is no measure: half of the digits must be right
    right = off <= math.sqrt(info.eps) * precise.abs() + atol
    beyond = precise.abs() > info.max  # float64 holds it, this dtype cannot
    overflowed = got.isinf() & beyond & ((got > 0) == (precise > 0))
    return precise.isfinite() & (torch.where(want.isfinite(), near, right) & got.isfinite() | overflowed)


def _rtol(dtype: torch.dtype) -> float:
    eps = torch.finfo(dtype).eps
    if dtype in RTOL:
        return max(RTOL[dtype], FLOOR_ULPS * eps)
    return eps if eps < 0.5 else 0.0  # a scale such as float8_e8m0fnu has nothing but powers of two


def _least(dtype: torch.dtype) -> float:
    """Return what is as good as zero: all subnormals, which may be flushed, or a few steps where they begin early."""
    info = torch.finfo(dtype)
    return info.tiny if info.tiny < 1e-30 else (FLOOR_ULPS if dtype in RTOL else 1) * info.tiny * info.eps


def _atol(want: torch.Tensor) -> float:
    dtype = want.dtype.to_real()
    scale = float(_real(want).nan_to_num(0.0, 0.0, 0.0).abs().max())
    return min(ATOL.get(dtype, DEFAULT_ATOL), ATOL_ULPS.get(dtype, 0) * torch.finfo(dtype).eps * scale)


def _inexact(t: torch.Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def _real(t: torch.Tensor) -> torch.Tensor:
    """View complex numbers as pairs; widen dtypes of one byte, for which torch has few operators."""
    if t.is_complex():
        return torch.view_as_real(t)
    return t.float() if t.is_floating_point() and t.element_size() == 1 else t


def _dtype(t: torch.Tensor) -> str:
    return str(t.dtype).removeprefix("torch.")


def _scalar(t: torch.Tensor) -> bool | int | float | str:
    value = t.item()
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)  # JSON has no word for these
    return value
