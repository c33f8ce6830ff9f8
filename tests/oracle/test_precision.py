"""Rounding is no defect, everything else is: float64 as the judge, tolerances, overflow, and where a difference is."""

from __future__ import annotations

import math

import pytest
import torch

from compilefix.oracle import compare_tensors, flatten, tensors
from tests.oracle.runs import INF, NAN, defects, differences, notes, t, wide

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, *HALVES)
THIRD = 1 / 3


@pytest.mark.parametrize("dtype", FLOATS)
def test_nearer_to_float64_than_the_reference_is_numerics(dtype: torch.dtype) -> None:
    """A compiled element nearer to float64 than eager is noted as numerics, at its place, with both values."""
    precise = wide(1.0, 2.0, THIRD)
    want = precise.to(dtype) * torch.tensor([1, 1, 1.25], dtype=dtype)
    got = precise.to(dtype)
    (found,) = differences(got, want, precise)
    assert (found.what, found.note, found.where, found.count, found.total) == ("numerics", True, (2,), 1, 3)
    assert (found.got, found.want) == (got[2].item(), want[2].item())
    assert defects(got, want) == ["values"], "without float64 nobody can tell"


@pytest.mark.parametrize("dtype", FLOATS)
def test_further_from_float64_than_the_reference_is_a_mismatch(dtype: torch.dtype) -> None:
    """The same pair the other way round is a defect: eager is the accurate one."""
    precise = wide(1.0, 2.0, THIRD)
    want = precise.to(dtype)
    got = want * torch.tensor([1, 1, 1.25], dtype=dtype)
    assert defects(got, want, precise) == ["values"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("factor", "what"), [(0.5, "numerics"), (1.9, "numerics"), (2.5, "values"), (100.0, "values")])
def test_the_error_of_the_reference_is_the_measure(dtype: torch.dtype, factor: float, what: str) -> None:
    """A compiled element may be up to twice as far from float64 as the reference, on either side, and no more."""
    off = 256 * torch.finfo(dtype).eps
    want = t(1 + off, dtype=dtype)
    for sign in (1, -1) if factor != 1.9 else (-1,):
        got = t(1 + sign * factor * off, dtype=dtype)
        assert [d.what for d in differences(got, want, wide(1.0))] == [what]


def test_float64_excuses_only_the_elements_it_should() -> None:
    """One excused element excuses no other: each has its own line with its own count, place and worst error."""
    precise = wide(1.0, 2.0, 3.0, 4.0)
    want = t(1.5, 2.0, 3.0, 4.0)
    got = t(1.0, 2.0, 3.5, 5.0)
    defect, rounding = differences(got, want, precise)
    assert (defect.what, defect.where, defect.count, defect.worst, defect.worst_at) == ("values", (2,), 2, 1.0, (3,))
    assert (rounding.what, rounding.where, rounding.count, rounding.worst) == ("numerics", (0,), 1, 0.5)


@pytest.mark.parametrize("other", [wide(1.0, 2.0), wide(1.0), torch.tensor([1]), torch.ones(3, 1).double()])
def test_a_float64_run_that_does_not_fit_judges_nothing(other: torch.Tensor) -> None:
    """Where float64 took another path (another shape, integers), it excuses nothing and breaks nothing."""
    assert defects(t(1.0, 2.0, 3.0), t(1.0, 2.0, 4.0), other) == ["values"]


@pytest.mark.parametrize("precise", [NAN, INF, -INF])
def test_a_float64_run_that_is_not_finite_judges_nothing(precise: float) -> None:
    """NaN and infinity in float64 measure no distance."""
    assert defects(t(1.0), t(2.0), wide(precise)) == ["values"]
    assert defects(t(INF), t(2.0), wide(precise)) == ["inf"]


@pytest.mark.parametrize(("dtype", "huge"), [(torch.float32, 1e39), (torch.float16, 1e5), (torch.bfloat16, 1e39)])
class TestOverflow:
    """Float64 holds what the dtype cannot."""

    def test_both_infinite_is_right(self, dtype: torch.dtype, huge: float) -> None:
        """Both sides overflow as they must."""
        assert differences(t(INF, -INF, dtype=dtype), t(INF, -INF, dtype=dtype), wide(huge, -huge)) == ()

    def test_infinite_where_the_reference_saturates_is_numerics(self, dtype: torch.dtype, huge: float) -> None:
        """The true value is beyond the dtype, the reference ended just below: infinity is excused, with its sign."""
        most = torch.finfo(dtype).max
        assert notes(t(INF, -INF, dtype=dtype), t(most, -most, dtype=dtype), wide(huge, -huge)) == ["numerics"] * 2
        assert defects(t(-INF, dtype=dtype), t(most, dtype=dtype), wide(huge)) == ["inf"]
        assert "nan" in defects(t(NAN, dtype=dtype), t(INF, dtype=dtype), wide(huge))

    def test_infinite_where_the_value_fits_is_a_defect(self, dtype: torch.dtype, huge: float) -> None:
        """As sinh just below the limit: the reference is finite, float64 agrees, the compiled value is infinite."""
        fits = huge / 100
        assert defects(t(INF, 1.0, dtype=dtype), t(fits, 1.0, dtype=dtype), wide(fits, 1.0)) == ["inf"]
        assert defects(t(INF, 1.0, dtype=dtype), t(fits, 1.0, dtype=dtype)) == ["inf"]

    def test_a_finite_value_where_the_reference_overflows_must_be_the_true_one(
        self, dtype: torch.dtype, huge: float
    ) -> None:
        """Compiled code may avoid an overflow on the way, but any finite number is not better than infinity."""
        fits = huge / 100
        for reference, mask in ((INF, "inf"), (NAN, "nan")):
            want = t(reference, dtype=dtype)
            assert defects(t(fits, dtype=dtype), want, wide(fits)) == []
            assert notes(t(fits, dtype=dtype), want, wide(fits)) == ["numerics"]
            assert defects(t(fits / 2, dtype=dtype), want, wide(fits)) == [mask]
            assert defects(t(-fits, dtype=dtype), want, wide(fits)) == [mask]
            assert defects(t(5.0, dtype=dtype), want, wide(huge)) == [mask]


@pytest.mark.parametrize("dtype", [torch.float64, *FLOATS])
def test_small_values_are_not_excused_by_an_absolute_tolerance(dtype: torch.dtype) -> None:
    """A tensor of tiny values replaced by zeros, or off by a fifth, is a defect though 1e-5 is far larger."""
    want = t(4e-6, -4e-6, 4e-6, dtype=dtype)
    for got in (want * torch.tensor([1, 0, 1], dtype=dtype), want * torch.tensor([1, 1.2, 1], dtype=dtype)):
        (found,) = differences(got, want)
        assert (found.what, found.where, found.count) == ("values", (1,), 1)
    assert defects(torch.zeros(3, dtype=dtype), want, want.double()) == ["values"]


def test_subnormals_count_where_programs_use_them() -> None:
    """Flushing float32's subnormals is no defect; float16's begin at 6e-5, where losing the value is one."""
    assert differences(t(0.0, 1e-30), t(1e-39, 1e-30)) == ()
    assert differences(t(0.0, dtype=torch.float16), t(1e-7, dtype=torch.float16)) == ()
    assert defects(t(0.0, dtype=torch.float16), t(5e-5, dtype=torch.float16)) == ["values"]
    assert defects(t(0.0).to(torch.float8_e4m3fn), t(0.01).to(torch.float8_e4m3fn)) == ["values"]


@pytest.mark.parametrize("dtype", [torch.float64, *FLOATS])
def test_rounding_needs_no_float64(dtype: torch.dtype) -> None:
    """Two ulps are no difference in any dtype, nor is cancellation beside large values; a percent is in none."""
    want = t(1.0, -3.0, 1000.0, 1e-3, dtype=dtype)
    assert differences(want * (1 + 2 * torch.finfo(dtype).eps), want) == ()
    little = 1e-10 if dtype is torch.float64 else 1e-6
    assert differences(t(1.0, little, dtype=dtype), t(1.0, 0.0, dtype=dtype)) == ()
    off = 0.01 if dtype not in HALVES else 0.1
    assert defects(want * (1 + off), want) == ["values"]


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_dtypes_of_one_byte_may_be_one_step_off(dtype: torch.dtype) -> None:
    """The next number is rounding, half of the value is not; NaN masks and bits are compared like all others."""
    step = torch.finfo(dtype).eps
    assert differences(t(1.0 + step, 4.0).to(dtype), t(1.0, 4.0).to(dtype)) == ()
    assert defects(t(1.0, 2.0).to(dtype), t(1.0, 4.0).to(dtype)) == ["values"]
    assert defects(t(1.0 + 2 * step).to(dtype), t(1.0).to(dtype)) == ["values"]
    assert defects(t(NAN).to(dtype), t(1.0).to(dtype)) == ["nan"]
    assert defects(t(-0.0).to(dtype), t(0.0).to(dtype), strict=("bitwise",)) == ["values"]


def test_a_scale_is_compared_exactly() -> None:
    """Float8_e8m0fnu holds powers of two: the next number is twice as large, and wrong."""
    scales = [t(*v).to(torch.float8_e8m0fnu) for v in ((1.0, 2.0), (1.0, 4.0))]
    assert defects(*scales) == ["values"]
    assert differences(scales[0], scales[0].clone()) == ()


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.complex32])
class TestComplex:
    """Real and imaginary parts are judged apart, places are those of the complex elements."""

    def test_a_wrong_part_is_found_at_its_element(self, dtype: torch.dtype) -> None:
        """A wrong imaginary part is one wrong element, with complex values as text."""
        want = torch.tensor([[1 + 2j, 3 + 4j], [0j, 5 - 1j]]).to(dtype)
        got = want.clone()
        got[1, 1] = 5 + 1j
        (found,) = differences(got, want)
        assert (found.what, found.where, found.worst_at, found.count, found.total) == ("values", (1, 1), (1, 1), 1, 4)
        assert (found.got, found.want, found.worst) == ("(5+1j)", "(5-1j)", 2.0)

    def test_masks_are_those_of_the_parts(self, dtype: torch.dtype) -> None:
        """NaN in the imaginary part only is found though the real part is right."""
        want = torch.tensor([complex(1, 2), complex(1, 0)]).to(dtype)
        got = torch.tensor([complex(1, 2), complex(1, NAN)]).to(dtype)
        (found,) = differences(got, want)
        assert (found.what, found.where, found.count) == ("nan", (1,), 1)
        assert differences(got, got.clone()) == ()

    def test_float64_excuses_a_part(self, dtype: torch.dtype) -> None:
        """An excused real part does not excuse the imaginary one."""
        precise = torch.tensor([complex(1, 1)] * 2, dtype=torch.complex128)
        want = torch.tensor([complex(1.5, 1), complex(1.5, 1)]).to(dtype)
        got = torch.tensor([complex(1, 1), complex(1, 2)]).to(dtype)
        assert [(d.what, d.where) for d in differences(got, want, precise)] == [("values", (1,)), ("numerics", (0,))]

    def test_rounding_is_that_of_the_parts(self, dtype: torch.dtype) -> None:
        """One ulp is no difference, a tenth is."""
        want = torch.tensor([1 + 1j]).to(dtype)
        assert differences(want * (1 + torch.finfo(dtype).eps), want) == ()
        assert defects(want * 1.1, want) == ["values"]


def test_lazy_conjugates_and_negations_are_values() -> None:
    """The conjugate and negative bits of a view are resolved before the comparison."""
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert differences(z.conj(), torch.tensor([1 - 2j, 3 + 1j])) == ()
    assert differences(z.conj().imag, t(-2.0, 1.0)) != ()  # strides
    assert defects(z.conj().imag, t(-2.0, 1.0)) == []
    assert defects(z, z.conj()) == ["values"]


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
)
def test_integers_are_exact(dtype: torch.dtype) -> None:
    """One off is a defect, whatever a float64 run says."""
    want = torch.tensor([1, 2, 3, 100], dtype=dtype)
    got = torch.tensor([1, 3, 3, 90], dtype=dtype)
    assert differences(want.clone(), want) == ()
    (found,) = differences(got, want, wide(1.0, 3.0, 3.0, 90.0))
    assert (found.what, found.where, found.got, found.want) == ("values", (1,), 3, 2)
    assert (found.worst, found.worst_at, found.count, found.total) == (10.0, (3,), 2, 4)


def test_large_integers_are_exact() -> None:
    """Neighbours above 2**53, which float64 cannot tell apart, differ, and by one."""
    (found,) = differences(torch.tensor([2**60 + 1, 5]), torch.tensor([2**60, 5]))
    assert (found.got, found.want, found.worst, found.worst_at) == (2**60 + 1, 2**60, 1.0, (0,))


def test_booleans_are_exact() -> None:
    """A flipped bool is found; how far True is from False is no question."""
    (found,) = differences(torch.tensor([[True, False]]), torch.tensor([[True, True]]))
    assert (found.where, found.got, found.want, found.worst, found.worst_at) == ((0, 1), False, True, None, None)


@pytest.mark.parametrize(("got", "want"), [(1.0, 2.0), (NAN, 2.0), (INF, 2.0), (1, 2), (True, False), (1j, 2j)])
def test_tensors_without_dimensions_have_the_empty_index(got: complex, want: complex) -> None:
    """A 0-dim tensor is compared, and its only element is at ()."""
    (found,) = differences(torch.tensor(got), torch.tensor(want))
    assert (found.where, found.count, found.total) == ((), 1, 1)
    assert found.worst_at in ((), None)
    assert differences(torch.tensor(got), torch.tensor(got)) == ()


def test_empty_tensors_have_metadata_only() -> None:
    """Without elements shape and dtype are what can differ."""
    assert differences(torch.ones(0, 3), torch.zeros(0, 3), torch.zeros(0, 3).double()) == ()
    assert defects(torch.ones(0, 3), torch.ones(0, 4)) == ["shape"]
    assert defects(torch.ones(0), torch.ones(0, dtype=torch.int64)) == ["dtype"]


def test_the_worst_element_is_not_the_first() -> None:
    """The first difference and the worst are reported apart, with how many there are of how many."""
    want = torch.zeros(3, 4, 5)
    got = want.clone()
    got[0, 2, 3], got[1, 0, 0], got[2, 3, 4] = 0.5, -8.0, 1.0
    (found,) = differences(got, want)
    assert (found.where, found.got, found.want) == ((0, 2, 3), 0.5, 0.0)
    assert (found.worst, found.worst_at, found.count, found.total) == (8.0, (1, 0, 0), 3, 60)


def test_places_are_right_where_the_elements_are_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """First, worst and count span the pieces of a large tensor, for floats, integers and complex numbers."""
    monkeypatch.setattr(tensors, "CHUNK", 3)
    for dtype in (torch.float32, torch.int64, torch.complex64):
        want = torch.zeros(4, 5, dtype=dtype)
        got = want.clone()
        got[0, 4], got[1, 1], got[2, 2], got[3, 0], got[3, 4] = 1, 2, 9, 3, 4
        (found,) = differences(got, want)
        assert (found.where, found.count, found.worst, found.worst_at) == ((0, 4), 5, 9.0, (2, 2))
    precise = torch.ones(8).double()
    found = differences(torch.full((8,), 1.2), torch.full((8,), 1.3), precise)
    assert [(d.what, d.count) for d in found] == [("numerics", 8)]


def test_an_infinite_distance_is_not_reported_as_a_number() -> None:
    """Two finite values whose difference overflows float64 are a defect; the worst error then has no number."""
    (found,) = differences(wide(-1.7e308), wide(1.7e308))
    assert (found.what, found.worst, found.worst_at) == ("values", None, None)


def test_values_without_a_word_in_json_are_text() -> None:
    """NaN and infinity are written as text, in tensors and in Python floats, so that reports stay valid JSON."""
    for got, want in ((t(NAN), t(1.0)), (NAN, 1.0), ([INF], [1.0]), (t(1.0), t(-INF)), (1j * INF, 1j)):
        (found,) = differences(got, want)
        assert all(not isinstance(v, float) or math.isfinite(v) for v in (found.got, found.want)), found


@pytest.mark.parametrize(
    ("got", "want", "precise", "what"),
    [
        (1.0, 1.0 + 1e-15, None, []),
        (NAN, NAN, None, []),
        (INF, INF, None, []),
        (INF, 1.0, None, ["values"]),
        (1.0, INF, None, ["values"]),
        (INF, -INF, None, ["values"]),
        (NAN, 1.0, None, ["values"]),
        (1.0, NAN, 1.0, ["values"]),
        (1.0, 1.1, None, ["values"]),
        (1.0, 1.1, 1.0, ["numerics"]),
        (1.2, 1.1, 1.1, ["values"]),
        (5.0, INF, 1.0, ["values"]),
        (1j, 1j + 1e-15, None, []),
        (1j, 1.1j, 1j, ["numerics"]),
        (complex(NAN, 1), complex(NAN, 1), None, []),
        (complex(INF, 1), complex(INF, 2), None, ["values"]),
    ],
)
def test_python_numbers_are_compared_as_tensors_are(
    got: complex, want: complex, precise: complex | None, what: list[str]
) -> None:
    """Infinity is near nothing, NaN equals NaN, rounding passes, float64 excuses what it should."""
    assert [d.what for d in differences(got, want, precise)] == what


def test_a_large_tensor_needs_little_more_than_its_own_memory() -> None:
    """Intermediate results are made for pieces: no call of the comparison holds a float64 copy of all elements."""
    want = torch.ones(tensors.CHUNK * 3 + 1)
    got = want * (1 + 3e-7)
    leaves = [flatten(value, "r")["r"] for value in (got, want)]
    from torch.utils._python_dispatch import TorchDispatchMode

    class Sizes(TorchDispatchMode):
        wide = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            out = func(*args, **(kwargs or {}))
            if isinstance(out, torch.Tensor) and out.dtype is torch.float64:
                self.wide = max(self.wide, out.numel())
            return out

    with Sizes() as sizes:
        assert compare_tensors("r", *leaves) == []  # type: ignore[arg-type]
    assert 0 < sizes.wide <= tensors.CHUNK
