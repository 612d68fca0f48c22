"""Units: hunks that belong together are taken together, and the mixes that this leaves all run."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import hunk_name, review_files
from excise_server.review.mixes import BrokenMixError
from excise_server.review.taking import Choice, take

PATH = "auth.py"
ORIGIN = """\
class Login:
    def __init__(self, name, word):
        self.name = name
        self.word = word

    def header(self, realm):
        kind = "Basic"
        realm = realm.strip()
        # what is sent
        sent = None
        # what is hashed
        first = f"{self.name}:{realm}:{self.word}"
        second = f"{kind}:{realm}"
        digest = sum(map(ord, first + second))
        # what is shown
        base = f"name={self.name}, digest={digest}"
        return f"{kind} {base}{sent or ''}"
"""
FIRST, BASE = 'f"{self.name}:{realm}:{self.word}"', 'f"name={self.name}, digest={digest}"'
DECODED = "{0}.decode() if isinstance({0}, bytes) else {0}"


def decoding(indent, **names):
    """Return lines that bind names to texts that were bytes."""
    return "".join(f"{indent}{n} = {DECODED.format(v)}\n" for n, v in names.items())


def candidate(name, text, origin=ORIGIN, path=PATH, mode="100644"):
    new = {} if text is None else {path: Side(mode, text if type(text) is bytes else text.encode())}
    old = {} if origin is None else {path: Side(mode, origin.encode())}
    return Candidate(f"branch:{name}", "", name, "", label=name, old=old, new=new)


def using(name, word, before, lines):
    """Return the origin where it reads other names, bound by lines before another one."""
    text = ORIGIN.replace(before, lines + before)
    return text.replace(FIRST, f'f"{{{name}}}:{{realm}}:{{{word}}}"').replace(
        BASE, f'f"name={{{name}}}, digest={{digest}}"'
    )


# The structure of six real pull requests of one project: one decodes in the constructor, two where
# the text is hashed, three at two other places. The names, and so the texts of hunks, overlap.
INSIDE = decoding("        ", name="self.name", word="self.word")
PRIVATE = decoding("        ", _name="self.name", _word="self.word")
EARLY = decoding("        ", name="name", word="word") + "        self.name = name\n"
SIX = [
    candidate("early", ORIGIN.replace("        self.name = name\n", EARLY)),
    candidate("long", using("_name", "_word", "        first =", "        # texts\n" + PRIVATE)),
    candidate("top", using("name", "word", '        kind = "', INSIDE)),
    candidate("short", using("_name", "_word", "        first =", PRIVATE)),
    candidate("middle", using("name", "word", "        # what is sent\n", INSIDE)),
    candidate("other", using("name", "word", "        # what is sent\n", "        #\n" + INSIDE)),
]


def runs(text):
    """Return what a mix is: right, silently wrong, or the error that it ends in."""
    names: dict = {}
    exec(compile(text, PATH, "exec"), names)
    try:
        given, wanted = (names["Login"](*pair).header("r") for pair in ((b"a", b"b"), ("a", "b")))
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return "right" if given == wanted else "wrong"


def hunks_of(candidate):
    """Return the units of a candidate among the six, by the names of hunks."""
    [file] = review_files(SIX)
    names = [hunk_name(hunk.lo, hunk.hi) for hunk in file.hunks]
    return {tuple(names[i] for i in u.hunks): u.names for u in file.units(candidate.id)}


def test_what_belongs_together_is_found():
    assert [hunks_of(each) for each in SIX] == [
        {("3",): ()},
        {("12", "16"): ("_name",)},
        {("7", "12", "16"): ("name", "word")},
        {("12", "16"): ("_name",)},
        {("8+", "12", "16"): ("name", "word")},
        {("8+", "12", "16"): ("name", "word")},
    ]


def every_mix():
    """Yield every text in which each hunk is that of the origin or of a candidate, with choices."""
    [file] = review_files(SIX)
    ways = [
        [([], hunk.text), *(([ids[0], (hunk.lo, hunk.hi)], t) for ids, t in file.variants(hunk))]
        for hunk in file.hunks
    ]
    for mix in itertools.product(*ways):
        yield [Choice(who[0], PATH, who[1]) for who, _ in mix if who]


@pytest.mark.slow
def test_mixes_of_single_hunks_and_of_whole_units():
    """By single hunks the check refuses all that ends in a NameError; whole units all run."""
    single: Counter = Counter()
    whole: dict[bytes, str] = {}
    for choices in every_mix():
        if not choices:
            continue
        result = take([SIX], choices, split=True, anyway=True)
        what = runs(result.files[0].new.text)
        try:
            take([SIX], choices, split=True)
            single[what, "taken"] += 1
        except BrokenMixError:
            single[what, "refused"] += 1
        if what == "right" and any(not unit.is_whole for unit in result.units):
            assert any("is taken without" in note for note in result.notes)
        try:
            result = take([SIX], choices)
        except SourceError:
            continue
        whole[result.files[0].new.data] = runs(result.files[0].new.text)
    assert single.keys() == {
        *(("right", "taken"), ("wrong", "taken"), ("NameError", "refused")),
    }
    assert single["NameError", "refused"] >= 30
    assert single["wrong", "taken"] >= 20
    assert Counter(whole.values()) == {"right": 15}


def choices(name, *hunks):
    return [Choice(f"branch:{name}", PATH, (lo, hi)) for lo, hi in hunks]


def test_a_hunk_is_taken_with_its_unit_and_that_is_said():
    result = take([SIX], choices("top", (11, 12)))
    assert result.files[0].new.text == SIX[2].new[PATH].text
    [unit] = result.units
    assert (unit.hunks, unit.chosen, unit.is_whole) == (
        ((6, 7), (11, 12), (15, 16)),
        ((11, 12),),
        True,
    )
    assert unit.names == ("name", "word")
    for said in ("auth.py#12 of top", "#7, #16", "name, word", "--split"):
        assert said in result.notes[0]
    assert len(result.parts) == 3


def test_a_unit_that_is_named_completely_needs_no_words():
    every = choices("top", (6, 7), (11, 12), (15, 16))
    result, alone = take([SIX], every), take([SIX], every, split=True)
    assert result.files == alone.files
    assert not any("shares" in note for note in (*result.notes, *alone.notes))
    for chosen in ([Choice("branch:top", PATH)], [Choice("branch:top")]):
        assert not take([SIX], [*chosen, *choices("top", (11, 12))]).units


def test_one_hunk_alone_is_taken_with_a_warning_or_refused():
    result = take([SIX], choices("top", (6, 7)), split=True)
    for said in ("auth.py#7 of top", "without #12, #16", "name, word"):
        assert said in result.notes[0]
    assert [unit.is_whole for unit in result.units] == [False]
    with pytest.raises(BrokenMixError):
        take([SIX], choices("top", (15, 16)), split=True)


def test_a_unit_that_conflicts_is_refused_with_the_way_out():
    with pytest.raises(SourceError) as caught:
        take([SIX], [*choices("top", (6, 7)), *choices("short", (11, 12))])
    error = caught.value
    assert "auth.py#12 of top (it belongs with #7)" in error.reason
    assert "auth.py#12 of short" in error.reason
    assert "--split" in error.hint
    both = [*choices("top", (6, 7)), *choices("short", (11, 12))]
    assert take([SIX], both, split=True, anyway=True).files


def test_a_mix_of_three_candidates_is_of_whole_units():
    origin = "".join(f"def f{n}(x):\n    return x\n\n\n" for n in range(9))
    places = {"ada": 0, "bo": 3, "cyd": 6}
    three = []
    for name, n in places.items():
        used = origin.replace(f"f{n}(x):\n    return x", f"f{n}(x):\n    return {name}(x)")
        defined = f"def {name}(x):\n    return {n}\n\n\ndef f{n + 2}"
        three.append(candidate(name, used.replace(f"def f{n + 2}", defined), origin))
    chosen = [
        choice for name, n in places.items() for choice in choices(name, (4 * n + 1, 4 * n + 2))
    ]
    result = take([three], chosen)
    [file] = result.files
    assert [f"def {name}(x)" in file.new.text for name in places] == [True] * 3
    assert [len(unit.hunks) for unit in result.units] == [2, 2, 2]
    with pytest.raises(BrokenMixError) as caught:
        take([three], chosen, split=True)
    assert {finding.name for finding in caught.value.findings} == places.keys()


def test_units_in_conflict_with_the_target_need_the_word():
    top = SIX[2]
    said = {PATH: "the target changed it as well"}
    disputed = [replace(top, conflicts=said, disputed={PATH: ((15, 16),)})]
    with pytest.raises(SourceError, match="the target changed it as well"):
        take([disputed], choices("top", (11, 12)))
    assert take([disputed], choices("top", (11, 12)), split=True, anyway=True).files
    wanted = [Choice("branch:top", PATH, (11, 12), in_conflict=True)]
    with pytest.raises(SourceError, match="the target changed it as well"):
        take([disputed], wanted)


def test_a_renamed_file_by_either_name():
    old, new = {PATH: Side("100644", ORIGIN.encode())}, SIX[2].new[PATH]
    renamed = Candidate("branch:r", "", "r", "", label="r", old=old, new={"b.py": new})
    for path in (PATH, "b.py"):
        result = take([[renamed]], [Choice("branch:r", path, (11, 12))])
        assert [len(unit.hunks) for unit in result.units] == [3]
        assert result.files[0].new.text == new.text


@pytest.mark.parametrize(
    "other",
    [
        candidate("deleting", None),
        candidate("binary", b"\0\1"),
        candidate("broken", ORIGIN.replace("def header(", "def header((")),
        candidate("a link", "x", origin=None, path="b", mode="120000"),
    ],
    ids=lambda each: each.label,
)
def test_candidates_that_have_no_units(other):
    files = review_files([*SIX, other])
    file = next(file for file in files if file.path == PATH)
    assert [len(unit.hunks) for unit in file.units(other.id)] in ([], [1])
    assert any(len(unit.hunks) > 1 for unit in file.units(SIX[2].id))


HIDDEN = [
    ("from m import *\n\n\na()\nb()\n", "from m import *\n\n\na(x)\nb()\nc(x)\n"),
    ("__all__ = ['a']\na = 1\nb = 2\n", "__all__ = ['a', 'b']\na = 1\nb = 3\n"),
    ("import m\na()\nb()\n", "import m\nm.x = 1\na()\nb(m.x)\n"),
    ("a()\nb()\nc()\n", "globals()['x'] = 1\nb()\nc(x)\n"),
    ("a()\nprint(x)\nc()\n", "x = 1\nprint(x)\nc(x)\n"),
    ("try:\n    import x\nexcept ImportError:\n    pass\na()\n",
     "try:\n    import x\nexcept ImportError:\n    x = None\na(x)\n"),
    # Generated code binds by what it runs.
    ("_g = globals()\nbuild(D, 'm', _g)\na()\n", "_g = globals()\nbuild(E, 'm', _g)\na(_MADE)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("origin", "text"), HIDDEN)
def test_what_no_reader_can_tell_is_not_claimed(origin, text):
    [file] = review_files([candidate("a", text, origin)])
    assert all(len(unit.hunks) == 1 for unit in file.units("branch:a"))


# --- laws -----------------------------------------------------------------------------------------

LINE = st.sampled_from(["x = 1", "y = x", "use(x)", "use(y)", "z = y", "pass", "def f(): return x"])
TEXTS = st.lists(LINE, min_size=1, max_size=8).map(lambda lines: "\n".join(lines) + "\n")


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_units_part_the_hunks_and_together_are_the_candidate(origin, texts):
    every = [candidate(str(n), text, origin) for n, text in enumerate(texts)]
    for file in review_files(every):
        for each in every:
            units = file.units(each.id)
            hunks = sorted(index for unit in units for index in unit.hunks)
            assert hunks == list(file.changed(each.id))
            wanted = [
                Choice(each.id, PATH, (file.hunks[i].lo, file.hunks[i].hi))
                for unit in units
                for i in unit.hunks[:1]
            ]
            result = take([every], wanted, anyway=True)
            assert [f.new.data for f in result.files] == (
                [each.new[PATH].data] if each.new[PATH].text != origin else []
            )


@given(TEXTS, TEXTS, TEXTS)
def test_units_do_not_depend_on_others_but_for_where_hunks_end(origin, text, other):
    """Hunks of a candidate alone that are tied are in one unit also where hunks are larger."""
    one = candidate("one", text, origin)
    alone = next(iter(review_files([one])), None)
    both = next(iter(review_files([one, candidate("two", other, origin)])), None)
    if alone is None or both is None:
        return

    def unit_at(line):
        return next(
            n
            for n, unit in enumerate(both.units(one.id))
            for i in unit.hunks
            if both.hunks[i].lo <= line <= both.hunks[i].hi
        )

    for unit in alone.units(one.id):
        assert len({unit_at(alone.hunks[i].lo) for i in unit.hunks}) == 1
