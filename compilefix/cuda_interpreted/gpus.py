"""GPUs that Inductor may be told to compile for. No torch."""

from __future__ import annotations

from dataclasses import dataclass

from compilefix.errors import UsageError

GIB = 1 << 30
KIB = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """
    What Inductor asks of a GPU, under the names of ``torch.cuda.get_device_properties``.

    Figures are those of NVIDIA's data sheets and of the table of compute capabilities in its CUDA programming guide.
    """

    name: str
    major: int
    """Compute capability, first number."""

    minor: int
    multi_processor_count: int
    total_memory: int
    """Bytes."""

    shared_memory_per_block_optin: int
    """Bytes of shared memory that one block can ask for."""

    L2_cache_size: int
    """Bytes."""

    max_threads_per_multi_processor: int
    shared_memory_per_multiprocessor: int
    """Bytes."""

    shared_memory_per_block: int = 48 * KIB
    regs_per_multiprocessor: int = 65536
    max_threads_per_block: int = 1024
    warp_size: int = 32
    gcnArchName: str = ""  # noqa: N815  (torch's name; empty on NVIDIA's GPUs)
    is_integrated: int = 0
    is_multi_gpu_board: int = 0

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability as torch returns it."""
        return self.major, self.minor


GPUS: dict[str, Gpu] = {
    "h100": Gpu(
        name="NVIDIA H100 80GB HBM3",
        major=9,
        minor=0,
        multi_processor_count=132,
        total_memory=80 * GIB,
        shared_memory_per_block_optin=227 * KIB,
        shared_memory_per_multiprocessor=228 * KIB,
        L2_cache_size=50 << 20,
        max_threads_per_multi_processor=2048,
    ),
    "h200": Gpu(
        name="NVIDIA H200",
        major=9,
        minor=0,
        multi_processor_count=132,
        total_memory=141 * GIB,
        shared_memory_per_block_optin=227 * KIB,
        shared_memory_per_multiprocessor=228 * KIB,
        L2_cache_size=50 << 20,
        max_threads_per_multi_processor=2048,
    ),
    "a100": Gpu(
        name="NVIDIA A100-SXM4-80GB",
        major=8,
        minor=0,
        multi_processor_count=108,
        total_memory=80 * GIB,
        shared_memory_per_block_optin=163 * KIB,
        shared_memory_per_multiprocessor=164 * KIB,
        L2_cache_size=40 << 20,
        max_threads_per_multi_processor=2048,
    ),
    "l4": Gpu(
        name="NVIDIA L4",
        major=8,
        minor=9,
        multi_processor_count=58,
        total_memory=24 * GIB,
        shared_memory_per_block_optin=99 * KIB,
        shared_memory_per_multiprocessor=100 * KIB,
        L2_cache_size=48 << 20,
        max_threads_per_multi_processor=1536,
    ),
    "rtx4090": Gpu(
        name="NVIDIA GeForce RTX 4090",
        major=8,
        minor=9,
        multi_processor_count=128,
        total_memory=24 * GIB,
        shared_memory_per_block_optin=99 * KIB,
        shared_memory_per_multiprocessor=100 * KIB,
        L2_cache_size=72 << 20,
        max_threads_per_multi_processor=1536,
    ),
    "t4": Gpu(
        name="Tesla T4",
        major=7,
        minor=5,
        multi_processor_count=40,
        total_memory=16 * GIB,
        shared_memory_per_block_optin=64 * KIB,
        shared_memory_per_multiprocessor=64 * KIB,
        L2_cache_size=4 << 20,
        max_threads_per_multi_processor=1024,
    ),
}
"""GPUs by the word that ``--gpu`` takes."""

DEFAULT = "h100"


def gpu(word: str) -> Gpu:
    """Return the GPU named `word`; raise `UsageError` for another word."""
    if word.lower() not in GPUS:
        raise UsageError(f"unknown GPU {word!r}; write one of {', '.join(GPUS)}")
    return GPUS[word.lower()]
