"""What JSON reports are made of: plain ASCII that strict parsers read."""

from __future__ import annotations

import json
import math


def dumps(value: object) -> str:
    """
    Return `value` as JSON that ends with a newline; what JSON does not know is written as its text.

    Numbers that JSON does not have become the strings ``nan``, ``inf`` and ``-inf``: strict parsers refuse the rest.
    """
    return json.dumps(strict(value), indent=2, allow_nan=False, default=str) + "\n"


def strict(value: object) -> object:
    """Return `value` with strings for the numbers that JSON does not have, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value
