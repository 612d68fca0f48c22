"""The mean of a corpus, its interval by task, and the difference of two systems."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import excise
from excise import CorpusScore, OptionError, corpus_score


def scores(values):
    """Scores of 1 and less, by truth."""
    made = []
    for value in values:
        hypothesis = ["good"] if value else ["bad"]
        made.append(
            excise.excision_score(origin=["old"], reference=["good"], hypothesis=hypothesis)
        )
    assert all(0 <= score.value <= 1 for score in made)
    return made


def test_the_mean_is_that_of_the_single_scores():
    texts = {"origins": ["a b"] * 3, "references": ["a c", ["a d", "a c"], "a"]}
    corpus = corpus_score(**texts, hypotheses=["a c", "a c", "a e"])
    single = [
        excise.excision_score(origin=o, reference=r, hypothesis=h).value
        for o, r, h in zip(*texts.values(), ["a c", "a c", "a e"], strict=True)
    ]
    assert corpus.values == tuple(single)
    assert corpus.mean == pytest.approx(sum(single) / 3)
    assert corpus.signature.endswith("|v:2|bs:1000|seed:0")


def naive_interval(values, tasks, resamples, seed):
    """Draw tasks one by one, as a reader would write it."""
    names = list(dict.fromkeys(tasks))
    own = {name: [v for v, t in zip(values, tasks, strict=True) if t == name] for name in names}
    chance = np.random.default_rng(seed)
    means = []
    for _ in range(resamples):
        drawn = [v for name in chance.choice(len(names), len(names)) for v in own[names[name]]]
        means.append(sum(drawn) / len(drawn))
    return np.quantile(means, (0.025, 0.975))


@pytest.mark.slow
def test_the_interval_is_that_of_a_naive_bootstrap_of_tasks():
    chance = np.random.default_rng(5)
    tasks = [int(task) for task in chance.integers(0, 40, 400)]
    difficulty = chance.random(40)
    values = [bool(chance.random() < difficulty[task]) for task in tasks]
    corpus = CorpusScore.from_scores(scores(values), tasks, resamples=4000)
    expected = naive_interval(corpus.values, tasks, 4000, 1)
    assert corpus.interval == pytest.approx(expected, abs=0.01)
    alone = CorpusScore.from_scores(scores(values), resamples=4000)
    width, alone_width = (high - low for low, high in (corpus.interval, alone.interval))
    assert width > 1.5 * alone_width


def test_a_difference_is_paired():
    """Where both fail at the same tasks, the difference is surer than the means are."""
    chance = np.random.default_rng(3)
    easy = [bool(v) for v in chance.random(200) < 0.5]
    ours = CorpusScore.from_scores(scores(easy))
    theirs = CorpusScore.from_scores(scores([v and at % 10 > 0 for at, v in enumerate(easy)]))
    found = ours.difference(theirs)
    assert found.value == pytest.approx(ours.mean - theirs.mean)
    assert 0 < found.interval[0] < found.value < found.interval[1]
    assert found.p < 0.05
    assert found.interval[1] - found.interval[0] < ours.interval[1] - ours.interval[0]
    back = theirs.difference(ours)
    assert (back.value, back.interval[0]) == pytest.approx((-found.value, -found.interval[1]))
    nothing = ours.difference(ours)
    assert (nothing.value, nothing.interval, nothing.p) == (0, (0, 0), 1)


@given(st.permutations(range(12)))
def test_the_order_of_outputs_changes_no_interval_but_by_the_names_of_tasks(order):
    values, tasks = [i % 3 == 0 for i in range(12)], [i // 3 for i in range(12)]
    one = CorpusScore.from_scores(scores(values), tasks)
    other = CorpusScore.from_scores(scores([values[i] for i in order]), [tasks[i] for i in order])
    assert one.mean == pytest.approx(other.mean)
    assert one.difference(other).value == pytest.approx(0)
    assert one.difference(other).interval == pytest.approx((0, 0))


def test_an_output_counts_as_often_as_it_occurred():
    once = CorpusScore.from_scores(scores([1, 1, 1, 0]), ["a", "a", "a", "b"])
    often = CorpusScore.from_scores(scores([1, 0]), ["a", "b"], counts=[3, 1])
    assert (often.mean, often.keep, often.add) == (once.mean, once.keep, once.add)
    assert often.interval == once.interval
    assert str(often) == str(once)
    assert pickle.loads(pickle.dumps(often)) == often
    with pytest.raises(OptionError, match="1 counts for 2 scores"):
        CorpusScore.from_scores(scores([1, 0]), counts=[1])


def test_one_line_to_cite():
    line = str(CorpusScore.from_scores(scores([True, False, True]), ["a", "a", "b"]))
    assert line.startswith("es|gran:nested|lcs:star|place:pooled|del:p|n:4|")
    assert "|bs:1000|seed:0 = 0.8333 -/0.67/1.00 (95 % CI" in line
    assert line.endswith("; 2 tasks, 3 outputs)")
    assert "no interval; 1 tasks" in str(CorpusScore.from_scores(scores([True])))


def test_several_tokenisers_are_named():
    texts = {"origin": "x = 1\n", "reference": "x = 2\n", "hypothesis": "x = 2\n"}
    named = [excise.excision_score(**texts, language=name) for name in ("text", "python", "go")]
    signature = CorpusScore.from_scores(named).signature
    assert "|tok:go@0.13.0/2+python@0.13.0/2+lexical|" in signature


def test_misuse_is_named():
    with pytest.raises(OptionError, match="nothing to score"):
        CorpusScore.from_scores([])
    with pytest.raises(OptionError, match="1 tasks for 2 scores"):
        CorpusScore.from_scores(scores([1, 1]), ["a"])
    with pytest.raises(OptionError, match="2 origins, 1 references"):
        corpus_score(origins=["a", "b"], references=["a"], hypotheses=["a"])
    mixed = [*scores([1]), excise.similarity(origin=["a"], a=["b"], b=["b"])]
    with pytest.raises(OptionError, match="different signatures"):
        CorpusScore.from_scores(mixed)
    ours = CorpusScore.from_scores(scores([1, 1]), ["a", "b"])
    with pytest.raises(OptionError, match="2 tasks are in one"):
        ours.difference(CorpusScore.from_scores(scores([1, 1]), ["a", "c"]))
    with pytest.raises(OptionError, match="other signatures"):
        ours.difference(CorpusScore.from_scores(scores([1, 1]), ["a", "b"], seed=1))
