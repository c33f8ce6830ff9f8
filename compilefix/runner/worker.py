"""The child: load one repro, run one target, write one reply."""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from compilefix import registry
from compilefix.cuda_interpreted.problems import cpu_only, limit_of, too_large
from compilefix.issue import Contract, Known, Symptom
from compilefix.outcome import Did, Difference, Outcome, defects
from compilefix.runner.protocol import Mode, Request, encode_reply
from compilefix.settings import MissingSettingError
from compilefix.text import first_line

OBSERVATION = "reference.pickle"
SHRUNK = 0.125
"""Scale of the inputs where the full ones are too large for the interpreter and the repro takes a scale."""

MESSAGE = 8000
"""Characters of an exception's message that are kept; a C++ compiler's log can be megabytes."""

RAISING_REFERENCE = (Symptom.MISSING_ERROR, Symptom.CRASH, Symptom.ERROR)
"""Symptoms whose reference may raise; for all others a plain program that raises shows nothing."""

SLIPS = ("NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError", "SyntaxError")
"""Exceptions of a plain program that say that the program itself is broken."""


def main(request: Request, reply: int) -> None:
    """Serve `request` and write the reply to the descriptor `reply`."""
    limit(request.memory)
    start = time.perf_counter()
    outcome = serve(request)
    outcome = replace(outcome, seconds=round(time.perf_counter() - start, 4))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    remaining = memoryview(encode_reply(outcome))
    while remaining:
        remaining = remaining[os.write(reply, remaining) :]


def limit(memory: int | None) -> None:
    """Cap private memory, so that a program that allocates without end hurts nobody else; no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None and sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def serve(request: Request) -> Outcome:
    """Run one request in this process and say what happened."""
    from compilefix.runner import execution

    repro = Path(request.repro)
    try:
        module = execution.load(repro)
    except Exception as error:
        if reason := execution.environment_trouble(error, request.memory):
            return Outcome(did=Did.UNRESOLVED, reason=reason)
        return Outcome(
            did=Did.UNRESOLVED, reason=f"{repro.name} does not import: {type(error).__name__}: {first_line(str(error))}"
        )
    known = execution.record_of(module)
    absent = execution.missing_names(known.requires)
    if absent:
        return Outcome(did=Did.UNSUPPORTED, reason=f"this torch has no {', '.join(absent)}")
    try:
        if request.mode is Mode.REFERENCE:
            return _reference(request, known)
        return _compiled(request, known, module)
    except MissingSettingError as error:
        return Outcome(did=Did.UNSUPPORTED, reason=str(error))
    except MemoryError as error:
        return Outcome(did=Did.UNRESOLVED, reason=execution.environment_trouble(error, request.memory))


def _reference(request: Request, known: Known) -> Outcome:
    from compilefix.oracle import compare
    from compilefix.runner import execution

    path = Path(request.repro)
    first, second = (execution.observe(execution.load(path), request, None) for _ in range(2))
    if first.raised is not None and (trouble := execution.raised_trouble(first.raised, request.memory)):
        return Outcome(did=Did.UNRESOLVED, reason=trouble[1])
    error = _error(first)
    unstable = compare(second, first, strict=("strides", "rng", "bitwise"))
    if unstable:
        return Outcome(
            did=Did.UNRESOLVED,
            reason=f"not deterministic: two plain runs differ in {unstable[0].what} of {unstable[0].leaf}",
            differences=unstable,
        )
    may_raise = isinstance(known, Contract) or known.symptom in RAISING_REFERENCE
    if first.raised is not None and (not may_raise or first.raised.type in SLIPS):
        return Outcome(
            did=Did.UNRESOLVED,
            reason=f"the plain program raises {_line(first)}; there is nothing to compare with",
            error=error,
        )
    precise = None if first.raised is not None else execution.observe_in_float64(path, request)
    facts: dict[str, Any] = {"float64": precise is not None}
    if isinstance(known, Contract):
        claim = _claim(request, known, first)
        if isinstance(claim, Outcome):
            return claim
        facts |= claim
    with Path(request.exchange, OBSERVATION).open("wb") as file:
        pickle.dump((first, precise), file)
    reason = "raises, as it should" if error else None
    return Outcome(did=Did.OK, reason=reason, error=error, facts=facts)


def _claim(request: Request, known: Contract, plain: Any) -> dict[str, Any] | Outcome:
    """
    Hold what the statement says against what the plain program did.

    Returns the facts ``claim`` and, where the statement is wrong, ``against``; an outcome where the claim is of no use.
    """
    from compilefix.oracle import compare
    from compilefix.runner import execution

    asked = replace(request, mode=Mode.CLAIM)
    told, again = (execution.observe(execution.load(Path(request.repro)), asked, None) for _ in range(2))
    if told.raised is not None and (trouble := execution.raised_trouble(told.raised, request.memory)):
        return Outcome(did=Did.UNRESOLVED, reason=f"the claim: {trouble[1]}")
    if told.raised is not None and told.raised.type in SLIPS:
        return Outcome(did=Did.UNRESOLVED, reason=f"the claim is broken: {_line(told)}", error=_error(told))
    unstable = compare(again, told, strict=("strides", "rng", "bitwise"))
    if unstable:
        where = f"{unstable[0].what} of {unstable[0].leaf}"
        return Outcome(did=Did.UNRESOLVED, reason=f"not deterministic: two runs of the claim differ in {where}")
    # without a float64 run: it would excuse a claim of the exact value where the plain program rounds
    against = defects(compare(told, plain, strict=known.strict))
    if not against:
        return {"claim": True}
    first = against[0]
    place = f" at {list(first.where)}" if first.where else ""
    return {"claim": False, "against": f"{first.what} of {first.leaf}{place}: told {first.got}, is {first.want}"}


def _compiled(request: Request, known: Known, module: Any) -> Outcome:
    from compilefix.oracle import compare
    from compilefix.runner import execution

    if request.parsed_target.interpreted:
        _set_interpreter(request)
    with Path(request.exchange, OBSERVATION).open("rb") as file:
        want, precise = pickle.load(file)
    with execution.settings(known, workaround=request.mode is Mode.WORKAROUND):
        if execution.caches_graphs(known):
            execution.use_private_caches(
                Path(request.exchange, f"{request.target}-{request.mode.value}".replace(":", "-"))
            )
        enter = _scope(request)
        with enter():
            got = execution.observe(module, request, execution.compiler(known, request.parsed_target))
        if request.parsed_target.interpreted and _too_large(got) and execution.scales(module):
            request = replace(request, scale=SHRUNK)
            want, precise = _small_reference(request)
            with enter():
                again = execution.load(Path(request.repro))
                got = execution.observe(again, request, execution.compiler(known, request.parsed_target))
        facts = execution.counters()
        if hasattr(enter, "facts"):
            facts |= enter.facts()
        if request.prime:
            return Outcome(did=Did.OK)
        inductor = request.parsed_target.backend == "inductor"
        measures = request.mode is Mode.PROGRAM and request.scope is None and inductor
        if measures and hasattr(module, "facts"):
            facts |= module.facts(request.parsed_target.data_device)
        if request.parsed_target.interpreted:
            facts |= {"gpu": request.gpu} | _not_followed()
            facts |= {"grid": request.grid} if request.grid != "forward" else {}
            facts |= {"scale": request.scale} if request.scale != 1 else {}
    error = _error(got)
    own = execution.names_compiler(known)
    if got.raised is not None and request.argument is not None:
        facts |= {"frames": list(got.raised.frames)}
    if got.raised is not None and (trouble := execution.raised_trouble(got.raised, request.memory, own_compiler=own)):
        return Outcome(did=trouble[0], reason=trouble[1], error=error)
    if got.raised is not None and request.parsed_target.interpreted and (reason := limit_of(got.raised.message)):
        return Outcome(did=Did.UNSUPPORTED, reason=reason, error=error)
    if want.raised is not None and request.parsed_target.interpreted and (reason := cpu_only(want.raised.message)):
        return Outcome(did=Did.UNSUPPORTED, reason=reason, error=error)
    differences = compare(got, want, precise, strict=known.strict)
    differences += _unexpected(known, facts, measures=measures, fewer=request.scope is not None)
    if request.parsed_target.interpreted:
        differences += _broken_rules()
    did = _did(got, want, differences)
    if request.priced and got.raised is None and not did.bad and not hasattr(module, "drive"):
        facts["price"] = _price(request, known, enter)
    reason = _reason(differences)
    if request.scale != 1:
        reason = "; ".join([*filter(None, [reason]), f"inputs shrunk to {request.scale:g} of their size"])
    return Outcome(did=did, reason=reason, differences=differences, error=error, facts=facts)


def _set_interpreter(request: Request) -> None:
    from compilefix.cuda_interpreted import launch, orders, size

    launch.ORDER[:] = [orders.parse(request.grid)]
    size.BUDGET.set(request.limit)


def _not_followed() -> dict[str, Any]:
    from compilefix.cuda_interpreted import backend

    return {"not followed": sorted(backend.NOT_FOLLOWED)} if backend.NOT_FOLLOWED else {}


def _too_large(got: Any) -> bool:
    return got.raised is not None and too_large(got.raised.message)


def _small_reference(request: Request) -> Any:
    """Return the plain program's observation of small inputs, and that in float64; forget the large ones."""
    import torch

    from compilefix.cuda_interpreted import memory
    from compilefix.runner import execution, warm

    torch._dynamo.reset()
    warm.forget_counters()
    memory.reset()
    path = Path(request.repro)
    want = execution.observe(execution.load(path), replace(request, mode=Mode.PROGRAM), None)
    return want, None if want.raised is not None else execution.observe_in_float64(path, request)


def _scope(request: Request) -> Callable[[], AbstractContextManager[Any]]:
    """Return what enters the workaround of `request`, or enters nothing."""
    if request.scope is None:
        return nullcontext
    arguments = [registry.read(Path(request.repro)), *([] if request.argument is None else [request.argument])]
    return _Reentered(importlib.import_module(request.scope).scope(*arguments))


class _Reentered:
    """A scope that is entered for every run; `facts` are what it has seen, where it looks."""

    def __init__(self, scope: Any) -> None:
        self._scope = scope
        if hasattr(scope, "facts"):
            self.facts = scope.facts

    def __call__(self) -> AbstractContextManager[Any]:
        return cast("AbstractContextManager[Any]", self._scope)


def _price(request: Request, known: Known, enter: Callable[[], AbstractContextManager[Any]]) -> dict[str, Any]:
    """Measure the price; empty, with the reason, where the two sides cannot be run again and again."""
    from compilefix.runner import execution, price

    module = execution.load(Path(request.repro))
    compile = execution.compiler(known, request.parsed_target)
    own = request.mode is Mode.WORKAROUND
    try:
        return dict(
            price.price(
                module,
                (replace(request, mode=Mode.PROGRAM), compile, lambda: execution.settings(known, workaround=False)),
                (request, compile, (lambda: execution.settings(known, workaround=True)) if own else enter),
            )
        )
    except Exception as error:  # any program may refuse to run twice; then there is no price, and that is said
        return {"unpriced": f"{type(error).__name__}: {first_line(str(error))}"}


def _error(observation: Any) -> tuple[str, str] | None:
    raised = observation.raised
    return (raised.type, raised.message[:MESSAGE]) if raised is not None else None


def _line(observation: Any) -> str:
    return f"{observation.raised.type}: {first_line(observation.raised.message)}"


def _did(got: Any, want: Any, differences: tuple[Difference, ...]) -> Did:
    if got.raised is not None and want.raised is None:
        return Did.ERROR
    if got.raised is None and want.raised is not None:
        return Did.MISSING_ERROR
    if defects(differences):
        return Did.MISMATCH
    return Did.NUMERICS if any(d.what == "numerics" for d in differences) else Did.OK


def _reason(differences: tuple[Difference, ...]) -> str | None:
    bad = defects(differences)
    if not bad:
        return None
    first = bad[0]
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    place = f" at {list(first.where)}" if first.where else ""
    return f"{first.what} of {first.leaf}{place}: got {first.got}, want {first.want}{more}"


def _unexpected(known: Known, facts: dict[str, Any], *, measures: bool, fewer: bool) -> tuple[Difference, ...]:
    """Hold facts against what the record expects; with `fewer`, less breaks or recompiles than expected are fine."""
    counted = {"graph_breaks": Symptom.GRAPH_BREAK, "recompiles": Symptom.RECOMPILE}
    found = []
    for name, want in known.expects.items():
        if name not in facts:
            if measures:
                raise LookupError(f"expects names {name!r}, which neither the harness nor facts() measures")
            continue
        if facts[name] != want and not (fewer and name in counted and facts[name] < want):
            symptom = counted.get(name, known.symptom)
            found.append(Difference(what="facts", leaf=name, got=facts[name], want=want, symptom=symptom))
    return tuple(found)


def _broken_rules() -> tuple[Difference, ...]:
    """Return what kernels did to memory that no kernel may do, whether or not the values came out right."""
    from compilefix.cuda_interpreted import memory

    return tuple(
        Difference(what=f.what, leaf=f"kernel {f.kernel}", got=str(f), want="none", note=f.note)
        for f in memory.findings()
    )


def guarded(request: Request, reply: int) -> None:
    """Serve `request`; turn a failure of the harness itself into an `unresolved` reply with its traceback."""
    import traceback

    try:
        main(request, reply)
    except Exception as error:  # the one broad catch: whatever went wrong here is ours, and is reported as such
        text = f"the harness failed: {type(error).__name__}: {error}"
        outcome = Outcome(did=Did.UNRESOLVED, reason=text, stderr=traceback.format_exc())
        os.write(reply, encode_reply(outcome))


if __name__ == "__main__":
    from compilefix.runner import warm

    order = Request.from_bytes(sys.stdin.buffer.read())
    warm.single_thread() if order.mode is Mode.REFERENCE else warm.prepare()
    if order.interpreted and order.gpu is not None:
        warm.interpret(order.gpu)
    guarded(order, int(sys.argv[1]))
    os._exit(0)
