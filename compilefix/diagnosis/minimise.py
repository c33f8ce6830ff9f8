"""Make the misbehaving program small: operations, then values, shapes, dtypes and flags, with the failure pinned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compilefix.diagnosis import minimise_source, search
from compilefix.diagnosis.lab import Probe, alike
from compilefix.diagnosis.localise import Bench
from compilefix.diagnosis.program import FLOATS, Program, sliced
from compilefix.diagnosis.result import Culprit, Minimal
from compilefix.diagnosis.subject import Subject
from compilefix.issue import Symptom
from compilefix.outcome import Outcome

if TYPE_CHECKING:
    from compilefix.diagnosis.session import Draft

SMALL = (1, 2, 3, 4, 8, 16)


def minimised(bench: Bench, draft: Draft) -> None:
    """Leave the smallest program found in ``draft.minimal``, and nothing where the graph alone does not misbehave."""
    if bench.target.backend == "eager":
        minimise_source.minimised(bench, draft)
        return
    file = bench.subject.folder / "values.pt"
    number = bench.graphs[0] if bench.graphs else 0
    told = {"capture": {"graph": number, "file": str(file)}}
    outcome = bench.lab.ask(bench.subject, bench.probe("capture the graph", **told))[0]
    captured = outcome.facts.get("captured") or {"reason": outcome.reason or "no graph was seen"}
    if "reason" in captured:
        draft.notes.append(f"not made smaller: {captured['reason']}")
        return
    work = Reduction(bench, draft, captured, f"torch.load({str(file)!r}, weights_only=False)")
    try:
        work.run()
    finally:
        draft.minimal = work.minimal()


class Reduction:
    """One reduction: the best program so far, and how a candidate is judged."""

    def __init__(self, bench: Bench, draft: Draft, captured: dict[str, Any], saved: str) -> None:
        self.bench = bench
        self.draft = draft
        self.captured = captured
        self.saved = saved
        self.best: Program | None = None
        self.whole = sliced(captured, captured["lines"])
        self.good: str | None = None
        self.complete = False
        self.fields = dict(bench.subject.fields)
        symptoms = bench.bad.symptoms
        self.symptom = next(s for s in Symptom if s in symptoms)
        self._subjects: dict[str, Subject] = {}

    def run(self) -> None:
        """Reduce until nothing gets smaller."""
        if not self._nodes():
            return
        self._values()
        self._shapes()
        self._literals()
        self._flags()
        self.complete = True

    def minimal(self) -> Minimal | None:
        """Return what was reached; None where the whole graph did not misbehave, or its inputs cannot be written."""
        if self.best is None:
            return None
        if any(i.recipe == "saved" for i in self.best.inputs):
            names = ", ".join(i.name for i in self.best.inputs if i.recipe == "saved")
            self.draft.notes.append(f"no minimal program is written: {names} cannot be written as an expression")
            return None
        return Minimal(
            source=self._text(self.best),
            good=self.good,
            nodes=len(self.best.lines),
            nodes_before=len(self.captured["lines"]),
            elements=self.best.elements,
            elements_before=self.whole.elements,
            complete=self.complete,
        )

    def _text(self, program: Program) -> str:
        culprit = self.draft.culprits[0] if self.draft.culprits else Culprit(stage=self.bench.target.backend)
        cures = sorted((t.width, t.cure.what) for t in self.draft.trials if t.cure.effect.value == "cures")
        fields = {
            "stage": self.bench.target.backend,
            "culprit": culprit.key,
            "ops": tuple(dict.fromkeys(line["op"].rstrip("_") for line in program.lines)),
            **{k: v for k, v in self.fields.items() if k in ("compile", "config", "strict")},
        }
        head = {
            "title": f"Compiled {' and '.join(fields['ops'][:3]) or 'code'}: {self.symptom.value}",
            "why": f"{culprit.triple}; {culprit.how}".rstrip("; ") + ".",
            "todo": (cures[0][1] if cures else "nothing that is known") + ".",
            "symptom": self.symptom.value,
            "stage": self.bench.target.backend,
            "fields": fields,
            "compile": {**self.fields.get("compile", {}), **({"dynamic": True} if self.bench.target.dynamic else {})},
            "config": self.fields.get("config", {}),
            "raises": self.symptom in (Symptom.MISSING_ERROR, Symptom.CRASH),
        }
        return program.text(head, self.saved)

    def _subject(self, program: Program) -> Subject:
        text = self._text(program)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        if name not in self._subjects:
            folder = self.bench.subject.folder / f"candidate-{name}"
            folder.mkdir()
            path = folder / "local_candidate.py"
            path.write_text(text, encoding="utf-8")
            self._subjects[name] = Subject(name=name, path=path, folder=folder, spec={"kind": "file"})
        return self._subjects[name]

    def _first(self, programs: Sequence[Program], what: str) -> int | None:
        """Return the index of a candidate that misbehaves as the subject does, in whatever order they end."""
        pairs = [
            (self._subject(p), Probe(what=f"{what}: {_words(p)}", target=self.bench.target, referred=True))
            for p in programs
        ]

        def holds(i: int, outcome: Outcome) -> bool:
            if outcome.did.good:
                self.good = self._text(programs[i])
            return alike(outcome, self.bench.bad) and self._same_culprit(pairs[i][0])

        return self.bench.lab.first_of(pairs, holds)

    def _same_culprit(self, subject: Subject) -> bool:
        """Tell whether the candidate, too, comes out right without the part that was convicted."""
        culprit = self.draft.culprits[0]
        told = control(culprit)
        if told is None:
            return True
        probe = Probe(what=f"and without {culprit.key}", target=self.bench.target, switches=told, referred=True)
        return self.bench.lab.right(subject, probe)[0]

    def _keep(self, programs: Sequence[Program], what: str) -> bool:
        """Take the first of `programs`, in their order, that misbehaves; two are tried at a time."""
        step = self.bench.lab.jobs
        for start in range(0, len(programs), step):
            found = self._first(programs[start : start + step], what)
            if found is not None:
                self.best = programs[start + found]
                return True
        return False

    def _nodes(self) -> bool:
        lines = self.captured["lines"]
        guess = self._guess()
        if guess and self._keep([sliced(self.captured, guess)], "the suspects alone"):
            lines = guess
        elif not self._keep([self.whole], "the whole graph"):
            self.draft.notes.append("not made smaller: the graph alone does not misbehave in this way")
            return False

        def first(sets: Sequence[tuple[dict[str, Any], ...]]) -> int | None:
            programs = [sliced(self.captured, chosen) for chosen in sets]
            found = self._first(programs, "fewer operations")
            if found is not None:
                self.best = programs[found]
            return found

        search.minimal(lines, first)
        return True

    def _guess(self) -> list[dict[str, Any]]:
        """Return the lines that the culprits point at."""
        culprits = self.draft.culprits
        places = {c.place for c in culprits if c.place}
        ops = {c.op for c in culprits if c.op}
        lines = self.captured["lines"]
        exact = [line for line in lines if line["place"] in places and line["op"].rstrip("_") in ops]
        return exact or [line for line in lines if line["place"] in places]

    def _values(self) -> None:
        """Make inputs by simple expressions: all of them at once first, then one by one."""
        assert self.best is not None
        self._keep(list(self._alike_made(self.best)), "simple values")
        for given in self.best.inputs:
            assert self.best is not None
            now = next(i for i in self.best.inputs if i.name == given.name)
            simpler = now.recipes()[: now.recipes().index(now.recipe)] if now.recipe in now.recipes() else now.recipes()
            made = [self.best.with_inputs(**{now.name: replace(now, recipe=recipe)}) for recipe in simpler]
            self._keep(made, f"simpler {now.name}")

    def _alike_made(self, program: Program) -> Iterator[Program]:
        for wish in (("linspace", "cycle"), ("randn", "cycle"), ("arange", "arange")):
            changes = {}
            for given in program.inputs:
                recipe = next((w for w in wish if w in given.recipes()), None)
                if recipe is not None:
                    changes[given.name] = replace(given, recipe=recipe)
            yield program.with_inputs(**changes)

    def _shapes(self) -> None:
        """Shrink each size wherever it occurs, to the smallest that still misbehaves."""
        assert self.best is not None
        sizes = sorted({n for i in self.best.inputs for n in i.shape if n > 1}, reverse=True)
        for size in sizes:
            smaller = sorted({n for n in (*SMALL, size // 4, size // 2) if 0 < n < size})
            assert self.best is not None
            ends = (False, True) if any(i.recipe in ("saved", "literal") for i in self.best.inputs) else (False,)
            made = [self._resized(self.best, size, n, last=last) for n in smaller for last in ends]
            self._keep([program for program in made if program is not None], f"{size} smaller")

    @staticmethod
    def _resized(program: Program, size: int, to: int, *, last: bool) -> Program | None:
        chosen = [given for given in program.inputs if size in given.shape]
        if not all(given.told.get("plain") for given in chosen):
            return None
        return program.with_inputs(**{given.name: given.narrowed(size, to, last=last) for given in chosen})

    def _literals(self) -> None:
        """Write what is still a captured value as a literal, and unusual dtypes as usual ones."""
        assert self.best is not None
        literal = {
            i.name: replace(i, recipe="literal")
            for i in self.best.inputs
            if i.recipe == "saved" and i.literal is not None
        }
        if literal:
            self._keep([self.best.with_inputs(**literal)], "literal values")
        written = [i for i in self.best.inputs if i.recipe == "literal" and i.dtype in FLOATS]
        if written:
            short = [{i.name: replace(i, digits=digits) for i in written} for digits in (0, 1, 2)]
            self._keep([self.best.with_inputs(**changes) for changes in short], "rounded values")
        for given in self.best.inputs:
            usual = {
                "torch.float16": "torch.float32",
                "torch.bfloat16": "torch.float32",
                "torch.float64": "torch.float32",
            }
            usual |= dict.fromkeys(("torch.int32", "torch.int16", "torch.int8", "torch.uint8"), "torch.int64")
            if given.dtype in usual and given.recipe not in ("saved", "literal", "code"):
                changed = replace(given, dtype=usual[given.dtype])
                self._keep([self.best.with_inputs(**{given.name: changed})], f"{given.name} {changed.dtype}")
            if given.grad and given.recipe != "saved":
                now = next(i for i in self.best.inputs if i.name == given.name)
                self._keep([self.best.with_inputs(**{given.name: replace(now, grad=False)})], "no gradient")

    def _flags(self) -> None:
        """Leave out arguments of torch.compile and settings that do not matter: all at once, else one by one."""
        for group in ("compile", "config"):
            names = list(self.fields.get(group, {}))
            if len(names) > 1 and self._without(group, names):
                continue
            for name in names:
                self._without(group, [name])

    def _without(self, group: str, names: Sequence[str]) -> bool:
        assert self.best is not None
        before = dict(self.fields)
        self.fields[group] = {k: v for k, v in before[group].items() if k not in names}
        left_out = self._keep([self.best], f"without {', '.join(names)}")
        if not left_out:
            self.fields = before
        return left_out


def _words(program: Program) -> str:
    names = [line["op"] for line in program.lines]
    shapes = ", ".join("x".join(map(str, i.shape)) or "1" for i in program.inputs[:4])
    shown = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
    return f"{shown or 'nothing'} of {shapes or 'no inputs'}"


def control(culprit: Culprit) -> dict[str, Any] | None:
    """Return the switches under which a program with this culprit comes out right; None where there are none."""
    if culprit.subsystem in ("lowerings", "codegen"):
        return {"sites": {"off": ["lowerings|*"]}}
    if culprit.subsystem == "decomposition":
        return {"sites": {"off": ["decomposition|*"]}}
    if culprit.subsystem and culprit.subsystem.endswith("passes"):
        return {"sites": {"off": [f"{culprit.subsystem}|{culprit.op}|{n}" for n in range(1, 5)]}}
    if culprit.subsystem == "scheduler" and culprit.op == "fusion":
        return {"fusion": {"none": True}}
    return None
