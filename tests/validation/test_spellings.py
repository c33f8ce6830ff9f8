"""Valid calls come out as without validated mode, however they are spelt."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from packaging.version import Version

from compilefix.validation import IndexFault, validate
from compilefix.validation.table import SPECS, SPELLINGS
from tests.validation.calls import t, x

ones = torch.ones
MASK = x() % 3 == 0


def assigned(target: torch.Tensor, subscripts: object, value: object) -> torch.Tensor:
    """Assign between brackets."""
    target[subscripts] = value
    return target


VALID: dict[str, Callable[[], torch.Tensor]] = {
    "scatter longer than input along dim": lambda: x().scatter(0, t(*[[0]] * 6), ones(6, 1)),
    "scatter reduce": lambda: x().scatter(0, t([1, 1]), ones(1, 2), reduce="add"),
    "scatter value keyword": lambda: x().scatter(dim=0, index=t([1, 1]), value=3.0),
    "scatter axis": lambda: torch.scatter(input=x(), dim=-2, index=t([1]), src=ones(1, 1)),
    "scatter int32": lambda: x().scatter(0, t([3]).int(), ones(1, 1)),
    "scatter empty float index": lambda: x().scatter(0, ones(0, 5), ones(2, 5)),
    "scatter empty index of another rank": lambda: x().scatter(0, torch.zeros(0, dtype=torch.long), ones(2, 5)),
    "scatter without dimensions": lambda: torch.tensor(1.0).scatter(0, t(0), ones(1)),
    "gather empty": lambda: x().gather(1, torch.zeros(0, 5, dtype=torch.long)),
    "index_add without dimensions": lambda: torch.tensor(1.0).index_add(0, t(0), torch.tensor(2.0)),
    "index_add index without dimensions": lambda: x().index_add(0, torch.tensor(3), ones(1, 5)),
    "index_copy row": lambda: x(3).index_copy(0, t(2), torch.tensor(9.0)),
    "index_copy nothing": lambda: x(4, 0).index_copy(0, t(9), x(1, 0)),
    "index_fill negative": lambda: x().index_fill_(1, t(-1, -5), torch.tensor(2, dtype=torch.int64)),
    "index_put accumulate": lambda: x().index_put((t(0, 0), t(1, 1)), t(1.0, 2.0), accumulate=True),
    "take_along_dim": lambda: torch.take_along_dim(x(), t([-1]), dim=0),
    "take_along_dim flat": lambda: torch.take_along_dim(x(), t(19, 0)),
    "subscripts": lambda: x(2, 3, 4)[None, 1, ..., t(-4, 3)],
    "subscripts apart": lambda: x(2, 3, 4)[t(0, 1), :, t(3, -4)],
    "subscript of a list": lambda: x()[[0, -1]],
    "subscript of nested lists": lambda: x()[[[0, 1], [1, 0]]],
    "subscript of a bool": lambda: x()[True],
    "subscript nothing": lambda: x(4, 0)[t(9)],
    "subscript int8 without dimensions": lambda: x()[torch.tensor(-1, dtype=torch.int8)],
    "mask beside an integer": lambda: x()[MASK[:, 0], 2],
    "mask": lambda: x()[MASK],
    "assign converts": lambda: assigned(x(), slice(0, 2), ones(2, 5).double()),
    "assign ones in front": lambda: assigned(x(), t(0, 1), ones(1, 1, 2, 5)),
    "assign under a mask": lambda: assigned(x(), MASK, ones(1).double()),
    "assign as many as masked": lambda: assigned(x(), MASK, torch.arange(7.0)),
    "masked_fill broadcasts": lambda: x(5).masked_fill(MASK, 1),
    "masked_scatter": lambda: x().masked_scatter_(MASK, x() * 2),
    "embedding": lambda: torch.nn.functional.embedding(t([0, 3]), x(), padding_idx=-1),
    "slice_scatter": lambda: x().slice_scatter(ones(2, 5).double(), 0, -2, 9),
    "select_scatter": lambda: torch.select_scatter(x(), ones(4), -1, -5),
    "diagonal_scatter": lambda: x().diagonal_scatter(ones(3), 2),
    "as_strided_scatter": lambda: x().as_strided_scatter(ones(2, 5), (2, 5), (10, 1), 5),
}


@pytest.mark.parametrize("call", VALID.values(), ids=VALID)
def test_a_valid_call_is_unchanged(call: Callable[[], torch.Tensor]) -> None:
    """Values, dtype and strides are torch's."""
    try:
        want = call()
    except (RuntimeError, IndexError):  # an older release takes fewer indices
        assert Version(torch.__version__) < Version("2.13")
        with validate("error"), pytest.raises(IndexFault):
            call()
        return
    with validate("error"):
        got = call()
    assert torch.equal(got, want)
    assert (got.dtype, got.stride()) == (want.dtype, want.stride())


def test_every_spelling_is_seen() -> None:
    """Function, method and in-place method of an operator are in the table, where torch has them."""
    for key in SPECS:
        if key.isidentifier() and key != "embedding":
            names = [f for holder in (torch, torch.Tensor) for n in (key, f"{key}_") if (f := getattr(holder, n, None))]
            assert names
            assert [SPELLINGS[f][0] for f in names] == [key] * len(names)
    assert SPELLINGS[torch.Tensor.scatter_] == ("scatter", "scatter_", True)


def test_a_wrong_signature_is_left_to_torch() -> None:
    """Torch's own TypeError comes through."""
    with validate(), pytest.raises(TypeError):
        x().index_select(0, t(0), 1, 2)
    with validate(), pytest.raises(TypeError):
        x().gather(0)
