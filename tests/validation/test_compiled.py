"""Validated mode around and inside compiled functions, in one graph each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from packaging.version import Version
from torch._dynamo.testing import CompileCounterWithBackend

import compilefix
from compilefix.validation import DuplicateIndexWarning, IndexFault, validate, validated
from compilefix.validation.mode import ASSIGNMENTS_HIDDEN
from tests.conftest import CACHE, environ
from tests.validation.calls import t, x

ASSIGNMENTS_SEEN = Version(torch.__version__) < Version(ASSIGNMENTS_HIDDEN)
UNUSED_KEPT = Version(torch.__version__) >= Version("2.13")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Share the compiled C++ of all tests, and start without compiled functions."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(CACHE / "validation"))
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], backend: Any = "aot_eager", **options: Any) -> Callable[..., Any]:
    """Compile into one graph."""
    return torch.compile(function, backend=backend, fullgraph=True, **options)


Program = tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...], tuple[torch.Tensor, ...], str]

ISSUES: dict[str, Program] = {
    "gh185885": (
        lambda table, index, rows: torch.index_add(table, 0, index, rows),
        (x(3, 2), t(0, 2), x(2, 2)),
        (x(3, 2), t(0, -3), x(2, 2)),
        "index_add: index[1] = -3 is outside [0, 3) of dim 0 of input (3, 2)",
    ),
    "gh197554": (
        lambda table, index, rows: table.index_copy(0, index, rows),
        (x(3, 2), t(2), x(1, 2)),
        (x(3, 2), t(-1), x(1, 2)),
        "index_copy: index[0] = -1 is outside [0, 3) of dim 0 of input (3, 2)",
    ),
    "gh121135": (
        lambda table, index, rows: table.index_add(0, index, rows),
        (x(4, 2), t(1, 3), x(2, 2)),
        (x(4, 2), t(1, 3), x(2)),
        "index_add: source (2,) has 1 dimensions, input (4, 2) has 2",
    ),
}

PROGRAMS: dict[str, Program] = {
    "subscripts": (
        lambda table, i, j: table[None, i, ..., j] + 1,
        (x(), t(1, -4), t(0, 4)),
        (x(), t(1, -4), t(0, 7)),
        "x[...]: index[3][1] = 7 is outside [-5, 5) of dim 1 of input (4, 5)",
    ),
    "assignment": (
        lambda table, i: torch.Tensor.__setitem__(table := table.clone(), i, 1.0) or table,
        (x(), t(1)),
        (x(), t(8)),
        "x[...] = v: index[0] = 8 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
    "in place, by keyword": (
        lambda table, i: table.clone().scatter_(dim=0, index=i[None], value=1.0),
        (x(), t(1, 2)),
        (x(), t(1, 4)),
        "scatter_: index[0, 1] = 4 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "list": (
        lambda table: table[[0, table.dim() * 2]],
        (x(5, 4),),
        (x(),),
        "x[...]: index[1] = 4 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
    "mask": (
        lambda table, rows: table.masked_scatter(table > 3, rows),
        (x(), x()),
        (x(), x(5)),
        "masked_scatter: mask (4, 5) picks 16 places, source has 5 elements",
    ),
    "dtype": (
        lambda table, mask: table.masked_fill(mask, 0.0),
        (x(), x() > 3),
        (x(), x()),
        "masked_fill: mask is float32, must be bool",
    ),
    "slice": (
        lambda table, rows: table.slice_scatter(rows, 0, 0, 2),
        (x(), x(2, 5)),
        (x(), x(1, 5)),
        "slice_scatter: src (1, 5) must have the shape (2, 5) of the slice 0:2:1 along dim 0",
    ),
    "vmap": (
        lambda table, i: torch.vmap(lambda row, places: row.index_select(0, places))(table, i),
        (x(2, 4), t([0, 1], [2, 3])),
        (x(2, 4), t([0, 1], [2, 4])),
        "index_select: sample 1: index[1] = 4 is outside [0, 4) of dim 0 of input (4,)",
    ),
    "torch.func": (
        lambda table, i: torch.func.grad(lambda rows: rows[i].square().sum())(table),
        (x(), t(0, 3)),
        (x(), t(0, 4)),
        "x[...]: index[1] = 4 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
}


@pytest.mark.parametrize("program", ISSUES.values(), ids=ISSUES)
def test_mistakes_that_compiled_torch_accepts(program: Program) -> None:
    """Caught in Inductor's code by a function that was compiled before the mode was on."""
    function, right, wrong, line = program
    counter = CompileCounterWithBackend("inductor")
    f = compiled(function, counter, dynamic=False)
    want = f(*right)
    with validate("error"):
        assert torch.equal(f(*right), want)
        with pytest.raises((IndexFault, RuntimeError)) as caught:
            f(*wrong)
    assert line in str(caught.value)
    frames = counter.frame_count
    assert torch.equal(f(*right), want)
    with validate("error"):
        assert torch.equal(f(*right), want)
    assert counter.frame_count == frames, "neither leaving nor entering compiles again"


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_in_one_graph(program: Program) -> None:
    """Valid arguments give plain torch's result, wrong ones the same line as in plain code."""
    function, right, wrong, line = program
    f = compiled(function)
    with validate("error"):
        assert torch.equal(f(*right), function(*right))
        with pytest.raises((IndexFault, RuntimeError)) as caught:
            f(*wrong)
        with pytest.raises(IndexFault) as plain:
            function(*wrong)
    assert line in str(caught.value)
    assert line in str(plain.value)


ARGUMENTS: dict[str, Callable[[torch.Tensor, torch.Tensor], tuple[Any, ...]]] = {
    "scatter": lambda table, i: (0, i[None], 1.0),
    "scatter_add": lambda table, i: (0, i[None], table[:1]),
    "scatter_reduce": lambda table, i: (0, i[None], table[:1], "sum"),
    "gather": lambda table, i: (0, i[None]),
    "take_along_dim": lambda table, i: (i[None], 0),
    "index_select": lambda table, i: (0, i),
    "index_add": lambda table, i: (0, i, table[:1]),
    "index_copy": lambda table, i: (0, i, table[:1]),
    "index_reduce": lambda table, i: (0, i, table[:1], "prod"),
    "index_fill": lambda table, i: (0, i, 1.0),
    "index_put": lambda table, i: ((i,), table[0]),
    "masked_fill": lambda table, i: (table > 3, 1.0),
    "masked_scatter": lambda table, i: (table > 3, table * 1),
    "slice_scatter": lambda table, i: (table[:2], 0, 0, 2),
    "select_scatter": lambda table, i: (table[0], 0, 0),
    "diagonal_scatter": lambda table, i: (table[0, :4],),
    "as_strided_scatter": lambda table, i: (table[:2], (2, 5), (5, 1)),
}


@pytest.mark.parametrize("key", ARGUMENTS)
def test_dynamo_shows_every_spelling_to_the_mode(key: str) -> None:
    """Functions, methods and in-place methods have their check in the graph; torch.index_put_ is one of the limits."""
    names = [(holder, name) for holder in (torch, torch.Tensor) for name in (key, f"{key}_") if hasattr(holder, name)]
    for holder, name in names:
        code: list[str] = []
        spelling = getattr(holder, name)

        def record(module: torch.fx.GraphModule, example: Any, code: list[str] = code) -> Callable[..., Any]:
            code.append(module.code)
            return module.forward

        def program(table: torch.Tensor, i: torch.Tensor, spelling: Callable[..., torch.Tensor] = spelling) -> Any:
            return spelling(table.clone(), *ARGUMENTS[key](table, i))

        torch._dynamo.reset()
        with validate("error"):
            assert torch.equal(compiled(program, record)(x(), t(1)), program(x(), t(1)))
        hidden = (holder, name) == (torch, "index_put_")
        assert ["graph_trace" in text for text in code] == [not hidden], name


def test_inside_the_compiled_function() -> None:
    """As a decorator and as a context, with a policy."""

    @validated(duplicates="error")
    def pick(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return table[index] * 2

    def write(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        with compilefix.validate(duplicates="error"):
            return table.index_copy(0, index, table[:2])

    f, g = compiled(pick), compiled(write)
    assert torch.equal(f(x(), t(0, -1)), x()[t(0, -1)] * 2)
    with pytest.raises(IndexFault, match=r"index\[1\] = 4 is outside \[-4, 4\)"):
        f(x(), t(0, 4))
    assert torch.equal(g(x(), t(0, 1)), x())
    with pytest.raises(IndexFault, match=r"index\[0\] and index\[1\] write different values to input\[3\]"):
        g(x(), t(3, 3))


def test_duplicates_in_a_graph_are_warned_of() -> None:
    """The default policy; equal values are fine here too."""

    def write(table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return table.scatter(0, index[None], rows[:1, :2]).index_copy(0, index, rows)

    f = compiled(write)
    with validate(), pytest.warns(DuplicateIndexWarning) as caught:
        f(x(), t(2, 2), x(2, 5))
    assert [str(w.message).partition(":")[0] for w in caught] == ["index_copy"]


@pytest.mark.skipif(not ASSIGNMENTS_SEEN, reason="Dynamo hides x[i] = v from modes, and validate() says so")
def test_an_assignment_statement() -> None:
    """Between brackets, as people write it."""

    def write(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        table = table.clone()
        table[index] = 2.0
        return table

    with validate(), pytest.raises(IndexFault, match=r"x\[\.\.\.\] = v: index\[0\] = 4 is outside \[-4, 4\) of dim 0"):
        compiled(write)(x(), t(4))


def test_training_with_inductor() -> None:
    """The check is in the forward graph of a joint one, and the gradients are those without it."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(4, 5), torch.nn.Linear(5, 2))
    f = compiled(model, "inductor")

    def gradients(call: Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        model.zero_grad()
        call(t(1, 3, 3)).square().sum().backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    want = gradients(model)
    with validate("error"):
        got = gradients(f)
        with pytest.raises(IndexFault, match=r"embedding: input\[1\] = 4 is outside \[0, 4\)"):
            f(t(1, 4))
    assert len(got) == 3
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)


def test_dynamic_shapes() -> None:
    """One graph for all sizes: shapes are compared symbolically, values against the size at run time."""
    counter = CompileCounterWithBackend("aot_eager")
    f = compiled(lambda table, index, rows: table.index_add(0, index, rows), counter, dynamic=True)
    with validate():
        for n in (3, 4, 7):
            assert torch.equal(f(x(n, 5), t(0, 2), x(2, 5)), x(n, 5).index_add(0, t(0, 2), x(2, 5)))
        with pytest.raises(IndexFault, match=r"index\[1\] = 8 is outside \[0, 8\) of dim 0 of input \(8, 5\)"):
            f(x(8, 5), t(0, 8), x(2, 5))
        assert counter.frame_count == 1
        with pytest.raises(RuntimeError, match=r"source\.size\(1\) = .* must be input\.size\(1\) = .* \(dim is 0\)"):
            f(x(8, 5), t(0, 7), x(2, 4))


def test_sizes_known_only_at_run_time() -> None:
    """A rule on such a size is left to torch rather than failing to compile."""

    def program(table: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        index = mask.nonzero().squeeze(1)
        return table.index_add(0, index, table[index])

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True), validate():
        got = compiled(program)(x(), x(4) > 1)
    assert torch.equal(got, program(x(), x(4) > 1))


@pytest.mark.skipif(not UNUSED_KEPT, reason="Inductor drops the check with the call, which is one of the limits")
def test_a_result_that_nobody_uses() -> None:
    """The call is checked all the same, as it is in plain code."""

    def program(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        table.index_select(0, index)
        return table + 1

    with validate(), pytest.raises(IndexFault, match=r"index\[0\] = 4 is outside"):
        compiled(program, "inductor")(x(), t(4))


CRASH = """
import torch, compilefix
torch._inductor.config.cpp.threads = 2
f = torch.compile(lambda table, rows: table[rows] + 1.0, fullgraph=True)
try:
    with compilefix.validate():
        f(torch.ones(900, 64), torch.arange(100, 1000))
except IndexError as error:
    print(error)
"""


def test_a_mistake_that_ends_the_process(tmp_path: Path) -> None:
    """gh126691: the check comes before the kernel that would abort, and does not go with it."""
    done = subprocess.run(
        [sys.executable, "-c", CRASH],
        env=environ(tmp_path, PYTHONPATH=str(Path(__file__).parents[2]))
        | {"TORCHINDUCTOR_CACHE_DIR": str(CACHE / "validation")},
        capture_output=True,
        text=True,
        check=False,
    )
    line = "x[...]: index[800] = 900, index[801] = 901, index[802] = 902 (and 97 more) are outside [-900, 900) of dim 0"
    assert done.stdout.startswith(line), done.stderr
    assert done.returncode == 0


def test_a_shape_fault_without_fullgraph() -> None:
    """Dynamo reports it while tracing, and leaves no mode behind."""
    f = torch.compile(lambda table, rows: table.index_add(0, t(0), rows), backend="aot_eager")
    with validate(), pytest.raises(RuntimeError, match="must be input") as caught:
        f(x(), x(1, 4))
    assert not isinstance(caught.value, IndexFault)
    assert torch.overrides._get_current_function_mode_stack() == []
