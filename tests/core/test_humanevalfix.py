"""All 984 items of HumanEvalFix: a fix and itself score 1, doing nothing scores 0 (section 7)."""

import json

import pytest
from tests.reference.implementations import IMPLEMENTATIONS

import excise
from excise import languages, syntax
from excise.text import WHITE, normalise

pytestmark = pytest.mark.slow

LANGUAGES = ("python", "js", "java", "go", "cpp", "rust")
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])


def read(path):
    lines = path.read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@pytest.fixture(scope="module", params=LANGUAGES)
def items(request, excise_data):
    found = read(excise_data / f"humanevalfix_{request.param}.jsonl")
    assert len(found) == 164
    return found


@GRANULARITY
def test_identity_and_doing_nothing(items, granularity):
    for item in items:
        origin, fix = item["origin"], item["reference"]
        options = {"granularity": granularity, "language": item["language"]}

        def directed(reference, hypothesis, origin=origin, options=options):
            return excise.excision_score(
                origin=origin, reference=reference, hypothesis=hypothesis, **options
            )

        assert directed(fix, fix).exact == 1, item["id"]
        assert directed(fix, origin).exact == 0, item["id"]
        assert directed(origin, fix).exact == 0, item["id"]
        assert excise.similarity(origin=origin, a=fix, b=fix, **options).exact == 1, item["id"]
        assert excise.similarity(origin=origin, a=fix, b=origin, **options).exact == 0, item["id"]


def test_no_fix_is_white_space_only(items):
    """Every fix has other tokens than its bug: no guard hides that the tokens are too coarse."""
    for item in items:
        origin, fix = item["origin"], item["reference"]
        score = excise.similarity(origin=origin, a=fix, b=origin, language=item["language"])
        assert "whitespace-only" not in score.notes, item["id"]


# Fixes whose tokens are those of their bugs once tokens of white space only are left out.
BY_WHITE_SPACE = {
    *("Python/28", "Python/86", "Python/118", "JavaScript/28", "Java/28", "Java/86"),
    *("Java/118", "Go/86", "Go/118", "CPP/28", "CPP/118", "Rust/118"),
}


def test_white_space_in_a_string_tells_twelve_fixes_from_their_bugs(items):
    found = set()
    for item in items:
        grammar = languages.resolve(item["language"], None)
        bug, fix = (
            [token for token in syntax.tokenise(text, grammar).tokens if token.strip(WHITE)]
            for text in map(normalise, (item["origin"], item["reference"]))
        )
        if bug == fix:
            found.add(item["id"])
    prefix = items[0]["id"].partition("/")[0]
    assert found == {name for name in BY_WHITE_SPACE if name.partition("/")[0] == prefix}


@GRANULARITY
def test_the_oracle_judges_outputs_of_a_model(excise_data, granularity):
    """Every seventh of 284 outputs for the python items, against the fix."""
    items = {item["id"]: item for item in read(excise_data / "humanevalfix_python.jsonl")}
    outputs = read(excise_data / "labelled" / "hef_python_octocoder.jsonl")[::7]
    assert len(outputs) == 41
    for output in outputs:
        item = items[output["id"]]
        triple = item["origin"], item["reference"], output["revision"]
        options = {"granularity": granularity, "language": "python"}
        found, expected = (
            IMPLEMENTATIONS[name].directed(*triple, **options) for name in ("core", "oracle")
        )
        assert found == expected, output["id"]
