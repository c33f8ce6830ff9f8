"""Within Inductor: passes, lowerings, fusion, scheduling, generated code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from compilefix.diagnosis import switches
from compilefix.diagnosis.lab import Probe
from compilefix.diagnosis.ladder import unlowered
from compilefix.diagnosis.localise import (
    Bench,
    alternatives,
    by_nodes,
    by_settings,
    kinds_of,
    lowerings_of,
    passes_of,
    raised,
    searched,
    sites_off,
)
from compilefix.diagnosis.result import Culprit
from compilefix.outcome import INTERPRETED, Did, Target


def localise(bench: Bench) -> tuple[Culprit, ...]:
    """
    Return the culprits within Inductor.

    A graph that comes out right as soon as none of its operations is lowered is right when the passes are through with
    it: then what follows them is at fault, even where leaving out a pass hides it.
    """
    passes, lowerings = passes_of(bench), lowerings_of(bench)
    asked = [sites_off(bench, passes, "no passes")] if passes else []
    lowered = bench.right(unlowered(bench.target))[0]
    if lowered and lowerings:
        found = searched(bench, lowerings)
        every = len(kinds_of(lowerings)) > 1 and len(found) == len(kinds_of(lowerings))
        said = raised(bench) if every else None  # it is none of them where each is guilty
        return found if said is None else (said,)
    if asked and bench.right(*asked)[0]:
        return alternatives(bench, passes, searched(bench, passes))
    return _rest(bench)


def refine(bench: Bench, found: tuple[Culprit, ...]) -> tuple[Culprit, ...]:
    """Tell the lowering of an op from its fusion, from scheduling, and from the code that is written for it."""
    if not found or found[0].stage != "inductor" or found[0].subsystem != "lowerings":
        return found
    scheduled = by_settings(bench, switches.SCHEDULER, "what the scheduler may do")
    if scheduled:
        return tuple(replace(culprit, place=found[0].place) for culprit in scheduled)
    if bench.right(bench.probe("nothing is fused", fusion={"none": True}))[0]:
        return _fusion(bench, found)
    written = _written_wrong(bench)
    if written is not None:
        return tuple(replace(c, subsystem="codegen", how=f"right when not lowered, and right {written}") for c in found)
    return found


def _written_wrong(bench: Bench) -> str | None:
    """Say where the same lowering comes out right: then the C++ that is written for it is wrong. None: nowhere."""
    if bench.target.interpreted or bench.target.device != "cpu":
        return None
    if bench.subject.spec["kind"] != "live":  # the parent of interpreting probes is no fork of the caller
        target = Target("inductor", INTERPRETED, bench.target.dynamic)
        cuda = bench.lab.ask(bench.subject, Probe(what="the code for CUDA", target=target))[0]
        if cuda.did is not Did.UNSUPPORTED:
            return "in the code for CUDA, interpreted" if cuda.did.good else None
    scalar = bench.right(bench.probe("no vectorised code", settings=switches.CODEGEN[0].told))[0]
    return "without vectorised code" if scalar else None


def _fusion(bench: Bench, found: tuple[Culprit, ...]) -> tuple[Culprit, ...]:
    """Find the buffers that must not share a kernel: first one that is left alone, then its partner."""
    listing = bench.lab.ask(bench.subject, bench.probe("which buffers are fused", fusion={"list": True}))[0]
    pairs = listing.facts.get("pairs", [])
    names = list(dict.fromkeys(name for pair in pairs for name in pair["pair"]))
    whole = replace(found[0], subsystem="scheduler", op="fusion", how="right when nothing is fused")

    def alone(chosen: Sequence[str]) -> Probe:
        return bench.probe(f"{', '.join(chosen[:4])} not fused", fusion={"alone": list(chosen)})

    if not names or not bench.right(alone(names))[0]:
        return (whole,)
    kept = bench.minimal(names, alone)
    partners = [p for p in pairs if set(kept) & set(p["pair"])]

    def apart(chosen: Sequence[dict[str, Any]]) -> Probe:
        words = "; ".join(" with ".join(p["ops"]) for p in chosen[:3])
        return bench.probe(f"not fused: {words}", fusion={"pairs": [p["pair"] for p in chosen]})

    if partners and bench.right(apart(partners))[0]:
        guilty = bench.minimal(partners, apart)
        sites = tuple(f"{' with '.join(p['ops'])} ({' and '.join(p['pair'])})" for p in guilty)
        return (replace(whole, sites=sites, how="right when these two do not share a kernel"),)
    return (replace(whole, sites=tuple(kept), how="right when this buffer has a kernel of its own"),)


def _rest(bench: Bench) -> tuple[Culprit, ...]:
    """Neither passes nor lowerings: settings, then the operations one by one, then the exception's own frames."""
    settings = (*switches.SCHEDULER, *switches.CODEGEN, *switches.LAYOUT, *switches.NUMERICS)
    found = by_settings(bench, settings, "scheduling, code generation and layouts")
    if not found and bench.right(bench.probe("nothing is fused", fusion={"none": True}))[0]:
        found = _fusion(bench, (Culprit(stage="inductor"),))
    if found:
        return found
    nodes = by_nodes(bench)
    said = raised(bench)
    if said is not None and nodes:
        return (replace(said, op=said.op or nodes[0].op, place=nodes[0].place, sites=nodes[0].sites),)
    return nodes or ((said,) if said is not None else ())
