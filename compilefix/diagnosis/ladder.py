"""The plain program and every stage: which one misbehaves first, and is that a defect at all?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compilefix.diagnosis import switches
from compilefix.diagnosis.lab import Lab, Probe
from compilefix.diagnosis.subject import Subject
from compilefix.oracle import noise
from compilefix.outcome import REFERENCE, Did, Outcome, Target

LISTING = {
    "known_settings": [setting.name for setting in switches.ALL],
    **{name: {"list": True} for name in ("sites", "graphs", "nodes")},
}
"""Switches of the ladder's probes: they change nothing and list what could be switched."""

DRAWING = frozenset({"native_dropout"})
"""Decompositions that draw other random numbers than the op; Inductor leaves them out with ``fallback_random``."""


def climb(lab: Lab, subject: Subject, targets: Sequence[Target]) -> dict[Target, Outcome]:
    """Run the plain program, then every stage side by side, listing on the way what could be switched."""
    from compilefix.runner.protocol import Mode

    devices = dict.fromkeys(t.reference for t in targets)
    plain = [Probe(what="plain, twice, and in float64", target=t, mode=Mode.REFERENCE) for t in devices]
    found = dict(zip(devices, lab.ask(subject, *plain), strict=True))
    if all(outcome.did is Did.OK for outcome in found.values()):
        order = sorted(targets, key=lambda t: -t.rank)  # the longest first
        probes = [Probe(what="as it is", target=t, switches=listing(t)) for t in order]
        probes += [unlowered(t) for t in targets if t == Target("inductor")]  # while that compiles; needed if it is bad
        outcomes = lab.ask(subject, *probes)
        by_target = dict(zip(order, outcomes, strict=False))
        found |= {t: by_target[t] for t in targets}
    return found


def unlowered(target: Target) -> Probe:
    """Return the question whether the program is right when nothing is lowered."""
    return Probe(what="nothing is lowered", target=target, switches={"sites": {"off": ["lowerings|*"]}})


def listing(target: Target) -> dict[str, Any]:
    """Return the switches of a probe that only lists what could be switched on `target`."""
    if target.backend == "eager":
        return {name: told for name, told in LISTING.items() if name != "sites"} | {
            "calls": {"list": True},
            "dynamo": {"list": True},
        }
    return dict(LISTING)


def excused(lab: Lab, subject: Subject, target: Target, bad: Outcome) -> str | None:
    """Say why a difference is rounding and no defect (see `oracle.noise`), None where it is one."""
    if _draws_its_own(lab, subject, target, bad):
        where = "Inductor" if target.backend == "inductor" else "this stage"
        return f"{where} draws other random numbers, by design; the same with torch._inductor.config.fallback_random"
    plain = Target("eager", target.device if not target.interpreted else "cpu")
    if bad.did is not Did.MISMATCH or not noise.can_be(bad.defects) or plain == target:
        return None
    probes = [
        Probe(what="inputs changed in the last digit", target=plain, switches={"nudge": {"seed": seed}})
        for seed in noise.SEEDS
    ]
    if noise.explains([d for outcome in lab.ask(subject, *probes) for d in outcome.differences], bad.defects):
        first = bad.defects[0]
        return f"{first.what} of {first.leaf} differs by {first.worst:.2g}, as plain code does with inputs one ulp off"
    return None


def _draws_its_own(lab: Lab, subject: Subject, target: Target, bad: Outcome) -> bool:
    """Tell whether a difference is only that a stage draws other random numbers than plain code, by design."""
    if bad.did is not Did.MISMATCH or subject.fields.get("random") or not any(d.what == "rng" for d in bad.differences):
        return False
    told: dict[str, Any]
    if target.backend == "inductor":
        told = {"settings": {s.name: s.value for s in switches.NUMERICS if "random" in s.key}}
    else:
        told = {"sites": {"off": [site["key"] for site in bad.facts.get("sites", ()) if site["op"] in DRAWING]}}
    return lab.right(subject, Probe(what="random numbers as plain code draws them", target=target, switches=told))[0]


def first_bad(found: dict[Target, Outcome]) -> Target | None:
    """
    Return the first target, in the order of the stages, that misbehaves.

    Where the plain program raises, a compiled one that raises something else is none: there is nothing to compile.
    """
    raises = any(o.error for t, o in found.items() if t.backend == REFERENCE)
    other = (Did.ERROR, Did.MISMATCH) if raises else ()
    bad = [t for t, o in found.items() if t.backend != REFERENCE and o.did.bad and o.did not in other]
    return min(bad, key=lambda t: (t.dynamic, t.rank, t.device), default=None)
