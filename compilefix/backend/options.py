"""What users may set of the guard, told apart from what goes to Inductor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from compilefix.errors import UsageError

ON_MISMATCH = ("fallback", "raise", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOptions:
    """How one graph is checked."""

    on_mismatch: str = "fallback"
    """``fallback``: run the graph plainly from then on; ``raise``: `MismatchError`; ``warn``: go on with Inductor's."""

    check_calls: int = 3
    """How many calls are checked from the first one on."""

    sample_every: int = 1000
    """After those, every such call is checked; 0 for none."""

    folder: str | None = None
    """Where graphs that differ are kept; by default ``mismatches`` in the user's state folder."""

    keep_bytes: int = 1 << 30
    """Inputs larger than this in all are not kept; the program is, and says their shapes."""

    def __post_init__(self) -> None:
        if self.on_mismatch not in ON_MISMATCH:
            raise UsageError(f"on_mismatch {self.on_mismatch!r} is not one of {', '.join(ON_MISMATCH)}")
        for name in ("check_calls", "sample_every", "keep_bytes"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise UsageError(f"{name} {value!r} must be a whole number, 0 or more")

    @property
    def root(self) -> Path:
        """The folder in which graphs are kept."""
        if self.folder is not None:
            return Path(self.folder)
        import platformdirs

        return Path(platformdirs.user_state_dir("compilefix")) / "mismatches"


NAMES = frozenset(field.name for field in fields(GuardOptions))


def split(options: Mapping[str, Any], mode: str | None) -> tuple[GuardOptions, dict[str, Any]]:
    """
    Return the guard's own options and the settings for Inductor, those of `mode` included.

    Raises `UsageError` for a value that an option cannot have and for a name that neither knows.
    """
    import torch
    from torch._inductor import config

    known = config.get_config_copy()
    settings = {name: value for name, value in options.items() if name not in NAMES}
    for name in settings:
        if name.replace("-", "_") not in known:
            raise UsageError(
                f"{name!r} is neither an option of the backend ({', '.join(sorted(NAMES))}) nor a setting of "
                f"torch._inductor.config in torch {torch.__version__}"
            )
    if mode is not None:
        modes = torch._inductor.list_mode_options()
        if mode not in modes:
            raise UsageError(f"mode {mode!r} is not one of {', '.join(modes)}")
        settings = dict(modes[mode]) | settings
    return GuardOptions(**{n: v for n, v in options.items() if n in NAMES}), {
        name.replace("-", "_"): value for name, value in settings.items()
    }
