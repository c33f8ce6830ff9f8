"""All findings of one file, from its text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import PurePath

from compilefix.scan import gates
from compilefix.scan.finding import Finding
from compilefix.scan.judge import Judge
from compilefix.scan.knowledge import Knowledge, common
from compilefix.scan.names import Names
from compilefix.scan.operators import Use, uses
from compilefix.scan.plan import dead_lines, edit_of
from compilefix.scan.regions import Regions
from compilefix.scan.releases import spell

_LINK = re.compile(r"(?:https?://)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)|\b(pytorch/pytorch)#(\d+)")
_IGNORE = re.compile(r"#\s*(?:noqa(?P<noqa>:[\s\w,]*)?|compilefix:\s*ignore(?P<own>\[[^\]]*\])?)", re.IGNORECASE)
_IGNORE_FILE = re.compile(r"^\s*#\s*compilefix:\s*ignore-file\b", re.MULTILINE)
_CODE = re.compile(r"CF\d{3}")


class Text:
    """The lines of a file, and columns in characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines()

    def column(self, line: int, offset: int) -> int:
        """Return the column in characters of a byte offset."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    def between(self, node: ast.AST, end: ast.AST) -> str:
        """Return the source from `node` to `end` on one line."""
        first, last = node.lineno, getattr(end, "end_lineno", 0) or node.lineno  # type: ignore[attr-defined]
        start = self.column(first, node.col_offset)  # type: ignore[attr-defined]
        stop = self.column(last, getattr(end, "end_col_offset", 0) or 0)
        if first == last:
            return str(self.lines[first - 1][start:stop])
        parts = [self.lines[first - 1][start:], *self.lines[first : last - 1], self.lines[last - 1][:stop]]
        return " ".join(part.strip() for part in parts)


def scan_text(file: str, source: str, known: Knowledge) -> list[Finding]:
    """Return the findings of one file in order, those left out that a comment suppresses; raise `SyntaxError`."""
    if _IGNORE_FILE.search(source):
        return []
    text = Text(source)
    found: list[Finding] = list(_links(file, text, known))
    gated = gates.worth_parsing(source)
    named = any(op.rpartition(".")[2] in source for op in known.ops if "__" not in op)
    compiled = named or "compile" in source
    if gated or compiled:
        tree = ast.parse(source)
        names = Names(tree)
        judge = Judge(names, known.minimum, known.maximum, text.lines)
        if gated:
            found += (_gate(file, text, gate, known) for gate in gates.find(names, judge))
        if compiled:
            found += _uses(file, text, Regions(names, judge), known)
    elif PurePath(file).suffix == ".py" and "torch" in source:
        compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    kept = [f for f in found if not _suppressed(f, text)]
    return sorted(kept, key=lambda f: (f.line, f.column, f.rule))


def _gate(file: str, text: Text, gate: gates.Gate, known: Knowledge) -> Finding:
    judged = gate.judgement
    beyond = judged.beyond and not known.bounded
    rule = judged.rule or {"dead-true": "CF101", "dead-false": "CF102", "raises": "CF211"}.get(judged.verdict, "CF100")
    if beyond and judged.rule is None:
        rule = "CF103"
    elif rule == "CF100" and gate.outside is not None:
        rule = "CF104"
    if gate.kind == "requirement" and rule in ("CF101", "CF102"):
        rule = "CF100"
    dead = dead_lines(gate)
    edit = edit_of(gate, known) if rule in ("CF101", "CF102") else None
    return Finding(
        rule=rule,
        file=file,
        line=gate.node.lineno,  # type: ignore[attr-defined]
        column=text.column(gate.node.lineno, gate.node.col_offset),  # type: ignore[attr-defined]
        end_line=getattr(gate.end, "end_lineno", 0),
        end_column=text.column(getattr(gate.end, "end_lineno", 0), getattr(gate.end, "end_col_offset", 0)),
        kind="gate",
        text=text.between(gate.node, gate.end),
        message=_say(gate, known, rule, dead),
        true_for=judged.true_for,
        verdict=judged.verdict,
        edit=edit,
        dead=dead,
        defect=judged.defect,
    )


def _say(gate: gates.Gate, known: Knowledge, rule: str, dead: tuple[int, int] | None) -> str:
    judged = gate.judgement
    supported = _supported(known)
    lines = (
        f"; line{'s' if dead[0] != dead[1] else ''} {_span(dead)} never run{'' if dead[0] != dead[1] else 's'}"
        if dead
        else ""
    )
    if judged.verdict == "build":
        return "depends on how torch was built, not on its release"
    truth = f"true {spell(judged.true_for)}" if judged.true_for is not None else "its releases are not known exactly"
    if gate.kind == "probe" and judged.true_for is None:
        truth = "torch has had this name from some release on, which was not measured"
    match judged.verdict:
        case "dead-true":
            truth = f"always true on {supported}{lines}"
        case "dead-false":
            truth = f"always false on {supported}{lines}"
    if gate.kind == "try-import":
        truth = f"what this probes for by `try`: {truth}"
    if gate.kind == "mark":
        truth = f"skips: {truth}"
    if judged.defect:
        return f"{judged.defect} ({truth})"
    if rule == "CF103":
        return f"{truth}; a later release decides otherwise"
    if rule == "CF104":
        return f"always {'true' if gate.outside else 'false'} here, as the code around it has decided; {truth}"
    return truth


def _supported(known: Knowledge) -> str:
    if known.minimum is None:
        return "every torch" if known.maximum is None else f"torch up to {known.maximum}"
    return f"torch {known.minimum} on" if known.maximum is None else f"torch {known.minimum} to {known.maximum}"


def _span(lines: tuple[int, int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def _links(file: str, text: Text, known: Knowledge) -> Iterator[Finding]:
    if "github.com/" not in text.source and "pytorch#" not in text.source:
        return
    for number, line in enumerate(text.lines, 1):
        for match in _LINK.finditer(line):
            key = f"{match[1] or match[3]}#{match[2] or match[4]}"
            ids = known.links.get(key, ())
            if ids:
                yield _link(file, number, match, ids, known)


def _link(file: str, number: int, match: re.Match[str], ids: tuple[str, ...], known: Knowledge) -> Finding:
    entries = [known.entries[id] for id in ids]
    needed = [e for e in entries if e.concerns]
    gone = not needed and all(e.fixed for e in entries)
    if needed:
        first = needed[0]
        message = f"{first.id}, {first.text}: still concerns {_supported(known)}"
    elif not gone:
        message = f"{entries[0].id}: no torch you support is known to be affected ({entries[0].text})"
    else:
        first = entries[0]
        fixed = f"fixed in {first.fixed}"
        least = f"your minimum is {known.minimum}" if known.minimum is not None else "no torch you support has it"
        message = f"{first.id}: {fixed}; {least}: a workaround for it is dead"
    return Finding(
        rule="CF301" if gone else "CF300",
        file=file,
        line=number,
        column=match.start(),
        end_line=number,
        end_column=match.end(),
        kind="link",
        text=match[0],
        message=message,
        records=ids,
        verdict="dead" if gone else "needed",
    )


def _uses(file: str, text: Text, regions: Regions, known: Knowledge) -> Iterator[Finding]:
    for use in uses(regions.targets, known):
        inside = regions.inside(use.node)
        if inside == "no" and not use.sure:
            continue  # a method of that name on anything
        drop_in = known.drop_ins.get(use.function)
        swap = drop_in is not None and inside != "no" and bool({*drop_in.records} & {*use.records})
        yield Finding(
            rule="CF400" if inside == "no" else "CF402" if common(use.op) else "CF401",
            file=file,
            line=use.node.lineno,  # type: ignore[attr-defined]
            column=text.column(use.node.lineno, use.node.col_offset),  # type: ignore[attr-defined]
            end_line=getattr(use.node, "end_lineno", 0),
            end_column=text.column(getattr(use.node, "end_lineno", 0), getattr(use.node, "end_col_offset", 0)),
            kind="call",
            text=text.between(use.node, use.node),
            message=_say_use(use, inside, regions.origin(use.node), known),
            op=use.op,
            records=use.records,
            verdict="needed",
            inside=inside,
            edit=f"call compilefix.ops.{drop_in.name}" if swap and drop_in is not None else None,
        )


def _say_use(use: Use, inside: str, origin: str, known: Knowledge) -> str:
    where = {"yes": "compiled", "no": "not compiled as far as can be seen", "maybe": "compiled in some runs"}[inside]
    through = f" ({origin})" if origin and inside != "no" else ""
    first = known.entries[use.records[0]]
    more = f" and {len(use.records) - 1} more" if len(use.records) > 1 else ""
    doubt = "" if use.sure else ", if this is a tensor"
    return f"{use.op} is {where}{through}{doubt}: {first.id}{more}, {first.title}"


def _suppressed(found: Finding, text: Text) -> bool:
    for number in {found.line, found.end_line or found.line}:
        line = text.lines[number - 1] if 0 < number <= len(text.lines) else ""
        match = _IGNORE.search(line)
        if match is None or not _in_comment(line, match.start()):
            continue
        codes = match["noqa"] if match["noqa"] is not None else match["own"]
        if codes is None or found.rule in _CODE.findall(codes.upper()):
            return True
    return False


def _in_comment(line: str, position: int) -> bool:
    """Tell whether `position` begins a comment of `line` and is not in a string."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line.lstrip()).readline))
    except (tokenize.TokenError, SyntaxError):
        return True  # part of a statement over several lines
    shift = len(line) - len(line.lstrip())
    return any(t.type == tokenize.COMMENT and t.start[1] + shift <= position for t in tokens)
