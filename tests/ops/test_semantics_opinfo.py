"""Every strategy of every op does what torch's own op does on torch's own samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

from compilefix import ops
from tests.ops import samples

Record = Callable[[str, object], None]
DIFFERENTIATED = 12
"""Samples of each variant whose derivatives are compared."""

RANDOM = {"bernoulli"}
"""Ops whose samples draw numbers: only what a strategy draws with the same seed can be compared."""

OWN_GRADIENT = {"as_strided_scatter": {"assign", "index-put", "where"}}
"""Strategies whose gradient is right where upstream's is not, see `test_gradient_that_upstream_inverts`."""


@pytest.mark.parametrize("name", ops.names())
def test_values_dtypes_and_shapes(name: str, record_property: Record) -> None:
    """Results are torch's on all samples and dtypes; what torch refuses is refused by the same error."""
    drop_in = ops.spec(name)
    if not (infos := samples.infos(drop_in)):
        pytest.skip(f"torch has no samples for {name}")
    cases = 0
    for info, dtype in itertools.product(infos, samples.DTYPES):
        if not info.supports_dtype(dtype, "cpu"):
            continue
        for args, kwargs in samples.calls(info, dtype):
            want = samples.attempt(drop_in.upstream, drop_in, args, kwargs)
            for strategy, f in samples.own_strategies(drop_in).items():
                got = samples.attempt(f, drop_in, args, kwargs)
                try:
                    samples.same(got, want)
                except AssertionError as error:
                    raise AssertionError(f"{name} by {strategy}, {args}, {kwargs}: {error}") from None
                cases += 1
    assert cases
    record_property(f"{name} cases", cases)


@pytest.mark.parametrize("name", [n for n in ops.names() if n not in RANDOM])
def test_first_and_second_derivatives(name: str, record_property: Record) -> None:
    """Gradients by all inputs, and their gradients, are torch's in float64."""
    drop_in = ops.spec(name)
    infos = [i for i in samples.infos(drop_in) if i.supports_autograd and i.supports_dtype(torch.float64, "cpu")]
    if not infos:
        pytest.skip(f"torch has no differentiable samples for {name}")
    cases = 0
    for info in infos:
        each = samples.calls(info, torch.float64, requires_grad=True)
        for args, kwargs in itertools.islice(each, DIFFERENTIATED):
            want = samples.derivatives(drop_in.upstream, drop_in, args, kwargs)
            if want is None:
                continue
            for strategy, f in samples.own_strategies(drop_in).items():
                if strategy in OWN_GRADIENT.get(name, ()):
                    continue
                got = samples.derivatives(f, drop_in, args, kwargs)
                assert got is not None, strategy
                for mine, theirs in zip(got, want, strict=True):
                    zero = torch.zeros(())
                    mine = torch.zeros_like(theirs) if mine is None and theirs is not None else mine
                    theirs = torch.zeros_like(mine) if theirs is None and mine is not None else theirs
                    torch.testing.assert_close(zero if mine is None else mine, zero if theirs is None else theirs)
                cases += 1
    assert cases
    record_property(f"{name} cases", cases)


@pytest.mark.parametrize("name", ops.names())
def test_misuse_that_torch_describes(name: str, record_property: Record) -> None:
    """Arguments that torch's descriptions call wrong raise the same error by every strategy."""
    drop_in = ops.spec(name)
    cases = 0
    for info in samples.infos(drop_in):
        if info.error_inputs_func is None:
            continue
        for wrong in info.error_inputs("cpu"):
            args, kwargs = (wrong.sample_input.input, *wrong.sample_input.args), wrong.sample_input.kwargs
            want = samples.attempt(drop_in.upstream, drop_in, args, kwargs)
            if not isinstance(want, Exception):
                continue
            for strategy, f in samples.own_strategies(drop_in).items():
                got = samples.attempt(f, drop_in, args, kwargs)
                assert isinstance(got, type(want)), f"{name} by {strategy}, {args}, {kwargs}: {got!r}, not {want!r}"
                cases += 1
    if not cases:
        pytest.skip(f"torch describes no misuse of {name}")
    record_property(f"{name} cases", cases)


def test_gradient_that_upstream_inverts() -> None:
    """Of ``as_strided_scatter``, upstream's gradient by the input is one where it was overwritten; ours is not."""
    drop_in = ops.spec("as_strided_scatter")
    x = torch.arange(9.0, dtype=torch.float64).reshape(3, 3).requires_grad_()
    src = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    for strategy, f in samples.own_strategies(drop_in).items():
        (got,) = torch.autograd.grad(f(x, src, (2, 2), (3, 1), 0).sum(), x)
        true = torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
        assert torch.equal(got, true if strategy in OWN_GRADIENT["as_strided_scatter"] else 1 - true), strategy
        if strategy in OWN_GRADIENT["as_strided_scatter"]:
            assert torch.autograd.gradcheck(lambda x, s, f=f: f(x, s, (2, 2), (3, 1), 0), (x, src))
