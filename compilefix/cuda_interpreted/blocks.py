"""Smaller blocks, so that small tensors make several programs, as large ones do on a GPU."""

from __future__ import annotations

from typing import Any

from torch._inductor.runtime import hints
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

PROGRAMS = 8
"""Programs that a launch should have at least, where its tensors allow."""

LANES = 32
"""Lanes that a program keeps at least: a warp, whose lanes read together before they write."""

_SIMPLE = ("POINTWISE", "REDUCTION", "PERSISTENT_REDUCTION")
_prepare = CachingAutotuner.__init__


def smaller(blocks: dict[str, int], sizes: dict[str, int], lanes: int, least: dict[str, int]) -> dict[str, int]:
    """
    Return `blocks`, by ``XBLOCK`` and so on, halved until `sizes`, by ``x`` and so on, need `PROGRAMS` programs.

    A block keeps `lanes` lanes, and each dimension what `least` says. Every result is a choice that Inductor's
    autotuner may make as well.
    """
    out = dict(blocks)

    def programs() -> int:
        count = 1
        for name, block in out.items():
            count *= -(-sizes[name[0].lower()] // block)
        return count

    def lanes_now() -> int:
        count = 1
        for block in out.values():
            count *= block
        return count

    while programs() < PROGRAMS and lanes_now() > lanes:
        able = {n: min(b, sizes[n[0].lower()]) for n, b in out.items() if b > least.get(n, 1)}
        if not able:
            break
        widest = max(able, key=lambda n: able[n])
        out[widest] //= 2
    return out


def _prepared(self: Any, *args: Any, **kwargs: Any) -> None:
    _prepare(self, *args, **kwargs)
    kinds = [getattr(hints.HeuristicType, name) for name in _SIMPLE]
    config = self.configs[0] if self.configs else None
    if config is None or self.heuristic_type not in kinds or not isinstance(self.size_hints, dict):
        return
    names = [n for n in config.kwargs if n in ("XBLOCK", "YBLOCK", "ZBLOCK") and n[0].lower() in self.size_hints]
    if not names or any("SPLIT" in name for name in config.kwargs):
        return
    pointwise = self.heuristic_type == hints.HeuristicType.POINTWISE
    least = dict(self.inductor_meta.get("tma_min_block_sizes") or {})
    blocks = {name: config.kwargs[name] for name in names}
    config.kwargs.update(smaller(blocks, self.size_hints, LANES if pointwise else 1, least))


def install() -> None:
    """Choose smaller blocks in this process."""
    CachingAutotuner.__init__ = _prepared  # type: ignore[method-assign]
