"""What the scheduler and a worker say to each other: one JSON object each way. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from compilefix.outcome import Outcome, Target


class Mode(str, Enum):
    """Which program of the repro a worker runs."""

    REFERENCE = "reference"
    """The plain program, twice and in float64; leaves its observation in the exchange folder."""

    PROGRAM = "program"
    WORKAROUND = "workaround"
    CLAIM = "claim"
    """What a contract's statement says that the program does; run plainly, by the worker of the reference."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One run: a repro, a target, a mode."""

    repro: str
    """Path of the repro file."""

    target: str
    mode: Mode
    exchange: str
    """Folder private to this repro in this check; the reference's observation lies there."""

    prime: bool = False
    """Run only to fill the disk caches for the next worker; nothing is compared."""

    gpu: str | None = None
    """GPU to compile for where a CPU interprets the kernels."""

    kernels: bool = False
    """The repro's own Triton kernels are interpreted although the target is none that interprets."""

    grid: str = "forward"
    """Order in which the programs of an interpreted launch run, as `cuda_interpreted.orders.parse` reads it."""

    limit: float | None = None
    """Seconds that the run may take, so that kernels that would take longer are refused before they do."""

    scale: float = 1.0
    """What ``inputs(device, scale)`` gets where it takes one."""

    scope: str | None = None
    """Module whose ``scope(record)`` is entered around the run: a kind of workaround, or a probe."""

    argument: str | None = None
    """What the scope is asked to do, passed as its second argument where it takes one."""

    priced: bool = False
    """Measure besides what the workaround costs."""

    seed: int = 0
    memory: int | None = None
    """Limit of private memory in bytes."""

    def to_bytes(self) -> bytes:
        """Serialise."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, raw: bytes) -> Request:
        """Read what `to_bytes` wrote."""
        fields = json.loads(raw)
        return cls(**fields | {"mode": Mode(fields["mode"])})

    @property
    def interpreted(self) -> bool:
        """Whether the worker is one that interprets Triton's kernels."""
        return self.kernels or self.parsed_target.interpreted

    @property
    def parsed_target(self) -> Target:
        """The target as a `Target`."""
        return Target.parse(self.target)


def encode_reply(outcome: Outcome) -> bytes:
    """Serialise a worker's reply."""
    return json.dumps(outcome.to_json(), default=str).encode()


def decode_reply(raw: bytes) -> Outcome:
    """Read a worker's reply; raise `ValueError` where it is none."""
    fields: Any = json.loads(raw)
    if not isinstance(fields, dict) or "outcome" not in fields:
        raise ValueError("not a reply")
    return Outcome.from_json(fields)
