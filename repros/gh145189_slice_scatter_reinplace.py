"""
Told as "slice_scatter gives wrong results on CUDA"; no wrong result is known, a test counted kernels.

Why: the upstream test asserts that a slice written into a cache needs one generated kernel. A matmul reads the cache
afterwards, and the padding of that matmul is decided by timing, so now and then there is one kernel more. The write
itself was in place and right all along.
What to do: nothing. Where a stable kernel count matters set torch._inductor.config.shape_padding to False.
"""

import torch

from compilefix.issue import Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.WRONG_RESULT,
    stage="inductor",
    devices=("cpu", "cuda"),
    ops=("slice_scatter", "bmm"),
    expects={"written in place": True, "kernels (shape_padding off)": 1},
    disputed="The report is a test that counts kernels: padding a matmul is decided by timing and can add one kernel. "
    "The slice is written in place and the values are right.",
    references=(
        "https://github.com/pytorch/pytorch/issues/145189",
        "https://github.com/pytorch/pytorch/pull/197997",
        "https://github.com/pytorch/pytorch/pull/135709",
    ),
    related=("gh198094",),
)


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    cache = torch.zeros(2, 33, 8, device=device)
    rows = torch.arange(32.0, device=device).reshape(2, 2, 8)
    query = torch.arange(64.0, device=device).reshape(2, 4, 8) - 30.0
    return cache, rows, query


def program(cache: torch.Tensor, rows: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    cache.copy_(torch.slice_scatter(cache, rows, dim=1, start=4, end=6))
    return torch.bmm(query, cache.mT)


def facts(device: str) -> dict[str, object]:
    from torch._inductor import config, metrics
    from torch._inductor.utils import run_and_get_code

    kernels = {}
    for padding in (True, False):
        torch._dynamo.reset()
        metrics.reset()
        with config.patch(shape_padding=padding):
            _, sources = run_and_get_code(torch.compile(program), *inputs(device))
        kernels[padding] = metrics.generated_kernel_count
    lines = [line for source in sources for line in source.splitlines()]
    return {
        "written in place": not any("= empty_strided" in line and "(2, 33, 8)" in line for line in lines),
        "kernels (shape_padding on)": kernels[True],
        "kernels (shape_padding off)": kernels[False],
    }
