"""On a healthy torch a drop-in is torch's own function; when active it costs no guard, no break, no recompile."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from compilefix import ops
from compilefix.ops.drop_in import PLAIN, build
from tests.conftest import environ


def run(code: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python with switches of its own and without measurements of this build."""
    environment = environ(folder, XDG_CACHE_HOME=str(folder), **changes)
    command = [sys.executable, "-W", "ignore", "-c", f"import torch, compilefix.ops as ops; {code}"]
    return subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )


def test_switched_off_it_is_upstreams(tmp_path: Path) -> None:
    """With the switch off, or the records declared healthy, the very function of torch is imported."""
    code = (
        "assert ops.slice_scatter is torch.slice_scatter;"
        "assert ops.select_scatter is torch.select_scatter;"
        "assert ops.masked_fill is torch.masked_fill;"
        "assert ops.masked_scatter_ is torch.Tensor.masked_scatter_"
    )
    done = run(code, tmp_path, COMPILEFIX_FORCE="slice_scatter=off,gh198094=off")
    assert done.returncode == 0, done.stderr


def test_switched_on_it_is_the_strategy_asked_for(tmp_path: Path) -> None:
    """With a strategy forced, the import is that one, and says which."""
    code = "assert ops.slice_scatter is not torch.slice_scatter; print(ops.slice_scatter.strategy)"
    done = run(code, tmp_path, COMPILEFIX_FORCE="slice_scatter=cat")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["cat"]


@pytest.mark.parametrize("name", ops.names())
def test_plain_is_upstreams_own(name: str) -> None:
    """The strategy ``plain`` costs nothing: it is the function itself."""
    assert build(ops.spec(name), PLAIN) is ops.spec(name).upstream


@pytest.mark.parametrize("name", ops.names())
def test_signature_and_docstring(name: str) -> None:
    """People see upstream's name and signature, what goes in and out, what is raised, and the upstream issue."""
    drop_in = ops.spec(name)
    op = build(drop_in, list(drop_in.strategies)[-1])
    assert op.__name__ == name
    assert op.__doc__ is not None
    assert all(part in op.__doc__ for part in ("Args:", "Raises:", "Upstream:"))
    theirs = upstream_parameters(drop_in.upstream)
    if theirs is not None:
        assert list(inspect.signature(op).parameters) == theirs


def upstream_parameters(upstream: Callable[..., Any]) -> list[str] | None:
    """Return the names of upstream's parameters, where Python can tell."""
    try:
        return list(inspect.signature(upstream).parameters)
    except ValueError:
        return None


BUILT_IN = [n for n in ops.names() if not isinstance(ops.spec(n).upstream, FunctionType)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_parameters_are_those_of_the_schema(name: str) -> None:
    """The parameters are those of one of the operator's schemas, in order; the first one is input, or self."""
    drop_in = ops.spec(name)
    op = build(drop_in, list(drop_in.strategies)[-1])
    mine = [p for p in inspect.signature(op).parameters if p != "out"]
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    known = [[a.name for a in schema.arguments if not a.is_out] for schema in schemas]
    assert mine[0] in ("input", "self")
    assert mine[1:] in [names[1:] for names in known]


@pytest.mark.parametrize("strategy", [s for s in ops.strategies("slice_scatter") if s not in (PLAIN, "disable")])
def test_active_it_adds_no_guard_on_the_tensors(strategy: str) -> None:
    """
    What Dynamo guards of the tensors is the same as with upstream's op, and other values do not recompile.

    Besides, it guards the identity of each Python function that it looks into, as always.
    """
    seen: dict[str, set[tuple[str, str]]] = {}

    def local(f: Callable[..., Any], key: str) -> int:
        def keep(entries: Any) -> list[bool]:
            seen[key] = {(e.guard_type, e.name) for e in entries if e.name in ("x", "s", "L['x']", "L['s']")}
            return [True] * len(entries)

        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(
            lambda x, s: f(x, s, 0, 1, 3), backend=counter, fullgraph=True, options={"guard_filter_fn": keep}
        )
        for shift in range(3):
            compiled(torch.ones(5, 2) + shift, torch.zeros(2, 2))
        return counter.frame_count

    try:
        assert local(torch.slice_scatter, "upstream") == 1
    except (RuntimeError, TypeError) as error:
        pytest.skip(f"this torch does not show its guards: {error}")
    assert local(build(ops.spec("slice_scatter"), strategy), "ours") == 1
    assert seen["ours"] == seen["upstream"]
    assert seen["ours"]
