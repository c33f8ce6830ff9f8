"""Find the parts of the compiler without which the program comes out right. Both ends are checked before a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compilefix.diagnosis import frames, search, switches
from compilefix.diagnosis.lab import Lab, Probe
from compilefix.diagnosis.ladder import listing
from compilefix.diagnosis.result import Culprit
from compilefix.diagnosis.subject import Subject
from compilefix.diagnosis.switches import Setting
from compilefix.issue import STAGES, Symptom
from compilefix.outcome import Did, Outcome, Target

NEEDED = ("decompose_", "stable_sort", "fix_auto_functionalized")
"""Passes without which nothing compiles."""

PASSES = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes", "passes")


@dataclass
class Bench:
    """One subject on the first target that misbehaves, and what could be switched there."""

    lab: Lab
    subject: Subject
    target: Target
    bad: Outcome
    graphs: tuple[int, ...] = ()
    """Graphs, of several, that must run plainly for a right result; empty where there is one graph."""

    sites: list[dict[str, Any]] = field(default_factory=list)

    def probe(self, what: str, **told: Any) -> Probe:
        """Return the question whether the program is right with switches set as `told`."""
        return Probe(what=what, target=self.target, switches=told)

    def right(self, *probes: Probe) -> list[bool]:
        """Ask `probes` side by side."""
        return self.lab.right(self.subject, *probes)

    def minimal(self, items: Sequence[Any], ask: Callable[[Sequence[Any]], Probe]) -> tuple[Any, ...]:
        """Return a minimal part of `items` that, switched off, makes the program right; all of them do."""
        return search.minimal(
            items,
            lambda sets: self.lab.first(self.subject, [ask(chosen) for chosen in sets], lambda o: o.did.good),
            self.coarse,
        )

    @property
    def coarse(self) -> int:
        """Into how many parts a search splits: two probes a job before the next round."""
        return 2 * self.lab.jobs


def localise(bench: Bench) -> tuple[Culprit, ...]:
    """Return the culprits, several where only together they make the program right; at least the stage is known."""
    if bench.bad.did in (Did.CRASH, Did.HANG):  # what it saw has gone with it
        bench.bad = replace(bench.bad, facts=_dry_listing(bench) | bench.bad.facts)
    bench.sites = list(bench.bad.facts.get("sites", ()))
    bench.graphs = _graphs(bench)
    from compilefix.diagnosis import localise_dynamo, localise_inductor

    stages: dict[str, Callable[[Bench], tuple[Culprit, ...]]] = {
        "eager": localise_dynamo.localise,
        "aot_eager": _aot,
        "aot_eager_decomp_partition": _decompositions,
        "inductor": localise_inductor.localise,
    }
    found = _caches(bench) or stages[bench.target.backend](bench)
    return found or (_raised(bench) or Culprit(stage=bench.target.backend, how="no switch makes it right"),)


def _dry_listing(bench: Bench) -> dict[str, Any]:
    told = listing(bench.target)
    told["graphs"] = told["graphs"] | {"dry": True}
    return bench.lab.ask(bench.subject, bench.probe("compiled, and run plainly", **told))[0].facts


def _caches(bench: Bench) -> tuple[Culprit, ...]:
    fields = bench.subject.fields
    on = fields.get("caches") == "warm" or any(s.name in fields.get("config", {}) for s in switches.CACHES)
    return by_settings(bench, switches.CACHES, "the disk caches") if on else ()


def _graphs(bench: Bench) -> tuple[int, ...]:
    listed = bench.bad.facts.get("graphs")
    numbers = [g["graph"] for g in listed] if isinstance(listed, list) else []
    if len(numbers) < 2:
        return ()

    def ask(chosen: Sequence[int]) -> Probe:
        return bench.probe(f"graphs {_ranges(chosen)} plainly", graphs={"graphs": list(chosen), "backend": "eager"})

    return bench.minimal(numbers, ask) if bench.right(ask(numbers))[0] else ()


def _ranges(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:8])) + ("…" if len(numbers) > 8 else "")


def by_sites(bench: Bench, subsystems: Sequence[str], *, everything: str) -> tuple[Culprit, ...]:
    """Search the sites of `subsystems`; empty where switching off all of them does not make the program right."""
    chosen = _sites(bench, subsystems)
    if not chosen:
        return ()
    if not bench.right(sites_off(bench, chosen, everything))[0]:
        return ()
    return searched(bench, chosen)


Kinds = dict[tuple[str, str], list[dict[str, Any]]]
"""Sites by subsystem and op or pass."""


def kinds_of(sites: Sequence[dict[str, Any]]) -> Kinds:
    """Return `sites` by subsystem and op or pass."""
    kinds: Kinds = {}
    for site in sites:
        kinds.setdefault((site["subsystem"], site["op"]), []).append(site)
    return kinds


def searched(bench: Bench, sites: Sequence[dict[str, Any]]) -> tuple[Culprit, ...]:
    """Search `sites`, all of which off make the program right: ops and passes as a whole first, then each place."""
    kinds = kinds_of(sites)

    def ask(chosen: Sequence[tuple[str, str]]) -> Probe:
        return sites_off(bench, [site for kind in chosen for site in kinds[kind]])

    guilty = bench.minimal(list(kinds), ask)
    places = [site for kind in guilty for site in kinds[kind]]
    return convicted(bench, bench.minimal(places, lambda part: sites_off(bench, part)))


def alternatives(bench: Bench, sites: Sequence[dict[str, Any]], found: tuple[Culprit, ...]) -> tuple[Culprit, ...]:
    """Return `found` and the ops or passes that, left out in its place, make the program right just as well."""
    if len(found) != 1:
        return found
    left = [site for site in sites if (site["subsystem"], site["op"]) != (found[0].subsystem, found[0].op)]
    if not left or not bench.right(sites_off(bench, left, f"all but {found[0].op} left out"))[0]:
        return found
    more = searched(bench, left)
    together = " together" if len(more) > 1 else ""
    return (*found, *(replace(c, how=f"right as well when this is not applied instead{together}") for c in more))


def sites_off(bench: Bench, sites: Sequence[dict[str, Any]], what: str | None = None) -> Probe:
    """Return the question whether the program is right without `sites`."""
    words = what or f"without {sites[0]['subsystem']} {_named(sites)} ({len(sites)})"
    return bench.probe(words, sites={"off": [site["key"] for site in sites]})


def _named(sites: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(site["op"] for site in sites))
    return ", ".join(names[:6]) + ("…" if len(names) > 6 else "")


def _sites(bench: Bench, subsystems: Sequence[str]) -> list[dict[str, Any]]:
    sites = [s for s in bench.sites if s["subsystem"] in subsystems]
    return [s for s in sites if s["subsystem"] == "lowerings" or not s["op"].startswith(NEEDED)]


def passes_of(bench: Bench) -> list[dict[str, Any]]:
    """Return the sites of passes that can be switched off."""
    return _sites(bench, PASSES)


def lowerings_of(bench: Bench) -> list[dict[str, Any]]:
    """Return the sites of lowerings."""
    return _sites(bench, ("lowerings",))


def convicted(bench: Bench, sites: Sequence[dict[str, Any]]) -> tuple[Culprit, ...]:
    """Return one culprit an op or pass: sites of one of them belong together."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for site in sites:
        grouped.setdefault((site["subsystem"], site["op"]), []).append(site)
    together = "" if len(grouped) == 1 else f", together with {len(grouped) - 1} more"
    return tuple(
        Culprit(
            stage=bench.target.backend,
            subsystem=subsystem,
            op=op,
            sites=tuple(dict.fromkeys(site["key"].split("|", 1)[1] for site in own)),
            place=next((site["place"] for site in own if site["place"]), None),
            how=f"right when {'this is' if len(own) == 1 else 'these are'} not applied{together}",
        )
        for (subsystem, op), own in grouped.items()
    )


def by_settings(bench: Bench, settings: Sequence[Setting], what: str) -> tuple[Culprit, ...]:
    """Try all of `settings` that this torch has at once, then search for those that matter."""
    has = [s for s in settings if _has(bench, s)]
    if not has:
        return ()

    def ask(chosen: Sequence[Setting]) -> Probe:
        told = {setting.name: setting.value for setting in chosen}
        words = ", ".join(f"{s.name.rpartition('.')[2]}={s.value!r}" for s in chosen)
        return bench.probe(words if len(chosen) < 4 else f"{what} off", settings=told)

    if not bench.right(ask(has))[0]:
        return ()
    guilty = bench.minimal(has, ask)
    left = [setting for setting in has if setting not in guilty]
    more = bench.minimal(left, ask) if left and bench.right(ask(left))[0] else ()
    return tuple(_by_setting(bench, s, s in more) for s in (*guilty, *more))


def _by_setting(bench: Bench, setting: Setting, more: bool) -> Culprit:
    subsystem, _, op = setting.key.partition("/")
    how = f"right {'as well ' * more}with {setting.name} = {setting.value!r}"
    return Culprit(stage=bench.target.backend, subsystem=subsystem, op=op, sites=(setting.name,), how=how)


def _has(bench: Bench, setting: Setting) -> bool:
    """Tell whether this torch has a setting, and whether it is not at that value already."""
    known = bench.bad.facts.get("settings", {})
    return bool(known.get(setting.name, setting.value) != setting.value)


def by_nodes(bench: Bench) -> tuple[Culprit, ...]:
    """Search for the operations of Dynamo's graphs that must run plainly for a right result."""
    nodes = [n for n in bench.bad.facts.get("nodes", ()) if not bench.graphs or _graph(n) in bench.graphs]
    if not nodes:
        return ()

    def ask(chosen: Sequence[dict[str, Any]]) -> Probe:
        return bench.probe(f"{_named(chosen)} plainly", nodes={"plain": [node["key"] for node in chosen]})

    if not bench.right(ask(nodes))[0]:
        return ()
    stage = bench.target.backend
    subsystem = {"aot_eager": "functionalization"}.get(stage)
    raised = _raised(bench)
    if raised is not None:
        subsystem = raised.subsystem
    found: dict[str, list[dict[str, Any]]] = {}
    for node in bench.minimal(nodes, ask):
        found.setdefault(node["op"].rstrip("_"), []).append(node)
    return tuple(
        Culprit(
            stage=stage,
            subsystem=subsystem,
            op=op,
            sites=tuple(node["key"] for node in own),
            place=next((node["place"] for node in own if node["place"]), None),
            how="right when this operation runs plainly, between compiled pieces",
        )
        for op, own in found.items()
    )


def _graph(node: dict[str, Any]) -> int:
    return int(node["key"].split("|")[0])


def _raised(bench: Bench) -> Culprit | None:
    """Read the exception's own frames; None where it raised nothing."""
    found = frames.subsystem(bench.bad.facts.get("frames", ())) if bench.bad.error else None
    if found is None or bench.bad.error is None:
        return None
    op = frames.target_in(bench.bad.error[1]) or found[1]
    return Culprit(stage=bench.target.backend, subsystem=found[0], op=op, how="where the exception was raised")


def raised(bench: Bench) -> Culprit | None:
    """Return what the exception's frames say; None where the compiler raised nothing."""
    return _raised(bench) if bench.bad.did is Did.ERROR else None


def _aot(bench: Bench) -> tuple[Culprit, ...]:
    by_setting = by_settings(bench, switches.AOT, "what AOTAutograd may do")
    if by_setting:
        nodes = by_nodes(bench)
        place = nodes[0].place if nodes else None
        return tuple(replace(culprit, place=place) for culprit in by_setting)
    return _partitioner(bench) or by_nodes(bench)


def _decompositions(bench: Bench) -> tuple[Culprit, ...]:
    found = by_sites(bench, ("decomposition",), everything="no decompositions")
    if found:
        return found
    found = by_settings(bench, switches.PARTITIONER, "what the partitioner may do")
    if found:
        return found
    return _partitioner(bench)


def _partitioner(bench: Bench) -> tuple[Culprit, ...]:
    if Symptom.WRONG_GRADIENT not in bench.bad.symptoms:
        return ()
    found = by_settings(bench, switches.PARTITIONER, "what the partitioner may do")
    if found:
        return found
    if not bench.right(bench.probe("the default partitioner", partitioner={"default": True}))[0]:
        return ()
    how = "right with the default partitioner instead of min-cut"
    return (Culprit(stage=bench.target.backend, subsystem="partitioner", op="min_cut", how=how),)


def stage_before(target: Target) -> str | None:
    """Return the last stage before the one that misbehaves; None where Dynamo alone does."""
    position = STAGES.index(target.backend)
    return STAGES[position - 1] if position else None
