"""Nothing that reads what others wrote costs more than its size allows: by the doubling rule."""

from __future__ import annotations

import functools

import pytest
from tests.core.test_patches_fuzz import GROWING
from tests.fuzz import hunks
from tests.fuzz.doubling import assert_grows
from tests.fuzz.targets import growth

import excise
from excise import syntax
from excise.errors import Unparsable
from excise.patches import Pool, apply, parse
from excise_server.foundation.escape import printable
from excise_server.report.markup import element, source

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
