"""
Diagnose healthy functions and count false alarms; diagnose functions that are not deterministic and count misses.

The healthy ones are a sample of torch's own operator samples, and blocks of networks, forward and backward.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from compilefix.cuda_interpreted.gpus import DEFAULT
from compilefix.diagnosis import session, subject
from compilefix.diagnosis.result import Conclusion
from compilefix.runner.session import default_cache, default_isolation, open_launcher

OPS = """import torch


def inputs():
    return torch.load({file!r}, weights_only=False)


def program(*args, **kwargs):
    return torch.{name}(*args, **kwargs)
"""
NAMES = """
abs acos add addmm amax argmax atan2 baddbmm bmm cat ceil clamp complex constant_pad_nd copysign cos cosh
cross cummax cumprod cumsum diff dist div dot dsplit erf exp expm1 fft.fft flip floor fmod gather ge heaviside
hypot i0 index_select isnan kron lerp linalg.norm linalg.vector_norm log log1p logaddexp logcumsumexp
logsumexp lt masked_fill matmul max mean median min mm mul mv nan_to_num narrow neg nn.functional.avg_pool2d
nn.functional.conv1d nn.functional.conv2d nn.functional.elu nn.functional.gelu nn.functional.group_norm
nn.functional.layer_norm nn.functional.mse_loss nn.functional.pad nn.functional.silu nn.functional.softplus
nonzero norm outer permute pow prod reciprocal roll round rsqrt sigmoid sign sort split sqrt stack std sub
sum tanh tensordot topk trace transpose tril triu unbind var xlogy
"""
BLOCKS = {
    "mlp": "n.Sequential(n.Linear(16, 32), n.GELU(), n.Linear(32, 8), n.LayerNorm(8))|torch.randn(4, 16)",
    "conv": "n.Sequential(n.Conv2d(3, 8, 3), n.BatchNorm2d(8), n.ReLU(), n.MaxPool2d(2))|torch.randn(2, 3, 8, 8)",
    "residual": "Residual()|torch.randn(2, 8, 6, 6)",
    "attention": "n.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)|torch.randn(2, 5, 16)",
    "dropout": "n.Sequential(n.Linear(16, 16), n.Dropout(0.5))|torch.randn(4, 16)",
    "embedding": "n.Sequential(n.Embedding(20, 8), n.Linear(8, 4))|torch.arange(6)",
}
MODULE = """import torch
n = torch.nn


class Residual(n.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = n.Conv2d(8, 8, 3, padding=1), n.Conv2d(8, 8, 1), n.BatchNorm2d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.b(torch.relu(self.a(x)))) + x)


torch.manual_seed(0)
program = {module}


def inputs():
    torch.manual_seed(1)
    return ({value},)
"""
RANDOM = {
    "clock": "x + time.time_ns() % 1000",
    "process": "x * (os.getpid() % 7 + time.perf_counter())",
    "urandom": "x + int.from_bytes(os.urandom(3), 'big')",
    "id": "x + id(object()) % 4096 + time.time_ns() % 97",
    "counter": "x + next(counter)",
    "hash": "x + hash(os.urandom(8).hex()) % 1000",
    "uuid": "x + uuid.uuid4().int % 1000",
    "system random": "x * random.SystemRandom().random()",
    "secrets": "x + secrets.randbelow(10 ** 6)",
    "thread time": "x * time.thread_time_ns()",
}
CLOCK = """import itertools, os, random, secrets, time, uuid
import torch

counter = itertools.count(time.time_ns() % 1000)


def inputs():
    return (torch.ones(4),)


def program(x):
    return {expression}
"""


def sources(folder: Path) -> dict[str, tuple[str, str]]:
    """Return by name what is expected of a function, and its file; samples are written into `folder`."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    by_name = {op.name: op for op in op_db}
    found = {}
    for name in NAMES.split():
        torch.manual_seed(0)
        sample = next(iter(by_name[name].sample_inputs("cpu", torch.float32)))
        file = folder / f"{name}.pt"
        torch.save(((sample.input, *sample.args), sample.kwargs), file)
        found[f"op {name}"] = (Conclusion.HEALTHY.value, OPS.format(name=name, file=str(file)))
    for name, text in BLOCKS.items():
        module, value = text.split("|")
        found[f"block {name}"] = (Conclusion.HEALTHY.value, MODULE.format(module=module, value=value))
    for name, expression in RANDOM.items():
        text = CLOCK.format(expression=expression)
        found[f"random {name}"] = (Conclusion.NOT_DETERMINISTIC.value, text)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="names that contain this")
    parser.add_argument("--every", type=int, default=1, help="one of so many operators")
    args = parser.parse_args()
    samples = tempfile.TemporaryDirectory()
    functions = sources(Path(samples.name))
    launcher, _ = open_launcher(default_isolation(), default_cache(), DEFAULT)
    options = session.Options(jobs=args.jobs, cure=False, minimise=False, budget=120)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    right: dict[str, list[bool]] = {}
    start = time.monotonic()
    try:
        for i, (name, (want, text)) in enumerate(functions.items()):
            if (args.only and args.only not in name) or (name.startswith("op ") and i % args.every):
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "theirs.py")
                path.write_text(text, encoding="utf-8")
                argument = f"{path}:program"
                found = session.run(lambda f, a=argument: subject.build(a, f), options, launcher=launcher)
            if found.interrupted:
                raise KeyboardInterrupt
            right.setdefault(want, []).append(found.conclusion.value == want)
            if found.conclusion.value != want:
                culprits = ", ".join(c.triple for c in found.culprits)
                print(f"{name}: {found.conclusion.value}, not {want}: {found.reason} {culprits}", flush=True)
    except KeyboardInterrupt:
        print("interrupted; so far:")
    finally:
        launcher.close()
    for want, answers in right.items():
        print(f"{want}: {sum(answers)} of {len(answers)}")
    print(f"{time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
