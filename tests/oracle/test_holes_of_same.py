"""What `torch._dynamo.utils.same` lets pass, the oracle finds: every row of the study, and what no tool looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import same

from compilefix.issue import Symptom
from compilefix.oracle import Observation, compare, flatten
from tests.oracle.runs import INF, NAN, defects, differences, notes, observed, t

MILLION = 1_000_000


@pytest.mark.parametrize(("error", "tolerance"), [(0.09, 1e-3), (0.005, 1e-4)])
def test_one_wrong_element_of_a_million_is_found(error: float, tolerance: float) -> None:
    """One bad element counts however many good ones there are; `same` averages it away once float64 is asked."""
    want = torch.linspace(-1.0, 1.0, MILLION)
    got = want.clone()
    got[777_777] += error
    assert same(want, got, want.double(), tol=tolerance)
    (found,) = differences(got, want, want.double())
    assert (found.what, found.where, found.count, found.total) == ("values", (777_777,), 1, MILLION)
    assert found.worst == pytest.approx(error, abs=1e-6)
    assert not found.note


@pytest.mark.parametrize("special", [NAN, INF, -INF])
def test_a_legitimate_nan_or_inf_excuses_no_other_element(special: float) -> None:
    """One legitimate NaN or infinity in the reference must not hide that the other 999 elements are zeroed."""
    want = torch.linspace(1.0, 2.0, 1000)
    want[3] = special
    got = torch.zeros(1000)
    got[3] = special
    assert same(want, got, want.double(), equal_nan=True)
    (found,) = differences(got, want, want.double())
    assert (found.what, found.where, found.count) == ("values", (0,), 999)


@pytest.mark.parametrize(
    ("got", "want", "what"),
    [(NAN, 1.0, ["nan"]), (1.0, NAN, ["nan"]), (INF, 1.0, ["inf"]), (1.0, -INF, ["inf"]), (NAN, INF, ["nan", "inf"])],
)
def test_masks_of_nan_and_inf_are_compared(got: float, want: float, what: list[str]) -> None:
    """NaN or infinity on one side only is a defect, and named as such."""
    assert defects(t(5.0, got), t(5.0, want)) == what


def test_the_sign_of_infinity_counts() -> None:
    """Minus infinity is not plus infinity, also beside another infinity, for which `same` is blind."""
    want, got = t(1.0, INF, INF, NAN), t(1.0, -INF, INF, NAN)
    assert same(want, got, want.double(), equal_nan=True)
    assert set(defects(got, want)) == {"inf"}
    assert {d.where for d in differences(got, want)} == {(1,)}


def test_shapes_must_be_equal_and_not_only_broadcast() -> None:
    """A result of shape (8, 8) is no result of shape (8, 1)."""
    want = torch.arange(8.0).reshape(8, 1)
    got = want.expand(8, 8).contiguous()
    assert same(want, got)
    (found,) = (d for d in differences(got, want) if not d.note)
    assert (found.what, found.got, found.want) == ("shape", [8, 8], [8, 1])


def test_strides_are_noted_and_a_defect_where_the_record_says_so() -> None:
    """Another memory layout is reported always, and is a defect only under the strict ``strides``."""
    want = torch.arange(6.0).reshape(2, 3)
    got = want.t().contiguous().t()
    assert same(want, got)
    (found,) = differences(got, want)
    assert (found.what, found.got, found.want, found.note) == ("strides", [1, 2], [3, 1], True)
    assert defects(got, want, strict=("strides",)) == ["strides"]


def test_strides_of_dimensions_with_one_entry_do_not_count() -> None:
    """No address depends on the stride of a dimension of size one, or of a tensor with no or one element."""
    assert differences(torch.ones(3, 1), torch.ones(1, 3).t(), strict=("strides",)) == ()
    assert differences(torch.ones(1, 1), torch.ones(2, 2)[:1, :1], strict=("strides",)) == ()
    assert differences(torch.empty_strided((0, 3), (7, 5)), torch.empty(0, 3), strict=("strides",)) == ()


def test_the_sign_of_zero_counts_under_bitwise_only() -> None:
    """-0.0 is equal to 0.0 unless the record asks for bits; so for tensors, complex ones and Python floats."""
    pairs = ((t(-0.0, 1.0), t(0.0, 1.0)), (-0.0, 0.0), (torch.tensor(complex(0, -0.0)), torch.tensor(0j)))
    assert all(same(want, got) for got, want in pairs[:2])
    for got, want in pairs:
        assert differences(got, want) == ()
        assert defects(got, want, strict=("bitwise",)) == ["values"]


def test_bitwise_tolerates_nothing_and_no_note_switches_it_off() -> None:
    """Under ``bitwise`` one ulp is a defect, beside a note on strides and though float64 would excuse it."""
    want = torch.ones(2, 3)
    got = (want * (1 + 2**-23)).t().contiguous().t()
    assert (defects(got, want), notes(got, want)) == ([], ["strides"])
    assert defects(got, want, want.double() * 2, strict=("bitwise",)) == ["values"]
    assert differences(t(NAN, 1.0), t(-NAN, 1.0), strict=("bitwise",)) == ()


def write_to_input(x: torch.Tensor) -> torch.Tensor:
    """Return twice the input and add one to it."""
    y = x * 2
    x.add_(1)
    return y


def test_a_lost_input_mutation_is_found() -> None:
    """A write to an argument that the compiled code does not do shows at the argument, by its path and index."""
    x, z = torch.zeros(3), torch.zeros(3)
    want, got = write_to_input(x), z * 2
    assert same(want, got)
    (found,) = compare(observed(got, z), observed(want, x))
    assert (found.what, found.leaf, found.where, found.symptom) == ("mutation", "input[0]", (0,), Symptom.WRONG_ALIAS)


@pytest.mark.parametrize(
    ("eager", "compiled", "leaf", "symptom"),
    [
        (lambda x: x[1:], lambda x: x[1:].clone(), "result and input[0]", "separate"),
        (lambda x: x[1:].clone(), lambda x: x[1:], "result and input[0]", "share memory"),
        (lambda x: [x * 2] * 2, lambda x: [x * 2, x * 2], "result[0] and result[1]", "separate"),
        (lambda x: [x * 2, x * 2], lambda x: [x * 2] * 2, "result[0] and result[1]", "share memory"),
    ],
)
def test_lost_and_new_aliases_are_found(
    eager: Callable[[Any], Any], compiled: Callable[[Any], Any], leaf: str, symptom: str
) -> None:
    """Whether outputs share memory with inputs and with each other is part of the result, in both directions."""
    x = torch.arange(4.0)
    want, got = eager(x), compiled(x)
    assert same(want, got)
    (found,) = compare(observed(got, x), observed(want, x))
    assert (found.what, found.leaf, found.got, found.symptom) == ("alias", leaf, symptom, Symptom.WRONG_ALIAS)
    assert not found.note


@pytest.mark.parametrize("requires", [True, False])
def test_requires_grad_is_compared(requires: bool) -> None:
    """An output that came off the graph, or on to it, is a wrong gradient."""
    want, got = (torch.ones(2, requires_grad=r) for r in (requires, not requires))
    assert same(want, got)
    (found,) = differences(got, want)
    assert (found.what, found.got, found.symptom) == ("requires_grad", not requires, Symptom.WRONG_GRADIENT)


def test_random_state_is_noted_and_a_defect_where_the_record_says_so() -> None:
    """Drawing another number of random values is reported, and is a defect under the strict ``rng``."""
    got, want = (observed(t(1.0), rng=state) for state in (b"one", b"two"))
    (found,) = compare(got, want)
    assert (found.what, found.note) == ("rng", True)
    assert [d.note for d in compare(got, want, strict=("rng",))] == [False]


@pytest.mark.parametrize(("got", "want"), [(None, torch.zeros(2)), (torch.zeros(2), None)])
def test_no_gradient_is_not_a_gradient_of_zeros(got: torch.Tensor | None, want: torch.Tensor | None) -> None:
    """Where eager leaves the gradient None, zeros are a difference, and the other way round."""
    (found,) = compare(*(Observation(leaves=flatten(g, "grad of input[0]")) for g in (got, want)))
    assert (found.leaf, found.symptom, found.note) == ("grad of input[0]", Symptom.WRONG_GRADIENT, False)


@pytest.mark.parametrize(
    ("got", "want", "passes"),
    [
        (1.0, 1, True),
        (True, 1, True),
        (1, True, True),
        (False, 0, True),
        (1, 1.0, False),
        (0.0, False, True),
        (1, 1 + 0j, None),
        (1, "1", False),
        (0, None, False),
    ],
)
def test_the_type_of_a_python_scalar_counts(got: object, want: object, passes: bool | None) -> None:
    """An int where eager has a float or a bool of the same value is found; `same` often says True."""
    if passes is not None:
        assert same(want, got) is passes
    (found,) = differences({"n": got}, {"n": want})
    assert (found.what, found.leaf, found.note) == ("structure", "result['n']", False)


class TestExceptions:
    """Exception parity: type and first line of the message."""

    @pytest.mark.parametrize(
        ("got", "want", "symptom"),
        [(ValueError("bad"), None, Symptom.ERROR), (None, ValueError("bad"), Symptom.MISSING_ERROR)],
    )
    def test_raising_on_one_side_only_is_found(
        self, got: Exception | None, want: Exception | None, symptom: Symptom
    ) -> None:
        """An exception on one side only is a defect of its own symptom."""
        (found,) = compare(observed(1, error=got), observed(1, error=want))
        assert (found.what, found.symptom, found.note) == ("exception", symptom, False)
        assert {found.got, found.want} == {"ValueError: bad", "no exception"}

    @pytest.mark.parametrize(
        "message", ["", "index 3 is out of range", "\n\nlater", "a\nb", "at 0x7f00 in /x/y/f.py line 3"]
    )
    def test_the_same_exception_is_no_difference(self, message: str) -> None:
        """Two equal exceptions, with a message or without, differ in nothing, not even in a note."""
        assert compare(*(observed(error=IndexError(message)) for _ in range(2)), strict=("bitwise",)) == ()

    def test_what_differs_from_run_to_run_does_not_count(self) -> None:
        """Addresses, folders, line numbers and colours of a message are no difference."""
        got = ValueError("\x1b[31mbad <f at 0x7f01> in /tmp/a/f.py, line 12\x1b[0m")
        want = ValueError("bad <f at 0x55aa> in /home/u/f.py, line 7")
        assert compare(observed(error=got), observed(error=want)) == ()

    def test_another_type_with_the_same_message_is_a_defect(self) -> None:
        """Whoever catches IndexError does not catch ValueError, whatever the message."""
        (found,) = compare(*(observed(error=e("index is out of range")) for e in (ValueError, IndexError)))
        assert (found.note, found.symptom) == (False, Symptom.ERROR)

    def test_another_message_of_the_same_type_is_a_note(self) -> None:
        """The type is what programs catch; the words are noted."""
        (found,) = compare(*(observed(error=ValueError(m)) for m in ("expected 3 rows", "wrong number of rows")))
        assert found.note

    def test_an_exception_that_wraps_the_programs_own_is_none_of_the_compilers(self) -> None:
        """The compiler handing on the program's exception, message and all, is parity; failing by itself is not."""
        own = IndexError("index 9 is out of bounds for dimension 0")

        def wrapped(name: str, message: str) -> BaseException:
            error = type(name, (RuntimeError,), {})(message)
            error.__cause__ = own
            return error

        text = f"Dynamo failed to run FX node: {own}"
        assert compare(observed(error=wrapped("TorchRuntimeError", text)), observed(error=own)) == ()
        (found,) = compare(observed(error=wrapped("InductorError", "AssertionError: buf0")), observed(error=own))
        assert not found.note

    def test_a_compiler_failure_is_not_excused_by_its_base_class(self) -> None:
        """Every compiler error is a RuntimeError; that alone is no parity with a program that raises RuntimeError."""
        failure = type("InductorError", (RuntimeError,), {})("LoweringException: no kernel")
        (found,) = compare(observed(error=failure), observed(error=RuntimeError("shape mismatch of operands")))
        assert not found.note

    def test_what_was_returned_before_the_exception_is_compared(self) -> None:
        """A wrong first call is found though the second call raises on both sides, or on one."""
        for errors in ([ValueError("late")] * 2, [ValueError("late"), None]):
            got, want = observed(error=errors[0]), observed(error=errors[1])
            got.leaves |= flatten(t(1.0), "call 0") | {"call 1": "raised"}
            want.leaves |= flatten(t(2.0), "call 0") | flatten(t(2.0), "call 1")
            assert ("values", "call 0") in [(d.what, d.leaf) for d in compare(got, want)]
            assert "call 1" not in [d.leaf for d in compare(got, want)]
