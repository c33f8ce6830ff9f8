"""
False alarms of the target inductor:cuda-interpreted: healthy operators that it calls wrong.

Every OpInfo of torch's own tests is compiled for a GPU and interpreted, forward on its first sample inputs, and held
against plain eager by the oracle, with the watch over bounds and races. Each operator runs in a fork of its own.

    python scripts/sweep_cuda_interpreted.py [--dtype float32] [--limit 200] [--seconds 60]

An alarm is a mismatch or a broken rule; some are defects of Inductor, to be told from false ones by hand.
"""

from __future__ import annotations

import argparse
import collections
import copy
import itertools
import multiprocessing
import os
import signal
import time
import warnings
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

from compilefix.cuda_interpreted import backend, gpus, memory  # noqa: E402
from compilefix.cuda_interpreted.problems import limit_of  # noqa: E402
from compilefix.oracle import Observation, compare, flatten  # noqa: E402
from compilefix.runner import warm  # noqa: E402

SAMPLES = 2
RANDOM = ("rand", "bernoulli", "multinomial", "normal", "dropout", "rrelu", "uniform", "cauchy", "exponential", "empty")
"""Operators whose values are drawn, or never written: nothing to compare."""


def observed(function: Any, sample: Any) -> Observation:
    observation = Observation()
    observation.leaves |= flatten(function(sample.input, *sample.args, **sample.kwargs), "result")
    return observation


def judged(index: int, dtype: torch.dtype) -> tuple[str, str]:
    op = op_db[index]
    ran = 0
    for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), SAMPLES):
        try:
            want = observed(op.op, copy.deepcopy(sample))
        except Exception:  # the plain operator refuses this sample: nothing to compare
            continue
        torch._dynamo.reset()
        memory.reset()
        try:
            got = observed(torch.compile(op.op), copy.deepcopy(sample))
        except Exception as error:
            reason = limit_of(str(error))
            return ("unsupported", reason) if reason else ("error", f"{type(error).__name__}: {error}"[:200])
        wrong = [d for d in compare(got, want) if not d.note]
        if wrong and all(d.what == "values" for d in wrong):
            wide = observed(op.op, sample.transform(lambda x: _wide(x)))
            wrong = [d for d in compare(got, want, wide) if not d.note]
        broken = [str(f) for f in memory.findings() if not f.note]
        if wrong or broken:
            return "alarm", "; ".join([*(f"{d.what} {d.leaf}: got {d.got} want {d.want}" for d in wrong[:1]), *broken])
        ran += memory.WATCH.kernels > 0
    return ("healthy" if ran else "no kernel"), ""


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _child(connection: Any, index: int, dtype: torch.dtype) -> None:
    warm.single_thread()
    torch.manual_seed(0)
    try:
        connection.send(judged(index, dtype))
    except Exception as error:
        connection.send(("harness", f"{type(error).__name__}: {error}"[:200]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--limit", type=int, default=1000, help="operators at most")
    parser.add_argument("--every", type=int, default=1, help="take each n-th operator")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one operator")
    parser.add_argument("--gpu", default=gpus.DEFAULT)
    arguments = parser.parse_args()
    dtype = getattr(torch, arguments.dtype)
    warm.prepare()
    backend.install(gpus.gpu(arguments.gpu))
    torch.compile(lambda x: x.softmax(-1))(torch.ones(4, 4))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    context = multiprocessing.get_context("fork")
    chosen = [i for i, op in enumerate(op_db) if dtype in op.dtypes and not any(word in op.name for word in RANDOM)]
    try:
        for index in chosen[:: arguments.every][: arguments.limit]:
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(there, index, dtype))
            process.start()
            there.close()
            try:
                verdict, detail = here.recv() if here.poll(arguments.seconds) else ("too slow", "")
            except EOFError:
                verdict, detail = "died", ""
            process.kill()
            process.join()
            counts[verdict] += 1
            if verdict not in ("healthy", "no kernel"):
                print(f"{op_db[index].full_name:45} {verdict:12} {' '.join(detail.split())}", flush=True)
    finally:  # also when it is interrupted: what was measured is told
        print(f"torch {torch.__version__} {arguments.dtype} on {arguments.gpu}: {dict(counts)}, ", end="")
        print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
