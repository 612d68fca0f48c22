"""What may be one issue, of files that people have: what is said, named and refused."""

import io
import re
from itertools import combinations

import msgspec
import pytest
from tests.server.command import excise, one_line

from excise.patches import read
from excise.patches.evidence import Background
from excise_server.duplicates.find import AUTHOR, find_duplicates, proposals_of
from excise_server.queue.reading import read_queue
from excise_server.report.cluster import pair_entries
from excise_server.wire.documents import ClusterDocument, DuplicatesDocument, plain


def mail(title: str, diff: str, why: str = "", author: str = "ada", tag: str = "PATCH") -> str:
    return f"From: {author} <{author}@example.com>\nSubject: [{tag}] {title}\n\n{why}\n---\n{diff}"


def diff(*lines: str, path: str = "shop/cart.py", heading: str = "", start: int = 40) -> str:
    old = sum(line[:1] in " -" for line in lines)
    new = sum(line[:1] in " +" for line in lines)
    header = f"@@ -{start},{old} +{start},{new} @@ {heading}".rstrip()
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", header, *lines, ""])


CONTEXT = (" def total(self, items):", "     subtotal = 0")
PATCHES = {
    "1.patch": mail(
        "Keep the discount below the subtotal",
        diff(
            *CONTEXT,
            "-    return subtotal - discount",
            "+    return max(subtotal - discount, 0)",
            heading="class Cart:",
        ),
        "A discount that is larger than the subtotal made the total negative.",
        "ada",
    ),
    "2.patch": mail(
        "total: never negative when the discount is large",
        diff(
            *CONTEXT,
            "-    return subtotal - discount",
            "+    if discount > subtotal:",
            "+        return 0",
            "+    return subtotal - discount",
            heading="class Cart:",
        ),
        "With a large discount the total was negative; the subtotal is the most it may take.",
        "bo",
    ),
    "3.patch": mail(
        "Print prices in euros",
        diff("-CURRENCY = 'usd'", "+CURRENCY = 'eur'", path="shop/labels.py"),
        "Labels are for the shop in Graz.",
        "chen",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("patches")
    for name, text in PATCHES.items():
        (place / name).write_text(text)
    return place


def pairs(*arguments: str, code: int = 0):
    ran = excise("cluster", *map(str, arguments), "--format", "json")
    assert ran.code == code, ran.err
    return ran.json["pairs"]


def compared(*places, **options):
    """Return the pairs of the library, with options that the command does not have."""
    queue = read_queue(map(str, places), io.BytesIO())
    proposals = proposals_of([(member.id, member.message) for member in queue.sent])
    return [plain(pair) for pair in pair_entries(find_duplicates(proposals, **options))]


def test_a_folder_is_compared_with_itself(folder):
    (found,) = pairs(folder)
    assert {found["new"], found["other"]} == {"1.patch", "2.patch"}
    assert (found["word"], found["level"], found["otherwise"]) == (
        "likely the same issue",
        "likely",
        "",
    )
    assert 0 < found["same_edit"]["similarity"] < 1
    where = found["reasons"]["where"][0]
    assert (where["path"], where["line"]) == ("shop/cart.py", 42)
    assert where["text"] == "return subtotal - discount"
    assert "discount" in found["reasons"]["why"]


def test_a_document_has_its_shape_exactly(folder):
    printed = excise("cluster", str(folder), "--format", "json").json
    assert msgspec.to_builtins(msgspec.convert(printed, ClusterDocument)) == printed
    assert printed["related"] == "related:1|idf:bg1"
    asked = ("cluster", "--like", str(folder / "1.patch"), str(folder), "--format", "json")
    printed = excise(*asked).json
    assert msgspec.to_builtins(msgspec.convert(printed, DuplicatesDocument)) == printed
    assert printed["signature"] == "related:1|idf:bg1"


def test_a_pair_has_the_same_numbers_in_any_company(folder):
    (together,) = pairs(folder)
    (alone,) = pairs("--like", folder / "1.patch", folder / "2.patch")
    numbers = ("probability", "mean", "what", "where", "why", "same_edit", "word")
    assert [alone[key] for key in numbers] == [together[key] for key in numbers]


def test_what_is_asked_about_is_not_its_own_duplicate(folder):
    (found,) = pairs("--like", folder / "1.patch", folder)
    assert found["other"] == "2.patch"


@pytest.mark.slow
def test_output_goes_to_a_file(folder, tmp_path):
    for like in ((), ("--like", str(folder / "1.patch"))):
        for name in ("text", "markdown", "json", "html")[: 3 if like else 4]:
            path = tmp_path / name
            asked = ("cluster", str(folder), *like, "--format", name)
            assert excise(*asked, "-o", str(path)).out == ""
            assert path.read_text() == excise(*asked).out
    assert excise("cluster", str(folder), *like, "--format", "html").code == 2
    one_line(excise("cluster", str(folder), "-o", str(tmp_path)), "not a regular file")


def test_less_and_more_is_shown(folder):
    assert len(compared(folder, least="none", top=0)) >= 1
    assert pairs("--like", folder / "3.patch", folder) == []
    assert "nobody is doing this, as far as 2 others tell" in excise(
        "cluster", "--like", str(folder / "3.patch"), str(folder)
    ).out  # fmt: skip
    silent = compared(folder, with_why=False)
    assert [pair["why"] for pair in silent] == [None]
    many = [compared(folder, least="none", top=n) for n in (1, 2)]
    assert len(many[0]) <= 3
    assert len(many[1]) >= 1


def test_groups_have_one_to_read_and_say_why(folder):
    ran = excise("cluster", str(folder), "--format", "json")
    assert ran.code == 0, ran.err
    found = ran.json
    (issue,) = found["issues"]
    assert sorted(issue["members"]) == ["1.patch", "2.patch"]
    (pair,) = found["pairs"]
    assert issue["representative"] in (pair["new"], pair["other"])
    assert (issue["probability"], issue["reasons"]) == (pair["probability"], pair["reasons"])
    (same,) = compared(folder)
    assert all(pair[key] == same[key] for key in ("mean", "word", "same_edit"))
    text = excise("cluster", str(folder)).out
    assert text.startswith("3 patches: 2 in 1 group, 1 alone\n")
    assert "likely the same issue" in text
    assert "alone: 3.patch" in excise("cluster", str(folder), "-v").out


def test_the_page_of_edits_says_the_other_answer_beside_them(folder, tmp_path):
    page = tmp_path / "page.html"
    arguments = ("cluster", str(folder), "--format", "html", "-o", str(page))
    assert excise(*arguments).code == 0
    assert "likely the same issue  what" in page.read_text()


def written(place, **patches):
    for name, text in patches.items():
        (place / f"{name}.patch").write_text(text)
    return place


def test_who_did_what_otherwise_is_named(tmp_path):
    change = ("-    return subtotal - discount", "+    return max(subtotal - discount, 0)")
    edit = diff(*CONTEXT, *change)
    back = diff(*CONTEXT, "-" + change[1][1:], "+" + change[0][1:])
    title = "Keep the total above zero with discounts"
    first = mail(title, edit, "Negative totals.", "ada", "PATCH 1/2")
    second = mail("Say so in the docs", diff("+Never negative.", path="docs/a.md"), tag="PATCH 2/2")
    again = edit.replace("max(", "most(")
    for other, otherwise in (
        (mail(title, again, "Negative totals."), "by the same author"),
        (mail(f'Revert "{title}"', back, "Negative totals came back.", "bo"), "reverts"),
        (mail(f"[1.x] Backport: {title}", edit, "Negative totals.", "bo"), "backport"),
        (mail(title, edit, "(cherry picked from commit 12345678)", "bo"), "backport"),
        (first + "\n" + second, "builds on"),
    ):  # fmt: skip
        (tmp_path / "b.mbox").write_text(
            other if other != first + "\n" + second else mbox(first, second)
        )
        (tmp_path / "a.patch").write_text(mail(title, edit, "Negative totals.", "ada"))
        (found,) = pairs("--like", tmp_path / "b.mbox", tmp_path / "a.patch")
        assert found["otherwise"] == otherwise


LONG = "Fix the very long title " * 430
"""More than 10,000 characters."""


def test_two_that_close_one_issue_are_likely_one(tmp_path):
    """Whatever their texts have in common, if that is anything."""
    ways = {
        "a": ("Totals below zero, fixes #12", "", "way(discount)"),
        "b": ("total: clamp", "Resolves https://host/shop/cart/issues/12\n", "clamp(discount)"),
        "arabic": ("\u0625\u0635\u0644\u0627\u062d total", "Closes: GH-12", "floor(discount)"),
        "long": (LONG, "Fixes shop/cart#12", "least(discount)"),
        "other": ("Blue labels", "fix #13", "blue = 0"),
        "template": ("Sort the names", "<!-- such as: Fixes #12 -->", "names.sort()"),
        "many": ("Speed", "fix #12, fix #1, fix #2, fix #3", "cache(rows)"),
    }
    for name, (title, why, line) in ways.items():
        text = diff(f"+{line}", path=f"{name}/total.py")
        (tmp_path / f"{name}.patch").write_text(mail(title, text, why, name))
    far = mail("Colours, fixes #12", diff("+red = 1", path="z.css"), "", "hal")
    (tmp_path / "far.patch").write_text(far)  # nothing in common: another project's issue
    found = excise("cluster", str(tmp_path), "--format", "json").json
    closing = {frozenset((p["new"], p["other"])) for p in found["pairs"] if p["level"] == "likely"}
    four = [f"{name}.patch" for name in ("a", "arabic", "b", "long")]
    assert closing == {frozenset(pair) for pair in combinations(four, 2)}
    (issue,) = found["issues"]
    assert sorted(issue["members"]) == four
    assert (issue["word"], issue["reasons"]["closes"]) == ("likely the same issue", ["#12"])
    assert all(p["probability"] < 0.5 for p in found["pairs"] if p["reasons"]["closes"])
    assert "both close #12" in excise("cluster", str(tmp_path)).out
    like = ("cluster", "--like", str(tmp_path / "a.patch"), str(tmp_path))
    assert excise(*like).out.count("both close #12") == 3
    assert excise(*like, "--format", "markdown").out.count("- both close `#12`") == 3


def test_bumps_of_versions_have_a_word_of_their_own(tmp_path):
    bot, other = "dependabot[bot]", "renovate[bot]"

    def bump(title, old, new, author, *more):
        around = [f" repo: ruff {n}" for n in range(5)]
        edit = diff(*around, f"-  rev: {old}", f"+  rev: {new}", *more, path="hooks.yaml")
        return mail(title, edit, "Bumps the group of dependencies.", author)

    written(
        tmp_path,
        a=bump("Bump ruff from v0.12.1 to v0.13.0", "8e8c483 # v0.12.1", "c0ffee1 # v0.13.0", bot),
        b=bump("Bump ruff from v0.13.0 to v0.14.2", "c0ffee1 # v0.13.0", "abad1de # v0.14.2", bot),
        c=bump(
            "Bump ruff from v0.14.2 to v0.15.0", "abad1de # v0.14.2", "deadbe1 # v0.15.0", other
        ),
    )
    found = excise("cluster", str(tmp_path), "--format", "json").json
    assert len(found["pairs"]) == 3
    assert {(p["word"], p["otherwise"]) for p in found["pairs"]} == {("version bumps",) * 2}
    (issue,) = found["issues"]
    assert (issue["word"], issue["otherwise"]) == ("version bumps", "version bumps")
    for shown in (excise("cluster", str(tmp_path)), excise("cluster", str(tmp_path), "-v")):
        assert "version bumps" in shown.out
        assert "likely" not in shown.out
    # Two people who change one number are no bots, and a bump beside something else is no bump.
    edits = {"d": "timeout = 45", "e": "timeout = 60"}
    for name, new in edits.items():
        edit = diff(" connect()", "-timeout = 30", f"+timeout = {new}", path="net.py")
        (tmp_path / f"{name}.patch").write_text(mail("Wait longer", edit, "It is slow.", name))
    more = tmp_path / "f.patch"
    more.write_text(bump("Bump ruff", "deadbe1 # v0.15.0", "abba123 # v0.16", bot, "+  args: x"))
    (tmp_path / "c.patch").unlink()
    words = {
        frozenset((p["new"][0], p["other"][0])): p["otherwise"]
        for p in excise("cluster", str(tmp_path), "--format", "json").json["pairs"]
    }
    assert words[frozenset("ab")] == "version bumps"
    assert words[frozenset("de")] == ""
    assert {words[pair] for pair in words if "f" in pair} <= {AUTHOR}


def mbox(*mails: str) -> str:
    head = "From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\n"
    return "".join(f"{head}{each}\n" for each in mails)


def test_equal_patches_are_the_same_edit_whatever_they_say(tmp_path):
    edit = diff("+x", path="a")
    written(tmp_path, a=mail("One thing", edit, author="ada"), b=mail("Another", edit, author="bo"))
    (found,) = pairs(tmp_path)
    assert (found["word"], found["same_edit"]["similarity"]) == ("same edit", 1.0)


# fmt: off
GUARD = ("+    if (depth > MAX_DEPTH)", "+        return error(parser, too_deep);")
ARRAY = (" {", "     struct list *items = make_list(parser);", "     skip(parser, '[');",
         "     while (peek(parser) != ']')", "         append(items, parse_value(parser));")
OBJECT = (" {", "     struct map *members = new_map(NULL, hash_string);", "     char *key = NULL;",
          "     expect_brace(parser);", "     do { key = parse_key(parser);")
# fmt: on


def test_one_guard_in_two_functions_is_not_the_same_edit(tmp_path):
    """As two real fixes of one parser: the same guard, each in another function of a file."""
    for name, body, function, title, why in (
        ("a", ARRAY, "parse_array", "Limit the depth of arrays", "A fuzzer has brackets."),
        ("b", OBJECT, "parse_object", "Limit how deep objects are", "The stack ran out."),
    ):
        text = diff(body[0], body[1], *GUARD, *body[2:], path="src/parser.c", heading=function)
        (tmp_path / f"{name}.patch").write_text(mail(title, text, why, name))
    (found,) = compared(tmp_path, least="none")
    assert found["what"] > 0.99
    assert found["where"] < 0.4
    (found,) = pairs(tmp_path)
    assert found["same_edit"]["word"] == "overlaps"
    assert found["word"] == "possibly the same issue"
    assert not found["same_edit"]["is_same_edit"]


HOSTILE = "</td><script>x</script> [click](javascript:x) ![i](http://e) `@all` #1 \x1b[31m\u202e|"


def test_markdown_is_inert(tmp_path):
    line = f"+value = '{HOSTILE}'".replace("\x1b", "")
    edit = diff(" def total(self, items):", "-old_value()", line)
    for name in "ab":
        (tmp_path / f"{name}`@x.patch").write_text(mail(f"{HOSTILE} {name}", edit, author=name))
    one = str(tmp_path / "a`@x.patch")
    for more in ((), ("-v",), ("--like", one), ("--like", one, "-v")):
        shown = excise("cluster", str(tmp_path), *more, "--format", "markdown").out
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)
        assert not re.search(r"(?<!\\)[<>\[@|]|\x1b|\u202e", outside)
        text = excise("cluster", str(tmp_path), *more).out
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_odd_patches_are_compared_all_the_same(tmp_path):
    copies = {f"bump{n}": mail("Bump version", diff("-v = 1", "+v = 2")) for n in range(50)}
    written(
        tmp_path,
        binary="diff --git a/x.png b/x.png\nindex 1111111..2222222 100644\n"
        "Binary files a/x.png and b/x.png differ\n",
        rename="diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        large=diff("-" + "old_name " * 20_000, "+" + "new_name " * 20_000),
        template=mail("Update", diff("+y = 1", path="b"), "<!-- why? -->\n- [ ] tests"),
        titled=mail("Close what was opened " * 500, diff("+closed()", path="d")),
        foreign=mail("修正: 接続を閉じる", diff("+соединение.закрыть()", path="c")),
        **copies,
    )
    ran = excise("cluster", str(tmp_path), "--format", "json")
    assert ran.code == 0, ran.err
    assert {pair["word"] for pair in ran.json["pairs"]} == {"same edit"}
    assert max(map(len, excise("cluster", str(tmp_path)).out.split("\n"))) < 1_000


def test_what_cannot_be_read_is_named_and_the_rest_is_compared(folder, tmp_path):
    for name, text in {**PATCHES, "bad.patch": "diff --cc x\n@@@ -1 -1 +1 @@@\n"}.items():
        (tmp_path / name).write_text(text)
    ran = excise("cluster", str(tmp_path), "--format", "json")
    assert ran.code == 1
    assert [left["id"] for left in ran.json["rejected"]] == ["bad.patch"]
    assert len(ran.json["pairs"]) == 1
    assert "left out: cannot read bad.patch" in ran.err


def test_a_background_of_ones_own_is_named(folder):
    proposals = [
        proposal
        for name in PATCHES
        for proposal in proposals_of([(name, read((folder / name).read_bytes())[0])])
    ]
    found = find_duplicates(proposals, background=Background({"total": 900}, {}, "ours"))
    assert found.signature == "related:1|idf:ours"


def test_a_pool_of_one_patch_of_equal_ones_and_of_none(folder, tmp_path):
    text = PATCHES["1.patch"]
    one = excise("cluster", str(folder / "1.patch"))
    assert (one.code, one.out) == (0, "1 patch: no two are alike\n")
    for n in range(30):
        (tmp_path / f"{n}.patch").write_text(text)
    every = excise("cluster", str(tmp_path), "--format", "json").json
    (issue,) = every["issues"]
    assert (len(issue["members"]), issue["word"]) == (30, "the same code")
    assert issue["otherwise"] == "by the same author"
    assert len(excise("cluster", str(tmp_path)).out.split("\n")) < 8
    empty = tmp_path / "empty"
    empty.mkdir()
    none = excise("cluster", str(empty))
    assert (none.code, none.out) == (0, "no patches\n")
    likes = excise("cluster", "--like", str(folder / "1.patch"), str(empty))
    assert (likes.code, likes.out) == (0, "nobody is doing this, as far as 0 others tell\n")


def test_like_takes_one_patch(folder, tmp_path):
    both = tmp_path / "both.mbox"
    both.write_text(mbox(PATCHES["1.patch"], PATCHES["3.patch"]))
    one_line(excise("cluster", "--like", str(both), str(folder)), "it holds 2 patches", "one of")
    broken = tmp_path / "b.patch"
    broken.write_text("diff --cc x\n@@@ -1 -1 +1 @@@\n")
    assert excise("cluster", "--like", str(broken), str(folder)).code == 2
    ran = excise("cluster", "--like", "-", str(folder / "2.patch"), stdin=PATCHES["1.patch"])
    assert (ran.code, "likely the same issue" in ran.out) == (0, True)
    assert excise("cluster", "--like", "-", "-", stdin=PATCHES["1.patch"]).code == 2


def test_a_patch_that_is_not_utf_8_and_a_mailbox_with_a_broken_message(folder, tmp_path):
    bad = "diff --cc x\n@@@ -1 -1 +1 @@@\n"
    whole = mbox(PATCHES["1.patch"], f"Subject: bad\n\n{bad}", PATCHES["2.patch"])
    box = tmp_path / "all.mbox"
    box.write_bytes(whole.encode() + b"\n" + mbox(PATCHES["3.patch"]).encode("latin-1"))
    (tmp_path / "latin.patch").write_bytes(
        PATCHES["3.patch"].replace("'eur'", "'\xe9ur'").encode("latin-1")
    )
    ran = excise("cluster", str(tmp_path), "--format", "json")
    assert ran.code == 1
    assert [left["id"] for left in ran.json["rejected"]] == ["all.mbox#2"]
    assert {frozenset(issue["members"]) for issue in ran.json["issues"]} == {
        frozenset({"all.mbox#1", "all.mbox#3"}),
        frozenset({"all.mbox#4", "latin.patch"}),
    }


@pytest.mark.slow
def test_many_mails_make_one_screen(tmp_path):
    box = tmp_path / "all.mbox"
    box.write_text(
        mbox(
            *(
                mail(
                    f"Fix {n // 2} in part {n // 2}",
                    diff(f"-old_{n // 2}()", f"+new_{n // 2}({n % 2})", path=f"src/p{n // 2}.py"),
                    f"Part {n // 2} fails.",
                    f"author{n}",
                )
                for n in range(400)
            )
        )
    )
    ran = excise("cluster", str(box))
    assert ran.code == 0, ran.err
    lines = ran.out.rstrip("\n").split("\n")
    assert lines[0].startswith("400 patches: 400 in ")
    assert len(lines) <= 40
    assert any(re.fullmatch(r"and 1\d\d more groups: -v", line) for line in lines)
    assert excise("cluster", str(box), "-v").out.count("●") > 180
