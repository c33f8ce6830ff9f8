"""For any test suite: assert that a function does the same compiled as plain."""

from __future__ import annotations

import copy
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from compilefix.errors import UsageError
from compilefix.oracle import Observation, compare, flatten, overlaps, raised
from compilefix.oracle.gradients import gradients
from compilefix.oracle.twins import twins, widened
from compilefix.outcome import BACKENDS, INTERPRETED, REFERENCE, Difference, Target, defects
from compilefix.report.interface import describe

CALLS = 2
"""Calls of one compiled function: some defects show on the second one only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """What one target came to."""

    target: str
    differences: tuple[Difference, ...]

    @property
    def same(self) -> bool:
        """True where nothing differs beyond rounding."""
        return not self.differences


def assert_compiled_matches(
    function: Callable[..., Any],
    /,
    *args: Any,
    targets: Sequence[str] = ("inductor",),
    dynamic: bool | None = None,
    strict: tuple[str, ...] = (),
    seed: int = 0,
    **kwargs: Any,
) -> None:
    """
    Raise `AssertionError` where `function` (or a module) compiled does otherwise than plain.

    Both run twice on copies of the arguments, which are left alone: values are held against a float64 run, and masks,
    shapes, dtypes, writes into arguments, shared memory, gradients of arguments and parameters, and exceptions are
    compared. Random numbers are drawn as eager draws them (``fallback_random``). Warnings are no errors meanwhile,
    whatever the suite's filters say: the compiler gives some of its own.

    Args:
        function: what is compiled.
        args: its arguments, tensors in any nesting.
        targets: ``aot_eager``, ``inductor`` …, optionally with the device, such as ``inductor:cuda``.
        dynamic: as `torch.compile` takes it.
        strict: comparisons that are a contract besides: ``strides``, ``rng``, ``bitwise``.
        seed: of every run.
        kwargs: keyword arguments of `function`.

    Raises:
        UsageError: a target does not exist, or cannot run inside the test's own process.

    """
    results = [parity(function, args, kwargs, target, dynamic=dynamic, strict=strict, seed=seed) for target in targets]
    bad = [result for result in results if not result.same]
    if bad:
        raise AssertionError(report(bad))


def parity(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    target: str,
    *,
    dynamic: bool | None = None,
    strict: tuple[str, ...] = (),
    seed: int = 0,
) -> Parity:
    """Run `function` plain and compiled for `target`; see `assert_compiled_matches`."""
    parsed = Target.parse(target)
    if parsed.device == INTERPRETED:
        raise UsageError(f"{target} needs a process of its own: run `compilefix diagnose` on the function")
    if parsed.backend == REFERENCE:
        raise UsageError(f"{target} compiles nothing; a target's backend is one of {', '.join(BACKENDS[1:])}")
    with _warnings_are_no_errors():
        return _parity(_Case(function, tuple(args), dict(kwargs), seed), target, parsed, dynamic, strict)


def _parity(case: _Case, target: str, parsed: Target, dynamic: bool | None, strict: tuple[str, ...]) -> Parity:
    want, again = case.observe(None), case.observe(None)
    if unstable := compare(again, want, strict=("bitwise",)):
        raise AssertionError(f"two plain runs differ, so nothing can be compared: {describe(unstable[0])}")
    compile = _compiler(parsed, dynamic)
    got = case.observe(compile)
    found = defects(compare(got, want, strict=strict))
    if found and want.raised is None:
        precise = case.observe(None, widened)
        found = defects(compare(got, want, precise if precise.raised is None else None, strict=strict))
    return Parity(target=target, differences=found)


def report(results: Sequence[Parity]) -> str:
    """Return what differs, a paragraph a target."""
    lines = []
    for result in results:
        lines.append(f"compiled for {result.target}, it does otherwise than plain:")
        lines += [f"  {describe(difference)}" for difference in result.differences]
    return "\n".join(lines)


@contextmanager
def _warnings_are_no_errors() -> Iterator[None]:
    """Let warnings be warnings where the suite makes them errors: the compiler's own are no difference."""

    def text(pattern: re.Pattern[str] | str | None) -> str:
        return pattern.pattern if isinstance(pattern, re.Pattern) else pattern or ""

    with warnings.catch_warnings():
        before: list[Any] = list(warnings.filters)
        warnings.resetwarnings()
        for action, message, category, module, line in reversed(before):
            kept: Any = "default" if action == "error" else action
            warnings.filterwarnings(kept, text(message), category, text(module), line)
        yield


def _compiler(target: Target, dynamic: bool | None) -> Callable[[Any], Any]:
    arguments: dict[str, Any] = {"backend": target.backend, "dynamic": True if target.dynamic else dynamic}
    if target.backend == "inductor":
        arguments["options"] = {"fallback_random": True}
    return lambda function: torch.compile(function, **arguments)


@dataclass(frozen=True)
class _Case:
    """A function with its arguments, to be run as often as need be."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    seed: int

    def observe(
        self,
        compile: Callable[[Any], Any] | None,
        convert: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> Observation:
        """Run `CALLS` times on copies and note all that is left behind."""
        torch._dynamo.reset()
        function = self._own(convert)
        compiled = function if compile is None else compile(function)
        observation = Observation()
        for call in range(CALLS):
            args, kwargs = self._arguments(convert)
            self._call(compiled, function, args, kwargs, f"call {call} ", observation)
            if observation.raised is not None:
                break
        return observation

    def _own(self, convert: Callable[[torch.Tensor], torch.Tensor] | None) -> Any:
        if not isinstance(self.function, torch.nn.Module):
            return self.function
        module = copy.deepcopy(self.function)
        return module.double() if convert is not None else module

    def _arguments(self, convert: Callable[[torch.Tensor], torch.Tensor] | None) -> tuple[Any, Any]:
        leaves, spec = torch.utils._pytree.tree_flatten((self.args, self.kwargs))
        pair: tuple[Any, Any] = torch.utils._pytree.tree_unflatten(twins(leaves, convert), spec)
        return pair

    def _call(self, run: Any, function: Any, args: Any, kwargs: Any, name: str, observation: Observation) -> None:
        random.seed(self.seed)
        torch.manual_seed(self.seed)
        inputs = {f"input[{i}]": arg for i, arg in enumerate(args)} | {f"input[{k}]": v for k, v in kwargs.items()}
        where = f"{name}itself"
        try:
            result = run(*args, **kwargs)
            found = flatten(result, "result")
            for path, value in inputs.items():
                found |= flatten(value, path)
            observation.leaves |= {f"{path}, {name.strip()}": leaf for path, leaf in found.items()}
            observation.overlaps |= overlaps(("result", result), *inputs.items())
            where = f"{name}backward"
            sources = inputs | ({"module": function} if isinstance(function, torch.nn.Module) else {})
            for path, gradient in gradients(result, sources, self.seed):
                observation.leaves |= flatten(gradient, f"grad of {path}, {name.strip()}")
        except Exception as error:
            observation.raised = raised(error, where)
