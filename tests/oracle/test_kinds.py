"""Results of every kind: containers, objects, tensor subclasses, layouts without strides, dtypes without operators."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pickle
from typing import Any, NamedTuple

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

from compilefix.oracle import Observation, compare, flatten, overlaps
from tests.oracle.runs import defects, differences, observed, t


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1
    BLUE = 2


class Level(int):
    """A number with a class of its own."""


class Point(NamedTuple):
    """A named tuple."""

    x: torch.Tensor
    y: torch.Tensor


@dataclasses.dataclass
class Box:
    """A dataclass."""

    inside: Any


class Thing:
    """An object that the oracle does not look into."""


class Renamed(torch.Tensor):
    """A subclass without a dispatch of its own."""


class Closed(torch.Tensor):
    """A subclass that refuses all functions."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(func)


Pair = collections.namedtuple("Pair", "x y")
ONE, TWO = t(1.0), t(2.0)


@pytest.mark.parametrize(
    ("got", "want", "leaf"),
    [
        ([[ONE], TWO], [[ONE], t(1.0)], "result[1]"),
        ({"a": {"b": (ONE, TWO)}}, {"a": {"b": (ONE, t(1.0))}}, "result['a']['b'][1]"),
        ({(1, "k"): TWO}, {(1, "k"): ONE}, "result[(1, 'k')]"),
        (Point(ONE, TWO), Point(ONE, t(1.0)), "result[1]"),
        (Box([TWO]), Box([ONE]), "result.inside[0]"),
        (collections.deque([ONE, TWO]), collections.deque([ONE, t(1.0)]), "result[1]"),
        (collections.OrderedDict(k=TWO), collections.OrderedDict(k=ONE), "result['k']"),
        (collections.defaultdict(list, k=[TWO]), collections.defaultdict(list, k=[ONE]), "result['k'][0]"),
        ({"k": TWO}.values(), {"k": ONE}.values(), "result[0]"),
        ({"k": 1}.keys(), {"l": 1}.keys(), "result[0]"),
        ({"k": TWO}.items(), {"k": ONE}.items(), "result[0][1]"),
        ({3, 4}, {3, 5}, "result{1}"),
        (frozenset({"a"}), frozenset({"b"}), "result{0}"),
        (torch.Size([2, 3]), torch.Size([2, 4]), "result[1]"),
        (torch.float32, torch.float64, "result"),
        (torch.device("cpu"), torch.device("meta"), "result"),
        (torch.channels_last, torch.contiguous_format, "result"),
        (b"a", b"b", "result"),
        (range(3), range(4), "result"),
        (slice(1, None), slice(2, None), "result"),
        (Colour.RED, Colour.BLUE, "result"),
        (Level(1), Level(2), "result"),
    ],
)
def test_a_difference_inside_any_container_is_found_at_its_path(got: object, want: object, leaf: str) -> None:
    """Whatever holds a value, the value is compared, and its path reads like the expression that reaches it."""
    (found,) = differences(got, want)
    assert (found.leaf, found.note) == (leaf, False)
    assert differences(want, want, strict=("bitwise", "strides")) == ()


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([ONE], (ONE,)),
        ((ONE, TWO), Point(ONE, TWO)),
        (Pair(ONE, TWO), Point(ONE, TWO)),
        ({"a": 1}, collections.OrderedDict(a=1)),
        (tuple(torch.max(torch.eye(2), 0)), torch.max(torch.eye(2), 0)),
        (torch.Size([1]), (1,)),
        ({1}, frozenset({1})),
        (1, Level(1)),
        (Thing(), object()),
        ([], None),
        (Box(ONE), [ONE]),
    ],
)
def test_the_type_of_a_container_counts(got: object, want: object) -> None:
    """A plain tuple is no named tuple: programs read its fields by name."""
    assert differences(got, want)[0].what == "structure"
    assert defects(got, want)[0] == "structure"


def test_missing_and_new_entries_are_found() -> None:
    """An entry on one side only is named with what it is."""
    found = {(d.leaf, d.got, d.want) for d in differences({"a": ONE, "c": 3}, {"a": ONE, "b": torch.ones(2, 3)})}
    assert found == {("result['b']", "missing", "tensor float32[2, 3]"), ("result['c']", 3, "missing")}
    assert {d.leaf for d in differences([1, 2], [1])} == {"result", "result[1]"}


def test_the_order_of_a_dict_counts_and_that_of_a_set_does_not() -> None:
    """A dict's order shows wherever it is iterated."""
    (found,) = differences({"b": 1, "a": 2}, {"a": 2, "b": 1})
    assert (found.what, found.leaf, found.got, found.want) == (
        "structure",
        "result",
        "order 'b', 'a'",
        "order 'a', 'b'",
    )
    assert differences({"b", "a", "c"}, {"c", "a", "b"}) == ()


def test_keys_whose_text_has_an_address_go_by_their_place() -> None:
    """Objects as keys are other objects in another process; their entries are compared in order."""
    assert differences({Thing(): ONE}, {Thing(): ONE}) == ()
    assert [d.leaf for d in differences({Thing(): ONE}, {Thing(): TWO})] == ["result[#0]"]


def test_a_container_inside_itself_ends() -> None:
    """Cycles are told apart from no cycle, and shared containers are no cycle."""
    loop: list[Any] = [ONE]
    loop.append(loop)
    assert differences(loop, loop) == ()
    assert defects(loop, [ONE, [ONE, []]]) != []
    shared = [TWO]
    assert set(flatten([shared, shared], "r")) == {"r", "r[0]", "r[0][0]", "r[1]", "r[1][0]"}


def test_modules_are_their_parameters_and_buffers() -> None:
    """A module that is a result or an argument is compared by its state, by name."""
    got, want = (torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)) for _ in range(2))
    got.load_state_dict(want.state_dict())
    assert differences(got, want) == ()
    got[1].running_mean[1] = 3.0  # type: ignore[index, operator]
    (found,) = differences(got, want)
    assert (found.leaf, found.where) == ("result.1.running_mean", (1,))


def test_symbolic_numbers_are_their_values() -> None:
    """A SymInt that gets out of compiled code counts as the int that it stands for."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    env, source = ShapeEnv(), ConstantSource("n")
    size = env.create_symintnode(env.create_symbol(3, source), hint=3, source=source)
    assert isinstance(size, torch.SymInt)
    assert differences([size, size > 2], [3, True]) == ()
    assert defects(size, 4) == ["values"]


class TestNumpy:
    """Compiled NumPy programs return arrays."""

    @pytest.fixture
    def np(self) -> Any:
        """Return NumPy, which torch does without."""
        return pytest.importorskip("numpy")

    def test_arrays_are_compared_as_tensors_are(self, np: Any) -> None:
        """Values, dtype, shape and layout of an array, and that it is an array."""
        want = np.arange(6.0).reshape(2, 3)
        got = want.copy()
        got[1, 2] = 9
        (found,) = differences(got, want)
        assert (found.what, found.where, found.got) == ("values", (1, 2), 9.0)
        assert defects(want.astype("float32"), want) == ["dtype"]
        assert defects(torch.from_numpy(want), want) == ["structure"]
        assert differences(want[::-1], want[::-1].copy()) == ()

    def test_scalars_are_compared_by_type_and_value(self, np: Any) -> None:
        """A NumPy scalar is neither a Python number nor one of another width."""
        assert differences(np.float64(3), np.float64(3)) == ()
        assert defects(np.float64(3), np.float64(4)) == ["values"]
        assert defects(np.float64(3), 3.0) == ["structure"]
        assert defects(np.int32(3), np.int64(3)) == ["structure", "dtype"]

    def test_arrays_that_are_no_tensors_have_their_type(self, np: Any) -> None:
        """Text and objects are not looked into, and break nothing."""
        assert differences(np.array(["a"]), np.array(["a"])) == ()
        assert defects(np.array([None]), 1) == ["structure"]


class TestTensorSubclasses:
    """A tensor's class is part of the result."""

    @pytest.mark.parametrize(
        ("got", "want"),
        [
            (torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))),
            (torch.ones(2), torch.ones(2).as_subclass(Renamed)),
            (torch.ones(2), TwoTensor(torch.ones(2), torch.ones(2))),
        ],
    )
    def test_a_lost_class_is_found(self, got: torch.Tensor, want: torch.Tensor) -> None:
        """A plain tensor where eager returns a subclass is a difference, in both directions."""
        for a, b in ((got, want), (want, got)):
            assert (differences(a, b)[0].what, differences(a, b)[0].leaf) == ("structure", "result")
        assert differences(want, want) == ()

    def test_a_subclass_that_refuses_functions_is_compared(self) -> None:
        """What a subclass makes of torch's functions does not matter to the comparison."""
        got, want = (v.as_subclass(Closed) for v in (TWO, ONE))
        leaves = [Observation(leaves=flatten(value, "r")) for value in (got, want)]
        assert [(d.what, d.leaf) for d in compare(*leaves)] == [("values", "r")]
        assert overlaps(("a", got), ("b", TWO), ("c", ONE)) == {("a", "b")}

    def test_wrapped_tensors_are_compared_by_attribute(self) -> None:
        """A subclass that wraps tensors is looked into: values, aliases, and whether the whole requires grad."""
        a, b = torch.ones(2), torch.zeros(2)
        (found,) = differences(TwoTensor(a, b + 1), TwoTensor(a, b))
        assert (found.leaf, found.where) == ("result.b", (0,))
        assert overlaps(("r", TwoTensor(a, b)), ("b", b)) == {("r", "b")}
        assert set(defects(TwoTensor(a, b).requires_grad_(), TwoTensor(a, b))) == {"requires_grad"}

    @pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
    @pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
    def test_nested_tensors_are_compared_by_component(self, layout: torch.layout) -> None:
        """Both layouts of nested tensors: an element of one component, and the lengths."""

        def nested(*parts: torch.Tensor) -> torch.Tensor:
            return torch.nested.nested_tensor(list(parts), layout=layout)

        one, two, other = torch.ones(2), torch.ones(3), torch.tensor([1.0, 5.0, 1.0])
        assert differences(nested(one, two), nested(one, two)) == ()
        assert defects(nested(one, other), nested(one, two)) == ["values"]
        assert defects(nested(two, one), nested(one, two)) != []
        assert overlaps(("a", nested(one, two)), ("b", nested(one, two))) == frozenset()

    def test_what_a_nested_tensor_has_cached_does_not_count(self) -> None:
        """A nested tensor finds out its longest component when asked; that one side was asked is no difference."""
        asked, other = (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged) for _ in "ab")
        other = torch.nested.nested_tensor_from_jagged(other.values(), other.offsets())
        asked = torch.nested.nested_tensor_from_jagged(asked.values(), asked.offsets(), min_seqlen=2, max_seqlen=3)
        assert differences(asked, other) == ()

    def test_a_fake_tensor_that_got_out_is_found(self) -> None:
        """A tensor of the compiler without data in the result is a defect, and no crash of the oracle."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            fake = torch.ones(2)
        assert defects(fake, torch.ones(2)) == ["structure"]

    def test_tensors_on_meta_have_metadata_only(self) -> None:
        """Meta tensors are compared by shape, dtype, strides and device."""
        meta = torch.ones(2, 3, device="meta")
        assert differences(meta, torch.ones(2, 3, device="meta"), strict=("bitwise", "strides")) == ()
        assert defects(meta, torch.ones(2, 3)) == ["device"]
        assert defects(meta, torch.ones(3, 2, device="meta")) == ["shape"]
        assert defects(meta, torch.ones(3, 2, device="meta").t(), strict=("strides",)) == ["strides"]


@pytest.mark.filterwarnings("ignore:Sparse CS")
@pytest.mark.parametrize("convert", ["to_sparse", "to_sparse_csr", "to_sparse_csc", "to_mkldnn"])
def test_layouts_without_strides_are_compared_by_value(convert: str) -> None:
    """Sparse and MKL-DNN tensors: the layout counts, then the values where a person would look for them."""
    want = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    got = want.clone()
    got[1, 0] = 5.0
    a, b = getattr(got, convert)(), getattr(want, convert)()
    (found,) = differences(a, b)
    assert (found.what, found.where, found.got, found.want) == ("values", (1, 0), 5.0, 2.0)
    assert defects(b, want) == ["layout"]
    assert differences(b, getattr(want, convert)(), strict=("strides", "bitwise")) == ()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_quantised_tensors_are_compared_by_value_and_dtype() -> None:
    """A quantised tensor is its numbers and its dtype; the scale shows in the numbers."""

    def quantised(values: torch.Tensor, scale: float, dtype: torch.dtype = torch.quint8) -> torch.Tensor:
        return torch.quantize_per_tensor(values, scale, 0, dtype)

    want = quantised(t(1.0, 2.0), 0.1)
    assert differences(quantised(t(1.0, 2.0), 0.1), want) == ()
    assert defects(quantised(t(1.0, 3.0), 0.1), want) == ["values"]
    assert defects(quantised(t(1.0, 2.0), 0.1, torch.qint8), want) == ["structure"]
    assert defects(want.dequantize(), want) == ["structure"]


def test_dtypes_that_only_store_bits_are_compared_bit_by_bit() -> None:
    """Dtypes for which torch has no operators are compared all the same."""
    raw = torch.arange(4, dtype=torch.uint8)
    for dtype in (torch.bits8, torch.float4_e2m1fn_x2):
        assert differences(raw.view(dtype), raw.clone().view(dtype)) == ()
        (found,) = differences((raw ^ 2).view(dtype), raw.view(dtype))
        assert (found.what, found.where, found.count) == ("values", (0,), 4)
        assert defects(raw, raw.view(dtype)) == ["structure"]


def test_expanded_and_sliced_tensors_are_their_values() -> None:
    """Strides of zero, gaps and offsets change no value; a copy is not touched by later writes."""
    base = torch.arange(12.0)
    views = [base[3].expand(2, 2), base.view(3, 4)[:, 1:3], base[::5], base.as_strided((3, 3), (2, 1), 1)]
    assert [d.what for d in differences([v.clone() for v in views], views) if d.what not in ("strides", "alias")] == []
    before = flatten(views, "r")
    base.zero_()
    (found, *_) = compare(observed(views), observed([v.clone() for v in views]))
    assert found.note or found.what == "alias"
    assert before["r[2]"].value.tolist() == [0.0, 5.0, 10.0]  # type: ignore[union-attr]


def test_inference_tensors_and_results_without_grad_mode_are_copied() -> None:
    """Tensors of inference mode and graph outputs are copied out like others."""
    with torch.inference_mode():
        frozen = torch.ones(2)
    live = torch.ones(2, requires_grad=True) * 2
    assert differences([frozen, live], [torch.ones(2), live]) == ()


def test_an_observation_crosses_processes() -> None:
    """The reference is pickled for other processes: also values whose classes they do not know."""
    local = type("Local", (int,), {})
    value = [local(3), Colour.RED, Box(t(1.0)), torch.ones(2, device="meta"), torch.float32, TwoTensor(ONE, TWO)]
    want = observed(value)
    assert compare(observed(value), pickle.loads(pickle.dumps(want))) == ()
    types = {type(leaf).__module__.partition(".")[0] for leaf in want.leaves.values()}
    assert types <= {"builtins", "compilefix"}


def test_default_device_of_the_program_does_not_matter() -> None:
    """A program that sets torch's default device changes nothing in the comparison."""
    x = torch.zeros(4, 4)
    with torch.device("meta"):
        assert overlaps(("r", [x[:, 1:], x[:, :2]])) == {("r[0]", "r[1]")}
        assert defects([x.clone()], [x.clone() + 1]) == ["values"]
