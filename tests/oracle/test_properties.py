"""For random results: an equal one passes, and whatever is changed is found at its leaf and its index."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilefix.issue import Symptom
from compilefix.oracle import Observation, compare, flatten, memory, overlaps
from compilefix.oracle.observation import walk
from compilefix.outcome import Difference
from tests.oracle.runs import INF, NAN, observed

quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
STRICT = ("strides", "rng", "bitwise")
FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64)
DTYPES = (*FLOATING, torch.int64, torch.int32, torch.uint8, torch.bool)
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@st.composite
def tensors(draw: st.DrawFn, dtypes: tuple[torch.dtype, ...] = DTYPES, least: int = 0) -> torch.Tensor:
    """Draw a tensor, sometimes a transposed one, with some NaN and infinities among the floats."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(SHAPES.filter(lambda s: math.prod(s) >= least))
    values = torch.randn(shape, generator=torch.Generator().manual_seed(draw(st.integers(0, 9)))) * draw(
        st.sampled_from([1.0, 100.0])
    )
    tensor = (values > 0) if dtype is torch.bool else (values.abs() if dtype is torch.uint8 else values).to(dtype)
    if dtype in FLOATING and tensor.numel() and draw(st.booleans()):
        place = draw(st.integers(0, tensor.numel() - 1))
        tensor.view(-1)[place] = draw(st.sampled_from([NAN, INF, -INF, -0.0]))
    if tensor.dim() >= 2 and draw(st.booleans()):
        tensor = tensor.transpose(0, 1).contiguous().transpose(0, 1)
    return tensor


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.floats(allow_subnormal=False), st.complex_numbers()
)


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw nested tuples, lists and dicts."""
    keys = st.one_of(st.sampled_from("abc"), st.integers(0, 3))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(keys, inner, max_size=3),
        ),
        max_leaves=5,
    )


TREES = trees(st.one_of(tensors(), SCALARS))


@st.composite
def trees_with(
    draw: st.DrawFn, dtypes: tuple[torch.dtype, ...] = DTYPES, least: int = 1
) -> tuple[Any, str, torch.Tensor]:
    """Draw a tree with at least one tensor of `dtypes`; return it with the path of one of them, and that tensor."""
    tree = (draw(TREES), draw(tensors(dtypes, least)), draw(TREES))
    fit = [
        (path, leaf)
        for path, leaf in walk(tree, "result")
        if isinstance(leaf, torch.Tensor) and leaf.dtype in dtypes and leaf.numel() >= least
    ]
    return tree, *draw(st.sampled_from(fit))


def replaced(tree: Any, old: Any, new: Any) -> Any:
    """Return `tree` with the object `old` replaced."""
    if tree is old:
        return new
    if isinstance(tree, tuple | list):
        return type(tree)(replaced(item, old, new) for item in tree)
    if isinstance(tree, dict):
        return {key: replaced(item, old, new) for key, item in tree.items()}
    return tree


def index_of(draw: st.DataObject, tensor: torch.Tensor) -> tuple[int, ...]:
    """Draw the index of an element."""
    return tuple(draw.draw(st.integers(0, n - 1)) for n in tensor.shape)


def check(got: Any, want: Any, precise: Any = None, strict: tuple[str, ...] = ()) -> list[Difference]:
    """Return the defects of a result."""
    judge = observed(precise) if precise is not None else None
    return [d for d in compare(observed(got), observed(want), judge, strict=strict) if not d.note]


def in_float64(tree: Any) -> Any:
    """Return `tree` with its floating tensors in float64."""
    if isinstance(tree, torch.Tensor):
        wide = torch.complex128 if tree.is_complex() else torch.float64
        return tree.to(wide) if tree.is_complex() or tree.is_floating_point() else tree.clone()
    if isinstance(tree, tuple | list):
        return type(tree)(in_float64(item) for item in tree)
    return {key: in_float64(item) for key, item in tree.items()} if isinstance(tree, dict) else tree


@quick
@given(TREES)
def test_an_equal_result_has_no_difference(tree: Any) -> None:
    """A deep copy differs in nothing, not even in a note, under all strict comparisons, with float64 or without."""
    want = observed(tree, tree)
    got = observed(*(copy.deepcopy((tree, tree))))
    assert compare(got, want, strict=STRICT) == ()
    assert compare(got, want, observed(in_float64(tree), in_float64(tree))) == ()


@quick
@given(trees_with(), st.data(), st.booleans())
def test_one_wrong_element_is_found_and_located(
    drawn: tuple[Any, str, torch.Tensor], data: st.DataObject, with_float64: bool
) -> None:
    """Any element of any dtype that is off by more than rounding is found at its leaf and its index."""
    tree, path, tensor = drawn
    index = index_of(data, tensor)
    if tensor.dtype in FLOATING and not torch.isfinite(tensor[index]):
        tensor[index] = 3.0
    wrong = tensor.clone(memory_format=torch.preserve_format)
    if tensor.dtype is torch.bool:
        wrong[index] = not tensor[index]
    elif tensor.dtype in FLOATING:
        wrong[index] = tensor[index] * 1.5 + 1.0
    else:
        wrong[index] = tensor[index] ^ 1
    (found,) = check(replaced(tree, tensor, wrong), tree, in_float64(tree) if with_float64 else None)
    assert (found.what, found.leaf, found.where, found.count) == ("values", path, index, 1)
    assert found.worst_at == (index if tensor.dtype is not torch.bool else None)


@quick
@given(trees_with(FLOATING), st.data(), st.sampled_from([NAN, INF, -INF]), st.booleans())
def test_a_wrong_mask_is_found_and_located(
    drawn: tuple[Any, str, torch.Tensor], data: st.DataObject, special: float, gained: bool
) -> None:
    """A NaN or an infinity on one side only is found at its leaf and its index, and nothing else is."""
    tree, path, tensor = drawn
    index = index_of(data, tensor)
    tensor[index] = 1.0
    other = tensor.clone(memory_format=torch.preserve_format)
    other[index] = special
    wrong = replaced(tree, tensor, other)
    found = check(wrong, tree, in_float64(tree)) if gained else check(tree, wrong, None)
    assert {(d.what, d.leaf, d.where) for d in found} == {("nan" if math.isnan(special) else "inf", path, index)}


def other_dtype(x: torch.Tensor) -> torch.Tensor:
    """Return the same numbers in another dtype."""
    return x.to(torch.float32 if x.dtype is torch.float64 else torch.float64) if not x.is_complex() else x.real.clone()


CHANGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "dtype": other_dtype,
    "shape": lambda x: x.unsqueeze(0).clone(),
    "requires_grad": lambda x: x.clone(memory_format=torch.preserve_format).requires_grad_(),
    "structure": lambda x: None,
}


@quick
@given(trees_with(FLOATING), st.sampled_from(sorted(CHANGES)), st.booleans())
def test_wrong_metadata_is_found_and_located(drawn: tuple[Any, str, torch.Tensor], what: str, gained: bool) -> None:
    """Another dtype, shape, requires_grad, or no tensor at all is found at its leaf."""
    tree, path, tensor = drawn
    wrong = replaced(tree, tensor, CHANGES[what](tensor))
    found = check(wrong, tree) if gained else check(tree, wrong)
    assert [(d.what, d.leaf) for d in found] == [(what, path)]


@quick
@given(trees_with(least=4), st.data())
def test_other_strides_are_found_and_located(drawn: tuple[Any, str, torch.Tensor], data: st.DataObject) -> None:
    """Another memory layout of equal values is a defect under ``strides``, and a note elsewhere."""
    tree, path, tensor = drawn
    wider = torch.zeros(*tensor.shape, 2, dtype=tensor.dtype)[..., data.draw(st.integers(0, 1))]
    wrong = replaced(tree, tensor, wider.copy_(tensor))
    assert [(d.what, d.leaf) for d in check(wrong, tree, strict=("strides",))] == [("strides", path)]
    assert check(wrong, tree) == []


@quick
@given(trees_with())
def test_a_wrong_alias_is_found_and_located(drawn: tuple[Any, str, torch.Tensor]) -> None:
    """An output that shares memory with an input or no longer does is found by both paths."""
    tree, path, tensor = drawn
    apart = tensor.clone(memory_format=torch.preserve_format)
    together, separate = observed(tree, tensor), observed(tree, apart)
    for got, want in ((together, separate), (separate, together)):
        (found,) = (d for d in compare(got, want) if not d.note)
        assert (found.what, found.leaf) == ("alias", f"{path} and input[0]")


@quick
@given(tensors(FLOATING, 1), st.sampled_from(["values", "none", "zeros"]), st.data())
def test_a_wrong_gradient_is_found_and_located(gradient: torch.Tensor, change: str, data: st.DataObject) -> None:
    """A gradient that is off at one element, missing, or zeros instead of None is found at its input."""
    index = index_of(data, gradient)
    gradient[index] = 1.0
    wrong = gradient.clone(memory_format=torch.preserve_format)
    wrong[index] = -1.0
    pairs = {"values": (wrong, gradient), "none": (None, gradient), "zeros": (torch.zeros_like(gradient), None)}
    got, want = (Observation(leaves=flatten(side, "grad of input[2].weight")) for side in pairs[change])
    (found,) = compare(got, want)
    assert (found.leaf, found.symptom, found.note) == ("grad of input[2].weight", Symptom.WRONG_GRADIENT, False)
    assert (found.what, found.where) == (("gradient", index) if change == "values" else ("structure", None))


@quick
@given(trees_with(), st.data())
def test_a_wrong_write_to_an_input_is_found_and_located(
    drawn: tuple[Any, str, torch.Tensor], data: st.DataObject
) -> None:
    """An element of an argument that was written on one side only is found at the argument, and only there."""
    tree, path, tensor = drawn
    before = copy.deepcopy(tree)
    index = index_of(data, tensor)
    old = tensor[index].clone()
    if tensor.dtype in FLOATING:
        tensor[index] = 2.5 if old != 2.5 else 1.0
    else:
        tensor[index] = old ^ 1
    (found, *more) = compare(observed(1, before), observed(1, tree))
    assert {(d.leaf, d.where) for d in (found, *more)} == {(path.replace("result", "input[0]", 1), index)}
    assert found.symptom is Symptom.WRONG_ALIAS


@quick
@given(trees(SCALARS), trees(SCALARS))
def test_two_results_without_tensors_are_equal_exactly_when_their_texts_are(a: Any, b: Any) -> None:
    """For plain Python values the oracle agrees with ``repr``, which tells types, order, NaN and zeros apart."""
    assert (check(a, b, strict=("bitwise",)) == []) == (repr(a) == repr(b))
    assert check(a, copy.deepcopy(a), strict=("bitwise",)) == []


class TestOverlaps:
    """`overlaps` against a model that writes down every byte."""

    BYTES = 96

    @staticmethod
    def view(memory_: torch.Tensor, drawn: tuple[torch.dtype, int, list[tuple[int, int]]]) -> torch.Tensor | None:
        """Return the strided view that was drawn, or None where it does not fit."""
        dtype, offset, steps = drawn
        base = memory_.view(dtype)
        if offset + sum((n - 1) * s for n, s in steps) >= base.numel():
            return None
        return base.as_strided([n for n, _ in steps], [s for _, s in steps], offset)

    @staticmethod
    def addresses(x: torch.Tensor) -> set[int]:
        """Return every byte of `x`."""
        size = x.element_size()
        starts = (
            x.storage_offset() + sum(i * s for i, s in zip(index, x.stride(), strict=True))
            for index in itertools.product(*(range(n) for n in x.shape))
        )
        return {start * size + k for start in starts for k in range(size)}

    VIEW = st.tuples(
        st.sampled_from([torch.uint8, torch.int16, torch.float32, torch.complex64]),
        st.integers(0, 40),
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7)), max_size=3),
    )

    @settings(quick, max_examples=400)
    @given(VIEW, VIEW, VIEW, st.sampled_from([0, 8, 1 << 26]))
    def test_any_strided_views_of_one_storage(self, one: Any, two: Any, three: Any, limit: int) -> None:
        """Up to the limit the answer is exact; beyond it no overlap is missed and none is told where extents part."""
        storage = torch.zeros(self.BYTES, dtype=torch.uint8)
        views = [v for v in (self.view(storage, d) for d in (one, two, three)) if v is not None]
        with mock.patch.object(memory, "EXACT_OVERLAP_ELEMENTS", limit):
            found = overlaps(*((str(i), v) for i, v in enumerate(views)))
        places = {str(i): self.addresses(v) for i, v in enumerate(views)}
        pairs = list(itertools.combinations(places, 2))
        real = {(a, b) for a, b in pairs if places[a] & places[b]}
        spans = {k: (min(p), max(p)) for k, p in places.items() if p}
        possible = {
            (a, b)
            for a, b in pairs
            if a in spans and b in spans and spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]
        }
        assert real <= found <= possible
        if limit > self.BYTES:
            assert found == real

    @quick
    @given(
        st.lists(
            st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([-3, -2, -1, 1, 2, 3])),
            min_size=2,
            max_size=3,
        )
    )
    def test_slices_of_numpy_arrays_backwards_too(self, drawn: list[tuple[int, int, int]]) -> None:
        """NumPy's views, with negative strides and beside tensors over the same memory, share what NumPy says."""
        numpy = pytest.importorskip("numpy")
        base = numpy.zeros(12, dtype=numpy.int32)
        views = [base[start:stop:step] for start, stop, step in drawn]
        parts = [(str(i), v) for i, v in enumerate(views)]
        found = overlaps(*parts, ("tensor", torch.from_numpy(base)))
        real = {(a, b) for (a, v), (b, w) in itertools.combinations(parts, 2) if numpy.shares_memory(v, w)}
        assert found == real | {(name, "tensor") for name, v in parts if v.size}

    def test_interleaved_columns_of_a_large_tensor_do_not_overlap(self) -> None:
        """Halves of rows interleave in memory without a common byte, however large they are."""
        x = torch.zeros(1000, 400)
        assert overlaps(("r", x.chunk(2, 1))) == frozenset()
        assert overlaps(("r", (x[:, :201], x[:, 200:]))) == {("r[0]", "r[1]")}
        assert overlaps(("r", (x.view(-1)[::2], x.view(-1)[1::2]))) == frozenset()
        assert overlaps(("r", list(x.unbind(1)))) == frozenset()

    def test_a_gap_of_one_byte_is_a_gap(self) -> None:
        """Even and odd bytes have none in common; misaligned elements of other storages have."""
        x = torch.zeros(8, dtype=torch.uint8)
        assert overlaps(("even", x[::2]), ("odd", x[1::2])) == frozenset()
        buffer = bytearray(32)
        words = torch.frombuffer(buffer, dtype=torch.int32)[::2]
        for offset, shares in ((4, False), (5, True), (6, True), (8, True), (12, False)):
            other = torch.frombuffer(buffer, dtype=torch.int32, count=1, offset=offset)
            assert bool(overlaps(("words", words), ("other", other))) == shares

    def test_expanded_tensors_are_as_large_as_their_memory(self) -> None:
        """A stride of zero repeats one place: an expanded scalar overlaps that place and no other."""
        x = torch.zeros(3)
        huge = x[1].expand(10**6, 10**6)
        assert overlaps(("r", [huge, x[:1], x[1:], x[2:]])) == {("r[0]", "r[2]"), ("r[2]", "r[3]")}

    def test_tensors_of_different_storages_over_one_memory_overlap(self) -> None:
        """What counts is the memory, not the storage object."""
        buffer = bytearray(16)
        a, b = torch.frombuffer(buffer, dtype=torch.int32), torch.frombuffer(buffer, dtype=torch.int16, offset=4)
        assert overlaps(("a", a), ("b", b)) == {("a", "b")}

    def test_what_has_no_memory_overlaps_nothing(self) -> None:
        """Empty, meta and sparse tensors have no strided memory to share."""
        for x in (torch.zeros(0), torch.zeros(2, device="meta"), torch.eye(2).to_sparse()):
            assert overlaps(("r", [x, x])) == frozenset()
