"""Lines of the user's code, out of the stack traces that torch keeps with its nodes."""

from __future__ import annotations

import re

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)(?:\n +(.+))?')
_NOT_THEIRS = re.compile(
    r"/site-packages/|/dist-packages/|/torch/(?:_|nn/|fx/|utils/)|/compilefix/|<eval_with_key>|<frozen"
)


def user_line(stack: str | None) -> str | None:
    """Return ``file:line: source`` of the innermost frame that is the user's own, None where there is no stack."""
    frames = _FRAME.findall(stack or "")
    own = [frame for frame in frames if not _NOT_THEIRS.search(frame[0])]
    shown = own or [frame for frame in frames if "<eval_with_key>" not in frame[0]]
    if not shown:
        return None
    file, line, _, source = shown[-1]
    return f"{file}:{line}" + (f": {source.strip()}" if source else "")
