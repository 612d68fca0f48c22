"""Nothing that reads what others wrote costs more than its size allows: by the doubling rule."""

import functools

import pytest
from tests.core.test_patches_fuzz import GROWING
from tests.fuzz import hunks
from tests.fuzz.doubling import assert_grows
from tests.fuzz.targets import growth
from tests.server.byte_laws import candidate_of

import excise
from excise import syntax
from excise.errors import Unparsable
from excise.patches import Pool, apply, group, parse, read
from excise_server.duplicates.find import find_duplicates, proposals_of
from excise_server.foundation.changes import Side, renamed_files
from excise_server.foundation.escape import printable
from excise_server.report.html_page import element, source
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import review_files
from excise_server.review.replayed import replay_files
from excise_server.review.taking import Choice, take

pytestmark = pytest.mark.slow

LINES = "".join(f"value_{number % 97} = call({number % 89}, 'text')\n" for number in range(40))


@pytest.mark.parametrize("parts", growth.KNOWN, ids=range(len(growth.KNOWN)))
def test_texts_that_were_quadratic_once(parts):
    growth.check(growth.packed([part.decode("latin-1") for part in parts]))


@pytest.mark.parametrize("name", GROWING)
def test_readers_of_mails_and_patches(name):
    assert_grows(GROWING[name], growth.everything, last=8_000)


@pytest.mark.parametrize("by", [0, 7, 20_000])
def test_displaced_hunks(by):
    def displaced(n):
        text, patch = hunks.displaced(n, by)
        return parse(patch).files[0], text

    assert_grows(displaced, lambda given: apply(*given), last=8_000)


@pytest.mark.parametrize("name", ["python", "javascript", "c", "rust", "markdown", "yaml", "json"])
def test_parsers_of_code_that_is_none_of_theirs(name):
    read = functools.partial(_tokens, language=name)
    assert_grows(lambda n: LINES * n, read, first=1, last=64)


def _tokens(text: str, language: str) -> None:
    try:
        syntax.tokenise(text, language, timeout=60)
    except Unparsable:
        return


def test_lexical_tokens_and_alignment_of_texts_with_few_edits():
    def texts(n):
        origin = LINES * n
        return origin, "new line\n" + origin.replace("value_5 = call(5, 'text')\n", "", 1)

    assert_grows(texts, lambda pair: excise.align(*pair, language=None), first=1, last=512)


def test_counts_of_n_grams():
    def texts(n):
        return {"origin": LINES, "a": LINES + LINES * n, "b": LINES * n + LINES}

    assert_grows(texts, lambda given: excise.similarity(**given, language=None), first=1, last=256)


def test_places_of_many_blocks_among_lines_that_repeat():
    def pool(n):
        made = Pool()
        for mark in "xy":
            body = "".join(f" }}\n+{mark}{at % 9};\n     {{\n \n     x;\n" for at in range(n))
            header = f"--- a/x\n+++ b/x\n@@ -1,{4 * n} +1,{5 * n} @@ int f(void)\n"
            made.add(parse(f"{header}{body}".encode()))
        return made

    assert_grows(pool, lambda made: made.compare(0, 1), first=1_000, last=64_000)


def mail(number):
    """A small patch among many: half of them have a twin, and all share some lines."""
    guard = f"+    if (state_{number // 2} == {number // 2})\n+        return check(c);\n"
    diff = f"--- a/f{number // 2}.c\n+++ b/f{number // 2}.c\n@@ -1,2 +1,4 @@ int f(void)\n"
    head = f"From: a\nSubject: [PATCH] fix {number // 2}\nMessage-ID: <{number}>\n\n---\n"
    return f"{head}{diff}     a();\n{guard}     b();\n".encode()


def test_groups_of_many_patches():
    def grouped(texts):
        pool = Pool()
        for text in texts:
            pool.add(parse(text))
        group(pool)

    assert_grows(lambda n: [mail(number) for number in range(n)], grouped, first=100, last=8_000)


def test_duplicates_among_many_patches():
    def compared(members):
        find_duplicates(proposals_of(members), with_why=False)

    def members(n):
        return [(str(number), read(mail(number))[0]) for number in range(n)]

    assert_grows(members, compared, first=50, last=3_200)


@pytest.mark.parametrize("filler", ["}\n\n", "value = call()\n", ""])
def test_reviews_and_ranks_of_many_hunks(filler):
    """Three candidates edit every tenth line of a file, in which a few lines repeat."""

    def texts(n):
        lines = [f"value_{at} = call({at % 89})\n{filler}" for at in range(n)]
        revisions = {}
        for name, shift in (("ada", 0), ("bo", 5), ("chen", 0)):
            edited = list(lines)
            for at in range(shift, n, 10):
                edited[at] = f"{name}_{at} = call({at % 89})\n{filler}"
            revisions[name] = "".join(edited)
        return "".join(lines), revisions

    def reviewed(given):
        origin, revisions = given
        review_files(
            [
                Candidate(
                    name, "", "", "",
                    old={"a": Side("100644", origin.encode())},
                    new={"a": Side("100644", text.encode())},
                )
                for name, text in revisions.items()
            ]
        )  # fmt: skip
        excise.rank(excise.ScoreMatrix.from_texts(origin, revisions))

    assert_grows(texts, reviewed, first=200, last=12_800)


def test_patches_compared():
    def patch(n):
        edits = "".join(f"-old_{at % 50} = {at}\n+new_{at % 50} = {at}\n" for at in range(n))
        return parse(f"--- a/x\n+++ b/x\n@@ -1,{n} +1,{n} @@\n{edits}".encode())

    def compare(read):
        pool = Pool()
        pool.add(read), pool.add(read)
        pool.compare(0, 1)

    assert_grows(patch, compare, last=1 << 14)


@pytest.mark.parametrize("text", ["<b>&", "\x1b[31m", "\t", "\u202e\n", "`*_[]()"])
def test_pages(text):
    def page(shown):
        element("p", shown, element("b", source(shown)), title=shown)
        printable(shown)

    assert_grows(lambda n: text * n, page, last=1 << 17)


def _file(lines):
    return {"a.txt": Side("100644", "".join(lines).encode())}


def _with_hunks(n):
    """Return a candidate that changes every other line of 2 n, and the lines of each hunk."""
    lines = [f"line {number}\n" for number in range(2 * n)]
    edited = [f"new {at}\n" if at % 2 else line for at, line in enumerate(lines)]
    candidate = candidate_of("ada", _file(lines), _file(edited))
    (file,) = review_files([candidate])
    return candidate, [(hunk.lo, hunk.hi) for hunk in file.hunks]


def test_a_candidate_of_many_hunks_is_taken():
    assert_grows(_with_hunks, lambda made: take([made[:1]], [Choice(made[0].id)]), last=1 << 12)


def test_many_hunks_are_taken_one_by_one():
    def by_hunk(made):
        candidate, hunks = made
        assert take([[candidate]], [Choice(candidate.id, "a.txt", hunk) for hunk in hunks]).files

    assert_grows(_with_hunks, by_hunk, last=1 << 12)


def test_many_edits_are_replayed_beside_many_others():
    def sides(n):
        lines = [f"line {number}\n" for number in range(3 * n)]
        drift = [f"other {at}\n" if at % 3 == 2 else line for at, line in enumerate(lines)]
        edited = [f"new {at}\r\n" if at % 3 == 0 else line for at, line in enumerate(lines)]
        return _file(lines), _file(edited), _file(drift), {}

    assert_grows(sides, lambda made: replay_files(*made), last=1 << 12)


@pytest.mark.parametrize("line", ["def f{file}_{line}(): pass\n", "line {line}\n"])
def test_renames_of_files_that_changed(line):
    def files(n):
        old = {
            f"o{file}": "".join(line.format(file=file, line=number) for number in range(800))
            + f"own {file}\n"
            for file in range(n)
        }
        new = {f"n{path}": f"{text}more\n" for path, text in old.items()}
        return tuple(
            {path: Side("100644", text.encode()) for path, text in texts.items()}
            for texts in (old, new)
        )

    # Of more and shorter files the pairs cost more than the lines, and these grow by 16.
    assert_grows(files, lambda made: renamed_files(*made), first=24, last=24)
