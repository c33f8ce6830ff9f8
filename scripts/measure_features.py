"""
Measure which names each torch release has, for the scan's probes such as ``hasattr(torch.compiler, "set_stance")``.

``measure_features.py dump FILE`` writes the names of the torch of this Python; ``measure_features.py merge FILE...``
joins such files into compilefix/scan/features.json, which keeps only names that not every release has.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path

from packaging.version import Version

MODULES = """
torch torch.compiler torch.compiler.config torch.nn torch.nn.functional torch.nn.attention
torch.nn.attention.flex_attention torch.nn.attention.varlen
torch.nn.attention.bias torch.nn.utils torch.nn.parallel torch.library torch.export
torch.func torch.autograd torch.autograd.graph torch.cuda torch.cuda.memory torch.cuda.amp torch.amp torch.mps torch.xpu
torch.mtia torch.accelerator torch.cpu torch.linalg torch.fft torch.special torch.backends
torch.backends.cuda
torch.backends.cudnn torch.backends.mps torch.backends.mkldnn torch.distributed torch.distributed.fsdp
torch.distributed.tensor torch.distributed.device_mesh torch.distributed.checkpoint torch.optim torch.optim.lr_scheduler
torch.utils torch.utils.checkpoint torch.utils.data torch.utils._pytree torch.serialization torch.fx
torch.fx.experimental.symbolic_shapes torch.fx.experimental._config torch.overrides torch.sparse torch.profiler
torch.random torch.onnx torch.masked torch.nested torch.distributions torch.package torch.testing torch.futures
torch.jit torch.monitor torch.multiprocessing torch.hub torch.types torch.version torch._dynamo torch._dynamo.config
torch._inductor torch._inductor.config torch._inductor.config.triton torch._inductor.config.cpp
torch._functorch.config torch._functorch torch._export torch._higher_order_ops torch._logging torch._C torch.Tensor
""".split()  # noqa: SIM905
WALKED = """
compiler nn library export func autograd cuda amp accelerator backends distributed optim utils fx nested
""".split()  # noqa: SIM905
DEPTH = 3


def names() -> list[str]:
    """Return the dotted names that the installed torch has."""
    import torch

    found = set()
    for module in MODULES:
        try:
            holder = importlib.import_module(module)
        except ImportError:
            parent, _, leaf = module.rpartition(".")
            try:
                holder = getattr(importlib.import_module(parent), leaf)
            except (ImportError, AttributeError):
                continue
        found.add(module)
        private = module in ("torch", "torch._C", "torch.Tensor")
        inside = {*dir(holder), *(str(n).partition(".")[0] for n in _settings(holder))}
        found |= {f"{module}.{n}" for n in inside if not n.startswith("__") and (private or n[0] != "_")}
    for package in (*WALKED, "_dynamo", "_inductor", "_higher_order_ops", ""):
        base = Path(torch.__file__).parent / package
        prefix = f"torch.{package}." if package else "torch."
        found |= modules(base, prefix, 1 if not package or package[0] == "_" else DEPTH)
    return sorted(found)


def _settings(holder: object) -> list[str]:
    """Return the settings of a config module, which ``dir()`` leaves out."""
    found = getattr(holder, "_config", None)
    return list(found) if isinstance(found, dict) else []


def modules(folder: Path, prefix: str, depth: int) -> set[str]:
    """Return the names of the modules in `folder` without importing them."""
    found = set()
    for module in pkgutil.iter_modules([str(folder)]):
        found.add(prefix + module.name)
        if module.ispkg and depth > 1 and module.name[0] != "_":
            found |= modules(folder / module.name, f"{prefix}{module.name}.", depth - 1)
    return found


def merge(files: list[Path]) -> dict[str, object]:
    """Return the releases in order and, for each name that not all of them have, the releases that do as 0 and 1."""
    read = [json.loads(f.read_text()) for f in files]
    have = {Version(r["torch"]).public: set(r["names"]) for r in read}
    order = sorted(have, key=Version)
    rows = {n: "".join(str(int(n in have[v])) for v in order) for n in set().union(*have.values())}
    return {"releases": order, "names": {n: row for n, row in sorted(rows.items()) if "0" in row}}


def main() -> None:
    verb, *rest = sys.argv[1:]
    if verb == "dump":
        import torch

        Path(rest[0]).write_text(json.dumps({"torch": str(torch.__version__), "names": names()}))
    else:
        target = Path(__file__).parents[1] / "compilefix" / "scan" / "features.json"
        text = json.dumps(merge([Path(f) for f in rest]), separators=(",", ":"))
        target.write_text(text.replace('","', '",\n"') + "\n")


if __name__ == "__main__":
    main()
