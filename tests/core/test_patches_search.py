"""Pruning loses no pair: bounds, searches and groups against every pair there is."""

import math
import random
from array import array
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.patch_texts import bodies, hunk, pool_of
from tests.reference import patches as oracle
from tests.reference.patch_blocks import blocks, components, submission
from tests.reference.patch_places import compare, n_grams

from excise.components import components as joined
from excise.kernels._matches import pair, places
from excise.kernels._patches import Index
from excise.kernels._search import Search
from excise.patches import Patch, PatchError, Pool, group, parse, signature
from excise.patches.pool import Closeness

NO_INTS = array("i")


def added(tokens):
    """One block without heading and context, that adds so many tokens."""
    return array("i", [0, 0, 0, 0, len(tokens), -1, 0, -1, 0, 0])


_LINE = st.sampled_from(
    ["foo(a);", "bar(a);", "  foo(a);", "", "return 0;", "x = 1;", "}", "if (x)"]
)
_BODY = bodies(_LINE, 8)
_NAMES = st.sampled_from(["x.c", "d/x.c", "y.c", "z.c"])
_HEADINGS = st.sampled_from(["", "f", "g", "int foo(void)", "int bar(a)"])
_FILE = st.builds(
    lambda body, name, heading: hunk(*body, name=name, heading=heading), _BODY, _NAMES, _HEADINGS
)
_PATCHES = st.lists(st.lists(_FILE, min_size=1, max_size=3).map(b"".join), min_size=2, max_size=7)
_LEAST = st.sampled_from([0.0, 0.1, 0.3, 0.45, 0.5, 2 / 3, 0.9, 1.0])


def pooled(features):
    """Return 2 * shared / (a + b) of two Counters: what the search bounds."""
    a, b = features
    total = a.total() + b.total()
    return Fraction(2 * (a & b).total(), total) if total else Fraction(1)


def features(patch):
    """Return the oracle's features; where nothing changes all header facts are one."""
    found = oracle.features(patch)
    if any(gram != ("no change",) for *_, gram in found):
        return found
    names = tuple(sorted(found.elements()))
    return Counter({(names, "add", len(names)): 1})


@given(_PATCHES, _LEAST)
def test_the_pairs_found_are_those_of_the_oracle(patches, least):
    pool = pool_of(*patches)
    expected = []
    for i, j in combinations(range(len(patches)), 2):
        score = float(compare(patches[i], patches[j]).exact)
        if score > 0 and score >= least:
            expected.append((i, j, score))
    assert pool.near(least) == expected
    dense = np.empty((len(patches), len(patches)))
    Search(pool.index, least).dense(array("i", range(len(patches))), dense)
    assert {(i, j) for i, j in np.argwhere(np.triu(dense, 1) >= max(least, 1e-9)).tolist()} == {
        (i, j) for i, j, _ in expected
    }


@st.composite
def _near_copies(draw):
    """Copies of one patch of several files, each with a line or a name of its own."""
    files = draw(st.lists(st.tuples(_NAMES, _HEADINGS, _BODY), min_size=1, max_size=3))
    patches = []
    for _ in range(draw(st.integers(2, 3))):
        own = [(name, heading, list(body)) for name, heading, body in files]
        at = draw(st.integers(0, len(own) - 1))
        name, heading, body = own[at]
        body[draw(st.integers(0, len(body) - 1))] = draw(st.sampled_from(["+new(b);", "-x = 1;"]))
        own[at] = draw(st.sampled_from([name, "w.c"])), heading, body
        patches.append(b"".join(hunk(*body, name=name, heading=h) for name, h, body in own))
    return patches


@pytest.mark.slow
@settings(max_examples=40)
@given(_near_copies(), st.sampled_from([0.0, 0.45]))
def test_near_copies_are_counted_as_by_the_oracle(patches, least):
    """Blocks of the same numbers at one place; n-grams under several names, or under none."""
    expected = []
    for i, j in combinations(range(len(patches)), 2):
        score = float(compare(patches[i], patches[j]).exact)
        if score > 0 and score >= least:
            expected.append((i, j, score))
    assert pool_of(*patches).near(least) == expected


def test_blocks_of_the_same_numbers_may_stand_elsewhere():
    """The blocks of two patches change places: equal lists of blocks are not the same places."""
    once, twice = ("+a(b, c);",), ("+a(b, c);", "+a(b, c);")
    patches = [
        hunk(*once, heading="f") + hunk(*twice, heading="g"),
        hunk(*once, heading="g") + hunk(*twice, heading="f"),
    ]
    exact = compare(*patches).exact
    assert exact < 1
    assert pool_of(*patches).near(0.0) == [(0, 1, float(exact))]


def test_postings_of_other_sizes_are_not_read():
    """Patches of sizes that double: only neighbours are read, though all share what they have."""
    index = Index()
    for n in range(1, 13):
        tokens = array("i", range(1, 2**n + 1))
        index.add(tokens, added(tokens), NO_INTS, NO_INTS)
    size = [index.size(at) for at in range(12)]
    i, j, _, (read, counted) = Search(index, 0.45).pairs(0, 12)
    assert sorted(zip(i, j, strict=True)) == [(at, at + 1) for at in range(11)]
    assert read <= sum(size[:-1])
    assert counted == 11


def weights_of(patches):
    """Return the weight of each n-gram with its operation, in 1 / 65536."""
    often = Counter(name for patch in patches for name in {name[1:] for name in features(patch)})
    n = len(patches)
    return {
        name: math.floor(0.5 + 65536 * (math.log((1 + n) / (1 + df)) + 1))
        for name, df in often.items()
    }


@given(_PATCHES)
def test_weights_are_those_of_the_pool(patches):
    pool = pool_of(*patches)
    weights = weights_of(pool.patches)
    values = np.empty((len(patches), len(patches)))
    Search(pool.index, 0.0, True).dense(array("i", range(len(patches))), values)
    for i, j in combinations(range(len(patches)), 2):
        expected = weighted(patches[i], patches[j], weights)
        if expected is not None:
            assert values[i, j] == values[j, i] == float(expected)


def weighted(a, b, weights):
    """Return the value with every n-gram at its weight; None where no tokens are compared."""
    sides = submission(a), submission(b)
    key = "none" if oracle.renamed(*(side.patch for side in sides)) else "name"
    a, b = (blocks(side, key) for side in sides)
    if not all(any(block.old != block.new for block in side) for side in (a, b)):
        return None

    def size(grams):
        return sum(weights[name[1:]] * n for name, n in grams.items())

    here = sum(size(n_grams(of_a) & n_grams(of_b)) for of_a, of_b in components(a, b))
    shared, total = size(n_grams(a) & n_grams(b)), size(n_grams(a)) + size(n_grams(b))
    return Fraction(3 * here + shared, 2 * total)


@given(_PATCHES, st.permutations(range(7)))
def test_weighted_groups_depend_on_no_order(patches, order):
    order = [at for at in order if at < len(patches)]
    values = []
    for names in (range(len(patches)), order):
        pool = pool_of(*(patches[at] for at in names))
        found = np.empty((len(patches), len(patches)))
        Search(pool.index, 0.0, True).dense(array("i", range(len(patches))), found)
        values.append(found)
    assert (values[1] == values[0][np.ix_(order, order)]).all()


def test_weighted_groups_say_so_and_scores_stay():
    common = [f"+common({n});" for n in range(3)]
    patches = [hunk(*common, f"+own{n} = {n};", name="x.c") for n in range(6)]
    patches += [hunk(*common, "+rare(a, b, c);"), hunk("+rare(a, b, c);")]
    plain, weighted = pool_of(*patches), pool_of(*patches, idf=True)
    assert weighted.signature == signature(idf=True) != plain.signature
    assert weighted.compare(0, 1) == plain.compare(0, 1)
    assert weighted.near(0.0) == plain.near(0.0)
    for found in group(weighted, threshold=0.9):
        scores = [plain.score(found.representative, at) for at in found.members]
        assert found.min_similarity == min(scores)
    close = np.empty((2, 2, 2))
    for pool, values in zip((plain, weighted), close, strict=True):
        Search(pool.index, 0.0, pool.idf).dense(array("i", [6, 7]), values)
    assert close[0, 0, 1] < close[1, 0, 1]  # what they share is rare here
    assert group(weighted, threshold=0.5) != group(plain, threshold=0.5)


class Whole(Pool):
    """A pool whose groups are made of every value, whether or not a search finds it."""

    def closeness(self, least, map=map):
        return WholeCloseness(Search(self.index, least, self.idf), map, self.index.first)


class WholeCloseness(Closeness):
    def components(self, equal):
        n = len(self._search)
        near = np.argwhere(np.triu(self.known(array("i", range(n))), 1) >= self._search.least)
        edges = [*zip(*equal, strict=True), *enumerate(self.first), *near.tolist()]
        return joined(n, edges)

    def known(self, members):
        values = np.empty((len(members), len(members)))
        self._search.dense(members, values)
        return values

    def fill(self, members, values):
        pass


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.one_of(_PATCHES, _near_copies()),
    st.sampled_from(["complete", "average", "single"]),
    st.sampled_from([0.1, 0.3, 0.55, 0.9, 1.0]),
    st.booleans(),
)
def test_groups_are_those_of_all_values(patches, linkage, threshold, idf):
    """Members, representatives and least similarities; ties, too: small patches have many."""
    patches = [*patches, *patches[:2]]
    sparse, whole = (group_of(kind, patches, linkage, threshold, idf) for kind in (Pool, Whole))
    assert sparse == whole


def group_of(kind, patches, linkage, threshold, idf):
    pool = kind(ignored=(), idf=idf)
    for patch in (*map(parse, patches), Patch(), Patch()):
        pool.add(patch)
    return group(pool, linkage=linkage, threshold=threshold)


def hanging_together(n, edges):
    """Return the components by following edges from each member, one after the other."""
    found, seen = [], set()
    for start in range(n):
        reached, waiting = set(), [start]
        while waiting:
            member = waiting.pop()
            if member not in reached:
                reached.add(member)
                waiting += [end for edge in edges if member in edge for end in edge]
        if start not in seen:
            found.append(sorted(reached))
        seen |= reached
    return found


@given(st.integers(1, 12), st.data())
def test_what_hangs_together_is_one_component(n, data):
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = data.draw(st.lists(ends, max_size=20))
    assert joined(n, edges) == hanging_together(n, edges)


def test_pieces_hold_about_as_much():
    """Sizes that grow: the last pieces have fewer patches than the first."""
    index = Index()
    for n in range(1, 65):
        own = array("i", range(n * n))
        index.add(own, added(own), NO_INTS, NO_INTS)
    search = Search(index, 0.45)
    ranges = search.ranges(8)
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
    assert ranges[-1][1] == 64
    sizes = [sum(index.size(at) for at in range(*part)) for part in ranges]
    assert len(sizes) == 8
    assert max(sizes) < 1.4 * sum(sizes) / 8
    assert search.ranges(8, 1000) == [(0, 64)]
    assert Search(Index(), 0.45).ranges(8) == []


@pytest.mark.slow
@given(_PATCHES, _LEAST, st.integers(1, 9))
def test_pieces_of_a_search_find_every_pair_once(patches, least, pieces):
    pool = pool_of(*patches)
    search = Search(pool.index, least)
    found = [search.pairs(*part)[:3] for part in search.ranges(pieces)]
    pairs = [pair for piece in found for pair in zip(*piece, strict=True)]
    assert sorted(pairs) == pool.near(least)


def test_a_frequent_n_gram_is_not_walked():
    """Five hundred patches that share little: all pairs share it, and none is counted."""
    index = Index()
    for n in range(500):
        own = [1, 2, *range(100 * n + 3, 100 * n + 43)]
        index.add(array("i", own), added(own), NO_INTS, NO_INTS)
    *_, (walked, counted) = Search(index, 0.45).pairs(0, 500)
    assert (walked, counted) == (0, 0)
    *_, (walked, _) = Search(index, 0.0).pairs(0, 500)
    assert walked >= 500 * 499 / 2
    assert len(Search(index, 0.0).pairs(0, 500)[0]) == 500 * 499 / 2


def test_pieces_and_threads():
    patches = [hunk(f"-x = {n % 9};", f"+x = {n % 7} + y;", name=f"{n % 3}.c") for n in range(80)]
    pool = pool_of(*patches)
    search = Search(pool.index, 0.3)
    whole = sorted(zip(*search.pairs(0, 80)[:3], strict=True))
    pieces = [search.pairs(at, at + 20)[:3] for at in range(0, 80, 20)]
    assert sorted(found for piece in pieces for found in zip(*piece, strict=True)) == whole
    with ThreadPoolExecutor(2) as threads:
        again = list(threads.map(lambda at: search.pairs(at, at + 20)[:3], range(0, 80, 20)))
    assert again == pieces
    assert [found for found in whole if found[2] >= 0.3] == whole == pool.near(0.3)


def test_misuse_is_an_error():
    search = Search(pool_of(hunk("+a"), hunk("+b")).index, 0.5)
    with pytest.raises(IndexError):
        search.pairs(0, 3)
    with pytest.raises(IndexError):
        search.dense(array("i", [0, 2]), np.empty((2, 2)))
    with pytest.raises(ValueError, match="one row and column"):
        search.dense(array("i", [0, 1]), np.empty((2, 3)))


def test_patches_added_later_are_not_seen():
    pool = pool_of(hunk("+a b"), hunk("+a c"))
    search = Search(pool.index, 0.0)
    pool.add(parse(hunk("+a d")))
    assert len(search) == 2
    assert list(search.pairs(0, 2)[0]) == [0]
    assert len(pool.near(0.0)) == 3


def test_nothing_and_nothing_much():
    assert Pool().near(0.0) == []
    assert group(Pool()) == ()
    pool = Pool()
    pool.add(Patch()), pool.add(Patch())
    assert [found.members for found in group(pool)] == [(0, 1)]


def test_too_many_patches_that_hang_together_are_refused(monkeypatch):
    pool = pool_of(*(hunk(f"+f(a, b, {n});") for n in range(4)))
    monkeypatch.setattr("excise.patches.pool.MOST", 3)
    with pytest.raises(PatchError, match=r"4 patches form one component at .*, and at most 3"):
        group(pool)
    assert len(group(pool, threshold=0.0)) == 4


# --- what the narrow arrays of an index have no room for ------------------------------------------


def patch(*hunks):
    """Return a patch that inserts some lines into x.c, at headings."""
    whole = ["--- a/x.c", "+++ b/x.c"]
    for heading, lines in hunks:
        whole += [f"@@ -0,0 +1,{len(lines)} @@ {heading}", *(f"+{line}" for line in lines)]
    return "\n".join([*whole, ""]).encode()


def assert_as_by_the_oracle(*patches):
    pool = Pool(ignored=())
    for text in patches:
        pool.add(parse(text))
    exact = float(compare(*patches).exact)
    assert pool.score(0, 1) == exact
    assert pool.near(0.0) == [(0, 1, exact)]


@pytest.mark.slow
@pytest.mark.parametrize(("often", "other"), [(254, 255), (255, 256), (70_000, 300)])
def test_an_n_gram_as_often_as_no_byte_can_say(often, other):
    assert_as_by_the_oracle(
        patch(("f", ["x " * often, "y"]), ("g", ["z x"])),
        patch(("f", ["x " * other]), ("h", ["z x"])),
    )


@pytest.mark.slow
def test_n_grams_that_are_in_many_blocks():
    """Of 120 blocks each has the same 310 n-grams: their list is longer than 15 bits can count."""
    words = [" ".join(f"w{at}" for at in range(80))]
    both = [(f"f{at}", words) for at in range(118)]
    assert_as_by_the_oracle(
        patch(*both, ("left", words), ("f118", ["w1"])),
        patch(("right", words), ("f118", ["w1 w2"]), *both[::-1]),
    )


HEADINGS = ("", "int f(a)", "int g(a)", "class C:")


def repeating(choice, hunks, edits):
    """Return a patch of many blocks, around which the same few lines stand again and again."""
    whole = ["--- a/x.c", "+++ b/x.c"]
    for _ in range(hunks):
        topic = choice.randrange(6)
        kept = ["}", "    {", f"    a{topic} b;", f"    c{topic} d{topic};"]
        kept += [f"int g{topic}(b)"] if choice.randrange(2) else []
        body = []
        for number in range(edits):
            body += [f" {choice.choice(kept)}" for _ in range(choice.randrange(1, 7))]
            body += [f"+n{number % 7};"] if choice.randrange(3) else ["-    x;"]
        old, new = (sum(line[0] != mark for line in body) for mark in "+-")
        whole += [f"@@ -1,{old} +1,{new} @@ {choice.choice(HEADINGS)}", *body]
    return "\n".join([*whole, ""]).encode()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_blocks_of_few_kinds_stand_where_the_oracle_has_them(seed):
    """Over a thousand pairs of blocks: these are compared by their kinds."""
    choice = random.Random(seed)
    a, b = repeating(choice, 3 + seed, 12), repeating(choice, 9 - seed, 14)
    pool = Pool(ignored=())
    for text in (a, b):
        pool.add(parse(text))
    found = places(pool.index, 0, 1, True)
    sides = [blocks(submission(text), "name") for text in (a, b)]
    assert len(sides[0]) * len(sides[1]) > 1024
    assert list(map(len, found)) == list(map(len, sides))
    expected = sorted(sorted([*map(id, of_a), *map(id, of_b)]) for of_a, of_b in components(*sides))
    numbered = defaultdict(list)
    for numbers, side in zip(found, sides, strict=True):
        for number, block in zip(numbers, side, strict=True):
            numbered[number].append(id(block))
    assert sorted(map(sorted, numbered.values())) == expected
    assert len(expected) > 1


def test_blocks_beyond_fifteen_bits():
    """Each block is in a file of its own, and the last 100 are at other places."""
    n = 33_000
    index = Index()
    for heading in (1, 2):
        blocks = array("i")
        for at in range(n):
            blocks.extend((at, at, at, at, at + 1, heading if at >= n - 100 else 0, 0))
            blocks.extend((-1, 0, 0))
        index.add(array("i", [at % 7 for at in range(n)]), blocks, array("i"), array("i"))
    assert pair(index, 0, 1, True)[4:8] == (n - 100, n, n, n)
