"""Is the vectorised form of a loop the same function, and is it faster?"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from compilefix.oracle import Observation, compare, flatten, overlaps, raised
from compilefix.oracle.observation import walk
from compilefix.outcome import Difference
from compilefix.recipes.set_seed import STARTED_LATE, set_seed
from compilefix.text import first_line


@dataclass(frozen=True, kw_only=True)
class VectorizedCheck:
    """How a vectorised function compares with the loop that it replaces."""

    equal: bool
    """True where there is no difference but such as rounding explains."""

    differences: tuple[Difference, ...]
    """All differences, in the order in which a person would look; `notes` among them are no defects."""

    raised: str | None
    """The exception with which both functions ended, in one line; then nothing else was compared."""

    loop_seconds: float | None
    """Median time of a call of the loop; None: not measured, as one of the functions raises."""

    vector_seconds: float | None
    """Median time of a call of the vectorised function; None: not measured."""

    @property
    def speedup(self) -> float | None:
        """How many times faster the vectorised function is on this sample; None: not measured."""
        if self.loop_seconds is None or self.vector_seconds is None:
            return None
        return self.loop_seconds / max(self.vector_seconds, 1e-9)

    def raise_if_different(self) -> VectorizedCheck:
        """Raise `AssertionError` with the first difference in words, or return this result."""
        if not self.equal:
            raise AssertionError(str(self))
        return self

    def __str__(self) -> str:
        defects = [difference for difference in self.differences if not difference.note]
        if defects:
            more = f" (and {len(defects) - 1} more)" if len(defects) > 1 else ""
            return f"different: {in_words(defects[0])}{more}"
        if self.raised is not None:
            return f"both raise {self.raised}"
        return f"equal, {self.speedup:.3g} times the speed" if self.speedup is not None else "equal, speed not measured"


def check_vectorized(
    loop_fn: Callable[..., Any],
    vector_fn: Callable[..., Any],
    sample: tuple[Any, ...] | list[Any],
    *,
    gradients: bool = True,
    ignore: tuple[str, ...] = (),
    strict: tuple[str, ...] = (),
    repeats: int = 5,
    seed: int = 0,
) -> VectorizedCheck:
    """
    Call ``loop_fn(*sample)`` and ``vector_fn(*sample)`` and compare all that they leave behind.

    Values, NaN and infinity, shapes, dtypes, containers, exceptions, writes into the arguments, memory shared between
    result and arguments, and, with `gradients`, the gradient of every argument that requires one (from a fixed random
    cotangent). Rounding is judged by the loop in float64: an element may be off as far as the loop itself is. Every
    call has copies of the arguments and starts from the same random state, and the caller's state is kept. `vector_fn`
    may be compiled. Differences are returned, not raised.

    `ignore` names kinds of differences (``Difference.what``, such as ``"alias"``) that do not count, `strict` those
    that otherwise are only noted: ``"strides"``, ``"rng"``, ``"bitwise"``. Times are medians of `repeats` calls
    forward, loop and vector in turn, after one call that is not timed.

    Raises `TypeError` where `sample` is no tuple or list of arguments or a function cannot be called; `ValueError` for
    `repeats` below 1, or an argument that is a result of autograd and cannot be copied: detach it.
    """
    for name, function in (("loop_fn", loop_fn), ("vector_fn", vector_fn)):
        if not callable(function):
            raise TypeError(f"{name} must be a function, not {type(function).__name__}")
    if not isinstance(sample, tuple | list):
        raise TypeError(f"sample must be the arguments in a tuple, not {type(sample).__name__}; write (x,) for one")
    if repeats < 1:
        raise ValueError(f"repeats={repeats} must be at least 1")
    for path, leaf in walk(tuple(sample), "sample"):
        if isinstance(leaf, torch.Tensor) and not leaf.is_leaf:
            raise ValueError(f"{path} is a result of autograd, which has no copy: detach it first")
    with set_seed(seed):
        want = _observe(loop_fn, _copied(sample), gradients, seed)
        precise = _in_float64(loop_fn, sample, gradients, seed) if want.raised is None else None
        got = _observe(vector_fn, _copied(sample), gradients, seed)
        times = (None, None) if want.raised or got.raised else _times(loop_fn, vector_fn, sample, repeats)
    differences = tuple(d for d in compare(got, want, precise, strict=strict) if d.what not in ignore)
    both = want.raised if got.raised is not None else None
    return VectorizedCheck(
        equal=all(difference.note for difference in differences),
        differences=differences,
        raised=f"{both.type}: {first_line(both.message)}" if both is not None else None,
        loop_seconds=times[0],
        vector_seconds=times[1],
    )


def in_words(difference: Difference) -> str:
    """Say in one line what differs, where, and by how much."""
    d = difference
    place = f" at {list(d.where)}" if d.where else ""
    many = f", {d.count} of {d.total} elements" if d.count is not None else ""
    worst = f", worst by {d.worst:.3g} at {list(d.worst_at)}" if d.worst is not None and d.worst_at else ""
    return f"{d.what} of {d.leaf}{place}: vectorised {d.got}, loop {d.want}{many}{worst}"


def _copied(sample: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    return tuple(copy.deepcopy(list(sample)))  # one copy of the whole keeps memory that arguments share


def _in_float64(
    function: Callable[..., Any], sample: tuple[Any, ...] | list[Any], gradients: bool, seed: int
) -> Observation | None:
    """Observe `function` on arguments in float64; None where they or the function refuse."""
    leaves = [leaf for _, leaf in walk(tuple(sample), "") if isinstance(leaf, torch.Tensor)]
    if overlaps(*((str(i), leaf) for i, leaf in enumerate(leaves))):
        return None  # converted arguments would not share memory
    observation = _observe(function, tuple(_wide(value) for value in _copied(sample)), gradients, seed)
    return observation if observation.raised is None else None


def _wide(value: Any) -> Any:
    """Return `value` with its floating tensors in float64."""
    if isinstance(value, torch.nn.Module):
        return value.double()
    if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
        dtype = torch.complex128 if value.is_complex() else torch.float64
        return value.detach().to(dtype).requires_grad_(value.requires_grad)
    if type(value) in (tuple, list):
        return type(value)(_wide(item) for item in value)
    return {key: _wide(item) for key, item in value.items()} if type(value) is dict else value


def _observe(function: Callable[..., Any], sample: tuple[Any, ...], gradients: bool, seed: int) -> Observation:
    """Call `function` and copy out what it leaves behind."""
    observation, where = Observation(), "the call"
    set_seed(seed)
    try:
        result = function(*sample)
        observation.leaves |= flatten(result, "result")
        for i, value in enumerate(sample):
            observation.leaves |= flatten(value, f"input[{i}]")
        parts = [(f"input[{i}]", value) for i, value in enumerate(sample)]
        observation.overlaps = overlaps(("result", result), *parts)
        observation.rng = bytes(torch.get_rng_state().tolist())
        if gradients:
            where = "the backward pass"
            _backward(result, seed)
            for name, value in parts:
                for path, leaf in walk(value, name):
                    if isinstance(leaf, torch.Tensor) and leaf.is_leaf and leaf.requires_grad:
                        observation.leaves |= flatten(leaf.grad, f"grad of {path}")
    except Exception as error:
        observation.raised = raised(error, where)
    return observation


def _backward(result: Any, seed: int) -> None:
    outputs = [leaf for _, leaf in walk(result, "") if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    generator = torch.Generator().manual_seed(seed + 1)
    # halves from 1/2 to 2 are exact in every floating dtype, so the float64 run has the same ones
    cotangents = [
        (torch.randint(1, 5, o.shape, generator=generator) / 2).to(device=o.device, dtype=o.dtype) for o in outputs
    ]
    if outputs:
        torch.autograd.backward(outputs, cotangents)


def _times(
    loop_fn: Callable[..., Any], vector_fn: Callable[..., Any], sample: tuple[Any, ...] | list[Any], repeats: int
) -> tuple[float, float]:
    pairs = [(_seconds(loop_fn, _copied(sample)), _seconds(vector_fn, _copied(sample))) for _ in range(repeats)]
    loop, vector = zip(*pairs, strict=True)
    return statistics.median(loop), statistics.median(vector)


def _seconds(function: Callable[..., Any], sample: tuple[Any, ...]) -> float:
    _wait()
    start = time.perf_counter()
    function(*sample)
    _wait()
    return time.perf_counter() - start


def _wait() -> None:
    """Wait for devices that work behind our back."""
    for name in STARTED_LATE:
        device: Any = getattr(torch, name, None)
        if device is not None and device.is_available() and device.is_initialized():
            device.synchronize()
    if torch.backends.mps.is_available():
        torch.mps.synchronize()
