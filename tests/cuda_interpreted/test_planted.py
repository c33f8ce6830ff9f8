"""
Faults planted in kernels that Inductor wrote: each is found and named, and the kernel without the fault is clean.

The text of a wrapper is changed after Inductor has generated it, so what runs is Inductor's own code but for one slip.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
import torch._inductor.config as inductor_config

from compilefix.cuda_interpreted import backend, memory
from tests.cuda_interpreted.interpreting import interpreted
from tests.cuda_interpreted.programs import agrees

pytestmark = pytest.mark.slow


def found(function: Callable[..., Any], slip: Callable[[str], str], *inputs: Any, **compile: Any) -> list[str]:
    """Compile `function`, whose kernels are healthy, with its wrapper changed by `slip`; return what is found."""
    agrees(function, *inputs, **compile)
    changed: list[bool] = []

    def slipped(code: str) -> str:
        changed.append(slip(code) != code)
        return moved_back(slip(code))

    moved_back = backend.moved_back
    torch._dynamo.reset()
    memory.reset()
    with mock.patch.object(backend, "moved_back", slipped):
        torch.compile(function, **compile)(*inputs)
    assert any(changed), "the slip changed nothing"
    return [f"{f.what}: {f}" for f in memory.findings() if not f.note]


def replaced(pattern: str, by: str) -> Callable[[str], str]:
    """Return what replaces the first match of `pattern`."""
    return lambda code: re.sub(pattern, by, code, count=1)


@interpreted
def test_a_wrong_mask() -> None:
    """The store takes the lanes behind the end as well: 50 elements, blocks of 32."""
    (text,) = found(
        lambda x: x.sin() + 1, replaced(r"(tl\.store\(out_ptr0 .*), xmask\)", r"\1, None)"), torch.randn(50)
    )
    assert text == (
        "out-of-bounds: writes element 50 of out_ptr0 (buf0), which has 50 (14 such lanes in one block) in "
        "triton_poi_fused_add_sin_0, at tl.store(out_ptr0 + (x0), tmp3, None)"
    )


@interpreted
def test_a_swapped_stride() -> None:
    """A transposed read whose strides changed places runs over the end of its argument."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x.mT.contiguous() + 1

    def slip(code: str) -> str:
        lines = code.splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if "tl.load(in_ptr0" in line)
        index = re.search(r"in_ptr0 \+ \((.*?)\), ", lines[at])
        assert index is not None
        terms = dict(re.findall(r"(?:(\d+)\*)?([xy]\d)", index[1]))
        strides = {name: stride or "1" for stride, name in terms.items()}
        (a, first), (b, second) = strides.items()
        lines[at] = lines[at].replace(index[1], f"{second}*{a} + {first}*{b}")
        return "".join(lines)

    (text,) = found(program, slip, torch.randn(6, 40))
    assert re.match(r"out-of-bounds: reads element \d{3,} of in_ptr0, which has 240 \(\d+ such lanes", text), text
    assert " in triton_poi_fused_" in text
    assert ", at tmp0 = tl.load(in_ptr0" in text


@interpreted
def test_a_swapped_stride_of_a_store_writes_twice_and_leaves_holes() -> None:
    """Where it stays inside: lanes write one address with different values."""
    slip = replaced(r"tl\.store\(out_ptr0 \+ \(x0\)", "tl.store(out_ptr0 + (x0 // 2)")
    (text,) = found(lambda x: x.sin(), slip, torch.randn(16, 8))
    assert text.startswith("race: program 0 writes byte 0 of out_ptr0 (buf0), which another lane of it writes with")
    assert " in triton_poi_fused_sin_0, at tl.store(out_ptr0 + (x0 // 2)" in text


@interpreted
def test_a_dropped_atomic() -> None:
    """Rows that go to one place are added by plain loads and stores: the programs 0 and 1 meet."""

    def program(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(2, 32).index_put((index,), x, accumulate=True)

    slip = replaced(
        r"tl\.atomic_add\((out_ptr0 \+ \(.*?\)), (tmp\d+), (\w+), sem='relaxed'\)",
        r"tl.store(\1, tl.load(\1, \3) + \2, \3)",
    )
    texts = found(program, slip, torch.ones(4, 32), torch.tensor([0, 0, 0, 1]))
    (text,) = [t for t in texts if "reads byte" in t]
    assert re.match(
        r"race: program \d reads byte \d+ of out_ptr0 \(buf\d\), which program \d writes, in no order; ", text
    )
    assert " in triton_poi_fused_index_put" in text


@interpreted
def test_an_in_place_write_before_the_read() -> None:
    """The result goes into the input while other programs still read it: the race names both programs."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x.flip(0) * 2

    (text,) = found(
        program,
        lambda code: (
            re.sub(r"(\w+)\.run\(arg0_1, buf0,", r"\1.run(arg0_1, arg0_1,", code)
            .replace("return (buf0, )", "return (arg0_1, )")
            .replace("del arg0_1\n", "pass\n")
        ),
        torch.arange(128.0),
    )
    assert re.match(
        r"race: program 0 reads byte \d+ of in_ptr0 = out_ptr0, which program \d writes at tl.store\(.*\), "
        r"in no order; forward and reverse order leave different results, first at byte \d+ of in_ptr0 in triton_poi_",
        text,
    ), text
    assert ", at tmp0 = tl.load(in_ptr0" in text


@interpreted
def test_an_uninitialised_buffer() -> None:
    """The kernel that fills a buffer is not launched; the one that reads it is named, and so is the buffer."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return (x.sum() + x).sin()

    def slip(code: str) -> str:
        return re.sub(r"\n( +)\w+\.run\(arg0_1, buf0, [^\n]*", r"\n\1pass", code, count=1)

    texts = found(program, slip, torch.arange(12000.0).reshape(40, 300) % 3)
    assert re.match(
        r"uninitialised: reads element 0 of \w+ \(buf\d\), which nothing has written in triton_\w+, at tmp\d+ = tl",
        texts[0],
    ), texts


@interpreted
def test_reuse_of_a_buffer_without_the_barrier() -> None:
    """Programs that share a reduction leave their parts in a workspace, meet, and read those of all others."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x.sum(-1)

    with inductor_config.patch({"triton.force_cooperative_reductions": True}):
        texts = found(
            program, replaced(r"triton_helpers\.x_grid_barrier\(", "str("), torch.arange(10000.0).reshape(2, 5000) % 3
        )
    reads = [t for t in texts if t.startswith("race: ") and " reads byte " in t]
    assert reads, texts
    assert re.match(r"race: program \S.* reads byte \d+ of \w*ws\w* .*which program \S.* writes at ", reads[0]), texts
    assert "order leave different results" in reads[0] or "order happen to leave the same" in reads[0]
    assert re.search(r" in triton_\w+_fused_sum_0, at tmp\d+_peers = tl\.load\(", reads[0]), texts
