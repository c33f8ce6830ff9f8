"""
What the guard costs once its checks are over: backend="compilefix" against plain Inductor, in the same run.

    python scripts/bench_backend.py [--rounds 300]

Both sides are called in turn, forward and backward, on a ten-layer MLP and on a transformer block; printed are the
medians and their ratio. The first calls, which are checked, are timed apart.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch

from compilefix import guarded

CHECKED = 3


def mlp() -> tuple[torch.nn.Module, torch.Tensor]:
    layers = [layer for _ in range(10) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers), torch.randn(64, 256)


def block() -> tuple[torch.nn.Module, torch.Tensor]:
    return torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True), torch.randn(8, 32, 128)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def step(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    function(x).sum().backward()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    for name, make in (("10-layer MLP", mlp), ("transformer block", block)):
        model, x = make()
        torch._dynamo.reset()
        sides = {"inductor": torch.compile(model), "guarded": guarded(model, check_calls=CHECKED, sample_every=0)}
        steps = {side: partial(step, function, x) for side, function in sides.items()}
        for call in steps.values():
            call()
        checked = statistics.median(seconds(steps["guarded"]) for _ in range(CHECKED - 1))
        for call in steps.values():
            for _ in range(20):
                call()
        times: dict[str, list[float]] = {side: [] for side in steps}
        for turn in range(rounds):
            for side in list(steps) if turn % 2 else reversed(list(steps)):
                times[side].append(seconds(steps[side]))
        ours, theirs = (statistics.median(times[side]) for side in ("guarded", "inductor"))
        print(
            f"{name}: inductor {theirs * 1e6:.0f} us, guarded {ours * 1e6:.0f} us, ratio {ours / theirs:.3f}; "
            f"a checked call {checked * 1e3:.1f} ms"
        )


if __name__ == "__main__":
    main()
