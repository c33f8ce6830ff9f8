"""Which torch releases have a name, as measured on real wheels (scripts/measure_features.py)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from packaging.version import Version

SINCE = {
    "torch.compile": "2.0.0",
    "torch.compiler": "2.1.0",
    "torch.compiler.cudagraph_mark_step_begin": "2.1.0",
    "torch.compiler.is_compiling": "2.1.0",
    "torch.nn.attention": "2.2.0",
    "torch.compiler.disable": "2.1.0",
    "torch.compiler.is_dynamo_compiling": "2.3.0",
    "torch.compiler.set_stance": "2.6.0",
    "torch.nn.attention.flex_attention": "2.5.0",
    "torch.nn.attention.flex_attention.flex_attention": "2.5.0",
    "torch._dynamo.config.recompile_limit": "2.7.0",
    "torch._inductor.config.deterministic": "2.10.0",
    "torch.nn.functional.grouped_mm": "2.10.0",
    "torch.nn.attention.varlen": "2.10.0",
    "torch.nn.attention.varlen.varlen_attn": "2.10.0",
    "torch.compiler.nonstrict_trace": "2.14.0",
}
"""First release with a name, from release notes, where the wheels that were measured leave a gap."""

GONE = {"torch._six": "2.0.0", "torch._C._cuda_getCurrentRawStream": None}
"""First release without a name; None: which builds have it depends on the build."""


@cache
def _measured() -> tuple[tuple[Version, ...], dict[str, str]]:
    raw = json.loads((Path(__file__).parent / "features.json").read_text(encoding="utf-8"))
    return tuple(Version(v) for v in raw["releases"]), raw["names"]


@cache
def leaves() -> frozenset[str]:
    """Return the last parts of all names that came or went."""
    return frozenset(n.rpartition(".")[2] for n in (*SINCE, *GONE, *_measured()[1], "torch.version.git_version"))


@cache
def known(name: str) -> bool:
    """Tell whether `name` came or went at a release that is known."""
    return name in SINCE or GONE.get(name) is not None or _row(name) is not None


def _row(name: str) -> str | None:
    """Return the measured row of a name that came once or went once; others are the build's matter."""
    row = _measured()[1].get(name)
    came_or_went = row is not None and (row.count("01") + row.count("10")) == 1
    return row if came_or_went else None


@cache
def has(name: str, release: Version) -> bool | None:
    """Tell whether torch `release` has `name`; None where that is not known."""
    parts = name.split(".")
    for length in range(2, len(parts)):  # a name in a module that is not there is not there
        if known(holder := ".".join(parts[:length])) and has(holder, release) is False:
            return False
    if name in SINCE:
        return release >= Version(SINCE[name])
    if gone := GONE.get(name):
        return release < Version(gone)
    row = _row(name)
    if row is None:
        parent = name.rpartition(".")[0]
        return has(parent, release) if known(parent) else None
    releases = _measured()[0]
    before = [bit for v, bit in zip(releases, row, strict=True) if v <= release]
    after = [bit for v, bit in zip(releases, row, strict=True) if v >= release]
    if not before:
        return False if row[0] == "0" else None
    if not after or before[-1] == after[0]:
        return before[-1] == "1"
    return None
