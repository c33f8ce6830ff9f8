"""The release is found in few steps, around what cannot be tested, and only between two ends that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.errors import Exit, UsageError
from compilefix.upgrade import releases
from compilefix.upgrade.bisection import BisectReport, Found, State, Step, bisect

NAMES = tuple(f"2.{minor}.0" for minor in range(16))


class World:
    """What each release does, and which were run."""

    def __init__(self, bad: range, *, skip: tuple[int, ...] = (), known: tuple[int, ...] = ()) -> None:
        self.bad, self.skip, self.free, self.ran = bad, skip, known, []  # type: ignore[var-annotated]

    def step(self, release: str, by: str) -> Step:
        """Return the truth."""
        minor = int(release.split(".")[1])
        found = Found.SKIP if minor in self.skip else Found.BAD if minor in self.bad else Found.GOOD
        return Step(release=release, found=found, by=by, why="why")

    def test(self, release: str) -> Step:
        """Run it."""
        self.ran.append(release)
        return self.step(release, "run")

    def known(self, release: str) -> Step | None:
        """Return what was measured."""
        return self.step(release, "measured before") if int(release.split(".")[1]) in self.free else None


def search(world: World, folder: Path, *, resume: bool = False, find_fix: bool = False) -> BisectReport:
    """Bisect `world`."""
    report = BisectReport(
        subject="x", command="again", resume="more", first=NAMES[0], last=NAMES[-1], find_fix=find_fix
    )
    state = State(folder / "state.json", "key", resume=resume)
    return bisect(NAMES, known=world.known, test=world.test, state=state, report=report, announce=lambda text: None)


@pytest.mark.parametrize("first", range(1, 16))
def test_every_position_is_found_in_logarithmic_steps(first: int, tmp_path: Path) -> None:
    """Both ends, then four of fourteen."""
    world = World(range(first, 16))
    found = search(world, tmp_path)
    assert (found.last_good, found.first_bad) == (f"2.{first - 1}.0", f"2.{first}.0")
    assert world.ran[:2] == ["2.0.0", "2.15.0"]
    assert len(world.ran) <= 6
    assert found.exit_code() is Exit.EXPECTED


def test_the_fix_is_found_with_the_ends_swapped(tmp_path: Path) -> None:
    """The older end is bad."""
    found = search(World(range(9)), tmp_path, find_fix=True)
    assert (found.first_bad, found.last_good) == ("2.8.0", "2.9.0")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [(range(16), "both ends are bad"), (range(3, 5), "both ends are good"), (range(5), "with --find-fix")],
)
def test_ends_that_do_not_differ_end_it(bad: range, problem: str, tmp_path: Path) -> None:
    """Nothing between them is run."""
    world = World(bad)
    found = search(world, tmp_path)
    assert problem in str(found.problem)
    assert found.exit_code() is Exit.INCONCLUSIVE
    assert len(world.ran) == 2


def test_an_end_that_cannot_be_judged_ends_it(tmp_path: Path) -> None:
    """With the reason."""
    assert "2.15.0 cannot be judged: why" in str(search(World(range(3, 16), skip=(15,)), tmp_path).problem)


def test_skipped_releases_are_gone_around_and_told(tmp_path: Path) -> None:
    """What lies in the window and could not be tested is part of the answer."""
    found = search(World(range(8, 16), skip=(6, 7, 8)), tmp_path)
    assert found.window == ("2.5.0", "2.9.0")
    assert {s.release for s in found.skipped()} == {"2.6.0", "2.7.0", "2.8.0"}


def test_what_was_measured_is_not_run(tmp_path: Path) -> None:
    """It narrows the window first."""
    world = World(range(8, 16), known=(0, 6, 10, 15))
    found = search(world, tmp_path)
    assert found.window == ("2.7.0", "2.8.0")
    assert set(world.ran) <= {"2.7.0", "2.8.0", "2.9.0"}
    assert {s.by for s in found.steps} == {"measured before", "run"}


def test_a_second_change_is_told(tmp_path: Path) -> None:
    """The first one is shown."""
    world = World(range(4, 16), known=tuple(range(16)))
    world.bad = range(4, 9)
    world.skip = ()
    truth = world.step
    world.step = lambda release, by: (  # type: ignore[method-assign]
        Step(release=release, found=Found.BAD, by=by) if release == "2.15.0" else truth(release, by)
    )
    found = search(world, tmp_path)
    assert found.window == ("2.3.0", "2.4.0")
    assert "again" in found.warnings[0]


def test_an_interrupted_bisection_is_continued(tmp_path: Path) -> None:
    """No release is run twice."""
    world = World(range(9, 16))
    run = world.test

    def interrupted(release: str) -> Step:
        if len(world.ran) == 3:
            raise KeyboardInterrupt
        return run(release)

    world.test = interrupted  # type: ignore[method-assign]
    first = search(world, tmp_path)
    assert first.interrupted
    assert first.exit_code() is Exit.INTERRUPTED
    before, world.ran = world.ran, []
    world.test = run  # type: ignore[method-assign]
    second = search(world, tmp_path, resume=True)
    assert second.window == ("2.8.0", "2.9.0")
    assert not set(before) & set(world.ran)
    assert {s.by for s in second.steps} == {"run", "run earlier"}
    world.ran = []
    search(world, tmp_path)
    assert len(world.ran) == 6  # without --resume everything is run again


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "key": "other", "steps": []}', '{"schema": 1, "key": "key"}'])
def test_a_damaged_or_foreign_state_is_none(text: str, tmp_path: Path) -> None:
    """It is begun anew."""
    (tmp_path / "state.json").write_text(text, encoding="utf-8")
    assert State(tmp_path / "state.json", "key", resume=True).steps == {}


def test_the_report_survives_json(tmp_path: Path) -> None:
    """What is written is read back."""
    found = search(World(range(8, 16), skip=(7,)), tmp_path)
    assert BisectReport.from_json(found.to_json()) == found


def test_releases_are_limited_and_checked() -> None:
    """Only what lies between the ends, the ends always."""
    assert releases.between("2.9.1", "2.13.0", ["2.11.0"]) == (("2.9.1", "2.11.0", "2.13.0"), "--releases")
    for first, last, limited in (("2.13.0", "2.9.1", []), ("2.9.1", "2.13.0", ["2.14.1"])):
        with pytest.raises(UsageError):
            releases.between(first, last, limited)


def test_without_an_index_the_shipped_list_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the report says so."""
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    names, source = releases.between("2.9.1", "2.13.0")
    assert "2.11.0" in names
    assert "ships" in source
