"""Mixes of hunks: what units and the check of a mix are worth (docs/tasks.md, docs/review.md).

    python benchmarks/mixes.py requests REPOSITORY   a clone of psf/requests with the pull requests
                                                     7521, 7529, 7545, 7557, 7567 and 7571 as
                                                     branches agent/pr-NUMBER. Their code is run.
    python benchmarks/mixes.py planted DATA          new names and their uses, planted into real
                                                     functions (shared data: HumanEvalFix, git), and
                                                     pairs of edits that have nothing in common

Both print the same figures whenever they are run.
"""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from excise import replay
from excise.bindings import Bindings, fresh_names
from excise.syntax import parse
from excise.text import normalise
from excise.units import units_of
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import review_files
from excise_server.review.mixes import BrokenMixError
from excise_server.review.taking import Choice, take

PATH = "src/requests/auth.py"
NUMBERS = (7521, 7529, 7545, 7557, 7567, 7571)

# Runs in a process of its own: is a header made of bytes that of the same text?
PROBE = r"""
import json, sys, types
from urllib.parse import urlparse
def module(name, **names):
    sys.modules["probe" + name] = made = types.ModuleType("probe" + name)
    made.__dict__.update(names)
module("", __path__=[])
module("._internal_utils", to_native_string=str)
module(".compat", basestring=(str, bytes), str=str, urlparse=urlparse)
module(".cookies", extract_cookies_to_jar=None)
module(".utils", parse_dict_header=None)
def header(text, user, password):
    names = {"__name__": "probe.auth", "__package__": "probe"}
    exec(compile(text, "auth.py", "exec"), names)
    auth = names["HTTPDigestAuth"](user, password)
    auth.init_per_thread_state()
    auth._thread_local.chal = {"realm": "r", "nonce": "n"}
    return auth.build_digest_header("GET", "http://host/x")
origin, *mixes = json.load(sys.stdin)
pairs = [("\u0159ej", "he\u0159lo"), ("a", "b")]
result = []
for text in mixes:
    try:
        same = all(
            header(text, *given) == header(origin, user, password)
            for user, password in pairs
            for given in itertools.product((user, user.encode()), (password, password.encode()))
        )
        result.append("right" if same else "silently wrong")
    except Exception as error:
        result.append(type(error).__name__)
print(json.dumps(result))
""".replace("import json", "import itertools, json", 1)


def requests(repository: str) -> None:
    """Print what becomes of every mix of the six pull requests' hunks, each executed."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", repository, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    target = git("show", f"HEAD:{PATH}")
    candidates = []
    for number in NUMBERS:
        branch = f"agent/pr-{number}"
        base = git("show", f"{git('merge-base', 'HEAD', branch).strip()}:{PATH}")
        text = replay(base, target, git("show", f"{branch}:{PATH}")).text
        old, new = ({PATH: Side("100644", each.encode())} for each in (target, text))
        candidates.append(
            Candidate(branch, "", branch, "", label=branch, old=old, new=new),
        )
    [file] = review_files(candidates)
    ways = [
        [(None, hunk.text), *((Choice(ids[0], PATH, (hunk.lo, hunk.hi)), t) for ids, t in
                              file.variants(hunk))]
        for hunk in file.hunks
    ]  # fmt: skip
    mixes = [[choice for choice, _ in mix if choice] for mix in itertools.product(*ways)]
    texts = [target] + [_text(candidates, choices, split=True) for choices in mixes[1:]]
    run = [sys.executable, "-I", "-c", PROBE]
    answer = subprocess.run(
        run, input=json.dumps([target, *texts]), capture_output=True, text=True, check=True
    )
    outcome = dict(zip(texts, json.loads(answer.stdout), strict=True))
    print(f"{len(mixes)} mixes: {dict(Counter(outcome.values()))}")
    whole = set[str]()
    for choices in mixes[1:]:
        try:
            whole.add(_text(candidates, choices, split=False))
        except SourceError:
            continue
    print(f"whole units: {len(whole)} mixes: {dict(Counter(outcome[text] for text in whole))}")
    single: Counter[str] = Counter()
    warned: Counter[bool] = Counter()
    for choices, text in zip(mixes[1:], texts[1:], strict=True):
        try:
            result = take([candidates], choices, split=True)
        except BrokenMixError:
            single[f"{outcome[text]}, refused"] += 1
            continue
        single[f"{outcome[text]}, taken"] += 1
        if outcome[text] == "right" and text not in whole:
            warned[any("is taken without" in note for note in result.notes)] += 1
    print(f"single hunks (--split), without the origin: {dict(single)}")
    print(f"right, but no whole units: {warned[True]} with a warning, {warned[False]} without")


def _text(candidates: list[Candidate], choices: list[Choice], *, split: bool) -> str:
    [file] = take([candidates], choices, split=split, anyway=split).files
    assert file.new is not None
    assert file.new.text is not None
    return file.new.text


# What binds a new name (at the top of the file, of a function, or of a class) and what reads it.
PLANTED = {
    "go": {
        "top": [
            ("const freshLimit = 3", "_ = freshLimit"),
            ("func freshHelper(n int) int { return n }", "_ = freshHelper(3)"),
            ("type freshKind struct {\n\tfreshField int\n}", "_ = freshKind{}"),
            ("type freshKind struct {\n\tfreshField int\n}", "_ = other.freshField"),
            ("func (t *T) freshMethod() {}", "other.freshMethod()"),
            ('import "example/fresh"', "fresh.Call()"),
        ],
        "function": [("freshValue := 3", "_ = freshValue"), ("var freshValue int", "freshValue++"),
                     ("freshValue, err := other()", "use(freshValue)")],
    },
    "c": {
        "top": [
            ("#define FRESH_LIMIT 3", "use(FRESH_LIMIT);"),
            ("#define FRESH_MAX(a, b) ((a) > (b) ? (a) : (b))", "use(FRESH_MAX(1, 2));"),
            ("static int fresh_helper(int n)\n{\n\treturn n;\n}", "use(fresh_helper(3));"),
            ("static char *fresh_helper(const char *, int);", "use(fresh_helper(0, 3));"),
            ("typedef struct { int fresh_field; } fresh_kind;", "fresh_kind k;"),
            ("struct fresh_kind { int fresh_field; };", "struct fresh_kind *k;"),
            ("struct fresh_kind { int fresh_field; };", "use(other->fresh_field);"),
            ("enum fresh_kind { FRESH_ONE, FRESH_TWO };", "use(FRESH_TWO);"),
            ("static const char *fresh_names[] = { 0 };", "use(fresh_names[0]);"),
        ],
        "function": [("int fresh_value = 3;", "use(fresh_value);"),
                     ("char *fresh_value, other[3];", "use(fresh_value);"),
                     ("struct x fresh_value;", "use(&fresh_value);"),
                     ("int (*fresh_value)(int) = 0;", "fresh_value(3);")],
    },
    "rust": {
        "top": [
            ("const FRESH_LIMIT: i32 = 3;", "let _ = FRESH_LIMIT;"),
            ("fn fresh_helper(n: i32) -> i32 { n }", "let _ = fresh_helper(3);"),
            ("struct FreshKind { fresh_field: i32 }", "let _ = other.fresh_field;"),
            ("impl T { fn fresh_method(&self) {} }", "other.fresh_method();"),
            ("impl T { fn fresh_new() -> T { T } }", "let _ = T::fresh_new();"),
            ("use crate::fresh::fresh_call;", "fresh_call();"),
            ("macro_rules! fresh { () => { 3 } }", "let _ = fresh!();"),
            ("enum FreshKind { One, Two }", "let _ = FreshKind::One;"),
        ],
        "function": [("let fresh_value = 3;", "println!(\"{}\", fresh_value);"),
                     ("let mut fresh_value = 3;", "fresh_value += 1;"),
                     ("let (fresh_value, _) = other();", "drop(fresh_value);"),
                     ("let fresh_value = |n| n;", "fresh_value(3);")],
    },
    "java": {
        "class": [
            ("private static final int FRESH_LIMIT = 3;", "use(FRESH_LIMIT);"),
            ("private int freshField;", "this.freshField = 3;"),
            ("int freshHelper(int n) { return n; }", "freshHelper(3);"),
            ("static class FreshKind { int n; }", "use(new FreshKind());"),
            ("enum FreshKind { ONE, TWO }", "use(FreshKind.ONE);"),
        ],
        "top": [("import example.Fresh;", "Fresh.call();")],
        "function": [("int freshValue = 3;", "use(freshValue);"),
                     ("Runnable freshValue = () -> use(3);", "freshValue.run();"),
                     ("final String freshValue = null;", "use(freshValue);")],
    },
    "typescript": {
        "top": [
            ("const FRESH_LIMIT = 3;", "use(FRESH_LIMIT);"),
            ("function freshHelper(n: number) { return n; }", "freshHelper(3);"),
            ("interface FreshKind { freshField: number }", "const k = {} as FreshKind;"),
            ("interface FreshKind { freshField: number }", "use(other.freshField);"),
            ("type FreshKind = 'a' | 'b';", "let k: FreshKind;"),
            ("enum FreshKind { One, Two }", "use(FreshKind.One);"),
            ("import { fresh } from './fresh';", "fresh(3);"),
            ("import * as fresh from 'fresh';", "fresh.call();"),
            ("class FreshKind { freshMethod() {} }", "other.freshMethod();"),
        ],
        "function": [("const freshValue = 3;", "use(freshValue);"),
                     ("const { freshValue, other } = use();", "use(freshValue);"),
                     ("let [freshValue] = use();", "freshValue = 4;"),
                     ("const freshValue = () => 3;", "freshValue();")],
    },
}  # fmt: skip

COMMENT = "// what follows is as before"
# Two edits in two functions that share words and no new binding.
UNRELATED = {
    "go": [("same := 3\n_ = same",) * 2, ("elsewhere(3)",) * 2, (COMMENT, "_ = notBound"),
           ("name := 3\n_ = name", "_ = other.name")],
    "c": [("int same = 3;\nuse(same);",) * 2, ("elsewhere(3);",) * 2, (COMMENT, "use(MACRO);"),
          ("int name = 3;", "use(other->name);"), ("struct remote *a;", "struct remote *b;")],
    "rust": [("let same = 3;\ndrop(same);",) * 2, ("elsewhere(3);",) * 2, (COMMENT, "drop(X);"),
             ("let name = 3;", "drop(other.name);")],
    "java": [("int same = 3;\nuse(same);",) * 2, ("elsewhere(3);",) * 2, (COMMENT, "use(X);"),
             ("int name = 3;", "use(other.name);")],
    "typescript": [("const same = 3;\nuse(same);",) * 2, ("elsewhere(3);",) * 2,
                   (COMMENT, "use(X);"), ("const name = 3;", "use(other.name);")],
}  # fmt: skip


def files(data: Path, language: str) -> Iterator[str]:
    """Yield texts of a language with several functions each."""
    if language == "typescript":
        sources = Path(__file__).resolve().parents[1] / "vscode-client/src"
        yield from (normalise(path.read_text()) for path in sorted(sources.rglob("*.ts")))
    elif language == "c":
        with gzip.open(data / "git_same_origin_dev.jsonl.gz", "rt") as lines:
            rows = [json.loads(line) for line in lines]
        yield from (normalise(row["origin"]) for row in rows if row["path"].endswith(".c"))
    else:
        lines_of = (data / f"humanevalfix_{language}.jsonl").read_text().splitlines()
        origins = [json.loads(line)["origin"] for line in lines_of]
        if language == "java":
            yield from map(normalise, origins)
            return
        for start in range(0, len(origins) - 3, 4):
            yield normalise("\n\n".join(origins[start : start + 4]))


def bodies(text: str, grammar: str) -> list[tuple[int, int]]:
    """Return the first and last line inside the functions of a text that have four or more."""
    places, waiting = [], [parse(text, grammar).root_node]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        body = node.child_by_field_name("body")
        if body is None or not ("function" in node.type or "method" in node.type):
            continue
        first, last = body.start_point[0] + 1, body.end_point[0] - 1
        if last - first >= 3 and not body.has_error:
            places.append((first, last))
    return sorted(places)


def planted(folder: str) -> None:
    """Print how many planted uses are tied to their bindings, and how many unrelated edits."""
    for language, kinds in PLANTED.items():
        grammar = language
        texts = [text for text in files(Path(folder), language) if bodies(text, grammar)]
        random = Random(f"units {language}")
        tied: Counter[bool] = Counter()
        missed: Counter[str] = Counter()
        for where, cases in kinds.items():
            for binding, use in cases * 4:
                text = random.choice(texts)
                first, last = random.choice(bodies(text, grammar))
                place = {"function": first, "class": _class_line(text), "top": 0}[where]
                is_tied = _is_tied(text, grammar, (place, binding), (last, use))
                tied[is_tied] += 1
                missed[binding] += not is_tied
        wrongly: Counter[bool] = Counter()
        pool = [text for text in texts if len(_apart(text, grammar)) > 1]
        for one, other in UNRELATED[language] * 6 if pool else ():
            text = random.choice(pool)
            (first, _), (_, last) = sorted(random.sample(_apart(text, grammar), 2))
            wrongly[_is_tied(text, grammar, (first, one), (last, other))] += 1
        print(
            f"{language}: {tied[True]} of {tied.total()} tied, "
            f"{wrongly[True]} of {wrongly.total()} unrelated ones; "
            f"missed: {[name for name, count in missed.items() if count] or 'none'}"
        )


def _class_line(text: str) -> int:
    return next((n + 1 for n, line in enumerate(text.split("\n")) if "class " in line), 0)


def _apart(text: str, grammar: str) -> list[tuple[int, int]]:
    """Return the bodies of a text that are in no other one."""
    every = bodies(text, grammar)
    return [a for a in every if not any(b != a and b[0] <= a[0] and a[1] <= b[1] for b in every)]


def _is_tied(text: str, grammar: str, one: tuple[int, str], other: tuple[int, str]) -> bool:
    """Whether two pieces that are inserted at lines of a text are one unit."""
    lines, spans, shift = text.split("\n"), [], 0
    for line, piece in sorted((one, other)):
        new = piece.split("\n")
        lines[line + shift : line + shift] = new
        spans.append((line + shift, line + shift + len(new)))
        shift += len(new)
    revision = "\n".join(lines)
    before = Bindings.of(parse(text, grammar), text)
    return len(units_of(fresh_names(before, parse(revision, grammar), revision, spans))) == 1


if __name__ == "__main__":
    {"requests": requests, "planted": planted}[sys.argv[1]](sys.argv[2])
