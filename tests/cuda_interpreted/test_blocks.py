"""Blocks are made smaller, never larger, and never below a warp or what the hardware needs."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

from compilefix.cuda_interpreted.blocks import smaller


@pytest.mark.parametrize(
    ("blocks", "sizes", "lanes", "least", "out"),
    [
        ({"XBLOCK": 1024}, {"x": 1024}, 32, {}, {"XBLOCK": 128}),
        ({"XBLOCK": 128}, {"x": 128}, 32, {}, {"XBLOCK": 32}),
        ({"XBLOCK": 16}, {"x": 16}, 32, {}, {"XBLOCK": 16}),
        ({"XBLOCK": 256}, {"x": 1 << 20}, 32, {}, {"XBLOCK": 256}),
        ({"XBLOCK": 16, "YBLOCK": 64}, {"x": 16, "y": 64}, 32, {}, {"XBLOCK": 8, "YBLOCK": 16}),
        ({"XBLOCK": 64}, {"x": 4, "r0_": 128}, 1, {}, {"XBLOCK": 1}),
        ({"XBLOCK": 64}, {"x": 64}, 1, {"XBLOCK": 16}, {"XBLOCK": 16}),
    ],
)
def test_smaller(
    blocks: dict[str, int], sizes: dict[str, int], lanes: int, least: dict[str, int], out: dict[str, int]
) -> None:
    """Eight programs where the tensor allows."""
    assert smaller(blocks, sizes, lanes, least) == out
