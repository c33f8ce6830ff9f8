"""``--index-url`` reaches the installer from `bisect` and `upgrade`: the real one; the index is a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.upgrade import wheels

COMMAND = ("python", "-c", "import torch; assert torch.__version__ < '9.9', 'too new'")
BISECT = ("bisect", "--good", "9.8.0", "--bad", "9.9.0", "--releases", "9.8.0,9.9.0")


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an index with two releases, for an installer that knows no other and keeps nothing."""
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PIP_INDEX_URL", "UV_INDEX_URL"):
        monkeypatch.setenv(name, (tmp_path / "no index").as_uri())
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return wheels.index(tmp_path / "index", {version: wheels.GOOD % version for version in ("9.8.0", "9.9.0")})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "behind", "code", "told"),
    [
        (BISECT, COMMAND, 0, "9.9.0"),
        (("upgrade", "--from", "9.8.0", "--to", "9.9.0"), COMMAND, 1, "too new"),
        ((*BISECT, "gh198094", "--measure"), (), 3, "torch 9.8.0 is ready"),  # but no check runs on what is in it
    ],
    ids=["bisect a command", "upgrade a command", "bisect a record"],
)
def test_releases_come_from_the_index_that_is_named(
    cli: Cli, url: str, arguments: tuple[str, ...], behind: tuple[str, ...], code: int, told: str
) -> None:
    """Both releases are installed from there and the command runs on them."""
    done = cli(*arguments, "--index-url", url, *(("--", *behind) if behind else ()))
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr
    assert "torch 9.8.0 is ready" in done.stderr
    assert ("torch 9.9.0 is ready" in done.stderr) or not behind
