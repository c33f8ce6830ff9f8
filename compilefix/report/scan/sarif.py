"""A scan as SARIF 2.1.0, which code-scanning services take."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from compilefix import __version__
from compilefix.scan.finding import RULES, Finding, ScanReport

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/pytorch/pytorch/issues/"


def render(report: ScanReport, *, notes: bool, width: int | None, color: bool) -> str:
    """Return one run with its rules, results with locations and stable fingerprints, and files that were not read."""
    shown = report.findings if notes else report.problems
    used = sorted({f.rule for f in shown})
    seen: Counter[str] = Counter()
    run = {
        "tool": {
            "driver": {
                "name": "compilefix",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, used.index(found.rule), seen) for found in shown],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": line}} for line in report.broken
                ],
            }
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    rule = RULES[code]
    name = "".join(part.capitalize() for part in rule.name.split("-"))
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": rule.about},
        "fullDescription": {"text": f"{rule.about}."},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["torch.compile", rule.name]},
    }


def _result(found: Finding, index: int, seen: Counter[str]) -> dict[str, Any]:
    uri = _uri(found.file)
    key = f"{found.rule}\0{uri}\0{found.text}"
    seen[key] += 1
    fingerprint = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:32]
    region = {"startLine": found.line, "startColumn": found.column + 1}
    if found.end_line:
        region |= {"endLine": found.end_line, "endColumn": found.end_column + 1}
    if found.text and found.end_line == found.line:
        region["snippet"] = {"text": found.text}  # type: ignore[assignment]
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": found.level,
        "message": {"text": found.message},
        "locations": [{"physicalLocation": {"artifactLocation": _location(uri), "region": region}}],
        "partialFingerprints": {"compilefix/v1": fingerprint},
        "properties": {"verdict": found.verdict, "records": list(found.records)},
    }
    numbers = [id.removeprefix("gh") for id in found.records if id.startswith("gh")]
    if numbers:
        result["properties"]["references"] = [_HOME + number for number in numbers]
    return result


def _location(uri: str) -> dict[str, str]:
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _uri(file: str) -> str:
    """Return a path relative to the current folder where it lies below it, else an absolute one; percent-encoded."""
    from urllib.parse import quote

    path = Path(file).absolute()
    try:
        return quote(str(PurePosixPath(path.relative_to(Path.cwd()))))
    except ValueError:
        return path.as_uri()
