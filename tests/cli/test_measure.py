"""`compilefix measure` end to end, on the running Python as its own release: nothing is downloaded."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.conftest import FIXTURES, Cli, command, environ
from tests.upgrade.test_executors import kill_a_busy_worker

HERE = Version(metadata.version("torch")).public
OWN = {"COMPILEFIX_ENVIRONMENTS": f"{HERE}={sys.executable}"}

REPRO = '''"""
A relu that is right.

Why: nothing is wrong.
What to do: nothing.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(symptom=Symptom.WRONG_RESULT, stage="inductor", affected=(Affected(last_affected="1.0"),))


def inputs(device: str) -> tuple[torch.Tensor, ...]:
    return (torch.arange(4.0, device=device),)


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x - {shift})
'''


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """Return an empty folder for measured files."""
    folder = tmp_path / "measured"
    folder.mkdir()
    return folder


@pytest.fixture
def repros(tmp_path: Path) -> Path:
    """Return a folder with two healthy repros."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"local_mine_{name}.py").write_text(REPRO.replace("{shift}", "1.0"))
    return folder


def arguments(repros: Path, into: Path, *ids: str) -> list[str]:
    """Return the command line that measures these records here."""
    return ["measure", "--torch", HERE, "--repros", str(repros), "--into", str(into), "--jobs", "1", *ids]


def only(into: Path) -> dict[str, Any]:
    """Return the content of the only measured file."""
    (path,) = into.iterdir()
    raw: dict[str, Any] = json.loads(path.read_text())
    return raw


@pytest.mark.slow
def test_only_what_is_new_or_changed_is_measured(cli: Cli, repros: Path, into: Path) -> None:
    """The file has provenance and no times; a second call runs nothing, a changed program alone runs again."""
    done = cli(*arguments(repros, into, "local-mine-one", "local-mine-two"), **OWN)
    assert done.returncode == 0, done.stderr
    assert "2 measured, 0 measured before, 0 contradict" in done.stdout
    raw = only(into)
    environment = raw["environment"]
    assert environment["torch"] == metadata.version("torch")
    assert {"torch_git", "isa", "cxx", "triton", "python", "machine", "system"} <= set(environment)
    assert "seconds" not in json.dumps(raw)
    rows = raw["outcomes"]
    assert list(rows) == ["local-mine-one", "local-mine-two"]
    assert rows["local-mine-one"]["targets"]["inductor:cpu"] == "ok"
    assert list(rows["local-mine-one"]["beside"]) == ["inductor:cuda-interpreted"]
    again = cli(*arguments(repros, into, "local-mine-one", "local-mine-two"), **OWN)
    assert "0 measured, 2 measured before" in again.stdout
    assert "loading torch" not in again.stderr
    one = repros / "local_mine_one.py"
    one.write_text(REPRO.replace("{shift}", "2.0"))
    two = repros / "local_mine_two.py"
    two.write_text(two.read_text().replace("nothing is wrong", "all is right").replace('"1.0"', '"1.1"'))
    third = cli(*arguments(repros, into, "local-mine-one", "local-mine-two"), **OWN)
    assert "1 measured, 1 measured before" in third.stdout
    after = only(into)["outcomes"]
    assert after["local-mine-one"]["digest"] != rows["local-mine-one"]["digest"]
    assert after["local-mine-two"] == rows["local-mine-two"]


@pytest.mark.slow
def test_an_interrupted_measurement_keeps_what_it_has_and_goes_on(repros: Path, into: Path, tmp_path: Path) -> None:
    """SIGTERM in the middle of the second unit: the first one is on disk, the same command runs the second alone."""
    line = [*command(*arguments(repros, into, "local-mine-one", "local-mine-two")), "--unit", "1"]
    changed = environ(tmp_path / "state", **OWN)
    process = subprocess.Popen(line, env=changed, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for text in process.stderr:
        if "done: " in text:
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert list(only(into)["outcomes"]) == ["local-mine-one"]
    done = subprocess.run(line, env=changed, capture_output=True, text=True, check=False, timeout=600)
    assert "1 measured, 1 measured before" in done.stdout, done.stderr
    assert list(only(into)["outcomes"]) == ["local-mine-one", "local-mine-two"]


@pytest.mark.slow
def test_a_contradiction_is_a_finding_and_a_dead_end_is_tried_twice(cli: Cli, into: Path) -> None:
    """What the record does not say is told and exits with 1; a run that nobody could judge is run again, alone."""
    ids = ("local-fixed-early", "local-exits-early")
    done = cli(*arguments(FIXTURES, into, *ids), **OWN)
    assert done.returncode == 1, done.stderr
    assert f"local-fixed-early on torch {metadata.version('torch')}: fixed-early" in done.stdout
    assert "its record says affected" in done.stdout
    assert "once more, alone: local-exits-early" in done.stderr
    row = only(into)["outcomes"]["local-exits-early"]["targets"]
    assert {cell["program"] for cell in row.values() if isinstance(cell, dict)} == {"unresolved"}
    assert all(cell["reason"] for cell in row.values() if isinstance(cell, dict))


@pytest.mark.slow
def test_a_release_that_does_not_import_is_a_fact_and_no_abort(
    cli: Cli, repros: Path, into: Path, tmp_path: Path
) -> None:
    """A Python without torch: written down with the reason, and the next release is measured all the same."""
    venv.create(tmp_path / "bare", symlinks=True)
    both = {"COMPILEFIX_ENVIRONMENTS": f"1.13.0={tmp_path}/bare/bin/python,{OWN['COMPILEFIX_ENVIRONMENTS']}"}
    done = cli(*arguments(repros, into, "local-mine-one"), "--torch", "1.13.0", **both)
    assert done.returncode == 0, done.stderr
    assert "torch 1.13.0 does not import: ModuleNotFoundError: No module named 'torch'" in done.stdout
    files = {path.name: json.loads(path.read_text()) for path in into.iterdir()}
    (failed,) = (raw for raw in files.values() if "failed" in raw)
    assert failed["failed"].startswith("does not import: ")
    assert failed["environment"]["torch"] == "1.13.0"
    assert failed["outcomes"] == {}
    assert len(files) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ([], "name at least one release"),
        (["--torch", "newest"], "no torch release"),
        (["--torch", "2.9.1", "gh19809"], "did you mean"),
        (["--torch", "2.9.1", "--jobs", "0"], "at least 1"),
        (["--torch", "2.9.1", "--unit", "0"], "at least 1"),
        (["--torch", "2.9.1", "--on", "h100"], "needs --cluster"),
        (["--torch", "2.9.1", "--into", "/nowhere"], "no such folder"),
        (["--torch", "2.9.1", "--gpu", "abacus"], "abacus"),
        (["--torch", "2.9.1", "--memory", "much"], "not a size"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, line: list[str], says: str) -> None:
    """Exit code 2, before anything is installed or run."""
    done = cli("measure", *line)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_malformed_setting_is_a_usage_error(cli: Cli) -> None:
    """An entry without a release names nothing."""
    done = cli("measure", "--torch", "2.9.1", COMPILEFIX_ENVIRONMENTS="/usr/bin/python3")
    assert done.returncode == 2
    assert "must be RELEASE=PYTHON" in done.stderr


def test_installed_environments_are_listed_and_pruned(cli: Cli, tmp_path: Path) -> None:
    """Sizes are told, and interpreters of the user's own are named and left alone."""
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **OWN}
    listed = cli("measure", "--installed", **cache)
    assert listed.returncode == 0, listed.stderr
    assert f"{HERE}  named by you  {sys.executable}" in listed.stdout
    assert "0 MB in " in listed.stdout
    assert cli("measure", "--prune", **cache).stdout == "0 MB freed\n"


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes that have this Python as an environment."""
    import distributed
    from distributed.nanny import Nanny

    changed = environ(tmp_path_factory.mktemp("state"), **OWN)
    options = {"nthreads": 1, "env": {n: changed[n] for n in ("XDG_STATE_HOME", "COMPILEFIX_ENVIRONMENTS")}}
    spec = {name: {"cls": Nanny, "options": options} for name in ("a", "b")}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard": False, "port": 0}}
    with distributed.SpecCluster(workers=spec, scheduler=scheduler, silence_logs=50) as cluster:
        cluster.wait_for_workers(2, timeout=120)
        yield cluster


@pytest.mark.slow
def test_a_cluster_measures_and_a_killed_worker_costs_nothing(
    dask: Any, cli: Cli, repros: Path, into: Path, tmp_path: Path
) -> None:
    """One of two workers is killed in the middle of a unit: every record is in the file, and counted once."""
    for name in ("three", "four"):
        (repros / f"local_mine_{name}.py").write_text(REPRO.replace("{shift}", "1.0"))
    ids = [f"local-mine-{name}" for name in ("one", "two", "three", "four")]
    killer = threading.Thread(target=kill_a_busy_worker, args=(dask,))
    killer.start()
    line = (*arguments(repros, into, *ids), "--unit", "1", "--cluster", dask.scheduler_address)
    done = cli(*line, **OWN)
    killer.join()
    assert done.returncode == 0, done.stderr
    assert "4 measured, 0 measured before" in done.stdout
    assert sorted(only(into)["outcomes"]) == sorted(ids)
    for _ in range(120):
        left = running(str(repros))
        if not left:
            break
        time.sleep(0.5)
    assert left == []  # the check that the killed worker had started ended with it


def running(word: str) -> list[str]:
    """Return the command lines of processes that mention `word`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


@pytest.mark.slow
def test_a_cluster_checks(dask: Any, cli: Cli, repros: Path) -> None:
    """The report is the one of a single machine, in the order of the records."""
    dask.wait_for_workers(2, timeout=120)
    line = ("check", "--repros", str(repros), "local-mine-one", "local-mine-two", "--format", "json")
    done = cli(*line, "--cluster", dask.scheduler_address)
    assert done.returncode == 0, done.stderr
    raw = json.loads(done.stdout)
    assert [row["id"] for row in raw["results"]] == ["local-mine-one", "local-mine-two"]
    assert raw["summary"] == {"clear": 2}
    refused = cli(*line, "--cluster", dask.scheduler_address, "--resume")
    assert refused.returncode == 2
    assert "--cluster does not go with --resume" in refused.stderr
