"""What runs here: torch and its git hash, devices, instruction set, C++ compiler, Triton, Python."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

SCRUBBED_PREFIXES = ("TORCH", "PYTORCH", "TRITON", "AOT_", "INDUCTOR", "FUNCTORCH", "ENABLE_AOT")
"""Variables that steer torch.compile from outside; workers never see them."""

KEPT = frozenset({"TORCH_HOME", "TORCH_CUDA_ARCH_LIST"})


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One torch build on one machine. Reports carry it whole."""

    torch: str
    torch_git: str | None
    python: str
    system: str
    machine: str
    isa: str | None
    """Vector instruction set that Inductor's C++ code uses, such as ``avx512``."""

    cxx: str | None
    """First line of the C++ compiler's version, None where none works."""

    triton: str | None
    cuda: str | None
    """CUDA version that this torch was built for."""

    devices: tuple[str, ...] = ("cpu",)
    threads: int = 1
    """Intra-op threads of a worker."""

    gpu: str | None = None
    """GPU that the target ``inductor:cuda-interpreted`` compiles for, such as ``h100``; None where it cannot run."""

    missing: dict[str, str] = field(default_factory=dict)
    """Targets that cannot run here (``inductor:cpu``) and why."""

    scrubbed: tuple[str, ...] = ()
    """Variables of the caller that workers do not see."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        raw = asdict(self)
        return raw | {"devices": list(self.devices), "scrubbed": list(self.scrubbed)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Environment:
        """Read what `to_json` wrote."""
        fields = dict(raw)
        return cls(**fields | {"devices": tuple(fields["devices"]), "scrubbed": tuple(fields["scrubbed"])})

    @property
    def features(self) -> frozenset[str]:
        """Words that a record's ``requires`` may use."""
        words = {self.system.lower(), self.machine, *self.devices}
        if self.isa:
            words.add(self.isa)
            if self.isa.startswith("avx512"):
                words |= {"avx2", "avx512"}
        return frozenset(words)

    @property
    def slug(self) -> str:
        """Name of the measured file of this environment, such as ``torch-2.13.0+cpu-py311-linux-x86_64``."""
        python = "".join(self.python.split(".")[:2])
        return f"torch-{self.torch}-py{python}-{self.system.lower()}-{self.machine}"


def installed_torch() -> str | None:
    """Return the version of the installed torch without importing it, or None."""
    return _version("torch")


def scrubbed_environ(cache: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """
    Return the environment of a worker, and the names of the variables that were taken out.

    `cache` keeps the C++ objects. The graph caches are turned off by configuration in `runner.warm`, not here: their
    variables would override what a record sets.
    """
    taken = tuple(sorted(n for n in os.environ if n.startswith(SCRUBBED_PREFIXES) and n not in KEPT))
    environ = {name: value for name, value in os.environ.items() if name not in taken}
    environ |= {
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return environ, taken


def interpreting(environ: Mapping[str, str], cache: str) -> dict[str, str]:
    """Return the environment of a worker that interprets Triton's kernels, made from that of any other worker."""
    return {
        **environ,
        "TRITON_INTERPRET": "1",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/interpreted",
        "TRITON_CACHE_DIR": f"{cache}/interpreted/triton",
        "OPENBLAS_NUM_THREADS": "1",
    }


def detect(*, missing: Mapping[str, str], scrubbed: tuple[str, ...] = ()) -> Environment:
    """Describe the torch in this process. Imports torch; initialises no device."""
    import torch

    devices = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
    return Environment(
        torch=torch.__version__,
        torch_git=torch.version.git_version,
        python=platform.python_version(),
        system=platform.system(),
        machine=platform.machine(),
        isa=None if "inductor:cpu" in missing else _isa(),
        cxx=_cxx(),
        triton=_version("triton"),
        cuda=torch.version.cuda,
        devices=devices,
        threads=torch.get_num_threads(),
        missing=dict(missing),
        scrubbed=scrubbed,
    )


def _isa() -> str | None:
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    return {"AVX512": "avx512", "AVX2": "avx2", "DEFAULT": None}.get(capability, capability.lower())


def _cxx() -> str | None:
    command = os.environ.get("CXX") or next((c for c in ("g++", "clang++") if shutil.which(c)), None)
    if command is None or sys.platform == "win32":
        return None
    try:
        out = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return out.stdout.splitlines()[0] if out.stdout else command


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
