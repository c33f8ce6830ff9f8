"""
What drop-in ops cost: against torch's own op, plain and compiled, from 4 KiB to 256 MiB, in one run.

The compiled yardstick is torch's own op with the reinplacing pass off, which is right; with the pass on it is wrong on
the releases that the op is on for, so its time is shown for information only.

    python scripts/bench_ops.py [--op slice_scatter] [--strategies] [--sizes 4KiB 1MiB 64MiB]
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from compilefix import ops
from compilefix.ops.drop_in import build

WIDTH = 256
SIZES = {"4KiB": 4 << 10, "64KiB": 64 << 10, "1MiB": 1 << 20, "16MiB": 16 << 20, "256MiB": 256 << 20}
Call = Callable[[], Any]


def arguments(name: str, nbytes: int) -> tuple[Any, ...]:
    rows = max(nbytes // (4 * WIDTH), 4)
    x, part = torch.randn(rows, WIDTH), rows // 4
    source = torch.randn(part, WIDTH)
    positions = torch.randperm(rows)[:part]
    spread = positions[:, None].expand(part, WIDTH)
    known: dict[str, tuple[Any, ...]] = {
        "slice_scatter": (x, source, 0, part, 2 * part),
        "select_scatter": (x, source[0], 0, 1),
        "masked_fill": (x, x > 0, 1.0),
        "scatter": (x, 0, spread, source),
        "scatter_add": (x, 0, spread, source),
        "gather": (x, 0, spread),
        "index_select": (x, 0, positions),
        "index_copy": (x, 0, positions, source),
        "index_add": (x, 0, positions, source),
        "index_put": (x, (positions,), source),
        "clone": (x,),
    }
    return known[name]


@contextlib.contextmanager
def reinplacing_off() -> Iterator[None]:
    import torch._inductor.config as config

    if not hasattr(config, "disabled_passes"):
        raise SystemExit("this torch has no torch._inductor.config.disabled_passes (2.13.0 has): no right yardstick")
    with config.patch(disabled_passes="reinplace_inplaceable_ops"):
        yield


def compiled(op: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    torch._dynamo.reset()
    function = torch.compile(lambda *a: op(*a), dynamic=False)
    function(*args)
    return lambda: function(*args)


def timed(calls: dict[str, Call], budget: float = 1.5) -> dict[str, float]:
    """Return the median of each, run in turn so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    start = time.perf_counter()
    while len(times[next(iter(times))]) < 7 or time.perf_counter() - start < budget:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def bench(name: str, size: str, strategies: tuple[str, ...]) -> None:
    args = arguments(name, SIZES[size])
    spec = ops.spec(name)
    calls: dict[str, Call] = {"plain eager": lambda: spec.upstream(*args)}
    for strategy in strategies:
        op = build(spec, strategy)
        calls[f"{strategy} eager"] = lambda op=op: op(*args)
        calls[f"{strategy} compiled"] = compiled(op, args)
    calls["plain compiled"] = compiled(spec.upstream, args)
    with reinplacing_off():
        calls["yardstick"] = compiled(spec.upstream, args)
    found = timed(calls)
    for strategy in strategies:
        eager = found[f"{strategy} eager"] / found["plain eager"]
        ratio = found[f"{strategy} compiled"] / found["yardstick"]
        raw = found[f"{strategy} compiled"] / found["plain compiled"]
        print(
            f"{name:<15} {size:>7} {strategy:<13} eager {eager:5.2f}x   compiled {ratio:5.2f}x of right"
            f" {raw:5.2f}x of torch's own   ({found['yardstick'] * 1e6:,.1f} us)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[1])
    parser.add_argument("--op", action="append", help="default: slice_scatter, index_copy, scatter_add, gather")
    parser.add_argument("--strategies", action="store_true", help="all of them, not only the one that is taken here")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    for name in chosen.op or ["slice_scatter", "index_copy", "scatter_add", "gather"]:
        taken = ops.choice(name).strategy
        strategies = tuple(s for s in ops.strategies(name) if s != "disable") if chosen.strategies else (taken,)
        print(f"{name}: {taken} is taken on this torch")
        for size in chosen.sizes:
            bench(name, size, strategies)


if __name__ == "__main__":
    main()
