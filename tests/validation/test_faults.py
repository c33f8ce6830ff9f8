"""Every kind of fault, with the right numbers in its line; plain torch refuses each of these calls too."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.functional import embedding

from compilefix.validation import IndexFault, validate
from compilefix.validation.probes import TAKE_ALONG_DIM_WRAPS
from tests.validation.calls import faults, raises, t, x

ones = torch.ones
MASK = x() % 2 == 0

RANGE: dict[str, tuple[Callable[[], Any], str]] = {
    "scatter src": (
        lambda: x().scatter(1, t([0, 9], [1, 1]), ones(2, 2)),
        "scatter: index[0, 1] = 9 is outside [0, 5) of dim 1 of input (4, 5)",
    ),
    "scatter value": (
        lambda: torch.scatter(x(), -1, t([-1]), 2.0),
        "scatter: index[0, 0] = -1 is outside [0, 5) of dim 1 of input (4, 5)",
    ),
    "scatter_add in place": (
        lambda: x().scatter_add_(0, t([4, 5, 6, 7, 0]), ones(1, 5)),
        "scatter_add_: index[0, 0] = 4, index[0, 1] = 5, index[0, 2] = 6 (and 1 more) are outside [0, 4) of dim 0 of "
        "input (4, 5)",
    ),
    "scatter_reduce": (
        lambda: x().scatter_reduce(0, t([-4]), ones(1, 1), "amax"),
        "scatter_reduce: index[0, 0] = -4 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "gather": (
        lambda: x().gather(dim=0, index=t([0, 4])),
        "gather: index[0, 1] = 4 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "index_add": (
        lambda: x().index_add(0, t(0, -1), ones(2, 5), alpha=2),
        "index_add: index[1] = -1 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "index_copy": (
        lambda: x().index_copy_(1, t(5), ones(4, 1)),
        "index_copy_: index[0] = 5 is outside [0, 5) of dim 1 of input (4, 5)",
    ),
    "index_reduce": (
        lambda: x().index_reduce(0, t(0, 4), ones(2, 5), "prod"),
        "index_reduce: index[1] = 4 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "index_fill": (
        lambda: x().index_fill(0, t(-4, -5), 1.0),
        "index_fill: index[1] = -5 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
    "index_select": (
        lambda: torch.index_select(x(), 0, t(7)),
        "index_select: index[0] = 7 is outside [0, 4) of dim 0 of input (4, 5)",
    ),
    "index_put": (
        lambda: x().index_put((t(0, -4), t(0, 5)), ones(2)),
        "index_put: indices[1][1] = 5 is outside [-5, 5) of dim 1 of input (4, 5)",
    ),
    "take_along_dim flat": (
        lambda: torch.take_along_dim(x(), t(20, 0)),
        "take_along_dim: indices[0] = 20 is outside [0, 20) of the flattened input (4, 5)",
    ),
    "embedding": (
        lambda: embedding(t([1, 4]), x()),
        "embedding: input[0, 1] = 4 is outside [0, 4) of dim 0 of weight (4, 5)",
    ),
    "module": (
        lambda: torch.nn.Embedding(4, 5)(t(1, -1)),
        "embedding: input[1] = -1 is outside [0, 4) of dim 0 of weight (4, 5)",
    ),
    "subscript": (lambda: x()[t(-4, 4)], "x[...]: index[1] = 4 is outside [-4, 4) of dim 0 of input (4, 5)"),
    "subscript without dimensions": (
        lambda: x()[torch.tensor(-5)],
        "x[...]: index = -5 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
    "subscripts": (
        lambda: x(2, 3, 4)[..., None, t(0, -5)],
        "x[...]: index[2][1] = -5 is outside [-4, 4) of dim 2 of input (2, 3, 4)",
    ),
    "list": (lambda: x()[:, [0, 5]], "x[...]: index[1][1] = 5 is outside [-5, 5) of dim 1 of input (4, 5)"),
    "integer": (
        lambda: x()[4, t(0)],
        "x[...]: index[0] = 4 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
    "assignment": (
        lambda: x().__setitem__((slice(None), t(9)), 1.0),
        "x[...] = v: index[1][0] = 9 is outside [-5, 5) of dim 1 of input (4, 5)",
    ),
    "mask": (
        lambda: x().masked_scatter(MASK, ones(9)),
        "masked_scatter: mask (4, 5) picks 10 places, source has 9 elements",
    ),
    "select_scatter": (
        lambda: x().select_scatter(ones(5), 0, -5),
        "select_scatter: index -5 is outside [-4, 4) of dim 0 of input (4, 5)",
    ),
}

SHAPES: dict[str, tuple[Callable[[], Any], str]] = {
    "scatter rank": (
        lambda: x().scatter(0, t(0, 1), ones(2)),
        "scatter: index (2,) has 1 dimensions, input (4, 5) has 2",
    ),
    "scatter larger than input": (
        lambda: x().scatter(0, t([0] * 6), ones(1, 6)),
        "scatter: index.size(1) = 6 is larger than input.size(1) = 5 (dim is 0)",
    ),
    "scatter larger than src": (
        lambda: x().scatter_add(0, t([0], [0], [0]), ones(2, 1)),
        "scatter_add: index.size(0) = 3 is larger than src.size(0) = 2",
    ),
    "scatter src rank": (
        lambda: x().scatter(0, t([0, 1]), ones(2)),
        "scatter: src (2,) has 1 dimensions, index (1, 2) has 2",
    ),
    "gather larger than input": (
        lambda: x().gather(0, t([0] * 6)),
        "gather: index.size(1) = 6 is larger than input.size(1) = 5 (dim is 0)",
    ),
    "dim": (lambda: x().gather(2, t([0])), "gather: dim 2 is outside [-2, 2) of input (4, 5)"),
    "index_add rank": (
        lambda: x(4, 2).index_add(0, t(1, 3), x(2)),
        "index_add: source (2,) has 1 dimensions, input (4, 2) has 2",
    ),
    "index_add size": (
        lambda: x().index_add(0, t(1, 3), ones(2, 1)),
        "index_add: source.size(1) = 1 must be input.size(1) = 5 (dim is 0)",
    ),
    "index_add count": (
        lambda: x().index_add(0, t(1, 2, 3), ones(2, 5)),
        "index_add: index has 3 elements, source.size(0) = 2",
    ),
    "index_copy slice": (
        lambda: x().index_copy(0, t(1), torch.tensor(1.0)),
        "index_copy: source () does not have the shape of a slice of input (4, 5)",
    ),
    "index_select rows": (lambda: x().index_select(0, t([0, 1])), "index_select: index (1, 2) must have one dimension"),
    "index_select scalar": (
        lambda: torch.tensor(1.0).index_select(0, t(0, 0)),
        "index_select: index (2,) must have one element, input () has no dimensions",
    ),
    "index_fill value": (
        lambda: x().index_fill(0, t(0), ones(1)),
        "index_fill: value (1,) must be a number or have no dimensions",
    ),
    "take_along_dim": (
        lambda: torch.take_along_dim(x(), t([0, 1]), 0),
        "take_along_dim: indices.size(1) = 2 does not broadcast with input.size(1) = 5 (dim is 0)",
    ),
    "mask": (
        lambda: x().masked_fill(ones(4) > 0, 1.0),
        "masked_fill: mask (4,) does not broadcast with input (4, 5)",
    ),
    "mask in place": (
        lambda: x(5).masked_fill_(MASK, 1.0),
        "masked_fill_: mask (4, 5) does not broadcast to input (5,), which is written in place",
    ),
    "subscript mask": (
        lambda: x()[:, MASK[0, :3]],
        "x[...]: mask index[1] (3,) must have the shape (5,) of input (4, 5) from dim 1",
    ),
    "too many": (lambda: x()[t(0), t(0), t(0)], "x[...]: 3 dimensions are indexed, input (4, 5) has 2"),
    "subscripts": (
        lambda: x()[t(0, 1), t(0, 1, 2)],
        "x[...]: index tensors of shapes (2,), (3,) do not broadcast together",
    ),
    "masked values": (
        lambda: x().__setitem__(MASK, ones(9)),
        "x[...] = v: value (9,) does not broadcast to the indexed places (10,) of input (4, 5)",
    ),
    "values": (
        lambda: x(4, 5, 6).__setitem__((t(0, 1), slice(1, 4)), ones(2, 6)),
        "x[...] = v: value (2, 6) does not broadcast to the indexed places (2, 3, 6) of input (4, 5, 6)",
    ),
    "index_put": (
        lambda: x().index_put((t(0, 1),), ones(1, 2, 5)),
        "index_put: values (1, 2, 5) does not broadcast to the indexed places (2, 5) of input (4, 5)",
    ),
    "slice_scatter": (
        lambda: x().slice_scatter(ones(1, 5), 0, 1, 4, 2),
        "slice_scatter: src (1, 5) must have the shape (2, 5) of the slice 1:4:2 along dim 0, input is (4, 5)",
    ),
    "diagonal_scatter": (
        lambda: x().diagonal_scatter(ones(4), 2),
        "diagonal_scatter: src (4,) must have the shape (3,) of the diagonal 2 of dims 0 and 1, input is (4, 5)",
    ),
    "as_strided_scatter": (
        lambda: x().as_strided_scatter(ones(3, 5), (3, 5), (8, 1)),
        "as_strided_scatter: size (3, 5), stride (8, 1), storage_offset 0 ends at element 20, the storage of input "
        "(4, 5) has 20",
    ),
    "embedding": (lambda: embedding(t(0), x(5)), "embedding: weight (5,) must have two dimensions"),
}

KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "index": (
        lambda: x().index_copy(0, t(0).int(), ones(1, 5)),
        "index_copy: index is int32, must be int64",
    ),
    "index of two": (lambda: x().gather(0, ones(1, 1)), "gather: index is float32, must be int32 or int64"),
    "subscript": (lambda: x()[ones(2)], "x[...]: index is float32, must be bool or int32 or int64"),
    "mask": (lambda: x().masked_fill(ones(4, 5), 0.0), "masked_fill: mask is float32, must be bool"),
    "source": (
        lambda: x().scatter(0, t([0]), ones(1, 1).double()),
        "scatter: src is float64, must be float32 like input",
    ),
    "assigned": (
        lambda: x().__setitem__(t(0), ones(5).half()),
        "x[...] = v: value is float16, must be float32 like input",
    ),
    "complex": (lambda: x().index_fill(0, t(0), 1j), "index_fill: value is complex, input is float32"),
}

ALL = {
    f"{kind}: {name}": case
    for kind, table in (("range", RANGE), ("shape", SHAPES), ("dtype", KINDS))
    for name, case in table.items()
}


@pytest.mark.parametrize(("call", "line"), ALL.values(), ids=ALL)
def test_a_fault_is_named_with_its_numbers(call: Callable[[], Any], line: str) -> None:
    """The line is exact, it is the only one, and torch refuses the call as well."""
    assert faults(call) == (line,)
    assert raises(call)


def test_all_faults_of_a_call_come_together() -> None:
    """Dtype, shape and range of one call are told at once, one line each."""
    with pytest.raises(IndexFault) as caught, validate():
        x().scatter(1, t([0, 9, 7]), ones(1, 2).double())
    assert str(caught.value).splitlines() == [
        "scatter: src is float64, must be float32 like input",
        "scatter: index.size(1) = 3 is larger than src.size(1) = 2",
        "scatter: index[0, 1] = 9, index[0, 2] = 7 are outside [0, 5) of dim 1 of input (4, 5)",
    ]


@pytest.mark.skipif(not TAKE_ALONG_DIM_WRAPS, reason="this torch refuses what is out of range")
def test_take_along_dim_does_not_wrap() -> None:
    """Torch takes indices modulo the size here; validated mode has NumPy's range."""
    assert torch.take_along_dim(x(), torch.full((1, 5), 9), 0).tolist() == x()[1:2].tolist()
    assert faults(lambda: torch.take_along_dim(x(), t([9]), 0)) == (
        "take_along_dim: indices[0, 0] = 9 is outside [-4, 4) of dim 0 of input (4, 5)",
    )


def test_the_exception_is_both_that_torch_raises() -> None:
    """Code that expects torch's IndexError or RuntimeError still catches it, and it survives a pickle."""
    fault = IndexFault("one", "two")
    assert isinstance(fault, IndexError)
    assert isinstance(fault, RuntimeError)
    assert pickle.loads(pickle.dumps(fault)).faults == ("one", "two")
    assert str(fault) == "one\ntwo"
