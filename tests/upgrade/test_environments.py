"""Environments with other releases: adopted, installed, half-built, failed, removed. The installer is the real one."""

from __future__ import annotations

import json
import multiprocessing
import platform
import shutil
import sys
import threading
import time
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

from compilefix import config
from compilefix.errors import HarnessError, UsageError
from compilefix.upgrade import environments, installer
from compilefix.upgrade.environments import EnvironmentFailedError, Provided
from tests.upgrade import wheels

HERE = Version(metadata.version("torch")).public


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty cache, and an installer that asks no index but the test's."""
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(installer, "expected_size", lambda index_url: 100_000_000)
    return tmp_path / "cache"


def index(tmp_path: Path) -> str:
    """Return an index with a good release, one for CPUs, and one that does not import."""
    builds = {version: wheels.GOOD % version for version in ("9.9.0", "9.8.0+cu900", "9.8.0+cpu")}
    return wheels.index(tmp_path / "index", builds | {"9.7.0": wheels.BROKEN})


def provide(release: str, index_url: str, told: list[str] | None = None) -> Provided:
    """Install from the index of the test."""
    told = told if told is not None else []
    return environments.provide(release, announce=told.append, index_url=index_url, settings={})


def test_an_adopted_interpreter_is_taken_for_its_release_and_no_other() -> None:
    """The user's own Python serves the release that it has; another release, or no Python, is an error."""
    own = {"environments": [f"{HERE}={sys.executable}"]}
    found = environments.provide(HERE, announce=print, settings=own)
    assert (found.python, found.folder, found.size) == (Path(sys.executable), None, 0)
    assert found.torch == metadata.version("torch")
    assert found.python_version == platform.python_version()
    with pytest.raises(UsageError, match="but its torch is"):
        environments.provide("1.13.0", announce=print, settings={"environments": [f"1.13.0={sys.executable}"]})
    with pytest.raises(HarnessError, match="does not exist"):
        environments.provide("1.13.0", announce=print, settings={"environments": ["1.13.0=/nowhere/python"]})
    with pytest.raises(UsageError, match="must be RELEASE=PYTHON"):
        environments.adopted({"environments": ["/usr/bin/python"]})
    with pytest.raises(UsageError, match="no torch release"):
        environments.provide("newest", announce=print)


def test_the_setting_comes_from_the_variable_and_from_pyproject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both name interpreters; a path in pyproject.toml is relative to it, and the variable wins."""
    (tmp_path / "pyproject.toml").write_text('[tool.compilefix]\nenvironments = ["2.9.1=envs/a/bin/python", "x"]\n')
    monkeypatch.delenv("COMPILEFIX_ENVIRONMENTS", raising=False)
    entries = config.load(tmp_path)["environments"]
    assert entries == [f"2.9.1={tmp_path}/envs/a/bin/python", "x"]
    monkeypatch.setenv("COMPILEFIX_ENVIRONMENTS", "2.6.0=/a/python,2.8.0+cpu=/b/python")
    assert environments.adopted(config.load(tmp_path)) == {"2.6.0": Path("/a/python"), "2.8.0": Path("/b/python")}


@pytest.mark.slow
def test_a_release_is_installed_once_with_its_size_and_removed(cache: Path, tmp_path: Path) -> None:
    """Size and time are told before, the folder is used again, a half-built one is not, and prune frees it."""
    told: list[str] = []
    url = index(tmp_path)
    first = provide("9.9.0", url, told)
    assert (first.torch, first.torch_git) == ("9.9.0", "0" * 40)
    assert "installing torch 9.9.0" in told[0]
    assert "on disk" in told[0]
    assert "is ready" in told[-1]
    assert first.folder is not None
    assert first.size == pytest.approx(installer.disk_size(first.folder), rel=0.01)
    assert provide("9.9.0", url) == first
    assert environments.installed() == (first,)
    (first.folder / environments.MARK).unlink()  # as if it had been killed in the middle
    (first.folder / "left over").write_text("")
    assert environments.installed() == ()
    assert provide("9.9.0", url).torch == "9.9.0"
    assert not (first.folder / "left over").exists()
    assert environments.prune(["9.9.1"]) == 0
    assert environments.prune(["9.9.0"]) > 10_000
    assert environments.installed() == ()
    assert not first.folder.exists()


@pytest.mark.slow
def test_a_build_for_cpus_is_taken_where_the_index_has_one(cache: Path, tmp_path: Path) -> None:
    """A CUDA build of the same release is several times the size."""
    assert provide("9.8.0", index(tmp_path)).torch == "9.8.0+cpu"


@pytest.mark.slow
def test_what_does_not_install_or_import_is_a_fact_and_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    """The reason is that of the installer or of the import."""
    url = index(tmp_path)
    with pytest.raises(EnvironmentFailedError, match=r"torch 9\.6\.0 does not install: .*torch==9\.6\.0"):
        provide("9.6.0", url)
    with pytest.raises(EnvironmentFailedError) as caught:
        provide("9.7.0", url)
    assert caught.value.reason == "does not import: ImportError: libtorch_cpu.so: cannot open shared object file"
    assert list(environments.root().glob("torch-*")) == []


def test_a_full_disk_is_no_fact_about_a_release(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before anything is downloaded."""
    monkeypatch.setattr(installer, "expected_size", lambda index_url: 10**18)
    with pytest.raises(HarnessError, match="no room for torch"):
        provide("9.9.0", "file:///nowhere")


@pytest.mark.slow
def test_an_index_that_does_not_answer_is_no_fact_about_a_release(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port where nothing listens: the harness failed."""
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(HarnessError, match="through no fault of the release"):
        provide("9.9.0", "http://127.0.0.1:9/simple")


def _build(url: str, results: multiprocessing.Queue[tuple[str, float]]) -> None:
    installer.expected_size = lambda index_url: 100_000_000  # type: ignore[assignment]
    told: list[str] = []
    environments.provide("9.9.0", announce=told.append, index_url=url, settings={})
    results.put((" ".join(told), time.time()))


@pytest.mark.slow
def test_two_processes_build_the_same_release_once(cache: Path, tmp_path: Path) -> None:
    """The second waits for the first, says so and takes what it built."""
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue[tuple[str, float]] = context.Queue()
    both = [context.Process(target=_build, args=(index(tmp_path), results)) for _ in range(2)]
    for process in both:
        process.start()
    texts = [results.get(timeout=120)[0] for _ in both]
    for process in both:
        process.join()
    assert sum("installing torch 9.9.0" in text for text in texts) == 1
    assert sum("waiting for it" in text for text in texts) == 1


def test_an_environment_that_is_being_built_is_not_removed(cache: Path) -> None:
    """Prune leaves what another process holds the lock of."""
    folder = environments.root() / "torch-9.9.0-py311"
    folder.mkdir(parents=True)
    told: list[str] = []
    with environments._lock(folder) as mine:
        assert mine
        thread = threading.Thread(target=lambda: environments.prune(announce=told.append))
        thread.start()
        thread.join()
        assert folder.exists()
    assert told == ["torch 9.9.0 is being built by another process: kept"]
    environments.prune()
    assert not folder.exists()


def test_a_mark_without_its_python_does_not_count(cache: Path) -> None:
    """An environment whose interpreter is gone is built anew."""
    folder = environments.root() / "torch-9.9.0-py311"
    folder.mkdir(parents=True)
    mark = {"release": "9.9.0", "python": "bin/python", "size": 1, "torch": "9.9.0", "torch_git": None}
    (folder / environments.MARK).write_text(json.dumps(mark | {"python_version": "3.11.7"}))
    assert environments.installed() == ()
    (folder / "bin").mkdir()
    shutil.copy(sys.executable, folder / "bin" / "python")
    assert [one.release for one in environments.installed()] == ["9.9.0"]
