"""The user's packages are laid over the environment of a release, which stays as it is."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix.errors import UsageError
from compilefix.upgrade import commands, overlay
from compilefix.upgrade.environments import EnvironmentFailedError
from tests.upgrade import wheels

HERE = Version(metadata.version("torch")).public


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adopt the running Python, with a cache of its own and no index."""
    monkeypatch.setenv("COMPILEFIX_ENVIRONMENTS", f"{HERE}={sys.executable}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("PIP_FIND_LINKS", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
def test_a_package_is_there_and_the_environment_is_as_before(tmp_path: Path) -> None:
    """torch comes from below, the package from above; a second call builds nothing."""
    wheels.index(tmp_path / "index", {})
    wheel = next((tmp_path / "index" / "tomli").glob("*.whl"))
    told: list[str] = []
    at = overlay.place(HERE, [str(wheel)], announce=told.append)
    code = "import torch, tomli, importlib.metadata as m; assert m.version('tomli') == '99.0', tomli"
    done = commands.run(at, ["python", "-c", code], cwd=tmp_path)
    assert done.passed, done
    assert done.torch == metadata.version("torch")
    below = {d.metadata["Name"]: d.version for d in metadata.distributions()}
    assert below.get("tomli") != "99.0"
    before = len(told)
    assert overlay.place(HERE, [str(wheel)], announce=told.append) == at
    assert len(told) == before
    with pytest.raises(EnvironmentFailedError, match="with your packages"):
        overlay.place(HERE, ["compilefix-has-no-such-package"], announce=told.append)


def test_without_packages_it_is_the_environment_itself(tmp_path: Path) -> None:
    """Nothing is built."""
    at = overlay.place(HERE, announce=lambda text: None)
    assert (at.python, at.first) == (Path(sys.executable), ())
    with pytest.raises(UsageError):
        overlay.place(HERE, [], [tmp_path / "requirements.txt"], announce=lambda text: None)
