"""Within Dynamo: guards, side effects, what follows a graph break, callees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compilefix.diagnosis import switches
from compilefix.diagnosis.lab import Probe
from compilefix.diagnosis.localise import Bench, by_settings, raised
from compilefix.diagnosis.result import Culprit
from compilefix.outcome import Did


def localise(bench: Bench) -> tuple[Culprit, ...]:
    """Return the culprits within Dynamo; what could not be told apart is named by the stage alone."""
    found = _guards(bench) or _settings(bench) or _break(bench)
    if found:
        return found
    said, effects = raised(bench), _side_effects(bench)
    calls = _calls(bench) or _callee(bench)
    if said is not None:
        return (replace(said, place=calls[0].place, sites=calls[0].sites) if calls else said,)
    if effects is not None:
        return tuple(replace(effects, op=c.op, place=c.place) for c in calls) or (effects,)
    return calls or (Culprit(stage="eager", how="no part of Dynamo makes it right"),)


def _guards(bench: Bench) -> tuple[Culprit, ...]:
    if not bench.subject.driven:
        return ()
    if not bench.right(bench.probe("compiled anew for each call", dynamo={"fresh": True}))[0]:
        return ()
    named = by_settings(bench, switches.GUARDS, "what guards may leave out")
    if named:
        return named
    how = "right when each call is compiled anew: a guard lets old code run where it must not"
    return (Culprit(stage="eager", subsystem="guards", how=how),)


def _settings(bench: Bench) -> tuple[Culprit, ...]:
    return by_settings(bench, switches.DYNAMIC, "what Dynamo may assume")


def _break(bench: Bench) -> tuple[Culprit, ...]:
    if not bench.bad.facts.get("graph_breaks"):
        return ()
    if not bench.right(bench.probe("what follows a graph break, plainly", dynamo={"no_resume": True}))[0]:
        return ()
    how = "right when the code behind a graph break is not compiled"
    return (Culprit(stage="eager", subsystem="graph_break", op="resume", how=how),)


def _calls(bench: Bench) -> tuple[Culprit, ...]:
    """Find the calls that Dynamo gets wrong: those that Python must do for a right result."""
    listed = sorted(bench.bad.facts.get("calls", []), key=lambda call: call["plain"])
    if not listed:
        return ()

    def ask(chosen: Sequence[dict[str, Any]]) -> Probe:
        names = list(dict.fromkeys(call["op"] for call in chosen))
        words = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
        return bench.probe(f"{words} by Python itself", calls={"plain": [call["key"] for call in chosen]})

    if not bench.right(ask(listed))[0]:
        return ()
    return tuple(
        Culprit(
            stage="eager",
            subsystem="variables",
            op=call["op"],
            sites=(call["op"],),
            place=call["place"],
            how="right when Python does this call, not Dynamo",
        )
        for call in bench.minimal(listed, ask)
    )


def _callee(bench: Bench) -> tuple[Culprit, ...]:
    inlined = [
        key for key in bench.bad.facts.get("inlined", ()) if "site-packages" not in key and not key.startswith("<")
    ]
    if not inlined:
        return ()

    def ask(chosen: Sequence[str]) -> Probe:
        names = ", ".join(key.rsplit(":", 2)[1] for key in chosen[:5])
        return bench.probe(f"{names} plainly", dynamo={"plain": list(chosen)})

    if not bench.right(ask(inlined))[0]:
        return ()
    file, name, line = bench.minimal(inlined, ask)[0].rsplit(":", 2)
    how = f"right when {name} is not compiled"
    place = f"{file}:{line}: {_line(file, int(line))}"
    return (Culprit(stage="eager", subsystem="callee", op=name, sites=(name,), place=place, how=how),)


def _line(file: str, line: int) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def _side_effects(bench: Bench) -> Culprit | None:
    """Tell a run whose results are right, and whose globals, attributes or inputs are not."""
    defects = bench.bad.defects
    if bench.bad.did is not Did.MISMATCH or not defects:
        return None
    if not all(d.leaf.startswith(("global ", "input")) for d in defects):
        return None
    first = defects[0].leaf
    op = first.removeprefix("global ").split("[")[0] if first.startswith("global ") else "input"
    how = f"results are right, {first} is not"
    return Culprit(stage="eager", subsystem="side_effects", op=op, sites=(first,), how=how)
