"""Gate arithmetic: which torch a record calls affected, and which records are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from packaging.version import Version

from compilefix.issue import Affected, Contract, Expectation, Issue, Program, Symptom, Truth

AFFECTED, UNAFFECTED, UNKNOWN = Expectation.AFFECTED, Expectation.UNAFFECTED, Expectation.UNKNOWN
VERSIONS = (
    "2.0.1",
    "2.1.0.dev1",
    "2.1.0",
    "2.5.1+cu124",
    "2.6.0.dev20241101",
    "2.6.0a0+git1234567",
    "2.6.0rc1",
    "2.6.0",
    "2.6.0+cu124",
    "2.6.0.post1",
)
LETTERS = {"+": AFFECTED, "-": UNAFFECTED, "?": UNKNOWN}
RANGES = [
    # before 2.1 | 2.1.dev 2.1.0 2.5.1 | three pre-releases of 2.6 | 2.6.0 in three forms
    (Affected(introduced="2.1", fixed="2.6"), "-" + "+++" + "+++" + "---"),
    (Affected(introduced="2.1", last_affected="2.5.1"), "-" + "+++" + "---" + "---"),
    (Affected(introduced="2.1", last_affected="2.6.0"), "-" + "+++" + "+++" + "++-"),
    (Affected(introduced="2.1"), "-" + "+++" + "+++" + "+++"),
    (Affected(first_seen="2.1", fixed="2.6"), "?" + "+++" + "+++" + "---"),
    (Affected(first_seen="2.1", last_affected="2.5.1"), "?" + "+++" + "---" + "---"),
    (Affected(first_seen="2.1"), "?" + "+++" + "+++" + "+++"),
    (Affected(first_seen="2.6.0"), "?" + "???" + "+++" + "+++"),
    (Affected(introduced="2.1", last_seen="2.5.1", fixed="2.6"), "-" + "+++" + "???" + "---"),
    (Affected(first_seen="2.1", last_seen="2.1", fixed="2.6"), "?" + "++?" + "???" + "---"),
    (Affected(first_seen="2.1", last_seen="2.6.0.dev20241101", fixed="2.6"), "?" + "+++" + "+??" + "---"),
    (Affected(last_seen="2.5.1", fixed="2.6"), "?" + "??+" + "???" + "---"),
    (Affected(fixed="2.6"), "?" + "???" + "+++" + "---"),
    (Affected(last_affected="2.5.1"), "?" + "??+" + "---" + "---"),
    (Affected(introduced="2.1", fixed="2.6.0rc1"), "-" + "+++" + "++-" + "---"),
    (Affected(introduced="2.6.0"), "-" + "---" + "+++" + "+++"),
]


def issue(*affected: Affected, **fields: Any) -> Issue:
    """Return a record of `affected` releases."""
    return Issue(**{"symptom": Symptom.WRONG_RESULT, "stage": "inductor", "affected": affected} | fields)


@pytest.mark.parametrize(
    ("span", "version", "letter"),
    [(span, version, letter) for span, row in RANGES for version, letter in zip(VERSIONS, row, strict=True)],
    ids=lambda value: str(value),
)
def test_what_a_range_says_of_a_version(span: Affected, version: str, letter: str) -> None:
    """Local parts do not matter, pre-releases of the fixing release are affected, an unknown start stays unknown."""
    assert span.expectation(Version(version)) is LETTERS[letter]
    assert issue(span).expectation(Version(version)) is LETTERS[letter]


@pytest.mark.parametrize("version", ["2.9.1", "2.10.0", "2.14.1+cpu"])
def test_two_digits_are_a_number_and_not_text(version: str) -> None:
    """2.10 comes after 2.9."""
    assert Affected(introduced="2.9", fixed="2.15").expectation(Version(version)) is AFFECTED
    assert Affected(introduced="2.1", fixed="2.9").expectation(Version(version)) is UNAFFECTED


MINORS = st.integers(0, 12)
RELEASES = st.builds(lambda minor, patch: f"2.{minor}.{patch}", MINORS, st.integers(0, 2))
SUFFIXES = st.sampled_from(["", ".dev20250101", "a0", "rc1", "rc2"])
LOCALS = st.sampled_from(["", "+cpu", "+cu124", "+git1234567", "+rocm6.2"])
RUNNING = st.builds(lambda release, suffix, local: Version(release + suffix + local), RELEASES, SUFFIXES, LOCALS)


@st.composite
def spans(draw: st.DrawFn) -> Affected:
    """Draw a range that is not empty."""
    start, end = sorted([draw(RELEASES), draw(RELEASES)], key=Version)
    lower = draw(st.sampled_from(["introduced", "first_seen", None]))
    upper = draw(st.sampled_from(["fixed", "last_affected", None]))
    assume(lower or upper)
    assume(not (lower and upper == "fixed" and start == end))
    fields = {name: value for name, value in ((lower, start), (upper, end)) if name is not None}
    if upper == "fixed" and start != end and draw(st.booleans()):
        fields["last_seen"] = start
    return Affected(**fields)


@given(spans(), RUNNING, LOCALS)
def test_the_local_part_never_matters(span: Affected, version: Version, local: str) -> None:
    """Builds for CPU, CUDA and a vendor of one version get one answer."""
    assert span.expectation(Version(version.public + local)) is span.expectation(version)


@given(spans(), RUNNING)
def test_from_the_fix_on_unaffected_and_before_it_never(span: Affected, version: Version) -> None:
    """The end of a range is a step: unaffected exactly from the fixing release on, its pre-releases not included."""
    start = span.introduced
    after_start = start is None or Version(version.base_version) >= Version(start)
    if span.fixed is not None:
        ended = Version(version.public) >= Version(span.fixed)
    else:
        ended = span.last_affected is not None and Version(version.public) > Version(span.last_affected)
    assert (span.expectation(version) is UNAFFECTED) == (ended or not after_start)


@given(spans(), st.lists(RUNNING, min_size=2, max_size=5))
def test_answers_follow_one_pattern_along_the_releases(span: Affected, versions: list[Version]) -> None:
    """Along rising releases a range says: before, affected, perhaps unknown again, unaffected; and never goes back."""
    finals = sorted({Version(v.base_version) for v in versions})
    answers = [span.expectation(v) for v in finals]
    steps = [answer for i, answer in enumerate(answers) if i == 0 or answers[i - 1] is not answer]
    before = [[], [UNKNOWN], [UNAFFECTED]]
    after = [[], [UNAFFECTED], [UNKNOWN], [UNKNOWN, UNAFFECTED]]
    assert steps in [[*b, *a, *c] for b in before for a in ([AFFECTED], []) for c in after]
    if span.last_seen is None and AFFECTED in steps:
        assert UNKNOWN not in steps[steps.index(AFFECTED) :]


@given(spans())
def test_both_ends_of_a_range(span: Affected) -> None:
    """The first release of a range is affected, so is the last; pre-releases of the fix are where no gap is unknown."""
    for start in (span.introduced, span.first_seen):
        if start is not None:
            assert span.expectation(Version(start)) is AFFECTED
            assert span.expectation(Version(start + ".dev1")) is AFFECTED
    if span.last_affected is not None:
        assert span.expectation(Version(span.last_affected)) is AFFECTED
    if span.fixed is not None:
        assert span.expectation(Version(span.fixed)) is UNAFFECTED
        assert span.expectation(Version(span.fixed + "rc9")) is (AFFECTED if span.last_seen is None else UNKNOWN)
    if span.last_seen is not None:
        assert span.expectation(Version(span.last_seen)) is AFFECTED


@given(st.lists(spans(), min_size=1, max_size=3), RUNNING)
def test_of_several_ranges_the_safe_side_wins(several: list[Affected], version: Version) -> None:
    """Affected in one range is affected; unknown in one is unknown unless another is sure of it; order is nothing."""
    answers = {span.expectation(version) for span in several}
    want = next(a for a in (AFFECTED, UNKNOWN, UNAFFECTED) if a in answers)
    assert issue(*several).expectation(version) is want
    assert issue(*reversed(several)).expectation(version) is want


def test_a_defect_that_came_back_has_two_ranges() -> None:
    """Between two ranges the record says unaffected, in both affected."""
    back = issue(Affected(introduced="2.1", fixed="2.3"), Affected(introduced="2.5", last_affected="2.6.0"))
    said = {v: back.expectation(Version(v)) for v in ("2.0.1", "2.2.0", "2.3.0", "2.4.1", "2.5.0rc1", "2.6.0", "2.7.0")}
    assert said == {
        "2.0.1": UNAFFECTED,
        "2.2.0": AFFECTED,
        "2.3.0": UNAFFECTED,
        "2.4.1": UNAFFECTED,
        "2.5.0rc1": AFFECTED,
        "2.6.0": AFFECTED,
        "2.7.0": UNAFFECTED,
    }


@given(RUNNING)
def test_records_without_ranges(version: Version) -> None:
    """No range is unknown; a disputed claim shows on no version; compiled code keeps to a contract by default."""
    assert issue().expectation(version) is UNKNOWN
    assert issue(Affected(introduced="2.0"), disputed="the test counts kernels").expectation(version) is UNAFFECTED
    for truth in (Truth.HOLDS, Truth.DOES_NOT_HOLD):
        known = Contract(statement="It holds.", truth=truth)
        assert (known.expectation(version), known.expected(version)) == (UNAFFECTED, truth)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a range without any bound says nothing; write affected=() when it is unknown"),
        ({"fixed": "2.6", "last_affected": "2.5"}, "a range has fixed= or last_affected=, not both"),
        ({"introduced": "2.6", "first_seen": "2.5"}, "a range has introduced= or first_seen=, not both"),
        ({"introduced": "2.6", "fixed": "2.6"}, "the range from 2.6 to 2.6 is empty"),
        ({"introduced": "2.6", "fixed": "2.6.0"}, "the range from 2.6 to 2.6.0 is empty"),
        ({"introduced": "2.10", "fixed": "2.9"}, "the range from 2.10 to 2.9 is empty"),
        ({"first_seen": "2.6", "last_affected": "2.5.1"}, "the range from 2.6 to 2.5.1 is empty"),
        ({"first_seen": "2.5", "last_seen": "2.6", "fixed": "2.6"}, "last_seen= goes with a later fixed="),
        ({"first_seen": "2.5", "last_seen": "2.6"}, "last_seen= goes with a later fixed="),
        (
            {"introduced": "2.5", "last_seen": "2.4", "fixed": "2.6"},
            "last_seen='2.4' is before the range begins, which is 2.5",
        ),
        ({"introduced": "two"}, "introduced='two' is no version such as '2.6' or '2.5.1'"),
        ({"fixed": ""}, "fixed='' is no version such as '2.6' or '2.5.1'"),
        ({"fixed": 2.6}, "fixed=2.6 must be a string such as '2.6'"),
        ({"last_affected": "2.5.1+cu124"}, "last_affected='2.5.1+cu124' must not have a local part: write '2.5.1'"),
        ({"first_seen": ">=2.5"}, "first_seen='>=2.5' is no version such as '2.6' or '2.5.1'"),
    ],
)
def test_ranges_that_say_nothing_are_refused(fields: dict[str, Any], message: str) -> None:
    """An impossible range is refused with a message that says what to write."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Affected(**fields)


def test_a_range_of_one_release_is_none_too_small() -> None:
    """A defect may be in a single release."""
    one = Affected(introduced="2.5.1", last_affected="2.5.1")
    said = [one.expectation(Version(v)) for v in ("2.5.0", "2.5.1+cu124", "2.6.0")]
    assert said == [UNAFFECTED, AFFECTED, UNAFFECTED]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (Affected(introduced="2.1", fixed="2.6"), ">= 2.1, fixed in 2.6"),
        (Affected(introduced="2.1", last_affected="2.5.1"), ">= 2.1, last affected 2.5.1"),
        (Affected(first_seen="2.5"), "seen from 2.5 (earlier: unknown), still open"),
        (Affected(fixed="2.6"), "from an unknown release, fixed in 2.6"),
        (
            Affected(first_seen="2.5", last_seen="2.9.1", fixed="2.13"),
            "seen from 2.5 (earlier: unknown) to 2.9.1, good in 2.13 (between: unknown)",
        ),
    ],
)
def test_a_range_reads_as_a_sentence(span: Affected, text: str) -> None:
    """The words say what is known and what is not."""
    assert str(span) == text
    assert issue(span).affected_text() == text


def test_the_words_for_several_no_and_disputed_ranges() -> None:
    """Several ranges are listed, none is unknown, a dispute is said."""
    spans_ = (Affected(introduced="2.1", fixed="2.3"), Affected(introduced="2.5"))
    assert issue(*spans_).affected_text() == ">= 2.1, fixed in 2.3; >= 2.5, still open"
    assert issue().affected_text() == "unknown"
    assert issue(*spans_, disputed="no").affected_text() == "none (disputed)"
    known = Contract(statement="s", truth=Truth.HOLDS, since="2.8", differs=spans_)
    assert known.affected_text() == ">= 2.1, fixed in 2.3; >= 2.5, still open"
    assert known.truth_text() == "holds since 2.8"
    plain = Contract(statement="s", truth=Truth.DOES_NOT_HOLD)
    assert (plain.truth_text(), plain.affected_text()) == ("does not hold", "none known")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stage": "fusion"}, "stage 'fusion' is not one of eager, aot_eager, aot_eager_decomp_partition, inductor"),
        ({"devices": ("tpu",)}, "devices 'tpu' is not one of cpu, cuda"),
        ({"devices": ()}, "devices=() leaves nothing to run"),
        ({"devices": "cpu"}, "devices='cpu' must be a tuple of str; one entry needs a comma behind it"),
        ({"ops": ("gather")}, "ops='gather' must be a tuple of str; one entry needs a comma behind it"),
        ({"ops": ("gather", 3)}, "ops=('gather', 3) must be a tuple of str; one entry needs a comma behind it"),
        ({"requires": ["avx2"]}, "requires=['avx2'] must be a tuple of str; one entry needs a comma behind it"),
        ({"related": "gh1"}, "related='gh1' must be a tuple of str; one entry needs a comma behind it"),
        ({"strict": ("values",)}, "strict 'values' is not one of strides, rng, bitwise"),
        ({"caches": "cold"}, "caches 'cold' is not one of off, warm"),
        ({"references": ("http://x.org",)}, "reference 'http://x.org' must be an https:// link"),
        ({"config": ("x",)}, "config=('x',) must be a dict"),
        ({"expects": None}, "expects=None must be a dict"),
        (
            {"config": {"shape_padding": True}},
            "setting 'shape_padding' must be a full name such as 'torch._inductor.config.shape_padding'",
        ),
        (
            {"workaround_config": {"torch.shape_padding": True}},
            "setting 'torch.shape_padding' must be a full name such as 'torch._inductor.config.shape_padding'",
        ),
    ],
)
def test_records_that_cannot_be_run_are_refused(fields: dict[str, Any], message: str) -> None:
    """A forgotten comma, an unknown word and a short setting are refused, by issues and contracts alike."""
    for kind, own in (
        (Issue, {"symptom": Symptom.ERROR}),
        (Contract, {"statement": "s", "truth": Truth.HOLDS}),
        (Program, {}),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            kind(**{"stage": "inductor"} | own | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"affected": Affected(introduced="2.1")}, "must be a tuple of Affected; one entry needs a comma behind it"),
        ({"affected": ("2.1",)}, "affected=('2.1',) must be a tuple of Affected; one entry needs a comma behind it"),
        ({"matches": "x"}, "matches='x' must be a tuple of str; one entry needs a comma behind it"),
        ({"matches": ("a(",)}, "matches has 'a(', no regular expression: "),
        ({"symptom": "wrong-result"}, "symptom='wrong-result' must be one of Symptom.WRONG_RESULT, "),
    ],
)
def test_issues_with_wrong_fields_are_refused(fields: dict[str, Any], message: str) -> None:
    """What would fail only when the record is judged or matched is refused when it is read."""
    with pytest.raises(ValueError, match=re.escape(message)):
        issue(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"truth": "holds"}, "truth='holds' must be Truth.HOLDS or Truth.DOES_NOT_HOLD, what the plain program does; "),
        ({"truth": True}, "truth=True must be Truth.HOLDS or Truth.DOES_NOT_HOLD"),
        ({"truth": Truth.DIFFER}, "where compiled code does otherwise is said in differs="),
        ({"since": "soon"}, "since='soon' is no version such as '2.6' or '2.5.1'"),
        ({"since": 2.8}, "since=2.8 must be a string such as '2.6'"),
        ({"differs": Affected(fixed="2.6")}, "must be a tuple of Affected; one entry needs a comma behind it"),
        ({"symptom": "error"}, "symptom='error' must be one of Symptom.WRONG_RESULT, "),
        ({"statement": " "}, "statement=' ' must be a sentence"),
        ({"statement": None}, "statement=None must be a sentence"),
    ],
)
def test_contracts_with_wrong_fields_are_refused(fields: dict[str, Any], message: str) -> None:
    """A truth is one of two words, and what compiled code does is said with ranges."""
    with pytest.raises(ValueError, match=re.escape(message)):
        Contract(**{"statement": "It holds.", "truth": Truth.HOLDS} | fields)


@pytest.mark.parametrize(
    ("version", "truth"),
    [
        ("2.7.1+cu126", Truth.HOLDS),
        ("2.8.0a0+git1234567", Truth.DOES_NOT_HOLD),
        ("2.8.0", Truth.DOES_NOT_HOLD),
        ("2.9.1", Truth.DIFFER),
        ("2.10.0", None),
        ("2.13.0+cpu", Truth.DOES_NOT_HOLD),
    ],
)
def test_what_a_contract_expects_of_a_version(version: str, truth: Truth | None) -> None:
    """Before `since` the opposite; where compiled code differs, that; where nobody looked, nothing."""
    span = Affected(introduced="2.9", last_seen="2.9.1", fixed="2.13.0")
    known = Contract(statement="It holds.", truth=Truth.DOES_NOT_HOLD, since="2.8", differs=(span,))
    assert known.expected(Version(version)) is truth


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.5.1", Expectation.UNKNOWN),
        ("2.6.0", Expectation.AFFECTED),
        ("2.9.1+cu128", Expectation.AFFECTED),
        ("2.10.0", Expectation.UNKNOWN),
        ("2.13.0rc1", Expectation.UNKNOWN),
        ("2.13.0", Expectation.UNAFFECTED),
    ],
)
def test_what_lies_between_last_seen_and_fixed_is_unknown(version: str, expected: Expectation) -> None:
    """Nobody looked at the releases between the last bad and the first good one, and the record says so."""
    span = Affected(first_seen="2.6.0", last_seen="2.9.1", fixed="2.13.0")
    assert span.expectation(Version(version)) is expected
    assert str(span) == "seen from 2.6.0 (earlier: unknown) to 2.9.1, good in 2.13.0 (between: unknown)"


@pytest.mark.parametrize("bounds", [{"fixed": None}, {"fixed": "2.9.1"}, {"fixed": "2.8"}])
def test_last_seen_needs_a_later_fix(bounds: dict[str, str | None]) -> None:
    """A last sighting without a good release behind it is a mistake in the record."""
    with pytest.raises(ValueError, match="last_seen= goes with a later fixed="):
        Affected(first_seen="2.6.0", last_seen="2.9.1", **bounds)
