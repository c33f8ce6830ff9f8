"""One trial: the compiled and the plain graph on copies of the same inputs, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

from compilefix.oracle import Observation, compare, flatten, noise, overlaps, raised
from compilefix.oracle.gradients import gradients
from compilefix.oracle.twins import twins, widened
from compilefix.outcome import Difference, defects

SEED = 20_250_101
"""Of the vectors that gradients are multiplied with: the same for both sides."""

Run = Callable[..., Any]


class UncheckedError(Exception):
    """A graph cannot be held against its plain run; the text says why."""


def trial(
    fast: Run, plain: Run, args: Sequence[Any], *, held: Iterable[torch.Tensor] = (), same_random: bool = False
) -> tuple[Difference, ...]:
    """
    Run both on copies of `args` and return every difference that is a defect; `args` and random state are untouched.

    What both sides hold and may write, such as the buffers of a graph, is compared and put back where `held` names it.
    With `same_random` both sides are known to draw the same random numbers, as with Inductor's ``fallback_random``.
    Raises `UncheckedError` where plain runs differ among themselves, or draw random numbers that need not be the same.
    """
    held = tuple(held)
    before = _generators()
    with _untouched(held):
        want = _observe(plain, twins(args), held)
        drawn = any(not torch.equal(a, b) for a, b in zip(before, _generators(), strict=True))
    if drawn and not same_random:
        raise UncheckedError("it draws random numbers, and Inductor's stream differs from eager's by design")
    with _untouched(held):
        got = _observe(fast, twins(args), held)
    if not defects(compare(got, want)):
        return ()
    with _untouched(held):
        again = _observe(plain, twins(args), held)
    if compare(again, want, strict=("bitwise",)):
        raise UncheckedError("two plain runs of it differ")
    precise = None
    if want.raised is None and not drawn:  # in float64 other random numbers are drawn
        with _untouched(held):
            precise = _observe(plain, twins(args, widened), held)
    usable = precise if precise is not None and precise.raised is None else None
    found = defects(compare(got, want, usable))
    return () if noise.can_be(found) and noise.explains(_moved(plain, args, held, want), found) else found


def _moved(plain: Run, args: Sequence[Any], held: Sequence[torch.Tensor], want: Observation) -> Iterator[Difference]:
    """Yield how the plain run differs with inputs that are one ulp off."""
    for seed in noise.SEEDS:
        convert = partial(noise.shaken, generator=torch.Generator().manual_seed(seed))
        with _untouched(held):
            yield from compare(_observe(plain, twins(args, convert), held), want)


def _observe(run: Run, args: list[Any], held: Sequence[torch.Tensor]) -> Observation:
    observation = Observation()
    where = "the call"
    try:
        result = _outputs(run(*args))
        observation.leaves |= flatten(result, "result")
        for i, arg in enumerate(args):
            observation.leaves |= flatten(arg, f"input[{i}]")
        for i, tensor in enumerate(held):
            observation.leaves |= flatten(tensor.detach().clone(), f"buffer[{i}]")
        observation.overlaps = overlaps(("result", result), *((f"input[{i}]", arg) for i, arg in enumerate(args)))
        where = "the backward pass"
        for name, gradient in gradients(result, {f"input[{i}]": arg for i, arg in enumerate(args)}, SEED):
            observation.leaves |= flatten(gradient, f"grad of {name}")
    except Exception as error:
        observation.raised = raised(error, where)
    return observation


def _outputs(result: Any) -> tuple[Any, ...]:
    """Return what a graph returns, whichever sequence it comes in: Dynamo unpacks it."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)


@contextmanager
def _untouched(held: Sequence[torch.Tensor]) -> Iterator[None]:
    """Give back the random state, so that checked and unchecked calls draw the same numbers, and what is `held`."""
    devices = list(range(torch.cuda.device_count())) if _cuda() else []
    kept = [tensor.detach().clone() for tensor in held]
    with torch.random.fork_rng(devices=devices):
        yield
    with torch.no_grad():
        for tensor, before in zip(held, kept, strict=True):
            if not torch.equal(tensor, before):
                tensor.copy_(before)


def _generators() -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    if _cuda():
        states += torch.cuda.get_rng_state_all()
    return states


def _cuda() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
