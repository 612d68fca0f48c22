"""Tree-sitter tokens: cases by language, and every rule of section 1 on its own."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import archive
from tests.reference.budget import examples

from excise import languages, syntax
from excise.kernels._tree import walk as walk_nodes
from excise.syntax import DEDENT, INDENT, VERBATIM, encode
from excise.text import WHITE, TokenList, normalise

CASES = sorted((Path(__file__).parents[1] / "cases" / "tokens").glob("*.txt"))
MARKS = (INDENT, DEDENT)


def shown(found: TokenList) -> str:
    """One token a line, with the number of its line, from 1 as an editor counts."""
    rows = [f"{line + 1}: {token!r}" for line, token in zip(found.lines, found.tokens, strict=True)]
    return "\n".join([*rows, "syntax errors"] if found.has_errors else rows)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    (name, text), *_ = archive.read(path).items()
    grammar = languages.resolve(None, name)
    assert grammar is not None
    found = syntax.tokenise(text, grammar)
    well_formed(text, found)
    bare = syntax.drop_comments(text, grammar)
    archive.check(path, {"tokens": shown(found), "without comments": bare})


def well_formed(text: str, found: TokenList) -> None:
    """What holds for every grammar and every text."""
    places = list(zip(found.tokens, found.lines, found.starts, found.ends, strict=True))
    assert without_white(text) == without_white("".join(t for t in found.tokens if t not in MARKS))
    assert found.lines == sorted(found.lines)
    assert found.starts == sorted(found.starts)
    for token, line, start, end in places:
        assert text.count("\n", 0, start) == line
        assert text[start:end] == ("" if token in MARKS else token)
        assert token in (*MARKS, "\n") or (token and "\n" not in token)
    depth = 0
    for token in found.tokens:
        depth += (token == INDENT) - (token == DEDENT)
        assert depth >= 0
    assert depth == 0


def without_white(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, WHITE)))


def tokens(text: str, grammar: str = "python") -> list[str]:
    return syntax.tokenise(text, grammar).tokens


def rows(text: str, grammar: str = "python") -> list[tuple]:
    found = syntax.tokenise(text, grammar)
    return list(zip(found.tokens, found.lines, found.starts, found.ends, strict=True))


# White space in strings


def test_white_space_is_a_token_in_a_string_only():
    assert tokens("' '.join(x)") != tokens("''.join(x)")
    assert tokens("a  +  b") == tokens("a + b") == ["a", "+", "b"]


def test_a_string_inside_an_interpolation_is_a_string_again():
    assert tokens("f'{ g(\" \") }'") == ["f'", "{", "g", "(", '"', " ", '"', ")", "}", "'"]
    assert tokens("`${ ' ' }`", "javascript") == ["`", "${", "'", " ", "'", "}", "`"]
    assert tokens("`${ x  }`", "javascript") == tokens("`${x}`", "javascript")


def test_pieces_of_a_string_stand_as_they_are_and_empty_ones_between_lines_stay():
    text = '"""a  \n\n  \n b"""'
    assert rows(text) == [
        ('"""', 0, 0, 3),
        ("a  ", 0, 3, 6),
        ("\n", 1, 7, 8),
        ("  ", 2, 8, 10),
        (" b", 3, 11, 13),
        ('"""', 3, 13, 16),
    ]


def test_pieces_of_other_tokens_are_stripped():
    assert rows("/* a \n\n\t b */", "c") == [("/* a", 0, 0, 4), ("b */", 2, 9, 13)]


def test_text_of_a_string_that_no_leaf_covers_is_one_token_a_line():
    assert tokens('x = "two  words" # c\n', "toml") == ["x", "=", '"', "two  words", '"', "# c"]
    text = 'x = """\n a\n\n \n  b """\n'
    assert rows(text, "toml")[2:] == [
        ('"""', 0, 4, 7),
        (" a", 1, 8, 10),
        ("\n", 2, 11, 12),
        (" ", 3, 12, 13),
        ('  b """', 4, 14, 21),
    ]


@pytest.mark.parametrize(
    ("grammar", "text", "counts"),
    [
        ("dart", "var x='{}$a';", True),
        ("dart", "var x='$a{}$b';", True),
        ("solidity", "contract A {{ string s = 'a'{}'b'; }}", False),  # the string has ended
        ("toml", 'x = "{}"', True),
        ("xml", "<a b='{}'/>", True),
        ("sql", "CREATE TABLE t (c varchar{}(9));", False),  # no string, though it is in a "char"
        ("d", "auto a = q{{a{}b}};", False),  # a string of tokens, without quotes
    ],
)
def test_white_space_that_no_leaf_covers_counts_behind_an_odd_number_of_quotes(
    grammar, text, counts
):
    one, two = (tokens(text.format(white), grammar) for white in (" ", "  "))
    assert (one != two) == counts


def test_a_comment_is_never_in_a_string():
    text = 's = "a" /* b\n  c */ "d";'
    assert tokens(text, "c")[5:7] == ["/* b", "c */"]


# Atoms


@pytest.mark.parametrize(
    ("grammar", "text", "atom"),
    [
        ("python", r"f'a\n{{b}} c'", r"a\n{{b}} c"),
        ("perl", 'my $x = "a $b c";\n', "a $b c"),
        ("rust", "// a b\n", "// a b"),
        ("rust", "/// a b\n", "/// a b"),
        ("sql", "COMMENT ON TABLE t IS 'x';", "COMMENT ON TABLE t IS 'x'"),
    ],
)
def test_content_of_a_string_and_a_comment_are_one_token(grammar, text, atom):
    assert atom in tokens(text, grammar)


INTERPOLATIONS = {
    "bicep": "var x = 'a ${yy} b'\n",
    "bitbake": 'X = "a ${@yy.x} c"\n',
    "csharp": 'class A{string s=$"a {yy} c"; string t=$@"a {yy}\nc"; string u=$"""a {yy}""";}',
    "dart": "var x='a ${yy} c';",
    "elixir": 'x = "a #{yy} c"\n',
    "haxe": "var x='a ${yy} b';",
    "javascript": "x=`a ${yy} c`",
    "kotlin": 'val x = "a ${yy} c"\n',
    "luau": "x=`a {yy} c`\n",
    "nix": "{x=\"a ${yy} c\"; y=''a ${yy}\n c'';}",
    "puppet": '$x = "a ${yy} c"\n',
    "python": 'x=f"a {yy} c {1:>{yy}}"\ny=f"""a {yy}\n {yy}"""\nz=rf"{yy}\\d"\n',
    "qmljs": "A{x:`a ${yy} c`}",
    "ruby": 'x="a #{yy} c"\ny=<<E\na #{yy} c\nE\nz=%(a #{yy})\nw=:"a #{yy}"\nv=/a#{yy}/\n',
    "scala": 'val x=s"a ${yy} c"\n',
    "starlark": 'x=f"a {yy} c"\n',
    "tsx": "x=<a b={`a ${yy}`}/>",
    "typescript": "type x=`a ${yy} c`;y=`${yy}`",
    "vue": "<template>a {{yy}} c</template>",
}


@pytest.mark.parametrize("grammar", INTERPOLATIONS)
def test_an_atom_does_not_swallow_an_interpolation(grammar):
    text = INTERPOLATIONS[grammar]
    found = [token.strip() for token in tokens(text, grammar)]
    assert found.count("yy") + found.count("yy.x") == text.count("yy")


# A part of a tree


def triples(spans: array[int]) -> list[tuple[int, int, int]]:
    flat = iter(spans)
    return list(zip(flat, flat, flat, strict=True))


def test_a_walk_within_a_range_finds_what_the_whole_walk_finds_there():
    text = "x = [1, 2]\ny = 'a b' # c\nz = 3\n"
    tree = syntax.parse(text, "python")
    whole = triples(syntax.walk(tree, encode(text), "python").spans)
    low, high = text.index("y"), text.index("z")
    assert triples(syntax.walk(tree, encode(text), "python", [(low, high)]).spans) == [
        span for span in whole if span[1] > low and span[0] < high
    ]


def test_a_node_of_which_nothing_is_left_is_no_leaf():
    text = "<a>b</a>\0 c\n<d/>\n"
    tree = syntax.parse(text, "xml")
    place = text.index("c")
    assert tree.root_node.descendant_for_byte_range(place, place + 1).child_count
    assert syntax.walk(tree, encode(text), "xml", [(place, place + 1)]).spans == array("i")


def test_what_is_no_node_of_a_tree_is_not_walked():
    with pytest.raises(AttributeError, match=r"Thread is not a tree-sitter node: .*'children'"):
        walk_nodes(Thread(), b"x = 1", (b"", b""), None)
    assert syntax.tokenise("x = 1", "python").tokens == ["x", "=", "1"]


def test_a_walk_says_which_strings_hold_text_that_no_leaf_covers():
    text = 'x = "aa  bb"\ny = ""\n'
    walked = syntax.walk(syntax.parse(text, "toml"), encode(text), "toml")
    assert walked.loose == [(4, 12)]
    assert (5, 11, VERBATIM) in triples(walked.spans)


# Text that no leaf covers


def test_text_between_leaves_is_tokens():
    assert rows("\0a b", "json")[0][0].startswith("\0")


def test_text_before_the_first_and_after_the_last_leaf_is_tokens():
    for grammar in ("json", "python", "c"):
        for text in ("\x01 {", "{ \x01\x02", "\x01"):
            well_formed(text, syntax.tokenise(text, grammar))


# Python blocks


def test_a_block_is_marked_where_its_neighbours_stand():
    assert rows("if x:\n  y\n\nz\n") == [
        ("if", 0, 0, 2),
        ("x", 0, 3, 4),
        (":", 0, 4, 5),
        (INDENT, 1, 8, 8),
        ("y", 1, 8, 9),
        (DEDENT, 1, 9, 9),
        ("z", 3, 11, 12),
    ]


def test_a_block_on_one_line_is_marked_too():
    assert tokens("if x: y") == ["if", "x", ":", INDENT, "y", DEDENT]


def test_blocks_that_end_together_are_closed_together():
    assert tokens("if a:\n if b:\n  c\nd")[-5:] == [INDENT, "c", DEDENT, DEDENT, "d"]
    assert tokens("if a:\n if b:\n  c\n d")[-5:] == [INDENT, "c", DEDENT, "d", DEDENT]


def test_a_block_without_text_is_not_marked():
    assert INDENT not in tokens("if a:\n    # only a comment\n")


def test_only_python_has_marks():
    for grammar, text in [("rust", "fn f() { x }"), ("starlark", "def f():\n  x\n")]:
        assert not {INDENT, DEDENT} & set(tokens(text, grammar))


# Broken and odd text


def test_a_missing_node_is_no_token_and_an_error():
    found = syntax.tokenise("int x = 1", "c")
    assert found.tokens == ["int", "x", "=", "1"]
    assert found.has_errors
    assert not syntax.tokenise("int x = 1;", "c").has_errors


def test_places_are_code_points():
    text = "é = '😀 x' + y # ü\n"
    assert [text[start:end] for *_, start, end in rows(text)] == tokens(text)
    assert rows(text)[-1] == ("# ü", 0, 14, 17)


@pytest.mark.parametrize("text", ["a\ud800b = '\udfff '\n", "\ud800", "a = 1\0\nb = '\0'\n", "\0"])
@pytest.mark.parametrize("grammar", ["python", "javascript", "html", "yaml", "rust", "markdown"])
def test_surrogates_and_nul_are_text(grammar, text):
    well_formed(text, syntax.tokenise(text, grammar))
    syntax.drop_comments(text, grammar)


@pytest.mark.parametrize("character", "\x85\u2028\u2029\x1c")
def test_only_a_line_end_ends_a_line(character):
    text = f"a = '{character}'\n{character}b\n# {character}\n"
    found = syntax.tokenise(text, "python")
    well_formed(text, found)
    assert found.lines[-1] == 2


@pytest.mark.parametrize(
    ("grammar", "text"),
    [("python", "(" * 5000), ("json", "[" * 5000 + "]" * 5000), ("rust", "/*" * 5000)],
)
def test_depth_is_not_limited_by_recursion(grammar, text):
    well_formed(text, syntax.tokenise(text, grammar))
    syntax.drop_comments(text, grammar)


def test_perl_ends_where_its_scanner_would_not():
    """A comment that ends with the text makes the scanner search for its line end for ever."""
    for text in ("print#", "a|b# é", "qw#a"):
        well_formed(text, syntax.tokenise(text, "perl"))
        syntax.drop_comments(text, "perl")


def test_an_unknown_grammar_is_misuse():
    with pytest.raises(LookupError):
        syntax.tokenise("x", "no such grammar")


PARTS = st.sampled_from(
    [
        *"ab1 \t\n\n (){}[]<>'\"`#/*-=+:;,.$@!%&|\\é😀\x0c\x85\u2028\0\ud800",
        *("if x:\n  ", "def f():", "/*", "*/", "<!--", "-->", '"""', "${", "#{", "' '"),
        *("// c\n", "# c\n", "--", "<<E\n", "\nE\n"),
    ]
)
TEXTS = st.lists(PARTS, max_size=30).map("".join).map(normalise)


@given(TEXTS)
def test_no_text_is_lost_in_python(text):
    well_formed(text, syntax.tokenise(text, "python"))


@examples(600)
@given(st.sampled_from(languages.names()), TEXTS)
def test_no_text_is_lost_in_any_grammar(grammar, text):
    well_formed(text, syntax.tokenise(text, grammar))


# Comments dropped


@pytest.mark.parametrize(
    ("grammar", "text", "bare"),
    [
        ("c", "a/* b */c;\n", "a c;\n"),
        ("c", "a /* b */c;\n", "a c;\n"),
        ("c", "a/* b */ c;\n", "a c;\n"),
        ("c", "a/* b\n\n c */d;\n", "a\nd;\n"),
        ("c", "a/*b*//*c*/d;", "a d;"),
        ("c", "/* b */", ""),
        ("c", "x; // é\n/* 😀 */ y;\n", "x;\n y;\n"),
        ("rust", "/// doc\nfn f() {} // c", "fn f() {}"),
        ("rust", "a /* b /* c */ d */ e", "a  e"),
        ("python", "#!/bin/sh\nx = '# no' # yes\n\n# c\n  \ny\n", "x = '# no'\ny\n"),
        ("html", "<p>a<!-- b -->c</p>\n", "<p>a c</p>\n"),
        ("xml", "<p>a<!-- b -->c</p>\n", "<p>a c</p>\n"),
        ("sql", "SELECT a/* b */c -- d\n", "SELECT a c\n"),
        ("sql", "COMMENT ON TABLE t IS 'x';\n", "COMMENT ON TABLE t IS 'x';\n"),
        ("haskell", "-- | doc\nx = 1 -- c\n", "x = 1\n"),
        ("kconfig", 'comment "shown" # gone\n', 'comment "shown"\n'),
    ],
)
def test_comments_go(grammar, text, bare):
    assert syntax.drop_comments(text, grammar) == bare


def test_no_root_is_a_comment():
    """Else a whole file would be dropped."""
    for grammar in languages.names():
        assert "comment" not in syntax.parse("x\n", grammar).root_node.type.lower(), grammar


@given(TEXTS)
def test_dropping_comments_adds_no_text(text):
    kept = iter(without_white(text))
    assert all(char in kept for char in without_white(syntax.drop_comments(text, "javascript")))


# Real code


@pytest.mark.parametrize("name", ["python", "js", "java", "go", "cpp", "rust"])
def test_no_text_of_humanevalfix_is_lost(name, excise_data):
    lines = (excise_data / f"humanevalfix_{name}.jsonl").read_text("utf-8").split("\n")
    items = [json.loads(line) for line in lines if line]
    assert len(items) == 164
    grammar = languages.resolve(name, None)
    for item in items:
        for text in map(normalise, (item["origin"], item["reference"])):
            well_formed(text, syntax.tokenise(text, grammar))
